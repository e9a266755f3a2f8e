"""Anthropic's messages: content blocks, thinking with signatures, `input` of calls as JSON objects."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

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
    flag_in,
    item_kind,
    joined_text,
    list_in,
    lose_keys,
    lose_part,
    object_in,
    offered_tool,
    sampling_of,
    shown_result,
    text_in,
)
from wildtool.agents.wires.wire_format import WireFormat
from wildtool.models.openai_messages import arguments_object
from wildtool.reply_ends import End
from wildtool.shapes import Reading
from wildtool.types import Message, Tool

PROVIDER = "anthropic"
_READ = frozenset({"model", "system", "messages", "tools", "stream"})
_CUSTOM = "custom"
"""The type of tools that the client runs and describes itself."""
_KEYS_OF_RESULTS = frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"})
_STOP_REASONS = {
    End.CALLS: "tool_use",
    End.CUT: "max_tokens",
    End.FILTERED: "refusal",
    End.REFUSED: "refusal",
}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class MessagesWire(WireFormat):
    """Anthropic's messages."""

    wire: ClassVar[Wire] = "messages"

    def asked(self, body: Mapping[str, Any], path: str, reading: Reading) -> Asked:
        """Turns of content blocks."""
        sampling = sampling_of(body, _READ, {}, reading)
        if "messages" not in body:
            reading.fail("no request for a message: it has no `messages`")
        messages: list[Message] = []
        if system := joined_text(body.get("system"), reading, "system"):
            messages.append({"role": "system", "content": system})
        for number, entry in enumerate(list_in(body, "messages", reading)):
            here = reading.at(f"messages[{number}]")
            messages += _messages(object_in(entry, here), here)
        return Asked(
            wire=self.wire,
            body=body,
            model=text_in(body, "model", reading),
            messages=messages,
            tools=list(_tools(body, reading)),
            stream=flag_in(body, "stream", reading),
            sampling=sampling,
            lost=reading.lost,
        )

    def answer(self, said: Said, question: Asked, writer: AnswerWriter) -> WireAnswer:
        """Blocks. In a stream arguments arrive as the model wrote them; a whole answer wraps those that are no JSON
        object, and names the change."""
        writer.name_dropped(said.message)
        answer = {
            "id": new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": question.model,
            "stop_reason": _STOP_REASONS.get(said.end, "end_turn"),
            "stop_sequence": None,
            "usage": _usage(said),
        }
        blocks = list(_blocks(said))
        if question.stream:
            for call in said.calls():
                if not call.arguments.strip():
                    arguments_object(call.arguments, writer.changes)  # clients make an object of nothing
            return writer.streamed(_events(answer, blocks), with_names=True)
        return writer.whole({**answer, "content": [_whole_block(block, writer) for block in blocks]})

    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
        kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
        return plain_answer({"type": "error", "error": {"type": kind, "message": text}}, status)


def _messages(entry: Mapping[str, Any], reading: Reading) -> Iterator[Message]:
    """The messages of one turn. Raises ShapeError for a turn of an unknown role or shape."""
    role, content = entry.get("role"), entry.get("content")
    if role not in ("user", "assistant", "system"):
        reading.fail(f"the role {str(role)[:40]!r}; expected user, assistant or system")
    lose_keys(entry, ("role", "content"), "a message", reading)
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    blocks = [
        object_in(block, reading.at(f"content[{number}]"))
        for number, block in enumerate(list_in(entry, "content", reading))
    ]
    if role == "assistant":
        yield _reply(blocks, reading)
        return
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield _result(block, reading)
    spoken = [block for block in blocks if block.get("type") != "tool_result"]
    if spoken or not results:
        yield {"role": role, "content": joined_text(spoken, reading)}


def _result(block: dict[str, Any], reading: Reading) -> Message:
    id_ = text_in(block, "tool_use_id", reading)
    if block.get("is_error") is True:
        reading.lose(ERROR_MARK)
    lose_keys(block, _KEYS_OF_RESULTS, "a result", reading)
    return {"role": "tool", "tool_call_id": id_, "content": shown_result(block.get("content"), reading)}


def _reply(blocks: list[dict[str, Any]], reading: Reading) -> Message:
    """An earlier reply; its blocks are kept where the message does not say all of them."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    seals: dict[str, Any] = {}
    own: list[dict[str, Any]] = []
    plain = True
    for block in blocks:
        match block.get("type"):
            case "text":
                texts.append(text_in(block, "text", reading))
                plain = plain and not calls and len(texts) == 1 and block.keys() == {"type", "text"}
            case "tool_use":
                calls.append(earlier_call(text_in(block, "id", reading), block, "input", reading))
                plain = plain and block.keys() == {"type", "id", "name", "input"}
            case "thinking" | "redacted_thinking":
                seal = unsealed(block.get("signature", block.get("data")))
                if seal is not None:
                    seals |= seal
                    continue
                thought = block.get("thinking")
                thoughts += [thought] if isinstance(thought, str) else []
                plain = False
            case _:
                lose_part(block, reading)
                plain = False
        own.append(block)
    return earlier_reply(PROVIDER, texts, calls, thoughts, None if plain else own, seals)


def _tools(body: Mapping[str, Any], reading: Reading) -> Iterator[Tool]:
    for number, entry in enumerate(list_in(body, "tools", reading)):
        here = reading.at(f"tools[{number}]")
        tool = object_in(entry, here)
        kind = item_kind(tool, _CUSTOM)
        if kind != _CUSTOM:
            reading.lose(f"built-in tool {kind}")
        else:
            yield offered_tool(tool, "input_schema", here)


def _blocks(said: Said) -> Iterator[dict[str, Any]]:
    """The blocks of a reply; `input` of a call is a `ReplyCall`."""
    message = said.message
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call} for call in said.calls()]
    own = own_parts(message, PROVIDER, _block_text)
    if own is not None and sum(block.get("type") == "tool_use" for block in own) == len(calls):
        remaining = iter(calls)
        for block in own:
            yield {**block, **next(remaining)} if block.get("type") == "tool_use" else block
        return
    seal = sealed_reasoning(message)
    if thought := reasoning_text(message):
        yield {"type": "thinking", "thinking": thought, "signature": seal}
    elif seal:
        yield {"type": "redacted_thinking", "data": seal}
    if said.text:
        yield {"type": "text", "text": said.text}
    yield from calls


def _block_text(block: Mapping[str, Any]) -> Any:
    return block.get("text") if block.get("type") == "text" else None


def _whole_block(block: dict[str, Any], writer: AnswerWriter) -> dict[str, Any]:
    call = block.get("input")
    return {**block, "input": writer.arguments(call)} if isinstance(call, ReplyCall) else block


def _events(answer: dict[str, Any], blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    usage = answer["usage"]
    begun: dict[str, Any] = {
        **answer,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(blocks):
        start, deltas = _streamed_block(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": usage}
    yield {"type": "message_stop"}


def _streamed_block(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block starts, and what follows."""
    match block:
        case {"type": "text", "text": text}:
            return {**block, "text": ""}, [{"type": "text_delta", "text": text}]
        case {"type": "thinking", "thinking": thought}:
            deltas = [
                {"type": "thinking_delta", "thinking": thought},
                {"type": "signature_delta", "signature": block.get("signature", "")},
            ]
            return {**block, "thinking": "", "signature": ""}, deltas
        case {"type": "tool_use", "input": ReplyCall() as call}:
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": call.arguments}]
        case _:
            return block, []


def _usage(said: Said) -> dict[str, Any]:
    """Clients demand counts, so they are 0 where nobody counted."""
    prompt, completion = said.tokens or (0, 0)
    cached: dict[str, int] = {}
    for name in ("cache_creation_input_tokens", "cache_read_input_tokens"):
        count = said.usage.get(name)
        cached[name] = count if isinstance(count, int) else 0
    return {"input_tokens": max(0, prompt - sum(cached.values())), **cached, "output_tokens": completion}
