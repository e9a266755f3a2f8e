"""A set of items: those kept or doubtful, with provenance, and those lost, with the reason."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.types import Item, Metric
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.prompts import prompts_digest
from wildtool_data.make.core.roles import AttemptFailedError, ScriptResult
from wildtool_data.make.items.item import GeneratedItem
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.rules import ITEM_CHECKS
from wildtool_data.make.items.script import ITEM_PROMPTS, ITEM_ROLES, AcceptedItem


@dataclass(frozen=True, slots=True)
class CollectedItem:
    """A finished item with how it was made."""

    item: GeneratedItem
    made_by: Mapping[str, Any]
    doubtful: bool = False
    """Whether too few judges found it right, and nobody decided."""


@dataclass(frozen=True, slots=True)
class HumanDecision:
    """What people decided about a doubtful item."""

    keep: bool
    reason: str


@dataclass(frozen=True, slots=True)
class GeneratedItems(GeneratedSet[CollectedItem]):
    """The outcome of all planned items. A doubtful one is not missing."""

    noun: ClassVar[str] = "items"
    key: ClassVar[str] = "item"
    roles: ClassVar[Mapping[str, str]] = ITEM_ROLES
    doubtful: tuple[CollectedItem, ...] = ()
    """They break no rule, but too few judges found them right; `made_by` holds the votes."""

    @property
    def aside(self) -> Mapping[str, int]:
        """See GeneratedSet."""
        return {"doubtful": len(self.doubtful)}

    def attrition(self) -> list[Metric]:
        """Where attempts are lost, and how many of each kind are kept."""
        kinds = Counter(kept_item.item.plan.kind for kept_item in self.kept)
        planned = kinds + Counter(kept_item.item.plan.kind for kept_item in self.doubtful)
        planned += Counter(str(loss["kind"]) for loss in self.losses)
        by_kind = [
            Metric("kept by kind", kind, kinds[kind] / count, kinds[kind], count)
            for kind, count in sorted(planned.items())
        ]
        return [*GeneratedSet[CollectedItem].attrition(self), *by_kind]


def collect_items(
    spec: ItemGenerationSpec,
    results: Iterable[tuple[Item, ScriptResult[AcceptedItem] | None]],
    models: Mapping[str, str],
    decisions: Mapping[str, HumanDecision],
) -> GeneratedItems:
    """Puts the items of a set together: adds provenance, drops near duplicates of earlier ones (rule S4).

    Args:
        results: in order of the plans, replacements last.
        models: name of the model in each role.
        decisions: of people about doubtful items, by the names of their plans; one that they refuse is lost.
    """
    texts = Deduplicator()

    def describe(item: Item) -> dict[str, Any]:
        plan = item.data.plan
        return {"item": plan.index, "kind": plan.kind, "lang": plan.lang}

    def keep(item: Item, accepted: AcceptedItem, result: ScriptResult[AcceptedItem]) -> CollectedItem:
        plan, turns = accepted.item.plan, accepted.item.turns
        check_new(texts, accepted.item)
        decided = None if accepted.kept else decisions.get(plan.name)
        if decided is not None and not decided.keep:
            raise AttemptFailedError("refused by people", decided.reason)
        made_by = {
            **describe(item),
            "plan": {**asdict(plan), "date": plan.date.date().isoformat()},
            "models": dict(models),
            "version": __version__,
            "prompts": prompts_digest(ITEM_PROMPTS),
            "seed": spec.seed,
            "attempt": result.attempt,
            "calls": result.counters["requests"],
            "derived": [dict(call.derived) for turn in turns for call in turn.calls if call.derived],
            "checks": list(ITEM_CHECKS),
            "votes": list(accepted.votes),
            "reviewed": decided is not None,
        }
        if decided is not None:
            made_by["decided"] = decided.reason
        return CollectedItem(accepted.item, made_by, doubtful=not accepted.kept and decided is None)

    def describe_loss(item: Item) -> dict[str, Any]:
        return {**describe(item), "turn": item.data.plan.turn}

    generated = GeneratedItems.collect(results, describe_loss, keep)
    sure = tuple(collected for collected in generated.kept if not collected.doubtful)
    return replace(
        generated, kept=sure, doubtful=tuple(collected for collected in generated.kept if collected.doubtful)
    )


def check_new(texts: Deduplicator, item: GeneratedItem) -> None:
    """Raises AttemptFailedError for an item that nearly repeats an earlier one."""
    if not texts.accepts(item.plan.lang, "\n".join(item.user_texts)):
        raise AttemptFailedError("S4", f"{item.user_texts[0]!r} is nearly a request of an earlier item")
