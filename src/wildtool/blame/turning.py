"""Where a unit turned: the first step at which its record and a play that ends right part."""

from collections.abc import Iterator
from dataclasses import dataclass

from wildtool.alter.base import UNDER_TEST
from wildtool.benchmark import Rules
from wildtool.engine.record.reader import ItemLog, LoggedReply
from wildtool.json_codec import canonical_json

_MESSAGE = b"message"
"""What stands for a reply without calls: words differ between any two plays."""


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """A step of the record, counted over all roles from 0."""

    step: int
    """The model's reply whose calls differ from those of the play."""
    said_before: int | None
    """The last reply of the blamed role before it; None where that says nothing in the record."""


def turn_of(rules: Rules, unit: str, recorded: ItemLog, mended: ItemLog, role: str) -> TurningPoint | None:
    """Where the model's calls in the record part from those of a play that ends right; None where they never do.

    Args:
        role: whose words before it are pointed at.
    """
    before, after = (list(_moves(rules, log, unit)) for log in (recorded, mended))
    for place, (step, move) in enumerate(before):
        if place >= len(after) or after[place][1] != move:
            return TurningPoint(step, _last_of(role, recorded, unit, step))
    return None


def _moves(rules: Rules, log: ItemLog, unit: str) -> Iterator[tuple[int, bytes]]:
    """The steps of the model under test, each with what it does, in a form that equal calls share."""
    for step, entry in sorted(log.get(unit, {}).items()):
        if isinstance(entry, LoggedReply) and entry.role == UNDER_TEST:
            calls = [
                [name, arguments] for name, arguments in rules.said(entry.reply.message) if name != "message"
            ]
            yield step, b"".join(sorted(map(canonical_json, calls))) or _MESSAGE


def _last_of(role: str, log: ItemLog, unit: str, before: int) -> int | None:
    if role == UNDER_TEST:
        return None
    steps = log.get(unit, {})
    steps_of_role = [step for step, entry in steps.items() if step < before and entry.role == role]
    return max(steps_of_role, default=None)
