"""The mistakes that ACEBench's audit plants: every one of a rich gold answer, as it is written."""

from dataclasses import replace
from typing import Any

from benchmarks.acebench.reply_build import item, normal, special, tool
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.audit.argument_mutants import argument_mutants, evenly_spaced
from wildtool.types import Item, Message

TEXT = {"type": "string"}


def missing(parameters: str, functions: str) -> str:
    return f'["Missing necessary parameters ({parameters}) for the api ({functions})"]'


def incorrect(values: str, parameters: str) -> str:
    return f'["There is incorrect value ({values}) for the parameters ({parameters}) in the conversation history."]'


def written(message: Message) -> str:
    assert message["role"] == "assistant"
    calls = [call["function"] for call in message.get("tool_calls", ())]
    texts = "; ".join(call["name"] + call["arguments"] for call in calls)
    return f"{message['content']} + {texts}" if texts else str(message["content"])


def mistakes(of: Item, mode: str = "text", profile: str = "fixed") -> list[tuple[str, str, str]]:
    """Kind, replies and note of each."""
    return [
        (mutant.kind, " / ".join(map(written, mutant.replies)), mutant.note)
        for mutant in ACEBENCH.in_mode(mode).rules(profile).mutants(of)
    ]


def changes(arguments: dict[str, Any], schema: Any) -> list[tuple[str, str, Any]]:
    """Kind, note and what differs from the arguments."""
    return [
        (
            kind,
            note,
            {
                name: mutated.get(name)
                for name in dict.fromkeys((*arguments, *mutated))
                if mutated.get(name) != arguments.get(name)
                or type(mutated.get(name)) is not type(arguments.get(name))
            },
        )
        for kind, mutated, note in argument_mutants(arguments, schema)
    ]


def test_a_documented_default_in_place_of_another_value_is_a_mistake() -> None:
    schema = {"properties": {"a": {"type": "integer", "default": 6}}}
    assert ("wrong number", "a: 5 -> 6", {"a": 6}) in changes({"a": 5}, schema)


def test_a_key_of_an_object_that_says_nothing_may_be_left_out_unless_nothing_declares_it() -> None:
    inside = {
        "type": "object",
        "properties": {"x": TEXT, "y": {"type": "string", "default": "low"}, "z": TEXT},
    }
    arguments = {"d": {"x": "", "y": "low", "z": "n", "own": ""}}
    left_out = [
        note
        for kind, note, _ in changes(arguments, {"properties": {"d": inside}})
        if kind == "key of an object left out"
    ]
    assert left_out == ["d.z", "d.own"]


def test_two_calls_of_one_function_are_made_one_in_their_places() -> None:
    names = ("g", "f", "h", "i")
    gold: dict[str, Any] = {"g": {}, "f_1": {"a": "red"}, "h": {}, "f_2": {"a": "blue"}, "i": {}}
    found = mistakes(item(normal(gold, functions=(*(tool(name, a=TEXT) for name in names),))))
    assert {kind: calls for kind, calls, _ in found if kind in ("one call for two", "two calls in one")} == {
        "one call for two": "[g(), f(a='red'), h(), f(a='red'), i()]",
        "two calls in one": "[g(), f(a='red blue'), h(), f(a='zzyzx'), i()]",
    }
    pair = mistakes(item(normal({"g": {}, "h": {}}, functions=(tool("g"), tool("h")))))
    assert [calls for kind, calls, _ in pair if kind == "call left out"] == ["[h()]", "[g()]"]


def test_what_another_candidate_leaves_out_may_be_empty() -> None:
    function = tool(a=TEXT, o=TEXT)
    function["parameters"]["required"] = ["o"]
    for candidates, kinds in (((), {"empty text"}), (({"f": {"a": "x"}},), set[str]())):
        found = mistakes(item(normal({"f": {"a": "x", "o": "yes"}}, *candidates, functions=(function,))))
        assert {kind for kind, calls, _ in found if calls == "[f(a='x', o='')]"} == kinds


def test_the_mistakes_of_three_names_keep_their_order() -> None:
    of = item(replace(special("special_incomplete", f=["a", "b", "c"]), functions=(tool("f"),)))
    found = [text for kind, text, _ in mistakes(of) if kind == "missing name not named"]
    assert found == [missing("b, c", "f"), missing("a, c", "f"), missing("a, b", "f")]
    wrong = special("special_error_param", x=["1"], y=["2"], z=["3"])
    question = "user: " + "Do it well. " * 9
    found = mistakes(item(replace(wrong, functions=(tool("g", other=TEXT),), question=question)))
    assert [row[1:] for row in found if row[0] == "wrong value not named"][1] == (
        incorrect("1, 3", "x, y, z"),
        "2",
    )
    assert [row[1:] for row in found if row[0] == "parameter not named"][1] == (
        incorrect("1, 2, 3", "x, z"),
        "y",
    )
    assert [row[1:] for row in found if row[0] == "all parameters listed"] == [
        (incorrect("1, 2, 3", "other"), "1 parameters")
    ]
    assert [row[1:] for row in found if row[0] == "whole request as the value"] == [
        (incorrect(question, "x, y, z"), question[:60])
    ]


def test_the_mistakes_tried_of_each_kind_are_evenly_spread() -> None:
    mutants = [("a", number, "") for number in range(6)] + [("b", 6, "")]
    tried = {most: [number for _, number, _ in evenly_spaced(mutants, most)] for most in (1, 2, 3, 4, 6, 9)}
    assert tried == {
        1: [0, 6],
        2: [0, 3, 6],
        3: [0, 2, 4, 6],
        4: [0, 2, 4, 6],
        6: [0, 1, 2, 3, 4, 5, 6],
        9: [0, 1, 2, 3, 4, 5, 6],
    }
    assert [number for _, number, _ in evenly_spaced(mutants[1:], 2)] == [1, 4, 6]
