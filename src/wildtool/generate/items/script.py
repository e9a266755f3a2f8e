"""The script of one item: it yields requests to roles and is sent the replies."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool.generate.core.script import RejectedAttempt, run_tries
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
    """What an item is generated from."""

    plan: ItemPlan
    source: ToolCatalog | GeneratedItem
    """The tools; or an item made from something else, which is only checked."""
    judges: int
    """Number of votes; 0 for none."""
    agree: int
    """Votes for an item that keep it."""


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    """An item that breaks no rule."""

    item: GeneratedItem
    votes: Sequence[Vote]
    kept: bool
    """False if too few judges found it right: people decide."""
    attempt: int
    counters: Mapping[str, int]
    """How often each event happened, such as `writer asked` or `writer refused E8`."""
    requests: int
    """Requests that it took."""


SCRIPTS_BY_MODE: Mapping[
    GenerationMode, Callable[[ItemPlan, ToolChoice, RoleSession], RoleCoroutine[GeneratedItem]]
] = {
    "written": write_item,
    "played": play_dialogue_item,
}


def item_script(job: ItemJob) -> RoleCoroutine[AcceptedItem | RejectedAttempt]:
    """Makes one item: yields requests, returns what came of it."""

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[AcceptedItem]:
        item = yield from _item(job, number, counters)
        votes = yield from collect_votes(item, job.judges, counters)
        kept = enough_agree(votes, job.agree)
        return AcceptedItem(item, votes, kept, number, dict(counters), counters["requests"])

    return run_tries(MAX_ITEM_TRIES if isinstance(job.source, ToolCatalog) else 1, attempt)


def _item(job: ItemJob, attempt: int, counters: Counter[str]) -> RoleCoroutine[GeneratedItem]:
    """An item that breaks no rule. Raises AttemptFailedError."""
    if isinstance(job.source, ToolCatalog):
        choice = job.source.choose(job.plan, attempt)
        roles = item_roles(job.plan, choice, counters)
        item = yield from SCRIPTS_BY_MODE[ITEM_KINDS[job.plan.kind].mode](job.plan, choice, roles)
    else:
        item = job.source
    if faults := item_faults(item):
        listed = "; ".join(f"{fault.rule}: {fault.message}" for fault in faults[:5])
        raise AttemptFailedError(f"item {faults[0].rule}", listed)
    return item
