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

from wildtool.benchmarks.wildtoolbench.data import read_items
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
from wildtool.generate.core.plan import Lang, SessionPlan, session_plans
from wildtool.generate.core.roles import voter_names
from wildtool.generate.procedural.tool_sets import ToolSet, built_in_tool_sets, read_tool_sets, result_schemas
from wildtool.generate.sessions.script import AcceptedSession, Loss, session_script
from wildtool.generate.sessions.task import SessionJob
from wildtool.toolcall.text.similarity import fold_text
from wildtool.types import Ask, Item, Role, Source, Transcript, Verdict

if TYPE_CHECKING:
    from wildtool.generate.sessions.collect import GeneratedSessions

SESSION_UNIT = "session"
PROFILE = "made"
VOTING_ROLES = ("judge", "checker")
"""Roles that several models can play, each with a vote."""


@dataclass(frozen=True, slots=True)
class SessionGenerationSpec:
    """What sessions are to be made."""

    sessions: int
    tasks: int = 4
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    avoid_near: tuple[Path, ...] = ()
    """Session files whose user texts no task may be near to."""
    paired_languages: bool = False
    """Whether each plan comes in all languages."""
    judges: int = 1
    """Votes on the best of the proposed tasks."""
    checkers: int = 1
    """Votes on what the checker looks at; more than half accept."""

    @property
    def vote_counts(self) -> Mapping[str, int]:
        return {"judge": self.judges, "checker": self.checkers}


class SessionMaker(RoleBenchmark):
    """The part of a benchmark that playing a run takes; an item is a planned session."""

    name = "sessions"
    title = "Sessions made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule"}

    def __init__(self, spec: SessionGenerationSpec) -> None:
        self.spec = spec
        self._replacements = Replacements(spec.sessions)
        self._results: dict[str, AcceptedSession | Loss] = {}
        """What came of items so far, without the replies: a finished one stays what it is."""
        names = {
            voter: role
            for role in prompts.SESSION_ROLES
            for voter in voter_names(role, spec.vote_counts.get(role, 1))
        }
        self.roles: Mapping[str, Role] = {
            voter: Role(prompts.SESSION_ROLES[role], "") for voter, role in names.items() if role != "agent"
        }

    def source(self) -> Source:
        """Names everything the requests of a session follow from, so that a run goes on only where it is the same.

        Raises DataError for a file that cannot be read.
        """
        order = self.spec
        files = file_digests([file for file in (order.tools, *order.avoid_near) if file])
        digest = hashlib.sha256(
            json.dumps(
                [
                    *(order.tasks, order.seed, order.langs, RECIPE_VERSION, prompts.prompts_digest()),
                    *(["twins"] if order.paired_languages else []),
                    *([order.judges, order.checkers] if max(order.vote_counts.values()) > 1 else []),
                    *files,
                ]
            ).encode()
        )
        name = str(order.tools) if order.tools else "built-in tools"
        return Source(name, order.tools or Path(), digest.hexdigest())

    @cached_property
    def _sets(self) -> Mapping[Lang, tuple[ToolSet, ...]]:
        tools = self.spec.tools
        return {
            lang: read_tool_sets(tools, lang, lambda text: None) if tools else built_in_tool_sets(lang)
            for lang in self.spec.langs
        }

    @cached_property
    def _avoid_near(self) -> Sequence[str]:
        sessions = (item.data for file in self.spec.avoid_near for item in read_items(file))
        return [fold_text(task.text) for session in sessions for task in session.tasks]

    @cached_property
    def _returns(self) -> Mapping[str, Mapping[str, Any]]:
        return result_schemas(self.spec.tools) if self.spec.tools else {}

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned sessions, then those that stand in for lost ones."""
        order = self.spec
        lost = dict.fromkeys(index for index, _ in self._replacements.planned)
        kept: dict[int, Item] = {}
        asked: Counter[tuple[str, int]] = Counter()
        for plan in session_plans(
            order.sessions,
            order.tasks,
            seed=order.seed,
            langs=order.langs,
            paired_languages=order.paired_languages,
        ):
            place = plan.lang, plan.tool_set_index(len(self._sets[plan.lang]), 0)
            item = self._item(plan, asked[place])
            asked[place] += sum(task.names_a_tool for task in plan.tasks)
            if plan.index in lost:
                kept[plan.index] = item
            yield item
        for index, turn in self._replacements.planned:
            before: SessionJob = kept[index].data
            yield self._item(before.plan.replanned(turn), before.earlier_tool_tasks)

    def _item(self, plan: SessionPlan, asked_before: int) -> Item:
        job = SessionJob(
            plan,
            self._sets[plan.lang],
            self._returns,
            self._avoid_near,
            self.spec.vote_counts,
            asked_before,
            built_in=not self.spec.tools,
        )
        return Item(plan.name, (SESSION_UNIT,), job, "", plan.lang, tuple(self.roles))

    def replace_lost(self, found: "GeneratedSessions") -> bool:
        """Plans each lost session anew, with the same tasks and other tools; whether there is anything to be played.

        Args:
            found: what came of all that was planned so far.
        """
        turns = {session["made_by"]["plan"]["turn"] for session in found.sessions}
        return not found.unfinished and self._replacements.plan_missing(found.missing, turns)

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Makes one session, where that is not done already."""
        if item.id not in self._results:
            await play_script(session_script(item.data), SESSION_UNIT, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether a session came of what is recorded, and why not."""
        transcript = transcript_of(transcripts, SESSION_UNIT)
        result = self.result(item, transcript)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else None
        return [verdict_of(item, SESSION_UNIT, transcript, lost, finished=result is not None)]

    def result(self, item: Item, transcript: Transcript) -> AcceptedSession | Loss | None:
        """As `assemble`, once for each session; without its events."""
        if item.id not in self._results:
            found = assemble(item, transcript)
            if found is None:
                return None
            self._results[item.id] = (
                replace(found, replies=()) if isinstance(found, AcceptedSession) else found
            )
        return self._results[item.id]


def assemble(item: Item, transcript: Transcript) -> AcceptedSession | Loss | None:
    """What came of a planned session, from its recorded replies alone; None where they end before it does."""
    return replay_script(session_script(item.data), transcript)
