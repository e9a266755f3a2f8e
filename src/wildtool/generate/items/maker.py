"""Making items as something the engine plays: each is one of its items, each call to a role a recorded step of it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool import __version__
from wildtool.generate.core import prompts
from wildtool.generate.core.maker import (
    Maker,
    StandIns,
    file_digests,
    play_script,
    replay_script,
    transcript_of,
    verdict_of,
)
from wildtool.generate.core.plan import Lang
from wildtool.generate.items.from_sessions import given_items
from wildtool.generate.items.item import MadeItem
from wildtool.generate.items.kinds import shares
from wildtool.generate.items.plan import ItemPlan, item_plans
from wildtool.generate.items.roles import FOLDER, ROLES, judge_roles
from wildtool.generate.items.script import ItemJob, Loss, Made, item_script
from wildtool.generate.items.tool_catalog import Catalogue, catalogues
from wildtool.types import Ask, Item, Role, Source, Transcript, Verdict

if TYPE_CHECKING:
    from wildtool.generate.items.collect import Harvest

UNIT = "item"
PROFILE = "made"


@dataclass(frozen=True, slots=True)
class Order:
    """What items are to be made."""

    items: int
    kinds: Mapping[str, int] = field(default_factory=lambda: shares(()))
    """Kinds with their shares."""
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    sessions: Path | None = None
    """File with sessions whose first tasks are made into items, instead of making them from tools."""
    judges: int = 3
    agree: int = 3


class ItemMaker(Maker):
    """The part of a benchmark that playing a run takes; an item of it is a planned item."""

    name = "items"
    title = "Items made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule and the judges agree"}

    def __init__(self, order: Order) -> None:
        self.order = order
        self._stand_ins = StandIns(order.items)
        self._results: dict[str, Made | Loss] = {}

    @property
    def roles(self) -> Mapping[str, Role]:
        """The roles besides `agent`, each vote a role of its own."""
        found = {name: Role(about, "") for name, about in ROLES.items() if name not in ("agent", "judge")}
        return found | {name: Role(ROLES["judge"], "") for name in judge_roles(self.order.judges)}

    def source(self) -> Source:
        """Names everything the requests of an item follow from, so that a run goes on only where it is the same.

        Raises DataError for a file that cannot be read.
        """
        order = self.order
        paths = [path for path in (order.tools, order.sessions) if path]
        about = [dict(order.kinds), order.seed, order.langs, order.judges, order.agree]
        digest = hashlib.sha256(
            json.dumps([*about, __version__, prompts.digest(FOLDER), *file_digests(paths)]).encode()
        )
        name = str(paths[0]) if paths else "built-in tools"
        return Source(name, paths[0] if paths else Path(), digest.hexdigest())

    @cached_property
    def _catalogues(self) -> Mapping[Lang, Catalogue]:
        return catalogues(self.order.tools, self.order.langs, lambda text: None)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned items, then those that stand in for lost ones."""
        lost = dict.fromkeys(index for index, _ in self._stand_ins.planned)
        planned: dict[int, ItemPlan] = {}
        for plan, given in self._given():
            if plan.index in lost:
                planned[plan.index] = plan
            yield self._item(plan, given)
        for index, turn in self._stand_ins.planned:
            plan = planned[index].another(turn)
            yield self._item(plan, self._catalogues[plan.lang])

    def _item(self, plan: ItemPlan, given: Catalogue | MadeItem) -> Item:
        job = ItemJob(plan, given, self.order.judges, self.order.agree)
        return Item(plan.name, (UNIT,), job, plan.kind, plan.lang, tuple(self.roles))

    def replace_lost(self, found: "Harvest") -> bool:
        """Plans each lost item anew, of the same kind with other tools; whether there is anything to be played.

        Items from sessions have nothing to stand in for them.

        Args:
            found: what came of all that was planned so far.
        """
        if found.unfinished or self.order.sessions is not None:
            return False
        turns = {one.item.plan.turn for one in (*found.kept, *found.doubtful)}
        return self._stand_ins.add(found.missing, turns)

    def _given(self) -> Iterator[tuple[ItemPlan, Catalogue | MadeItem]]:
        """Each plan with what its item is made from."""
        order = self.order
        if order.sessions is not None:
            for item in given_items(order.sessions, order.items, order.kinds, order.seed, order.langs):
                yield item.plan, item
            return
        for plan in item_plans(order.items, order.kinds, seed=order.seed, langs=order.langs):
            yield plan, self._catalogues[plan.lang]

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Makes one item, where that is not done already."""
        if item.id not in self._results:
            await play_script(item_script(item.data), UNIT, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether an item came of what is recorded, and why not."""
        transcript = transcript_of(transcripts, UNIT)
        result = self.result(item, transcript)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else None
        if isinstance(result, Made) and not result.kept:
            lost = ("doubtful", "too few judges found it right")
        return [verdict_of(item, UNIT, transcript, lost, over=result is not None)]

    def result(self, item: Item, transcript: Transcript) -> Made | Loss | None:
        """What came of a planned item, from its recorded replies alone; None where they end before it does."""
        if item.id not in self._results:
            found = replay_script(item_script(item.data), transcript)
            if found is None:
                return None
            self._results[item.id] = found
        return self._results[item.id]
