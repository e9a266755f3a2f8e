"""Pairs of values with the parameters that they are for, labelled by their role: what `fixed` accepts and refuses."""

from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.labelled_values import arguments_of, is_policy
from wildtool.toolcall.compare import compare_arguments

FOLDER = oracle_folder("found") / "fixed_values_4"
ACCEPTED = {"before": 0.0, "written": 0.02}
REFUSED = 0.08
REFUSED_OF_FINANCE = 3


def is_accepted(row: dict[str, Any]) -> bool:
    return compare_arguments(*arguments_of(row)) == []


def pairs_of(name: str, origin: str, same: bool) -> list[dict[str, Any]]:
    collection = rows(present(FOLDER) / f"{name}.jsonl")
    return [row for row in collection if row["set"].startswith(origin) and row["same"] is same]


@pytest.mark.parametrize("origin", ["before", "written"])
def test_hardly_any_value_that_differs_for_its_parameter_is_accepted(origin: str):
    different = pairs_of("pairs", origin, same=False)
    accepted = [row for row in different if is_accepted(row)]
    assert len(accepted) <= ACCEPTED[origin] * len(different), accepted


@pytest.mark.parametrize("origin", ["before", "written"])
def test_at_most_eight_in_a_hundred_equal_values_are_refused_outside_policy(origin: str):
    same = [row for row in pairs_of("pairs", origin, same=True) if not is_policy(row)]
    refused = [row for row in same if not is_accepted(row)]
    assert len(refused) <= REFUSED * len(same), refused


def test_no_value_of_finance_that_differs_is_accepted_and_hardly_any_equal_one_refused():
    assert [row for row in pairs_of("finance", "finance", same=False) if is_accepted(row)] == []
    refused = [row for row in pairs_of("finance", "finance", same=True) if not is_accepted(row)]
    assert len(refused) <= REFUSED_OF_FINANCE, refused
