"""Sessions made by role models; each planned session is an item of a run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_items
from wildtool.findings import rules_identity
from wildtool.toolcall.text.similarity import fold_text
from wildtool.types import Item, Source
from wildtool_data.make.core.maker import ScriptMaker, voter_roles
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec, SessionPlan
from wildtool_data.make.core.prompts import SESSION_PROMPTS, SESSION_ROLES
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult
from wildtool_data.make.procedural.tool_sets import ToolSet, result_schemas, tool_sets_by_language
from wildtool_data.make.sessions.script import AcceptedSession, session_script
from wildtool_data.make.sessions.task import SessionJob

VOTING_ROLES = ("judge", "checker")
"""Roles that several models can play, each with a vote."""


class SessionMaker(ScriptMaker[AcceptedSession]):
    """The part of a benchmark that a run takes; an item is a planned session."""

    name = "sessions"
    title = "Sessions made by models"
    unit = "session"
    prompts = SESSION_PROMPTS

    def __init__(self, spec: SessionGenerationSpec) -> None:
        super().__init__(spec.sessions)
        self.spec = spec
        self.roles = voter_roles(SESSION_ROLES, spec.vote_counts)

    def source(self) -> Source:
        """See RoleBenchmark."""
        spec = self.spec
        more: list[Any] = ["twins"] if spec.paired_languages else []
        if max(spec.vote_counts.values()) > 1:
            more += [spec.judges, spec.checkers]
        more += rules_identity(WILDTOOLBENCH.name)
        counted = (spec.tasks, spec.seed, spec.langs)
        return self._source(spec.tools, "built-in tools", counted, (spec.tools, *spec.avoid_near), *more)

    @cached_property
    def _sets(self) -> Mapping[Lang, tuple[ToolSet, ...]]:
        return tool_sets_by_language(self.spec.tools, self.spec.langs)

    @cached_property
    def _avoid_near(self) -> Sequence[str]:
        sessions = (item.data for file in self.spec.avoid_near for item in read_items(file))
        return [fold_text(task.text) for session in sessions for task in session.tasks]

    @cached_property
    def _returns(self) -> Mapping[str, Mapping[str, Any]]:
        return result_schemas(self.spec.tools) if self.spec.tools else {}

    def planned_items(self) -> Iterator[Item]:
        """See ScriptMaker."""
        numbers: Counter[tuple[str, int]] = Counter()
        for plan in self.spec.plans():
            place = plan.lang, plan.tool_set_index(len(self._sets[plan.lang]), 0)
            yield self._item(plan, numbers[place])
            numbers[place] += sum(task.names_a_tool for task in plan.tasks)

    def replanned_item(self, item: Item, turn: int) -> Item:
        """The same tasks with other tools."""
        job: SessionJob = item.data
        return self._item(job.plan.replanned(turn), job.earlier_tool_tasks)

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
        return Item(plan.name, (self.unit,), job, "", plan.lang, tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[AcceptedSession]]:
        """See ScriptMaker."""
        return session_script(item.data)

    def remembered(self, result: ScriptResult[AcceptedSession]) -> ScriptResult[AcceptedSession]:
        """Without the replies, which are large."""
        return replace(result, value=replace(result.value, replies=())) if result.value else result
