"""Equality with the published evaluator of ACEBench of October 2025, from a recorded reply to the verdict."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import read_items
from wildtool.engine.score.audit import gold_transcript
from wildtool.types import Item, Reply, Transcript, Verdict

CASES = "normal_special_cases.jsonl.gz"


@pytest.fixture(scope="session")
def cases_2025_10() -> Path:
    return present(oracle_folder("acebench_2025_10"))


@cache
def units(folder: Path) -> dict[tuple[str, str], tuple[Item, str]]:
    """Language and record to the item and unit that it became."""
    return {
        (item.lang, record.id): (item, unit)
        for item in read_items(folder)
        for unit, record in zip(item.units, item.data.records, strict=True)
    }


def verdict(item: Item, unit: str, text: str, profile: str) -> Verdict:
    judged = ACEBENCH.judge(item, {unit: Transcript((Reply({"content": text}),))}, profile)
    return judged[item.units.index(unit)]


def test_a_reply_is_judged_as_the_reference_does(cases_2025_10: Path, newest: Path) -> None:
    compared = 0
    for case in rows(cases_2025_10 / CASES):
        item, unit = units(newest)[case["lang"], case["id"]]
        found = verdict(item, unit, case["output_text"], "official")
        where = (case["lang"], case["id"], case["variant"])
        assert (found.outcome == "correct") == case["valid"], where
        assert found.fields["error_label"] == (case["error_type"] or None), where
        compared += 1
    assert compared == 11_829


def test_the_evaluator_of_august_judges_many_of_these_replies_otherwise(
    cases_2025_10: Path, newest: Path
) -> None:
    """Else one of the two profiles would be the other under another name."""
    moved = Counter[bool]()
    for case in list(rows(cases_2025_10 / CASES))[::10]:
        item, unit = units(newest)[case["lang"], case["id"]]
        before = verdict(item, unit, case["output_text"], "official-2025-08").outcome == "correct"
        moved[case["valid"]] += before != case["valid"]
    assert moved[True] > 50
    assert moved[False] > 10


def test_the_gold_answers_that_are_still_refused_have_known_causes(newest: Path) -> None:
    causes = Counter[tuple[str, bool, str]]()
    rules = ACEBENCH.rules("official")
    for item in read_items(newest):
        if not item.split.startswith("normal"):
            continue
        gold = {unit: gold_transcript(ACEBENCH, item, unit, "official", "parallel") for unit in item.units}
        for found in ACEBENCH.judge(item, gold, "official"):
            if found.outcome != "correct":
                why = rules.explain_gold(item, found.unit).partition(" ")[0]
                causes[item.lang, "multi_turn" in item.split, why] += 1
    assert causes == {
        ("en", True, "Q1"): 27,
        ("en", False, "Q20"): 1,
        ("en", False, "Q21"): 1,
        ("zh", True, "Q1"): 2,
        ("zh", False, "Q21"): 3,
        ("zh", False, "Q22"): 1,
        ("zh", False, "Q27"): 2,
    }
