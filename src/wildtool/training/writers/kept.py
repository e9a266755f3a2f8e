"""What ShareGPT's shape has no place for, kept as JSON text in the column `wildtool`, and put back when it is read."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wildtool import json_codec
from wildtool.json_codec import as_list, as_object
from wildtool.training.record import (
    NO_KEYS,
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
    spaced_json,
)

KEPT_COLUMN = "wildtool"
EDITED = "edited"
"""Note: the visible part of a lossless record was changed after it was written, so what was kept is not used."""
_VERSION = 1
_VISIBLE = ("conversations", "system", "tools", "chosen", "rejected")


def kept_parts(record: TrainingRecord, row: Mapping[str, Any]) -> str:
    """The column of a written row: `messages` maps the place of a message in OpenAI's shape to its further keys."""
    messages: dict[str, Any] = {}
    place = 0
    if record.system is not None:
        _keep(messages, place, record.system_extras)
        place += 1
    numbered = 0
    for turn in record.turns:
        match turn:
            case UserTurn():
                _keep(messages, place, turn.extras)
                place += 1
            case ResultTurn():
                for number, result in enumerate(turn.results):
                    _keep(messages, place + number, result.extras)
                place += len(turn.results)
            case AssistantTurn():
                _keep(messages, place, _kept_reply(turn, numbered))
                numbered += len(turn.calls)
                place += 1
    for number, reply in enumerate(record.pair.values()):
        _keep(messages, place + number, _kept_reply(reply, numbered))
    parts: dict[str, Any] = {"version": _VERSION, "sha256": _digest(row), "messages": messages}
    further = {
        "tools": list(record.given_tools) if record.given_tools is not None else None,
        "renamed": dict(record.renamed) or None,
        "columns": dict(record.columns) or None,
    }
    return spaced_json(parts | {name: part for name, part in further.items() if part is not None})


def put_back(record: TrainingRecord, row: Mapping[str, Any]) -> TrainingRecord:
    """A record read from a row of ShareGPT's shape, with what the column `wildtool` kept; if the row was edited since,
    the record as it was read, with a note."""
    text = row.get(KEPT_COLUMN)
    try:
        parts = as_object(json_codec.loads(text)) if isinstance(text, str) else {}
    except ValueError:
        parts = {}
    if parts.get("version") != _VERSION:
        return record
    if parts.get("sha256") != _digest(row):
        return replace(record, notes=(*record.notes, EDITED))
    messages = {place: as_object(keys) for place, keys in as_object(parts.get("messages")).items()}
    place = 0
    system_extras: Mapping[str, Any] = NO_KEYS
    if record.system is not None:
        system_extras = messages.get("0", NO_KEYS)
        place = 1
    turns: list[TrainingTurn] = []
    for turn in record.turns:
        turns.append(_restored(turn, messages, place))
        place += len(turn.results) if isinstance(turn, ResultTurn) else 1
    pair: dict[str, Any] = {
        name: _restored(reply, messages, place + number)
        for number, (name, reply) in enumerate(record.pair.items())
    }
    tools = parts.get("tools")
    return replace(
        record,
        turns=tuple(turns),
        system_extras=system_extras,
        **pair,
        tools=tuple(map(_as_tool, as_list(tools))) if tools is not None else record.tools,
        given_tools=tuple(as_list(tools)) if tools is not None else None,
        renamed=as_object(parts.get("renamed")),
        columns={**record.columns, **as_object(parts.get("columns"))},
    )


def _keep(messages: dict[str, Any], place: int, keys: Mapping[str, Any]) -> None:
    if keys:
        messages[str(place)] = dict(keys)


def _kept_reply(turn: AssistantTurn, numbered: int) -> dict[str, Any]:
    extras = dict(turn.extras)
    if turn.calls and turn.text is not None:
        extras["content"] = turn.text
    if not turn.learned:
        extras["weight"] = 0
    ids = [call.id for call in turn.calls]
    if ids != [f"call_{numbered + number}" for number in range(1, len(ids) + 1)]:
        extras["tool_call_ids"] = ids
    return extras


def _restored(turn: TrainingTurn, messages: Mapping[str, dict[str, Any]], place: int) -> TrainingTurn:
    if isinstance(turn, ResultTurn):
        return ResultTurn(
            tuple(
                ObservedResult(result.text, messages.get(str(place + number), NO_KEYS))
                for number, result in enumerate(turn.results)
            )
        )
    keys = messages.get(str(place), NO_KEYS)
    if isinstance(turn, UserTurn):
        return UserTurn(turn.text, keys)
    ids = as_list(keys.get("tool_call_ids"))
    calls = turn.calls
    if len(ids) == len(calls):
        calls = tuple(replace(call, id=str(name)) for call, name in zip(calls, ids, strict=True))
    text = keys.get("content") if turn.calls else turn.text
    own = ("content", "weight", "tool_call_ids")
    extras = {key: value for key, value in keys.items() if key not in own}
    return AssistantTurn(text, calls, learned=keys.get("weight") != 0, extras=extras)


def _as_tool(raw: Any) -> dict[str, Any]:
    entry = as_object(raw)
    return entry if isinstance(entry.get("function"), dict) else {"type": "function", "function": entry}


def _digest(row: Mapping[str, Any]) -> str:
    """SHA-256 of what a trainer reads."""
    visible = {name: row[name] for name in _VISIBLE if name in row}
    return hashlib.sha256(json_codec.canonical_json(visible)).hexdigest()
