"""Votes of the judges on an item that breaks no rule; enough of them must find it right."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession, voter_names
from wildtool.generate.items.acebench_format import acebench_records
from wildtool.generate.items.item import GeneratedItem
from wildtool.generate.items.role_replies import JudgeOpinion, parse_opinion
from wildtool.generate.items.roles import ITEM_PROMPTS

JUDGE_BLOCKS = {
    "incomplete": "incomplete",
    "error": "error",
    "irrelevant": "irrelevant",
    "similar": "similar",
}
"""The block of the judge's prompt by kind; answers of other kinds are calls."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's vote."""

    judge: str
    """Its role."""
    valid: bool | None
    """None if its reply could not be read."""
    where: str
    """What is wrong: question, tools or answer; empty if nothing is, or it does not say."""
    reason: str

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


def collect_votes(item: GeneratedItem, judges: int, counters: Counter[str]) -> RoleCoroutine[list[Vote]]:
    """Asks all judges, each on its own."""
    shown = [{**row.question, "answer": row.answer["ground_truth"]} for row in acebench_records(item)]
    for record in shown:
        del record["id"]
    votes: list[Vote] = []
    for role in voter_names("judge", judges):
        cast = RoleSession(ITEM_PROMPTS, item.plan.lang, {"kind": item.plan.kind, "records": shown}, counters)
        block = JUDGE_BLOCKS.get(item.plan.kind, "calls")
        try:
            opinion = yield from cast.ask("judge", [block], {}, parse_opinion, voter=role)
        except AttemptFailedError as lost:
            votes.append(Vote(role, None, "", f"no vote that could be read: {lost}"))
            continue
        if not opinion.valid:
            counters["judge found wrong"] += 1
        votes.append(_vote(role, opinion))
    return votes


def _vote(role: str, opinion: JudgeOpinion) -> Vote:
    return Vote(role, opinion.valid, "" if opinion.valid else opinion.where, opinion.reason)


def enough_agree(votes: list[Vote], agree: int) -> bool:
    """Whether enough judges found the item right."""
    return sum(vote.valid is True for vote in votes) >= agree
