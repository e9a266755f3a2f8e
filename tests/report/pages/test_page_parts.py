"""Parts of pages from small data: indexes of units, excerpts, charts of a group, pairs of models, what was run."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.engine.compare.pairs import PairwiseResult
from wildtool.errors import UsageError
from wildtool.report import model
from wildtool.report.pages import metrics, overview, side_by_side, trajectory_data
from wildtool.report.pages.trajectory_data import UnitRow, index_of
from wildtool.stats.tables import Table
from wildtool.trace import GoldCall, GoldDifference, Trace, TraceStep
from wildtool.types import Metric, Source, Verdict

# pyright: reportPrivateUsage=false


def verdict(outcome: Any = "correct", error: str | None = None, reason: str = "r", **fields: Any) -> Verdict:
    return Verdict("i", "u", outcome, 1 / 3, error, reason, 2, fields)


def row(place: int, unit: str, own: Verdict, other: Verdict, *called: str) -> UnitRow:
    return UnitRow(place, place % 2, unit, own, {"official": own, "fixed": other}, called)


# Indexes of units -------------------------------------------------------------------------------------


def test_an_index_has_each_text_once():
    rows = [
        row(0, "a", verdict(same=1, kind="x", gap=None), verdict("wrong"), "f", "g"),
        row(1, "b", verdict("wrong", "class", "x" * 301, same=1, kind="y", gap=2), verdict("wrong")),
        row(2, "a", verdict("wrong", "class", same=1, kind="x", gap=None), verdict(), "f", "g"),
    ]
    assert index_of(rows, "official") == {
        "place": [0, 1, 2],
        "repeat": [0, 1, 0],
        "unit": {"values": ["a", "b"], "at": [0, 1, 0]},
        "outcome": {"values": ["correct", "wrong"], "at": [0, 1, 1]},
        "error": {"values": ["", "class"], "at": [0, 1, 1]},
        "score": [0.333] * 3,
        "steps": [2, 2, 2],
        "reason": {"values": ["r", "x" * 300], "at": [0, 1, 0]},
        "called": {"values": [("f", "g"), ()], "at": [0, 1, 0]},
        "others": [["fixed", {"values": ["wrong", "correct"], "at": [0, 0, 1]}]],
        "columns": [
            ["kind", {"values": ["x", "y"], "at": [0, 1, 0]}],
            ["gap", {"values": ["", "2"], "at": [0, 1, 0]}],
        ],
    }
    empty = index_of([], "official")
    assert (empty["place"], empty["others"], empty["columns"]) == ([], [], [])


@pytest.mark.parametrize(("count", "is_offered"), [(1, False), (2, True), (40, True), (41, False)])
def test_a_column_groups_units_where_it_has_a_few_values(count: int, is_offered: bool):
    rows = [row(n, "u", verdict(column=n), verdict()) for n in range(count)]
    assert [name for name, _ in index_of(rows, "official")["columns"]] == (["column"] if is_offered else [])


def before(role: str, *messages: dict[str, Any]) -> Any:
    return trajectory_data._Before(role, messages, Trace("u", (), (), ()))


SYSTEM, USER = {"role": "system", "content": "the\n rules"}, {"role": "user", "content": " a  b\nc "}


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (before("agent", SYSTEM, USER, {"role": "assistant", "content": "x"}), "a b c"),
        (before("agent", USER, {"role": "user", "content": "last"}), "last"),
        (before("agent", USER, {"role": "user", "content": ["no text"]}), "a b c"),
        (before("user", SYSTEM, USER), "the rules"),
        (before("agent", SYSTEM), ""),
        (before("agent"), ""),
        (before("agent", {"role": "user", "content": "a" * 300 + "b" * 500}), "a" * 200),
        (before("agent", {"role": "user", "content": "a" * 301 + "b" * 500}), "b" * 200),
    ],
)
def test_an_excerpt_is_the_start_of_what_was_asked_last(unit: Any, text: str):
    assert trajectory_data._excerpt(unit) == text


def test_a_unit_is_shown_step_by_step_beside_its_gold():
    gold = (GoldCall("f", {"a": 1}), GoldCall("g", "text", (0,), "done"))
    start = Trace("u", ({"function": {"name": "f"}}, {"name": "g"}), (), gold)
    seen = trajectory_data._Before("agent", (USER,), start)
    assert seen.shown() == {
        "seen": [["user", " a  b\nc ", [], []]],
        "gold": [["f", '{"a":1}', []], ["g", "text", [0]]],
        "tools": ['{"name":"f"}', '{"name":"g"}'],
    }
    reply = {"role": "assistant", "content": "hi"}
    steps = (
        TraceStep("agent", (USER,), reply, (1,), "note"),
        TraceStep("agent", (USER,), reply),
        TraceStep("user", (), reply),
    )
    differences = (GoldDifference("a", 1, None, "exact"),)
    verdicts = {"official": verdict("wrong", "class", "why"), "fixed": verdict()}
    shown = ["assistant", "hi", [], []]
    view = trajectory_data._trace_view(Trace("u", (), steps, gold, differences), seen, verdicts)
    assert view == {
        "steps": [
            ["agent", None, shown, [1], "note"],
            ["agent", [["user", " a  b\nc ", [], []]], shown, [], ""],
            ["user", [], shown, [], ""],
        ],
        "status": ["missed", "done"],
        "gold": None,
        "differences": [["a", "1", "", "exact"]],
        "verdicts": [["official", "wrong", "class", 1 / 3, "why"], ["fixed", "correct", "", 1 / 3, "r"]],
    }
    other = trajectory_data._trace_view(Trace("u", (), (steps[1],), gold[:1]), before("agent"), {})
    assert other["steps"][0][1] == [["user", " a  b\nc ", [], []]]
    assert other["gold"] == [["f", '{"a":1}', []]]


def test_reasons_of_failed_calls_name_no_folder():
    reason = "cannot read /home/me/runs/key.txt"
    assert trajectory_data._without_local_paths(verdict("wrong", reason=reason)).reason == reason
    assert (
        "/home/me" not in trajectory_data._without_local_paths(verdict("infra_error", reason=reason)).reason
    )


# Charts of a group ------------------------------------------------------------------------------------


@dataclass
class Board:
    """As much of a leaderboard as charts need."""

    runs: list[Any]
    labels: list[str] = field(default_factory=lambda: ["one", "two", "three"])
    title: str = "board"


def board(*metrics_: list[Metric]) -> Any:
    return Board([SimpleNamespace(result=SimpleNamespace(metrics=its)) for its in metrics_], ["one", "two"])


def rate(name: str, value: float | None = 0.5, **fields: Any) -> Metric:
    return Metric("g", name, value, 1, 2, 0.1, 0.9, **fields)


def mean(name: str, value: float, unit: str, better: Any = "less") -> Metric:
    return Metric("g", name, value, value, 1, kind="mean", unit=unit, better=better)


SITE: Any = SimpleNamespace(link=lambda slug, query: f"{slug}?{query}", colours={"one": "#111"})


def drawings(view: Table, *metrics_: list[Metric], links: dict[str, str] | None = None) -> list[Any]:
    return list(metrics._drawings(board(*metrics_), view, "g", SITE, [4, 7], links or {}))


def test_rates_of_a_group_are_one_chart_and_means_one_for_each_unit():
    view = Table(title="t", about="a", groups=("g",), chart="lines", axis="axis")
    first = [
        rate("x"),
        rate("y"),
        mean("s", 2.0, "s"),
        Metric("g", "n", 3, 3, 4, kind="count"),
        rate("z", None),
    ]
    second = [rate("x", 0.25), Metric("other", "x", 0.5, 1, 2), mean("t", 3.0, "tokens", "more")]
    lines, seconds, tokens = drawings(view, first, second)
    assert [(point.model, point.name, point.value, point.href) for point in lines.points] == [
        ("one", "x", 0.5, ""), ("one", "y", 0.5, ""), ("two", "x", 0.25, "")
    ]  # fmt: skip
    assert asdict(lines.points[0]) == {
        "model": "one", "name": "x", "value": 0.5, "low": 0.1, "high": 0.9, "text": "50.0 % 10.0–90.0", "href": "",
        "short": "50.0 %",
    }  # fmt: skip
    rows = [
        (d.title, d.models, d.names, d.kind, d.percent, d.axis, d.values, d.colours)
        for d in (lines, seconds, tokens)
    ]
    colours = {"one": "#111"}
    assert rows == [
        ("g, board", ("one", "two"), ("x", "y"), "lines", True, "axis", "rate, with 95 % interval", colours),
        ("g (s), board", ("one",), ("s",), "bars", False, "axis", "s (lower is better)", colours),
        ("g (tokens), board", ("two",), ("t",), "bars", False, "axis", "tokens", colours),
    ]
    assert lines.about == (
        "Lines with bands, 95 % intervals where drawn. one, x: 50.0 % 10.0–90.0; one, y: 50.0 % 10.0–90.0; two, x: 25.0"
        " % 10.0–90.0. All numbers are in the table below."
    )
    (single,) = drawings(view, [rate("x")], [rate("x")])
    assert single.kind == "bars", "one place is no line"


def test_shares_link_to_their_units():
    view = Table(title="t", about="a", groups=("g",), chart="stacked")
    heads: Any = [SimpleNamespace(name="a b"), SimpleNamespace(name="c")]
    links = metrics._links(view, heads)
    assert links == {"a b": "outcome=wrong&error=a+b", "c": "outcome=wrong&error=c"}
    assert metrics._links(Table(title="t", about="a", groups=("g",), chart="bars"), heads) == {}
    (stacked,) = drawings(view, [rate("a b", better="less")], [rate("d", better="less")], links=links)
    assert [point.href for point in stacked.points] == ["trajectories?run=4&outcome=wrong&error=a+b", ""]
    assert (stacked.kind, stacked.values) == ("stacked", "share of the whole (lower is better)")
    assert stacked.about.startswith("Stacked shares, 95 % intervals")
    (mixed,) = drawings(view, [rate("a", better="less")], [rate("d", better="more")])
    assert mixed.values == "share of the whole"


def test_a_chart_in_words_has_the_first_dozen_numbers():
    points: Any = [SimpleNamespace(model="m", name=f"n{n}", text="1") for n in range(13)]
    words = "; ".join(f"m, n{n}: 1" for n in range(12))
    end = "All numbers are in the table below."
    assert metrics._in_words(points[:12], "bars") == f"Bars, 95 % intervals where drawn. {words}. {end}"
    assert metrics._in_words(points, "x") == f"Bars, 95 % intervals where drawn. {words}; and 1 more. {end}"
    assert metrics._values("bars", "", percent=False) == "mean"


# Models side by side ----------------------------------------------------------------------------------

PAIRS = {
    (0, 1): PairwiseResult(-0.25, -0.5, 0.1234567, 0.01, 1, 3, 8),
    (0, 2): PairwiseResult(0.125, 0.0, 0.25, 0.4, 2, 1, 8, 3),
    (1, 0): PairwiseResult(0.25, -0.1234567, 0.5, 0.01, 3, 1, 8),
}


def test_models_are_compared_with_the_first_one():
    rows = side_by_side._rows(Board([1, 2, 3]), PAIRS)  # pyright: ignore[reportArgumentType]
    assert [asdict(each) for each in rows] == [
        {
            "label": "two",
            "points": "−25.0",
            "interval": "−50.0 … +12.3",
            "difference": -0.25,
            "p": 0.02,
            "p_text": "0.0200",
            "gained": 1,
            "lost": 3,
            "finding": "worse",
        },
        {
            "label": "three",
            "points": "+12.5",
            "interval": "+0.0 … +25.0",
            "difference": 0.125,
            "p": 0.4,
            "p_text": "0.4000",
            "gained": 2,
            "lost": 1,
            "finding": "no finding: 3 of 8 units without a verdict",
        },
    ]


def test_the_script_has_all_pairs_of_the_first_models(monkeypatch: pytest.MonkeyPatch):
    first = [-0.25, -0.5, 0.12346, 0.02, 1, 3, 0, 8]
    assert side_by_side._pairs_for_script(Board([1, 2, 3]), PAIRS) == {  # pyright: ignore[reportArgumentType]
        "models": ["one", "two", "three"],
        "pairs": [
            [None, first, [0.125, 0.0, 0.25, 0.4, 2, 1, 3, 8]],
            [[0.25, -0.12346, 0.5, 0.01, 3, 1, 0, 8], None, None],
            [None, None, None],
        ],
    }
    monkeypatch.setattr(side_by_side, "MAX_COMPARED_MODELS", 2)
    few = side_by_side._pairs_for_script(Board([1, 2, 3]), PAIRS)  # pyright: ignore[reportArgumentType]
    assert (few["models"], len(few["pairs"])) == (["one", "two"], 2)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("most", "left_out"), [(3, ""), (2, "Only the first 2 models are compared.")])
def test_a_page_compares_the_first_models(monkeypatch: pytest.MonkeyPatch, most: int, left_out: str):
    monkeypatch.setattr(side_by_side, "MAX_COMPARED_MODELS", most)
    monkeypatch.setattr(side_by_side, "add_picture", lambda site, drawing, page: f"{drawing.kind} {page}")
    monkeypatch.setattr(side_by_side, "run_labels", lambda results: [f"run {each}" for each in results])
    monkeypatch.setattr(side_by_side, "trust_line", lambda label, result: label * (result > 1))
    written: list[Any] = []
    site: Any = SimpleNamespace(
        shard=lambda name, data: written.append((name, data["models"])),
        add=lambda *words, **values: written.append((words, values)),
    )
    models: Any = Board([SimpleNamespace(result=number) for number in (1, 2, 3)])
    side_by_side.add_side_by_side(site, models, {}, "none")
    assert written == []
    side_by_side.add_side_by_side(site, models, PAIRS, "page")
    labels = ["one", "two", "three"][:most]
    assert written[0] == ("pairs-page", labels)
    assert written[1][0] == ("page", "Models side by side", "compare.html")
    assert [row.label for row in written[1][1].pop("rows")] == ["two", "three"]
    assert written[1][1] == {
        "group": "board",
        "scripts": ("compare.js",),
        "shard": "pairs-page",
        "labels": labels,
        "picture": "differences page",
        "units": "8",
        "missing": ["run 2", "run 3"],
        "left_out": left_out,
    }


def test_differences_from_the_first_model_are_drawn():
    drawing = side_by_side._drawing(Board([1, 2, 3]), PAIRS)  # pyright: ignore[reportArgumentType]
    assert (drawing.title, drawing.about) == (
        "Difference of accuracy from one",
        "Points with 95 % intervals and a line at zero. two: −25.0 points; three: +12.5 points.",
    )
    assert [(p.model, p.value, p.low, p.high) for p in drawing.points] == [
        ("two", -0.25, -0.5, 0.1234567),
        ("three", 0.125, 0.0, 0.25),
    ]
    assert (drawing.models, drawing.names, drawing.kind, drawing.percent) == (
        ("two", "three"),
        ("difference",),
        "differences",
        True,
    )


# What was run -----------------------------------------------------------------------------------------


def test_a_run_is_described_with_what_is_needed_to_repeat_it():
    identity = {
        "models": {
            "agent": {
                "settings": {"temperature": 0, "base_url": "http://h/v1", "stop": [], "extra": {"ä": 1}}
            }
        },
        "data_sha256": "d",
        "benchmark": "b",
        "mode": "fc",
        "prompts": None,
        "profile": "p",
        "split": "",
        "lang": "en",
        "seed": 3,
    }
    command = ["/bin/wildtool", "run", "--data", "/home/me/data.jsonl", "a b"]
    about = {
        "identity": identity,
        "scope": {"limit": 2, "ids": [], "repeats": 1},
        "data": {"name": "/home/me/data.jsonl"},
        "versions": {"duckdb": "1"},
        "sittings": [
            {"started": "s1", "ended": "e1", "status": "limit", "command": command},
            {"started": "s2", "ended": "e2", "status": "done", "command": command},
        ],
    }
    result = SimpleNamespace(model="m", roles={"user": "u"}, counts=SimpleNamespace(units=8))
    run: Any = SimpleNamespace(
        result=result, about=about, folder=Path("/home/me/run"), spent=model.RunUsage(5, None, 7)
    )
    described = overview._run_description("label", run)
    assert (described.label, described.folder) == ("label", "run")
    assert described.commands == ("wildtool run --data data.jsonl 'a b'",)
    assert described.settings == (
        ("model", "m"),
        ("model settings: temperature", "0"),
        ("model settings: base_url", "http://h/v1"),
        ("model settings: extra", '{"ä": 1}'),
        ("user played by", "u"),
        ("benchmark", "b"),
        ("mode", "fc"),
        ("profile", "p"),
        ("lang", "en"),
        ("seed", "3"),
        ("limit", "2"),
        ("repeats", "1"),
        ("data", "data.jsonl"),
        ("data SHA-256", "d"),
        ("started", "s1"),
        ("ended", "e2"),
        ("status", "done"),
        ("sittings", "2"),
        ("version of duckdb", "1"),
        ("units", "8"),
        ("model calls", "5"),
        ("completion tokens", "7"),
    )
    about["sittings"] = []
    none = overview._run_description("label", run)
    assert none.commands == ()
    assert {"started", "ended", "status"}.isdisjoint(name for name, _ in none.settings)


# Leaderboards -----------------------------------------------------------------------------------------


def file_run(benchmark: str, digest: str, place: str) -> Any:
    result = SimpleNamespace(benchmark=benchmark, benchmark_file=digest)
    return SimpleNamespace(result=result, about={"data": {"benchmark_file": place}})


def test_benchmarks_of_one_name_from_two_files_are_refused():
    same = [
        file_run("a", "1", "a.py"),
        file_run("a", "1", "a.py"),
        file_run("b", "2", "b.py"),
        file_run("a", "", ""),
    ]
    model._check_benchmark_files(same)
    with pytest.raises(UsageError) as caught:
        model._check_benchmark_files([*same, file_run("a", "3", "x/a.py")])
    assert str(caught.value) == (
        "a.py and x/a.py define different benchmarks of one name, a; give one of them another name and run it again, or"
        " make a report of each"
    )


def test_the_data_of_a_board_are_those_that_were_played(monkeypatch: pytest.MonkeyPatch):
    played, other = Source("a", Path("a"), "played"), Source("b", Path("b"), "other")
    monkeypatch.setattr(model, "_benchmark", lambda run: "benchmark")
    monkeypatch.setattr(model, "data_candidates", lambda benchmark, folder, about: about)
    run = SimpleNamespace(folder=Path("run"), result=SimpleNamespace(data_sha256="played"))
    for candidates, source in (
        ([other, "gone", played], played),
        ([other, "gone"], None),
        ([], None),
    ):
        run.about = candidates
        assert model.Leaderboard("t", "t", (run,)).source == source  # pyright: ignore[reportArgumentType]


def test_leaderboards_have_names_of_their_own(monkeypatch: pytest.MonkeyPatch):
    titles = ["A b", "a-B", "c", "A b"]
    monkeypatch.setattr(model, "table_titles", lambda results: titles)
    monkeypatch.setattr(model, "_in_order", lambda runs: reversed(runs))
    runs: Any = [SimpleNamespace(result=n) for n in range(4)]
    boards = model.group_leaderboards(runs)
    assert [(each.title, each.slug, [run.result for run in each.runs]) for each in boards] == [
        ("A b", "a-b-1", [3, 0]),
        ("a-B", "a-b-2", [1]),
        ("c", "c", [2]),
    ]


def test_ranked_runs_come_first_each_kind_with_the_best_first(monkeypatch: pytest.MonkeyPatch):
    def run(
        name: str, value: float | None, ranked: bool, better: Any = "more", *, eligible: bool = True
    ) -> Any:
        metric = None if value is None else SimpleNamespace(value=value, better=better)
        result = SimpleNamespace(model=name, metric=metric, ranked=ranked)
        return SimpleNamespace(result=result, eligible=eligible)

    monkeypatch.setattr(model, "headline", lambda result: result.metric)
    monkeypatch.setattr(model, "may_be_ranked", lambda results: [result.ranked for result in results])
    runs = [
        run("x", 0.9, False),
        run("b", 0.5, True),
        run("none", None, True),
        run("a", 0.5, True),
        run("c", 0.7, True),
        run("y", 0.8, True, eligible=False),
    ]
    assert [each.result.model for each in model._in_order(runs)] == ["c", "a", "b", "none", "x", "y"]
    lower = [run("a", 3.0, True, "less"), run("b", 2.0, True, "less")]
    assert [each.result.model for each in model._in_order(lower)] == ["b", "a"]
    board = model.Leaderboard("t", "t", tuple(model._in_order(runs)))
    assert board.ranked == 4
    assert board.places((), {}) == ["1", "2", "3", "4", "", ""]
    assert model.Leaderboard("t", "t", (run("a", 0.5, True, ""),)).ranked == 0
    assert model.Leaderboard("t", "t", (run("a", None, True),)).ranked == 1
