"""Model voting: several judges look at an item that breaks no rule; only what enough of them find right is kept."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from wildtool.generate.core.roles import Cast, LostError, Talk
from wildtool.generate.items.acebench_format import rows
from wildtool.generate.items.item import MadeItem
from wildtool.generate.items.role_replies import Opinion, read_opinion
from wildtool.generate.items.roles import FOLDER, judge_roles

BLOCKS = {"incomplete": "incomplete", "error": "error", "irrelevant": "irrelevant", "similar": "similar"}
"""What a judge is told besides, by kind; other kinds have calls as answers."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's vote."""

    judge: str
    """Its role."""
    valid: bool | None
    """None where it gave none that could be read."""
    where: str
    """What is wrong: question, tools or answer; empty where nothing is, or it does not say."""
    reason: str

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


def vote(item: MadeItem, judges: int, tally: Counter[str]) -> Talk[list[Vote]]:
    """Asks all judges, each on its own."""
    shown = [{**row.question, "answer": row.answer["ground_truth"]} for row in rows(item)]
    for record in shown:
        del record["id"]
    votes: list[Vote] = []
    for role in judge_roles(judges):
        cast = Cast(FOLDER, item.plan.lang, {"kind": item.plan.kind, "records": shown}, tally)
        block = BLOCKS.get(item.plan.kind, "calls")
        try:
            opinion = yield from cast.ask("judge", [block], {}, read_opinion, voter=role)
        except LostError as lost:
            votes.append(Vote(role, None, "", f"no vote that could be read: {lost}"))
            continue
        if not opinion.valid:
            tally["judge found wrong"] += 1
        votes.append(_vote(role, opinion))
    return votes


def _vote(role: str, opinion: Opinion) -> Vote:
    return Vote(role, opinion.valid, "" if opinion.valid else opinion.where, opinion.reason)


def agreed(votes: list[Vote], agree: int) -> bool:
    """Whether enough judges found the item right."""
    return sum(vote.valid is True for vote in votes) >= agree
