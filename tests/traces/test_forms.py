"""The forms in which spans are exported: the same spans, whichever it is."""

import json
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.errors import DataError
from wildtool.shapes import Reading
from wildtool.traces import read_traces
from wildtool.traces.forms import values_of_file
from wildtool.traces.protobuf import read_protobuf

TEXT = 'Wie geht\'s, 你好? "{" \\ \n'
MESSAGES = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": "Gut."}]
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps(MESSAGES[:1]),
    "gen_ai.output.messages": json.dumps(MESSAGES[1:]),
}
PRINTED = {
    "name": "chat",
    "context": {"trace_id": "0xaa", "span_id": "0xbb"},
    "start_time": "2025-03-04T10:00:00Z",
    "attributes": ATTRIBUTES,
}


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP has it in JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]} if value else {}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": listed(value)} if value else {}}
    return {"stringValue": value}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in attributes.items()]


def otlp(attributes: dict[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    span = {"traceId": "aa" * 16, "spanId": "bb" * 8, "name": "chat", "startTimeUnixNano": 17 * 10**17}
    span |= {"attributes": listed(attributes)} if attributes else {}
    span |= {"events": [{"name": "e", "attributes": listed(event)} for event in events]} if events else {}
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": [span]}]}]}


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def encoded_value(value: dict[str, Any]) -> bytes:
    ((kind, held),) = value.items()
    match kind:
        case "stringValue":
            return field(1, held.encode())
        case "boolValue":
            return bytes([2 << 3, held])
        case "intValue":
            return bytes([3 << 3]) + varint(held % (1 << 64))
        case "doubleValue":
            return bytes([4 << 3 | 1]) + struct.pack("<d", held)
        case "arrayValue":
            return field(5, b"".join(field(1, encoded_value(each)) for each in held.get("values", ())))
        case _:
            return field(6, encoded_list(1, held.get("values", ())))


def encoded_list(number: int, entries: Any) -> bytes:
    pairs = (field(1, entry["key"].encode()) + field(2, encoded_value(entry["value"])) for entry in entries)
    return b"".join(field(number, pair) for pair in pairs)


def encoded(request: dict[str, Any]) -> bytes:
    """A request to export spans as protobuf, with a field that no version has yet."""
    (resource,) = request["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    events = [
        field(2, event["name"].encode()) + encoded_list(3, event["attributes"])
        for event in span.get("events", ())
    ]
    data = field(1, bytes.fromhex(span["traceId"])) + field(2, bytes.fromhex(span["spanId"]))
    data += (
        field(5, span["name"].encode()) + bytes([7 << 3 | 1]) + struct.pack("<Q", span["startTimeUnixNano"])
    )
    data += encoded_list(9, span.get("attributes", ())) + b"".join(field(11, event) for event in events)
    data += field(99, b"later")
    inner = field(1, field(1, scope["scope"]["name"].encode())) + field(2, data)
    return field(1, field(2, inner))


VALUES = st.recursive(
    st.text(st.characters(codec="utf-8"), max_size=8)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), VALUES, max_size=4)


@given(FIELDS, st.lists(FIELDS.filter(bool), max_size=2))
def test_protobuf_holds_what_json_holds(attributes: dict[str, Any], events: list[dict[str, Any]]):
    request = otlp(attributes, events)
    data = encoded(request)
    assert read_protobuf(data) == [request]
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in (data, data))
    assert read_protobuf(framed) == [request, request]


@pytest.mark.parametrize("framed", [False, True])
def test_protobuf_that_is_cut_off_is_refused_as_such(tmp_path: Path, framed: bool):
    data = encoded(otlp(ATTRIBUTES, []))
    data = len(data).to_bytes(4, "big") + data if framed else data
    path = tmp_path / "file"
    for end in range(30, len(data), 40):
        path.write_bytes(data[:end])
        with pytest.raises(DataError, match=r"protobuf .*cut off"):
            read_traces([path])


def test_a_span_without_a_name_is_one():
    request = otlp(ATTRIBUTES, [])
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = ""
    assert read_protobuf(encoded(request)) == [request]


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes):
    with suppress(ValueError):
        read_protobuf(data)


def written(folder: Path, form: str) -> Path:
    request = otlp(ATTRIBUTES, [])
    match form:
        case "otlp.json":
            data = json.dumps(request).encode()
        case "collector.jsonl":
            data = f"{json.dumps(request)}\n".encode()
        case "otlp.pb":
            data = encoded(request)
        case "collector.pb":
            data = len(encoded(request)).to_bytes(4, "big") + encoded(request)
        case "console.jsonl":
            data = f"{json.dumps(PRINTED)}\n".encode()
        case "console.txt":
            data = f"{json.dumps(PRINTED, indent=4, ensure_ascii=False)}\n".encode()
        case "console with other lines.txt":
            data = f"started\n{json.dumps(PRINTED, indent=4)}\nINFO done\n".encode()
        case "console among lines in brackets.txt":
            data = f"[INFO] started\n{json.dumps(PRINTED, indent=4)}\n[2025-03-04 10:00] done\n".encode()
        case "table.json":
            columns = {f"attributes.{key}": value for key, value in ATTRIBUTES.items()}
            data = json.dumps([{**columns, "context.trace_id": "aa", "context.span_id": "bb"}]).encode()
        case "nested.json":
            nested = {"gen_ai": {"input": {"messages": MESSAGES[:1]}, "output": {"messages": MESSAGES[1:]}}}
            data = json.dumps({**PRINTED, "attributes": nested}).encode()
        case _:
            raise ValueError(form)
    path = folder / form
    path.write_bytes(data)
    return path


FORMS = (
    "otlp.json",
    "collector.jsonl",
    "otlp.pb",
    "collector.pb",
    "console.jsonl",
    "console.txt",
    "console with other lines.txt",
    "console among lines in brackets.txt",
    "table.json",
    "nested.json",
)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_holds_the_same_conversation(tmp_path: Path, form: str):
    made = read_traces([written(tmp_path, form)])
    (found,) = made.conversations
    assert [message["content"] for message in found.messages] == [TEXT, "Gut."]
    assert (made.spans, made.calls) == (1, 1)


@pytest.mark.parametrize("form", [form for form in FORMS if "lines" in form])
def test_lines_that_are_no_spans_are_counted(tmp_path: Path, form: str):
    made = read_traces([written(tmp_path, form)])
    assert made.lost["line of text between spans"] == 2


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "file"),
        (b" \n\n", "file"),
        (b"hello\nworld\n", "file:1"),
        (b'{"a": 1}\n{"a": \n', "file:2"),
        (b'started\n{\n "name": \n', "file:2"),
        (b"\0\0\0\x09abc", "file"),
        (b"\xff\xfe\n\xff", "file"),
    ],
)
def test_what_has_no_form_is_refused_with_its_place(tmp_path: Path, data: bytes, place: str):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(DataError) as refusal:
        list(values_of_file(path, Reading()))
    assert str(refusal.value).startswith(f"{tmp_path}/{place}: ")
