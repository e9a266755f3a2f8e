"""Multi-turn entries in full: decisions with their reasons, mistakes of the audit, gold in both styles, and which rules
judge which entry."""

from pathlib import Path
from typing import Any

from benchmarks.bfcl.test_memory import load
from benchmarks.bfcl.test_multi_turn import DOCUMENTS, ENTRY, played, record
from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import parse_multi_turn
from wildtool.benchmarks.bfcl.gold import NO_CALL
from wildtool.benchmarks.bfcl.multi_turn import (
    FORCE_TERMINATED,
    MultiTurnRules,
    PromptMultiTurn,
)
from wildtool.types import Item, Message

# Mistakes --------------------------------------------------------------------------------------------


def shown(reply: Message) -> str:
    if reply.get("tool_calls"):
        return " ".join(
            f"{made['function']['name']}{made['function']['arguments']}" for made in reply["tool_calls"]
        )
    return "-" if reply["content"] == NO_CALL else reply["content"]


def test_each_mistake_is_in_one_turn() -> None:
    own = Item("x", ("0",), record())
    rules = MultiTurnRules(native=False)
    made, ordered = "[touch(file_name='new'), ls()]", "[sort(file_name='notes.txt')]"
    tag = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert [
        (m.unit, m.kind, m.note, rules.explain(own, m), " ".join(map(shown, m.replies)))
        for m in rules.mutants(own)
    ] == [
        ("0", "turn without calls", "turn 0: no call", "M3", f"- - {ordered} -"),
        ("0", "call left out", "turn 0: touch", "M3", f"[ls()] - - {ordered} -"),
        (
            "0",
            "call renamed",
            "turn 0: touch_v2 for touch",
            "M3",
            f"[touch_v2(file_name='new'), ls()] - - {ordered} -",
        ),
        (
            "0",
            "required argument left out",
            "turn 0: touch: file_name",
            "M3",
            f"[touch(), ls()] - - {ordered} -",
        ),
        ("0", "call left out", "turn 0: ls", "M3", f"[touch(file_name='new')] - - {ordered} -"),
        (
            "0",
            "call renamed",
            "turn 0: ls_v2 for ls",
            "M3",
            f"[touch(file_name='new'), ls_v2()] - - {ordered} -",
        ),
        (
            "0",
            "unknown argument",
            "turn 0: ls: zz_unknown",
            "M3",
            f"[touch(file_name='new'), ls(zz_unknown=1)] - - {ordered} -",
        ),
        ("0", "turn without calls", "turn 2: no call", "M3", f"{made} - - -"),
        (
            "0",
            "call renamed",
            "turn 2: sort_v2 for sort",
            "M3",
            f"{made} - - [sort_v2(file_name='notes.txt')] -",
        ),
        ("0", "required argument left out", "turn 2: sort: file_name", "M3", f"{made} - - [sort()] -"),
        ("0", "call in JSON in a tag at the end", "ls", "M7", f"{made} - - {ordered} {tag}"),
    ]
    mutants = list(MultiTurnRules(native=True).mutants(own))
    assert (len(mutants), " ".join(map(shown, mutants[3].replies))) == (
        11,
        'touch{} ls{} - - sort{"file_name": "notes.txt"} -',
    )


def test_gold_that_is_refused_has_no_mistakes() -> None:
    answer = {"ground_truth": [["cat('kept.txt', 'more')"], [], []]}
    own = parse_multi_turn(ENTRY, answer, BFCL_CATEGORIES["multi_turn_base"], DOCUMENTS, "here")
    assert list(MultiTurnRules(native=True).mutants(Item("x", ("0",), own))) == []


# Episodes --------------------------------------------------------------------------------------------


def gold(episode: Any, style: str) -> str:
    request = episode.request()
    assert request is not None and request.gold is not None
    return shown(request.gold(style))


def test_gold_is_given_at_once_or_call_by_call() -> None:
    episode = PromptMultiTurn(record())
    assert (gold(episode, "parallel"), gold(episode, "serial")) == (
        "[touch(file_name='new'), ls()]",
        "[touch(file_name='new')]",
    )
    played(episode, {"role": "assistant", "content": "[touch(file_name='new')]"})
    assert (gold(episode, "parallel"), gold(episode, "serial")) == ("-", "[ls()]")
    played(episode, {"role": "assistant", "content": "[ls()]"})
    assert (gold(episode, "parallel"), gold(episode, "serial")) == ("-", "-")


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
