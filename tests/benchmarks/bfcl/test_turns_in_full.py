"""Multi-turn entries in full: decisions with their reasons, mistakes of the audit, gold in both styles, and which rules
judge which entry."""

from pathlib import Path
from typing import Any

from benchmarks.bfcl.test_memory import load
from benchmarks.bfcl.test_multi_turn import DOCUMENTS, ENTRY, record
from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import parse_multi_turn
from wildtool.benchmarks.bfcl.multi_turn import (
    FORCE_TERMINATED,
    MultiTurnRules,
)
from wildtool.types import Item

# Mistakes --------------------------------------------------------------------------------------------


def test_gold_that_is_refused_has_no_mistakes() -> None:
    answer = {"ground_truth": [["cat('kept.txt', 'more')"], [], []]}
    own = parse_multi_turn(ENTRY, answer, BFCL_CATEGORIES["multi_turn_base"], DOCUMENTS, "here")
    assert list(MultiTurnRules(native=True).mutants(Item("x", ("0",), own))) == []


# Which rules -----------------------------------------------------------------------------------------


def test_a_dialogue_that_ended_early_is_refused_with_its_calls() -> None:
    rules, turns = BFCL_BENCHMARK.rules("official"), Item("x", ("0",), record())
    assert rules.verdict(rules.episode(turns, "0"), turns, "0") == Check(
        False, FORCE_TERMINATED, "stopped: 1 turns, expected 3", fields={"decoded_calls": 0}
    )


def test_a_choice_of_the_lenient_rules_is_kept_from_the_strict_ones(tmp_path: Path) -> None:
    item = load(tmp_path, "memory_kv")
    official, fixed = (BFCL_BENCHMARK.rules(profile) for profile in ("official", "fixed"))
    episode: Any = official.episode(item, item.units[1])
    episode.final = {"role": "assistant", "content": "{'answer': 'I do not know', 'context': '38'}"}
    assert official.verdict(episode, item, item.units[1]) == Check(
        True, reason="the last reply has an accepted answer", fields={"decoded_calls": 0}
    )
    refused = fixed.verdict(episode, item, item.units[1])
    assert (refused.correct, refused.error, refused.reason) == (
        False,
        "agentic:answer_not_found",
        "expected '38 or thirty eight', found \"{'answer': 'I do not know', 'context': '38'}\"",
    )
