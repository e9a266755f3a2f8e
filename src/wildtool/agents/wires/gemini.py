"""Google's generateContent: contents of parts, thought signatures, calls with or without ids."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import unquote

from wildtool.agents.agent import Wire
from wildtool.agents.wires.answers import AnswerWriter, ReplyCall, Said, new_id, plain_answer
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.agents.wires.reasoning import (
    earlier_reply,
    own_parts,
    reasoning_text,
    sealed_reasoning,
    unsealed,
)
from wildtool.agents.wires.requests import (
    ERROR_MARK,
    earlier_call,
    list_in,
    lose_keys,
    lose_part,
    object_in,
    offered_tool,
    part_texts,
    sampling_of,
    shown_result,
    text_in,
)
from wildtool.agents.wires.wire_format import WireFormat
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
_KEYS_OF_TURNS = frozenset({"role", "parts"})
_KEYS_OF_CALLS = frozenset({"id", "name", "args"})
_KEYS_OF_RESULTS = frozenset({"id", "name", "response", "parts"})
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


class GeminiWire(WireFormat):
    """Google's generateContent."""

    wire: ClassVar[Wire] = "gemini"

    def asked(self, body: Mapping[str, Any], path: str, reading: Reading) -> Asked:
        """Contents of parts; the path names the model and whether it streams."""
        target = _PATH.fullmatch(unquote(path.partition("?")[0]))
        if target is None:
            reading.fail(f"{path[:80]!r} names no model; expected /v1beta/models/NAME:generateContent")
        fields = _in_camel_case(body)
        sampling = sampling_of(fields, _READ, _REFUSED, reading)
        if fields.get(_CONFIG) is not None:
            sampling = {**object_in(fields[_CONFIG], reading.at(_CONFIG)), **sampling}
        if "contents" not in fields:
            reading.fail("no request to generate content: it has no `contents`")
        return Asked(
            wire=self.wire,
            body=body,
            model=target[1],
            messages=_messages(fields, reading),
            tools=list(_tools(fields, reading)),
            stream=target[2] == "streamGenerateContent",
            sampling=sampling,
            lost=reading.lost,
        )

    def answer(self, said: Said, question: Asked, writer: AnswerWriter) -> WireAnswer:
        """One candidate of parts; arguments that are no JSON object are wrapped, and the change is named."""
        writer.name_dropped(said.message)
        parts = [_written_part(part, writer) for part in _parts(said)]
        candidate = {
            "content": {"role": "model", "parts": parts},
            "finishReason": _FINISH_REASONS.get(said.end, "STOP"),
            "index": 0,
        }
        answer: dict[str, Any] = {
            "candidates": [candidate],
            "modelVersion": question.model,
            "responseId": new_id(""),
        }
        if said.tokens is not None:
            prompt, completion = said.tokens
            answer["usageMetadata"] = {
                "promptTokenCount": prompt,
                "candidatesTokenCount": completion,
                "totalTokenCount": prompt + completion,
            }
        return writer.streamed([answer], with_names=False) if question.stream else writer.whole(answer)

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        name = _STATUS_NAMES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
        return plain_answer({"error": {"code": status, "message": text, "status": name}}, status)


def _in_camel_case(held: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys as Google writes them; it takes them with underscores, too."""
    return {_CAMEL.sub(lambda match: match[1].upper(), key): value for key, value in held.items()}


def _messages(fields: Mapping[str, Any], reading: Reading) -> list[Message]:
    history = _History()
    if fields.get(_SYSTEM) is not None:
        here = reading.at(_SYSTEM)
        system = object_in(fields[_SYSTEM], here)
        lose_keys(system, _KEYS_OF_TURNS, "a system instruction", here)
        text = "\n".join(part_texts(system, "parts", here))
        history.messages += [{"role": "system", "content": text}] if text else []
    for number, entry in enumerate(list_in(fields, "contents", reading)):
        here = reading.at(f"contents[{number}]")
        history.add(object_in(entry, here), here)
    return history.messages


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
        lose_keys(content, _KEYS_OF_TURNS, "a turn", reading)
        parts = [
            _in_camel_case(object_in(part, reading.at(f"parts[{number}]")))
            for number, part in enumerate(list_in(content, "parts", reading))
        ]
        if role == "model":
            self.messages.append(self._reply(parts, reading))
            return
        results = [part for part in parts if _RESULT in part]
        for part in results:
            self._add_result(_in_camel_case(object_in(part[_RESULT], reading.at(_RESULT))), reading)
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
                call = _in_camel_case(object_in(part[_CALL], reading.at(_CALL)))
                calls.append(self._call(call, reading))
                plain = plain and len(part) == 1 and call.keys() <= _KEYS_OF_CALLS
            elif isinstance(part.get("text"), str):
                (thoughts if part.get("thought") is True else texts).append(part["text"])
                plain = plain and part.keys() == {"text"}
            else:
                lose_part(part, reading)
                plain = False
        return earlier_reply(PROVIDER, texts, calls, thoughts, None if plain else own, seals)

    def _call(self, call: dict[str, Any], reading: Reading) -> dict[str, Any]:
        """A call; one without an id gets one of its place, which stays the same in later requests."""
        id_ = _given_id(call) or f"call_{self._calls}"
        self._calls += 1
        read = earlier_call(id_, call, "args", reading.at(_CALL))
        self._waiting.append((id_, call["name"]))
        return read

    def _add_result(self, result: dict[str, Any], reading: Reading) -> None:
        """Adds a result, bound to its call: by id, else by name and order."""
        id_, name = _given_id(result), text_in(result, "name", reading.at(_RESULT))
        lose_keys(result, _KEYS_OF_RESULTS, "a result", reading)
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


def _parts(said: Said) -> Iterator[dict[str, Any]]:
    """The parts of a reply; those of calls hold a `ReplyCall`."""
    message, calls = said.message, [{_CALL: call} for call in said.calls()]
    own = own_parts(message, PROVIDER, _part_text)
    # A client needs ids, and a provider that gave none gets its parts back without.
    if own is not None and [_given_id(as_object(part[_CALL])) for part in own if _CALL in part] == [
        call[_CALL].id for call in calls
    ]:
        remaining = iter(calls)
        for part in own:
            yield {**part, **next(remaining)} if _CALL in part else part
        return
    seal = sealed_reasoning(message)
    signed = {_SIGNATURE: seal} if seal else {}
    if thought := reasoning_text(message):
        yield {"text": thought, "thought": True}
    if said.text or not calls:
        yield {"text": said.text, **({} if calls else signed)}
    for call in calls:
        yield {**call, **signed}
        signed = {}


def _part_text(part: Mapping[str, Any]) -> str | None:
    return part.get("text") if part.get("thought") is not True else None


def _given_id(held: Mapping[str, Any]) -> str:
    """The id of a call or a result; empty for none."""
    id_ = held.get("id")
    return id_ if isinstance(id_, str) else ""


def _written_part(part: dict[str, Any], writer: AnswerWriter) -> dict[str, Any]:
    call = part.get(_CALL)
    if not isinstance(call, ReplyCall):
        return part
    return {**part, _CALL: {"id": call.id, "name": call.name, "args": writer.arguments(call)}}
