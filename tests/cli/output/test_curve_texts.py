"""What `wildtool curve` prints of points that are made by hand, and of endpoints that do not answer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli.commands import curve as command
from wildtool.cli.output import curve
from wildtool.engine.compare.curve import BaseDifference, CurvePoint
from wildtool.engine.series import Series, SeriesBenchmark, SeriesPoint
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.stats.learning_curve import TrainedScore

COMPLETE = Evidence(8)
SCORE = TrainedScore(0.5, 0.25, 0.75, 0.1, None)


def point(
    size: int, arm: str = "all", *, seeds: int = 3, p: float | None = None, **fields: Any
) -> CurvePoint:
    difference = None if p is None else BaseDifference(0.125, -0.05, 0.3, p, p)
    plain: dict[str, Any] = {
        "benchmark": "tides",
        "profile": "official",
        "conditions": "profile official",
        "arm": arm,
        "size": size,
        "size_share": 1.0,
        "steps": None,
        "tokens": None,
        "names": tuple(f"s{k}" for k in range(seeds)),
        "items": 4,
        "units": 1_200,
        "score": SCORE,
        "difference": difference,
        "touched_items": None,
        "untouched": None,
        "evidence": COMPLETE,
    }
    return CurvePoint(**{**plain, **fields})


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def printed(capsys: pytest.CaptureFixture[str], *points: CurvePoint) -> str:
    curve._print_benchmark("tides", points)
    return capsys.readouterr().out


FAILED = Evidence(8, failed=1)


def test_a_single_arm_is_not_named(capsys: pytest.CaptureFixture[str]):
    points = [
        point(0, seeds=1),
        point(1_000, p=0.0009),
        point(2_000, p=0.001, evidence=FAILED),
        point(3_000, p=0.05, evidence=FAILED),
        point(4_000, p=0.05),
    ]
    assert (
        printed(capsys, *points)
        == """\
tides, profile official: score by training examples

                    seeds      n  correct          95 %  difference           95 %    p (Holm)
──────────────────────────────────────────────────────────────────────────────────────────────
before                  1  1,200   50.0 %  [25.0, 75.0]
1,000                   3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]      <0.001
2,000 (incomplete)      3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]       0.001
3,000 (incomplete)      3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]  no finding
4,000                   3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]       0.050

"""
    )


def test_arms_are_named_and_scores_without_touched_items_shown(capsys: pytest.CaptureFixture[str]):
    low = TrainedScore(0.25, 0.1, 0.4, 0.1, None)
    points = [point(0, evidence=FAILED), point(10, p=0.5, untouched=low), point(10, "random", p=1.0)]
    assert (
        printed(capsys, *points)
        == """\
tides, profile official: score by training examples

                     seeds      n  correct          95 %  difference           95 %  p (Holm)  untouched          95 %
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
before (incomplete)      3  1,200   50.0 %  [25.0, 75.0]
all, 10                  3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]     0.500     25.0 %  [10.0, 40.0]
random, 10               3  1,200   50.0 %  [25.0, 75.0]       +12.5  [-5.0, +30.0]     1.000

"""
    )


def series(*names: str, **fields: Any) -> Series:
    benchmarks = tuple(SeriesBenchmark(name=name) for name in names)
    return Series(**{"path": Path("s.toml"), "benchmarks": benchmarks, "points": (), **fields})


FEW_SEEDS = (
    "With fewer than 3 trainings of a size (train_seed), how much trainings differ is unknown: the intervals hold for"
    " these models, not for the recipe."
)
NOBODY_LOOKED = (
    "Nobody looked whether the training data hold items of these benchmarks: `wildtool data overlap FILE --json` does,"
    " and `overlap` in the series takes its output."
)
NO_CONTROL = (
    'There is no control arm: points trained on as many random records (`arm = "random"`) would show what the choice of'
    " the data brought."
)


def test_what_a_reader_must_know_is_said():
    plain = series("tides", "boats")
    base = point(0, seeds=1)
    assert curve._notes(plain, [base, point(1, seeds=2)], None) == [FEW_SEEDS, NOBODY_LOOKED, NO_CONTROL]
    assert curve._notes(plain, [base, point(1), point(1, "random")], None) == [NOBODY_LOOKED]
    assert curve._notes(plain, [base], None) == [NOBODY_LOOKED]
    looked = series("tides", "boats", "ferries", overlap=Path("o.json"))
    points = [base, point(1, touched_items=2), point(1, "random", benchmark="boats", touched_items=0)]
    assert curve._notes(looked, points, {"tides": ["a", "b"]}) == [
        "2 of 4 items of tides are in the training data; `untouched` is the score without them.",
        "o.json says nothing of boats.",
        "o.json says nothing of ferries.",
    ]


def test_a_chart_has_the_base_on_the_line_of_each_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    drawn: list[ChartData] = []

    def render_chart(chart: ChartData) -> SimpleNamespace:
        drawn.append(chart)
        return SimpleNamespace(svg=b"<svg/>")

    monkeypatch.setattr("wildtool.report.charts.render.render_chart", render_chart)
    low = TrainedScore(0.25, 0.1, 0.4, 0.1, None)
    points = [point(0), point(2_000), point(30, score=low), point(30, "random"), point(0, benchmark="boats")]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "altair" else name)
    assert curve._write_charts(points, tmp_path, force=False) == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    charts = [tmp_path / "curve-tides.svg", tmp_path / "curve-boats.svg"]
    assert curve._write_charts(points, tmp_path, force=False) == charts
    assert [path.read_bytes() for path in charts] == [b"<!-- written by wildtool curve -->\n<svg/>"] * 2
    half, quarter = (0.5, 0.25, 0.75, "50.0 % [25.0, 75.0]"), (0.25, 0.1, 0.4, "25.0 % [10.0, 40.0]")
    of_tides = (
        ChartPoint("all", "before", *half),
        ChartPoint("all", "2,000", *half),
        ChartPoint("all", "30", *quarter),
        ChartPoint("random", "before", *half),
        ChartPoint("random", "30", *half),
    )
    text = "; ".join(f"{each.model}, {each.name}: {each.text}" for each in of_tides)
    axes = ("lines", True, "training examples", "correct (%)")
    assert drawn == [
        ChartData(
            "tides: correct by training examples",
            text,
            of_tides,
            ("all", "random"),
            ("before", "30", "2,000"),
            *axes,
        ),
        ChartData("boats: correct by training examples", "", (), (), ("before",), *axes),
    ]
    charts[0].write_text("mine")
    with pytest.raises(UsageError):
        curve._write_charts(points, tmp_path, force=False)
    assert curve._write_charts(points, tmp_path, force=True) == charts


# Endpoints -------------------------------------------------------------------------------------------


def served(name: str, address: str | None, size: int = 5) -> SeriesPoint:
    return SeriesPoint(name=name, model="m", size=size, base_url=address)


def test_points_whose_endpoint_does_not_answer_are_left_out_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(command, "_refusal", lambda address: "refused" if "dead" in address else "")
    base, live = served("base", None, 0), served("live", "http://live/v1")
    dead, gone = served("dead", "http://dead/v1"), served("gone", "http://dead/v1")

    def absent(*points: SeriesPoint, available: bool = True) -> set[str]:
        return command._unreachable(series("tides", points=points), available)

    def refusal(*points: SeriesPoint, available: bool = True) -> str:
        with pytest.raises(UsageError) as error:
            absent(*points, available=available)
        return str(error.value)

    assert absent(base, live, available=False) == set()
    assert capsys.readouterr().err == ""
    assert absent(base, live, dead, gone) == {"dead", "gone"}
    lines = (
        "\n  dead: http://dead/v1 does not answer (refused)\n  gone: http://dead/v1 does not answer (refused)"
    )
    assert capsys.readouterr().err == f"Left out, since their endpoints do not answer:{lines}\n"
    message = (
        f"nothing was run, since some endpoints do not answer:{lines}\nStart them, or add --available to run the others;"
        " the model before training is always needed."
    )
    assert refusal(base, live, dead, gone, available=False) == message
    # Nothing but the base would be left, or it is missing.
    assert refusal(base, dead, gone) == message
    assert refusal(served("base", "http://dead/v1", 0), live).startswith("nothing was run")


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://h/v1", ("h", 80)),
        ("https://h/v1", ("h", 443)),
        ("http://h:8000/v1", ("h", 8000)),
        ("nonsense", ("", 80)),
    ],
)
def test_an_endpoint_is_asked_to_accept_a_connection(
    address: str, place: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    asked: list[Any] = []

    class Connection:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    def connect(place: tuple[str, int], timeout: float) -> Connection:
        asked.append((place, timeout))
        return Connection()

    monkeypatch.setattr("socket.create_connection", connect)
    assert command._refusal(address) == ""
    assert asked == [(place, 3.0)]

    def refuse(place: tuple[str, int], timeout: float) -> Connection:
        raise errors.pop()

    errors = [OSError("odd"), ConnectionRefusedError(111, "Connection refused")]
    monkeypatch.setattr("socket.create_connection", refuse)
    assert [command._refusal(address) for _ in range(2)] == ["Connection refused", "odd"]
