"""Making items as something the engine plays: each is one of its items, each call to a role a recorded step of it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.generate.core import prompts
from wildtool.generate.core.maker import (
    RECIPE_VERSION,
    Replacements,
    RoleBenchmark,
    file_digests,
    play_script,
    replay_script,
    transcript_of,
    verdict_of,
)
from wildtool.generate.core.plan import Lang
from wildtool.generate.items.from_sessions import items_from_sessions
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.kinds import parse_shares
from wildtool.generate.items.plan import ItemPlan, item_plans
from wildtool.generate.items.roles import ITEM_PROMPTS, ITEM_ROLES, judge_roles
from wildtool.generate.items.script import AcceptedItem, ItemJob, Loss, item_script
from wildtool.generate.items.tool_catalog import ToolCatalog, tool_catalogs
from wildtool.types import Ask, Item, Role, Source, Transcript, Verdict

if TYPE_CHECKING:
    from wildtool.generate.items.collect import GeneratedItems

ITEM_UNIT = "item"
PROFILE = "made"


@dataclass(frozen=True, slots=True)
class ItemGenerationSpec:
    """What items are to be made."""

    items: int
    kinds: Mapping[str, int] = field(default_factory=lambda: parse_shares(()))
    """Kinds with their shares."""
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    sessions: Path | None = None
    """File with sessions whose first tasks are made into items, instead of making them from tools."""
    judges: int = 3
    agree: int = 3


class ItemMaker(RoleBenchmark):
    """The part of a benchmark that playing a run takes; an item of it is a planned item."""

    name = "items"
    title = "Items made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule and the judges agree"}

    def __init__(self, spec: ItemGenerationSpec) -> None:
        self.spec = spec
        self._replacements = Replacements(spec.items)
        self._results: dict[str, AcceptedItem | Loss] = {}

    @property
    def roles(self) -> Mapping[str, Role]:
        """The roles besides `agent`, each vote a role of its own."""
        found = {
            name: Role(about, "") for name, about in ITEM_ROLES.items() if name not in ("agent", "judge")
        }
        return found | {name: Role(ITEM_ROLES["judge"], "") for name in judge_roles(self.spec.judges)}

    def source(self) -> Source:
        """Names everything the requests of an item follow from, so that a run goes on only where it is the same.

        Raises DataError for a file that cannot be read.
        """
        order = self.spec
        paths = [path for path in (order.tools, order.sessions) if path]
        about = [dict(order.kinds), order.seed, order.langs, order.judges, order.agree]
        digest = hashlib.sha256(
            json.dumps(
                [*about, RECIPE_VERSION, prompts.prompts_digest(ITEM_PROMPTS), *file_digests(paths)]
            ).encode()
        )
        name = str(paths[0]) if paths else "built-in tools"
        return Source(name, paths[0] if paths else Path(), digest.hexdigest())

    @cached_property
    def _catalogues(self) -> Mapping[Lang, ToolCatalog]:
        return tool_catalogs(self.spec.tools, self.spec.langs, lambda text: None)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned items, then those that stand in for lost ones."""
        lost = dict.fromkeys(index for index, _ in self._replacements.planned)
        planned: dict[int, ItemPlan] = {}
        for plan, given in self._given():
            if plan.index in lost:
                planned[plan.index] = plan
            yield self._item(plan, given)
        for index, turn in self._replacements.planned:
            plan = planned[index].replanned(turn)
            yield self._item(plan, self._catalogues[plan.lang])

    def _item(self, plan: ItemPlan, given: ToolCatalog | GeneratedItem) -> Item:
        job = ItemJob(plan, given, self.spec.judges, self.spec.agree)
        return Item(plan.name, (ITEM_UNIT,), job, plan.kind, plan.lang, tuple(self.roles))

    def replace_lost(self, found: "GeneratedItems") -> bool:
        """Plans each lost item anew, of the same kind with other tools; whether there is anything to be played.

        Items from sessions have nothing to stand in for them.

        Args:
            found: what came of all that was planned so far.
        """
        if found.unfinished or self.spec.sessions is not None:
            return False
        turns = {one.item.plan.turn for one in (*found.kept, *found.doubtful)}
        return self._replacements.plan_missing(found.missing, turns)

    def _given(self) -> Iterator[tuple[ItemPlan, ToolCatalog | GeneratedItem]]:
        """Each plan with what its item is made from."""
        order = self.spec
        if order.sessions is not None:
            for item in items_from_sessions(
                order.sessions, order.items, order.kinds, order.seed, order.langs
            ):
                yield item.plan, item
            return
        for plan in item_plans(order.items, order.kinds, seed=order.seed, langs=order.langs):
            yield plan, self._catalogues[plan.lang]

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Makes one item, where that is not done already."""
        if item.id not in self._results:
            await play_script(item_script(item.data), ITEM_UNIT, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether an item came of what is recorded, and why not."""
        transcript = transcript_of(transcripts, ITEM_UNIT)
        result = self.result(item, transcript)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else None
        if isinstance(result, AcceptedItem) and not result.kept:
            lost = ("doubtful", "too few judges found it right")
        return [verdict_of(item, ITEM_UNIT, transcript, lost, finished=result is not None)]

    def result(self, item: Item, transcript: Transcript) -> AcceptedItem | Loss | None:
        """What came of a planned item, from its recorded replies alone; None where they end before it does."""
        if item.id not in self._results:
            found = replay_script(item_script(item.data), transcript)
            if found is None:
                return None
            self._results[item.id] = found
        return self._results[item.id]
