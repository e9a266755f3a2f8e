"""What claims cost: 1,000 workers share 1,000,000 items through a store, with the real claiming code and a fake clock.

    python bench/claims.py [--workers 1000] [--items 1000000] [--shard-s 60]

Each request takes 50 ms, a list one for each 1,000 objects. Workers need between a third and three times the usual time
for a shard, and two in a hundred die in the middle of one. Prints requests for each item, the largest part of its time
that a worker waited for claims, how often a worker found no shard although one was free, and what the requests cost at
S3's list price. Not among them: what a controller sends, and reports of workers where limits are divided (docs/scale.md).

A million items take about a minute.
"""

import argparse
import heapq
import json
import random
from bisect import bisect_left, insort
from collections import Counter

from wildtool.scale.claims import BEAT_S, Claim, Claims
from wildtool.scale.job import SHARD_ITEMS
from wildtool.scale.store import ObjectStore, StoredObject
from wildtool.scale.worker import BUCKET_PACE

LATENCY_S = 0.05
PAGE = 1_000
DYING = 0.02
USD = {"write": 5e-6, "read": 0.4e-6}
"""Of one request; lists are billed as writes."""


class CountingStore(ObjectStore):
    """Objects in memory, by sorted keys."""

    url = "memory:///bench"

    def __init__(self) -> None:
        self.now = 0.0
        self.requests: Counter[str] = Counter()
        self._keys: list[str] = []
        self._objects: dict[str, tuple[bytes, StoredObject]] = {}

    @property
    def count(self) -> int:
        return sum(self.requests.values())

    def create(self, key: str, data: bytes) -> bool:
        if key in self._objects:
            self.requests["write"] += 1
            return False
        self.put(key, data)
        return True

    def put(self, key: str, data: bytes) -> None:
        self.requests["write"] += 1
        if key not in self._objects:
            insort(self._keys, key)
        self._objects[key] = data, StoredObject(key, len(data), self.now)

    def get(self, key: str) -> bytes | None:
        self.requests["read"] += 1
        return self._objects[key][0] if key in self._objects else None

    def entries(self, prefix: str) -> list[StoredObject]:
        keys = self._keys[bisect_left(self._keys, prefix) : bisect_left(self._keys, prefix + "\x7f")]
        self.requests["write"] += 1 + len(keys) // PAGE
        return [self._objects[key][1] for key in keys]

    def folders(self) -> list[str]:
        self.requests["write"] += 1
        return sorted({key.partition("/")[0] for key in self._keys if "/" in key})

    def below(self, name: str) -> "CountingStore":
        raise LookupError(f"{name}: claims use one store")


def simulate(workers: int, items: int, shard_s: float, seed: int = 2026) -> dict[str, float]:
    """The figures of one run."""
    chance, store = random.Random(seed), CountingStore()
    shards = -(-items // SHARD_ITEMS)
    claims = [Claims(store, f"w{n}", shards, 1, choice=random.Random(seed + n)) for n in range(workers)]
    waited, ended, finished = [0.0] * workers, [0.0] * workers, Counter[int]()
    polls = [BUCKET_PACE.poll_s] * workers
    holding: list[Claim | None] = [None] * workers
    events = [(chance.random() * 5, number, "next") for number in range(workers)]
    events += [(0.0, number, "beat") for number in range(workers)]
    heapq.heapify(events)
    dead: set[int] = set()
    taken, missed = 0, 0
    while events:
        now, number, kind = heapq.heappop(events)
        store.now = now
        if number in dead or (ended[number] and kind == "beat"):
            continue
        if kind == "beat":
            claims[number].beat({})
            heapq.heappush(events, (now + BEAT_S, number, "beat"))
            continue
        before = store.count
        if done := holding[number]:
            finished[done.shard] += claims[number].finish(done)
        claim = holding[number] = claims[number].claim()
        waiting = (store.count - before) * LATENCY_S
        waited[number] += waiting
        taken += claim is not None and claim.generation == 1
        if claim is None:
            missed += taken < shards
            if claims[number].finished:
                ended[number] = now
            else:
                heapq.heappush(events, (now + polls[number], number, "next"))
                polls[number] = min(2 * polls[number], BUCKET_PACE.longest_poll_s)
            continue
        polls[number] = BUCKET_PACE.poll_s
        if chance.random() < DYING / (shards / workers):
            dead.add(number)
            ended[number] = now
            continue
        length = shard_s * 3 ** chance.uniform(-1, 1)
        store.requests["write"] += 1 + int(length / BUCKET_PACE.send_s)
        heapq.heappush(events, (now + waiting + length, number, "next"))
    assert sorted(finished) == list(range(shards)) and set(finished.values()) == {1}
    return {
        "workers": workers,
        "items": items,
        "seconds_of_a_shard": shard_s,
        "requests_per_item": store.count / items,
        "largest_wait_percent": 100 * max(wait / end for wait, end in zip(waited, ended, strict=True) if end),
        "looks_in_vain": missed,
        "hours": max(ended) / 3600,
        "dead_workers": len(dead),
        "usd": sum(USD[kind] * count for kind, count in store.requests.items()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--shard-s", type=float, default=60.0)
    options = parser.parse_args()
    print(json.dumps(simulate(options.workers, options.items, options.shard_s), indent=1))
