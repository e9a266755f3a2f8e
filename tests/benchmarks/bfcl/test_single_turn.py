"""BFCL's single-turn entries in full: gold answers as they are written, mistakes of the audit, decisions, decoding."""

import json
from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import JAVA, RING, function
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.decode import (
    DecodeError,
)
from wildtool.benchmarks.bfcl.fixed import decode_python_fully
from wildtool.benchmarks.bfcl.gold import first_accepted_calls
from wildtool.benchmarks.bfcl.judge import EntryRules
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.benchmarks.bfcl.rules import call_mistakes
from wildtool.types import Item, Message


def rules(profile: str, mode: str = "prompt") -> EntryRules:
    own = BFCL_BENCHMARK.in_mode(mode).rules(profile)
    assert isinstance(own, EntryRules)
    return own


def entry(category: str, functions: list[Any], *answers: Any) -> BfclEntry:
    question = {"role": "user", "content": "Please."}
    return BfclEntry(BFCL_CATEGORIES[category], (question,), tuple(functions), answers)


# Gold ------------------------------------------------------------------------------------------------


def gold(record: BfclEntry, *, native: bool = False) -> list[tuple[str, dict[str, Any]]]:
    return first_accepted_calls(record, native=native)


JAVA_TOOL = function(
    "f",
    i={"type": "integer"}, l={"type": "long"}, d={"type": "double"}, x={"type": "float"}, b={"type": "boolean"},
    s={"type": "String"}, v={"type": "String"}, a={"type": "Array", "items": {"type": "integer"}},
    n={"type": "ArrayList", "items": {"type": "String"}}, o={"type": "Array", "items": {"type": "any"}},
    m={"type": "HashMap"}, any={"type": "any"},
)  # fmt: skip
JAVA_VALUES = {
    "i": [5], "l": [5], "d": [1.5], "x": [1.5], "b": [True], "s": ["a \"b\" é"], "v": ["name"], "a": [[1, 2]],
    "n": [["a", "b"]], "o": [["a", 1, True]], "m": [{"k": ["v"], "n": [1]}], "any": ["x"],
}  # fmt: skip


def test_gold_in_java_is_written_as_java() -> None:
    own = entry("simple_java", [JAVA_TOOL], {"f": JAVA_VALUES})
    ((_, written),), ((_, native),) = gold(own), gold(own, native=True)
    assert written == {
        "i": "5", "l": "5L", "d": "1.5", "x": "1.5f", "b": "true", "s": '"a \\"b\\" é"', "v": '"name"',
        "a": "new int[]{1, 2}", "n": 'new ArrayList<>(Arrays.asList("a", "b"))', "o": 'new Object[]{"a", 1, true}',
        "m": 'new HashMap<String, Object>() {{ put("k", "v"); put("n", 1); }}', "any": '"x"',
    }  # fmt: skip
    assert native == {**written, "s": 'a "b" é', "v": "name", "any": "x"}


def test_gold_in_javascript_is_written_as_javascript() -> None:
    tool = function(
        "f", i={"type": "integer"}, n={"type": "Bigint"}, x={"type": "float"}, y={"type": "float"}, b={"type": "Boolean"},
        s={"type": "String"}, a={"type": "array", "items": {"type": "String"}}, d={"type": "dict"},
    )  # fmt: skip
    values = {
        "i": [5],
        "n": [5],
        "x": [2],
        "y": [2.5],
        "b": [False],
        "s": ["é"],
        "a": [["é"]],
        "d": [{"k": ["v"]}],
    }
    own = entry("simple_javascript", [tool], {"f": values})
    ((_, written),), ((_, native),) = gold(own), gold(own, native=True)
    assert written == {
        "i": "5", "n": "5n", "x": "2.0", "y": "2.5", "b": "false", "s": '"é"', "a": '["é"]', "d": '{"k": "v"}',
    }  # fmt: skip
    assert native == {**written, "s": "é"}


def test_a_text_in_place_of_a_list_has_quotes_only_where_calls_are_written() -> None:
    own = entry("simple_java", [JAVA], {"Store.put": {"keys": ["allKeys"], "limit": [5]}})
    assert gold(own) == [("Store.put", {"keys": '"allKeys"', "limit": "5L"})]
    assert gold(own, native=True) == [("Store.put", {"keys": "allKeys", "limit": "5L"})]


# Mistakes --------------------------------------------------------------------------------------------


def mistakes(record: BfclEntry, profile: str = "fixed") -> list[tuple[str, str, str]]:
    """Kind, text and note of each mutant of an entry."""
    mutants = [*rules(profile).mutants(Item("x", ("0",), record))]
    assert {reply["role"] for mutant in mutants for reply in mutant.replies} <= {"assistant"}
    return [(mutant.kind, *[reply["content"] for reply in mutant.replies], mutant.note) for mutant in mutants]  # type: ignore[misc]


def test_names_of_variables_are_also_put_in_other_letters() -> None:
    own = entry("simple_java", [JAVA], {"Store.put": {"keys": ["allKeys"], "limit": [5]}})
    assert mistakes(own)[2] == (
        "other letters in a name",
        '[Store.put(keys="ALLkEYS", limit=5L)]',
        'Store.put: keys: "ALLkEYS" for "allKeys"',
    )
    texts = entry("simple_java", [function("f", s={"type": "String"})], {"f": {"s": ["abc"]}})
    assert "other letters in a name" not in [kind for kind, _, _ in mistakes(texts)]


def test_where_no_call_is_right_every_form_of_one_is_a_mistake() -> None:
    spoken = json.dumps({"name": "ring", "arguments": {"value": 1}})
    texts = {
        "call without brackets": "ring(value=1)",
        "call in a fence": "```python\nring(value=1)\n```",
        "call after a sentence": "I will look it up.\n\nring(value=1)",
        "call in JSON": spoken,
        "call in JSON in a tag": f"<tool_call>{spoken}</tool_call>",
    }
    assert mistakes(entry("irrelevance", [RING])) == [
        ("call instead of text", "[ring()]", "ring"),
        *((kind, text, text) for kind, text in texts.items()),
    ]
    assert mistakes(entry("irrelevance", [])) == []
    assert mistakes(entry("live_relevance", [RING])) == [("only words", "Done.", "Done.")]
    own = Item("x", ("0",), entry("irrelevance", [RING]))
    reasons = {
        mutant.kind: rules("official").explain(own, mutant) for mutant in rules("official").mutants(own)
    }
    decoder = "Q12: only what the decoder reads is a call"
    assert reasons == {"call instead of text": "", **dict.fromkeys(texts, decoder)}


@pytest.mark.parametrize(
    ("name", "record", "reason"),
    [
        ("x", entry("simple_java", [JAVA]), "Q3: lists of texts keep quotes, maps lose their content"),
        ("x", entry("simple_python", [RING]), "Q2: no call fulfils this entry"),
        ("simple_java_64", entry("simple_java", [JAVA]), "Q14"),
    ],
)
def test_a_refused_gold_answer_is_explained(name: str, record: BfclEntry, reason: str) -> None:
    for mode in ("fc", "prompt"):
        assert rules("official", mode).explain_gold(Item(name, ("0",), record), "0") == reason
    form = next(form for form in PROMPT_FORMS if PROMPT_FORMS[form].calls == "json")
    listed = rules("official").explain_gold(Item("x", (form,), entry("simple_python", [RING])), form)
    assert listed == "F1: a list of objects in an argument ends the calls"


# Decoding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[ring('Ann')]", [{"ring": {"name": "Ann"}}]),
        ("ring('Ann', 2, x=3)", [{"ring": {"name": "Ann", "value 2": 2, "x": 3}}]),
        ("other(+1, -2, g(1))", [{"other": {"value 1": 1, "value 2": -2, "value 3": "g(1)"}}]),
        ("ring('Ann', name='Bo')", [{"ring": {"name": "Bo"}}]),
        ("[ring('Ann'), {1}]", "expected a call, found Set"),
    ],
)
def test_fixed_gives_values_the_names_of_parameters(text: str, calls: Any) -> None:
    if isinstance(calls, str):
        with pytest.raises(DecodeError) as caught:
            decode_python_fully(text, [RING])
        assert str(caught.value) == calls
    else:
        assert decode_python_fully(text, [RING]) == calls


def native(*calls: Any) -> Message:
    return {"content": "words", "tool_calls": [{"function": call} for call in calls]}


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
