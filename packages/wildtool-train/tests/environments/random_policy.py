"""Replies of every kind, right and wrong, drawn by chance."""

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

from wildtool.types import Message, Tool
from wildtool_train.core import UnitEnvironment

ODD: Sequence[Any] = (
    {"content": ""},
    {"content": None, "tool_calls": []},
    {"content": "Which one do you mean?"},
    {"content": "It is done."},
    {"content": None, "tool_calls": [{"id": "1"}]},
    {"content": None, "tool_calls": {"id": "1", "function": {"name": "x", "arguments": "{}"}}},
    {"content": None, "tool_calls": [{"id": None, "function": {"name": 3, "arguments": "{}"}}]},
    {"content": None, "tool_calls": [{"id": "a", "function": {"name": "no_such_tool", "arguments": "{}"}}]},
    {"content": [{"type": "text", "text": "Fine."}]},
    {"content": None, "tool_calls": 5},
    {"refusal": "no", "content": None},
    {"content": '<tool_call>{"name": "x", "arguments": {}}</tool_call>'},
)


def reply(environment: UnitEnvironment, tools: Sequence[Tool], draw: random.Random) -> Message:
    """Mostly gold or nearly so, else anything."""
    kind = draw.random()
    gold = environment.gold(draw.choice(["parallel", "serial"]))
    if gold is None or kind < 0.1:
        return {"role": "assistant", **copy.deepcopy(draw.choice(ODD))}
    if kind < 0.75:
        return gold
    if kind < 0.8 and tools:
        name = draw.choice(tools)["function"]["name"]
        return call(name, draw.choice(["{}", "not JSON", '{"a": [1]}', ""]))
    return _changed(copy.deepcopy(gold), draw)


def call(name: str, arguments: str) -> Message:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }


def _changed(gold: Message, draw: random.Random) -> Message:
    """A gold message with one change, which may make it wrong."""
    calls: list[dict[str, Any]] = gold.get("tool_calls") or []
    if not calls:
        return draw.choice([{"role": "assistant", "content": ""}, {**gold, "content": "[x(a=1)]"}])
    kind = draw.randrange(5)
    if kind == 0:
        calls.append({**copy.deepcopy(draw.choice(calls)), "id": "again"})
    elif kind == 1:
        draw.shuffle(calls)
    elif kind == 2:
        calls.pop(draw.randrange(len(calls)))
    else:
        function = draw.choice(calls)["function"]
        arguments = json.loads(function["arguments"])
        if arguments and kind == 3:
            name = draw.choice(sorted(arguments))
            arguments[name] = draw.choice([None, "else", 7, str(arguments[name]), [arguments[name]]])
        else:
            arguments["unheard_of"] = 1
        function["arguments"] = json.dumps(arguments)
    return gold
