"""BFCL's single-turn entries in full: gold answers as they are written, mistakes of the audit, decisions, decoding."""

from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.judge import EntryRules
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.benchmarks.bfcl.rules import call_mistakes
from wildtool.types import Item


def rules(profile: str, mode: str = "prompt") -> EntryRules:
    own = BFCL_BENCHMARK.in_mode(mode).rules(profile)
    assert isinstance(own, EntryRules)
    return own


# Mistakes --------------------------------------------------------------------------------------------


def mistakes(record: BfclEntry, profile: str = "fixed") -> list[tuple[str, str, str]]:
    """Kind, text and note of each mutant of an entry."""
    mutants = [*rules(profile).mutants(Item("x", ("0",), record))]
    assert {reply["role"] for mutant in mutants for reply in mutant.replies} <= {"assistant"}
    return [(mutant.kind, *[reply["content"] for reply in mutant.replies], mutant.note) for mutant in mutants]  # type: ignore[misc]


# Categories ------------------------------------------------------------------------------------------


def test_a_call_is_left_out_renamed_twice_and_made_with_other_values() -> None:
    first, second = ("f", {"a": 1}), ("g", {})
    mistakes = [
        *call_mistakes([first, second], ["f", "g", "h"], lambda place: [("kind", {"b": place}, "note")])
    ]
    assert mistakes == [
        ("call left out", [second], "f"),
        ("call renamed", [("f_v2", {"a": 1}), second], "f_v2 for f"),
        ("call renamed", [("g", {"a": 1}), second], "g for f"),
        ("kind", [("f", {"b": 0}), second], "f: note"),
        ("call left out", [first], "g"),
        ("call renamed", [first, ("g_v2", {})], "g_v2 for g"),
        ("call renamed", [first, ("f", {})], "f for g"),
        ("kind", [first, ("g", {"b": 1})], "g: note"),
    ]
    assert [kind for kind, *_ in call_mistakes([first], [], lambda _: ())] == ["call renamed"]
