"""The record of a run: written line by line, read item by item, whole up to its last line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import TOOLS
from long import a_fiftieth_of
from test_json_codec import ANY_JSON, ANY_TEXT
from wildtool import json_codec
from wildtool.engine.record.format import find_segments, request_hashes
from wildtool.engine.record.reader import LoggedFailure, LoggedReply, LogReader, transcripts
from wildtool.engine.record.writer import LogWriter, PendingRow
from wildtool.errors import InfraError, RecordError, StorageError
from wildtool.types import Address, Message, Reply, Request


def sent(step: int = 0, unit: str = "u", item: str = "i", known: set[str] | None = None) -> PendingRow:
    history: list[Message] = [
        {"role": "user", "content": f"{item} {unit} {turn}"} for turn in range(step + 1)
    ]
    request = Request(history, TOOLS)
    return PendingRow(
        Address(item, 0, unit, step), request, request_hashes(request), set() if known is None else known
    )


def said(text: str) -> Reply:
    return Reply({"content": text}, raw=f"raw {text}")


def write(folder: Path, *texts: str) -> Path:
    """Records one unit with these replies and returns its segment."""
    with LogWriter(folder) as writer:
        known: set[str] = set()
        for step, text in enumerate(texts):
            writer.step(sent(step, known=known), said(text))
    return folder / "record-0001.jsonl"


def texts_in(folder: Path) -> list[str]:
    with LogReader(folder) as reader:
        found = transcripts(reader.log("i", 0))
    return [reply.message["content"] for reply in found["u"].replies] if found else []


def test_every_column_of_a_reply_is_read_back(tmp_path: Path):
    reply = Reply({"content": None, "x": [1]}, "raw", "stop", {"prompt_tokens": 3}, 0.5, 2, ("renamed",))
    with LogWriter(tmp_path) as writer:
        writer.step(sent(), reply)
    with LogReader(tmp_path) as reader:
        assert reader.log("i", 0) == {"u": {0: LoggedReply("agent", sent().hashes[-1], reply)}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=a_fiftieth_of(1_000))
@given(message=st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3), raw=ANY_TEXT, item=ANY_TEXT, unit=ANY_TEXT)
def test_any_reply_text_under_any_name_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, message: Message, raw: str, item: str, unit: str
):
    folder = tmp_path_factory.mktemp("record")
    message, raw, item, unit = json_codec.normalize([message, raw, item, unit])
    with LogWriter(folder) as writer:
        writer.step(sent(unit=unit, item=item), Reply(message, raw))
    with LogReader(folder) as reader:
        step = reader.log(item, 0)[unit][0]
    assert isinstance(step, LoggedReply)
    assert (step.reply.message, step.reply.raw) == (message, raw)


@pytest.mark.parametrize(
    "message", [{"content": None, "sends": [1]}, {"content": ',"sends":['}, {"a": 1, "sends": [], "b": {}}]
)
def test_a_reply_that_looks_like_the_end_of_its_row_is_read_whole(tmp_path: Path, message: Message):
    with LogWriter(tmp_path) as writer:
        writer.step(sent(), Reply(message, ',"sends":['))
    with LogReader(tmp_path) as reader:
        step = reader.log("i", 0)["u"][0]
    assert isinstance(step, LoggedReply)
    assert (step.reply.message, step.reply.raw) == (message, ',"sends":[')


def test_a_row_that_has_its_request_in_the_middle_is_read_too(tmp_path: Path):
    segment = write(tmp_path, "a", "b")
    header, *rows = map(json_codec.loads, segment.read_bytes().splitlines())
    for row in rows:
        # Only this version's own rows have a checksum, and their request at the end.
        del row["synced"], row["crc32"]
    before = [{**dict.fromkeys(("row", "item", "repeat", "unit", "step", "sends")), **row} for row in rows]
    segment.write_bytes(b"".join(json_codec.dumps(row) + b"\n" for row in [header, *before]))
    assert texts_in(tmp_path) == ["a", "b"]


def test_each_message_and_the_tools_are_stored_once_per_item(tmp_path: Path):
    segment = write(tmp_path, "a", "b", "c")
    text = segment.read_text()
    assert [text.count(f"i u {turn}") for turn in range(3)] == [1, 1, 1]
    assert text.count('"tools"') == 1


def test_a_request_is_rebuilt_exactly(tmp_path: Path):
    write(tmp_path, "a", "b", "c")
    with LogReader(tmp_path) as reader:
        request = reader.request(Address("i", 0, "u", 1))
    assert request == {"messages": list(sent(1).request.messages), "tools": TOOLS}


def test_a_torn_last_line_is_dropped_at_every_byte(tmp_path: Path):
    segment = write(tmp_path, "a", "b")
    whole = segment.read_bytes()
    second = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for cut in range(second, len(whole)):
        segment.write_bytes(whole[:cut])
        with LogReader(tmp_path) as reader:
            assert reader.torn == cut - second
        assert texts_in(tmp_path) == ["a"]


def test_a_torn_last_line_is_cut_off_before_the_record_goes_on(tmp_path: Path):
    segment = write(tmp_path, "a", "b")
    segment.write_bytes(segment.read_bytes()[:-9])
    with LogWriter(tmp_path) as writer:
        writer.step(sent(1), said("B"))
    assert texts_in(tmp_path) == ["a", "B"]


def test_a_last_line_with_holes_from_a_power_loss_is_dropped(tmp_path: Path):
    segment = write(tmp_path, "a")
    with segment.open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    assert texts_in(tmp_path) == ["a"]


def test_an_empty_segment_is_begun_anew(tmp_path: Path):
    (tmp_path / "record-0001.jsonl").touch()
    write(tmp_path, "a")
    assert texts_in(tmp_path) == ["a"]


def test_a_damaged_line_elsewhere_is_named(tmp_path: Path):
    segment = write(tmp_path, "a", "b", "c")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([*lines[:2], b'{"row":"st"ep"}\n', *lines[2:]]))
    with pytest.raises(RecordError, match=r"record-0001\.jsonl, line 3"):
        LogReader(tmp_path)


def test_damage_behind_the_address_is_named_when_the_item_is_read(tmp_path: Path):
    segment = write(tmp_path, "a", "b")
    segment.write_bytes(segment.read_bytes().replace(b'"raw":"raw a"', b'"raw":5', 1))
    with LogReader(tmp_path) as reader, pytest.raises(RecordError, match=r"line 2.*raw"):
        reader.log("i", 0)


def test_a_record_of_a_newer_format_is_refused(tmp_path: Path):
    segment = write(tmp_path, "a")
    segment.write_bytes(segment.read_bytes().replace(b'"version":1', b'"version":99', 1))
    with pytest.raises(RecordError, match="newer"):
        LogReader(tmp_path)


def test_a_compressed_segment_is_read_and_never_appended_to(tmp_path: Path):
    segment = write(tmp_path, "a")
    packed = segment.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(segment.read_bytes()))
    segment.unlink()
    with LogWriter(tmp_path) as writer:
        writer.step(sent(1), said("b"))
    assert (tmp_path / "record-0002.jsonl").exists()
    assert texts_in(tmp_path) == ["a", "b"]


def test_of_a_segment_that_lies_there_in_both_forms_the_plain_one_counts(tmp_path: Path):
    for number in range(1, 9):
        (tmp_path / f"record-{number:04d}.jsonl").touch()
        (tmp_path / f"record-{number:04d}.jsonl.gz").touch()
    found = find_segments(tmp_path)
    assert [(segment.number, segment.compressed) for segment in found] == [(n, False) for n in range(1, 9)]


def test_a_compressed_segment_made_to_fill_the_disk_is_refused(tmp_path: Path):
    with gzip.open(tmp_path / "record-0001.jsonl.gz", "wb", compresslevel=9) as packed:
        for _ in range(80):
            packed.write(bytes(1 << 20))
    with pytest.raises(RecordError, match="200 times its size"):
        LogReader(tmp_path)


def test_a_damaged_compressed_segment_is_named(tmp_path: Path):
    segment = write(tmp_path, "a")
    packed = gzip.compress(segment.read_bytes())
    segment.with_suffix(".jsonl.gz").write_bytes(packed[: len(packed) // 2])
    segment.unlink()
    with pytest.raises(RecordError, match=r"record-0001\.jsonl\.gz"):
        LogReader(tmp_path)


def test_segments_of_several_machines_are_read_as_one(tmp_path: Path):
    write(tmp_path, "a")
    (tmp_path / "record-0001.jsonl").rename(tmp_path / "record-0007.jsonl")
    other = tmp_path / "other"
    other.mkdir()
    with LogWriter(other) as writer:
        writer.step(sent(1), said("b"))
    (other / "record-0001.jsonl").rename(tmp_path / "record-0002.jsonl")
    assert texts_in(tmp_path) == ["a", "b"]


def test_a_later_reply_replaces_an_error(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.error(sent(), InfraError("http 500", "down", attempts=3))
        writer.step(sent(), said("a"))
    assert texts_in(tmp_path) == ["a"]


def test_an_error_never_replaces_a_reply(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.step(sent(), said("a"))
        writer.error(sent(), InfraError("http 500", "down"))
    assert texts_in(tmp_path) == ["a"]


def test_of_two_replies_to_one_step_the_first_counts(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.step(sent(), said("first"))
        writer.step(sent(), said("second"))
    assert texts_in(tmp_path) == ["first"]


def test_a_transcript_ends_at_the_first_failed_step(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.step(sent(0), said("a"))
        writer.error(sent(1), InfraError("http 500", "down", attempts=6))
    with LogReader(tmp_path) as reader:
        log = reader.log("i", 0)
    assert log["u"][1] == LoggedFailure("agent", sent(1).hashes[-1], "http 500", "down", 6)
    assert transcripts(log)["u"].infra_error == "http 500: down"


def test_nothing_is_recorded_of_an_unknown_item(tmp_path: Path):
    write(tmp_path, "a")
    with LogReader(tmp_path) as reader:
        assert reader.log("j", 0) == {}
        with pytest.raises(RecordError, match="no request"):
            reader.request(Address("j", 0, "u", 0))


def test_a_write_that_fails_midway_leaves_whole_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import os

    real_write = os.write

    def fill_up(fd: int, data: bytes) -> int:
        if len(data) > 20:
            return real_write(fd, data[:20])
        raise OSError(28, "No space left on device")

    with LogWriter(tmp_path) as writer:
        writer.step(sent(0), said("a"))
        before = (tmp_path / "record-0001.jsonl").read_bytes()
        calls = iter([fill_up, lambda fd, data: fill_up(fd, b"")])
        monkeypatch.setattr(os, "write", lambda fd, data: next(calls)(fd, data))
        with pytest.raises(StorageError, match="intact"):
            writer.step(sent(1), said("b"))
        monkeypatch.undo()
    assert (tmp_path / "record-0001.jsonl").read_bytes() == before
