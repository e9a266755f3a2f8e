"""Tables of numbers: cells, heads, and what Markdown, LaTeX and papers' tables make of them."""

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.compare.test_published import run
from wildtool.engine.compare.published import Ranking, RankingCell, RankingRow
from wildtool.evidence import Evidence
from wildtool.published import PublishedRow, PublishedTable
from wildtool.table import EMPTY_CELL, Cell, Head, MetricTable, Row, cell_of, heads_of
from wildtool.table.csv_file import numbers_csv
from wildtool.table.latex import latex_tables, latex_text
from wildtool.table.markdown import markdown_code, markdown_row, markdown_table, markdown_text
from wildtool.table.published import published_table, ranking_table
from wildtool.types import Metric

RATE = Metric("accuracy", "task", 0.625, 5, 8, 0.31, 0.86, headline=True)
ATTACKS = Metric("attacks", "obeyed", 0.5, 4, 8, 0.2, 0.8, better="less")


@pytest.mark.parametrize(
    ("metric", "cell", "interval", "sort", "drawn", "at"),
    [
        (
            RATE,
            Cell("62.5 %", ("31.0", "86.0"), "5/8", 0.625, 8, (0.31, 0.86, 0.625)),
            "31.0–86.0",
            "0.625",
            (31, 55),
            61.7,
        ),
        (
            ATTACKS,
            Cell("50.0 %", ("20.0", "80.0"), "4/8", 0.5, 8, (0.2, 0.8, 0.5)),
            "20.0–80.0",
            "0.5",
            (20, 60),
            49.2,
        ),
        (Metric("g", "n", None, 0, 0), Cell("–", counts="0/0", size=0), "", "", None, 0),
        (
            Metric("g", "n", 1.2345, 4, 3, kind="mean", unit="s"),
            Cell("1.234 s", number=1.2345),
            "",
            "1.2345",
            None,
            0,
        ),
        (Metric("g", "n", None, 2, 8, kind="count"), Cell("2 of 8", number=2.0), "", "2.0", None, 0),
        (Metric("g", "n", math.nan, 1, 0), Cell("–", counts="1/0", size=0), "", "", None, 0),
        (
            Metric("g", "n", 1 / 3, 1, 3, 0.12345, 0.45678),
            Cell("33.3 %", ("12.3", "45.7"), "1/3", 1 / 3, 3, (0.12345, 0.45678, 1 / 3)),
            "12.3–45.7",
            "0.3333333333333333",
            (12.35, 33.33),
            32.53,
        ),
        (
            Metric("g", "n", 0.0, 0, 2, -0.1, 1.2),
            Cell("0.0 %", ("-10.0", "120.0"), "0/2", 0.0, 2, (0.0, 1.0, 0.0)),
            "-10.0–120.0",
            "0.0",
            (0, 100),
            0,
        ),
    ],
)
def test_a_metric_is_displayed_so(
    metric: Metric, cell: Cell, interval: str, sort: str, drawn: tuple[float, float] | None, at: float
) -> None:
    shown = cell_of(metric)
    assert shown == cell
    assert (shown.interval, shown.sort, shown.range, shown.at) == (interval, sort, drawn, at)


def test_heads_say_their_group_and_where_lower_is_better() -> None:
    task, obeyed = heads_of([RATE, ATTACKS, RATE])
    assert (task, obeyed) == (Head("accuracy", "task", True), Head("attacks", "obeyed", better="less"))
    assert [task.text(), task.text(whole=True), task.text(whole=True, between="\n")] == [
        "task",
        "accuracy: task",
        "accuracy\ntask",
    ]
    assert [obeyed.text(), obeyed.text(whole=True), obeyed.text(whole=True, between="\n")] == [
        "obeyed (lower is better)",
        "attacks: obeyed (lower is better)",
        "attacks\nobeyed\n(lower is better)",
    ]
    assert heads_of([RATE, ATTACKS], "attacks") == (obeyed,)


def test_csv_has_a_number_a_row_of_the_groups_asked_for() -> None:
    metrics = (replace(RATE, name="=a\x1b"), ATTACKS, replace(RATE, evidence=Evidence(9, failed=1)))
    written = numbers_csv([replace(run(), metrics=metrics), run()], {"accuracy"})
    assert written.decode() == (
        "model,run,group,name,value,low,high,numerator,denominator,unit,source,units,failed,unplayed,cut_off,unread\n"
        "ours,r,accuracy,'=a\\x1b,0.625,0.31,0.86,5,8,,profile paper,1,0,0,,\n"
        "ours,r,accuracy,task,0.625,0.31,0.86,5,8,,profile paper,9,1,0,,\n"
        "ours,r,accuracy,score,0.5,0.2,0.8,1,2,,profile paper,1,0,0,,\n"
    )


def table(whole: bool = True) -> MetricTable:
    first = {("accuracy", "task"): cell_of(RATE), ("attacks", "obeyed"): cell_of(ATTACKS)}
    rows = Row(label="a|b", cells=first, place="1"), Row(label="`m`", cells={("accuracy", "task"): Cell("1")})
    return MetricTable("T & more", heads_of([RATE, ATTACKS]), rows, whole)


def test_a_table_has_a_cell_or_none_for_each_head_and_row() -> None:
    assert table().columns() == [[cell_of(RATE), Cell("1")], [cell_of(ATTACKS), None]]
    heads = heads_of([RATE, ATTACKS])
    assert list(table().rows[1].pairs(heads)) == [(heads[0], Cell("1")), (heads[1], EMPTY_CELL)]


def test_markdown_has_one_model_a_row() -> None:
    assert list(markdown_table(table())) == [
        "| model | accuracy: task | attacks: obeyed (lower is better) |",
        "| --- | ---: | ---: |",
        r"| 1 `a\|b` | 62.5 % [31.0–86.0] 5/8 | 50.0 % [20.0–80.0] 4/8 |",
        "| `` `m` `` | 1 | – |",
    ]
    assert next(markdown_table(table(whole=False))) == "| model | task | obeyed (lower is better) |"


def test_texts_from_outside_are_plain_in_markdown() -> None:
    assert markdown_row(["a", "b"]) == "| a | b |"
    assert [markdown_code(name) for name in ("m", "a``b", "`a", "a`", "a\nb")] == [
        "`m`",
        "```a``b```",
        "`` `a ``",
        "`` a` ``",
        "`a b`",
    ]
    assert markdown_text("*a* [b](http://c) @d www.e") == (
        r"\*a\* \[b\](http://<!-- -->c) @<!-- -->d www.<!-- -->e"
    )


def test_latex_has_one_table_where_all_fits() -> None:
    assert latex_tables(table(), "l") == "\n".join(
        [
            r"\begin{table}",
            r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
            r"  \caption{T \& more}",
            r"  \label{tab:l}",
            r"  \begin{adjustbox}{max width=\textwidth}",
            r"  \begin{tabular}{>{\raggedright\arraybackslash}p{0.26\textwidth}rr}",
            r"    \toprule",
            r"    model & accuracy: task & \shortstack[r]{attacks: obeyed \\ (lower is \\ better)} \\",
            r"    \midrule",
            r"    a\textbar{}b & 62.5 {\scriptsize [31.0--86.0]} & 50.0 {\scriptsize [20.0--80.0]} \\",
            r"    \textasciigrave{}m\textasciigrave{} & 1 & -- \\",
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \end{adjustbox}",
            r"\end{table}",
            "",
        ]
    )


def lines_of(tables: str, start: str) -> list[str]:
    return [line.strip() for line in tables.splitlines() if line.strip().startswith(start)]


def wide(columns: int, rows: int, cell: str) -> MetricTable:
    heads = tuple(Head("g", f"n{chr(97 + number % 26)}") for number in range(columns))
    cells = {head.key: Cell(cell) for head in heads}
    names = [f"m{number}" for number in range(rows)]
    return MetricTable("T.", heads, tuple(Row(label=name, cells=cells) for name in names), whole=False)


def test_latex_splits_columns_that_do_not_fit_and_rows_beyond_forty() -> None:
    # A column of two letters takes four of the 68 beside the names.
    assert lines_of(latex_tables(wide(17, 1, "12"), "l"), r"\caption") == [r"\caption{T.}"]
    parts = latex_tables(wide(18, 41, "12"), "l")
    assert lines_of(parts, r"\caption") == [rf"\caption{{T. Part {number} of 4.}}" for number in (1, 2, 3, 4)]
    assert lines_of(parts, r"\label") == [rf"\label{{tab:l{end}}}" for end in ("", "-2", "-3", "-4")]
    seventeen = " & ".join(f"n{letter}" for letter in "abcdefghijklmnopq")
    assert lines_of(parts, "model") == [rf"model & {seventeen} \\", r"model & nr \\"] * 2
    assert [line.partition(" ")[0] for line in lines_of(parts, "m") if not line.startswith("model")] == [
        *(f"m{number}" for number in range(40)),
        *(f"m{number}" for number in range(40)),
        "m40",
        "m40",
    ]
    assert lines_of(latex_tables(wide(1, 40, "1"), "l"), r"\caption") == [r"\caption{T.}"]
    # The second part holds as much as the first.
    halves = latex_tables(wide(34, 1, "12"), "l")
    assert lines_of(halves, r"\caption") == [rf"\caption{{T. Part {number} of 2.}}" for number in (1, 2)]
    assert lines_of(latex_tables(wide(35, 1, "12"), "l"), r"\label")[2:] == [r"\label{tab:l-3}"]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("a" * 16, "a" * 16),
        ("aaaa bbbb cccc d", r"aaaa bbbb cccc d"),
        ("aaaa bbbb cccc dd", r"\shortstack[r]{aaaa bbbb cccc \\ dd}"),
        ("aaaaaaaaaaaaaa bb", r"\shortstack[r]{aaaaaaaaaaaaaa \\ bb}"),
        ("a_b\x1b", r"a\_b\textbackslash{}x1b"),
        ("", ""),
    ],
)
def test_a_head_breaks_between_words_in_latex(name: str, head: str) -> None:
    heads = (Head("g", name),)
    text = latex_tables(MetricTable("t", heads, (Row(label="m", cells={}),), whole=False), "l")
    assert lines_of(text, "model") == [rf"model & {head} \\"]


def test_long_names_may_break_in_latex_and_signs_are_escaped() -> None:
    def name(text: str) -> str:
        row = Row(label=text, cells={})
        return lines_of(latex_tables(MetricTable("t", (), (row,)), "l"), text[:3])[0]

    assert name("x" * 23) == rf"{'x' * 23} \\"
    assert name("x" * 30) == rf"{'x' * 14}\allowbreak{{}}{'x' * 14}\allowbreak{{}}xx \\"
    assert name("abc-defghi/jklmn:opqrstuv") == (
        r"abc-\allowbreak{}defghi/\allowbreak{}jklmn:\allowbreak{}opqrstuv \\"
    )
    assert latex_text(r"\^~<>|{}$&#_%–…`" + '"') == (
        r"\textbackslash{}\textasciicircum{}\textasciitilde{}\textless{}\textgreater{}\textbar{}"
        r"\{\}\$\&\#\_\%--\ldots{}\textasciigrave{}\textquotedbl{}"
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [((1.0, 20.0), ["1", "20"]), ((1.5, 20.0), ["1.5", "20.0"]), ((1.25, 2.0), ["1.25", "2.00"])],
)
def test_a_papers_table_has_as_many_decimals_as_it_prints(
    values: tuple[float, float], shown: list[str]
) -> None:
    rows = (
        PublishedRow("m", "open", {"a": values[0], "b": None}),
        PublishedRow("n", "", {"a": values[1], "b": values[1]}),
    )
    paper = PublishedTable("name", "p", "Paper, Table 1", "what", "percent", {"a": "A", "b": "B"}, rows)
    first = {("", "a"): Cell(shown[0]), ("", "b"): Cell()}
    second = {("", "a"): Cell(shown[1]), ("", "b"): Cell(shown[1])}
    assert published_table(paper) == MetricTable(
        "Paper, Table 1: what (percent)",
        (Head("", "a"), Head("", "b")),
        (
            Row(label="m", cells=first, kind="published", about="open"),
            Row(label="n", cells=second, kind="published"),
        ),
        whole=False,
    )


TASK, OTHER = ("accuracy", "task"), ("other", "cost")


def ranking(
    keys: tuple[tuple[str, str], ...] = (TASK,), better: Any = None, source: str = "Paper"
) -> Ranking:
    entries = (
        RankingRow("p" * 61, "open", {TASK: RankingCell(0.5, source)}),
        RankingRow(
            "m" * 41, "own", {TASK: RankingCell(0.2475, "r", 0.125, 0.5)}, run="runs/m", incomplete=True
        ),
        RankingRow(
            "n", "own", {TASK: RankingCell(None, "r"), OTHER: RankingCell(0.5, "r", 0.25)}, run="runs/n"
        ),
    )
    return Ranking("paper", TASK, keys, entries, better or {})


def test_runs_stand_among_the_models_of_papers_in_percent() -> None:
    ranked = ranking_table(ranking())
    assert ranked.title == "Paper, accuracy (%, profile paper), by task"
    assert (ranked.heads, ranked.whole) == ((Head("accuracy", "task"),), False)
    assert ranked.rows == (
        Row(label="p" * 19 + "…" + "p" * 40, cells={TASK: Cell("50")}, kind="published", about="open"),
        Row(
            label=f"{'m' * 13}…{'m' * 26} (measured here) (incomplete)",
            cells={TASK: Cell("25", ("12.5", "50.0"))},
        ),
        Row(label="n (measured here)", cells={TASK: Cell(), OTHER: Cell("50")}),
    )


@pytest.mark.parametrize(
    ("values", "cells"),
    [((0.5, 0.25), ("50", "25")), ((0.5, 0.125), ("50.0", "12.5")), ((0.5, 0.6254), ("50.00", "62.54"))],
)
def test_a_ranking_has_the_decimals_of_its_paper(values: tuple[float, float], cells: tuple[str, str]) -> None:
    entries = [RankingRow(str(value), "", {TASK: RankingCell(value, "p")}) for value in values]
    entries += [RankingRow("none", "", {TASK: RankingCell(None, "p")})]
    entries += [RankingRow("own", "", {TASK: RankingCell(0.33333, "r", None, 0.5)}, run="r")]
    table = ranking_table(Ranking("paper", TASK, (TASK,), tuple(entries), {}))
    places = cells[0][2:]
    shown = [row.cells[TASK] for row in table.rows]
    assert shown == [*map(Cell, cells), Cell(), Cell("33.33"[: 2 + len(places)])]


def test_a_ranking_says_by_what_it_is_ordered_or_that_it_is_not() -> None:
    assert (
        ranking_table(ranking(source="Paper on accuracy")).title
        == "Paper on accuracy (%, profile paper), by task"
    )
    both = ranking_table(ranking((TASK, OTHER), {OTHER: "less"}))
    assert both.title == "Paper (%, profile paper), by accuracy task"
    assert (both.heads, both.whole) == ((Head(*TASK), Head(*OTHER, better="less")), True)
    assert ranking_table(ranking((OTHER,))).title == ", other (%, profile paper), by accuracy task"
    unranked = ranking_table(ranking(better={TASK: ""})).title
    assert unranked == "Paper, accuracy (%, profile paper), not ranked: neither more nor less of it is better"
