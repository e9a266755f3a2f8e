"""Numbers by two groups at once."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.errors import UsageError
from wildtool.stats.matrix import matrix_of, named_pair
from wildtool.stats.metrics import Rate

KINDS, PLACES = ("chat", "call"), (1, 2, 3)
Row = tuple[str, str, int, bool]


def relation(rows: Sequence[Row]) -> Any:
    values = ", ".join(f"('{item}', '{kind}', {place}, {right})" for item, kind, place, right in rows)
    return duckdb.sql(f"SELECT * FROM (VALUES {values}) AS t(item, kind, place, correct)")


RATES = [
    *(Rate("kind", kind, f"kind = '{kind}'") for kind in KINDS),
    *(Rate("position", str(place), f"place = {place}") for place in PLACES),
    *(Rate("wrong at", str(place), f"NOT correct AND place = {place}", "place") for place in PLACES),
    Rate("double", "all", "TRUE", "2 * place"),
]
ROW = st.tuples(st.sampled_from("abcd"), st.sampled_from(KINDS), st.sampled_from(PLACES), st.booleans())


@given(st.lists(ROW, min_size=1, max_size=40))
def test_each_cell_counts_the_units_that_are_of_both(rows: list[Row]):
    matrix = matrix_of(relation(rows), RATES, "kind", "position")
    for kind in KINDS:
        for place in PLACES:
            its = [right for _, k, p, right in rows if (k, p) == (kind, place)]
            if not its:
                assert (kind, str(place)) not in matrix.cells
                continue
            cell = matrix[kind, str(place)]
            assert (cell.numerator, cell.denominator) == (sum(its), len(its))
            assert cell.low is not None and cell.value is not None and cell.high is not None
            assert cell.low <= cell.value <= cell.high
    assert sum(cell.denominator for cell in matrix.metrics) == len(rows)


def test_what_the_other_group_counts_is_counted_in_the_cells():
    matrix = matrix_of(relation([("a", "chat", 3, False), ("b", "call", 3, True)]), RATES, "kind", "wrong at")
    assert [(cell.name, cell.numerator, cell.denominator) for cell in matrix.metrics] == [("chat × 3", 3, 1)]


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [("kind", "colour", "colour"), ("kind", "kind", "twice"), ("wrong at", "double", "different things")],
)
def test_groups_without_numbers_in_common_are_refused(rows: str, columns: str, said: str):
    with pytest.raises(UsageError, match=said):
        matrix_of(relation([("a", "chat", 1, True)]), RATES, rows, columns)


@pytest.mark.parametrize(
    "text", ["task type x position", "task type × position", "task type×position", "task type, position"]
)
def test_two_groups_are_named_in_any_spelling(text: str):
    assert named_pair(text, ["task type", "position"]) == ("task type", "position")


def test_a_group_with_a_comma_in_its_name_is_one_group():
    assert named_pair("Chat, asked back", ["Chat, asked back", "position"]) is None
    assert named_pair("position", ["position"]) is None


def test_cells_of_few_units_are_said():
    rows: list[Row] = [("a", "chat", 1, True)] * 10 + [("b", "call", 1, True)]
    assert matrix_of(relation(rows), RATES, "kind", "position").small.startswith("1 of 2 cells")


def test_a_cell_is_small_by_its_units_and_not_by_what_they_count():
    rows: list[Row] = [("a", "chat", 3, True)] * 4
    matrix = matrix_of(
        relation(rows), [*RATES, Rate("steps", "all", "TRUE", "place", "place")], "kind", "steps"
    )
    assert matrix["chat", "all"].denominator == 12
    assert matrix.small.startswith("1 of 1 cells")
