"""The script of one item: it yields requests to roles and is sent the replies."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool.generate.core.script import ScriptResult, run_tries
from wildtool.generate.core.votes import ask_voters
from wildtool.generate.items.acebench_format import acebench_records
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.kinds import IMPERFECT, ITEM_KINDS, GenerationMode
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_play import play_dialogue_item
from wildtool.generate.items.role_replies import parse_opinion
from wildtool.generate.items.rules import item_faults
from wildtool.generate.items.single_pass import write_item
from wildtool.generate.items.tool_catalog import ToolCatalog, ToolChoice

ITEM_PROMPTS = Path(__file__).parent / "prompts"
ITEM_ROLES: Mapping[str, str] = {
    "writer": "writes simple items in one go: what is said, and the calls",
    "user": "says the requests of dialogues, and replies to questions",
    "agent": "calls, asks for what is missing, points out what is wrong, words answers",
    "tool": "returns what the tools would",
    "judge": "votes on finished items; the further votes are of `judge 2`, `judge 3`, …",
}
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
    votes: Sequence[Mapping[str, Any]]
    """Of each judge: its role as `judge`, `valid` (None if its reply could not be read), `where`, `reason`."""
    kept: bool
    """False if too few judges found it right: people decide."""


SCRIPTS_BY_MODE: Mapping[
    GenerationMode, Callable[[ItemPlan, ToolChoice, RoleSession], RoleCoroutine[GeneratedItem]]
] = {
    "written": write_item,
    "played": play_dialogue_item,
}


def item_script(job: ItemJob) -> RoleCoroutine[ScriptResult[AcceptedItem]]:
    """Makes one item: yields requests, returns what came of it."""

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[AcceptedItem]:
        item = yield from _item(job, number, counters)
        votes = yield from _votes(item, job.judges, counters)
        return AcceptedItem(item, votes, sum(vote["valid"] is True for vote in votes) >= job.agree)

    return run_tries(MAX_ITEM_TRIES if isinstance(job.source, ToolCatalog) else 1, attempt)


def _item(job: ItemJob, attempt: int, counters: Counter[str]) -> RoleCoroutine[GeneratedItem]:
    """An item that breaks no rule. Raises AttemptFailedError."""
    plan, item = job.plan, job.source
    if isinstance(item, ToolCatalog):
        choice = item.choose(plan, attempt)
        shown = {"tools": [tool.definition["function"] for tool in choice.offered], "now": plan.time}
        roles = RoleSession(ITEM_PROMPTS, plan.lang, shown, counters)
        item = yield from SCRIPTS_BY_MODE[ITEM_KINDS[plan.kind].mode](plan, choice, roles)
    if faults := item_faults(item):
        listed = "; ".join(f"{fault.rule}: {fault.message}" for fault in faults[:5])
        raise AttemptFailedError(f"item {faults[0].rule}", listed)
    return item


def _votes(item: GeneratedItem, judges: int, counters: Counter[str]) -> RoleCoroutine[list[dict[str, Any]]]:
    """What all judges say of an item that breaks no rule."""
    shown = [{**row.question, "answer": row.answer["ground_truth"]} for row in acebench_records(item)]
    for record in shown:
        del record["id"]
    kind = item.plan.kind
    roles = RoleSession(ITEM_PROMPTS, item.plan.lang, {"kind": kind, "records": shown}, counters)
    block = kind if kind in (*IMPERFECT, "similar") else "calls"
    votes = yield from ask_voters(roles, "judge", judges, [block], {}, lambda text: (parse_opinion(text), ()))
    found: list[dict[str, Any]] = []
    for judge, vote in votes:
        if isinstance(vote, AttemptFailedError):
            vote = {"valid": None, "where": "", "reason": f"no vote that could be read: {vote}"}
        elif not vote["valid"]:
            counters["judge found wrong"] += 1
        found.append({"judge": judge, **vote})
    return found
