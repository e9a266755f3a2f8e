"""Who works on which shard of a run. Nothing here knows a model, a record or a clock of this machine: claims need a store
that creates an object only if it is absent, and its times.

Stores, heartbeats, `job.json` and `workers.json` call a shard a *share*, as they always did.
"""

import json
import random
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from wildtool.redact import redacted_json
from wildtool.scale.store import ObjectStore

EXPIRY_S = 90.0
"""Seconds without a heartbeat, on the store's clock, after which a worker is taken for dead."""
BEAT_S = 30.0
"""Seconds between two heartbeats."""
MAX_CONFLICTS = 2
"""Claims that fail in a row before the shards are listed again."""
LISTS_PER_CLAIM = 3
"""How often shards are listed for one claim: where as many are free as workers look, each soon has one."""
MAX_LOOKS = 2
"""Leases at most whose holder is looked up at a time."""
BLOCK_SHARDS = 256
"""Shards that are listed together: with two or three objects each they fit into the one answer of a bucket."""
RELEASED = 0
"""Start of the command on which a shard ended that anybody may continue at once."""
_SHARD_KEY = re.compile(r"share/\d{5,}/(\d{7,})\.(?:(done)|(\d{4,})\.(?:(held)|ended\.(\d{4,})))")
_BLOCK_KEY = re.compile(r"block/(\d{5,})\.(full|settled)\.(\d{4,})")
BlockMark = Literal["full", "settled"]


def block_folder(block: int) -> str:
    """Where the objects of some neighbouring shards are, which are listed together."""
    return f"share/{block:05d}/"


def block_key(block: int, mark: BlockMark, sitting: int) -> str:
    """The object that says of a block, in one start of the command, that all its shards were taken once, or are
    settled."""
    return f"block/{block:05d}.{mark}.{sitting:04d}"


def done_key(shard: int) -> str:
    """The object that says that a shard is complete."""
    return f"{block_folder(shard // BLOCK_SHARDS)}{shard:07d}.done"


def held_key(shard: int, generation: int) -> str:
    """The object that says who holds a shard."""
    return f"{block_folder(shard // BLOCK_SHARDS)}{shard:07d}.{generation:04d}.held"


def ended_key(shard: int, generation: int, sitting: int) -> str:
    """The object that says that a shard was left with steps missing."""
    return f"{block_folder(shard // BLOCK_SHARDS)}{shard:07d}.{generation:04d}.ended.{sitting:04d}"


def worker_key(worker: str) -> str:
    """The heartbeat of a worker."""
    return f"worker/{worker}"


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """A shard that a worker holds."""

    shard: int
    generation: int
    """1 for the first that holds it; one more for each that takes it over."""


@dataclass(slots=True)
class ShardState:
    """What a store says of one shard."""

    generation: int = 0
    """The highest that was ever held; 0 for none."""
    complete: bool = False
    ended: dict[int, int] = field(default_factory=dict[int, int])
    """By generation the start of the command in which it ended with steps missing."""

    def is_settled(self, sitting: int) -> bool:
        """Whether nothing is to be done about it in this start of the command."""
        ended = self.ended.get(self.generation)
        return self.complete or (ended is not None and RELEASED < sitting <= ended)

    def is_free(self, sitting: int) -> bool:
        """Whether anybody may claim it."""
        return not self.is_settled(sitting) and (self.generation == 0 or self.generation in self.ended)


def shard_states(store: ObjectStore, folder: str = "share/") -> dict[int, ShardState]:
    """The shards of which a store knows anything, in order. Args: folder: of one block; of all if not given."""
    states: dict[int, ShardState] = {}
    for entry in store.entries(folder):
        if match := _SHARD_KEY.fullmatch(entry.key):
            state = states.setdefault(int(match[1]), ShardState())
            if match[2]:
                state.complete = True
                continue
            generation = int(match[3])
            state.generation = max(state.generation, generation)
            if match[5]:
                state.ended[generation] = max(state.ended.get(generation, 0), int(match[5]))
    return states


class Claims:
    """The claims of one worker. Not safe in several threads at once."""

    def __init__(
        self,
        store: ObjectStore,
        worker: str,
        shards: int,
        sitting: int,
        *,
        choice: random.Random | None = None,
    ) -> None:
        """
        Args:
            worker: its name, which no other has.
            shards: how many there are.
            sitting: number of the start of the command, from 1.
            choice: draws the shard among free ones.
        """
        self.worker = worker
        self.dead: set[str] = set()
        """Workers that are dead for sure, whatever their heartbeats say."""
        self.finished = False
        """Whether every shard was done, or left in this start of the command, when last looked at."""
        self._store = store
        self._shards = shards
        self._sitting = sitting
        self._choice = choice or random.Random()
        self._blocks = -(-shards // BLOCK_SHARDS)
        self._block = 0
        """The one whose shards were listed last."""
        self._is_open = False
        """Whether it had shards that nobody had taken yet."""
        self._states: dict[int, ShardState] = {}
        """Of the shards of that block."""
        self._free: list[int] = []
        """Those that were free then and were not tried since."""
        self._own: set[Claim] = set()
        self._holders: dict[Claim, str] = {}

    def beat(self, report: dict[str, Any]) -> None:
        """Shows that this worker is alive. Args: report: what it has to say, as JSON."""
        # The last words of a server may repeat its environment.
        self._store.put(worker_key(self.worker), json.dumps(redacted_json(report)).encode())

    def claim(self) -> Claim | None:
        """Takes a shard that is free, or whose worker is dead; None where there is none now."""
        for _ in range(LISTS_PER_CLAIM):
            if claim := self._claim_free():
                return claim
            # What was free is taken; but other shards may be free, or free again.
            self._look()
            if not self._free:
                break
        for claim in [] if self.finished else self._abandoned():
            if self._take(claim):
                return claim
        return None

    def finish(self, claim: Claim) -> bool:
        """Says that a shard is complete. Whether this worker was the first to say so."""
        return self._store.create(
            done_key(claim.shard),
            json.dumps({"generation": claim.generation, "worker": self.worker}).encode(),
        )

    def leave(self, claim: Claim, *, for_anybody: bool) -> None:
        """Gives up a shard with steps missing.

        Args:
            for_anybody: whether another worker may continue it now, and not only the next start of the command.
        """
        sitting = RELEASED if for_anybody else self._sitting
        self._store.put(ended_key(claim.shard, claim.generation, sitting), b"{}")

    def release(self, dead: Collection[str]) -> None:
        """Gives up the shards of workers that are dead for sure, for anybody."""
        for shard, state in shard_states(self._store).items() if dead else ():
            claim = Claim(shard, state.generation)
            is_held = not state.complete and state.generation not in state.ended
            if is_held and self._holder(claim) in dead:
                self.leave(claim, for_anybody=True)

    def is_lost(self, claim: Claim) -> bool:
        """Whether another worker has taken a shard over."""
        return self._store.get(held_key(claim.shard, claim.generation + 1)) is not None

    def _claim_free(self) -> Claim | None:
        conflicts = 0
        while self._free and conflicts < MAX_CONFLICTS:
            shard = self._free.pop(self._choice.randrange(len(self._free)))
            claim = Claim(shard, self._states.get(shard, ShardState()).generation + 1)
            if self._take(claim):
                return claim
            conflicts += 1
        return None

    def _take(self, claim: Claim) -> bool:
        is_ours = self._store.create(
            held_key(claim.shard, claim.generation), json.dumps({"worker": self.worker}).encode()
        )
        # Whoever holds it now: it is free no more.
        self._states[claim.shard] = ShardState(claim.generation)
        if is_ours:
            self._own.add(claim)
            self._holders[claim] = self.worker
        return is_ours

    def _look(self) -> None:
        """Lists the shards of a block: of one with free shards if there is any, else of one where others hold some."""
        if self._is_open and self._list_block() and self._free:
            return
        marks = self._marks()
        pending = [block for block in range(self._blocks) if block not in marks["settled"]]
        while pending:
            open_blocks = [block for block in pending if block not in marks["full"]]
            self._block = self._choice.choice(open_blocks or pending)
            if self._list_block():
                self._is_open = bool(self._free and open_blocks)
                if self._free or not open_blocks:
                    return
                self._mark(marks, "full")
            else:
                self._mark(marks, "settled")
                pending.remove(self._block)
        self._free, self._is_open, self.finished = [], False, True

    def _list_block(self) -> bool:
        """Whether anything is left to do in the block."""
        first = self._block * BLOCK_SHARDS
        shards = range(first, min(first + BLOCK_SHARDS, self._shards))
        states = shard_states(self._store, block_folder(self._block))
        self._states = states
        self._free = [
            shard for shard in shards if (state := states.get(shard)) is None or state.is_free(self._sitting)
        ]
        return any(shard not in states or not states[shard].is_settled(self._sitting) for shard in shards)

    def _marks(self) -> dict[BlockMark, set[int]]:
        """The blocks that are marked. One block alone is never marked."""
        marks: dict[BlockMark, set[int]] = {"full": set(), "settled": set()}
        for entry in self._store.entries("block/") if self._blocks > 1 else ():
            match = _BLOCK_KEY.fullmatch(entry.key)
            if match and int(match[3]) == self._sitting:
                marks["full" if match[2] == "full" else "settled"].add(int(match[1]))
        return marks

    def _mark(self, marks: dict[BlockMark, set[int]], mark: BlockMark) -> None:
        """Saves all others a look. A block that is full may have free shards again: of workers that gave them up."""
        marks[mark].add(self._block)
        if self._blocks > 1:
            self._store.create(block_key(self._block, mark, self._sitting), b"{}")

    def _abandoned(self) -> list[Claim]:
        """The claims that would take over shards of dead workers."""
        beats = {entry.key: entry.modified for entry in self._store.entries("worker/")}
        now = beats.get(worker_key(self.worker))
        if now is None:
            return []
        held = [
            Claim(shard, state.generation)
            for shard, state in self._states.items()
            if not state.is_settled(self._sitting)
        ]
        # Whoever waits looks at a few: all of them together look at all.
        unknown = [claim for claim in held if claim not in self._holders]
        looked_at = self._choice.sample(unknown, min(len(unknown), MAX_LOOKS))
        claims: list[Claim] = []
        for claim in held:
            if claim in self._holders or claim in looked_at:
                holder = self._holder(claim)
                beat = beats.get(worker_key(holder), 0.0)
                # One of its own that it does not know was created by a request whose answer was lost.
                is_dead = holder in self.dead or now - beat > EXPIRY_S
                if is_dead or (holder == self.worker and claim not in self._own):
                    claims.append(Claim(claim.shard, claim.generation + 1))
        return claims

    def _holder(self, claim: Claim) -> str:
        if claim not in self._holders:
            held = self._store.get_json(held_key(claim.shard, claim.generation))
            self._holders[claim] = str(held.get("worker", ""))
        return self._holders[claim]
