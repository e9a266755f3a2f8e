"""Pairs of values labelled by reading: how many that differ `fixed` accepts, and how many equal ones it refuses."""

import json
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.labelled_values import arguments_of, is_policy
from wildtool.toolcall.compare import compare_arguments

FOLDER = oracle_folder("found") / "fixed_values_3"
FALSE_ACCEPTS, REFUSALS = 0.02, 0.15


def is_accepted(row: dict[str, Any]) -> bool:
    return compare_arguments(*arguments_of(row)) == []


def collection(name: str) -> list[dict[str, Any]]:
    return list(rows(present(FOLDER) / f"{name}.jsonl"))


@pytest.mark.parametrize("origin", ["before", "written"])
def test_at_most_two_in_a_hundred_different_values_are_accepted(origin: str):
    different = [row for row in collection("pairs") if row["set"].startswith(origin) and not row["same"]]
    accepted = [row for row in different if is_accepted(row)]
    assert len(accepted) <= FALSE_ACCEPTS * len(different), accepted


@pytest.mark.parametrize("origin", ["before", "written"])
def test_at_most_fifteen_in_a_hundred_equal_values_are_refused_outside_policy(origin: str):
    same = [
        row
        for row in collection("pairs")
        if row["set"].startswith(origin) and row["same"] and not is_policy(row)
    ]
    refused = [row for row in same if not is_accepted(row)]
    assert len(refused) <= REFUSALS * len(same), refused


def test_no_character_that_is_part_of_a_word_is_dropped_as_a_particle():
    wrong = [row for row in collection("particles") if is_accepted(row) != row["same"]]
    assert not wrong


def test_documented_defaults_are_read_as_a_reader_would():
    wrong = [
        row
        for row in collection("defaults")
        if row["same"]
        is not (
            compare_arguments(
                {},
                {"v": row["value"]},
                {"properties": {"v": {"type": row["type"], "description": row["description"]}}},
            )
            == []
        )
    ]
    assert not wrong, json.dumps(wrong, ensure_ascii=False)
