"""Single requests made by role models; each planned one is an item of a run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wildtool.findings import rules_identity
from wildtool.types import Item, Source
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.maker import PROFILE, ScriptMaker, voter_roles
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult
from wildtool_data.make.items.acebench_format import BENCHMARK
from wildtool_data.make.items.from_sessions import items_from_sessions
from wildtool_data.make.items.item import GeneratedItem
from wildtool_data.make.items.plan import ItemPlan, item_plans, parse_shares
from wildtool_data.make.items.script import ITEM_PROMPTS, ITEM_ROLES, AcceptedItem, ItemJob, item_script
from wildtool_data.make.items.tool_catalog import ToolCatalog, tool_catalogs


@dataclass(frozen=True, slots=True)
class ItemGenerationSpec:
    """Which items are to be generated."""

    items: int
    kinds: Mapping[str, int] = field(default_factory=lambda: parse_shares(()))
    """Kinds with their shares."""
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    sessions: Path | None = None
    """File with sessions whose first tasks become items; None to make them from tools."""
    judges: int = 3
    """Votes on each item; 0 for none."""
    agree: int = 3
    """Votes for an item that keep it."""


class ItemMaker(ScriptMaker[AcceptedItem]):
    """The part of a benchmark that a run takes; an item of it is a planned item."""

    name = "items"
    title = "Items made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule and the judges agree"}
    unit = "item"
    prompts = ITEM_PROMPTS

    def __init__(self, spec: ItemGenerationSpec) -> None:
        super().__init__(spec.items)
        self.spec = spec
        self.roles = voter_roles(ITEM_ROLES, {"judge": spec.judges})

    def source(self) -> Source:
        """See RoleBenchmark."""
        spec = self.spec
        counted = (dict(spec.kinds), spec.seed, spec.langs, spec.judges, spec.agree)
        files, rules = (spec.tools, spec.sessions), rules_identity(BENCHMARK)
        return self._source(spec.tools or spec.sessions, "built-in tools", counted, files, *rules)

    @cached_property
    def _catalogs(self) -> Mapping[Lang, ToolCatalog]:
        return tool_catalogs(self.spec.tools, self.spec.langs, lambda text: None)

    def planned_items(self) -> Iterator[Item]:
        """See ScriptMaker."""
        spec = self.spec
        if spec.sessions is not None:
            for item in items_from_sessions(spec.sessions, spec.items, spec.kinds, spec.seed, spec.langs):
                yield self._item(item.plan, item)
            return
        for plan in item_plans(spec.items, spec.kinds, seed=spec.seed, langs=spec.langs):
            yield self._item(plan, self._catalogs[plan.lang])

    def replanned_item(self, item: Item, turn: int) -> Item:
        """The same kind with other tools."""
        job: ItemJob = item.data
        return self._item(job.plan.replanned(turn), self._catalogs[job.plan.lang])

    def _item(self, plan: ItemPlan, source: ToolCatalog | GeneratedItem) -> Item:
        job = ItemJob(plan, source, self.spec.judges, self.spec.agree)
        return Item(plan.name, (self.unit,), job, plan.kind, plan.lang, tuple(self.roles))

    def replace_lost(self, generated: GeneratedSet[Any]) -> bool:
        """See ScriptMaker. Items from sessions cannot be replaced."""
        return self.spec.sessions is None and super().replace_lost(generated)

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[AcceptedItem]]:
        """See ScriptMaker."""
        return item_script(item.data)

    def why_lost(self, outcome: ScriptResult[AcceptedItem]) -> tuple[str, str] | None:
        """See ScriptMaker. A doubtful item is not kept either."""
        if outcome.value and not outcome.value.kept:
            return "doubtful", "too few judges found it right"
        return super().why_lost(outcome)
