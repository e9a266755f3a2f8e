"""Agent items without any model: drawn tasks, played in the sandbox, whose gold run and mistakes are judged rightly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool import __version__
from wildtool_data.make.agents.item import AgentItem, played_item
from wildtool_data.make.agents.plan import AgentPlan, AgentSpec
from wildtool_data.make.agents.scenario import AgentScenario
from wildtool_data.make.agents.tasks import draw_task
from wildtool_data.make.core.dedup import Deduplicator

_ATTEMPTS = 40


@dataclass(frozen=True, slots=True)
class MadeAgentItems:
    """The items of a set, and what came of the others."""

    kept: Sequence[tuple[AgentItem, Mapping[str, Any]]]
    """Each with how it was made."""
    losses: Sequence[Mapping[str, Any]]


def procedural_agent_items(spec: AgentSpec) -> MadeAgentItems:
    """A set of agent items; the same specification gives the same items. Raises UsageError where there is no sandbox."""
    scenarios, fresh = spec.scenarios(), Deduplicator()
    kept: list[tuple[AgentItem, Mapping[str, Any]]] = []
    losses: list[Mapping[str, Any]] = []
    for plan in spec.plans():
        about = {"item": plan.index, "kind": plan.kind, "lang": plan.lang}
        made = _drawn(plan, scenarios[plan.kind, plan.lang], fresh)
        if isinstance(made, AgentItem):
            kept.append((made, {**about, "model": "procedural", "version": __version__, "seed": spec.seed}))
        else:
            losses.append({**about, "reason": "no draw", "detail": made, "replaced": False})
    return MadeAgentItems(kept, losses)


def _drawn(plan: AgentPlan, scenario: AgentScenario, fresh: Deduplicator) -> AgentItem | str:
    problem = "each draw was like an earlier item"
    for attempt in range(_ATTEMPTS):
        task = draw_task(scenario, plan.stream(str(attempt)))
        made = played_item(plan.index, scenario, task)
        if isinstance(made, str):
            problem = made
        elif fresh.accepts(plan.lang, task.question):
            return made
    return f"{_ATTEMPTS} draws led to no item: {problem}"
