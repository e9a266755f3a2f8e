"""Wrong replies made from gold ones: every single mistake in calls and texts, the rest of the unit as it was."""

import json
from typing import Any

from wildtool.toolcall.call_mutants import calls_message, made_call, reply_mutants


def tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def call(identity: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


NOTHING = {"role": "assistant", "content": ""}
TIDE = call("1", "tide", '{"day": true}')
BROKEN = call("2", "boat", "{")
TOOLS = [tool("boat"), tool("tide", day={"type": "boolean"}), tool("hello")]


def test_calls_have_these_mutants() -> None:
    gold = calling(TIDE, BROKEN)
    mutants = list(reply_mutants([gold], TOOLS))
    assert all(len(replies) == 1 for _, replies, _ in mutants)

    def with_arguments(**arguments: Any) -> dict[str, Any]:
        return calling(call("1", "tide", json.dumps(arguments)), BROKEN)

    assert [(kind, replies[0], note) for kind, replies, note in mutants] == [
        ("text instead of calls", {"role": "assistant", "content": "Done."}, "Done."),
        ("call left out", calling(BROKEN), "tide"),
        ("call repeated", calling(TIDE, BROKEN, {**TIDE, "id": "repeated"}), "tide twice"),
        ("call renamed", calling(call("1", "tide_v2", '{"day": true}'), BROKEN), "tide_v2 for tide"),
        ("call renamed", calling(call("1", "boat", '{"day": true}'), BROKEN), "boat for tide"),
        ("required argument left out", with_arguments(), "tide: day"),
        ("unknown argument", with_arguments(day=True, zz_unknown=1), "tide: zz_unknown"),
        ("wrong boolean", with_arguments(day=False), "tide: day: True -> False"),
        ("wrong type", with_arguments(day="true"), "tide: day: True -> 'true'"),
        ("null for a value", with_arguments(day=None), "tide: day: True -> None"),
        ("call left out", calling(TIDE), "boat"),
        ("call repeated", calling(TIDE, BROKEN, {**BROKEN, "id": "repeated"}), "boat twice"),
        ("call renamed", calling(TIDE, call("2", "boat_v2", "{")), "boat_v2 for boat"),
        ("call renamed", calling(TIDE, call("2", "tide", "{")), "tide for boat"),
    ]


def test_texts_have_these_mutants_with_tools_and_without() -> None:
    gold = {"role": "assistant", "content": "Hello", "name": "kept"}
    nameless = {"type": "function", "function": {"name": 5}}
    assert list(reply_mutants([gold], [nameless, *TOOLS])) == [
        ("empty reply", ({**gold, "content": ""},), "no text"),
        ("call instead of text", (calling(call("mutant", "boat", "{}")),), "boat"),
    ]
    assert list(reply_mutants([gold], [])) == [
        ("empty reply", ({**gold, "content": ""},), "no text"),
        ("other text", ({**gold, "content": "zzyzx quuxly"},), "zzyzx quuxly"),
    ]


def test_the_other_replies_of_a_unit_stay() -> None:
    first, second, third = ({"role": "assistant", "content": text} for text in ("one", "two", "three"))
    replies = [replies for _, replies, _ in reply_mutants([first, second, third], TOOLS[:1])]
    empty, calls = NOTHING, calling(call("mutant", "boat", "{}"))
    assert replies == [
        *((wrong, second, third) for wrong in (empty, calls)),
        *((first, wrong, third) for wrong in (empty, calls)),
        *((first, second, wrong) for wrong in (empty, calls)),
    ]


def test_a_message_without_calls_is_an_empty_text() -> None:
    assert calls_message([]) == NOTHING
    assert calls_message((TIDE,)) == calling(TIDE)


def test_a_made_call_keeps_other_fields_of_the_one_it_is_like() -> None:
    assert made_call("boat", "{}") == call("mutant", "boat", "{}")
    assert made_call("boat", "{}", {**TIDE, "index": 0}) == {**call("1", "boat", "{}"), "index": 0}
