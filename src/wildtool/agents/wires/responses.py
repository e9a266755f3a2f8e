"""OpenAI's Responses: a conversation as items, reasoning encrypted, tools in namespaces and tools of free text."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from wildtool.agents.agent import Wire
from wildtool.agents.wires.answers import AnswerWriter, ReplyCall, Said, new_id, openai_error, strict_object
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.agents.wires.reasoning import (
    earlier_reply,
    own_parts,
    reasoning_text,
    sealed_reasoning,
    unsealed,
)
from wildtool.agents.wires.requests import (
    earlier_call,
    flag_in,
    item_kind,
    joined_text,
    list_in,
    lose_keys,
    object_in,
    offered_tool,
    part_texts,
    sampling_of,
    shown_result,
    text_in,
)
from wildtool.agents.wires.wire_format import WireFormat
from wildtool.json_codec import as_object, as_objects, dumps
from wildtool.reply_ends import End
from wildtool.shapes import Reading
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Message, Tool

PROVIDER = "openai_responses"
_READ = frozenset({"model", "input", "instructions", "tools", "stream"})
_REFUSED = {
    "previous_response_id": "nothing is stored here; send the whole conversation as `input`",
    "conversation": "nothing is stored here; send the whole conversation as `input`",
    "background": "an answer is not kept for later; ask in the foreground",
    "prompt": "no prompts are stored here; send the text as `instructions`",
}
_CUSTOM = "custom"
_CUSTOM_PARAMETERS = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
INPUT_WRAPPED = "arguments-as-free-text"
"""Name of the change to a call of a tool of free text whose arguments are not an object with this text."""
_PLAIN: Mapping[str, frozenset[str]] = {
    "message": frozenset({"type", "id", "role", "status", "content"}),
    "function_call": frozenset({"type", "id", "call_id", "name", "arguments", "status"}),
    "custom_tool_call": frozenset({"type", "id", "call_id", "name", "input", "status"}),
}
"""Keys of items of which a message holds all that matters."""
_KEYS_OF_RESULTS = frozenset({"type", "id", "call_id", "output", "status"})
_PLAIN_PARTS = frozenset({"type", "text", "annotations", "logprobs", "refusal"})


@dataclass(frozen=True, slots=True)
class _OfferedTool:
    """A tool as a request offers it."""

    name: str
    """Its own name, as calls give it."""
    namespace: str
    """The namespace that calls give with it; empty for none."""
    is_custom: bool
    """Whether it takes a free text."""
    tool: Tool
    """In OpenAI's chat shape, under a name that no other tool has."""

    @property
    def offered_name(self) -> str:
        return self.tool[FUNCTION]["name"]


class ResponsesWire(WireFormat):
    """OpenAI's Responses."""

    wire: ClassVar[Wire] = "responses"

    def asked(self, body: Mapping[str, Any], path: str, reading: Reading) -> Asked:
        """A text, or items."""
        sampling = sampling_of(body, _READ, _REFUSED, reading)
        if "input" not in body:
            reading.fail("no request for a response: it has no `input`")
        tools = list(_offered_tools(body, reading))
        history = _History(tools)
        if instructions := joined_text(body.get("instructions"), reading, "instructions"):
            history.messages.append({"role": "system", "content": instructions})
        if isinstance(body["input"], str):
            history.messages.append({"role": "user", "content": body["input"]})
        else:
            for number, entry in enumerate(list_in(body, "input", reading)):
                here = reading.at(f"input[{number}]")
                history.add(object_in(entry, here), here)
        return Asked(
            wire=self.wire,
            body=body,
            model=text_in(body, "model", reading),
            messages=history.finished(),
            tools=[tool.tool for tool in tools],
            stream=flag_in(body, "stream", reading),
            sampling=sampling,
            lost=reading.lost,
        )

    def answer(self, said: Said, question: Asked, writer: AnswerWriter) -> WireAnswer:
        """Items, or the events around them."""
        writer.name_dropped(said.message, "refusal")
        tools = {tool.offered_name: tool for tool in _offered_tools(question.body, Reading())}
        cut = {End.CUT: "max_output_tokens", End.FILTERED: "content_filter"}.get(said.end)
        response: dict[str, Any] = {
            "id": new_id("resp_"),
            "object": "response",
            "created_at": int(time.time()),
            "status": "incomplete" if cut else "completed",
            "error": None,
            "incomplete_details": {"reason": cut} if cut else None,
            "instructions": None,
            "metadata": {},
            "model": question.model,
            "output": list(_items(said, tools, writer)),
            "parallel_tool_calls": question.body.get("parallel_tool_calls") is not False,
            "temperature": question.body.get("temperature"),
            "tool_choice": question.body.get("tool_choice") or "auto",
            "tools": [],
            "top_p": question.body.get("top_p"),
            "usage": _usage(said),
        }
        if not question.stream:
            return writer.whole(response)
        events = ({**event, "sequence_number": number} for number, event in enumerate(_events(response)))
        return writer.streamed(events, with_names=True)

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        return openai_error(status, text)


def _offered_tools(body: Mapping[str, Any], reading: Reading) -> Iterator[_OfferedTool]:
    """The tools of a request that a model can call; those that the provider runs itself are counted."""
    listed = list(_listed_tools(list_in(body, "tools", reading), "", reading.at("tools")))
    names = {tool.name for tool in listed if not tool.namespace}
    for tool in listed:
        if tool.offered_name in names and tool.namespace:
            function = {**tool.tool[FUNCTION], "name": f"{tool.namespace}__{tool.name}"}
            tool = replace(tool, tool={**tool.tool, FUNCTION: function})
        names.add(tool.offered_name)
        yield tool


def _listed_tools(entries: list[Any], namespace: str, reading: Reading) -> Iterator[_OfferedTool]:
    for number, entry in enumerate(entries):
        here = reading.at(f"[{number}]")
        tool = object_in(entry, here)
        kind = item_kind(tool, FUNCTION)
        if kind == "namespace" and not namespace:
            lose_keys(tool, ("type", "name", "tools"), "a namespace of tools", here)
            yield from _listed_tools(list_in(tool, "tools", here), text_in(tool, "name", here), here)
        elif kind == FUNCTION:
            read = offered_tool(tool, "parameters", here)
            yield _OfferedTool(tool["name"], namespace, False, read)
        elif kind == _CUSTOM:
            if tool.get("format"):
                reading.lose("format of a tool of free text")
            function = {**tool, "format": None, "parameters": _CUSTOM_PARAMETERS}
            yield _OfferedTool(
                text_in(tool, "name", here), namespace, True, offered_tool(function, "parameters", here)
            )
        else:
            reading.lose(f"built-in tool {kind}")


class _History:
    """The messages of a conversation in items: between what users say and results, all items are one reply."""

    def __init__(self, tools: list[_OfferedTool]) -> None:
        self.messages: list[Message] = []
        self._names = {(tool.namespace, tool.name): tool.offered_name for tool in tools}
        self._reply = _Reply()

    def add(self, item: dict[str, Any], reading: Reading) -> None:
        """Adds an item. Raises ShapeError for one that holds a part of the conversation which is not here."""
        kind = item_kind(item, "message")
        if kind == "item_reference":
            reading.fail("a reference to an item; nothing is stored here: send the item itself")
        if kind == "message" and item.get("role") != "assistant":
            self._close()
            self.messages.append(_said(item, reading))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._close()
            id_ = text_in(item, "call_id", reading)
            lose_keys(item, _KEYS_OF_RESULTS, "a result", reading)
            text = shown_result(item.get("output"), reading)
            self.messages.append({"role": "tool", "tool_call_id": id_, "content": text})
        else:
            own = (str(item.get("namespace") or ""), str(item.get("name")))
            self._reply.add(kind, item, self._names.get(own, item.get("name")), reading)

    def finished(self) -> list[Message]:
        """All messages."""
        self._close()
        return self.messages

    def _close(self) -> None:
        if self._reply.items:
            self.messages.append(self._reply.message())
        self._reply = _Reply()


def _said(item: Mapping[str, Any], reading: Reading) -> Message:
    role = item.get("role")
    if role not in ("user", "system", "developer"):
        reading.fail(f"the role {str(role)[:40]!r}; expected user, assistant, system or developer")
    lose_keys(item, _PLAIN["message"], "a message", reading)
    return {
        "role": "user" if role == "user" else "system",
        "content": joined_text(item.get("content"), reading),
    }


class _Reply:
    """An earlier reply in items."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        """All of them, those that hold only a seal too."""
        self._own: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._seals: dict[str, Any] = {}
        self._plain = True

    def add(self, kind: str, item: dict[str, Any], name: Any, reading: Reading) -> None:
        """Adds an item. Args: name: of the tool as it is offered, for a call."""
        self.items.append(item)
        own = {key: value for key, value in item.items() if key != "namespace"}
        if not _is_plain(kind, own):
            self._plain = False
        match kind:
            case "message":
                self._add_text(item, reading)
            case "function_call":
                id_ = text_in(item, "call_id", reading)
                self._calls.append(earlier_call(id_, {**item, "name": name}, "arguments", reading))
            case "custom_tool_call":
                id_ = text_in(item, "call_id", reading)
                text = dumps({"input": text_in(item, "input", reading)}).decode()
                self._calls.append(earlier_call(id_, {"name": name, "arguments": text}, "arguments", reading))
            case "reasoning":
                seal = unsealed(item.get("encrypted_content"))
                if seal is not None:
                    self._seals |= seal
                    return
                self._thoughts += _thoughts(item)
            case _:
                reading.lose(f"item of type {kind}")
        self._own.append(own)

    def _add_text(self, item: Mapping[str, Any], reading: Reading) -> None:
        if isinstance(item.get("content"), str):
            self._texts.append(item["content"])
            return
        parts = [
            object_in(part, reading.at(f"content[{number}]"))
            for number, part in enumerate(list_in(item, "content", reading))
        ]
        self._refusals += [
            text_in(part, "refusal", reading) for part in parts if part.get("type") == "refusal"
        ]
        texts = [part for part in parts if part.get("type") != "refusal"]
        self._texts += part_texts({"content": texts}, "content", reading)

    def message(self) -> Message:
        """The reply as a message."""
        own = None if self._plain or not self._own else self._own
        refusal = "".join(self._refusals)
        return earlier_reply(PROVIDER, self._texts, self._calls, self._thoughts, own, self._seals, refusal)


def _is_plain(kind: str, item: Mapping[str, Any]) -> bool:
    """Whether a message holds all that matters of an item; a sealed one says nothing about the others."""
    if kind == "reasoning":
        return unsealed(item.get("encrypted_content")) is not None
    keys = {key for key, value in item.items() if value is not None}
    parts = as_objects(item.get("content"))
    return keys <= _PLAIN.get(kind, frozenset()) and all(part.keys() <= _PLAIN_PARTS for part in parts)


def _thoughts(item: Mapping[str, Any]) -> list[str]:
    parts = as_objects(item.get("summary")) or as_objects(item.get("content"))
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def _items(said: Said, tools: Mapping[str, _OfferedTool], writer: AnswerWriter) -> Iterator[dict[str, Any]]:
    """The items of a reply."""
    message = said.message
    calls = [_call_item(call, tools.get(call.name), writer) for call in said.calls()]
    own = own_parts(message, PROVIDER, _item_text)
    if own is not None and sum(item.get("type") == "function_call" for item in own) == len(calls):
        remaining = iter(calls)
        for item in own:
            if item.get("type") != "function_call":
                yield item
                continue
            call = next(remaining)
            is_function = call["type"] == "function_call"
            yield {**item, **call, "id": item.get("id") or call["id"]} if is_function else call
        return
    seal = sealed_reasoning(message)
    if seal:
        thought = reasoning_text(message)
        summary = [{"type": "summary_text", "text": thought}] if thought else []
        yield {"type": "reasoning", "id": new_id("rs_"), "summary": summary, "encrypted_content": seal}
    parts: list[dict[str, Any]] = []
    refusal = message.get("refusal")
    if said.text or not (calls or refusal):
        parts.append({"type": "output_text", "text": said.text, "annotations": [], "logprobs": []})
    if refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    if parts:
        yield {
            "type": "message",
            "id": new_id("msg_"),
            "role": "assistant",
            "status": "completed",
            "content": parts,
        }
    yield from calls


def _item_text(item: Mapping[str, Any]) -> str | None:
    texts = [
        part.get("text") for part in as_objects(item.get("content")) if part.get("type") == "output_text"
    ]
    return "".join(text for text in texts if isinstance(text, str)) if item.get("type") == "message" else None


def _call_item(call: ReplyCall, tool: _OfferedTool | None, writer: AnswerWriter) -> dict[str, Any]:
    """A call under the names by which the agent knows the tool; one of a tool that it does not offer as the model said
    it."""
    names = {"call_id": call.id, "name": tool.name if tool else call.name, "status": "completed"}
    if tool and tool.namespace:
        names["namespace"] = tool.namespace
    if tool and tool.is_custom:
        return {"type": "custom_tool_call", "id": new_id("ctc_"), "input": _free_text(call, writer), **names}
    return {"type": "function_call", "id": new_id("fc_"), "arguments": call.arguments, **names}


def _free_text(call: ReplyCall, writer: AnswerWriter) -> str:
    """The text of a call of a tool of free text; all of its arguments where they are not the object with this text."""
    held = strict_object(call.arguments) or {}
    if held.keys() == {"input"} and isinstance(held["input"], str):
        return held["input"]
    writer.changes[INPUT_WRAPPED] = None
    return call.arguments


def _events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a response, without their numbers."""
    begun: dict[str, Any] = {
        **response,
        "status": "in_progress",
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        start, pieces = _streamed_item(item)
        yield {"type": "response.output_item.added", "output_index": index, "item": start}
        for piece in pieces:
            yield {"item_id": item.get("id"), "output_index": index, **piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _streamed_item(item: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How an item starts, and what follows."""
    begun = {"status": "in_progress"} if "status" in item else {}
    match item:
        case {"type": "message", "content": list()}:
            parts = as_objects(item["content"])
            pieces = [piece for index, part in enumerate(parts) for piece in _part_events(index, part)]
            return {**item, **begun, "content": []}, pieces
        case {"type": "reasoning", "summary": list()}:
            parts = as_objects(item["summary"])
            pieces = [piece for index, part in enumerate(parts) for piece in _summary_events(index, part)]
            return {**item, "summary": []}, pieces
        case {"type": "function_call", "arguments": str() as text}:
            kind = "response.function_call_arguments"
            end = {"type": f"{kind}.done", "arguments": text, "name": item["name"]}
            return {**item, **begun, "arguments": ""}, [{"type": f"{kind}.delta", "delta": text}, end]
        case {"type": "custom_tool_call", "input": str() as text}:
            kind = "response.custom_tool_call_input"
            end = {"type": f"{kind}.done", "input": text}
            return {**item, **begun, "input": ""}, [{"type": f"{kind}.delta", "delta": text}, end]
        case _:
            return item, []


def _part_events(index: int, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key = "refusal" if part.get("type") == "refusal" else "text"
    kind = "response.refusal" if key == "refusal" else "response.output_text"
    text = part.get(key) or ""
    logprobs: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    at = {"content_index": index}
    yield {"type": "response.content_part.added", **at, "part": {**part, key: ""}}
    yield {"type": f"{kind}.delta", **at, "delta": text, **logprobs}
    yield {"type": f"{kind}.done", **at, key: text, **logprobs}
    yield {"type": "response.content_part.done", **at, "part": part}


def _summary_events(index: int, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {"summary_index": index}
    text = part.get("text") or ""
    yield {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": ""}}
    yield {"type": "response.reasoning_summary_text.delta", **at, "delta": text}
    yield {"type": "response.reasoning_summary_text.done", **at, "text": text}
    yield {"type": "response.reasoning_summary_part.done", **at, "part": part}


def _usage(said: Said) -> dict[str, Any] | None:
    if said.tokens is None:
        return None
    usage, (prompt, completion) = said.usage, said.tokens
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": _detail(usage, ("input", "prompt"), "cached_tokens")},
        "output_tokens": completion,
        "output_tokens_details": {
            "reasoning_tokens": _detail(usage, ("output", "completion"), "reasoning_tokens")
        },
        "total_tokens": prompt + completion,
    }


def _detail(usage: Mapping[str, Any], sides: tuple[str, ...], name: str) -> int:
    counts = (as_object(usage.get(f"{side}_tokens_details")).get(name) for side in sides)
    return next((count for count in counts if isinstance(count, int)), 0)
