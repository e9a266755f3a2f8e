"""One item made by role models, as a pure state machine: it yields requests and is sent the replies."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.generate.core.roles import Cast, LostError, Talk
from wildtool.generate.items.item import MadeItem
from wildtool.generate.items.kinds import KINDS, Way
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_play import played_item
from wildtool.generate.items.roles import cast_of
from wildtool.generate.items.rules import item_faults
from wildtool.generate.items.single_pass import written_item
from wildtool.generate.items.tool_catalog import Catalogue, Choice
from wildtool.generate.items.votes import Vote, agreed, vote

ITEM_TRIES = 3
"""Attempts at an item, each with other tools."""


@dataclass(frozen=True, slots=True)
class ItemJob:
    """What one item is made from."""

    plan: ItemPlan
    given: Catalogue | MadeItem
    """The tools to make it from; or the item itself, made from something else, which is only checked."""
    judges: int
    """Votes that are asked for; 0 for none."""
    agree: int
    """Votes for an item that keep it."""


@dataclass(frozen=True, slots=True)
class Made:
    """An item that breaks no rule."""

    item: MadeItem
    votes: Sequence[Vote]
    kept: bool
    """False where too few judges found it right: it is for people to decide."""
    attempt: int
    tally: Mapping[str, int]
    """How often what happened, such as `writer asked` or `writer refused E8`."""
    seen: int
    """Requests that it took."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An item that came to nothing."""

    reason: str
    """Short and stable: role and rule that the last try failed by."""
    detail: str
    """What was wrong, for each try."""
    tally: Mapping[str, int]
    seen: int


WAYS: Mapping[Way, Callable[[ItemPlan, Choice, Cast], Talk[MadeItem]]] = {
    "written": written_item,
    "played": played_item,
}


def item_script(job: ItemJob) -> Talk[Made | Loss]:
    """Makes one item: yields what to ask, returns what came of it."""
    tally: Counter[str] = Counter()
    problems: list[str] = []
    reason = ""
    for attempt in range(ITEM_TRIES if isinstance(job.given, Catalogue) else 1):
        try:
            item = yield from _attempt(job, attempt, tally)
        except LostError as lost:
            reason = lost.reason
            problems.append(str(lost))
            continue
        votes = yield from vote(item, job.judges, tally)
        kept = agreed(votes, job.agree)
        return Made(item, votes, kept, attempt, dict(tally), tally["requests"])
    return Loss(reason, " | ".join(dict.fromkeys(problems)), dict(tally), tally["requests"])


def _attempt(job: ItemJob, attempt: int, tally: Counter[str]) -> Talk[MadeItem]:
    """An item that breaks no rule. Raises LostError."""
    if isinstance(job.given, Catalogue):
        choice = job.given.choose(job.plan, attempt)
        cast = cast_of(job.plan, choice, tally)
        item = yield from WAYS[KINDS[job.plan.kind].way](job.plan, choice, cast)
    else:
        item = job.given
    if faults := item_faults(item):
        told = "; ".join(f"{fault.rule}: {fault.message}" for fault in faults[:5])
        raise LostError(f"item {faults[0].rule}", told)
    return item
