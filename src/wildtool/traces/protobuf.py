"""OTLP as protobuf, read into the shape that OTLP has as JSON: the few messages that hold spans and log records.

Field numbers are those of `opentelemetry/proto/trace/v1/trace.proto` and `logs/v1/logs.proto`.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_objects

_MOST_DEPTH = 100
_LENGTH = 4
"""Bytes of the length before each message in a file that the collector's exporter wrote."""
Field = tuple[str, str, bool]
"""Name, kind (a message of `_MESSAGES` or a scalar) and whether it is a list."""
_ATTRIBUTES: Field = ("attributes", "KeyValue", True)
_RESOURCE: Mapping[int, Field] = {1: _ATTRIBUTES}
_SCOPE: Mapping[int, Field] = {1: ("name", "text", False), 2: ("version", "text", False), 3: _ATTRIBUTES}
_MESSAGES: Mapping[str, Mapping[int, Field]] = {
    "Traces": {1: ("resourceSpans", "ResourceSpans", True)},
    "ResourceSpans": {1: ("resource", "Resource", False), 2: ("scopeSpans", "ScopeSpans", True)},
    "ScopeSpans": {1: ("scope", "Scope", False), 2: ("spans", "Span", True)},
    "Span": {
        1: ("traceId", "id", False),
        2: ("spanId", "id", False),
        4: ("parentSpanId", "id", False),
        5: ("name", "text", False),
        7: ("startTimeUnixNano", "fixed", False),
        8: ("endTimeUnixNano", "fixed", False),
        9: _ATTRIBUTES,
        11: ("events", "Event", True),
    },
    "Event": {1: ("timeUnixNano", "fixed", False), 2: ("name", "text", False), 3: _ATTRIBUTES},
    "Logs": {1: ("resourceLogs", "ResourceLogs", True)},
    "ResourceLogs": {1: ("resource", "Resource", False), 2: ("scopeLogs", "ScopeLogs", True)},
    "ScopeLogs": {1: ("scope", "Scope", False), 2: ("logRecords", "LogRecord", True)},
    "LogRecord": {
        1: ("timeUnixNano", "fixed", False),
        5: ("body", "AnyValue", False),
        6: _ATTRIBUTES,
        9: ("traceId", "id", False),
        10: ("spanId", "id", False),
        11: ("observedTimeUnixNano", "fixed", False),
        12: ("eventName", "text", False),
    },
    "Resource": _RESOURCE,
    "Scope": _SCOPE,
    "KeyValue": {1: ("key", "text", False), 2: ("value", "AnyValue", False)},
    "AnyValue": {
        1: ("stringValue", "text", False),
        2: ("boolValue", "bool", False),
        3: ("intValue", "int", False),
        4: ("doubleValue", "double", False),
        5: ("arrayValue", "ArrayValue", False),
        6: ("kvlistValue", "KeyValueList", False),
        7: ("bytesValue", "id", False),
    },
    "ArrayValue": {1: ("values", "AnyValue", True)},
    "KeyValueList": {1: ("values", "KeyValue", True)},
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIRE = {"bool": _VARINT, "int": _VARINT, "double": _FIXED64, "fixed": _FIXED64}
"""How scalars are written; all else is bytes with a length."""


def read_protobuf(data: bytes) -> list[dict[str, Any]]:
    """The requests to export spans or log records that a file holds, in OTLP's JSON shape: one, several one after the
    other, or each with its length before it.

    Raises ValueError where the bytes are something else.
    """
    return [_exported(part) for part in _parts(data)]


def _parts(data: bytes) -> Iterator[bytes]:
    if data[:1] != b"\0":
        yield data
        return
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + _LENGTH], "big")
        at += _LENGTH
        if at + length > len(data):
            raise ValueError("a message is cut off")
        yield data[at : at + length]
        at += length


def _exported(data: bytes) -> dict[str, Any]:
    """Spans, or log records: both are written alike, but a log record has a number where a span has its id."""
    try:
        return _traces(data)
    except ValueError as error:
        try:
            return _logs(data)
        except ValueError:
            raise error from None


def _traces(data: bytes) -> dict[str, Any]:
    traces = _message(data, "Traces", 0)
    spans = [
        span
        for resource in as_objects(traces.get("resourceSpans"))
        for scope in as_objects(resource.get("scopeSpans"))
        for span in as_objects(scope.get("spans"))
    ]
    if not spans or not all("spanId" in span for span in spans):
        raise ValueError("the bytes hold neither spans nor log records of OTLP")
    return traces


def _logs(data: bytes) -> dict[str, Any]:
    logs = _message(data, "Logs", 0)
    if not any(as_objects(resource.get("scopeLogs")) for resource in as_objects(logs.get("resourceLogs"))):
        raise ValueError("the bytes hold no log record of OTLP")
    return logs


def _message(data: bytes, kind: str, depth: int) -> dict[str, Any]:
    if depth > _MOST_DEPTH:
        raise ValueError("values are nested too deeply")
    fields = _MESSAGES[kind]
    message: dict[str, Any] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        raw, at = _raw(data, at, wire)
        if number == 0:
            raise ValueError("a field without a number")
        if number not in fields:
            continue
        name, what, is_list = fields[number]
        if wire != _WIRE.get(what, _BYTES):
            raise ValueError(f"the field {number} of {kind} is of another type")
        value = _value(raw, what, depth)
        if is_list:
            message.setdefault(name, []).append(value)
        else:
            message[name] = value
    return message


def _value(raw: Any, what: str, depth: int) -> Any:
    if what in _MESSAGES:
        return _message(raw, what, depth + 1)
    if what == "text":
        return raw.decode("utf-8")
    if what == "id":
        return raw.hex()
    if what == "bool":
        return bool(raw)
    if what == "int":
        return raw - (1 << 64) if raw >= 1 << 63 else raw
    return struct.unpack("<d" if what == "double" else "<Q", raw)[0]


def _raw(data: bytes, at: int, wire: int) -> tuple[Any, int]:
    """What a field holds, and where the next one begins."""
    if wire == _VARINT:
        return _varint(data, at)
    if wire == _BYTES:
        length, at = _varint(data, at)
    elif wire in (_FIXED64, _FIXED32):
        length = 8 if wire == _FIXED64 else 4
    else:
        raise ValueError(f"the wire type {wire}")
    if at + length > len(data):
        raise ValueError("a field is cut off")
    return data[at : at + length], at + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number is cut off")
