"""What of a trial is known without asking: recorded replies to the same requests, and what right parties say.

Episodes are played from their beginning. A reply is taken from the record only if the very same request, by its hash, got
it there; the first request that was never asked, or that is to be asked again, ends the rehearsal of its unit.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from wildtool.alter.base import UNDER_TEST
from wildtool.alter.variant import Variant
from wildtool.blame.asked_again import reused
from wildtool.blame.failed_units import is_fault
from wildtool.engine.record.format import request_hashes
from wildtool.engine.record.reader import ItemLog, LoggedReply
from wildtool.engine.record.writer import PendingRow
from wildtool.errors import NOT_RECORDED, InfraError
from wildtool.types import Address, Item, Model, Reply, Request

Write = Callable[[PendingRow, Reply], None]
"""Records a reply of a trial."""


@dataclass(frozen=True, slots=True)
class RightParties:
    """What is right in a trial, and what is asked again."""

    variant: Variant
    """The benchmark as the trial plays it."""
    right: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """By role what plays it as it should be played; needs no network."""
    asks_model_again: bool = False
    """Whether the model under test is asked everything again, as in the control."""
    asks_faults_again: bool = False
    """Whether it is asked again where an endpoint cut or filtered its reply."""

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(self.right)


class Rehearsal:
    """One play of one item, as far as nobody must be asked. An `Ask`."""

    def __init__(
        self,
        replacement: RightParties,
        item: Item,
        tried: Collection[str],
        recorded: ItemLog,
        trial_log: ItemLog,
        play: int,
    ) -> None:
        """
        Args:
            tried: units whose cause is sought; of the others everything is as recorded.
            recorded: the run's own replies.
            trial_log: the trial's, of an earlier start.
            play: number of the play, from 0.
        """
        self._replacement, self._item, self._play, self._trial_log = replacement, item, play, trial_log
        self._tried = tried
        self._replies = {unit: _by_request(steps.values()) for unit, steps in recorded.items()}
        self._next: Counter[str] = Counter()
        self._links: set[str] = set()
        self.taken: Counter[tuple[str, str]] = Counter()
        """Recorded replies that were taken, by unit and role."""
        self.open: set[str] = set()
        """Units that need an answer which is not known."""
        self.write: Write = lambda row, reply: None

    async def __call__(self, unit: str, request: Request) -> Reply:
        step = self._next[unit]
        self._next[unit] += 1
        hashes = request_hashes(request)
        address = Address(self._item.id, self._play, unit, step)
        row = PendingRow(address, replace(request, address=address), hashes, self._links)
        step_before = self._trial_log.get(unit, {}).get(step)
        if isinstance(step_before, LoggedReply):
            return step_before.reply
        reply = await self._answer(unit, row)
        if reply is None:
            self.open.add(unit)
            raise InfraError(NOT_RECORDED, "to be asked")
        self.write(row, reply)
        return reply

    async def _answer(self, unit: str, row: PendingRow) -> Reply | None:
        request, role = row.request, row.request.role
        is_tried = unit in self._tried
        if is_tried and (model := self._replacement.right.get(role)) is not None:
            return await model.complete(request)
        if is_tried and role == UNDER_TEST and self._replacement.asks_model_again:
            return None
        held = self._replies.get(unit, {}).get((role, row.hashes[-1]))
        if not held or (is_tried and self._replacement.asks_faults_again and is_fault(held[0])):
            return None
        self.taken[unit, role] += 1
        return reused(held.pop(0).reply)


def _by_request(steps: Iterable[object]) -> dict[tuple[str, str | None], list[LoggedReply]]:
    """Recorded replies by the role and the hash of what they answer, in order."""
    steps_by_request: dict[tuple[str, str | None], list[LoggedReply]] = defaultdict(list)
    for step in steps:
        if isinstance(step, LoggedReply):
            steps_by_request[step.role, step.request].append(step)
    return steps_by_request
