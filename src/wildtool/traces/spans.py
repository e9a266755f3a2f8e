"""The spans of a file, whatever wrote them: OTLP, a printer, a table, and the exports of Langfuse and LangSmith."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from wildtool.json_codec import LINE_LIMITS, as_list, as_object, as_objects, json_type, loads_within
from wildtool.shapes import Reading
from wildtool.traces.forms import safe_json

_INTEGER = re.compile("-?[0-9]{1,19}")
_COLUMN = "attributes."
"""How attributes begin in a table of spans."""
_TRACE_KEYS = ("traceId", "trace_id", "context.trace_id")
_SPAN_KEYS = ("spanId", "span_id", "context.span_id")
_PARENT_KEYS = ("parentSpanId", "parent_span_id", "parent_id", "parentId")
_BEGIN_KEYS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_time_ns")
_LOG_KEYS = frozenset(
    {"body", "eventName", "event_name", "observedTimeUnixNano", "observed_timestamp", "severityNumber"}
)
"""Keys that a log record has and a span has not."""
_ATTRIBUTES = "attributes"
_BELOW = ("child_runs", "observations")
"""Keys under which a run or an observation may hold those below it."""
_FIELDS = frozenset({"events", "links", "resource", "status", "scope", "instrumentation_scope", "context"})
"""Keys of a span beside its attributes that hold objects."""
_AROUND = frozenset({"resource", "scope", "instrumentationLibrary", "schemaUrl"})
"""Keys beside lists of spans that hold none."""
EVENT_NAME = "event.name"
LANGFUSE_TYPE = "langfuse.observation.type"
LANGSMITH_TYPE = "langsmith.span.kind"
_FAILED = frozenset({"2", "error", "status_code_error"})
"""Codes of a status that say that a step failed, in lower case."""


@dataclass(frozen=True, slots=True)
class _Around:
    """What the lists around a span say of it."""

    scope: str = ""
    """The library that wrote it."""
    resource: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Attributes of the program that wrote it."""


ScopedRow = tuple[_Around, Mapping[str, Any]]
"""A span or log record as it is written, after what is around it."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event of a span, or a log record that belongs to one."""

    name: str
    fields: Mapping[str, Any]
    """Its attributes, and what its body has."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A step of a trace."""

    place: Reading
    name: str
    trace: str
    """The trace that it belongs to; empty where nothing says it."""
    id: str
    parent: str
    scope: str
    """The library that wrote it; empty where nothing says it."""
    attributes: Mapping[str, Any]
    events: tuple[SpanEvent, ...] = ()
    when: datetime | None = None
    resource: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Attributes of the program that wrote it."""
    failure: str = ""
    """What it says of its failure; empty where it did not fail."""


def read_spans(values: Iterable[tuple[Reading, Any]], unread: Counter[str]) -> list[TraceSpan]:
    """The spans in the values of files, with the log records that belong to them.

    Args:
        values: each with its place.
        unread: counts by reason what holds no span.
    """
    spans: list[TraceSpan] = []
    logs: list[tuple[Reading, Mapping[str, Any]]] = []
    for place, value in _members(values):
        rows = _rows(value, _Around(), unread)
        if not rows:
            _count_spanless(value, unread)
        for around, row in rows:
            if _is_log(row):
                logs.append((place, row))
                if not _log_name(row):
                    unread["log record without a name"] += 1
                continue
            if reason := _unreadable(row):
                unread[reason] += 1
            spans.append(_span(row, around, place))
    numbers = {(span.trace, span.id): number for number, span in reversed(list(enumerate(spans))) if span.id}
    events: dict[int, list[SpanEvent]] = {}
    for place, row in logs:
        number = _number_of_log(spans, numbers, row, place)
        events.setdefault(number, []).append(_log_event(row))
    for number, added in events.items():
        spans[number] = replace(spans[number], events=(*spans[number].events, *added))
    return spans


def _members(values: Iterable[tuple[Reading, Any]]) -> Iterator[tuple[Reading, Any]]:
    """The values with the members of a list apart, so that each that holds no span is counted."""
    for place, value in values:
        yield from ((place, each) for each in (as_list(value) if isinstance(value, list) else [value]))


def holds_spans(value: Any) -> bool:
    """Whether a value holds a span, a log record, or an observation or run of an export."""
    return bool(_rows(value, _Around(), Counter()))


def _rows(value: Any, around: _Around, unread: Counter[str]) -> list[ScopedRow]:
    """The spans and log records in a value, however deep.

    Args: unread: counts members of lists of spans that hold none.
    """
    row = as_object(value)
    if _is_span(row) or _is_log(row) or _is_langfuse(row) or _is_langsmith(row):
        below = [each for key in _BELOW for each in as_list(row.get(key))]
        return [(around, row), *_rows_of_members(below, around, unread, are_spans=True)]
    if isinstance(value, list):
        return _rows_of_members(as_list(value), around, unread, are_spans=False)
    named = as_object(row.get("scope") or row.get("instrumentationLibrary"))
    resource = attributes_of(as_object(row.get("resource")).get(_ATTRIBUTES))
    around = _Around(str(named.get("name") or around.scope), resource or around.resource)
    within = [each for key, each in row.items() if key not in _AROUND]
    return [each for inner in within for each in _rows(inner, around, unread)]


def _rows_of_members(
    members: Sequence[Any], around: _Around, unread: Counter[str], *, are_spans: bool
) -> list[ScopedRow]:
    """The spans in the members of a list. Args: are_spans: whether each should hold one, even if none does."""
    found = [_rows(member, around, unread) for member in members]
    if are_spans or any(found):
        for member, rows in zip(members, found, strict=True):
            if not rows:
                _count_spanless(member, unread)
    return [each for rows in found for each in rows]


def _count_spanless(value: Any, unread: Counter[str]) -> None:
    """Counts a value that holds no span by its keys; an empty one says nothing."""
    if value not in ({}, []):
        keys = ", ".join(list(as_object(value))[:6]) or json_type(value)
        unread[f"value that holds no span ({keys})"] += 1


def _is_span(row: Mapping[str, Any]) -> bool:
    if any(key.startswith(_COLUMN) for key in row):
        return True
    ids = _first(row, (*_TRACE_KEYS, *_SPAN_KEYS)) or as_object(row.get("context")).get("trace_id")
    begins = any(key in row for key in _BEGIN_KEYS)
    has_attributes = isinstance(row.get(_ATTRIBUTES), list | dict)
    if _is_log(row) or _is_langfuse(row) or "run_type" in row:
        return False
    return (has_attributes and (bool(ids) or begins or not row.keys() & {"name", "version"})) or (
        bool(ids) and begins and "name" in row
    )


def _is_log(row: Mapping[str, Any]) -> bool:
    return bool(row.keys() & _LOG_KEYS) and not any(key in row for key in _BEGIN_KEYS)


def _is_langfuse(row: Mapping[str, Any]) -> bool:
    """Whether a row is an observation as Langfuse exports it."""
    kind = row.get("type")
    return isinstance(kind, str) and kind.isupper() and "traceId" in row and _ATTRIBUTES not in row


def _is_langsmith(row: Mapping[str, Any]) -> bool:
    """Whether a row is a run as LangSmith exports it."""
    return isinstance(row.get("run_type"), str) and ("inputs" in row or "outputs" in row)


def _unreadable(row: Mapping[str, Any]) -> str:
    """Why a part of a span or a log record cannot be read; empty where all can, or where it has none."""
    events: Any = row.get("events") or []
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in as_list(events)):
        return "span whose `events` are no list of objects"
    for part in (row, *as_objects(events)):
        if odd := _odd_attribute(part.get(_ATTRIBUTES)):
            return odd
    has_columns = any(key.startswith(_COLUMN) for key in row)
    if _ATTRIBUTES in row or has_columns or _is_langfuse(row) or _is_langsmith(row):
        return ""
    others = [key for key, value in row.items() if isinstance(value, list | dict) and value]
    unknown = [key for key in others if key not in _FIELDS]
    return f"span without `attributes` (it has `{unknown[0]}`)" if unknown else ""


def _odd_attribute(attributes: Any) -> str:
    """What in attributes cannot be read; empty where all can."""
    if attributes is not None and not isinstance(attributes, list | dict):
        return f"`attributes` that are {json_type(attributes)}"
    for entry in as_list(attributes):
        held = as_object(entry)
        if not isinstance(held.get("key"), str) or "value" not in held:
            keys = ", ".join(list(held)[:4]) or json_type(entry)
            return f"attribute without `key` or `value` (it has {keys})"
    return ""


def _span(row: Mapping[str, Any], around: _Around, place: Reading) -> TraceSpan:
    if _is_langfuse(row):
        return _langfuse(row, place)
    if _is_langsmith(row):
        return _langsmith(row, place)
    context = as_object(row.get("context"))
    columns = {key[len(_COLUMN) :]: value for key, value in row.items() if key.startswith(_COLUMN)}
    attributes = {**flattened(attributes_of(row.get(_ATTRIBUTES))), **columns}
    if isinstance(row.get("span_kind"), str):
        attributes.setdefault("openinference.span.kind", row["span_kind"])
    own_scope = as_object(row.get("instrumentation_scope") or row.get("scope")).get("name")
    events = as_objects(row.get("events"))
    resource = attributes_of(as_object(row.get("resource")).get(_ATTRIBUTES))
    return TraceSpan(
        place=place,
        name=str(row.get("name") or ""),
        trace=_id(_first(row, _TRACE_KEYS) or context.get("trace_id")),
        id=_id(_first(row, _SPAN_KEYS) or context.get("span_id")),
        parent=_id(_first(row, _PARENT_KEYS)),
        scope=str(own_scope or attributes.get("otel.library.name") or around.scope),
        attributes=attributes,
        events=tuple(
            SpanEvent(str(event.get("name") or ""), attributes_of(event.get(_ATTRIBUTES))) for event in events
        ),
        when=_moment(_first(row, _BEGIN_KEYS)),
        resource=resource or around.resource,
        failure=_failure(row, attributes, events),
    )


def _failure(
    row: Mapping[str, Any], attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> str:
    """What a span says of its failure: its status, or the exception that it ended with."""
    status = as_object(row.get("status")) or {
        "code": row.get("status_code", row.get("status")),
        "message": row.get("status_message"),
    }
    raised = [attributes_of(event.get(_ATTRIBUTES)) for event in events if event.get("name") == "exception"]
    is_failed = str(status.get("code") or status.get("status_code") or "").lower() in _FAILED
    if not is_failed and not attributes.get("error.type"):
        return ""
    said = [
        status.get("message") or status.get("description"),
        *(each.get("exception.message") for each in raised),
    ]
    words = next((str(each) for each in said if each), "")
    kinds = [attributes.get("error.type"), *(each.get("exception.type") for each in raised)]
    kind = next((str(each) for each in kinds if each), "")
    return ": ".join(dict.fromkeys(filter(None, (kind, words)))) or "failed, without a word why"


def _langfuse(row: Mapping[str, Any], place: Reading) -> TraceSpan:
    """An observation of a Langfuse export, with the attributes that Langfuse's spans have."""
    attributes = {
        LANGFUSE_TYPE: str(row["type"]).lower(),
        "langfuse.observation.input": row.get("input"),
        "langfuse.observation.output": row.get("output"),
        "langfuse.observation.model.parameters": row.get("modelParameters"),
        "langfuse.observation.metadata": row.get("metadata"),
        "langfuse.session.id": row.get("sessionId"),
        "gen_ai.request.model": row.get("model"),
    }
    failed = str(row.get("level")).lower() in _FAILED
    return TraceSpan(
        place=place,
        name=str(row.get("name") or ""),
        trace=_id(row.get("traceId")),
        id=_id(row.get("id")),
        parent=_id(row.get("parentObservationId")),
        scope="langfuse",
        attributes={key: value for key, value in attributes.items() if value is not None},
        when=_moment(row.get("startTime")),
        failure=str(row.get("statusMessage") or "failed, without a word why") if failed else "",
    )


def _langsmith(row: Mapping[str, Any], place: Reading) -> TraceSpan:
    """A run of a LangSmith export, with the attributes that LangSmith's spans have."""
    attributes = {
        LANGSMITH_TYPE: row.get("run_type"),
        "gen_ai.prompt": row.get("inputs"),
        "gen_ai.completion": row.get("outputs"),
        "langsmith.extra": row.get("extra"),
    }
    return TraceSpan(
        place=place,
        name=str(row.get("name") or ""),
        trace=_id(row.get("trace_id") or row.get("session_id")),
        id=_id(row.get("id")),
        parent=_id(row.get("parent_run_id")),
        scope="langsmith",
        attributes={key: value for key, value in attributes.items() if value is not None},
        when=_moment(row.get("start_time")),
        failure=str(row.get("error") or ""),
    )


def _number_of_log(
    spans: list[TraceSpan], numbers: dict[tuple[str, str], int], row: Mapping[str, Any], place: Reading
) -> int:
    """Which span a log record belongs to; one of its own where the files do not have that."""
    key = (_id(_first(row, _TRACE_KEYS)), _id(_first(row, _SPAN_KEYS)))
    if key not in numbers or not key[1]:
        begun = _moment(row.get("observedTimeUnixNano") or row.get("timestamp"))
        numbers[key] = len(spans)
        spans.append(TraceSpan(place, "", *key, "", "", {}, (), begun))
    return numbers[key]


def _log_event(row: Mapping[str, Any]) -> SpanEvent:
    body = row.get("body")
    held = _typed(body) if len(as_object(body)) == 1 else body
    fields = as_object(held) or ({"body": held} if held is not None else {})
    return SpanEvent(_log_name(row), {**attributes_of(row.get(_ATTRIBUTES)), **fields})


def _log_name(row: Mapping[str, Any]) -> str:
    named = attributes_of(row.get(_ATTRIBUTES)).get(EVENT_NAME)
    return str(row.get("eventName") or row.get("event_name") or named or "")


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes: an object, or OTLP's list of keys and typed values."""
    if isinstance(value, dict):
        return as_object(value)
    return {str(entry.get("key")): _typed(entry.get("value")) for entry in as_objects(value)}


def _typed(value: Any) -> Any:
    """A value of OTLP; what is none stays as it is."""
    typed = as_object(value)
    if "arrayValue" in typed:
        return [_typed(each) for each in as_list(as_object(typed["arrayValue"]).get("values"))]
    if "kvlistValue" in typed:
        return attributes_of(as_object(typed["kvlistValue"]).get("values"))
    if "intValue" in typed:
        text = str(typed["intValue"])
        return safe_json(int(text)) if _INTEGER.fullmatch(text) else text
    if len(typed) == 1 and next(iter(typed)).endswith("Value"):
        return next(iter(typed.values()))
    return value if typed or not isinstance(value, dict) else None


def flattened(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with a name for each value of nested ones too, as Phoenix exports them."""
    flat = dict(attributes)
    pending = [(key, as_object(value)) for key, value in attributes.items()]
    while pending:
        prefix, inner = pending.pop()
        for key, value in inner.items():
            flat.setdefault(f"{prefix}.{key}", value)
            pending.append((f"{prefix}.{key}", as_object(value)))
    return flat


def read_json_text(value: Any) -> Any:
    """A value that may be written as a JSON text; None for a text that is none."""
    if not isinstance(value, str):
        return value
    try:
        return safe_json(loads_within(value, LINE_LIMITS))
    except (ValueError, RecursionError):
        return None


def _first(row: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _id(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text.removeprefix("0x")


def _moment(value: Any) -> datetime | None:
    """A time in nanoseconds, or as ISO 8601 has it; without a zone it is UTC."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 10**9, UTC)
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None  # what has no time that can be read is read without one
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
