"""A set of items: those kept or doubtful, with provenance, and those lost, with the reason."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.generate.core.attrition import attrition_table
from wildtool.generate.core.collect import GeneratedSet, collect_results
from wildtool.generate.core.dedup import Deduplicator
from wildtool.generate.core.prompts import prompts_digest
from wildtool.generate.core.roles import AttemptFailedError
from wildtool.generate.core.script import RejectedAttempt
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.maker import ItemGenerationSpec
from wildtool.generate.items.roles import ITEM_PROMPTS, ITEM_ROLES
from wildtool.generate.items.rules import ITEM_CHECKS
from wildtool.generate.items.script import AcceptedItem
from wildtool.types import Item, Metric


@dataclass(frozen=True, slots=True)
class CollectedItem:
    """A finished item with how it was made."""

    item: GeneratedItem
    made_by: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HumanDecision:
    """What people decided about a doubtful item."""

    keep: bool
    reason: str


@dataclass(frozen=True, slots=True)
class GeneratedItems(GeneratedSet[CollectedItem]):
    """What came of all planned items. A doubtful one is not missing."""

    key: ClassVar[str] = "item"
    doubtful: tuple[CollectedItem, ...] = ()
    """They break no rule, but too few judges found them right; `made_by` holds the votes."""

    @property
    def turns(self) -> Sequence[int]:
        return [one.item.plan.turn for one in (*self.kept, *self.doubtful)]

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        table = attrition_table(
            "items",
            len(self.kept),
            (str(loss["reason"]) for loss in self.losses),
            self.unfinished,
            self.counters,
            ITEM_ROLES,
            aside={"doubtful": len(self.doubtful)},
            replaced=self.replaced if self.losses else None,
        )
        kinds = Counter(one.item.plan.kind for one in self.kept)
        planned = kinds + Counter(one.item.plan.kind for one in self.doubtful)
        planned += Counter(str(loss["kind"]) for loss in self.losses)
        by_kind = [
            Metric("kept by kind", kind, kinds[kind] / count, kinds[kind], count)
            for kind, count in sorted(planned.items())
        ]
        return [*table, *by_kind]


def collect_items(
    spec: ItemGenerationSpec,
    made: Iterable[tuple[Item, AcceptedItem | RejectedAttempt | None]],
    models: Mapping[str, str],
    decisions: Mapping[str, HumanDecision],
) -> GeneratedItems:
    """Puts the items of a set together: adds provenance, drops near duplicates of earlier ones (rule S4).

    Args:
        made: in order of the plans, replacements last.
        models: name of the model in each role.
        decisions: of people about doubtful items, by the names of their plans; one that they refuse is lost.
    """
    texts = Deduplicator()

    def describe(item: Item) -> dict[str, Any]:
        plan = item.data.plan
        return {"item": plan.index, "kind": plan.kind, "lang": plan.lang}

    def keep(item: Item, result: AcceptedItem) -> tuple[CollectedItem, bool]:
        said = result.item.user_texts
        if not texts.accepts(item.data.plan.lang, "\n".join(said)):
            raise AttemptFailedError("S4", f"{said[0]!r} is nearly a request of an earlier item")
        decided = None if result.kept else decisions.get(item.data.plan.name)
        if decided is not None and not decided.keep:
            raise AttemptFailedError("refused by people", decided.reason)
        reviewed = {} if decided is None else {"reviewed": True, "decided": decided.reason}
        made_by = {**describe(item), **_provenance(spec, result, models), **reviewed}
        return CollectedItem(result.item, made_by), result.kept or decided is not None

    found = collect_results(
        made, GeneratedItems.key, lambda item: {**describe(item), "turn": item.data.plan.turn}, keep
    )
    return GeneratedItems(
        tuple(one for one, sure in found.kept.values() if sure),
        found.losses,
        found.unfinished,
        dict(found.counters),
        found.missing,
        tuple(one for one, sure in found.kept.values() if not sure),
    )


def _provenance(spec: ItemGenerationSpec, result: AcceptedItem, models: Mapping[str, str]) -> dict[str, Any]:
    plan = {**asdict(result.item.plan), "date": result.item.plan.date.date().isoformat()}
    return {
        "plan": plan,
        "models": dict(models),
        "version": __version__,
        "prompts": prompts_digest(ITEM_PROMPTS),
        "seed": spec.seed,
        "attempt": result.attempt,
        "calls": result.requests,
        "derived": [dict(call.derived) for turn in result.item.turns for call in turn.calls if call.derived],
        "checks": list(ITEM_CHECKS),
        "votes": [vote.as_row() for vote in result.votes],
        "reviewed": False,
    }
