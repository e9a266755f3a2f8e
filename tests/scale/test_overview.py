"""What people see of the workers of a run: counts that are those of the store, each reason once."""

import json
from pathlib import Path

from scale.memory_store import MemoryStore
from wildtool.engine.record.worker_list import read_workers
from wildtool.scale.claims import EXPIRY_S, ShareState, worker_key
from wildtool.scale.copies import copy_run
from wildtool.scale.overview import SharedProgress, worker_reports

REASON = "HTTP 401: no key"


def said(store: MemoryStore, name: str, **values: object) -> None:
    store.put(worker_key(name), json.dumps({"sitting": 2, "ended": False, **values}).encode())


def line_of(store: MemoryStore, progress: SharedProgress) -> str:
    states = {0: ShareState(1, complete=True), 1: ShareState(2), 2: ShareState(1)}
    progress.update(states, worker_reports(store, 2), "here.")
    return progress.text(None)


def test_the_line_counts_shares_leases_and_workers_of_this_start():
    store, progress = MemoryStore(), SharedProgress("m", 5)
    assert progress.text(None) == "m: no worker has reported yet"
    said(store, "dead", shares=[2], items=1, calls=2)
    store.now += EXPIRY_S + 1
    said(store, "a", shares=[1], items=70, calls=900)
    said(store, "b", shares=[], items=3, calls=1_000, ended=True)
    said(store, "of an earlier start", sitting=1, shares=[1], items=50, calls=50)
    line = line_of(store, progress)
    assert line == (
        "m: 1 of 5 shares done, 1 held · 1 workers, 1 lost · 74 items and 1,902 calls reported in this start"
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
