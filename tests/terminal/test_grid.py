"""Tables fit the width they are given and break no number and no name."""

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from wildtool.engine.compare.leaderboard import run_labels
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.evidence import Evidence
from wildtool.terminal import tables, wrap_text
from wildtool.terminal.grid import Grid, GridColumn
from wildtool.types import Metric

WIDTHS = (80, 100, 160)
NAMES = (
    "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4",
    "openrouter/meta-llama/llama-3.3-70b-instruct:free",
    "anthropic/claude-sonnet-4-5-20250929",
    "gpt-4o-2024-08-06",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
    "x",
    "Team-ACE/ToolACE-2-Llama-3.1-8B",
    "mistralai/Mistral-Large-Instruct-2411",
    "z" * 60,
    "accounts/fireworks/models/qwen3-235b-a22b-instruct-2507",
    "gemini/gemini-2.5-pro",
    "模型/通义千问-指令",
)
GROUPS = ("accuracy", "task type", "optimal path (OP)", "accomplish progress (nodes done / nodes)")


def result(model: str, *metrics: Metric) -> ScoreResult:
    named: dict[str, Any] = {"run": "r", "benchmark": "b", "profile": "official", "played": "official"}
    named |= {"data": "d", "data_sha256": "0" * 64, "items": 2, "items_md5": "2 items", "failed": ()}
    named |= {"planned": 8, "planned_items": 2, "incomplete": False, "evidence": Evidence(8)}
    return ScoreResult(
        model=model,
        counts=OutcomeCounts(correct=5, wrong=3),
        metrics=metrics,
        split=None,
        mode=None,
        roles={},
        **named,
    )


@pytest.fixture(autouse=True)
def _default_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "wildtool.engine.compare.leaderboard._default_data", lambda benchmark, split, mode: "0" * 64
    )


def rate(group: str, name: str, right: int, units: int) -> Metric:
    share = right / units
    return Metric(group, name, share, right, units, max(share - 0.1, 0), min(share + 0.1, 1), headline=True)


def texts_of(metric: Metric) -> list[str]:
    """What must stand in a table as it is."""
    assert metric.value is not None
    return [f"{100 * metric.value:.1f} %", f"[{100 * metric.low:.1f}, {100 * metric.high:.1f}]"]  # pyright: ignore[reportOptionalOperand]


def shown(results: list[ScoreResult], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    lines: list[str] = []
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setattr("builtins.print", lambda text="": lines.append(text))
        tables.print_overview(results)
        tables.print_groups(results)
    return "\n".join(lines)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize(
    ("width", "models"),
    [
        *product(WIDTHS, (1, 3)),
        (min(WIDTHS), 12),
        *(pytest.param(width, 12, marks=pytest.mark.long) for width in WIDTHS if width > min(WIDTHS)),
    ],
)
def test_no_line_exceeds_the_width_and_no_number_or_name_is_broken(width: int, models: int, seed: int):
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(
        "wildtool.engine.compare.leaderboard._default_data", lambda benchmark, split, mode: "0" * 64
    )
    draw = Random(seed)
    names = draw.sample(NAMES, models)
    heads = [
        (group, f"cut {k} of it") for group in draw.sample(GROUPS, 2) for k in range(draw.randint(1, 11))
    ]
    units = (
        [draw.randint(1, 99_999) for _ in names] if draw.random() < 0.5 else [draw.randint(1, 999)] * models
    )
    results = [
        result(name, *(rate(*head, draw.randint(0, count), count) for head in heads))
        for name, count in zip(names, units, strict=True)
    ]
    out = shown(results, width, monkeypatch)
    monkeypatch.undo()
    assert max(map(cell_len, out.splitlines())) <= width
    for text in (
        *run_labels(results),
        *(text for one in results for m in one.metrics for text in texts_of(m)),
    ):
        assert text in out


@pytest.mark.parametrize("width", WIDTHS)
def test_models_are_rows_while_they_fit_and_else_columns(width: int, monkeypatch: pytest.MonkeyPatch):
    few = [result(f"m{k}", *(rate("accuracy", f"n{i}", k, 9) for i in range(2))) for k in (1, 2)]
    assert "\nm1 " in shown(few, width, monkeypatch)
    many = [result(f"m{k}", *(rate("accuracy", f"n{i}", k, 9) for i in range(20))) for k in (1, 2)]
    assert "accuracy: n19" in shown(many, width, monkeypatch)


def test_a_run_that_was_stopped_is_marked_in_every_table(monkeypatch: pytest.MonkeyPatch):
    whole = result("a", rate("accuracy", "task", 1, 9), rate("errors", "task", 1, 9))
    part = replace(whole, model="b", evidence=Evidence(8, failed=1))
    for width in WIDTHS:
        assert shown([whole, part], width, monkeypatch).count("b (incomplete)") == 3
        assert "a (incomplete)" not in shown([whole, part], width, monkeypatch)


def test_counts_that_all_models_share_stand_once(monkeypatch: pytest.MonkeyPatch):
    same = [result(name, rate("accuracy", "task", 1, 9)) for name in ("a", "b")]
    out = shown(same, 100, monkeypatch)
    assert ("n = 9" in out, "1/9" in out) == (True, False)


def test_counts_that_differ_stand_with_each_number(monkeypatch: pytest.MonkeyPatch):
    out = shown(
        [result("a", rate("accuracy", "task", 1, 9)), result("b", rate("accuracy", "task", 2, 8))],
        100,
        monkeypatch,
    )
    assert ("1/9" in out, "2/8" in out, "n =" in out) == (True, True, False)


def test_names_that_leave_no_room_for_numbers_stand_on_a_line_above_theirs(
    monkeypatch: pytest.MonkeyPatch,
):
    results = [result(name, *(rate("accuracy", f"n{i}", 1, 9) for i in range(8))) for name in NAMES[:3]]
    lines = shown(results, max(map(len, NAMES[:3])) + 4, monkeypatch).splitlines()
    for name in NAMES[:3]:
        assert "11.1 %" in lines[lines.index(name) + 1]


NUMBERED = [GridColumn("k", "left"), GridColumn("kk"), *(GridColumn(f"h{i}") for i in range(4))]


@pytest.mark.parametrize(
    ("keys", "width", "fits", "parts"),
    [
        (1, 27, True, [[0, 1, 2, 3, 4, 5]]),
        (1, 26, True, [[0, 1, 2, 3, 4], [0, 5]]),
        (1, 20, True, [[0, 1, 2, 3], [0, 4, 5]]),
        (1, 16, True, [[0, 1, 2, 3], [0, 4, 5]]),
        (1, 15, True, [[0, 1, 2], [0, 3, 4], [0, 5]]),
        (1, 10, True, [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]]),
        (1, 9, False, [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]]),
        (2, 20, True, [[0, 1, 2, 3], [0, 1, 4, 5]]),
        (2, 15, True, [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 5]]),
        (2, 14, True, [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 5]]),
        (2, 13, False, [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 5]]),
        (6, 26, True, [[0, 1, 2, 3, 4, 5]]),
    ],
)
def test_columns_that_do_not_fit_stand_in_further_tables_behind_the_keys(
    keys: int, width: int, fits: bool, parts: list[list[int]]
):
    grid = Grid(NUMBERED, [["name", "12", "1", "22", "333", "4444"]], keys)
    assert (grid.fits(width), grid.split_columns(width)) == (fits, parts)


MIXED = Grid(
    [
        GridColumn("", "left", wraps=True),
        GridColumn("n =\n9"),
        GridColumn("right\nof all"),
        GridColumn("what was said", "left", wraps=True),
    ],
    [
        ["one two three", "1", "[3, 4]", "abc de f"],
        ["模型", "20", "–", "long sentence of words"],
        ["line\nof two", "", "", ""],
    ],
    bold=frozenset({1}),
)


def test_words_wrap_numbers_do_not_and_a_highlighted_row_is_marked_line_by_line():
    wide, narrow = (MIXED.tables(width, ("<", ">")) for width in (50, 29))
    assert wide == [
        [
            "               n =   right",
            "                 9  of all  what was said",
            "──────────────────────────────────────────────────",
            "one two three    1  [3, 4]  abc de f",
            "<模型            20       –  long sentence of words>",
            "line",
            "of two",
        ]
    ]
    assert narrow == [
        [
            "        n =   right  what was",
            "          9  of all  said",
            "─────────────────────────────",
            "one       1  [3, 4]  abc de f",
            "two",
            "three",
            "<模型     20       –  long>",
            "<                     sentence>",
            "<                     of words>",
            "line",
            "of two",
        ]
    ]
    assert [len(lines) for lines in MIXED.tables(19)] == [9, 10]
    assert MIXED.tables(20)[1] == [
        "           what was",
        "           said",
        "────────────────────",
        "one two    abc de f",
        "three",
        "模型       long",
        "           sentence",
        "           of words",
        "line",
        "of two",
    ]


def test_the_widest_column_gives_way_first():
    columns = [0, 1, 2, 3]
    assert [MIXED.widths(columns, width) for width in (49, 44, 37, 29, 28)] == [
        [13, 3, 6, 21],
        [13, 3, 6, 16],
        [10, 3, 6, 12],
        [6, 3, 6, 8],
        [5, 3, 6, 8],
    ]


@pytest.mark.parametrize(
    ("name", "width", "line"),
    [
        ("a" * 40 + "tail", 52, "a" * 40 + "tail  62.5 %"),
        ("a" * 40 + "tail", 51, f"{'a' * 14}…{'a' * 24}tail  62.5 %"),
        ("a" * 40 + "tail", 10, "aaa…aaaatail  62.5 %"),
        ("a" * 8 + "tail", 10, "aaaaaaaatail  62.5 %"),
        ("a" * 9 + "tail", 10, "aaa…aaaatail  62.5 %"),
        ("name", 10, "name  62.5 %"),
    ],
)
def test_a_name_is_cut_in_the_middle_only_where_not_even_one_number_fits_beside_it(
    name: str, width: int, line: str
):
    grid = Grid([GridColumn("", "left"), GridColumn("")], [[name, "62.5 %"]])
    assert grid.tables(width) == [[line]]


def test_a_table_may_have_no_rows_or_one_column():
    grid = Grid([GridColumn("k"), GridColumn("other")], [])
    assert [grid.tables(8), grid.fits(8), grid.fits(7)] == [[["k  other", "────────"]], True, False]
    assert Grid([GridColumn("one")], [["a b"]]).tables(1) == [["one", "───", "a b"]]


def test_sentences_wrap_at_blanks_and_keep_their_indent():
    assert wrap_text("  one two three", 9) == ["  one two", "  three"]
    assert wrap_text("unbreakable-word", 5) == ["unbreakable-word"]
    assert wrap_text("", 5) == [""]
