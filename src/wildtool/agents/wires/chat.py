"""Chat completions, of OpenAI and every compatible client: messages and tools are kept as they come."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from wildtool.agents.agent import Wire
from wildtool.agents.wires.answers import AnswerWriter, ReplyCall, Said, new_id, openai_error
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.agents.wires.requests import flag_in, item_kind, list_in, object_in, sampling_of, text_in
from wildtool.agents.wires.wire_format import WireFormat
from wildtool.json_codec import as_list, as_object
from wildtool.models.http.streams import DONE
from wildtool.reply_ends import End
from wildtool.shapes import Reading
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Message, Tool

_ROLES = ("system", "developer", "user", "assistant", "tool")
_READ = frozenset({"model", "messages", "tools", "stream", "n"})
_REFUSED = {
    "functions": "this is the retired shape; expected `tools`",
    "function_call": "this is the retired shape; expected `tool_choice`",
}
_FINISH_REASONS = {End.CALLS: "tool_calls", End.CUT: "length", End.FILTERED: "content_filter"}


class ChatWire(WireFormat):
    """Chat completions."""

    wire: ClassVar[Wire] = "chat"

    def asked(self, body: Mapping[str, Any], path: str, reading: Reading) -> Asked:
        """Messages and tools as they come."""
        if body.get("n") not in (None, 1):
            reading.fail(f"`n` is {body['n']}; a model answers once here: leave it out")
        sampling = sampling_of(body, _READ, _REFUSED, reading)
        if "messages" not in body:
            reading.fail("no request for a chat completion: it has no `messages`")
        return Asked(
            wire=self.wire,
            body=body,
            model=text_in(body, "model", reading),
            messages=[
                _message(entry, reading.at(f"messages[{number}]"))
                for number, entry in enumerate(list_in(body, "messages", reading))
            ],
            tools=list(_tools(body, reading)),
            stream=flag_in(body, "stream", reading),
            sampling=sampling,
            lost=reading.lost,
        )

    def answer(self, said: Said, question: Asked, writer: AnswerWriter) -> WireAnswer:
        """A message as it is, or in chunks."""
        answer: dict[str, Any] = {
            "id": new_id("chatcmpl-"),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": question.model,
        }
        finish = _FINISH_REASONS.get(said.end, "stop")
        reply = {**said.message, "role": "assistant", "content": said.message.get("content")}
        calls = _calls(said)
        if calls:
            reply["tool_calls"] = calls
        # Always, and zeros for what is not known: clients look into it without asking.
        counted = {"usage": _usage(said)}
        if not question.stream:
            choice = {"index": 0, "message": reply, "logprobs": None, "finish_reason": finish}
            return writer.whole({**answer, "choices": [choice], **counted})
        wants_usage = as_object(question.body.get("stream_options")).get("include_usage") is True
        chunk = {**answer, "object": "chat.completion.chunk"}
        chunks = [{**chunk, "choices": [choice]} for choice in _pieces(reply, calls, finish)]
        if wants_usage:
            chunks.append({**chunk, "choices": [], **counted})
        return writer.streamed(chunks, with_names=False, end=f"data: {DONE}\n\n".encode())

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        return openai_error(status, text)


def _message(entry: Any, reading: Reading) -> Message:
    """A message as it is. Raises ShapeError for one that no chat completion takes."""
    message = object_in(entry, reading)
    role = message.get("role")
    if role not in _ROLES:
        reading.fail(f"the role {str(role)[:40]!r}; expected one of {', '.join(_ROLES)}")
    if role == "tool":
        text_in(message, "tool_call_id", reading)
    if message.get("function_call"):
        reading.fail("`function_call` is the retired shape; expected `tool_calls`")
    for number, call in enumerate(list_in(message, "tool_calls", reading)):
        here = reading.at(f"tool_calls[{number}]")
        held = object_in(call, here)
        text_in(held, "id", here)
        text_in(as_object(held.get(FUNCTION)), "name", here.at(FUNCTION))
    return message


def _tools(body: Mapping[str, Any], reading: Reading) -> Iterator[Tool]:
    for number, entry in enumerate(list_in(body, "tools", reading)):
        here = reading.at(f"tools[{number}]")
        tool = object_in(entry, here)
        kind = item_kind(tool, FUNCTION)
        if kind != FUNCTION:
            reading.lose(f"tool of type {kind}")
            continue
        text_in(as_object(tool.get(FUNCTION)), "name", here.at(FUNCTION))
        yield tool


def _calls(said: Said) -> list[Any]:
    """The calls with their own keys, among which a signature may be; what is no call stays as the model wrote it."""
    calls = iter(said.calls())
    return [
        _call(as_object(entry), next(calls)) if isinstance(entry, dict) else entry
        for entry in as_list(said.message.get("tool_calls"))
    ]


def _call(entry: dict[str, Any], call: ReplyCall) -> dict[str, Any]:
    function = {**as_object(entry.get(FUNCTION)), "arguments": call.arguments}
    return {**entry, "type": FUNCTION, FUNCTION: function}


def _pieces(message: Message, calls: Sequence[Any], finish: str) -> Iterator[dict[str, Any]]:
    """The choices of the chunks: who speaks, what stands beside the text, the text, calls, the end."""
    text = message["content"]
    yield _choice({"role": "assistant", "content": None if text is None else ""})
    beside = {
        key: value
        for key, value in message.items()
        if key not in ("role", "content", "tool_calls") and value is not None
    }
    if beside:
        yield _choice(beside)
    if text:
        yield _choice({"content": text})
    if not calls and message.get("tool_calls"):
        # No list of calls: as the model sent it, as in a whole answer.
        yield _choice({"tool_calls": message["tool_calls"]})
    for index, call in enumerate(calls):
        if not isinstance(call, dict):
            yield _choice({"tool_calls": [call]})
            continue
        function = as_object(call[FUNCTION])
        yield _choice({"tool_calls": [{**call, "index": index, FUNCTION: {**function, "arguments": ""}}]})
        piece = {"index": index, FUNCTION: {"arguments": function["arguments"]}}
        yield _choice({"tool_calls": [piece]})
    yield _choice({}, finish)


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _usage(said: Said) -> dict[str, Any]:
    prompt, completion = said.tokens or (0, 0)
    return {
        **said.usage,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": said.usage.get("total_tokens", prompt + completion),
    }
