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
from wildtool_data.make.core.maker import (
    SESSION_RECIPE,
    ScriptMaker,
    file_digests,
    identity_digest,
    voter_roles,
)
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec, SessionPlan
from wildtool_data.make.core.prompts import SESSION_PROMPTS, SESSION_ROLES
from wildtool_data.make.core.role_prompts import NO_OWN_PROMPTS, read_role_prompts
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult
from wildtool_data.make.procedural.tool_sets import ToolSet, result_schemas, tool_sets_by_language
from wildtool_data.make.sessions.material import read_material
from wildtool_data.make.sessions.script import AcceptedSession, session_script
from wildtool_data.make.sessions.task import SessionJob

EARLIER_RECIPES: Mapping[str, str] = {"0.1.0": "2f5f0dd8d859"}
"""Earlier recipes, with the digest of the prompts of each."""
VOTING_ROLES = ("judge", "checker")
"""Roles that several models can play, each with a vote."""
SHARED_ROLES = (*VOTING_ROLES, "user")
"""Roles that several models can play, each with a vote or in its turn."""


class SessionMaker(ScriptMaker[AcceptedSession]):
    """The part of a benchmark that a run takes; an item is a planned session."""

    name = "sessions"
    title = "Sessions made by models"
    unit = "session"
    prompts = SESSION_PROMPTS
    recipe = SESSION_RECIPE

    def __init__(self, spec: SessionGenerationSpec) -> None:
        """Raises UsageError for texts of roles that cannot be used, DataError for examples and scenarios."""
        super().__init__(spec.sessions)
        self.spec = spec
        self.roles = voter_roles(SESSION_ROLES, {**spec.vote_counts, "user": spec.users})
        self.own_prompts = (
            read_role_prompts(spec.role_prompts, spec.langs) if spec.role_prompts else NO_OWN_PROMPTS
        )
        self.material = read_material(spec.examples, spec.scenarios, spec.seed)

    @property
    def own_digest(self) -> str:
        """Digest of the user's own texts for roles; empty for none."""
        return self.own_prompts.digest if self.own_prompts.texts else ""

    def source(self) -> Source:
        """See RoleBenchmark."""
        spec = self.spec
        more = self._settings_of_0_1
        more += ["users", spec.users] if spec.users > 1 else []
        more += ["clarify", spec.clarify] if spec.clarify != "all" else []
        more += ["role prompts", self.own_digest] if spec.role_prompts else []
        more += [name for name in ("examples", "scenarios") if getattr(spec, name)]
        files = (spec.tools, *spec.avoid_near, spec.examples, spec.scenarios)
        return self._source(spec.tools, "built-in tools", self._counted, files, *more)

    @property
    def _counted(self) -> Sequence[Any]:
        return (self.spec.tasks, self.spec.seed, self.spec.langs)

    @property
    def _settings_of_0_1(self) -> list[Any]:
        """What identified a set when there were no further settings."""
        spec = self.spec
        more: list[Any] = ["twins"] if spec.paired_languages else []
        if max(spec.vote_counts.values()) > 1:
            more += [spec.judges, spec.checkers]
        return [*more, *rules_identity(WILDTOOLBENCH.name)]

    def begun_before(self, data_sha256: str) -> str:
        """See RoleBenchmark."""
        files = [file for file in (self.spec.tools, *self.spec.avoid_near) if file]
        for recipe, prompts in EARLIER_RECIPES.items():
            identity = [*self._counted, recipe, prompts, *self._settings_of_0_1, *file_digests(files)]
            if identity_digest(identity) == data_sha256:
                return (
                    f"this set was begun with recipe {recipe} (wildtool 0.1 or 0.2), which planned and asked otherwise "
                    f"than {self.recipe}; finish it with that version, or begin another set with --out FOLDER"
                )
        return ""

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
        for plan in self.spec.plans(len(self.material.scenarios)):
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
            users=self.spec.users,
            material=self.material,
            own_prompts=self.own_prompts,
        )
        return Item(plan.name, (self.unit,), job, "", plan.lang, tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[AcceptedSession]]:
        """See ScriptMaker."""
        return session_script(item.data)

    def remembered(self, result: ScriptResult[AcceptedSession]) -> ScriptResult[AcceptedSession]:
        """Without the replies, which are large."""
        return replace(result, value=replace(result.value, replies=())) if result.value else result
