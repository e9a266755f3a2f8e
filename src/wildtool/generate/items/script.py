"""One item made by role models, as a pure state machine: it yields requests and is sent the replies."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.kinds import ITEM_KINDS, GenerationMode
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_play import play_dialogue_item
from wildtool.generate.items.roles import item_roles
from wildtool.generate.items.rules import item_faults
from wildtool.generate.items.single_pass import write_item
from wildtool.generate.items.tool_catalog import ToolCatalog, ToolChoice
from wildtool.generate.items.votes import Vote, collect_votes, enough_agree

MAX_ITEM_TRIES = 3
"""Attempts at an item, each with other tools."""


@dataclass(frozen=True, slots=True)
class ItemJob:
    """What one item is made from."""

    plan: ItemPlan
    source: ToolCatalog | GeneratedItem
    """The tools to make it from; or the item itself, made from something else, which is only checked."""
    judges: int
    """Votes that are asked for; 0 for none."""
    agree: int
    """Votes for an item that keep it."""


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    """An item that breaks no rule."""

    item: GeneratedItem
    votes: Sequence[Vote]
    kept: bool
    """False where too few judges found it right: it is for people to decide."""
    attempt: int
    counters: Mapping[str, int]
    """How often what happened, such as `writer asked` or `writer refused E8`."""
    requests: int
    """Requests that it took."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An item that came to nothing."""

    reason: str
    """Short and stable: role and rule that the last try failed by."""
    detail: str
    """What was wrong, for each try."""
    counters: Mapping[str, int]
    requests: int


SCRIPTS_BY_MODE: Mapping[
    GenerationMode, Callable[[ItemPlan, ToolChoice, RoleSession], RoleCoroutine[GeneratedItem]]
] = {
    "written": write_item,
    "played": play_dialogue_item,
}


def item_script(job: ItemJob) -> RoleCoroutine[AcceptedItem | Loss]:
    """Makes one item: yields what to ask, returns what came of it."""
    tally: Counter[str] = Counter()
    problems: list[str] = []
    reason = ""
    for attempt in range(MAX_ITEM_TRIES if isinstance(job.source, ToolCatalog) else 1):
        try:
            item = yield from _attempt(job, attempt, tally)
        except AttemptFailedError as lost:
            reason = lost.reason
            problems.append(str(lost))
            continue
        votes = yield from collect_votes(item, job.judges, tally)
        kept = enough_agree(votes, job.agree)
        return AcceptedItem(item, votes, kept, attempt, dict(tally), tally["requests"])
    return Loss(reason, " | ".join(dict.fromkeys(problems)), dict(tally), tally["requests"])


def _attempt(job: ItemJob, attempt: int, tally: Counter[str]) -> RoleCoroutine[GeneratedItem]:
    """An item that breaks no rule. Raises LostError."""
    if isinstance(job.source, ToolCatalog):
        choice = job.source.choose(job.plan, attempt)
        cast = item_roles(job.plan, choice, tally)
        item = yield from SCRIPTS_BY_MODE[ITEM_KINDS[job.plan.kind].mode](job.plan, choice, cast)
    else:
        item = job.source
    if faults := item_faults(item):
        told = "; ".join(f"{fault.rule}: {fault.message}" for fault in faults[:5])
        raise AttemptFailedError(f"item {faults[0].rule}", told)
    return item
