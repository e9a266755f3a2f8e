"""Gives tools names that endpoints accept: 1 to 64 of letters, digits, `_` and `-`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wildtool.training.record import AssistantTurn, TrainingRecord, TrainingTurn
from wildtool.types import Tool

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


def with_safe_names(record: TrainingRecord) -> TrainingRecord:
    """A record whose tools and calls have safe names, and in `renamed` the old name of each new one."""
    names = list(dict.fromkeys([*record.tool_names, *(call.name for call in record.calls)]))
    if all(_SAFE.fullmatch(name) for name in names):
        return record
    new_names = _new_names(names)
    return replace(
        record,
        turns=tuple(_renamed(turn, new_names) for turn in record.turns),
        **{name: _renamed_reply(reply, new_names) for name, reply in record.pair.items()},
        tools=tuple(_renamed_tool(tool, new_names) for tool in record.tools),
        given_tools=record.given_tools
        and tuple(_renamed_tool(tool, new_names) for tool in record.given_tools),
        renamed={new: old for old, new in new_names.items() if new != old},
    )


def _new_names(names: list[str]) -> Mapping[str, str]:
    safe = {name for name in names if _SAFE.fullmatch(name)}
    new_names = {name: name for name in safe}
    for name in names:
        if name in safe:
            continue
        base = _OTHER.sub("_", name)[:_LONGEST] or "_"
        new, number = base, 1
        while new in safe:
            number += 1
            new = f"{base[: _LONGEST - len(str(number)) - 1]}_{number}"
        safe.add(new)
        new_names[name] = new
    return new_names


def _renamed(turn: TrainingTurn, names: Mapping[str, str]) -> TrainingTurn:
    return _renamed_reply(turn, names) if isinstance(turn, AssistantTurn) else turn


def _renamed_reply(turn: AssistantTurn, names: Mapping[str, str]) -> AssistantTurn:
    return replace(turn, calls=tuple(replace(call, name=names[call.name]) for call in turn.calls))


def _renamed_tool(tool: Tool, names: Mapping[str, str]) -> dict[str, Any]:
    """A tool, as found or in OpenAI's shape, under its new name."""
    function = tool.get("function")
    if not isinstance(function, dict):
        return {**tool, "name": names[tool["name"]]}
    return {**tool, "function": {**function, "name": names[function["name"]]}}
