"""A set of sessions: those kept, with provenance, and those lost, with the reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.generate.core.attrition import attrition_table
from wildtool.generate.core.collect import GeneratedSet, collect_results
from wildtool.generate.core.dedup import Deduplicator
from wildtool.generate.core.prompts import SESSION_ROLES, prompts_digest
from wildtool.generate.core.roles import AttemptFailedError
from wildtool.generate.core.script import RejectedAttempt
from wildtool.generate.sessions.maker import SessionGenerationSpec
from wildtool.generate.sessions.rules.decisions import DECISION_RULES
from wildtool.generate.sessions.script import AcceptedSession
from wildtool.types import Item, Metric

_TEXT_RULES = (
    *(f"T{k}" for k in range(1, 10)),
    *(f"A{k}" for k in range(1, 7)),
    *(f"C{k}" for k in range(1, 4)),
)


@dataclass(frozen=True, slots=True)
class GeneratedSessions(GeneratedSet[dict[str, Any]]):
    """What came of all planned sessions; each as a record of the benchmark, with `made_by`."""

    key: ClassVar[str] = "session"

    @property
    def turns(self) -> Sequence[int]:
        return [session["made_by"]["plan"]["turn"] for session in self.kept]

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        table = attrition_table(
            "sessions",
            len(self.kept),
            (str(loss["reason"]) for loss in self.losses),
            self.unfinished,
            self.counters,
            SESSION_ROLES,
            replaced=self.replaced if self.losses else None,
        )
        others = [
            Metric("tasks", event, None, count, 0, kind="count")
            for event, count in sorted(self.counters.items())
            if event.startswith(("task lost", "relabelled"))
        ]
        return [*table, *others]


def collect_sessions(
    spec: SessionGenerationSpec,
    made: Iterable[tuple[Item, AcceptedSession | RejectedAttempt | None]],
    models: Mapping[str, str],
) -> GeneratedSessions:
    """Puts the sessions of a set together: adds provenance, drops near duplicates of earlier ones.

    Args:
        made: in order of the plans, replacements last.
        models: name of the model in each role.
    """
    texts = Deduplicator()

    def keep(item: Item, result: AcceptedSession) -> dict[str, Any]:
        tasks = next(value for key, value in result.record.items() if key.endswith("_tasks"))
        near = [text for text in tasks if not texts.accepts(item.data.plan.lang, text)]
        if near:
            raise AttemptFailedError("near duplicate", f"{near[0]!r} is nearly a text of an earlier session")
        return _with_provenance(result, item.data.plan.index, spec, models)

    found = collect_results(made, GeneratedSessions.key, lambda item: {"session": item.id}, keep)
    return GeneratedSessions(
        tuple(found.kept.values()), found.losses, found.unfinished, dict(found.counters), found.missing
    )


def _with_provenance(
    made: AcceptedSession, index: int, spec: SessionGenerationSpec, models: Mapping[str, str]
) -> dict[str, Any]:
    about = {
        "models": dict(models),
        "votes": dict(spec.vote_counts),
        "version": __version__,
        "prompts": prompts_digest(),
        "seed": spec.seed,
        "session": index,
        "checks": ["P1", "P3", "P13", *DECISION_RULES, *_TEXT_RULES, "lint", "gold official", "gold fixed"],
        "calls": made.requests,
        "reviewed": False,
    }
    return {**made.record, "made_by": {**about, **made.record["made_by"]}}
