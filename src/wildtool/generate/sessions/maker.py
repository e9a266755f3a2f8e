"""Making sessions as something the engine plays: each is an item, each call to a role a recorded step of it.

So whatever holds for runs holds here: nothing is asked twice, limits and prices count, a killed run goes on, and the
sessions follow from the record alone.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool import __version__
from wildtool.benchmarks.wildtoolbench.data import read_items
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
from wildtool.generate.core.plan import Lang, SessionPlan, plans
from wildtool.generate.core.roles import voters
from wildtool.generate.procedural.tool_sets import ToolSet, built_in, read_tool_sets, result_schemas
from wildtool.generate.sessions.script import Loss, Made, script
from wildtool.generate.sessions.task import Job
from wildtool.toolcall.text.similarity import plain
from wildtool.types import Ask, Item, Role, Source, Transcript, Verdict

if TYPE_CHECKING:
    from wildtool.generate.sessions.collect import Harvest

UNIT = "session"
PROFILE = "made"
VOTING = ("judge", "checker")
"""Roles that several models can play, each with a vote."""


@dataclass(frozen=True, slots=True)
class Order:
    """What sessions are to be made."""

    sessions: int
    tasks: int = 4
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    against: tuple[Path, ...] = ()
    """Session files whose user texts no task may be near to."""
    twins: bool = False
    """Whether each plan comes in all languages."""
    judges: int = 1
    """Votes on the best of the proposed tasks."""
    checkers: int = 1
    """Votes on what the checker looks at; more than half accept."""

    @property
    def voters(self) -> Mapping[str, int]:
        return {"judge": self.judges, "checker": self.checkers}


class SessionMaker(Maker):
    """The part of a benchmark that playing a run takes; an item is a planned session."""

    name = "sessions"
    title = "Sessions made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule"}

    def __init__(self, order: Order) -> None:
        self.order = order
        self._stand_ins = StandIns(order.sessions)
        self._results: dict[str, Made | Loss] = {}
        """What came of items so far, without the replies: a finished one stays what it is."""
        names = {voter: role for role in prompts.ROLES for voter in voters(role, order.voters.get(role, 1))}
        self.roles: Mapping[str, Role] = {
            voter: Role(prompts.ROLES[role], "") for voter, role in names.items() if role != "agent"
        }

    def source(self) -> Source:
        """Names everything the requests of a session follow from, so that a run goes on only where it is the same.

        Raises DataError for a file that cannot be read.
        """
        order = self.order
        files = file_digests([file for file in (order.tools, *order.against) if file])
        digest = hashlib.sha256(
            json.dumps(
                [
                    *(order.tasks, order.seed, order.langs, __version__, prompts.digest()),
                    *(["twins"] if order.twins else []),
                    *([order.judges, order.checkers] if max(order.voters.values()) > 1 else []),
                    *files,
                ]
            ).encode()
        )
        name = str(order.tools) if order.tools else "built-in tools"
        return Source(name, order.tools or Path(), digest.hexdigest())

    @cached_property
    def _sets(self) -> Mapping[Lang, tuple[ToolSet, ...]]:
        tools = self.order.tools
        return {
            lang: read_tool_sets(tools, lang, lambda text: None) if tools else built_in(lang)
            for lang in self.order.langs
        }

    @cached_property
    def _against(self) -> Sequence[str]:
        sessions = (item.data for file in self.order.against for item in read_items(file))
        return [plain(task.text) for session in sessions for task in session.tasks]

    @cached_property
    def _returns(self) -> Mapping[str, Mapping[str, Any]]:
        return result_schemas(self.order.tools) if self.order.tools else {}

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned sessions, then those that stand in for lost ones."""
        order = self.order
        lost = dict.fromkeys(index for index, _ in self._stand_ins.planned)
        kept: dict[int, Item] = {}
        asked: Counter[tuple[str, int]] = Counter()
        for plan in plans(order.sessions, order.tasks, seed=order.seed, langs=order.langs, twins=order.twins):
            place = plan.lang, plan.set_of(len(self._sets[plan.lang]), 0)
            item = self._item(plan, asked[place])
            asked[place] += sum(task.asks_for_a_tool for task in plan.tasks)
            if plan.index in lost:
                kept[plan.index] = item
            yield item
        for index, turn in self._stand_ins.planned:
            before: Job = kept[index].data
            yield self._item(before.plan.another(turn), before.asked_before)

    def _item(self, plan: SessionPlan, asked_before: int) -> Item:
        job = Job(
            plan,
            self._sets[plan.lang],
            self._returns,
            self._against,
            self.order.voters,
            asked_before,
            built_in=not self.order.tools,
        )
        return Item(plan.name, (UNIT,), job, "", plan.lang, tuple(self.roles))

    def replace_lost(self, found: "Harvest") -> bool:
        """Plans each lost session anew, with the same tasks and other tools; whether there is anything to be played.

        Args:
            found: what came of all that was planned so far.
        """
        turns = {session["made_by"]["plan"]["turn"] for session in found.sessions}
        return not found.unfinished and self._stand_ins.add(found.missing, turns)

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Makes one session, where that is not done already."""
        if item.id not in self._results:
            await play_script(script(item.data), UNIT, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether a session came of what is recorded, and why not."""
        transcript = transcript_of(transcripts, UNIT)
        result = self.result(item, transcript)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else None
        return [verdict_of(item, UNIT, transcript, lost, over=result is not None)]

    def result(self, item: Item, transcript: Transcript) -> Made | Loss | None:
        """As `assemble`, once for each session; without its events."""
        if item.id not in self._results:
            found = assemble(item, transcript)
            if found is None:
                return None
            self._results[item.id] = replace(found, events=()) if isinstance(found, Made) else found
        return self._results[item.id]


def assemble(item: Item, transcript: Transcript) -> Made | Loss | None:
    """What came of a planned session, from its recorded replies alone; None where they end before it does."""
    return replay_script(script(item.data), transcript)
