"""Votes of several models in one role: judges choose among candidates or approve, checkers accept or refuse."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from wildtool.findings import Finding, fault
from wildtool.sanitize import truncate_words
from wildtool_data.make.core.parsing import RefusedReplyError, read_object
from wildtool_data.make.core.roles import AttemptFailedError, RoleCoroutine, RoleSession, Value, voter_names

Votes = list[tuple[str, Value | AttemptFailedError]]
"""The name of each voter with its vote, or with why it gave none."""


def ask_voters(
    roles: RoleSession,
    role: str,
    count: int,
    blocks: Sequence[str],
    situation: Mapping[str, Any],
    read: Callable[[str], tuple[Value, Iterable[Finding]]],
    decided: Callable[[Votes[Value]], bool] = lambda votes: False,
) -> RoleCoroutine[Votes[Value]]:
    """The votes of `count` models in a role, each asked on its own.

    Args:
        blocks: the parts of the role's instruction; `situation` and `read` likewise as `RoleSession.ask` takes them.
        decided: whether further votes would change nothing, so that the others are not asked.
    """
    votes: Votes[Value] = []
    for voter in voter_names(role, count):
        try:
            votes.append((voter, (yield from roles.ask(role, blocks, situation, read, voter=voter))))
        except AttemptFailedError as error:
            votes.append((voter, error))
        if decided(votes):
            break
    return votes


def majority_choice(
    roles: RoleSession, count: int, situation: Mapping[str, Any], candidates: Sequence[str]
) -> RoleCoroutine[str]:
    """The candidate that most of `count` judges choose."""

    def read(text: str) -> tuple[int, Iterable[Finding]]:
        best = read_object(text, "J1").get("best")
        if type(best) is int and 0 <= best < len(candidates):
            return best, ()
        message = f"`best` must be a position from 0 to {len(candidates) - 1}."
        raise RefusedReplyError(fault("J1", message))

    def counted(votes: Votes[int]) -> Counter[int]:
        return Counter(vote for _, vote in votes if isinstance(vote, int))

    def has_majority(votes: Votes[int]) -> bool:
        return max(counted(votes).values(), default=0) * 2 > count

    votes = yield from ask_voters(roles, "judge", count, [], situation, read, has_majority)
    # Every candidate keeps the rules, so a judge without a choice costs nothing.
    if silent := sum(isinstance(vote, AttemptFailedError) for _, vote in votes):
        roles.counters["judge gave no choice"] += silent
    choices = counted(votes)
    if choices and not has_majority(votes):
        roles.counters["judge had no majority"] += 1
    # Without a majority: the first of those with most votes.
    return candidates[min(choices, key=lambda k: (-choices[k], k), default=0)]


def checker_faults(
    roles: RoleSession, count: int, subject: str, material: Mapping[str, Any]
) -> RoleCoroutine[list[Finding]]:
    """The objections of `count` checkers; empty if a majority accepts.

    Raises AttemptFailedError if there is one checker, and it gives no vote.
    """

    def read(text: str) -> tuple[str, Iterable[Finding]]:
        """The objection; empty for a vote that accepts."""
        reply = read_object(text, "K1")
        if not isinstance(reply.get("accepted"), bool):
            raise RefusedReplyError(fault("K1", "`accepted` must be true or false."))
        reason = truncate_words(str(reply.get("reason", "")), 500) or "refused without a reason"
        return "" if reply["accepted"] else reason, ()

    def decided(votes: Votes[str]) -> bool:
        objections = [vote for _, vote in votes if isinstance(vote, str)]
        return objections.count("") * 2 > count or sum(map(bool, objections)) * 2 >= count

    votes = yield from ask_voters(roles, "checker", count, [subject], material, read, decided)
    objections: list[str] = []
    for _, vote in votes:
        if isinstance(vote, str):
            objections += [vote] if vote else []
        elif count == 1:
            raise vote
        else:
            # No vote; acceptance needs more than half of all.
            roles.counters["checker gave no vote"] += 1
    if sum(vote == "" for _, vote in votes) * 2 > count:
        return []
    roles.counters[f"checker refused {subject}"] += 1
    return [fault("checker", "; ".join(objections) or "no majority accepts it")]
