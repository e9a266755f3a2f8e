"""Agent items made by role models; each planned one is an item of a run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.benchmarks.acebench.sandbox.extract import MESSAGES_FILE, STATE_FILES
from wildtool.engine.plan import Plan
from wildtool.types import Item, Source
from wildtool_data.make.agents.item import AgentItem
from wildtool_data.make.agents.output import KeptItems, write_agent_files
from wildtool_data.make.agents.plan import AgentPlan, AgentSpec, Scenarios
from wildtool_data.make.agents.script import (
    AGENT_PROMPTS,
    AGENT_ROLES,
    AcceptedAgentItem,
    AgentJob,
    agent_script,
)
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.files import storage_errors, write_attrition
from wildtool_data.make.core.maker import PROFILE, ScriptMaker, recorded_in, voter_roles
from wildtool_data.make.core.prompts import prompts_digest
from wildtool_data.make.core.roles import AttemptFailedError, RoleCoroutine, ScriptResult


@dataclass(frozen=True, slots=True)
class GeneratedAgentItems(GeneratedSet[tuple[AgentItem, Mapping[str, Any]]]):
    """The outcome of all planned agent items."""

    noun: ClassVar[str] = "items"
    key: ClassVar[str] = "item"
    roles: ClassVar[Mapping[str, str]] = AGENT_ROLES


class AgentMaker(ScriptMaker[AcceptedAgentItem]):
    """The part of a benchmark that a run takes; an item of it is a planned agent item."""

    name = "agent-items"
    title = "Agent items made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it plays right and the judges agree"}
    unit = "item"
    prompts = AGENT_PROMPTS

    def __init__(self, spec: AgentSpec) -> None:
        super().__init__(spec.items)
        self.spec = spec
        self.roles = voter_roles(AGENT_ROLES, {"judge": spec.judges})

    def source(self) -> Source:
        """See RoleBenchmark."""
        spec = self.spec
        counted = (dict(spec.kinds), spec.seed, spec.langs, spec.judges, spec.agree)
        files = [
            scenario.folder / name
            for scenario in self._scenarios.values()
            for name in (MESSAGES_FILE, STATE_FILES[scenario.lang])
        ]
        return self._source(spec.sandbox, "the sandbox at hand", counted, dict.fromkeys(files))

    @cached_property
    def _scenarios(self) -> Scenarios:
        return self.spec.scenarios()

    def planned_items(self) -> Iterator[Item]:
        """See ScriptMaker."""
        return map(self._item, self.spec.plans())

    def replanned_item(self, item: Item, turn: int) -> Item:
        """See ScriptMaker."""
        return self._item(item.data.plan.replanned(turn))

    def _item(self, plan: AgentPlan) -> Item:
        job = AgentJob(plan, self._scenarios[plan.kind, plan.lang], self.spec.judges, self.spec.agree)
        return Item(plan.name, (self.unit,), job, plan.kind, plan.lang, tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[AcceptedAgentItem]]:
        """See ScriptMaker."""
        return agent_script(item.data)

    def why_lost(self, outcome: ScriptResult[AcceptedAgentItem]) -> tuple[str, str] | None:
        """See ScriptMaker. An item that too few judges found right is not kept."""
        if outcome.value and not outcome.value.kept:
            return _DOUBTFUL, _objections(outcome.value)
        return super().why_lost(outcome)


_DOUBTFUL = "doubtful"


def _objections(accepted: AcceptedAgentItem) -> str:
    reasons = [str(vote["reason"]) for vote in accepted.votes if vote["valid"] is not True]
    return "too few judges found it right: " + "; ".join(reasons)


def agent_items_from_record(maker: AgentMaker, plan: Plan, out: Path) -> GeneratedAgentItems:
    """The items by the record in a folder."""
    models = {role: model.name for role, model in plan.models.items()}
    results = recorded_in(out, maker.recorded, plan.selection.items())
    return _collected(maker.spec, results, models)


def write_generated(generated: GeneratedAgentItems, out: Path) -> None:
    """Writes items, losses with their reasons, provenance, and the yield. Raises StorageError."""
    kept: KeptItems = generated.kept
    with storage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        write_attrition(out, generated.losses, generated.attrition())
    write_agent_files(kept, out)


def _collected(
    spec: AgentSpec,
    results: Iterable[tuple[Item, ScriptResult[AcceptedAgentItem] | None]],
    models: Mapping[str, str],
) -> GeneratedAgentItems:
    """Puts the items together; a near duplicate of an earlier one is lost."""
    texts = Deduplicator()

    def describe(item: Item) -> dict[str, Any]:
        plan: AgentPlan = item.data.plan
        return {"item": plan.index, "kind": plan.kind, "lang": plan.lang, "turn": plan.turn}

    def keep(
        item: Item, accepted: AcceptedAgentItem, result: ScriptResult[AcceptedAgentItem]
    ) -> tuple[AgentItem, Mapping[str, Any]]:
        if not accepted.kept:
            raise AttemptFailedError(_DOUBTFUL, _objections(accepted))
        plan: AgentPlan = item.data.plan
        if not texts.accepts(plan.lang, accepted.item.task.question):
            raise AttemptFailedError("S4", "it is nearly an earlier item")
        made_by = {
            "item": plan.index,
            "kind": plan.kind,
            "lang": plan.lang,
            "plan": asdict(plan),
            "models": dict(models),
            "version": __version__,
            "prompts": prompts_digest(AGENT_PROMPTS),
            "seed": spec.seed,
            "attempt": result.attempt,
            "calls": result.counters["requests"],
            "votes": list(accepted.votes),
        }
        return accepted.item, made_by

    return GeneratedAgentItems.collect(results, describe, keep)
