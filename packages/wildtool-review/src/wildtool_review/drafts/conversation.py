"""Conversations with tools in the files of other programs: conversations of any shape, Inspect logs, OpenTelemetry spans.

Messages, calls and tools are read by `wildtool.shapes`; what has no known shape is refused with its place. Of logs and
spans everything else is passed over.
"""

import hashlib
import re
import zipfile
from collections import Counter
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
    document_place,
    dumps,
    loads,
    loads_within,
    portable,
    replace_surrogates,
    values_inside,
)
from wildtool.shapes import (
    Reading,
    ShapeError,
    log_reader,
    read_messages,
    read_record,
    read_tools,
    records_of,
)
from wildtool.types import Message, Tool
from wildtool_review.drafts.indexed import indexed_messages, indexed_tools

_MAX_DEPTH = 100
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """A conversation in OpenAI's shape, whatever it was read from."""

    messages: list[Message]
    tools: list[Tool] = field(default_factory=list[Tool])
    when: datetime | None = None
    """When it began; None if nothing says it."""


Refusal = Callable[[ShapeError], None]
"""Gets why a conversation cannot be read; may raise."""
Values = Iterable[tuple[Reading, Any]]
"""The values of a file, each with its place."""


def stop(error: ShapeError) -> None:
    """The refusal that ends the reading. Raises the error."""
    raise error


def read_conversations(
    path: Path, layout: str, lost: Counter[str] | None = None, refuse: Refusal = stop
) -> Iterator[ToolConversation]:
    """The conversations of a file.

    Args:
        layout: one of `LAYOUTS`.
        lost: counts by name what is left out, since OpenAI's shape has no place for it.
        refuse: gets each conversation that has no known shape; by default that ends the reading.

    Raises DataError if the file cannot be read, or is neither JSON, JSON lines nor an Inspect log; ShapeError from
    `refuse`.
    """
    reading = Reading(str(path), Counter() if lost is None else lost)
    values = ((place, safe_json(value)) for place, value in _values(path, reading))
    yield from LAYOUTS[layout](values, reading, refuse)


def _values(path: Path, reading: Reading) -> Iterator[tuple[Reading, Any]]:
    try:
        if zipfile.is_zipfile(path):
            for value in _from_zip(path):
                yield reading, value
            return
        data = read_whole(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    try:
        yield Reading(document_place(path, data.split(b"\n")), reading.lost), _loaded(data)
        return
    except ValueError as error:
        if b"\n" not in data.strip():
            raise DataError(f"{path}: neither JSON nor JSON lines ({error})") from error
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield Reading(f"{path}:{number}", reading.lost), _loaded(line)
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


# Any shape ---------------------------------------------------------------------------------------------


def _records(values: Values, reading: Reading, refuse: Refusal) -> Iterator[ToolConversation]:
    """The conversations of any shape."""
    for place, value in records_of(values, reading):
        try:
            record = read_record(value, place)
        except ShapeError as error:
            reader = log_reader(value)
            refuse(ShapeError(f"{error}; {reader}") if reader else error)
            continue
        yield ToolConversation(record.messages, [_described(tool) for tool in record.tools], _moment(value))


def _moment(value: Any) -> datetime | None:
    """When a conversation began, as its record or its first message says it."""
    row = as_object(value)
    first = as_object(next(iter(as_list(row.get("messages"))), None))
    return _seconds(row.get("created")) or _iso(first.get("timestamp"))


def _described(tool: Tool) -> Tool:
    """A tool with what a definition of a session has, and nothing else."""
    function = tool["function"]
    described: dict[str, Any] = {
        "name": function["name"],
        "description": str(function.get("description") or ""),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
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


def _inspect(values: Values, _: Reading, refuse: Refusal) -> Iterator[ToolConversation]:
    """The samples of logs, or single samples."""
    for place, value in values:
        log = as_object(value)
        created = _iso(as_object(log.get("eval")).get("created"))
        for number, sample in enumerate(as_objects(log.get("samples")) if "samples" in log else [log], 1):
            if as_objects(sample.get("messages")):
                try:
                    yield _sample(sample, created, place.at(f"sample {sample.get('id', number)}"))
                except ShapeError as error:
                    refuse(error)


def _sample(sample: Mapping[str, Any], created: datetime | None, place: Reading) -> ToolConversation:
    attachments = as_object(sample.get("attachments"))
    messages = [_inspect_message(message, attachments) for message in as_objects(sample["messages"])]
    events = as_objects(sample.get("events"))
    tools = _by_name([tool for event in events for tool in as_objects(event.get("tools"))], place)
    began = next(filter(None, (_iso(event.get("timestamp")) for event in events)), None)
    return ToolConversation(
        read_messages(messages, place), tools, _iso(sample.get("started_at")) or began or created
    )


def _inspect_message(message: Mapping[str, Any], attachments: Mapping[str, Any]) -> Message:
    """What a message of a log says, without what the log notes about it."""
    names = ("role", "content", "tool_call_id", "tool_calls")
    return {name: _attached(message.get(name), attachments) for name in names}


def _attached(value: Any, attachments: Mapping[str, Any]) -> Any:
    """A value with the texts that Inspect keeps apart in their places."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_attached(each, attachments) for each in as_list(value)]
    if isinstance(value, dict):
        return {key: _attached(each, attachments) for key, each in as_object(value).items()}
    return value


def _by_name(tools: Sequence[Mapping[str, Any]], place: Reading) -> list[Tool]:
    """Tools, each name once. Raises ShapeError."""
    definitions = [_described(entry.tool) for entry in read_tools(list(tools), place.at("tools"))]
    return list({tool["function"]["name"]: tool for tool in definitions}.values())


# OpenTelemetry -----------------------------------------------------------------------------------------


_INTEGER = re.compile("-?[0-9]{1,19}")
_COLUMN = "attributes."
"""How attributes begin in a table of spans."""


@dataclass(slots=True)
class _Thread:
    """The spans of one conversation."""

    place: Reading
    """Of its first span."""
    messages: list[Message] = field(default_factory=list[Message])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    when: datetime | None = None


def _otel(values: Values, _: Reading, refuse: Refusal) -> Iterator[ToolConversation]:
    """The spans of calls to a model, grouped by conversation, or by trace where they name none.

    Each such span repeats the history, so the one with the most messages has the whole conversation, and a trace that
    another one repeats has nothing new.

    Args: values: of a whole file, whose lines may be spans of one conversation.
    """
    threads: dict[str, _Thread] = {}
    for place, span in (
        (place, as_object(inner)) for place, value in values for inner in values_inside(value)
    ):
        fields = _attributes(span.get("attributes"))
        fields = {**fields, **{k[len(_COLUMN) :]: v for k, v in span.items() if k.startswith(_COLUMN)}}
        try:
            messages = read_messages(_exchange(fields), place)
        except ShapeError as error:
            refuse(error)
            continue
        if not messages:
            continue
        key = fields.get("gen_ai.conversation.id") or _trace(span)
        thread = threads.setdefault(str(key), _Thread(place))
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
            try:
                yield ToolConversation(thread.messages, _by_name(thread.tools, thread.place), when)
            except ShapeError as error:
                refuse(error)


def _exchange(attributes: Mapping[str, Any]) -> list[Message]:
    """The messages of a span, in whichever way it has them."""
    exchange = _json(attributes.get("gen_ai.input.messages")), _json(attributes.get("gen_ai.output.messages"))
    if not any(isinstance(part, list) for part in exchange):
        return indexed_messages(attributes, _json)
    rules = as_objects(_json(attributes.get("gen_ai.system_instructions")))
    messages: list[Message] = [{"role": "system", "parts": rules}] if rules else []
    return messages + [message for part in exchange for message in as_objects(part)]


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


LAYOUTS: Mapping[str, Callable[[Values, Reading, Refusal], Iterator[ToolConversation]]] = {
    "openai": _records,
    "inspect": _inspect,
    "otel": _otel,
}
"""What reads the values of a file of each kind."""
