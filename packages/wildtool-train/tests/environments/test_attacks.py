"""What each policy without the ability says, and what it earns."""

import json
import random
from typing import Any

import pytest

from wildtool.types import Message, Tool
from wildtool_train.attacks import POLICIES, View


def tool(name: str, required: list[str], *, description: str = "", **properties: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def entry(name: str, arguments: str) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


BOOK = tool(
    "book",
    ["day", "guests"],
    day={"type": "string"},
    guests={"type": "integer"},
    note={"type": "string"},
)
CANCEL = tool(
    "cancel",
    ["id", "all", "share", "ids", "more"],
    description="cancel my table",
    id={"enum": ["x"]},
    all={"type": "boolean"},
    share={"type": "number"},
    ids={"type": "array"},
    more={"type": "object"},
)
MESSAGES: list[Message] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": None, "tool_calls": [entry("first", '{"a": 1}'), entry("second", "")]},
    {"role": "tool", "content": "ok", "tool_call_id": "c"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Tisch"},
]
DONE, QUESTION = "It is done.", "Which one do you mean?"
GUESSED_BOOK: Any = ("book", {"day": "Tisch", "guests": 1})
GUESSED_CANCEL: Any = ("cancel", {"id": "x", "all": True, "share": 1.0, "ids": [], "more": {}})
BARE: Any = [("book", {}), ("cancel", {})]
FILLED_BOOK, FILLED_CANCEL = ["day", "guests", "note"], ["id", "all", "share", "ids", "more"]
SAYS: dict[str, Any] = {
    "refuse": ("I am sorry, I cannot help with that.",) * 2,
    "ask back": (QUESTION,) * 2,
    "claim that it is done": (DONE,) * 2,
    "claim, then ask": (f"{DONE} {QUESTION}",) * 2,
    "copy the user's text": ("Tisch",) * 2,
    "copy the last result": ("ok",) * 2,
    "copy all that is shown": (json.dumps(MESSAGES),) * 2,
    "empty reply": ("",) * 2,
    "a blank": (" ",) * 2,
    "nothing, then a claim": ("", DONE),
    "first tool, no arguments": ([("book", {})],) * 2,
    "first tool, then a claim": ([("book", {})], DONE),
    "first tool, guessed values": ([GUESSED_BOOK],) * 2,
    "any tool, guessed values": ([GUESSED_CANCEL],) * 2,
    "likeliest tool, guessed values": ([GUESSED_BOOK],) * 2,
    "likeliest tool, then a claim": ([GUESSED_BOOK], DONE),
    "likeliest tool, the user's text as values": ([("book", dict.fromkeys(FILLED_BOOK, "Tisch"))],) * 2,
    "all tools, no arguments": (BARE,) * 2,
    "all tools, guessed values": ([GUESSED_BOOK, GUESSED_CANCEL],) * 2,
    "all tools, null for each value": (
        [("book", dict.fromkeys(FILLED_BOOK)), ("cancel", dict.fromkeys(FILLED_CANCEL))],
    )
    * 2,
    "all tools, then a claim": (BARE, DONE),
    "one tool after another": (BARE[:1], BARE[1:]),
    "likeliest tools, one after another": ([GUESSED_BOOK], [GUESSED_CANCEL]),
    "one call three times": (BARE[:1] * 3,) * 2,
    "repeat the last call": ([("second", {})],) * 2,
    "repeat all calls": ([("first", {"a": 1}), ("second", {})],) * 2,
    "an unknown tool": ([("no_such_tool", {})],) * 2,
    "arguments that cannot be read": ([("book", "{not JSON")],) * 2,
    "call and claim at once": ([DONE, ("book", {})],) * 2,
    "calls as text": ("[book(), cancel()]",) * 2,
    "text and call in turn": (QUESTION, BARE[:1]),
    "the end mark": ("finish conversation",) * 2,
}
"""By policy what it says at its first and at its second step: a text, or names and arguments of calls."""


def said(message: Message) -> Any:
    assert message["role"] == "assistant"
    if "tool_calls" not in message:
        return message["content"]
    assert [call["id"] for call in message["tool_calls"]] == [
        f"call_{number}" for number in range(len(message["tool_calls"]))
    ]
    functions = [call["function"] for call in message["tool_calls"]]
    calls = [
        (each["name"], each["arguments"] if "{not" in each["arguments"] else json.loads(each["arguments"]))
        for each in functions
    ]
    return [*([message["content"]] if message["content"] else []), *calls]


@pytest.mark.parametrize("step", [0, 1])
def test_each_policy_says_what_its_name_says(step: int):
    assert [*POLICIES] == [*SAYS]
    for name, policy in POLICIES.items():
        view = View([*MESSAGES], [BOOK, CANCEL], step, random.Random(0))
        assert said(policy(view)) == SAYS[name][step], name
    view = View([*MESSAGES], [BOOK, CANCEL], 2)
    assert said(POLICIES["one tool after another"](view)) == BARE[:1]
    assert said(POLICIES["likeliest tools, one after another"](view)) == [GUESSED_BOOK]
    assert said(POLICIES["text and call in turn"](view)) == QUESTION
    single = View([*MESSAGES], [BOOK], 1)
    assert said(POLICIES["one tool after another"](single)) == BARE[:1]
    assert said(POLICIES["likeliest tools, one after another"](single)) == [GUESSED_BOOK]
