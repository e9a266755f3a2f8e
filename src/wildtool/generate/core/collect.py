"""What came of all planned things of a set: those kept, and those lost with the reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from wildtool.generate.core.roles import AttemptFailedError
from wildtool.generate.core.script import RejectedAttempt
from wildtool.types import Item, Metric

Kept = TypeVar("Kept")


class _Counted(Protocol):
    @property
    def counters(self) -> Mapping[str, int]: ...


Accepted = TypeVar("Accepted", bound=_Counted)


@dataclass(frozen=True, slots=True)
class GeneratedSet(Generic[Kept]):
    """What came of all planned things."""

    key: ClassVar[str]
    """Field of a loss that names its plan."""
    kept: tuple[Kept, ...]
    """In order of their plans, with provenance."""
    losses: tuple[dict[str, Any], ...]
    """Plan, reason and detail of each that was not kept, and whether another plan replaced it."""
    unfinished: int = 0
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each event happened, in all of them."""
    missing: tuple[int, ...] = ()
    """Numbers of the things of which no plan was kept; empty while any is unfinished."""

    @property
    def turns(self) -> Sequence[int]:
        """Which try each kept plan is; 0 for a first one."""
        raise NotImplementedError

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        raise NotImplementedError

    @property
    def replaced(self) -> int:
        """How many kept things replace lost ones."""
        return sum(map(bool, self.turns))

    @property
    def unreplaced_losses(self) -> list[dict[str, Any]]:
        """The losses that nothing replaced, one for each missing thing: that of the last plan."""
        return list(
            {loss_index(loss, self.key): loss for loss in self.losses if not loss["replaced"]}.values()
        )


@dataclass(slots=True)
class Collected(Generic[Kept]):
    """The results of a set as they are put together."""

    kept: dict[int, Kept] = field(default_factory=dict[int, Kept])
    """By number of the plan."""
    losses: tuple[dict[str, Any], ...] = ()
    unfinished: int = 0
    counters: Counter[str] = field(default_factory=Counter[str])
    missing: tuple[int, ...] = ()


def collect_results(
    made: Iterable[tuple[Item, Accepted | RejectedAttempt | None]],
    key: str,
    describe: Callable[[Item], dict[str, Any]],
    keep: Callable[[Item, Accepted], Kept],
) -> Collected[Kept]:
    """Puts the results of a set together.

    Args:
        made: in order of the plans, replacements last; None for what is unfinished.
        key: field of a loss that names its plan.
        describe: the fields of a loss that say what was lost.
        keep: a result as it is kept; raises AttemptFailedError for one that is not, such as a near duplicate.
    """
    found = Collected[Kept]()
    planned: dict[int, None] = {}
    losses: list[dict[str, Any]] = []
    for item, result in made:
        index = item.data.plan.index
        planned[index] = None
        if result is None:
            found.unfinished += 1
            continue
        found.counters.update(result.counters)
        try:
            if isinstance(result, RejectedAttempt):
                raise AttemptFailedError(result.reason, result.detail)
            found.kept[index] = keep(item, result)
        except AttemptFailedError as lost:
            losses.append({**describe(item), "reason": lost.reason, "detail": str(lost)})
    found.kept = dict(sorted(found.kept.items()))
    found.losses = tuple({**loss, "replaced": loss_index(loss, key) in found.kept} for loss in losses)
    if not found.unfinished:
        found.missing = tuple(index for index in planned if index not in found.kept)
    return found


def loss_index(loss: Mapping[str, Any], key: str) -> int:
    """The number of a lost thing: `3` of plan `3` and of `3.1`, its first replacement."""
    return int(str(loss[key]).partition(".")[0])
