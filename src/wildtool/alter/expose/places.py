"""Where a wrong unit was lost: one place for each, the first of an order that fits, alike for every exposure.

The order goes along the way from the model to the benchmark: what ended the unit, whether a call was wanted at all, then
what became of the call that the unit needed next: unread, its tool not found, its script stopped, not made, made wrongly.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from wildtool.alter.expose.outcomes import ExposedUnit, FaultKind

LossPlace = Literal[
    "declined",
    "cut off",
    "no call wanted",
    "tool guessed",
    "unread or unknown call",
    "text instead of code",
    "search failed",
    "searched, not found",
    "sandbox refused",
    "result misused in the script",
    "script error",
    "not searched",
    "text instead of a call",
    "wrong argument, computed",
    "wrong argument",
    "another tool",
    "one call too many",
    "calls right, answer wrong",
]
LOSS_PLACES: tuple[LossPlace, ...] = get_args(LossPlace)
"""In the order in which they are tried and shown; docs/exposure.md says what each means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostUnit:
    """How a wrong unit went, as its benchmark reads it. Requests to the model under test are numbered from 0."""

    needed: str | None = None
    """Name of the first gold call that was wanted and not made rightly; None where all were."""
    due: tuple[str, ...] = ()
    """Names of all gold calls that were due with it and not made rightly, its own included."""
    since: int = 0
    """The request that it was first due at."""
    until: int = 0
    """The request whose reply ended the turn that wanted it."""
    declined: bool = False
    """Whether a reply was filtered or refused."""
    cut: bool = False
    """Whether a limit of tokens or of replies ended that turn."""
    unwanted: bool = False
    """Whether a call was made before, where an answer or a question was wanted."""
    unread: bool = False
    """Whether a call of that turn cannot be read, or names no tool that was offered."""
    stray: tuple[tuple[int, str], ...] = ()
    """Calls since then that fulfil nothing, with the request that each answers."""


def loss_place(lost: LostUnit, exposed: ExposedUnit | None) -> LossPlace:
    """The place that a wrong unit was lost at. Args: exposed: None for a unit whose tools were shown."""
    exposed = exposed or ExposedUnit()
    if lost.declined:
        return "declined"
    if lost.cut or exposed.cut:
        return "cut off"
    if lost.unwanted:
        return "no call wanted"
    if lost.needed is None:
        return "one call too many" if lost.stray else "calls right, answer wrong"
    return _before_the_call(lost, exposed, lost.needed) or _at_the_call(lost, exposed, lost.needed)


def _before_the_call(lost: LostUnit, exposed: ExposedUnit, needed: str) -> LossPlace | None:
    """What kept the needed call from being made; None where nothing before it did."""
    faults = _unrepaired(lost, exposed, needed)
    if "guessed" in faults:
        return "tool guessed"
    if lost.unread or "unread" in faults:
        return "unread or unknown call"
    if exposed.scripts == 0:
        return "text instead of code"
    is_invisible = exposed.found is not None and _is_invisible(lost, exposed.found, needed)
    if is_invisible and exposed.searches:
        return "search failed" if "search failed" in faults else "searched, not found"
    # A script that was stopped may have been about to search.
    if "sandbox refused" in faults:
        return "sandbox refused"
    if "result misused" in faults:
        return "result misused in the script"
    if "script error" in faults:
        return "script error"
    return "not searched" if is_invisible else None


def _is_invisible(lost: LostUnit, found: Collection[str], needed: str) -> bool:
    """Whether the needed tool was not found, or one wanted with it, so that a model called neither."""
    if any(name == needed for _, name in lost.stray):
        return needed not in found
    return any(name not in found for name in (needed, *lost.due))


def _at_the_call(lost: LostUnit, exposed: ExposedUnit, needed: str) -> LossPlace:
    """How the needed call was missed, where nothing before it was wrong."""
    attempts = [(request, name) for request, name in lost.stray if name == needed]
    if attempts:
        computed = {(call.request, call.tool) for call in exposed.computed}
        return "wrong argument, computed" if computed.intersection(attempts) else "wrong argument"
    return "another tool" if lost.stray else "text instead of a call"


def _unrepaired(lost: LostUnit, exposed: ExposedUnit, needed: str) -> Collection[FaultKind]:
    """The faults of that turn after which the needed tool was never called; one that it was called after is repaired."""
    last = max((request for request, name in lost.stray if name == needed), default=-1)
    return {
        fault.kind
        for fault in exposed.faults
        if lost.since <= fault.request <= lost.until and fault.request > last
    }
