"""What came of all planned items: those kept or doubtful, with how they were made, and those lost, with the reason."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wildtool import __version__
from wildtool.generate.core import prompts
from wildtool.generate.core.attrition import attrition_table
from wildtool.generate.core.dedup import Deduplicator
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.maker import ItemGenerationSpec
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.roles import ITEM_PROMPTS, ITEM_ROLES
from wildtool.generate.items.rules import ITEM_CHECKS
from wildtool.generate.items.script import AcceptedItem, Loss
from wildtool.types import Item, Metric


@dataclass(frozen=True, slots=True)
class CollectedItem:
    """A finished item with how it was made."""

    item: GeneratedItem
    made_by: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HumanDecision:
    """What people decided of a doubtful item."""

    keep: bool
    reason: str


@dataclass(frozen=True, slots=True)
class GeneratedItems:
    """What came of all planned items."""

    kept: tuple[CollectedItem, ...]
    """In order of their plans."""
    doubtful: tuple[CollectedItem, ...]
    """Break no rule, but too few judges found them right; their votes stand in `made_by`."""
    losses: tuple[dict[str, Any], ...]
    """Number, kind, reason and detail of each plan that was lost, and whether an item of another stands in for it."""
    unfinished: int = 0
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: tuple[int, ...] = ()
    """Numbers of the items of which no plan was kept, nor is doubtful."""

    @property
    def unreplaced_losses(self) -> list[dict[str, Any]]:
        """The losses for which nothing stands in, one for each missing item: that of the last plan."""
        return list({loss["item"]: loss for loss in self.losses if not loss["replaced"]}.values())

    @property
    def replaced(self) -> int:
        """How many items stand in for lost ones."""
        return sum(one.item.plan.turn > 0 for one in (*self.kept, *self.doubtful))

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        reasons = (str(loss["reason"]) for loss in self.losses)
        aside = {"doubtful": len(self.doubtful)}
        table = attrition_table(
            "items", len(self.kept), reasons, self.unfinished, self.counters, ITEM_ROLES, aside
        )
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


def collect_items(
    spec: ItemGenerationSpec,
    made: Iterator[tuple[Item, AcceptedItem | Loss | None]],
    models: Mapping[str, str],
    decisions: Mapping[str, HumanDecision] | None = None,
) -> GeneratedItems:
    """Puts the items of a set together: provenance, and near duplicates of earlier ones dropped (rule S4).

    Args:
        made: in order of the plans, those that stand in for lost ones last.
        models: name of the model in each role.
        decisions: of people on doubtful items, by the names of their plans; one that they refuse is lost.
    """
    fresh = Deduplicator()
    whole: dict[int, tuple[CollectedItem, bool]] = {}
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
        tally.update(result.counters)
        about = {"item": plan.index, "kind": plan.kind, "lang": plan.lang}
        decided = (
            (decisions or {}).get(plan.name) if isinstance(result, AcceptedItem) and not result.kept else None
        )
        lost = (result.reason, result.detail) if isinstance(result, Loss) else _near(result.item, fresh)
        if lost is None and decided is not None and not decided.keep:
            lost = "refused by people", decided.reason
        if lost is not None:
            losses.append({**about, "turn": plan.turn, "reason": lost[0], "detail": lost[1]})
        elif isinstance(result, AcceptedItem):
            told = {} if decided is None else {"reviewed": True, "decided": decided.reason}
            kept = CollectedItem(result.item, {**about, **_provenance(spec, result, models), **told})
            whole[plan.index] = kept, result.kept or decided is not None
    ordered = [whole[index] for index in sorted(whole)]
    return GeneratedItems(
        tuple(one for one, sure in ordered if sure),
        tuple(one for one, sure in ordered if not sure),
        tuple({**loss, "replaced": loss["item"] in whole} for loss in losses),
        unfinished,
        dict(tally),
        tuple(index for index in planned if index not in whole),
    )


def _near(item: GeneratedItem, fresh: Deduplicator) -> tuple[str, str] | None:
    """Reason and detail where a request is nearly one of an item that was kept before (rule S4)."""
    if fresh.accepts(item.plan.lang, "\n".join(item.user_texts)):
        return None
    return "S4", f"{item.user_texts[0]!r} is nearly a request of an earlier item"


def _provenance(spec: ItemGenerationSpec, result: AcceptedItem, models: Mapping[str, str]) -> dict[str, Any]:
    plan = {**asdict(result.item.plan), "date": result.item.plan.date.date().isoformat()}
    return {
        "plan": plan,
        "models": dict(models),
        "version": __version__,
        "prompts": prompts.prompts_digest(ITEM_PROMPTS),
        "seed": spec.seed,
        "attempt": result.attempt,
        "calls": result.requests,
        "derived": [dict(call.derived) for turn in result.item.turns for call in turn.calls if call.derived],
        "checks": list(ITEM_CHECKS),
        "votes": [vote.as_row() for vote in result.votes],
        "reviewed": False,
    }
