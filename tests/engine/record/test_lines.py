"""Lines of a record, byte by byte: sealed, damaged, torn, lost, and how they are read and written."""

import errno
import gzip
import io
import json
import os
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from wildtool import json_codec
from wildtool.engine.record import format as formats
from wildtool.engine.record.format import (
    LostLine,
    Segment,
    SegmentFingerprint,
    check_line,
    fingerprint_of,
    gzip_trailer,
    is_torn,
    open_segment,
    request_hashes,
    seal_line,
    whole_length,
)
from wildtool.engine.record.reader import LoggedFailure, LoggedReply, LoggedRequest, LogReader, transcripts
from wildtool.engine.record.writer import HEADER, AppendLog, LogWriter, PendingRow
from wildtool.errors import InfraError, RecordError, StorageError
from wildtool.types import Address, Reply, Request, Transcript

SEALED = seal_line(b'{"row":"step"}', 42)


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


def test_a_last_line_that_is_too_large_is_not_torn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_codec, "LINE_LIMITS", json_codec.JsonLimits(20, 5, 5))
    assert whole_length(io.BytesIO(b"1\n[1,2,3,4,5,6,7]\n")) == 18
    assert whole_length(io.BytesIO(b"1\n" + b"x" * 30 + b"\n")) == 33


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


REQUEST = Request([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], [{"t": 1}])


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
