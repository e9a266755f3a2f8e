"""Seal-Tools' lists of calls in many wraps: equal with both evaluators, and `fixed` as a reader would judge them."""

from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.test_sealtools import approximately, is_bad, numbers, record
from wildtool.benchmarks.sealtools.judge import SCORERS, ratios


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return list(rows(present(oracle_folder("found") / "toleap_3" / "sealtools") / "wraps.jsonl"))


@pytest.fixture(scope="module")
def data() -> Path:
    return oracle_folder("sealtools")


def test_every_wrap_gets_the_numbers_of_both_evaluators(cases: list[dict[str, Any]], data: Path) -> None:
    for case in cases:
        _, gold = record(data, case["split"], case["index"])
        counts, raised, calls = SCORERS["toleap"].counts(case["output"], gold)
        toleap = case["expected_toleap"]
        assert (calls, raised) == (
            None if case["toleap_parsed"] == -1 else case["toleap_parsed"],
            toleap.get("crash"),
        ), case["case_id"]
        if raised is None:
            assert numbers(counts, int(calls is None), 1) == approximately(toleap), case["case_id"]
            assert is_bad(counts) == case["toleap_bad_case"], case["case_id"]
        counts, raised, _ = SCORERS["original"].counts(case["output"], gold)
        original = case["expected_original"]
        assert raised == original.get("crash"), case["case_id"]
        if raised is None:
            assert ratios(counts, 1) == approximately(original), case["case_id"]


def test_fixed_takes_the_one_list_that_a_reply_holds(cases: list[dict[str, Any]], data: Path) -> None:
    wrong = [
        (case["case_id"], case["kind"], case["mistake"], case["fixed_should"])
        for case in cases
        if case["fixed_should"] is not None
        for check in [SCORERS["fixed"].check(case["output"], record(data, case["split"], case["index"])[1])]
        if check.correct != (case["fixed_should"] == "right")
    ]
    assert not wrong, (len(wrong), wrong[:20])


def test_fixed_accepts_what_toleap_accepts_as_exactly_gold(cases: list[dict[str, Any]], data: Path) -> None:
    """But where the case itself leaves open which of several lists counts."""
    exact = [case for case in cases if case["toleap_right"] and case["fixed_should"] is not None]
    assert exact
    for case in exact:
        gold = record(data, case["split"], case["index"])[1]
        assert SCORERS["fixed"].check(case["output"], gold).correct, (case["case_id"], case["kind"])
