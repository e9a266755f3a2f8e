"""Google's generateContent: contents of parts, thought signatures, calls with or without ids."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from wildtool.agents.agent import Wire
from wildtool.agents.wires.answers import (
    EMPTY_ARGUMENTS,
    WRAPPED_ARGUMENTS,
    JsonWriter,
    ReplyCall,
    calls_of,
    counted_tokens,
    end_of_message,
    failure,
    new_id,
    said_text,
    streamed_answer,
    strict_value,
    whole_answer,
    wrapped_arguments,
)
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.agents.wires.reasoning import (
    add_reasoning,
    own_parts,
    reasoning_text,
    sealed_reasoning,
    unsealed,
)
from wildtool.agents.wires.requests import (
    ERROR_MARK,
    earlier_call,
    list_in,
    lose_part,
    object_in,
    offered_tool,
    part_texts,
    refusing,
    sampling_of,
    shown_result,
    text_in,
)
from wildtool.json_codec import as_object
from wildtool.reply_ends import End
from wildtool.shapes import Reading, read_entry
from wildtool.types import Message, Tool

PROVIDER = "gemini"
_PATH = re.compile(r"/\w+/(?:models/)?(.+):(generateContent|streamGenerateContent)")
_CAMEL = re.compile(r"_([a-z])")
_CONFIG, _SYSTEM, _SIGNATURE = "generationConfig", "systemInstruction", "thoughtSignature"
_CALL, _RESULT, _DECLARED = "functionCall", "functionResponse", "functionDeclarations"
_READ = frozenset({"model", "contents", "tools", _SYSTEM, _CONFIG})
_REFUSED = {"cachedContent": "nothing is stored here; send the whole conversation as `contents`"}
_FINISH_REASONS = {
    End.CUT: "MAX_TOKENS",
    End.FILTERED: "SAFETY",
    End.REFUSED: "SAFETY",
    End.MALFORMED: "MALFORMED_FUNCTION_CALL",
}
_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class GeminiWire:
    """Google's generateContent."""

    wire: Wire = "gemini"

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request asks. Raises ValueError for a body that is none."""
        return _read(body, path)

    def write(
        self, message: Message, question: Asked, usage: Mapping[str, Any], reason: str | None
    ) -> WireAnswer:
        """The answer that says a message; arguments that are no JSON object are wrapped, and the change is named."""
        writer = JsonWriter()
        changes: list[str] = []
        parts = [_written_part(part, writer, changes) for part in _parts(message)]
        candidate = {
            "content": {"role": "model", "parts": parts},
            "finishReason": _FINISH_REASONS.get(end_of_message(message, reason), "STOP"),
            "index": 0,
        }
        answer: dict[str, Any] = {
            "candidates": [candidate],
            "modelVersion": question.model,
            "responseId": new_id(""),
        }
        if (counts := counted_tokens(usage)) is not None:
            prompt, completion = counts
            answer["usageMetadata"] = {
                "promptTokenCount": prompt,
                "candidatesTokenCount": completion,
                "totalTokenCount": prompt + completion,
            }
        if question.stream:
            return streamed_answer([answer], with_names=False, changes=changes, writer=writer)
        return whole_answer(answer, changes, writer)

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        name = _STATUS_NAMES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
        return failure({"error": {"code": status, "message": text, "status": name}}, status)


@refusing
def _read(body: Mapping[str, Any], path: str) -> Asked:
    reading = Reading()
    target = _PATH.fullmatch(unquote(path.partition("?")[0]))
    if target is None:
        reading.fail(f"{path[:80]!r} names no model; expected /v1beta/models/NAME:generateContent")
    fields = _in_camel_case(body)
    sampling = {
        **as_object(fields.get(_CONFIG)),
        **sampling_of(fields, _READ, _REFUSED, reading),
    }
    if "contents" not in fields:
        reading.fail("no request to generate content: it has no `contents`")
    history = _History()
    if fields.get(_SYSTEM) is not None:
        system = object_in(fields[_SYSTEM], reading.at(_SYSTEM))
        text = "\n".join(part_texts(system, "parts", reading.at(_SYSTEM)))
        history.messages += [{"role": "system", "content": text}] if text else []
    for number, entry in enumerate(list_in(fields, "contents", reading)):
        here = reading.at(f"contents[{number}]")
        history.add(object_in(entry, here), here)
    return Asked(
        wire="gemini",
        body=body,
        model=target[1],
        messages=history.messages,
        tools=list(_tools(fields, reading)),
        stream=target[2] == "streamGenerateContent",
        sampling=sampling,
        lost=reading.lost,
    )


def _in_camel_case(held: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys as Google writes them; it takes them with underscores, too."""
    return {_CAMEL.sub(lambda match: match[1].upper(), key): value for key, value in held.items()}


def _tools(body: Mapping[str, Any], reading: Reading) -> Iterator[Tool]:
    for number, entry in enumerate(list_in(body, "tools", reading)):
        here = reading.at(f"tools[{number}]")
        tool = _in_camel_case(object_in(entry, here))
        for place, value in enumerate(list_in(tool, _DECLARED, here)):
            declared = _in_camel_case(object_in(value, here.at(f"{_DECLARED}[{place}]")))
            if declared.get("parameters") is None:
                yield offered_tool(declared, "parametersJsonSchema", here)
            else:
                # Google's own schemas have types in capitals.
                yield from (entry.tool for entry in read_entry(declared, here))
        for key in tool.keys() - {_DECLARED}:
            reading.lose(f"built-in tool {key}")


class _History:
    """The messages of a conversation in contents, and the calls that wait for their results."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._waiting: list[tuple[str, str]] = []
        """Id and name of each call without a result."""
        self._calls = 0

    def add(self, content: Mapping[str, Any], reading: Reading) -> None:
        """Adds a turn. Raises ShapeError for one of an unknown role or shape."""
        role = content.get("role") or "user"
        if role not in ("user", "model", "function"):
            reading.fail(f"the role {str(role)[:40]!r}; expected user or model")
        parts = [
            _in_camel_case(object_in(part, reading.at(f"parts[{number}]")))
            for number, part in enumerate(list_in(content, "parts", reading))
        ]
        if role == "model":
            self.messages.append(self._reply(parts, reading))
            return
        results = [part for part in parts if _RESULT in part]
        for part in results:
            self._add_result(_in_camel_case(as_object(part[_RESULT])), reading)
        spoken = [part for part in parts if _RESULT not in part]
        texts = part_texts({"parts": spoken}, "parts", reading)
        if texts or not results:
            self.messages.append({"role": "user", "content": "\n".join(texts)})

    def _reply(self, parts: list[dict[str, Any]], reading: Reading) -> Message:
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[dict[str, Any]] = []
        seals: dict[str, Any] = {}
        own: list[dict[str, Any]] = []
        plain = True
        for part in parts:
            seal = unsealed(part.get(_SIGNATURE))
            if seal is not None:
                seals |= seal
                part = {key: value for key, value in part.items() if key != _SIGNATURE}
            own.append(part)
            if _CALL in part:
                calls.append(self._call(_in_camel_case(as_object(part[_CALL])), reading))
                plain = plain and len(part) == 1
            elif isinstance(part.get("text"), str):
                (thoughts if part.get("thought") is True else texts).append(part["text"])
                plain = plain and part.keys() == {"text"}
            else:
                lose_part(part, reading)
                plain = False
        reply: Message = {"role": "assistant", "content": "".join(texts) if texts or not calls else None}
        if calls:
            reply["tool_calls"] = calls
        add_reasoning(reply, thoughts, seals, PROVIDER, None if plain else own)
        return reply

    def _call(self, call: dict[str, Any], reading: Reading) -> dict[str, Any]:
        """A call; one without an id gets one of its place, which stays the same in later requests."""
        own_id = call.get("id")
        id_ = own_id if isinstance(own_id, str) and own_id else f"call_{self._calls}"
        self._calls += 1
        read = earlier_call(id_, call, "args", reading.at(_CALL))
        self._waiting.append((id_, call["name"]))
        return read

    def _add_result(self, result: dict[str, Any], reading: Reading) -> None:
        """Adds a result, bound to its call: by id, else by name and order."""
        id_, name = result.get("id"), text_in(result, "name", reading.at(_RESULT))
        fitting = [entry for entry in self._waiting if entry[0] == id_]
        fitting = fitting or [entry for entry in self._waiting if not id_ and entry[1] == name]
        if fitting:
            self._waiting.remove(fitting[0])
            id_ = fitting[0][0]
        message = {"role": "tool", "tool_call_id": id_ or name, "content": _given_text(result, reading)}
        if result.get("parts"):
            reading.lose("parts of a result")
        # Gemini CLI sends each result twice in a conversation that it resumed; other providers refuse that.
        if not fitting and message in self.messages:
            reading.lose("repeated result")
            return
        if not fitting:
            reading.lose("result without a call")
        self.messages.append(message)


def _given_text(result: Mapping[str, Any], reading: Reading) -> str:
    """What a tool gave: Google's guide puts it under `output`, or `error`, or has it as the whole object."""
    response = result.get("response")
    held = as_object(response)
    for key in ("output", "error"):
        if held.keys() == {key}:
            if key == "error":
                reading.lose(ERROR_MARK)
            return shown_result(held[key], reading)
    return shown_result(response, reading)


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    """The parts of a reply; those of calls hold a `ReplyCall`."""
    calls = [{_CALL: call} for call in calls_of(message)]
    own = own_parts(message, PROVIDER, _part_text)
    # A client needs ids, and a provider that gave none gets its parts back without.
    if own is not None and [_given_id(part) for part in own if _CALL in part] == [
        call[_CALL].id for call in calls
    ]:
        remaining = iter(calls)
        for part in own:
            yield {**part, **next(remaining)} if _CALL in part else part
        return
    signed = {_SIGNATURE: seal} if (seal := sealed_reasoning(message)) else {}
    if thought := reasoning_text(message):
        yield {"text": thought, "thought": True}
    text = said_text(message)
    if text or not calls:
        yield {"text": text, **({} if calls else signed)}
    for call in calls:
        yield {**call, **signed}
        signed = {}


def _part_text(part: Mapping[str, Any]) -> str | None:
    return part.get("text") if part.get("thought") is not True else None


def _given_id(part: Mapping[str, Any]) -> Any:
    return as_object(part[_CALL]).get("id")


def _written_part(part: dict[str, Any], writer: JsonWriter, changes: list[str]) -> dict[str, Any]:
    call = part.get(_CALL)
    if not isinstance(call, ReplyCall):
        return part
    return {**part, _CALL: {"id": call.id, "name": call.name, "args": _arguments(call, writer, changes)}}


def _arguments(call: ReplyCall, writer: JsonWriter, changes: list[str]) -> Any:
    if not call.arguments.strip():
        changes.append(EMPTY_ARGUMENTS)
        return {}
    try:
        if isinstance(strict_value(call.arguments), dict):
            return writer.held(call.arguments)
    except ValueError:
        pass  # it is wrapped
    changes.append(WRAPPED_ARGUMENTS)
    return wrapped_arguments(call.arguments)
