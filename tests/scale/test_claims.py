"""Exactly one worker holds a shard at a time, and no worker's clock matters."""

import random
from collections import Counter
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from long import a_fiftieth_of
from scale.memory_store import MemoryStore
from wildtool.scale import claims as module
from wildtool.scale.claims import (
    EXPIRY_S,
    RELEASED,
    Claim,
    Claims,
    ended_key,
    held_key,
    shard_states,
)

SHARDS = 5


def claims(store: MemoryStore, worker: str, shards: int = SHARDS, sitting: int = 1) -> Claims:
    made = Claims(store, worker, shards, sitting, choice=random.Random(worker))
    made.beat({})
    return made


@given(order=st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_workers_in_any_order_never_hold_the_same_shard(order: list[int]):
    store = MemoryStore()
    workers = [claims(store, f"w{number}") for number in range(4)]
    taken = [claim for number in order if (claim := workers[number].claim())]
    assert len(set(taken)) == len(taken)
    assert {claim.generation for claim in taken} <= {1}
    assert len(taken) == min(len(order), SHARDS)


def test_a_dead_workers_shard_goes_to_exactly_one_other():
    store = MemoryStore()
    first = claims(store, "first", shards=1).claim()
    store.now += EXPIRY_S + 1
    others = [claims(store, name, shards=1) for name in ("a", "b", "c")]
    assert [other.claim() for other in others].count(None) == 2
    assert shard_states(store)[0].generation == 2
    assert first == Claim(0, 1)


def test_a_worker_that_beats_keeps_its_shard():
    store = MemoryStore()
    holder, other = claims(store, "holder", shards=1), claims(store, "other", shards=1)
    assert holder.claim()
    for _ in range(10):
        store.now += EXPIRY_S - 1
        holder.beat({})
        other.beat({})
        assert other.claim() is None


@given(skew=st.floats(-3600, 3600))
def test_a_clock_that_is_wrong_breaks_no_lease(skew: float):
    # A worker's own clock is never asked: all that it can do is beat too late for the store.
    store = MemoryStore()
    holder, other = claims(store, "holder", shards=1), claims(store, "other", shards=1)
    assert holder.claim()
    store.now += 60
    other.beat({"time": store.now + skew})
    assert other.claim() is None


def test_a_worker_known_to_be_dead_is_not_waited_for():
    store = MemoryStore()
    claims(store, "killed", shards=1).claim()
    heir = claims(store, "heir", shards=1)
    assert heir.claim() is None
    heir.dead.add("killed")
    assert heir.claim() == Claim(0, 2)


def test_shards_of_workers_that_are_dead_for_sure_are_released_for_anybody():
    store = MemoryStore()
    killed, alive = claims(store, "killed", shards=3), claims(store, "alive", shards=3)
    done, begun, kept = killed.claim(), killed.claim(), alive.claim()
    assert done and begun and kept
    killed.finish(done)
    before = [entry.key for entry in store.entries("share/")]
    heir = claims(store, "heir", shards=3)
    heir.release(set())
    heir.release({"killed", ""})
    released = ended_key(begun.shard, begun.generation, RELEASED)
    assert [entry.key for entry in store.entries("share/")] == sorted([*before, released])
    heir.release({"killed"})
    third = claims(store, "third", shards=3)
    assert third.claim() == Claim(begun.shard, 2)
    assert third.claim() is None


def test_a_lease_whose_answer_was_lost_is_taken_over_by_its_own_worker():
    store = MemoryStore()
    worker = claims(store, "worker", shards=1)
    store.create(held_key(0, 1), b'{"worker": "worker"}')
    assert worker.claim() == Claim(0, 2)
    assert worker.claim() is None


def test_one_of_many_leases_whose_worker_is_dead_is_found():
    store = MemoryStore()
    holders = [claims(store, f"w{number}", shards=30) for number in range(30)]
    for holder in holders:
        assert holder.claim()
    store.now += EXPIRY_S + 1
    for holder in holders[1:]:
        holder.beat({})
    idle = claims(store, "idle", shards=30)
    found = [claim for _ in range(30) if (claim := idle.claim())]
    assert [claim.generation for claim in found] == [2]


def test_a_slow_worker_that_returns_sees_that_its_shard_is_lost_and_does_no_harm():
    store = MemoryStore()
    slow, heir = claims(store, "slow", shards=1), claims(store, "heir", shards=1)
    claim = slow.claim()
    assert claim and not slow.is_lost(claim)
    store.now += EXPIRY_S + 1
    heir.beat({})
    taken = heir.claim()
    assert taken == Claim(0, 2)
    assert slow.is_lost(claim)
    assert heir.finish(taken)
    assert not slow.finish(claim)


def test_a_shard_left_for_anybody_is_continued_now_and_one_that_failed_only_by_the_next_start():
    store = MemoryStore()
    worker, other = claims(store, "worker", shards=2), claims(store, "other", shards=2)
    first, second = worker.claim(), worker.claim()
    assert first and second
    worker.leave(first, for_anybody=True)
    worker.leave(second, for_anybody=False)
    assert other.claim() == Claim(first.shard, 2)
    assert other.claim() is None
    later = claims(store, "later", shards=2, sitting=2)
    assert later.claim() == Claim(second.shard, 2)


def test_a_run_is_finished_when_all_shards_are_done_or_left():
    store = MemoryStore()
    worker = claims(store, "worker", shards=2)
    for complete in (True, False):
        claim = worker.claim()
        assert claim and not worker.finished
        if complete:
            worker.finish(claim)
        else:
            worker.leave(claim, for_anybody=False)
    assert worker.claim() is None
    assert worker.finished


def test_shards_of_many_blocks_are_all_done_once_with_few_requests(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BLOCK_SHARDS", 20)
    store, chance, shards = MemoryStore(), random.Random(1), 400
    workers = [claims(store, f"w{number}", shards) for number in range(25)]
    held: dict[str, Claim] = {}
    finished = Counter[int]()
    while working := [worker for worker in workers if not worker.finished]:
        worker = chance.choice(working)
        if worker.worker in held:
            claim = held.pop(worker.worker)
            finished[claim.shard] += worker.finish(claim)
        elif claim := worker.claim():
            held[worker.worker] = claim
    assert finished == Counter(range(shards))
    assert {claim.generation for claim in held.values()} <= {1}
    # Two of them say that a shard is held and done. A list of all shards for each claim would take some hundred objects.
    assert store.requests < 8 * shards
    assert claims(store, "late", shards).claim() is None


def test_a_shard_that_is_free_again_is_found_in_a_block_whose_shards_were_all_taken(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "BLOCK_SHARDS", 2)
    store = MemoryStore()
    worker, other = claims(store, "worker"), claims(store, "other")
    taken = [claim for _ in range(SHARDS) if (claim := worker.claim())]
    assert other.claim() is None and not other.finished
    worker.leave(taken[0], for_anybody=True)
    later = [claim for _ in range(20) if (claim := other.claim())]
    assert later == [Claim(taken[0].shard, 2)]


class ManyWorkers(RuleBasedStateMachine):
    """Workers claim, finish, leave, die and return in any order."""

    block_shards: ClassVar[int] = module.BLOCK_SHARDS

    def __init__(self) -> None:
        super().__init__()
        module.BLOCK_SHARDS = self.block_shards
        self.store = MemoryStore()
        self.workers = [claims(self.store, f"w{number}", shards=3) for number in range(3)]
        self.asleep: set[int] = set()
        self.held: dict[int, list[Claim]] = {number: [] for number in range(3)}
        self.finished: Counter[int] = Counter()
        self.generations: set[Claim] = set()

    @rule(number=st.integers(0, 2))
    def claim(self, number: int):
        if number in self.asleep:
            return
        self.workers[number].beat({})
        if claim := self.workers[number].claim():
            assert claim not in self.generations, "one generation, two winners"
            self.generations.add(claim)
            self.held[number].append(claim)

    @rule(number=st.integers(0, 2), done=st.booleans())
    def end(self, number: int, done: bool):
        if self.held[number]:
            claim = self.held[number].pop()
            if done:
                self.finished[claim.shard] += self.workers[number].finish(claim)
            else:
                self.workers[number].leave(claim, for_anybody=True)

    @rule(number=st.integers(0, 2))
    def fall_asleep_or_return(self, number: int):
        self.asleep ^= {number}

    @rule(seconds=st.floats(1, 3 * EXPIRY_S))
    def wait(self, seconds: float):
        for number in {0, 1, 2} - self.asleep:
            self.workers[number].beat({})
        self.store.now += seconds

    @invariant()
    def each_shard_is_finished_at_most_once(self):
        assert all(count == 1 for count in self.finished.values() if count)

    @invariant()
    def generations_have_no_gap(self):
        for shard in range(3):
            generations = sorted(claim.generation for claim in self.generations if claim.shard == shard)
            assert generations == list(range(1, len(generations) + 1))

    def teardown(self) -> None:
        module.BLOCK_SHARDS = ManyWorkers.block_shards


class ManyWorkersAndBlocks(ManyWorkers):
    """The same where three shards lie in two blocks."""

    block_shards = 2


for machine in (ManyWorkers, ManyWorkersAndBlocks):
    machine.TestCase.settings = settings(
        max_examples=a_fiftieth_of(1_000), stateful_step_count=40, deadline=None
    )
TestManyWorkers = ManyWorkers.TestCase
TestManyWorkersAndBlocks = ManyWorkersAndBlocks.TestCase
