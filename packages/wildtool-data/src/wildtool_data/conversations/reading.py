"""Conversations with tools in the files of other programs: conversations of any shape, Inspect logs, OpenTelemetry spans.

Messages, calls and tools are read by `wildtool.shapes`; what has no known shape is refused with its place. Of logs and
spans everything else is passed over.
"""

import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wildtool.data.files import check_regular_file
from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, as_list, as_object, as_objects
from wildtool.shapes import (
    Reading,
    ShapeError,
    read_messages,
    read_record,
    read_tools,
)
from wildtool.shapes.record_files import log_reader, records_of, session_reader
from wildtool.traces.forms import loaded, safe_json, values_of_file
from wildtool.traces.reading import TraceReading, spans_as_conversations
from wildtool.traces.spans import read_spans
from wildtool.training.files import FileRow
from wildtool.training.procedures.supervised import shown_messages
from wildtool.training.readers.data_sets import CALLS_IN_TEXT, DATA_SETS, fitting_sets
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import read_row
from wildtool.training.record import RejectedRow
from wildtool.types import Message, Tool


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


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, as logs of Inspect are. Raises DataError if it cannot be read, or is a pipe."""
    check_regular_file(path)
    try:
        return zipfile.is_zipfile(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _values(path: Path, reading: Reading) -> Iterator[tuple[Reading, Any]]:
    if is_archive(path):
        yield from ((reading, value) for value in _from_zip(path))
    else:
        yield from values_of_file(path, reading)


def _from_zip(path: Path) -> Iterator[Any]:
    """The samples of an Inspect log, which is an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    if info.file_size > LINE_LIMITS.bytes:
                        raise DataError(f"{path}: {info.filename} is too large to be read")
                    with archive.open(info) as member:
                        yield loaded(member.read(LINE_LIMITS.bytes))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError) as error:
        raise DataError(
            f"{path}: the log cannot be read ({error}); write it as JSON first: inspect log convert --to json"
        ) from error


# Any shape ---------------------------------------------------------------------------------------------


def _records(values: Values, reading: Reading, refuse: Refusal) -> Iterator[ToolConversation]:
    """The conversations of any shape."""
    for place, value in records_of(values, reading):
        try:
            messages, tools = _with_calls_in_text(as_object(value), place) or _in_any_shape(value, place)
        except ShapeError as error:
            # Of a session that cannot be read, this is the reader.
            reader = "" if session_reader(value) else log_reader(value)
            refuse(ShapeError(f"{error}; {reader}") if reader else error)
            continue
        yield ToolConversation(messages, [_described(tool) for tool in tools], _moment(value))


def _in_any_shape(value: Any, place: Reading) -> tuple[list[Message], Sequence[Tool]]:
    found = read_record(value, place)
    return found.messages, found.tools


def _with_calls_in_text(
    row: Mapping[str, Any], place: Reading
) -> tuple[list[Message], Sequence[Tool]] | None:
    """The messages and tools of a row of a public set whose calls are texts; None for any other. Raises ShapeError."""
    name = next(iter(fitting_sets([row])), "")
    if name not in CALLS_IN_TEXT:
        return None
    record = read_row(FileRow(1, row), DATA_SETS[name], place.place, DEFAULT_OPTIONS)
    if isinstance(record, RejectedRow):
        place.fail(f"no conversation of {name}: {record.detail}")
    return shown_messages(record.system, record.told_turns), record.tools


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


# Traces ------------------------------------------------------------------------------------------------


def _traces(values: Values, reading: Reading, refuse: Refusal) -> Iterator[ToolConversation]:
    """The conversations of traces; what is left out of them is refused by its reason."""
    made = TraceReading(lost=reading.lost)
    spans_as_conversations(read_spans(values, made.unread), made)
    for error in made.refused:
        refuse(error)
    for reason, number in (made.left_out + made.unread).items():
        reading.lost[reason] += number
    for found in made.conversations:
        yield ToolConversation(found.messages, [_described(tool) for tool in found.tools], found.when)


LAYOUTS: Mapping[str, Callable[[Values, Reading, Refusal], Iterator[ToolConversation]]] = {
    "openai": _records,
    "inspect": _inspect,
    "otel": _traces,
}
"""What reads the values of a file of each kind."""
