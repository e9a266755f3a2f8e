"""Lines of a record, byte by byte: sealed, damaged, torn, lost, and how they are read and written."""

import errno
import gzip
import io
import json
import os
import re
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from wildtool import json_codec
from wildtool.engine.record import format as formats
from wildtool.engine.record.format import (
    LOST_MARKER,
    LostLine,
    Segment,
    SegmentFingerprint,
    check_columns,
    check_line,
    filler_for,
    find_segments,
    fingerprint_of,
    following_hash,
    gzip_trailer,
    is_as_written,
    is_torn,
    line_number_at,
    new_nodes,
    open_segment,
    rebuild_request,
    reply_columns,
    reply_from_row,
    request_hashes,
    seal_line,
    segment_path,
    synced_length,
    whole_length,
)
from wildtool.engine.record.reader import LoggedFailure, LoggedReply, LoggedRequest, LogReader, transcripts
from wildtool.engine.record.writer import HEADER, AppendLog, LogWriter, PendingRow
from wildtool.errors import InfraError, RecordError, StorageError
from wildtool.types import Address, Reply, Request, Transcript

SEALED = seal_line(b'{"row":"step"}', 42)


def test_a_line_is_sealed_with_its_checksum():
    body = b'{"row":"step","synced":42'
    assert body + b',"crc32":"%08x"}\n' % zlib.crc32(body) == SEALED
    assert (check_line(SEALED), is_as_written(SEALED), synced_length(SEALED)) == (42, True, 42)
    for end in (b"", b"\r\n"):
        assert check_line(SEALED[:-1] + end) == 42
    long = seal_line(b'{"row":"%s"}' % (b"x" * 500), 7)
    assert (check_line(long), json.loads(long)["synced"]) == (7, 7)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (SEALED.replace(b"step", b"stop"), "it does not have the checksum that it was written with"),
        (SEALED.replace(b":42,", b":43,"), "it does not have the checksum that it was written with"),
        (SEALED[:-3] + b"\n", "its end is damaged"),
        (b'{"a":1,"synced":x}\n', "its end is damaged"),
        (b'{"a":1,"crc32":"x"}\n', "its end is damaged"),
    ],
)
def test_a_damaged_line_is_known(line: bytes, problem: str):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        check_line(line)
    assert is_as_written(line) is False


def test_a_line_of_an_earlier_version_cannot_tell():
    assert (check_line(b'{"a":1}\n'), is_as_written(b'{"a":1}\n'), synced_length(b'{"a":1}\n')) == (
        0,
        None,
        0,
    )
    assert synced_length(SEALED.replace(b"step", b"stop")) == 42


@pytest.mark.parametrize(
    ("line", "torn"),
    [
        (b'{"a":1}\n', False),
        (b'{"a":1} \n', False),
        (b'{"a":\x00}\n', True),
        (b'{"a":1\n', True),
        (b'{"row":"step"}\n', False),
        (b'{"row":"st{"row":"step"}\n', True),
        (b'{"a":"{\\"row\\":\\"x"}\n', False),
        (b'{"a":[{"row":"x"}]}\n', False),
        (b'{"a":[{"row":"x"}]' + SEALED, True),
    ],
)
def test_a_line_that_a_loss_of_power_left(line: bytes, torn: bool):
    assert is_torn(line) is torn


def test_lost_lines_are_written_over_at_their_length():
    lost = LostLine(Path("r"), 3, 10, 60)
    assert filler_for(lost) == LOST_MARKER.ljust(59) + b"\n"
    edge = len(LOST_MARKER)
    assert filler_for(LostLine(Path("r"), 3, 10, edge)) == b" " * (edge - 1) + b"\n"
    assert filler_for(LostLine(Path("r"), 3, 10, edge + 1)) == LOST_MARKER + b"\n"
    assert str(lost) == (
        "r, line 3: not written whole before the machine stopped, so it is left out; what it held is requested again"
        " when the run is resumed"
    )


@pytest.mark.parametrize(
    ("content", "length"),
    [
        (b"", 0),
        (b'{"a":1}', 0),
        (b'{"a":1}\n', 8),
        (b'{"a":1}\n{"b"', 8),
        (b'{"a":1}\n{"b"\n', 8),
        (b'{"a":1}\n{"b":2}\n', 16),
        (b'{"b"\n', 0),
    ],
)
def test_a_file_ends_with_its_last_whole_line(content: bytes, length: int, monkeypatch: pytest.MonkeyPatch):
    assert whole_length(io.BytesIO(content)) == length
    monkeypatch.setattr(formats, "_BLOCK", 3)
    assert whole_length(io.BytesIO(content)) == length


def test_a_last_line_that_is_too_large_is_not_torn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_codec, "LINE_LIMITS", json_codec.JsonLimits(20, 5, 5))
    assert whole_length(io.BytesIO(b"1\n[1,2,3,4,5,6,7]\n")) == 18
    assert whole_length(io.BytesIO(b"1\n" + b"x" * 30 + b"\n")) == 33


def test_lines_are_counted_from_the_beginning(monkeypatch: pytest.MonkeyPatch):
    file = io.BytesIO(b"a\nbb\nccc\n")
    monkeypatch.setattr(formats, "_BLOCK", 2)
    assert [line_number_at(file, offset) for offset in (0, 2, 5, 9)] == [1, 2, 3, 4]


def test_segments_are_found_by_number_the_plain_one_first(tmp_path: Path):
    for name in (
        "record-0002.jsonl.gz",
        "record-0001.jsonl.gz",
        "record-0001.jsonl",
        "record-00010.jsonl",
        "record-1.jsonl",
        "x",
    ):
        (tmp_path / name).touch()
    assert find_segments(tmp_path) == [
        Segment(tmp_path / "record-0001.jsonl", 1, compressed=False),
        Segment(tmp_path / "record-0002.jsonl.gz", 2, compressed=True),
        Segment(tmp_path / "record-00010.jsonl", 10, compressed=False),
    ]
    assert segment_path(tmp_path, 7) == tmp_path / "record-0007.jsonl"
    assert segment_path(tmp_path, 12345).name == "record-12345.jsonl"


def packed(path: Path, content: bytes) -> Segment:
    path.write_bytes(gzip.compress(content))
    return Segment(path, 1, compressed=True)


def test_segments_are_opened_and_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    content = b'{"a":1}\n' * 3
    (tmp_path / "p").write_bytes(content + b"torn")
    plain, zipped = Segment(tmp_path / "p", 4, compressed=False), packed(tmp_path / "g", content)
    with open_segment(plain) as file:
        first = fingerprint_of(plain, file)
        assert fingerprint_of(plain, file, 8).length == 8
    digest = sha256(content).hexdigest()[:32]
    assert first == SegmentFingerprint(4, 24, digest, None)
    assert first.as_json() == {"number": 4, "length": 24, "end": digest, "packed": None}
    with open_segment(zipped) as file:
        assert file.read() == content
        second = fingerprint_of(zipped, file)
    trailer = zlib.crc32(content), 24
    assert (second, gzip_trailer(zipped)) == (SegmentFingerprint(1, 24, digest, trailer), trailer)
    assert second.as_json()["packed"] == [*trailer]
    monkeypatch.setattr(formats, "_FINGERPRINTED", 10)
    with open_segment(plain) as file:
        assert fingerprint_of(plain, file).end == sha256(content[-10:]).hexdigest()[:32]


def test_a_compressed_segment_that_is_damaged_or_no_record_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = gzip.compress(b"x" * 1000)
    (tmp_path / "g").write_bytes(whole[:-12])
    segment = Segment(tmp_path / "g", 1, compressed=True)
    with pytest.raises(
        RecordError, match=r"g: the compressed segment is damaged \(.*; restore it from a copy, or delete"
    ):
        open_segment(segment)
    (tmp_path / "g").write_bytes(whole)
    size = len(whole)
    monkeypatch.setattr(formats, "_ALWAYS_ALLOWED", 10)
    monkeypatch.setattr(formats, "_MAX_GROWTH", 1)
    with pytest.raises(RecordError) as raised:
        open_segment(segment)
    assert str(raised.value) == (
        f"{tmp_path}/g: expands to more than {size} bytes, 1 times its size, so it is no record; restore it from a copy"
    )
    monkeypatch.setattr(formats, "_ALWAYS_ALLOWED", 1000)
    with open_segment(segment) as file:
        assert len(file.read()) == 1000


REQUEST = Request([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], [{"t": 1}])


def test_requests_are_chains_of_hashes():
    hashes = request_hashes(REQUEST)
    tools = sha256(b'[{"t":1}]').hexdigest()[:32]
    first = sha256(tools.encode() + b'{"role":"user","content":"a"}').hexdigest()[:32]
    assert hashes == [tools, first, following_hash(first, REQUEST.messages[1])]
    links = new_nodes(REQUEST, hashes, set())
    assert links == [
        {"hash": tools, "tools": [{"t": 1}]},
        {"hash": first, "parent": tools, "message": REQUEST.messages[0]},
        {"hash": hashes[2], "parent": first, "message": REQUEST.messages[1]},
    ]
    assert new_nodes(REQUEST, hashes, {tools, first}) == links[2:]
    assert new_nodes(REQUEST, hashes, {first}) == [links[0], links[2]]
    assert rebuild_request(hashes[2], links) == {"messages": REQUEST.messages, "tools": [{"t": 1}]}
    assert rebuild_request(tools, links) == {"messages": [], "tools": [{"t": 1}]}
    with pytest.raises(KeyError):
        rebuild_request(hashes[2], links[1:])


def test_a_reply_is_recorded_in_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.time", lambda: 12.34567)
    reply = Reply(
        {"content": "a"},
        "raw",
        "stop",
        {"n": 1},
        1.23456789,
        2,
        ("c",),
        cached=True,
        batched=True,
        lost_usage={"l": 1},
    )
    columns = reply_columns(reply)
    plain = {
        "message": {"content": "a"},
        "raw": "raw",
        "finish_reason": "stop",
        "usage": {"n": 1},
        "latency_s": 1.234568,
        "attempts": 2,
        "changes": ["c"],
        "time": 12.346,
    }
    assert columns == {**plain, "cached": True, "batched": True, "lost_usage": {"l": 1}}
    assert reply_columns(Reply({"content": "a"}, "raw", "stop", {"n": 1}, 1.23456789, 2, ("c",))) == plain
    read = reply_from_row(columns)
    assert (read.latency_s, read.changes, read.cached, read.batched, read.lost_usage) == (
        1.234568,
        ("c",),
        True,
        True,
        {"l": 1},
    )
    assert reply_from_row(plain) == Reply({"content": "a"}, "raw", "stop", {"n": 1}, 1.234568, 2, ("c",))
    check_columns(columns, formats.REPLY_COLUMNS)
    with pytest.raises(TypeError, match=r"^column raw has the wrong type$"):
        check_columns({**columns, "raw": 5}, formats.REPLY_COLUMNS)
    with pytest.raises(TypeError, match="column changes"):
        check_columns({**columns, "changes": ["c", {}]}, formats.REPLY_COLUMNS)
    with pytest.raises(KeyError):
        check_columns({}, {"a": int})


# Writing ---------------------------------------------------------------------------------------------------


def test_a_file_of_lines_only_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(handle) or fsync(handle))
    path = tmp_path / "log"
    log = AppendLog(path, b'{"first":1}\n')
    assert (log.size, log.synced, len(synced)) == (12, 0, 1)
    log.append(b'{"a":1}\n')
    log.sync()
    log.sync()
    assert (log.size, log.synced, len(synced), path.read_bytes()) == (20, 20, 2, b'{"first":1}\n{"a":1}\n')
    assert log.is_deleted is False
    log.close()
    path.write_bytes(path.read_bytes() + b'{"torn')
    again = AppendLog(path, b'{"first":1}\n')
    assert (again.size, path.read_bytes()) == (20, b'{"first":1}\n{"a":1}\n')
    path.unlink()
    assert again.is_deleted is True
    again.close()
    (tmp_path / "empty").touch()
    AppendLog(tmp_path / "empty", b'{"first":1}\n').close()
    assert (tmp_path / "empty").read_bytes() == b'{"first":1}\n'
    with pytest.raises(FileExistsError):
        AppendLog(tmp_path / "empty", new=True)
    AppendLog(tmp_path / "new", new=True).close()
    assert (tmp_path / "new").read_bytes() == b""


def test_a_line_that_is_written_in_parts_is_whole_or_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log, write = AppendLog(tmp_path / "log", b"1\n"), os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:3]))
    log.append(b"2345678\n")
    assert (tmp_path / "log").read_bytes() == b"1\n2345678\n"
    left = [1]

    def full(handle: int, data: bytes) -> int:
        if not left:
            raise OSError(errno.ENOSPC, "full")
        left.pop()
        return write(handle, data[:3])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="full"):
        log.append(b"2345678\n")
    assert ((tmp_path / "log").read_bytes(), log.size) == (b"1\n2345678\n", 10)
    log.close()


def pending(step: int = 0, recorded: set[str] | None = None, again: bool = False) -> PendingRow:
    address = Address("i", 1, "u", step)
    return PendingRow(
        address, REQUEST, request_hashes(REQUEST), set() if recorded is None else recorded, again
    )


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a record, without seals and times."""
    lines = (folder / "record-0001.jsonl").read_bytes().splitlines()
    assert lines[0] + b"\n" == HEADER == b'{"row":"header","format":"wildtool record","version":1}\n'
    read = [json.loads(line) for line in lines[1:]]
    assert all(check_line(line + b"\n") == row["synced"] for line, row in zip(lines[1:], read, strict=True))
    return [
        {key: value for key, value in row.items() if key not in ("synced", "crc32", "time")} for row in read
    ]


def test_steps_errors_and_imports_are_written_with_what_is_new(tmp_path: Path):
    recorded: set[str] = set()
    hashes = request_hashes(REQUEST)
    with LogWriter(tmp_path) as writer:
        writer.step(pending(0, recorded), Reply({"content": "a"}))
        assert recorded == {*hashes}
        writer.sync()
        writer.error(
            pending(1, recorded, again=True), InfraError("network", "gone", attempts=3, usage={"n": 1})
        )
        other: set[str] = set()
        writer.error(pending(2, other), InfraError("timeout", "late"))
        assert other == {*hashes}
        writer.imported(Address("j", 0, "v", 0), Reply({"content": "b"}))
        writer.imported(Address("j", 0, "v", 1), "why")
    place = {"item": "i", "repeat": 1, "unit": "u"}
    columns = {
        name: value for name, value in reply_columns(Reply({"content": "a"})).items() if name != "time"
    }
    asked = {"role": "agent", "request": hashes[-1]}
    imported = {"item": "j", "repeat": 0, "unit": "v"}
    assert rows(tmp_path) == [
        {"row": "step", **place, "step": 0, **asked, **columns, "sends": new_nodes(REQUEST, hashes, set())},
        {
            "row": "error",
            **place,
            "step": 1,
            **asked,
            "again": True,
            "kind": "network",
            "message": "gone",
            "attempts": 3,
            "usage": {"n": 1},
            "sends": [],
        },
        {
            "row": "error",
            **place,
            "step": 2,
            **asked,
            "kind": "timeout",
            "message": "late",
            "attempts": 1,
            "sends": new_nodes(REQUEST, hashes, set()),
        },
        {
            "row": "step",
            **imported,
            "step": 0,
            "role": "agent",
            "request": None,
            **columns,
            "message": {"content": "b"},
            "sends": [],
        },
        {
            "row": "error",
            **imported,
            "step": 1,
            "role": "agent",
            "request": None,
            "kind": "imported",
            "message": "why",
            "attempts": 1,
            "sends": [],
        },
    ]
    synced = re.findall(rb'"synced":(\d+)', (tmp_path / "record-0001.jsonl").read_bytes())
    assert [int(each) > 0 for each in synced] == [False, True, True, True, True]
    with LogWriter(tmp_path) as writer:
        writer.imported(Address("k", 0, "v", 0), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["record-0001.jsonl"]


def test_a_new_segment_follows_a_compressed_one_and_lost_lines_are_written_over(tmp_path: Path):
    packed(tmp_path / "record-0003.jsonl.gz", HEADER)
    LogWriter(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record-0003.jsonl.gz", "record-0004.jsonl"]
    path = tmp_path / "record-0004.jsonl"
    path.write_bytes(HEADER + b"x" * 50 + b"\n")
    zipped = (tmp_path / "record-0003.jsonl.gz").read_bytes()
    lost = [LostLine(path, 2, len(HEADER), 51), LostLine(tmp_path / "record-0003.jsonl.gz", 1, 0, 10)]
    LogWriter(tmp_path, lost).close()
    assert path.read_bytes() == HEADER + LOST_MARKER.ljust(50) + b"\n"
    assert (tmp_path / "record-0003.jsonl.gz").read_bytes() == zipped
    with LogReader(tmp_path) as reader:
        assert (reader.has_lost_lines, reader.lost, reader.rows) == (True, [], 0)


def test_a_record_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    message = (
        f"{tmp_path}: the record could not be written (full); everything recorded before is intact. Make room, then run"
        " the same command again to continue."
    )
    writer = LogWriter(tmp_path)

    def full(self: AppendLog, *line: bytes) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(AppendLog, "append", full)
        patch.setattr(AppendLog, "sync", full)
        for action in (
            lambda: writer.imported(Address("i", 0, "u", 0), "x"),
            writer.sync,
            lambda: LogWriter(tmp_path),
        ):
            with pytest.raises(StorageError) as raised:
                action()
            assert str(raised.value) == message
    (tmp_path / "record-0001.jsonl").unlink()
    with pytest.raises(RecordError) as deleted:
        writer.close()
    assert str(deleted.value) == (
        f"{tmp_path}: its record was deleted during the run, so the run is stopped; restore the folder, or use another"
        " --out"
    )


# Reading ---------------------------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path: Path):
    recorded: set[str] = set()
    unfinished = Reply({"content": "half"}, finish_reason="abort", usage={"n": 5}, attempts=2)
    with LogWriter(tmp_path) as writer:
        writer.step(
            pending(0, recorded), Reply({"content": "a"}, usage={"n": 1}, lost_usage={"l": 2}, batched=True)
        )
        writer.error(pending(1, recorded), InfraError("network", "gone", attempts=3, usage={"n": 3}))
        writer.imported(Address("j", 0, "v", 0), Reply({"content": "b"}, cached=True))
        writer.imported(Address("j", 0, "v", 1), unfinished)
        writer.imported(Address("j", 0, "w", 1), Reply({"content": "c"}))
    with LogReader(tmp_path) as reader:
        assert ([*reader.jobs()], reader.rows, reader.torn, reader.lost, reader.has_lost_lines) == (
            [("i", 1), ("j", 0)],
            5,
            0,
            [],
            False,
        )
        log, other = reader.log("i", 1), reader.log("j", 0)
        name = request_hashes(REQUEST)[-1]
        first = log["u"][0]
        assert isinstance(first, LoggedReply)
        assert (first.role, first.request, first.reply.message) == ("agent", name, {"content": "a"})
        assert log["u"][1] == LoggedFailure("agent", name, "network", "gone", 3)
        half = other["v"][1]
        assert half == LoggedFailure(
            "agent", None, "reply unfinished", "the reply ended with the finish reason abort", 2, half.reply
        )
        assert reader.log("k", 0) == {}
        assert [*reader.billed_usages()] == [
            ("agent", {"n": 1}, True),
            ("agent", {"l": 2}, True),
            ("agent", {"n": 3}, False),
            ("agent", {}, False),
            ("agent", {"n": 5}, False),
            ("agent", {}, False),
            ("agent", {}, False),
            ("agent", {}, False),
        ]
        asked = {"messages": REQUEST.messages, "tools": REQUEST.tools}
        assert reader.request(Address("i", 1, "u", 1)) == asked
        by_step = reader.requests("i", 1)
        assert by_step["u", 0] == LoggedRequest([*REQUEST.messages], [{"t": 1}], by_step["u", 0].time)
        assert ([*by_step], reader.requests("j", 0)) == ([("u", 0), ("u", 1)], {})
        assert by_step["u", 0].time > 1e9
        for address in (Address("j", 0, "v", 0), Address("i", 1, "u", 5), Address("i", 1, "x", 0)):
            with pytest.raises(RecordError) as raised:
                reader.request(address)
            assert str(raised.value) == f"{address}: the record holds no request for this step"
        assert [print_.number for print_ in reader.fingerprints] == [1]
    failed = "network: gone"
    assert transcripts(log, scripted=True) == {"u": Transcript((first.reply,), failed, scripted=True)}
    assert {unit: (len(each.replies), each.infra_error) for unit, each in transcripts(other).items()} == {
        "v": (1, "reply unfinished: the reply ended with the finish reason abort"),
        "w": (0, None),
    }


def test_of_two_rows_of_a_step_the_first_reply_counts_unless_it_was_asked_again(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.error(pending(0), InfraError("network", "gone"))
        for text in ("a", "b"):
            writer.step(pending(0), Reply({"content": text}))
        writer.step(pending(1), Reply({"content": "c"}))
        writer.error(pending(1), InfraError("network", "gone"))
    with LogReader(tmp_path) as reader:
        texts = [entry.reply.message["content"] for entry in reader.log("i", 1)["u"].values() if entry.reply]
    assert texts == ["a", "c"]
    with LogWriter(tmp_path) as writer:
        writer.step(pending(1, again=True), Reply({"content": "d"}))
        writer.step(pending(0, again=True), Reply({"content": "e"}))
    with LogReader(tmp_path) as reader:
        texts = [entry.reply.message["content"] for entry in reader.log("i", 1)["u"].values() if entry.reply]
    assert texts == ["e"]


def test_a_missing_part_of_a_request_is_named(tmp_path: Path):
    hashes = request_hashes(REQUEST)
    with LogWriter(tmp_path) as writer:
        writer.step(pending(0, {hashes[1]}), Reply({"content": "a"}))
    with LogReader(tmp_path) as reader:
        for action, where in (
            (lambda: reader.request(Address("i", 1, "u", 0)), str(Address("i", 1, "u", 0))),
            (lambda: reader.requests("i", 1), "i, unit u, step 0"),
        ):
            with pytest.raises(RecordError) as raised:
                action()
            assert str(raised.value) == f"{where}: part '{hashes[1]}' of the request is missing in the record"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"row":"header","version":2}', "written by a newer wildtool"),
        (b'{"row":"other","version":1}', "written by a newer wildtool"),
        (b'{"row":"step","item":5,"repeat":0,"unit":"u"}', "item or repeat has the wrong type"),
        (b'{"row":"step","item":"i","repeat":"0","unit":"u"}', "item or repeat has the wrong type"),
        (b'{"version":1}', "'row'"),
        (b"x}", "unexpected character: line 1 column 1 (char 0)"),
    ],
)
def test_a_row_of_no_record_is_named_with_its_line(tmp_path: Path, line: bytes, problem: str):
    path = tmp_path / "record-0001.jsonl"
    path.write_bytes(HEADER + b"\n" + line + b"\n" + HEADER)
    with pytest.raises(RecordError) as raised:
        LogReader(tmp_path)
    start, _, rest = str(raised.value).partition("record (")
    assert start == f"{path}, line 3: damaged or not a row of a wildtool "
    if "char" not in problem:
        assert rest.startswith(f"{problem}); ")
    assert rest.endswith("; restore the file from a copy, or delete the line to have its step asked again")


def test_damage_is_an_error_of_its_item_or_of_all_where_that_is_asked_for(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        for name in ("i", 'odd "name"', "é"):
            writer.imported(Address(name, 12, "u", 0), Reply({"content": "good"}))
    path = tmp_path / "record-0001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"good", b"evil", 1))
    with LogReader(tmp_path) as reader:
        assert [*reader.jobs()] == [("i", 12), ('odd "name"', 12), ("é", 12)]
        assert reader.log("é", 12)["u"][0].reply
        with pytest.raises(RecordError, match=r"line 2: damaged or .*\(it does not have the checksum"):
            reader.log("i", 12)
    with pytest.raises(RecordError, match=r"line 2: damaged or .*\(it does not have the checksum"):
        LogReader(tmp_path, check_all=True)


def test_a_line_without_its_checksum_is_read_whole_where_all_are_to_be_checked(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.imported(Address("i", 0, "u", 0), Reply({"content": "a"}))
    path = tmp_path / "record-0001.jsonl"
    line = path.read_bytes().splitlines()[-1]
    garbled = line[: line.index(b',"sends":[')] + b',"sends":[' + b"[" * 200 + b"}\n"
    path.write_bytes(HEADER + garbled + line + b"\n")
    with pytest.raises(RecordError, match="line 2: damaged"):
        LogReader(tmp_path, check_all=True)


def test_a_torn_end_is_left_out_and_a_lost_line_named(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.imported(Address("i", 0, "u", 0), Reply({"content": "a"}))
    path = tmp_path / "record-0001.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"half')
    with LogReader(tmp_path) as reader:
        assert (reader.torn, reader.rows, reader.has_lost_lines) == (6, 1, False)
    hole = b'{"row":"step\0\0\0"}\n'
    path.write_bytes(whole + hole + HEADER)
    with LogReader(tmp_path) as reader:
        assert reader.lost == [LostLine(path, 3, len(whole), len(hole))]
        assert (reader.has_lost_lines, reader.rows) == (True, 1)
    later = seal_line(b'{"row":"step","item":"j","repeat":0,"unit":"u"}', len(whole) + 1)
    path.write_bytes(whole + hole + later)
    with pytest.raises(RecordError, match=r"line 3: damaged or .*\(a part of it is missing\)"):
        LogReader(tmp_path)
    exact = seal_line(b'{"row":"step","item":"j","repeat":0,"unit":"u"}', len(whole))
    path.write_bytes(whole + hole + exact)
    with LogReader(tmp_path) as reader:
        assert reader.rows == 2


def test_a_record_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "record-0001.jsonl").mkdir()
    with pytest.raises(RecordError) as raised:
        LogReader(tmp_path)
    assert str(raised.value) == f"{tmp_path}: the record cannot be read (Is a directory)"
