"""One worker in this process, on a tiny benchmark: what it plays, sends, reports and leaves to others."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from scale.memory_store import MemoryStore
from scale.test_allowance import JOB
from wildtool.errors import CallError, UsageError
from wildtool.scale import worker as module
from wildtool.scale.claims import EXPIRY_S, Claim, Claims, done_key, ended_key, held_key, worker_key
from wildtool.scale.segments import open_shard, read_segments, shard_records
from wildtool.scale.servers import ModelServer, ServerError
from wildtool.scale.store import FolderStore, StoreError
from wildtool.scale.worker import BUCKET_PACE, FOLDER_PACE, ShardWorker, StorePace, WorkerResult, pace_of
from wildtool.types import Request

ITEMS, SHARD_ITEMS = 5, 2
CALLS_PER_ITEM = 4
"""Two units of two steps."""
REFUSED = CallError("http 400", "not this one", final=True)


class Run:
    """A run of five items in three shards, and a worker of it."""

    def __init__(
        self,
        folder: Path,
        answer: Callable[[Request], Any] = lambda request: "right",
        *,
        server: Any = None,
        concurrency: int = 3,
        share_items: int = SHARD_ITEMS,
        sitting: int = 3,
        store: MemoryStore | None = None,
        **options: Any,
    ) -> None:
        self.store, self.model = store or MemoryStore(), ScriptedModel(answer)
        plan = plan_of(EchoBenchmark(ITEMS), self.model, concurrency=concurrency, max_attempts=1)
        self.job = replace(
            JOB,
            options=options,
            items=ITEMS,
            share_items=share_items,
            sitting=sitting,
            controlled=bool(options),
        )
        spool = folder / "spool" / "me"
        (spool / "shares").mkdir(parents=True)
        self.shards = spool / "shares"
        self.worker = ShardWorker(
            self.store, self.job, plan, plan.read(), spool, None, cast(ModelServer | None, server)
        )

    def work(self) -> WorkerResult:
        return asyncio.run(self.worker.work())

    def states(self) -> dict[str, Any]:
        """What the store says of shards: keys with what their objects hold."""
        return {entry.key: self.store.get_json(entry.key) for entry in self.store.entries("share/")}

    def heartbeat(self, worker: str = "me") -> dict[str, Any]:
        return self.store.get_json(worker_key(worker))

    def rows(self) -> list[tuple[int, str, str]]:
        """Shard, item and kind of each row that the store has."""
        rows: list[tuple[int, str, str]] = []
        for record in shard_records(cast(Any, self.store)):
            for line in read_segments(cast(Any, self.store), record.segments).splitlines():
                row = json.loads(line)
                if "item" in row:
                    rows.append((record.claim.shard, row["item"], row["row"]))
        return rows


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pace = StorePace(send_s=0.001, poll_s=0.001, longest_poll_s=0.004, report_s=0.001)
    monkeypatch.setattr(module, "BUCKET_PACE", pace)
    monkeypatch.setattr(module, "STORE_WAIT_S", 0.0)
    monkeypatch.setattr(module, "WATCH_S", 0.001)
    yield


def held(*shards: int, worker: str = "me") -> dict[str, Any]:
    return {held_key(shard, 1): {"worker": worker} for shard in shards}


def done(*shards: int) -> dict[str, Any]:
    return {done_key(shard): {"generation": 1, "worker": "me"} for shard in shards}


def test_a_worker_plays_all_shards_and_leaves_no_file(tmp_path: Path):
    run = Run(tmp_path)
    assert run.work() == WorkerResult(items=5, calls=20, left=0, limit=None)
    assert run.states() == held(0, 1, 2) | done(0, 1, 2)
    assert run.heartbeat() == {
        "ended": True,
        "sitting": 3,
        "items": 5,
        "calls": 20,
        "tokens": 240,
        "cost": 0.0,
        "shares": [],
        "said": "",
    }
    assert sorted(run.rows()) == [
        (number // SHARD_ITEMS, f"i{number}", "step")
        for number in range(ITEMS)
        for _ in range(CALLS_PER_ITEM)
    ]
    assert list(run.shards.iterdir()) == []
    assert run.model.closed


def test_a_shard_with_a_failed_call_is_left_to_the_next_start(tmp_path: Path):
    def answer(request: Request) -> Any:
        return REFUSED if request.messages[0]["content"].startswith("i3/1") else "right"

    run = Run(tmp_path, answer)
    assert run.work() == WorkerResult(items=5, calls=18, left=1, limit=None)
    assert run.states() == held(0, 1, 2) | done(0, 2) | {ended_key(1, 1, 3): {}}
    kinds = [kind for shard, item, kind in run.rows() if (shard, item) == (1, "i3")]
    assert sorted(kinds) == ["error", "step", "step"]
    assert list(run.shards.iterdir()) == []


def test_what_ends_a_worker_is_said_and_its_shards_are_free(tmp_path: Path):
    def answer(request: Request) -> Any:
        return UsageError("no such thing") if len(run.model.asked) > 5 else "right"

    run = Run(tmp_path, answer, concurrency=1, share_items=ITEMS)
    with pytest.raises(UsageError, match=r"^no such thing$"):
        run.work()
    last = run.heartbeat()
    assert (last["ended"], last["calls"], last["said"]) == (True, 5, "no such thing")
    assert last["shares"] == []
    assert run.states() == held(0) | {ended_key(0, 1, 0): {}}
    assert len(run.rows()) == 5
    assert list(run.shards.iterdir()) == []
    assert run.model.closed


def test_what_a_store_does_not_take_stays_on_the_disk(tmp_path: Path):
    def answer(request: Request) -> Any:
        if len(run.model.asked) > 5:
            run.store.broken = True
            return UsageError("no such thing")
        return "right"

    run = Run(tmp_path, answer, concurrency=1, share_items=ITEMS)
    with pytest.raises(UsageError):
        run.work()
    run.store.broken = False
    assert run.states() == held(0)
    assert [folder.name for folder in run.shards.iterdir()] == ["0000000-0001"]
    assert run.heartbeat()["ended"] is False
    assert run.model.closed


def test_a_later_start_asks_only_for_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shards: list[Any] = []

    def open_noted(*words: Any) -> Any:
        shards.append(open_shard(*words))
        return shards[-1]

    def answer(request: Request) -> Any:
        return REFUSED if request.messages[0]["content"].startswith("i3/1") else "right"

    monkeypatch.setattr(module, "open_shard", open_noted)
    first = Run(tmp_path / "1", answer)
    second = Run(tmp_path / "2", store=first.store, sitting=4)
    assert first.work().left == 1
    assert second.work() == WorkerResult(items=2, calls=2, left=0, limit=None)
    assert [shard._closed for shard in shards] == [True] * 4
    assert first.states()[done_key(1)] == {"generation": 2, "worker": "me"}
    kinds = [kind for shard, item, kind in first.rows() if (shard, item) == (1, "i3")]
    assert sorted(kinds) == ["error", *["step"] * 4]


async def test_what_is_recorded_is_brought_to_the_disk_each_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run, log = Run(tmp_path), list[Any]()
    worker: Any = run.worker
    worker._held.shards = [SimpleNamespace(sync=lambda: log.append("sync"))]

    async def sleep(seconds: float) -> None:
        log.append(seconds)
        if len(log) > 4:
            raise KeyError

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    with pytest.raises(KeyError):
        await worker._sync()
    assert log == [1.0, "sync", 1.0, "sync", 1.0]


def test_a_worker_waits_for_shards_that_others_hold(tmp_path: Path):
    run = Run(tmp_path)
    other = Claims(run.store, "other", 3, 3)
    other.beat({})
    claims = [other.claim(), other.claim(), other.claim()]
    looks: list[int] = []
    claim = run.worker.claims.claim

    def look() -> Any:
        looks.append(len(looks))
        if len(looks) == 4:
            for each in claims:
                assert each is not None
                if each.shard == 1:
                    other.leave(each, for_anybody=True)
                else:
                    other.finish(each)
        return claim()

    run.worker.claims.claim = look  # pyright: ignore[reportAttributeAccessIssue]
    assert run.work() == WorkerResult(items=2, calls=8, left=0, limit=None)
    assert run.states()[done_key(1)] == {"generation": 2, "worker": "me"}


def test_a_worker_that_waits_looks_less_and_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run(tmp_path)
    waits: list[float] = []
    answers: list[Any] = [None] * 4 + [Claim(1, 1)] + [None] * 2

    def look() -> Any:
        if not answers:
            run.worker.claims.finished = True
            return None
        return answers.pop(0)

    def timeout(seconds: float) -> Any:
        if seconds > 1.0:  # of a call
            return contextlib.nullcontext()
        waits.append(seconds)
        raise TimeoutError

    run.worker.claims.claim = look  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(module.asyncio, "timeout", timeout)
    result = run.work()
    assert result.items == 2
    assert waits == [0.001, 0.002, 0.004, 0.004, 0.001, 0.002]


# Heartbeats --------------------------------------------------------------------------------------------


def opened(run: Run, *shards: int) -> list[Any]:
    """Shards that the worker holds."""
    made = [open_shard(cast(Any, run.store), Claim(shard, 1), run.shards.parent, 2) for shard in shards]
    for shard in made:
        run.worker._held.add(shard, [])  # pyright: ignore[reportPrivateUsage]
    return made


@pytest.mark.parametrize(
    ("late_s", "lost"), [(EXPIRY_S / 2, [False, False]), (EXPIRY_S / 2 + 1, [False, True])]
)
def test_a_worker_whose_heartbeat_is_late_looks_which_shards_it_has_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late_s: float, lost: list[bool]
):
    run = Run(tmp_path)
    worker: Any = run.worker
    shards = opened(run, 0, 1)
    run.store.put(held_key(1, 2), b"{}")
    now = [worker._beat_at + late_s]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    worker._beat({"x": 1})
    assert run.heartbeat() == {"x": 1}
    assert [shard.is_lost for shard in shards] == lost
    run.store.put(held_key(0, 2), b"{}")
    now[0] += EXPIRY_S / 2
    worker._beat({"x": 2})
    assert (run.heartbeat(), [shard.is_lost for shard in shards]) == ({"x": 2}, lost)
    worker._say_end({"x": 3})
    worker._beat({"x": 4})
    assert run.heartbeat() == {"x": 3}


# What is sent ------------------------------------------------------------------------------------------


async def test_what_is_new_is_sent_from_time_to_time_and_much_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BUCKET_PACE", StorePace(3.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(module, "SEND_BYTES", 100)
    run = Run(tmp_path)
    sent: list[Any] = []
    now = [50.0]

    def shard(name: str, unsent: int, remaining: int = 1) -> Any:
        return SimpleNamespace(
            unsent=unsent,
            remaining=remaining,
            send=lambda store: sent.append((now[0], name, store is run.store)),
        )

    worker: Any = run.worker
    worker._held.shards = [shard("little", 99), shard("much", 100), shard("over", 500, remaining=0)]

    async def sleep(seconds: float) -> None:
        assert seconds == 1.0
        now[0] += seconds
        if now[0] > 57.0:
            raise KeyError

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    with pytest.raises(KeyError):
        await worker._send()
    assert sent == [
        (51.0, "much", True),
        (52.0, "much", True),
        (53.0, "little", True),
        (53.0, "much", True),
        (54.0, "much", True),
        (55.0, "much", True),
        (56.0, "little", True),
        (56.0, "much", True),
        (57.0, "much", True),
    ]


async def test_a_store_is_asked_again_until_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    worker: Any = Run(tmp_path).worker
    now, waits = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += 300.0

    def fail() -> str:
        if len(waits) < failures:
            raise StoreError(f"away {len(waits)}")
        return "answer"

    monkeypatch.setattr(module, "STORE_WAIT_S", 7.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    for failures in (0, 1, 3):
        waits.clear()
        assert await worker._patiently(fail) == "answer"
        assert waits == [7.0] * failures
    waits.clear()
    failures = 4
    with pytest.raises(StoreError, match=r"^away 3$"):
        await worker._patiently(fail)
    failures = 100
    await worker._sometimes(fail)
    with pytest.raises(ZeroDivisionError):
        await worker._sometimes(lambda: 1 / 0)


def test_each_kind_of_store_has_its_pace(tmp_path: Path):
    assert pace_of(FolderStore(tmp_path)) == FOLDER_PACE
    assert pace_of(MemoryStore()) == module.BUCKET_PACE
    assert BUCKET_PACE.send_s == 30.0, "what a lost machine repeats at most"


# A server of its own -----------------------------------------------------------------------------------


class Server:
    """A model server that has ended from some look on."""

    def __init__(self, last: int) -> None:
        self.last, self.looks = last, 0

    def check(self) -> None:
        self.looks += 1
        if self.looks > self.last:
            raise ServerError("the server ended")


@pytest.mark.parametrize("last", [1, 1_000])
def test_a_call_that_fails_since_the_server_ended_is_no_failure_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
):
    def answer(request: Request) -> Any:
        return REFUSED if len(run.model.asked) == 4 else "right"

    monkeypatch.setattr(module, "WATCH_S", 1_000.0)
    server = Server(last)
    run = Run(tmp_path, answer, server=server, concurrency=1)
    if last == 1:
        with pytest.raises(ServerError, match="the server ended"):
            run.work()
        assert run.heartbeat()["said"] == "the server ended"
        assert not any(key.endswith(".0003") for key in run.states()), "others shall play the rest"
    else:
        assert run.work().left == 1
    assert server.looks == 2
