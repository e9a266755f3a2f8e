"""Conversations with tools in the files of other programs: OpenAI messages, Inspect logs, OpenTelemetry spans.

Whatever else a file holds is passed over. Nothing raises on odd JSON; what cannot be read of a
conversation becomes a gap of its draft.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from wildtool.data.files import read_whole
from wildtool.errors import DataError
from wildtool.json_codec import (
    LINE_LIMITS,
    as_list,
    as_object,
    as_objects,
    check_limits,
    dumps,
    loads,
    loads_within,
    portable,
    replace_surrogates,
    values_inside,
)
from wildtool.sets.review.drafts.indexed import indexed_messages, indexed_tools
from wildtool.types import Message, Tool

_MAX_DEPTH = 100
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """A conversation in OpenAI's shape, whatever it was read from."""

    messages: list[Message]
    tools: list[Tool] = field(default_factory=list[Tool])
    when: datetime | None = None
    """When it began; None if nothing says it."""


def read_conversations(path: Path, layout: str) -> Iterator[ToolConversation]:
    """The conversations of a file.

    Args:
        layout: one of `LAYOUTS`.

    Raises DataError if the file cannot be read, or is neither JSON, JSON lines nor an Inspect log.
    """
    values = (safe_json(value) for value in _values(path))
    for value in [list(values)] if layout in _BY_FILE else values:
        yield from LAYOUTS[layout](value)


def _values(path: Path) -> Iterator[Any]:
    try:
        if zipfile.is_zipfile(path):
            yield from _from_zip(path)
            return
        data = read_whole(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    try:
        yield _loaded(data)
        return
    except ValueError as error:
        if b"\n" not in data.strip():
            raise DataError(f"{path}: neither JSON nor JSON lines ({error})") from error
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield _loaded(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: not a line of JSON ({error})") from error


def _from_zip(path: Path) -> Iterator[Any]:
    """The samples of an Inspect log, which is an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    if info.file_size > LINE_LIMITS.bytes:
                        raise DataError(f"{path}: {info.filename} is too large to be read")
                    with archive.open(info) as member:
                        yield _loaded(member.read(LINE_LIMITS.bytes))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError) as error:
        raise DataError(
            f"{path}: the log cannot be read ({error}); write it as JSON first: inspect log convert --to json"
        ) from error


def _loaded(data: bytes) -> Any:
    check_limits(data, LINE_LIMITS)
    try:
        return loads(data.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def safe_json(value: Any) -> Any:
    """A value that can be written as JSON in UTF-8."""
    return portable(
        value,
        text=replace_surrogates,
        number=lambda number: number if abs(number) < _LARGEST else str(number),
        max_depth=_MAX_DEPTH,
    )


# OpenAI ------------------------------------------------------------------------------------------------


def _openai(value: Any) -> Iterator[ToolConversation]:
    """A list of messages, an object with one, or a list of these."""
    entries = as_list(value)
    if any("role" in entry for entry in as_objects(entries)):
        yield ToolConversation(as_objects(entries))
        return
    for each in entries if isinstance(value, list) else [value]:
        if isinstance(each, list):
            yield from _openai(each)
        elif messages := as_objects(as_object(each).get("messages")):
            row = as_object(each)
            replies = [as_object(choice.get("message")) for choice in as_objects(row.get("choices"))[:1]]
            tools = [_tool(tool) for tool in as_objects(row.get("tools", row.get("functions")))]
            yield ToolConversation([*messages, *replies], tools, _seconds(row.get("created")))


def _tool(tool: Mapping[str, Any]) -> Tool:
    function = as_object(tool.get("function")) or tool
    parameters = function.get("parameters")
    described: dict[str, Any] = {
        "name": str(function.get("name") or ""),
        "description": str(function.get("description") or ""),
        "parameters": parameters if isinstance(parameters, dict) else {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": described}


def _seconds(value: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(value), UTC) if isinstance(value, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _iso(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


# Inspect -----------------------------------------------------------------------------------------------

_ATTACHMENT = "attachment://"


def _inspect(value: Any) -> Iterator[ToolConversation]:
    """The samples of a log, or one sample."""
    log = as_object(value)
    samples = as_objects(log.get("samples")) if "samples" in log else [log]
    created = _iso(as_object(log.get("eval")).get("created"))
    for sample in samples:
        attachments = as_object(sample.get("attachments"))
        messages = [_inspect_message(m, attachments) for m in as_objects(sample.get("messages"))]
        if messages:
            events = as_objects(sample.get("events"))
            tools = _by_name(tool for event in events for tool in as_objects(event.get("tools")))
            began = next(filter(None, (_iso(event.get("timestamp")) for event in events)), None)
            yield ToolConversation(messages, tools, _iso(sample.get("started_at")) or began or created)


def _inspect_message(message: Mapping[str, Any], attachments: Mapping[str, Any]) -> Message:
    plain = {
        "role": message.get("role"),
        "content": _attached(message.get("content"), attachments),
        "tool_call_id": message.get("tool_call_id"),
    }
    calls = [
        _call(call.get("id"), call.get("function"), _attached(call.get("arguments"), attachments))
        for call in as_objects(message.get("tool_calls"))
    ]
    if calls:
        plain["tool_calls"] = calls
    return plain


def _attached(value: Any, attachments: Mapping[str, Any]) -> Any:
    """A value with the texts that Inspect keeps apart in their places."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_attached(each, attachments) for each in as_list(value)]
    if isinstance(value, dict):
        return {key: _attached(each, attachments) for key, each in as_object(value).items()}
    return value


def _call(id_: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": id_, "function": {"name": name, "arguments": {} if arguments is None else arguments}}


def _by_name(tools: Iterable[Mapping[str, Any]]) -> list[Tool]:
    """Tools, each name once."""
    definitions = [_tool(tool) for tool in tools]
    return list({tool["function"]["name"]: tool for tool in definitions if tool["function"]["name"]}.values())


# OpenTelemetry -----------------------------------------------------------------------------------------


_INTEGER = re.compile("-?[0-9]{1,19}")
_COLUMN = "attributes."
"""How attributes begin in a table of spans."""


@dataclass(slots=True)
class _Thread:
    """The spans of one conversation."""

    messages: list[Message] = field(default_factory=list[Message])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    when: datetime | None = None


def _otel(value: Any) -> Iterator[ToolConversation]:
    """The spans of calls to a model, grouped by conversation, or by trace where they name none.

    Each such span repeats the history, so the one with the most messages has the whole conversation, and a trace that
    another one repeats has nothing new.

    Args: value: of a whole file, whose lines may be spans of one conversation.
    """
    threads: dict[str, _Thread] = {}
    for span in map(as_object, values_inside(value)):
        fields = _attributes(span.get("attributes"))
        fields = {**fields, **{k[len(_COLUMN) :]: v for k, v in span.items() if k.startswith(_COLUMN)}}
        messages = _exchange(fields)
        if not messages:
            continue
        key = fields.get("gen_ai.conversation.id") or _trace(span)
        thread = threads.setdefault(str(key), _Thread())
        if len(messages) > len(thread.messages):
            thread.messages = messages
        thread.tools += as_objects(_json(fields.get("gen_ai.tool.definitions")))
        thread.tools += indexed_tools(fields, _json)
        thread.when = min(filter(None, (thread.when, _began(span))), default=None)
    digests = [(_digests(thread.messages), thread) for thread in threads.values()]
    repeated = {digest for sequence, _ in digests for digest in sequence[:-1]}
    began = {sequence[-1]: thread.when for sequence, thread in digests}
    for sequence, thread in digests:
        if sequence[-1] not in repeated:
            when = min(filter(None, map(began.get, sequence)), default=None)
            yield ToolConversation(thread.messages, _by_name(thread.tools), when)


def _exchange(attributes: Mapping[str, Any]) -> list[Message]:
    """The messages of a span, in whichever way it has them."""
    exchange = _json(attributes.get("gen_ai.input.messages")), _json(attributes.get("gen_ai.output.messages"))
    if not any(isinstance(part, list) for part in exchange):
        return indexed_messages(attributes, _json)
    rules = as_objects(_json(attributes.get("gen_ai.system_instructions")))
    messages: list[Message] = [{"role": "system", "content": _joined(rules)}] if rules else []
    for part in exchange:
        messages += (m for message in as_objects(part) for m in _otel_messages(message))
    return messages


def _digests(messages: Sequence[Message]) -> list[bytes]:
    """For each beginning of a conversation what tells it from others, the whole one last."""
    state = hashlib.sha256()
    digests: list[bytes] = []
    for message in messages:
        state.update(dumps([message.get("role"), message.get("content"), message.get("tool_calls")]))
        digests.append(state.digest())
    return digests


def _trace(span: Mapping[str, Any]) -> Any:
    """The trace of a span, as OTLP, a program that prints its spans, or a table of them names it."""
    places = (span, "traceId"), (as_object(span.get("context")), "trace_id"), (span, "trace_id")
    return next(filter(None, (row.get(name) for row, name in places)), span.get("context.trace_id"))


def _began(span: Mapping[str, Any]) -> datetime | None:
    nano = span.get("startTimeUnixNano")
    if isinstance(nano, str) and nano.isascii() and nano.isdigit():
        nano = int(nano)
    if isinstance(nano, int):
        return _seconds(nano / 10**9)
    start = _iso(span.get("start_time"))
    return start.replace(tzinfo=UTC) if start and start.tzinfo is None else start


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of a span: an object, or OTLP's list of keys and typed values."""
    if isinstance(value, dict):
        return cast(Mapping[str, Any], value)
    return {str(attribute.get("key")): _otlp(attribute.get("value")) for attribute in as_objects(value)}


def _otlp(value: Any) -> Any:
    typed = as_object(value)
    if "arrayValue" in typed:
        return [_otlp(each) for each in as_list(as_object(typed["arrayValue"]).get("values"))]
    if "kvlistValue" in typed:
        return _attributes(as_object(typed["kvlistValue"]).get("values"))
    if "intValue" in typed:
        text = str(typed["intValue"])
        return safe_json(int(text)) if _INTEGER.fullmatch(text) else text
    return next(iter(typed.values()), None)


def _json(value: Any) -> Any:
    """A value that may be written as a JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return safe_json(loads_within(value, LINE_LIMITS))
    except (ValueError, RecursionError):
        return None


def _otel_messages(message: Mapping[str, Any]) -> Iterator[Message]:
    """A message of parts as messages in OpenAI's shape: each result of a tool is a separate one."""
    parts = as_objects(message.get("parts"))
    results = [part for part in parts if part.get("type") == "tool_call_response"]
    for part in results:
        result = part.get("response", part.get("result"))
        yield {"role": "tool", "content": result, "tool_call_id": part.get("id")}
    calls = [part for part in parts if part.get("type") == "tool_call"]
    text = _joined(parts)
    if text or calls or not results:
        plain: Message = {"role": message.get("role"), "content": text}
        if calls:
            plain["tool_calls"] = [
                _call(call.get("id"), call.get("name"), call.get("arguments")) for call in calls
            ]
        yield plain


def _joined(parts: Iterable[Mapping[str, Any]]) -> str:
    texts = (part.get("content") for part in parts if part.get("type") in ("text", None))
    return "\n".join(text for text in texts if isinstance(text, str))


LAYOUTS: Mapping[str, Callable[[Any], Iterator[ToolConversation]]] = {
    "openai": _openai,
    "inspect": _inspect,
    "otel": _otel,
}
"""What reads the values of a file of each kind."""
_BY_FILE = ("otel",)
"""Kinds of which the lines of a file belong together."""
