"""One generation is the record of a shard, and copies of runs follow it."""

import fcntl
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.memory_store import MemoryStore
from wildtool.engine.record.format import find_segments, segment_path
from wildtool.errors import RecordError
from wildtool.scale import copies
from wildtool.scale.claims import Claim, done_key, held_key, shard_states
from wildtool.scale.copies import copy_run, local_folder
from wildtool.scale.segments import (
    open_shard,
    read_segments,
    recover_spools,
    segment_key,
    send_lines,
    shard_folder,
    shard_records,
)
from wildtool.scale.store import JOB_KEY

HEADER = b'{"row":"header","format":"wildtool record","version":1}\n'


def lines(*names: str) -> bytes:
    return HEADER + b"".join(json.dumps({"line": name}).encode() + b"\n" for name in names)


def spool(folder: Path, data: bytes) -> Path:
    file = segment_path(folder, 1)
    file.write_bytes(data)
    return file


def content(store: MemoryStore) -> dict[int, bytes]:
    return {record.claim.shard: read_segments(store, record.segments) for record in shard_records(store)}


def test_what_is_new_becomes_the_next_segment_and_a_torn_line_waits(tmp_path: Path):
    store, claim = MemoryStore(), Claim(3, 1)
    file = spool(tmp_path, lines("a") + b'{"line": "to')
    sent = send_lines(store, claim, file, 0, 0)
    assert content(store) == {3: lines("a")}
    assert send_lines(store, claim, file, *sent) == sent
    file.write_bytes(lines("a", "b"))
    send_lines(store, claim, file, *sent)
    assert content(store) == {3: lines("a", "b")}
    assert [entry.key for entry in store.entries("record/")] == [segment_key(claim, n) for n in (1, 2)]


def test_a_lost_answer_of_the_store_sends_nothing_twice(tmp_path: Path):
    store, claim = MemoryStore(), Claim(0, 1)
    file = spool(tmp_path, lines("a"))
    send_lines(store, claim, file, 0, 0)
    file.write_bytes(lines("a", "b"))
    # This process does not know that the first segment arrived.
    send_lines(store, claim, file, 0, 0)
    assert content(store) == {0: lines("a", "b")}


def test_the_highest_generation_counts_unless_another_is_complete():
    store = MemoryStore()
    store.create(segment_key(Claim(0, 1), 1), lines("slow"))
    store.create(segment_key(Claim(0, 2), 1), lines("heir"))
    assert content(store) == {0: lines("heir")}
    store.create(done_key(0), json.dumps({"generation": 1}).encode())
    assert content(store) == {0: lines("slow")}


def test_a_generation_that_has_sent_nothing_takes_nothing_away():
    store = MemoryStore()
    store.create(segment_key(Claim(0, 1), 1), lines("a"))
    store.create(held_key(0, 2), b"{}")
    assert content(store) == {0: lines("a")}
    assert shard_states(store)[0].generation == 2


def test_segments_behind_a_gap_are_left_out():
    store = MemoryStore()
    for number, name in ((1, "a"), (3, "c")):
        store.create(segment_key(Claim(0, 1), number), name.encode())
    assert content(store) == {0: b"a"}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.booleans()), max_size=25))
def test_a_copy_is_the_record_however_it_came_about(steps: list[tuple[int, int, bool]]):
    import tempfile

    store, counts = MemoryStore(), dict[Claim, int]()
    store.put("run.json", b"{}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shard, generation, copied in steps:
            claim = Claim(shard, generation)
            counts[claim] = counts.get(claim, 0) + 1
            store.create(segment_key(claim, counts[claim]), f"{claim} {counts[claim]}\n".encode())
            if copied:
                copy_run(store, folder)
        copy_run(store, folder)
        copies = {int(file.name[7:11]) - 1: file.read_bytes() for file in folder.glob("record-*.jsonl")}
        assert copies == content(store)


def test_a_copy_that_was_cut_is_made_again(tmp_path: Path):
    store = MemoryStore()
    store.create(segment_key(Claim(0, 1), 1), lines("a", "b"))
    copy_run(store, tmp_path)
    segment_path(tmp_path, 1).write_bytes(lines("a")[:-3])
    copy_run(store, tmp_path)
    assert segment_path(tmp_path, 1).read_bytes() == lines("a", "b")


def test_a_copy_holds_nothing_of_an_earlier_run_at_the_same_address(tmp_path: Path):
    earlier, later, emptied = MemoryStore(), MemoryStore(), MemoryStore()
    for store, run, shards in ((earlier, "a", (0, 1)), (later, "b", (0,))):
        store.put(JOB_KEY, json.dumps({"run": run}).encode())
        for shard in shards:
            store.create(segment_key(Claim(shard, 1), 1), lines(run))
    copy_run(earlier, tmp_path)
    (tmp_path / "verdicts-official.parquet").touch()
    copy_run(later, tmp_path)
    names = {path.name for path in tmp_path.glob("[!.]*")}
    assert names == {segment_path(tmp_path, 1).name, "copied.json"}
    assert segment_path(tmp_path, 1).read_bytes() == lines("b")
    copy_run(emptied, tmp_path)
    assert find_segments(tmp_path) == []


def test_an_address_without_a_run_says_so(tmp_path: Path):
    with pytest.raises(RecordError, match="there is no run"):
        local_folder(Path((tmp_path / "empty").as_uri()))


def test_spools_of_dead_workers_are_sent_and_removed_but_none_that_is_locked_or_just_being_made(
    tmp_path: Path,
):
    store = MemoryStore()
    for name in ("dead", "alive", "young"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    (tmp_path / "removed" / "shares").mkdir(parents=True)
    for name, claim in (("dead", Claim(0, 1)), ("alive", Claim(1, 1))):
        open_shard(store, claim, tmp_path / name, items=1).close()
    with (tmp_path / "alive" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert recover_spools(store, tmp_path) == {"dead"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alive", "removed", "young"]
    assert content(store) == {0: HEADER}


def test_keys_and_sizes_of_a_record():
    claim = Claim(12, 3)
    assert (shard_folder(12), segment_key(claim, 1)) == ("record/0000012/", "record/0000012/0003-0001.jsonl")
    store = MemoryStore()
    for number, data in ((1, b"ab"), (2, b"c")):
        store.create(segment_key(claim, number), data)
    store.create(segment_key(Claim(3, 1), 1), b"x")
    store.put("record/0000012/other", b"")
    first, second = shard_records(store)
    assert (first.claim, second.claim, second.size, len(second.segments)) == (Claim(3, 1), claim, 3, 2)
    assert [record.claim for record in shard_records(store, shard_folder(3))] == [Claim(3, 1)]
    assert read_segments(store, second.segments) == b"abc"
    assert read_segments(MemoryStore(), second.segments) == b""


def test_a_shard_begins_with_what_earlier_generations_recorded(tmp_path: Path):
    store = MemoryStore()
    store.create(segment_key(Claim(0, 1), 1), HEADER)
    first = open_shard(store, Claim(1, 1), tmp_path, items=5)
    assert (first.claim, first.folder, first.remaining) == (
        Claim(1, 1),
        tmp_path / "shares" / "0000001-0001",
        5,
    )
    assert (first.failed, first.is_lost) == (False, False)
    shard = open_shard(store, Claim(0, 2), tmp_path, items=1)
    file = segment_path(shard.folder, 1)
    assert file.read_bytes() == HEADER
    assert shard.unsent == len(HEADER)
    shard.send(store)
    assert shard.unsent == 0
    assert content(store) == {0: HEADER}
    with file.open("ab") as more:
        more.write(b'{"line": "b"}\n')
    assert shard.unsent == len(b'{"line": "b"}\n')
    shard.sync()
    shard.close()
    shard.send(store)
    shard.sync()
    assert content(store) == {0: HEADER}, "a closed shard sends nothing"
    assert [entry.key for entry in store.entries(shard_folder(0))] == [
        segment_key(Claim(0, 1), 1),
        segment_key(Claim(0, 2), 1),
    ]
    first.close()


# Places of runs ---------------------------------------------------------------------------------------


def test_of_two_that_copy_one_run_the_second_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def copy(store: object, folder: Path) -> int:
        with (folder / ".copying").open("wb") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return 1

    monkeypatch.setattr(copies, "_copy_all", copy)
    copy_run(MemoryStore(), tmp_path / "run")
    with (tmp_path / "run" / ".copying").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
