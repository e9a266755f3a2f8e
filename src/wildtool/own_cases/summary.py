"""The numbers of a run of own cases: the overall row first, then by tag, turn and tool, and the kinds of mistakes."""

from collections.abc import Iterable, Iterator
from typing import Any

from wildtool.own_cases.judging import ERRORS
from wildtool.stats.metrics import CORRECT_SQL, Rate, sql_text
from wildtool.stats.tables import Table, TableNumber, error_table, usual_tables
from wildtool.types import Metric

_SEPARATOR = ", "
"""Between the values of a column that holds several."""
OVERALL, RIGHT = "overall", "right"
MOST_TOOLS = 40
"""Tools that have rows of their own, those first that are expected or called most."""


def joined(values: Iterable[str]) -> str:
    """Several values as a column holds them."""
    return _SEPARATOR.join(value.replace(_SEPARATOR, "; ") for value in values)


def _holding(column: str, value: str) -> str:
    """SQL that says whether a column of several values holds one."""
    return f"list_contains(string_split({column}, '{_SEPARATOR}'), {sql_text(value)})"


def _values(verdicts: Any, *columns: str) -> list[str]:
    """The values in columns of several, those of most rows first."""
    counts: dict[str, int] = {}
    for column in columns:
        for text, count in verdicts.aggregate(f"{column}, COUNT(*)", column).fetchall():
            for value in filter(None, (text or "").split(_SEPARATOR)):
                counts[value] = counts.get(value, 0) + count
    return sorted(counts, key=lambda value: (-counts[value], value))


def _overall(verdicts: Any, profile: str) -> Iterator[TableNumber]:
    yield Rate(OVERALL, RIGHT, "TRUE", headline=True)
    yield Rate(OVERALL, "right where a call is expected", "expects = 'call'", only_if_any=True)
    yield Rate(OVERALL, "right where no call is expected", "expects = 'no call'", only_if_any=True)
    yield Rate(OVERALL, "right where calls are free", "expects = 'either'", only_if_any=True)
    yield Rate(OVERALL, "right where it must be", "must", only_if_any=True)
    yield from _cases(verdicts)


def _cases(verdicts: Any) -> Iterator[Metric]:
    """The share of cases that pass, where a case has several turns or tries."""
    shares = verdicts.aggregate(
        f"item, AVG({CORRECT_SQL}) AS share, MIN(at_least) AS wanted, COUNT(*) AS tries", "item"
    )
    ((passed, cases, most),) = shares.aggregate(
        "COUNT(*) FILTER (share >= wanted - 1e-9), COUNT(*), COALESCE(MAX(tries), 0)"
    ).fetchall()
    if most > 1:
        yield Metric(
            OVERALL,
            "cases that pass",
            passed / cases,
            passed,
            cases,
            note="a case passes if all its turns and tries are right, or the share that its 'at_least' asks for",
        )


def _by_tag(verdicts: Any, profile: str) -> Iterator[Rate]:
    for tag in _values(verdicts, "tags"):
        yield Rate("by tag", tag, _holding("tags", tag))


def _by_turn(verdicts: Any, profile: str) -> Iterator[Rate]:
    turns = [turn for (turn,) in verdicts.project("turn").distinct().order("turn").fetchall()]
    if len(turns) > 1:
        for turn in turns:
            yield Rate("by turn", f"turn {turn}", f"turn = {turn}")


def _by_tool(verdicts: Any, profile: str) -> Iterator[Rate]:
    tools = _values(verdicts, "expected", "called")[:MOST_TOOLS]
    groups = (("called when expected", "expected", "called"), ("expected when called", "called", "expected"))
    for group, rows, counted in groups:
        for tool in tools:
            numerator = f"CAST({_holding(counted, tool)} AS INTEGER)"
            yield Rate(group, tool, _holding(rows, tool), numerator, only_if_any=True)


def _confused(verdicts: Any, profile: str) -> list[TableNumber]:
    """Which tool was called in place of which, as shares of the turns that lack the expected one."""
    rows = verdicts.filter("missed <> '' AND instead <> ''").aggregate(
        "missed, instead, COUNT(*) AS n", "missed, instead"
    )
    pairs = rows.order("n DESC, missed, instead").fetchall()[:MOST_TOOLS]
    rates = [
        Rate(
            "called instead",
            f"{instead} for {missed}",
            f"missed = {sql_text(missed)}",
            f"CAST(instead = {sql_text(instead)} AS INTEGER)",
            better="less",
        )
        for missed, instead, _ in pairs
    ]
    return list(rates)


TABLES = (
    Table(numbers=_overall),
    Table(title="Tags", about="Right turns by tag.", numbers=_by_tag, groups=("by tag",)),
    Table(title="Turns", about="Right turns by their place.", numbers=_by_turn, groups=("by turn",)),
    Table(
        title="Tools",
        about="Whether each tool is called when it should be. Recall: of the turns that expect it, those that call it. "
        "Precision: of the turns that call it, those that expect it. Neither arguments nor free calls count here.",
        numbers=_by_tool,
        groups=("called when expected", "expected when called"),
    ),
    Table(
        title="Confusion",
        about="Which tool is called in place of the expected one.",
        numbers=_confused,
        groups=("called instead",),
    ),
    error_table(ERRORS, "The first thing that is wrong, as shares of the wrong turns."),
    *usual_tables(
        "turn",
        "The average per turn: tokens as the endpoint reports them, seconds as measured.",
        lambda rows: 0,
    ),
)
"""What `show`, `compare` and reports print of a run of own cases."""
SHOWN = (OVERALL, *(group for table in TABLES for group in table.groups if group != "cost"))
"""What `run` prints."""
