"""What came of all planned sessions of a set: those kept, with how they were made, and those lost, with the reason."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wildtool import __version__
from wildtool.generate.core import prompts
from wildtool.generate.core.attrition import attrition_table
from wildtool.generate.core.dedup import Deduplicator
from wildtool.generate.core.plan import SessionPlan
from wildtool.generate.sessions.maker import SessionGenerationSpec
from wildtool.generate.sessions.rules.decisions import DECISION_RULES
from wildtool.generate.sessions.script import AcceptedSession, Loss
from wildtool.types import Item, Metric


@dataclass(frozen=True, slots=True)
class GeneratedSessions:
    """What came of all planned sessions."""

    sessions: tuple[dict[str, Any], ...]
    """In order of their plans, with provenance."""
    losses: tuple[dict[str, Any], ...]
    """Plan, reason and detail of each that was not kept, and whether a session of another plan stands in for it."""
    unfinished: int
    counters: Mapping[str, int]
    """How often what happened in all of them."""
    missing: tuple[int, ...]
    """Numbers of the planned sessions of which no plan was kept."""

    @property
    def unreplaced_losses(self) -> list[dict[str, Any]]:
        """The losses for which nothing stands in, one for each missing session: that of the last plan."""
        last = {str(loss["session"]).partition(".")[0]: loss for loss in self.losses if not loss["replaced"]}
        return list(last.values())

    @property
    def replaced(self) -> int:
        """How many sessions stand in for lost ones."""
        return sum(bool(session["made_by"]["plan"]["turn"]) for session in self.sessions)

    def attrition(self) -> list[Metric]:
        """Where attempts are lost."""
        reasons = (str(loss["reason"]) for loss in self.losses)
        kept = len(self.sessions)
        table = attrition_table(
            "sessions", kept, reasons, self.unfinished, self.counters, prompts.SESSION_ROLES
        )
        stand_in = Metric("sessions", "in place of lost ones", None, self.replaced, 0, kind="count")
        others = [
            Metric("tasks", what, None, count, 0, kind="count")
            for what, count in sorted(self.counters.items())
            if what.startswith(("task lost", "relabelled"))
        ]
        return [table[0], *([stand_in] if self.losses else []), *table[1:], *others]


def collect_sessions(
    spec: SessionGenerationSpec,
    made: Iterator[tuple[Item, AcceptedSession | Loss | None]],
    models: Mapping[str, str],
) -> GeneratedSessions:
    """Puts the sessions of a set together: provenance, and near duplicates of earlier ones dropped.

    Args:
        made: in order of the plans, those that stand in for lost ones last.
        models: name of the model in each role.
    """
    fresh = Deduplicator()
    sessions: dict[int, dict[str, Any]] = {}
    losses: list[dict[str, Any]] = []
    tally: Counter[str] = Counter()
    planned: dict[int, None] = {}
    unfinished = 0
    for item, result in made:
        plan: SessionPlan = item.data.plan
        planned[plan.index] = None
        if result is None:
            unfinished += 1
            continue
        tally.update(result.counters)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else _near(result, plan, fresh)
        if lost is not None:
            losses.append({"session": item.id, "reason": lost[0], "detail": lost[1]})
        elif isinstance(result, AcceptedSession):
            sessions[plan.index] = _with_provenance(result, plan, spec, models)
    told = [{**loss, "replaced": int(str(loss["session"]).partition(".")[0]) in sessions} for loss in losses]
    missing = tuple(index for index in planned if index not in sessions) if not unfinished else ()
    return GeneratedSessions(
        tuple(sessions[index] for index in sorted(sessions)), tuple(told), unfinished, dict(tally), missing
    )


def _near(made: AcceptedSession | Loss, plan: SessionPlan, fresh: Deduplicator) -> tuple[str, str] | None:
    """Reason and detail where a text is nearly one of a session that was kept before."""
    assert isinstance(made, AcceptedSession)
    texts = next(value for key, value in made.record.items() if key.endswith("_tasks"))
    like = [text for text in texts if not fresh.accepts(plan.lang, text)]
    return ("near duplicate", f"{like[0]!r} is nearly a text of an earlier session") if like else None


def _with_provenance(
    made: AcceptedSession, plan: SessionPlan, order: SessionGenerationSpec, models: Mapping[str, str]
) -> dict[str, Any]:
    about = {
        "models": dict(models),
        "votes": dict(order.vote_counts),
        "version": __version__,
        "prompts": prompts.prompts_digest(),
        "seed": order.seed,
        "session": plan.index,
        "checks": ["P1", "P3", "P13", *DECISION_RULES, *_TEXT_RULES, "lint", "gold official", "gold fixed"],
        "calls": made.requests,
        "reviewed": False,
    }
    return {**made.record, "made_by": {**about, **made.record["made_by"]}}


_TEXT_RULES = (
    *(f"T{k}" for k in range(1, 10)),
    *(f"A{k}" for k in range(1, 7)),
    *(f"C{k}" for k in range(1, 4)),
)
