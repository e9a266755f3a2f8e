"""The outcome of a set: what was kept, what was lost and why, and the yield table."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

from wildtool.types import Item, Metric
from wildtool_data.make.core.roles import AttemptFailedError, ScriptResult

Kept = TypeVar("Kept")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class GeneratedSet(Generic[Kept]):
    """The outcome of all planned things."""

    noun: ClassVar[str]
    """What is generated, in the plural."""
    key: ClassVar[str]
    """Field of a loss that names its plan."""
    roles: ClassVar[Collection[str]]
    kept: tuple[Kept, ...]
    """In order of their plans, with provenance."""
    losses: tuple[dict[str, Any], ...]
    """Plan, reason and detail of each that was not kept, and whether another plan replaced it."""
    unfinished: int = 0
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each event happened, in all of them."""
    missing: tuple[int, ...] = ()
    """Numbers of the things of which no plan was kept; empty while any is unfinished."""
    turns: tuple[int, ...] = ()
    """Which try each kept plan is; 0 for a first one."""

    @classmethod
    def collect(
        cls,
        results: Iterable[tuple[Item, ScriptResult[Value] | None]],
        describe: Callable[[Item], dict[str, Any]],
        keep: Callable[[Item, Value, ScriptResult[Value]], Kept],
    ) -> Self:
        """Puts the results of a set together.

        Args:
            results: in order of the plans, replacements last; None for what is unfinished.
            describe: the fields of a loss that say what was lost.
            keep: a result as it is kept; raises AttemptFailedError for one that is not, such as a near duplicate.
        """
        results_by_index: dict[int, tuple[Kept, int]] = {}
        losses: list[dict[str, Any]] = []
        planned: dict[int, None] = {}
        unfinished, counters = 0, Counter[str]()
        for item, result in results:
            plan = item.data.plan
            planned[plan.index] = None
            if result is None:
                unfinished += 1
                continue
            counters.update(result.counters)
            try:
                if result.value is None:
                    raise AttemptFailedError(result.reason, result.detail)
                results_by_index[plan.index] = keep(item, result.value, result), plan.turn
            except AttemptFailedError as error:
                losses.append({**describe(item), "reason": error.reason, "detail": str(error)})
        in_order = [results_by_index[index] for index in sorted(results_by_index)]
        return cls(
            tuple(value for value, _ in in_order),
            tuple({**loss, "replaced": _loss_index(loss, cls.key) in results_by_index} for loss in losses),
            unfinished,
            dict(counters),
            () if unfinished else tuple(index for index in planned if index not in results_by_index),
            tuple(turn for _, turn in in_order),
        )

    @property
    def aside(self) -> Mapping[str, int]:
        """How many are neither kept nor lost, by name."""
        return {}

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        reasons = (str(loss["reason"]) for loss in self.losses)
        table = attrition_table(
            self.noun, len(self.kept), reasons, self.unfinished, self.counters, self.roles, self.aside
        )
        if self.losses:
            replaced = Metric(self.noun, "in place of lost ones", None, self.replaced, 0, kind="count")
            table.insert(1 + len(self.aside), replaced)
        return table

    @property
    def replaced(self) -> int:
        """How many kept things replace lost ones."""
        return sum(map(bool, self.turns))

    @property
    def unreplaced_losses(self) -> list[dict[str, Any]]:
        """The losses that nothing replaced, one for each missing thing: that of the last plan."""
        unreplaced = (loss for loss in self.losses if not loss["replaced"])
        return list({_loss_index(loss, self.key): loss for loss in unreplaced}.values())


def _loss_index(loss: Mapping[str, Any], key: str) -> int:
    """The number of a lost thing: `3` of plan `3` and of `3.1`, its first replacement."""
    return int(str(loss[key]).partition(".")[0])


def attrition_table(
    noun: str,
    kept_count: int,
    loss_reasons: Iterable[str],
    unfinished: int,
    counters: Mapping[str, int],
    roles: Collection[str],
    aside: Mapping[str, int],
) -> list[Metric]:
    """The numbers of a generated set: how many were kept, why the others were lost, what each role was refused.

    Args:
        noun: what is generated, in the plural.
        lost: the reason of each that was not kept.
        counters: event counts, such as `user asked` or `user refused A5`.
        aside: how many were set aside, by name.
    """
    reasons = Counter(loss_reasons)
    first = {"kept": kept_count, **aside}
    planned = sum(first.values()) + reasons.total() + unfinished
    rows = [
        *((noun, name, count, planned) for name, count in first.items()),
        *((f"{noun} lost", name, count, planned) for name, count in reasons.most_common()),
        *(
            ("replies", event, count, requests)
            for event, count in sorted(counters.items())
            if (role := event.split()[0]) in roles
            and event != f"{role} asked"
            and (requests := counters.get(f"{role} asked", 0))
        ),
    ]
    return [Metric(group, name, count / of if of else None, count, of) for group, name, count, of in rows]
