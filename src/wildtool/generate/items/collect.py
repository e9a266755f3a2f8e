"""What came of all planned items: those kept or doubtful, with how they were made, and those lost, with the reason."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wildtool import __version__
from wildtool.generate.core import prompts
from wildtool.generate.core.attrition import yield_table
from wildtool.generate.core.dedup import Freshness
from wildtool.generate.items.item import MadeItem
from wildtool.generate.items.maker import Order
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.roles import FOLDER, ROLES
from wildtool.generate.items.rules import CHECKS
from wildtool.generate.items.script import Loss, Made
from wildtool.types import Item, Metric


@dataclass(frozen=True, slots=True)
class Kept:
    """A finished item with how it was made."""

    item: MadeItem
    made_by: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Decided:
    """What people decided of a doubtful item."""

    keep: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of all planned items."""

    kept: tuple[Kept, ...]
    """In order of their plans."""
    doubtful: tuple[Kept, ...]
    """Break no rule, but too few judges found them right; their votes stand in `made_by`."""
    losses: tuple[dict[str, Any], ...]
    """Number, kind, reason and detail of each plan that was lost, and whether an item of another stands in for it."""
    unfinished: int = 0
    tally: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: tuple[int, ...] = ()
    """Numbers of the items of which no plan was kept, nor is doubtful."""

    @property
    def lost(self) -> list[dict[str, Any]]:
        """The losses for which nothing stands in, one for each missing item: that of the last plan."""
        return list({loss["item"]: loss for loss in self.losses if not loss["replaced"]}.values())

    @property
    def replaced(self) -> int:
        """How many items stand in for lost ones."""
        return sum(one.item.plan.turn > 0 for one in (*self.kept, *self.doubtful))

    def yields(self) -> list[Metric]:
        """Where attempts are lost."""
        reasons = (str(loss["reason"]) for loss in self.losses)
        aside = {"doubtful": len(self.doubtful)}
        table = yield_table("items", len(self.kept), reasons, self.unfinished, self.tally, ROLES, aside)
        stand_in = Metric("items", "in place of lost ones", None, self.replaced, 0, kind="count")
        kinds = Counter(kept.item.plan.kind for kept in self.kept)
        planned = kinds + Counter(kept.item.plan.kind for kept in self.doubtful)
        planned += Counter(str(loss["kind"]) for loss in self.losses)
        return [
            *table[:2],
            *([stand_in] if self.losses else []),
            *table[2:],
            *(
                Metric("kept by kind", kind, kinds[kind] / count, kinds[kind], count)
                for kind, count in sorted(planned.items())
            ),
        ]


def harvest(
    order: Order,
    made: Iterator[tuple[Item, Made | Loss | None]],
    models: Mapping[str, str],
    decisions: Mapping[str, Decided] | None = None,
) -> Harvest:
    """Puts the items of a set together: provenance, and near duplicates of earlier ones dropped (rule S4).

    Args:
        made: in order of the plans, those that stand in for lost ones last.
        models: name of the model in each role.
        decisions: of people on doubtful items, by the names of their plans; one that they refuse is lost.
    """
    fresh = Freshness()
    whole: dict[int, tuple[Kept, bool]] = {}
    losses: list[dict[str, Any]] = []
    tally: Counter[str] = Counter()
    planned: dict[int, None] = {}
    unfinished = 0
    for item, result in made:
        plan: ItemPlan = item.data.plan
        planned[plan.index] = None
        if result is None:
            unfinished += 1
            continue
        tally.update(result.tally)
        about = {"item": plan.index, "kind": plan.kind, "lang": plan.lang}
        decided = (decisions or {}).get(plan.name) if isinstance(result, Made) and not result.kept else None
        lost = (result.reason, result.detail) if isinstance(result, Loss) else _near(result.item, fresh)
        if lost is None and decided is not None and not decided.keep:
            lost = "refused by people", decided.reason
        if lost is not None:
            losses.append({**about, "turn": plan.turn, "reason": lost[0], "detail": lost[1]})
        elif isinstance(result, Made):
            told = {} if decided is None else {"reviewed": True, "decided": decided.reason}
            kept = Kept(result.item, {**about, **_made_by(order, result, models), **told})
            whole[plan.index] = kept, result.kept or decided is not None
    ordered = [whole[index] for index in sorted(whole)]
    return Harvest(
        tuple(one for one, sure in ordered if sure),
        tuple(one for one, sure in ordered if not sure),
        tuple({**loss, "replaced": loss["item"] in whole} for loss in losses),
        unfinished,
        dict(tally),
        tuple(index for index in planned if index not in whole),
    )


def _near(item: MadeItem, fresh: Freshness) -> tuple[str, str] | None:
    """Reason and detail where a request is nearly one of an item that was kept before (rule S4)."""
    if fresh.admits(item.plan.lang, "\n".join(item.user_texts)):
        return None
    return "S4", f"{item.user_texts[0]!r} is nearly a request of an earlier item"


def _made_by(order: Order, result: Made, models: Mapping[str, str]) -> dict[str, Any]:
    plan = {**asdict(result.item.plan), "date": result.item.plan.date.date().isoformat()}
    return {
        "plan": plan,
        "models": dict(models),
        "version": __version__,
        "prompts": prompts.digest(FOLDER),
        "seed": order.seed,
        "attempt": result.attempt,
        "calls": result.seen,
        "derived": [dict(call.derived) for turn in result.item.turns for call in turn.calls if call.derived],
        "checks": list(CHECKS),
        "votes": [vote.as_row() for vote in result.votes],
        "reviewed": False,
    }
