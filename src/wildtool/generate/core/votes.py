"""Votes of several models in one role: judges choose among candidates, checkers accept or refuse."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.generate.core.parsing import RuleFault, read_object
from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession, voter_names
from wildtool.sanitize import truncate_words


def majority_choice(
    roles: RoleSession, count: int, situation: Mapping[str, Any], candidates: Sequence[str]
) -> RoleCoroutine[str]:
    """The candidate that most of `count` judges choose."""

    def read(text: str) -> tuple[int | None, list[RuleFault]]:
        written, faults = read_object(text, "J1")
        best = written.get("best")
        if faults or (type(best) is int and 0 <= best < len(candidates)):
            return best, faults
        return None, [RuleFault("J1", f"`best` must be a position from 0 to {len(candidates) - 1}.")]

    names = voter_names("judge", count)
    votes: Counter[int] = Counter()
    for name in names:
        try:
            votes[(yield from roles.ask("judge", [], situation, read, voter=name))] += 1
        except AttemptFailedError:
            # Every candidate keeps the rules, so a judge without a choice costs nothing.
            roles.counters["judge gave no choice"] += 1
        if max(votes.values(), default=0) * 2 > len(names):
            break
    most = max(votes.values(), default=0)
    if votes and most * 2 <= len(names):
        roles.counters["judge had no majority"] += 1
    # Without a majority: the first of those with most votes.
    return candidates[min((k for k, count in votes.items() if count == most), default=0)]


def checker_faults(
    roles: RoleSession, count: int, what: str, seen: Mapping[str, Any]
) -> RoleCoroutine[list[RuleFault]]:
    """The objections of `count` checkers; empty if a majority accepts."""

    def read(text: str) -> tuple[tuple[bool, str] | None, list[RuleFault]]:
        written, faults = read_object(text, "K1")
        if faults or isinstance(written.get("accepted"), bool):
            return (
                written.get("accepted") is True,
                truncate_words(str(written.get("reason", "")), 500),
            ), faults
        return None, [RuleFault("K1", "`accepted` must be true or false.")]

    names = voter_names("checker", count)
    accepting, reasons = 0, list[str]()
    for name in names:
        try:
            accepted, reason = yield from roles.ask("checker", [what], seen, read, voter=name)
        except AttemptFailedError:
            if len(names) == 1:
                raise
            # No vote; acceptance needs more than half of all.
            roles.counters["checker gave no vote"] += 1
            continue
        accepting += accepted
        reasons += [] if accepted else [reason or "refused without a reason"]
        if accepting * 2 > len(names):
            return []
        if len(reasons) * 2 >= len(names):
            break
    roles.counters[f"checker refused {what}"] += 1
    return [RuleFault("checker", "; ".join(reasons) or "no majority accepts it")]
