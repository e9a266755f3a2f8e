"""What people see of the workers of a run: counts that are those of the store, each reason once."""

import json
from pathlib import Path

import pytest

from scale.memory_store import MemoryStore
from wildtool import redact
from wildtool.engine.record.format import segment_path
from wildtool.engine.record.worker_list import read_workers
from wildtool.scale.claims import EXPIRY_S, Claim, Claims, ShardState, done_key, worker_key
from wildtool.scale.copies import copy_run
from wildtool.scale.overview import SharedProgress, worker_reports
from wildtool.scale.segments import segment_key

REASON = "HTTP 401: no key"
CANARY = "sk-canary12345678"


def said(store: MemoryStore, name: str, **values: object) -> None:
    store.put(worker_key(name), json.dumps({"sitting": 2, "ended": False, **values}).encode())


def line_of(store: MemoryStore, progress: SharedProgress) -> str:
    states = {0: ShardState(1, complete=True), 1: ShardState(2), 2: ShardState(1)}
    progress.update(states, worker_reports(store, 2), "here.")
    return progress.text(None)


def test_the_line_counts_shards_leases_and_workers_of_this_start():
    store, progress = MemoryStore(), SharedProgress("m", 5)
    assert progress.text(None) == "m: no worker has reported yet"
    said(store, "dead", shares=[2], items=1, calls=2)
    store.now += EXPIRY_S + 1
    said(store, "a", shares=[1], items=70, calls=900)
    said(store, "b", shares=[], items=3, calls=1_000, ended=True)
    said(store, "of an earlier start", sitting=1, shares=[1], items=50, calls=50)
    line = line_of(store, progress)
    assert line == (
        "m: 1 of 5 shards done, 1 held · 1 workers, 1 lost · 74 items and 1,902 calls reported in this start"
    )
    assert len(progress.text(40)) == 40


def test_the_last_words_of_workers_elsewhere_are_said_once():
    store, progress = MemoryStore(), SharedProgress("m", 5)
    said(store, "there.1", ended=True, said=REASON)
    said(store, "there.2", ended=True, said=REASON)
    said(store, "there.3", said="a limit that it may still pass")
    said(store, "here.4", ended=True, said="printed by its process")
    line_of(store, progress)
    line_of(store, progress)
    assert progress.messages == [f"there.1: {REASON}"]


def test_a_report_is_read_again_only_when_there_is_a_newer_one():
    store = MemoryStore()
    said(store, "a", calls=1)
    said(store, "b", calls=1)
    first = worker_reports(store, 2)
    store.now += 1
    said(store, "b", calls=2)
    before = store.requests
    second = worker_reports(store, 2, first)
    assert store.requests - before == 2
    assert [report.content["calls"] for report in second.values()] == [1, 2]


def test_the_copy_of_a_run_lists_its_workers(tmp_path: Path):
    store = MemoryStore()
    store.put("job.json", b'{"sitting": 2}')
    said(store, "b", shares=[], items=3, calls=4, ended=True, said=REASON)
    said(store, "a", shares=[7, 9], items=70, calls=900)
    copy_run(store, tmp_path)
    first, second = read_workers(tmp_path)
    assert (first.name, first.last_sign, first.ended, first.shares) == ("a", store.now, False, [7, 9])
    assert (second.name, second.items, second.calls, second.last_words) == ("b", 3, 4, REASON)
    (tmp_path / "workers.json").write_bytes(b"[{}]")
    assert read_workers(tmp_path) == []


DAMAGED = [
    "[]",
    '{"sitting": 2, "items"',
    '{"sitting": 2, "shares": 3}',
    '{"sitting": 2, "shares": ["x"]}',
    '{"sitting": 2, "calls": "many"}',
    '{"sitting": 2, "items": 1e999}',
    '{"sitting": 2, "spent": [1]}',
    '{"sitting": 2, "held": {"cost": "x"}}',
    '{"sitting": 2, "waits": 1}',
]


@pytest.mark.parametrize("heartbeat", DAMAGED)
def test_a_damaged_heartbeat_is_left_out_and_what_was_said_before_it_stays(tmp_path: Path, heartbeat: str):
    store = MemoryStore()
    store.put("job.json", b'{"sitting": 2}')
    said(store, "a", calls=1)
    said(store, "b", calls=2, spent={"cost": 0.5})
    before = worker_reports(store, 2)
    store.now += 1
    store.put(worker_key("b"), heartbeat.encode())
    assert list(worker_reports(store, 2)) == ["a"]
    # What the worker spent is not forgotten, and it expires as if it had said nothing.
    assert worker_reports(store, 2, before)["b"] == before["b"]
    copy_run(store, tmp_path)
    assert [worker.name for worker in read_workers(tmp_path)] == ["a"]


@pytest.mark.parametrize("job", ["[]", "3", '{"sitting"'])
def test_a_run_whose_small_files_are_damaged_is_copied_all_the_same(tmp_path: Path, job: str):
    store = MemoryStore()
    store.put("job.json", job.encode())
    store.put("run.json", b"{}")
    for generation in (1, 2):
        store.put(segment_key(Claim(0, generation), 1), b'{"generation": %d}\n' % generation)
    store.put(done_key(0), b'{"generation": [1]}')
    for copied in ("[1]", '{"run": "", "0"', '{"run": "", "0": "x"}'):
        (tmp_path / "copied.json").write_text(copied)
        copy_run(store, tmp_path)
        assert segment_path(tmp_path, 1).read_text() == '{"generation": 2}\n'


def test_a_key_in_the_last_words_of_a_worker_reaches_neither_store_nor_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(redact, "_environment_read", False)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    store, words = MemoryStore(), f"the server ended (api_key='{CANARY}')"
    store.put("job.json", b'{"sitting": 2}')
    Claims(store, "a", 1, 2).beat({"sitting": 2, "ended": True, "said": words})
    assert CANARY.encode() not in (store.get(worker_key("a")) or b"")
    # As one wrote it that does not know the key.
    said(store, "b", ended=True, said=words)
    copy_run(store, tmp_path)
    assert [worker.last_words for worker in read_workers(tmp_path)] == [
        "the server ended (api_key='[key]')"
    ] * 2
    assert CANARY not in (tmp_path / "workers.json").read_text()
