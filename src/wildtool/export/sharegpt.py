"""Conversations as JSON lines in ShareGPT's shape, in the convention of LLaMA-Factory.

Turns are `human`, `gpt`, `function_call` and `observation`; the first system message stands in `system` and the
tools, as JSON, in `tools`. Calls made at once are one turn, and so are their results, since turns of the two sides
must alternate. What the convention has no place for (a text beside calls, further fields of a message) is kept in
the field `more` of the turn, as JSON text, which its readers pass over, so that every column has one type and `messages`
gives back all but the spelling of arguments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from wildtool import json_codec
from wildtool.export import ExportRequest
from wildtool.export.conversations import ExportedConversation, conversation_rows
from wildtool.export.files import portable_value, write_json_lines
from wildtool.export.openai import with_parameters
from wildtool.types import Message

_SPEAKERS = {"system": "system", "user": "human", "assistant": "gpt"}
_ROLES = {speaker: role for role, speaker in _SPEAKERS.items()}


def export(wanted: ExportRequest, target: Path) -> None:
    """Writes one conversation a line."""
    write_json_lines(
        target, ({**about, **conversation_row(talk)} for about, talk in conversation_rows(wanted))
    )


def conversation_row(conversation: ExportedConversation) -> dict[str, Any]:
    """The columns `conversations`, `system` and `tools` of a conversation."""
    every = list(sharegpt_turns(conversation.messages))
    system = every.pop(0)["value"] if every and every[0]["from"] == "system" else ""
    functions = with_parameters(conversation.tools)
    return {"conversations": every, "system": system, "tools": _json(functions) if functions else ""}


def sharegpt_turns(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """The turns of messages."""
    for is_result, group in groupby(messages, key=lambda message: message.get("role") == "tool"):
        if is_result:
            yield _observation(list(group))
        else:
            yield from map(_turn, group)


def row_to_messages(row: Mapping[str, Any]) -> list[Message]:
    """The messages that a row was made of; ids of calls are counted anew where there were none."""
    said: list[Message] = [{"role": "system", "content": row["system"]}] if row["system"] else []
    for each in row["conversations"]:
        turn = {**each, **json_codec.loads(each.get("more") or "{}")}
        more = turn.get("message", {})
        if turn["from"] == "observation":
            said += [{"role": "tool", **rest, "content": text} for rest, text in _results(turn)]
        elif turn["from"] == "function_call":
            said.append({"role": "assistant", "content": None, "tool_calls": _calls(turn), **more})
        else:
            said.append({"role": _ROLES.get(turn["from"], turn["from"]), "content": turn["value"], **more})
    return said


def _turn(message: Message) -> dict[str, Any]:
    role, content = message.get("role"), message.get("content")
    calls = _readable_calls(message.get("tool_calls"))
    more = {key: value for key, value in message.items() if key not in ("role", "content", "tool_calls")}
    if calls is not None:
        made = [
            {"name": f["name"], "arguments": _arguments(f["arguments"])}
            for f in (c["function"] for c in calls)
        ]
        kept: dict[str, Any] = {"calls": [{k: v for k, v in c.items() if k != "function"} for c in calls]}
        if content is not None:
            more["content"] = content
        value = _json(made[0] if len(made) == 1 else made)
        return _with_extras({"from": "function_call", "value": value}, {**kept, "message": more})
    if not isinstance(content, str):
        more["content"] = content
    if message.get("tool_calls") is not None:
        more["tool_calls"] = message["tool_calls"]
    speaker = _SPEAKERS.get(role, role) if isinstance(role, str) else "human"
    value = content if isinstance(content, str) else "" if content is None else _json(content)
    return _with_extras({"from": speaker, "value": value}, {"message": more})


def _with_extras(turn: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A turn, with what the convention has no place for."""
    further = {key: value for key, value in more.items() if value}
    return {**turn, "more": _json(further)} if further else turn


def _observation(results: Sequence[Message]) -> dict[str, Any]:
    texts = [c if isinstance(c := result.get("content"), str) else _json(c) for result in results]
    kept = [{k: v for k, v in result.items() if k not in ("role", "content")} for result in results]
    return _with_extras(
        {"from": "observation", "value": texts[0] if len(texts) == 1 else _json(texts)}, {"results": kept}
    )


def _results(turn: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    kept = turn["results"]
    texts = [turn["value"]] if len(kept) == 1 else json_codec.loads(turn["value"])
    yield from zip(kept, texts, strict=True)


def _calls(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = json_codec.loads(turn["value"])
    functions = cast(list[dict[str, Any]], made if isinstance(made, list) else [made])
    return [
        {
            **kept,
            "function": {
                "name": function["name"],
                "arguments": a if isinstance(a := function["arguments"], str) else _json(a),
            },
        }
        for kept, function in zip(turn["calls"], functions, strict=True)
    ]


def _readable_calls(calls: Any) -> list[dict[str, Any]] | None:
    """Calls that have a name and an argument text each, and nothing that has no place; None of any others."""
    if not isinstance(calls, list) or not calls:
        return None
    for call in cast(list[Any], calls):
        function: Any = cast(dict[str, Any], call).get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or set(cast(dict[str, Any], function)) != {"name", "arguments"}:
            return None
        if not isinstance(function["name"], str) or not isinstance(function["arguments"], str):
            return None
    return cast(list[dict[str, Any]], calls)


def _arguments(text: str) -> Any:
    """Arguments as an object where they are one, else their text as it is."""
    try:
        value = json_codec.loads(text)
    except ValueError:
        return text
    return cast(dict[str, Any], value) if isinstance(value, dict) else text


def _json(value: Any) -> str:
    return json.dumps(portable_value(value), ensure_ascii=False)
