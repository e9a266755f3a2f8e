"""A set of sessions: those kept, with provenance, and those lost, with the reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.generate.core.collect import GeneratedSet
from wildtool.generate.core.dedup import Deduplicator
from wildtool.generate.core.plan import SessionGenerationSpec
from wildtool.generate.core.prompts import SESSION_ROLES, prompts_digest
from wildtool.generate.core.roles import AttemptFailedError
from wildtool.generate.core.script import ScriptResult
from wildtool.generate.sessions.rules.decisions import DECISION_RULES
from wildtool.generate.sessions.script import AcceptedSession
from wildtool.types import Item, Metric

_TEXT_RULES = [f"{group}{k}" for group, count in (("T", 9), ("A", 11), ("C", 3)) for k in range(1, count + 1)]


@dataclass(frozen=True, slots=True)
class GeneratedSessions(GeneratedSet[dict[str, Any]]):
    """The outcome of all planned sessions; each is a record of the benchmark, with `made_by`."""

    noun: ClassVar[str] = "sessions"
    key: ClassVar[str] = "session"
    roles: ClassVar[Mapping[str, str]] = SESSION_ROLES

    def attrition(self) -> list[Metric]:
        """Where attempts, and tasks of kept sessions, are lost."""
        others = [
            Metric("tasks", event, None, count, 0, kind="count")
            for event, count in sorted(self.counters.items())
            if event.startswith(("task lost", "relabelled"))
        ]
        return [*GeneratedSet[dict[str, Any]].attrition(self), *others]


def collect_sessions(
    spec: SessionGenerationSpec,
    made: Iterable[tuple[Item, ScriptResult[AcceptedSession] | None]],
    models: Mapping[str, str],
) -> GeneratedSessions:
    """Puts the sessions of a set together: adds provenance, drops near duplicates of earlier ones.

    Args:
        made: in order of the plans, replacements last.
        models: name of the model in each role.
    """
    texts = Deduplicator()

    def keep(item: Item, session: AcceptedSession, result: ScriptResult[AcceptedSession]) -> dict[str, Any]:
        tasks = next(value for key, value in session.record.items() if key.endswith("_tasks"))
        near = [text for text in tasks if not texts.accepts(item.data.plan.lang, text)]
        if near:
            raise AttemptFailedError("near duplicate", f"{near[0]!r} is nearly a text of an earlier session")
        about = {
            "models": dict(models),
            "votes": dict(spec.vote_counts),
            "version": __version__,
            "prompts": prompts_digest(),
            "seed": spec.seed,
            "session": item.data.plan.index,
            "checks": [
                "P1",
                "P3",
                "P13",
                *DECISION_RULES.rules,
                *_TEXT_RULES,
                "lint",
                "gold official",
                "gold fixed",
            ],
            "calls": result.counters["requests"],
            "reviewed": False,
        }
        return {**session.record, "made_by": {**about, **session.record["made_by"]}}

    return GeneratedSessions.collect(made, lambda item: {"session": item.id}, keep)
