"""A model without native calls: tools are described in the prompt, calls are read from the text of replies."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.episode import belongs_to_reasoning, reasoning_fields
from wildtool.json_codec import as_list, dumps
from wildtool.tool_formats import CallFormat, ParsedReply, ToolCall, ToolResult
from wildtool.tool_formats.lenient_json import strict_value_or
from wildtool.types import (
    FORMAT_CHANGE,
    REASONING_KEYS,
    REPAIR_CHANGE,
    Message,
    Model,
    Reply,
    Request,
    Tool,
)

_SAMPLE: Tool = {
    "type": "function",
    "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
}
_EXTRA_KEYS = ("tool_calls", "raw_content")
"""Keys of an assistant message that a plain chat does not have, beside those of its reasoning."""


class PromptedModel:
    """Another model, with tools in a text format. Requests without tools and without calls are passed on unchanged.

    Sent: tools in the system message, calls and results in assistant and user messages. Consecutive messages of one
    role are merged, since many chat templates demand alternating roles. The reasoning of replies with calls is sent back
    under the keys that it has.

    Returned: an assistant message with `tool_calls`; `content` is the text beside them, `raw_content` the whole text
    where it differs. A reply without calls is kept byte for byte.
    """

    def __init__(self, inner: Model, format: CallFormat, origin: str = "by option") -> None:
        """Args: chosen: how the format was chosen, for the settings: `auto` or `by option`."""
        self.name = inner.name
        self.format = format
        self._inner = inner
        self._chosen = origin

    @property
    def inner(self) -> Model:
        """The model that answers."""
        return self._inner

    def settings(self) -> Mapping[str, Any]:
        """The inner model's settings, the format, and a digest of its wording, so that a run never mixes two."""
        call = ToolCall("f", {"a": "b"})
        wording = [self.format.system([_SAMPLE]), self.format.write("t", [call])]
        digest = hashlib.sha256(
            "\0".join([*wording, self.format.write_results([ToolResult("f", "r")])]).encode()
        )
        own = {"format": self.format.name, "format_chosen": self._chosen}
        return {**self._inner.settings(), **own, "format_wording": digest.hexdigest()[:16]}

    async def close(self) -> None:
        """Closes the inner model."""
        await self._inner.close()

    async def complete(self, request: Request) -> Reply:
        """Calls the inner model once. Raises CallError if that does."""
        if not request.tools and not any(map(has_calls, request.messages)):
            return await self._inner.complete(request)
        plain, merged = plain_chat(request, self.format, with_reasoning=True)
        reply = await self._inner.complete(replace(request, messages=plain, tools=()))
        message, repairs = parse_message(reply.message, self.format, request)
        changes = (
            f"{FORMAT_CHANGE}{self.format.name}",
            *(["merged-messages"] if merged else []),
            *(f"{REPAIR_CHANGE}{name}" for name in repairs),
        )
        return replace(reply, message=message, changes=(*reply.changes, *changes))


def plain_chat(
    request: Request, format: CallFormat, *, with_reasoning: bool = False
) -> tuple[list[Message], bool]:
    """The request as a chat of texts, and whether messages were merged.

    Args: with_reasoning: whether replies with calls keep the keys of their reasoning.
    """
    messages = list(_as_text_messages(request.messages, format, with_reasoning=with_reasoning))
    if request.tools:
        _add_tools(messages, format.system(request.tools))
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else {}
        both = (last.get("content"), message.get("content"))
        if last.get("role") == message.get("role") and all(isinstance(text, str) for text in both):
            merged[-1] = {**last, **message, "content": "\n\n".join(cast("tuple[str, str]", both))}
        else:
            merged.append(message)
    return merged, len(merged) < len(messages)


def _as_text_messages(
    messages: Sequence[Message], format: CallFormat, *, with_reasoning: bool
) -> Iterator[Message]:
    names: dict[Any, str] = {}
    results: list[ToolResult] = []
    for message in messages:
        if message.get("role") == "tool":
            name = names.get(_key(message.get("tool_call_id")), "")
            results.append(ToolResult(name, _text(message.get("content")) or ""))
            continue
        if results:
            yield {"role": "user", "content": format.write_results(results)}
            results = []
        if message.get("role") != "assistant":
            yield message
            continue
        names |= {_key(id_): call.name for id_, call in _calls(message)}
        reasoning = reasoning_fields(message) if with_reasoning and has_calls(message) else {}
        yield {**message_as_text(message, format), **reasoning}
    if results:
        yield {"role": "user", "content": format.write_results(results)}


def message_as_text(message: Message, format: CallFormat) -> Message:
    """An assistant message with its calls in its text."""
    rest = {
        key: value
        for key, value in message.items()
        if key not in _EXTRA_KEYS and not belongs_to_reasoning(key)
    }
    calls = [call for _, call in _calls(message)]
    text = _text(message.get("content"))
    if calls or text is not None:
        rest["content"] = format.write(text or "", calls)
    return rest


def _add_tools(messages: list[Message], tools: str) -> None:
    """Adds the tools at the end of the system message, or as a new one."""
    first = messages[0] if messages else {}
    content = first.get("content")
    if first.get("role") not in ("system", "developer"):
        messages.insert(0, {"role": "system", "content": tools})
    elif isinstance(content, list):
        messages[0] = {**first, "content": [*cast("list[Any]", content), {"type": "text", "text": tools}]}
    else:
        text = _text(content)
        messages[0] = {**first, "content": f"{text}\n\n{tools}" if text else tools}


def has_calls(message: Message) -> bool:
    return message.get("role") == "tool" or bool(message.get("tool_calls"))


def _calls(message: Message) -> Iterator[tuple[Any, ToolCall]]:
    """Ids and calls of a message; malformed ones are left out."""
    calls = message.get("tool_calls")
    for call in as_list(calls):
        match call:
            case {"function": {"name": str() as name, **function}}:
                arguments = cast("dict[str, Any]", function).get("arguments")
                yield cast("dict[str, Any]", call).get("id"), ToolCall(name, _value(arguments))
            case _:
                pass


def _value(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    return strict_value_or(arguments, arguments)


def _key(id_: Any) -> str:
    return id_ if isinstance(id_, str) else repr(id_)


def _text(content: Any) -> str | None:
    """A text, or the texts of content parts; None for anything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in cast("list[Any]", content) if isinstance(part, dict)]  # pyright: ignore
    return "".join(part for part in cast("list[Any]", parts) if isinstance(part, str))


def parse_message(message: Message, format: CallFormat, request: Request) -> tuple[Message, tuple[str, ...]]:
    """The assistant message in a reply's text, and the repairs that it needed."""
    raw = _text(message.get("content"))
    if message.get("tool_calls") or raw is None:
        # Native calls, or nothing to read: left as it is for scoring.
        return message, ()
    read = format.read(raw, request.tools)
    calls = list(_tool_calls(read, raw, len(request.messages)))
    if not calls and read.text == raw:
        return message, read.repairs
    parsed: Message = {
        **message,
        "content": read.text or (None if calls else ""),
        "raw_content": message["content"],
    }
    if calls:
        parsed["tool_calls"] = calls
    key = next((key for key in REASONING_KEYS if isinstance(message.get(key), str)), REASONING_KEYS[0])
    thoughts = [text for text in (message.get(key), read.reasoning) if isinstance(text, str)]
    if thoughts:
        parsed[key] = "\n".join(thoughts)
    return parsed, read.repairs


def _tool_calls(read: ParsedReply, raw: str, place: int) -> Iterator[dict[str, Any]]:
    """The calls in OpenAI's shape; ids are derived from the reply and its place in the chat, so they are repeatable."""
    digest = hashlib.sha256(f"{place}/{raw}".encode("utf-8", "surrogatepass")).hexdigest()[:20]
    for number, call in enumerate(read.calls):
        arguments = call.arguments if isinstance(call.arguments, str) else dumps(call.arguments).decode()
        yield {
            "id": f"call_{digest}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": arguments},
        }
