"""Reads ToolBench's trajectories: a Python list of APIs in the system text, `Thought`, `Action`, `Action Input`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from wildtool.training.conversation import ConversationBuilder
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.turns import (
    TurnAction,
    add_result,
    conversation_turns,
    plain_text,
    read_turns,
)
from wildtool.training.record import RowError, TrainingCall, TrainingRecord, observed_text
from wildtool.training.texts import parse_or_reject
from wildtool.training.tools import NO_TOOLS, tools_from

_LIST = "you have access to the following APIs:"
_FINISH = "Finish"
_STEP = re.compile(
    r"\s*(?:Thought:(?P<thought>.*?))?\s*Action:(?P<name>[^\n]*)\n\s*Action Input:(?P<input>.*)", re.DOTALL
)
_THOUGHT = "Thought:"


def read_toolbench(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """One step of a solution with all steps before it."""
    turns = conversation_turns(row, "conversations", "from", "value")
    system = plain_text(turns[0][1]) if turns and turns[0][0] == "system" else ""
    before, separator, tool_list = system.partition(_LIST)
    tools = tools_from(tool_list.strip()) if separator else NO_TOOLS
    builder = ConversationBuilder()
    notes: list[str] = []
    for place, (role, _) in enumerate(turns):
        if place and role == "system":
            raise RowError("late-system", f"turn {place + 1} is a system turn")
    actions: Mapping[str, TurnAction] = {
        "system": lambda builder, content: None,
        "user": _add_user,
        "assistant": partial(_add_reply, options=options, notes=notes),
        "function": add_result,
    }
    read_turns(builder, turns, actions)
    offered = [tool for tool in tools.tools if options.keep_finish or tool["function"]["name"] != _FINISH]
    return builder.record(
        replace(tools, tools=tuple(offered)),
        system=(f"{before}{separator}".strip() or None) if options.keep_system else None,
        notes=tuple(notes),
    )


def _add_user(builder: ConversationBuilder, content: Any) -> None:
    builder.add_user(plain_text(content).strip().removesuffix("Begin!").rstrip())


def _add_reply(builder: ConversationBuilder, content: Any, *, options: ReadOptions, notes: list[str]) -> None:
    text = plain_text(content)
    match = _STEP.fullmatch(text)
    if match is None:
        if "Action Input:" in text:
            raise RowError("unreadable-call", f"expected Action and Action Input, found {text!r}"[:200])
        builder.add_reply(text.strip().removeprefix(_THOUGHT).strip())
        return
    name, thought = match["name"].strip(), (match["thought"] or "").strip()
    arguments = _input(match["input"])
    if not name:
        raise RowError("unreadable-call", "an action has no name")
    if name != _FINISH or options.keep_finish:
        builder.add_reply(thought, [TrainingCall(name, arguments, builder.next_call_id())])
        return
    if arguments.get("return_type") != "give_answer":
        raise RowError("gave-up", f"finished with {arguments.get('return_type')!r}"[:100])
    if thought:
        notes.append("final-thought")
    builder.add_reply(observed_text(arguments.get("final_answer", "")))


def _input(text: str) -> dict[str, Any]:
    value: Any = parse_or_reject(text.strip(), "unreadable-call", "Action Input: ")[0] if text.strip() else {}
    if not isinstance(value, dict):
        raise RowError("unreadable-call", f"Action Input is no object: {text.strip()[:100]}")
    return cast(dict[str, Any], value)
