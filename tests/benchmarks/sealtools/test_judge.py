"""Seal-Tools' decisions in full: what each profile counts of a reply, which error it names, and what `fixed` can read."""

import json
from typing import Any

import pytest

from benchmarks.sealtools.sealtools_build import BOAT, TIDE, parsed
from wildtool.benchmark import Check
from wildtool.benchmarks.sealtools.judge import (
    SCORERS,
    Counts,
    ratios,
)

GOLD = {"gold_api": 2, "gold_param": 3}
ALL = {"parsed": 1, **GOLD, "pred_api": 2, "pred_param": 3, "ok_api": 2, "ok_param": 3}


def decision(check: Check) -> tuple[str | None, str, dict[str, Any]]:
    """Error, reason, and the columns that are not 0 or empty."""
    assert check.correct == (check.error is None)
    return check.error, check.reason, {name: value for name, value in check.fields.items() if value}


@pytest.mark.parametrize(
    ("entry", "raised"),
    [(7, True), (["api"], True), ("an api", True), (None, True), ("x", False), (["y"], False), ({}, False)],
)
def test_an_entry_that_is_no_call_ends_the_originals_where_they_look_for_a_name_in_it_q8(
    entry: Any, raised: bool
) -> None:
    columns = ALL | {"pred_api": 1, "pred_param": 2, "ok_api": 1, "ok_param": 2, "missing_api": 1}
    end = "; the published evaluator raises TypeError here" if raised else ""
    error = {"reference_error": "TypeError"} if raised else {}
    for profile in SCORERS:
        own_end, own_error = ("", {}) if profile == "fixed" else (end, error)
        found = decision(SCORERS[profile].check(json.dumps([TIDE, entry]), parsed(TIDE, BOAT)))
        assert found == ("missing_api", f"an entry of the list names no API{own_end}", columns | own_error)


def test_ratios_are_those_with_a_hit() -> None:
    assert ratios(Counts(), 4) == {}
    assert ratios(Counts(parsed=1, ok_api=1, pred_api=2), 4) == {"AMOUNT": 0.25}
    assert ratios(Counts(parsed=1, gold_api=1, pred_api=2), 4) == {"AMOUNT": 0.25}
    counts = Counts(parsed=2, ok_api=1, pred_api=2, gold_api=4, ok_param=3, pred_param=3, gold_param=4)
    assert ratios(counts, 4) == {
        "AMOUNT": 0.5,
        "P_api": 0.5,
        "R_api": 0.25,
        "F1_api": pytest.approx(1 / 3),
        "P_param": 1.0,
        "R_param": 0.75,
        "F1_param": pytest.approx(6 / 7),
    }


# Matching and values ---------------------------------------------------------------------------------


def test_an_integer_that_python_does_not_print_is_another_value() -> None:
    reply = f"[{{'api': 'getTide', 'parameters': {{'harbour': 'Vigo', 'hour': 0x{'f' * 5000}}}}}]"
    fields = SCORERS["fixed"].check(reply, parsed(TIDE)).fields
    assert (fields["ok_param"], fields["wrong_value"]) == (1, 1)
