"""Which replies with calls fail, and how: what `--failures` takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from wildtool.alter.failures.kinds import DOWN, FAILURE_KINDS, RECOVERABLE, SHORTCUT_KINDS
from wildtool.draws import seeded_draw
from wildtool.errors import UsageError, unknown_name

FLAKY = "flaky"
PASSED_ON = "passed-on"
SCHEDULES: Mapping[str, str] = {
    "first-call": "the first reply with calls of each task fails",
    "twice-then-well": "the first two replies with calls fail",
    FLAKY: "each reply with calls fails at a rate, such as flaky:0.2; at most three in a row",
    DOWN: "every call fails",
    PASSED_ON: "the first result is damaged from which a later call takes a value",
}
"""Named schedules, each with what it does."""
_FIRST = {"first-call": 1, "twice-then-well": 2}
MOST_IN_A_ROW = 3
"""Failures of `flaky` after which a call goes well, so that trying again always helps."""


@dataclass(frozen=True, slots=True)
class FailureSchedule:
    """When calls fail, and in which ways."""

    name: str
    """Of SCHEDULES."""
    rate: float | None
    """Of `flaky` alone: chance of each reply with calls to fail, above 0 up to 1."""
    kinds: tuple[str, ...]
    """Those to draw from, in the order of FAILURE_KINDS."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `SCHEDULE[:RATE][,KIND…]`. Raises UsageError."""
        first, *kinds = (word.strip() for word in text.split(","))
        name, colon, rate = (word.strip() for word in first.partition(":"))
        if name not in SCHEDULES:
            if name in FAILURE_KINDS:
                raise UsageError(
                    f"--failures begins with a schedule, not with a kind; write first-call,{name} or flaky:0.2,{name}"
                )
            raise UsageError(unknown_name("schedule", name, SCHEDULES, of="--failures"))
        if colon and name != FLAKY:
            raise UsageError(f"--failures {name} takes no rate; write {name}, or flaky:{rate or 0.2}")
        if kinds and name == DOWN:
            raise UsageError("--failures down takes no kinds: all tools are down in the same way; write down")
        known = SHORTCUT_KINDS if name == PASSED_ON else tuple(FAILURE_KINDS)
        for kind in kinds:
            if kind not in known:
                raise UsageError(unknown_name("kind of failure", kind, known, of=f"--failures {name}"))
            if kinds.count(kind) > 1:
                raise UsageError(f"--failures names {kind} twice; name it once")
        usual = SHORTCUT_KINDS if name == PASSED_ON else RECOVERABLE
        drawn = tuple(kind for kind in known if kind in kinds) if kinds else usual
        return cls(name, _rate(rate) if name == FLAKY else None, (DOWN,) if name == DOWN else drawn)

    def __str__(self) -> str:
        first = self.name if self.rate is None else f"{self.name}:{self.rate:g}"
        return ",".join(
            [first, *(() if self.kinds in (RECOVERABLE, (DOWN,), SHORTCUT_KINDS) else self.kinds)]
        )

    def of_passed_values(self, place: str) -> tuple[str, ...]:
        """The kinds to try on a result from which a later call takes values, in an order drawn for the unit; the first
        that has anything to damage is taken. None under other schedules.

        Args:
            place: as of `kind`.
        """
        return tuple(seeded_draw(place).sample(self.kinds, len(self.kinds))) if self.name == PASSED_ON else ()

    def kind(self, place: str, number: int, in_a_row: int) -> str | None:
        """How a reply with calls fails; None where it goes well.

        Args:
            place: seed, item and unit, as a text: equal places have equal failures, in any order and in every run.
            number: of the reply among those with calls, from 0.
            in_a_row: replies with calls that failed just before it.
        """
        if self.name == DOWN:
            return DOWN
        if self.name == PASSED_ON:
            return None  # only a result tells whether it is one
        if self.rate is not None:
            draw = seeded_draw(f"{place} {number}")
            fails = draw.random() < self.rate and in_a_row < MOST_IN_A_ROW
            return draw.choice(self.kinds) if fails else None
        return seeded_draw(place).choice(self.kinds) if number < _FIRST[self.name] else None


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise UsageError(
            f"--failures flaky needs a rate above 0 up to 1, found {text!r}; write flaky:0.2 for one reply in five"
            if text
            else "--failures flaky has no rate; write flaky:0.2 for one reply in five"
        )
    return rate
