"""Whether calls can be given to the slots that are expected, each slot as many as it takes. Nothing is greedy."""

from collections.abc import Sequence
from math import inf
from operator import lt

from wildtool.own_cases.records import Slot
from wildtool.toolcall.assignment import max_weight_matching

MOST_STATES = 10_000
"""Ways to have filled the slots that are told apart where some calls must come after others."""
Fits = Sequence[Sequence[bool]]
"""By slot and call whether the call fits the slot."""
_States = set[tuple[int, ...]]


def are_assigned(slots: Sequence[Slot], fits: Fits, free: Sequence[bool], *, in_order: bool = False) -> bool:
    """Whether each call can be given to a slot that it fits, or be left out if it is free, so that each slot gets between
    its least and its most.

    Args:
        free: by call whether it may be left out.
        in_order: whether the numbers of the slots must not decrease from call to call.
    """
    if sum(slot.least for slot in slots) > len(free):
        return False
    has_after = any(slot.after for slot in slots)
    if not has_after and not in_order:
        return _in_any_order(slots, fits, free)
    return _in_order(slots, fits, free, is_listed=in_order, has_after=has_after)


def _in_any_order(slots: Sequence[Slot], fits: Fits, free: Sequence[bool]) -> bool:
    """A matching that fills all slots, and one that takes all calls which are not free: where both exist, one does both
    (Mendelsohn and Dulmage 1958)."""
    calls = range(len(free))
    needed = [number for number, slot in enumerate(slots) for _ in range(slot.least)]
    pairs = {(copy, call): 1.0 for copy, number in enumerate(needed) for call in calls if fits[number][call]}
    if len(max_weight_matching(pairs)) < len(needed):
        return False
    # A slot that takes as many calls as there are takes each that fits it.
    roomy = [number for number, slot in enumerate(slots) if slot.most >= len(free)]
    bound = [call for call in calls if not free[call] and not any(fits[number][call] for number in roomy)]
    copies = [
        number for number, slot in enumerate(slots) if number not in roomy for _ in range(int(slot.most))
    ]
    if len(bound) > len(copies):
        return False
    pairs = {
        (place, copy): 1.0
        for place, call in enumerate(bound)
        for copy, number in enumerate(copies)
        if fits[number][call]
    }
    return len(max_weight_matching(pairs)) == len(bound)


def _in_order(
    slots: Sequence[Slot], fits: Fits, free: Sequence[bool], *, is_listed: bool, has_after: bool
) -> bool:
    """Walks through the calls with all numbers of calls that the slots may have. These are at most `MOST_STATES` where
    some calls must come after others; else one slot after the other is filled.

    Args:
        is_listed: whether the numbers of the slots must not decrease.
        has_after: whether some calls must come after others.
    """
    numbers = {slot.label: number for number, slot in enumerate(slots) if slot.label}
    before = [[numbers[label] for label in slot.after if label in numbers] for slot in slots]
    leasts = [slot.least for slot in slots]
    caps = tuple(_counted_up_to(slot) for slot in slots)
    states: _States = {(0,) * len(slots)}
    for call, is_free in enumerate(free):
        following: _States = set(states) if is_free else set()
        for counts in states:
            for number, slot in enumerate(slots):
                if not fits[number][call] or (counts[number] >= slot.most):
                    continue
                if any(counts[other] < max(1, slots[other].least) for other in before[number]):
                    continue
                earlier = counts[:number]
                if is_listed:
                    if any(counts[number + 1 :]) or any(map(lt, earlier, leasts)):
                        continue
                    # What is behind takes no more calls, so that ways to have filled it need not be told apart.
                    earlier = earlier if has_after else caps[:number]
                following.add((*earlier, min(counts[number] + 1, caps[number]), *counts[number + 1 :]))
        states = following
    return any(not any(map(lt, counts, leasts)) for counts in states)


def _counted_up_to(slot: Slot) -> int:
    """The number of calls from which on more make no difference."""
    return max(1, slot.least) if slot.most == inf else int(slot.most)


def number_of_states(slots: Sequence[Slot]) -> int:
    """Ways in which the slots may be filled."""
    states = 1
    for slot in slots:
        states *= _counted_up_to(slot) + 1
    return states


def best_pairs(slots: Sequence[Slot], fits: Fits, calls: int) -> dict[int, int]:
    """By call the slot of an assignment that fills as many as it can, those that must be filled first."""
    roomy = [number for number, slot in enumerate(slots) if slot.most >= calls]
    copies = [
        (number, copy < slot.least)
        for number, slot in enumerate(slots)
        for copy in range(min(slot.least, calls) if number in roomy else int(slot.most))
    ]
    pairs = {
        (call, copy): 2.0 if must else 1.0
        for call in range(calls)
        for copy, (number, must) in enumerate(copies)
        if fits[number][call]
    }
    best = {call: copies[copy][0] for call, copy in max_weight_matching(pairs).items()}
    for call in range(calls):
        room = [number for number in roomy if call not in best and fits[number][call]]
        best |= {call: room[0]} if room else {}
    return best
