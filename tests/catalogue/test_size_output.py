"""Series of catalogue sizes as they are printed and written, and where they break."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from catalogue.test_breaks import SIZES, series
from wildtool.catalogue.breaks import Break, find_break
from wildtool.catalogue.size_curve import SizePoint, SizeSeries, UnitUsage
from wildtool.catalogue.size_output import break_sentence, show_sizes
from wildtool.report.charts.data import ChartData, ChartPoint


def point(size: int, **changes: Any) -> SizePoint:
    fields: dict[str, Any] = {
        "folder": Path(f"runs/{size}"),
        "accuracy": SimpleNamespace(value=0.75, low=0.5, high=0.875),
        "units": 8,
        "without_verdict": 0,
        "pairs": None,
        "p": None,
        "distractors": SimpleNamespace(value=0.125),
        "recall": None,
        "used": UnitUsage(8, 1234.5, 0.0125),
        "tries": 8,
        "trust": "",
    }
    return SizePoint(size=size, **{**fields, **changes})


def against(value: float) -> Any:
    return SimpleNamespace(difference=SimpleNamespace(value=value, low=value - 0.1, high=value + 0.1))


PLAIN = SizeSeries(
    "m on b",
    "m (random)",
    (point(10), point(2000, pairs=against(-0.25), p=0.0004)),
    Break(None, reason="no fall"),
)
RICH = SizeSeries(
    "=n on b",
    "n (near)",
    (
        point(10, used=UnitUsage(0, None, None), distractors=None, recall=SimpleNamespace(value=None)),
        point(
            20,
            pairs=against(0.05),
            p=0.25,
            without_verdict=2,
            trust="text calls.",
            used=UnitUsage(6, 10.0, None),
            recall=SimpleNamespace(value=0.5),
        ),
    ),
    Break(123.4, 56.5, 1000.2),
)


def test_series_are_printed_with_their_breaks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "140")
    show_sizes([PLAIN, RICH], None)
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "m on b",
        "",
        (
            "tools  correct          95 %  difference            95 %  p (Holm)  called a distractor  tokens"
            " a unit  USD a unit"
        ),
        "─" * 114,
        (
            "10      75.0 %  [50.0, 87.5]                                                     12.5 %         "
            " 1,234     0.01250"
        ),
        (
            "2,000   75.0 %  [50.0, 87.5]       -25.0  [-35.0, -15.0]    <0.001               12.5 %         "
            " 1,234     0.01250"
        ),
        "",
        "Break: none placed. No fall.",
        "=n on b",
        "",
        (
            "tools  correct          95 %  difference           95 %  p (Holm)  called a distractor  recall"
            " of retriever  tokens a unit  USD a unit"
        ),
        "─" * 134,
        (
            "10      75.0 %  [50.0, 87.5]                                                                    "
            "                         –           –"
        ),
        (
            "20      75.0 %  [50.0, 87.5]        +5.0  [-5.0, +15.0]     0.250               12.5 %          "
            "     50.0 %             10           –"
        ),
        "",
        "Break: at 123 tools [56, 1,000]; up to there accuracy holds, then it falls.",
        "2 units have no verdict, since their calls failed, and count as wrong.",
        "text calls.",
        "Tokens and USD a unit are of the units that have tokens: 6 of 8 at 20 tools.",
        "Differences are in points against the smallest size, paired on the same units; intervals are clustered by item.",
    ]


def test_every_number_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    show_sizes([PLAIN, RICH], tmp_path / "new" / "out")
    text = (tmp_path / "new" / "out" / "sizes.csv").read_bytes().decode()
    assert text.split("\n") == [
        (
            "series,size,accuracy,low,high,units,without_verdict,difference,diff_low,diff_high,p_holm,called_a_distractor,retriever_recall,tokens_per_unit,usd_per_unit,folde"
            "r"
        ),
        "m on b,10,0.75,0.5,0.875,8,0,,,,,0.125,,1234.5,0.0125,runs/10",
        "m on b,2000,0.75,0.5,0.875,8,0,-0.25,-0.35,-0.15,0.0004,0.125,,1234.5,0.0125,runs/2000",
        "'=n on b,10,0.75,0.5,0.875,8,0,,,,,,,,,runs/10",
        "'=n on b,20,0.75,0.5,0.875,8,2,0.05,-0.05,0.15000000000000002,0.25,0.125,0.5,10.0,,runs/20",
        "",
    ]
    assert capsys.readouterr().err.splitlines() == [f"Every number: {tmp_path}/new/out/sizes.csv"]


def test_a_chart_has_a_line_for_each_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    drawn: list[ChartData] = []

    def render_chart(chart: ChartData) -> SimpleNamespace:
        drawn.append(chart)
        return SimpleNamespace(svg=b"<svg/>")

    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr("wildtool.report.charts.render.render_chart", render_chart)
    show_sizes([PLAIN, RICH], tmp_path)
    ends = (0.75, 0.5, 0.875, "75.0%")
    labels = [(series.label, size) for series in (PLAIN, RICH) for size in ("10", "2,000", "20")]
    points = tuple(
        ChartPoint(label, size, *ends) for label, size in (labels[0], labels[1], labels[3], labels[5])
    )
    about = "; ".join(f"{point.model}, {point.name} tools: 75.0%" for point in points)
    assert drawn == [
        ChartData(
            "Correct by tools in the catalogue",
            about,
            points,
            (PLAIN.label, RICH.label),
            ("10", "20", "2,000"),
            "lines",
            True,
            "tools in the catalogue",
            "correct (%)",
        )
    ]
    assert (tmp_path / "sizes.svg").read_bytes() == b"<!-- written by wildtool catalogue -->\n<svg/>"
    assert capsys.readouterr().err.splitlines() == [
        f"Every number: {tmp_path / 'sizes.csv'}",
        f"Chart: {tmp_path / 'sizes.svg'}",
    ]


def test_a_break_is_a_sentence():
    assert break_sentence(PLAIN.place) == "Break: none placed. No fall."
    assert break_sentence(RICH.place) == (
        "Break: at 123 tools [56, 1,000]; up to there accuracy holds, then it falls."
    )


def test_where_a_series_breaks_is_the_same_each_time():
    place = find_break(series(80, 0.25, 60), SIZES, 0.049)
    numbers = [round(each, 3) for each in (place.size, place.low, place.high) if each]
    assert (numbers, place.reason) == ([80.0, 73.36, 103.747], "")
    other = find_break(series(80, 0.25, 60), SIZES, 0.049, seed=1)
    assert other.size == place.size


@pytest.mark.parametrize(
    ("made", "sizes", "p", "ends", "reason"),
    [
        (
            series(80, 0.2, 19),
            SIZES,
            0.001,
            (None, None),
            "19 items were run; it takes 20 or more to place a break",
        ),
        (
            series(80, 0.2, 20),
            SIZES[:3],
            0.001,
            (None, None),
            "3 sizes were run; it takes 4 or more to place a break",
        ),
        (
            series(80, 0.2, 60),
            SIZES,
            0.05,
            (None, None),
            "no significant fall up to 640 tools (p = 0.050 for the largest size)",
        ),
        (
            series(10, 0.1, 300),
            SIZES,
            0.001,
            (None, 10.905),
            "a fall from the smallest size on cannot be excluded; it begins at 11 tools or fewer",
        ),
        (
            series(500, 0.4, 200),
            SIZES,
            0.001,
            (320.0, None),
            "the fall begins at 320 tools or more; larger sizes would place it",
        ),
        (series(9999, 0.2, 60), SIZES, 0.001, (None, None), "accuracy does not fall up to the largest size"),
    ],
)
def test_where_none_can_be_placed_the_reason_is_said(
    made: Any, sizes: tuple[int, ...], p: float, ends: Any, reason: str
):
    place = find_break({item: row[: len(sizes)] for item, row in made.items()}, sizes, p)
    assert (place.size, place.reason) == (None, reason)
    assert (place.low, place.high) == tuple(end and pytest.approx(end, abs=0.001) for end in ends)
