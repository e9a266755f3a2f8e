"""Which records of a training set are kept for a model: those it believes in, or those it sometimes gets right."""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wildtool.training.keys import drawn_number

Named = TypeVar("Named")
DEFAULT_THRESHOLD = 5.0
"""Score from which a record is kept, as the paper has it."""


@dataclass(frozen=True, slots=True)
class KeepDecision:
    """Whether a record is kept, and why."""

    kept: bool
    reason: str


def by_score(score: float | None, threshold: float) -> KeepDecision:
    """Keeps a record from a score on; one without a readable score is not kept."""
    if score is None:
        return KeepDecision(False, "no score could be read")
    kept = score >= threshold
    return KeepDecision(kept, f"score {score:g} is {'at least' if kept else 'below'} {threshold:g}")


def by_tries(right: int, tries: int) -> KeepDecision:
    """Keeps a record that is right in some tries, but not in all."""
    said = f"right in {right} of {tries} tries"
    return KeepDecision(0 < right < tries, said)


def drawn(named: Iterable[tuple[str, Named]], count: int, seed: str) -> list[tuple[str, Named]]:
    """A random sample of records by their names, in a random order; a smaller sample begins a larger one of its seed."""
    return heapq.nsmallest(count, named, key=lambda one: drawn_number(seed, one[0]))


def random_arm(asked: Sequence[str], size: int, seed: str) -> Collection[str]:
    """As many of the asked records as were kept, whatever was said of them: the control of a selection."""
    return frozenset(heapq.nsmallest(size, asked, key=lambda name: drawn_number(f"{seed} random arm", name)))
