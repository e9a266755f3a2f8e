"""What was said and seen in a session so far, and how a user can refer back to it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from wildtool_data.make.procedural.tool_sets import ParameterSlot
from wildtool_data.make.procedural.wording import Wording

_COUNTABLE = 4
"""Most values of one kind that a user tells apart by their order."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A value of an earlier task, or an entity that a tool returned there."""

    slot: ParameterSlot
    """The slot it was said for; for an entity a slot of its id's key."""
    value: Any
    task: int
    index: int | None = None
    """Place among several, from 0; None if there is only one."""
    best: str = ""
    """Kind of the field in which it is the one best of its list, such as `price`; empty if in none."""


class History:
    """Mentions of all tasks so far."""

    def __init__(self, *, by_noun: bool) -> None:
        """Args: by_noun: whether what two parameters are called by the same noun is never referred to."""
        self._mentions: list[Mention] = []
        self._by_noun = by_noun

    def add(self, mentions: Iterable[Mention]) -> None:
        self._mentions.extend(mentions)

    def knows(self, key: str) -> bool:
        """True if a value under this key was ever said or seen."""
        return any(mention.slot.key == key for mention in self._mentions)

    def has_in_range(self, key: str, far: bool, t: int) -> bool:
        """True if the task before `t` has a value under this key; or, if far, one at least two tasks before it."""
        return any(
            m.slot.key == key and (m.task <= t - 2 if far else m.task == t - 1) for m in self._mentions
        )

    def near(self, t: int) -> list[Mention]:
        """What the task before `t` leaves no doubt about."""
        return list(_clear((m for m in self._mentions if m.task == t - 1), self._by_noun))

    def far(self, t: int) -> list[Mention]:
        """What stood first, at least two tasks before `t`, and leaves no doubt."""
        first: dict[str, int] = {}
        for mention in self._mentions:
            first.setdefault(mention.slot.key, mention.task)
        earlier = (m for m in self._mentions if m.task <= t - 2 and m.task == first[m.slot.key])
        return list(_clear(earlier, self._by_noun))


def _clear(mentions: Iterable[Mention], by_noun: bool) -> Iterator[Mention]:
    """Those that can be told apart: one value of a key, a few by their order, or the entities of one list."""
    by_key: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_key.setdefault(mention.slot.key, []).append(mention)
    called_keys = {(mention.slot.noun.casefold(), key) for key, group in by_key.items() for mention in group}
    often = Counter(noun for noun, _ in called_keys)
    for group in by_key.values():
        # What two parameters are called does not say which of them is meant.
        if by_noun and any(often[mention.slot.noun.casefold()] > 1 for mention in group):
            continue
        of_lists = [mention for mention in group if mention.index is not None]
        alone = list({repr(mention.value): mention for mention in group if mention.index is None}.values())
        if of_lists and not alone and len({mention.index for mention in of_lists}) == len(of_lists):
            yield from of_lists
        elif not of_lists and len(alone) == 1:
            yield alone[0]
        elif not of_lists and len(alone) <= _COUNTABLE:
            yield from (replace(mention, index=k) for k, mention in enumerate(alone))


def reference(words: Wording, mention: Mention, noun: str, *, far: bool) -> str:
    """A phrase that means the mention without saying its value."""
    end = "_far" if far else ""
    if mention.index is None:
        return words.phrase(("that" if mention.slot.kind == "id" else "same") + end, noun=noun)
    if mention.best and words.draw.random() < 0.6:
        best = words.best(mention.best, noun)
        return words.phrase("best_far", best=best) if far else best
    name = "nth" if mention.slot.kind == "id" else "nth_said"
    return words.phrase(name + end, nth=words.nth(mention.index), noun=noun)
