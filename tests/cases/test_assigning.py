"""Which calls can be given to which slots, beside trying all ways."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf
from random import Random
from typing import Any

from long import a_fiftieth_of
from wildtool.own_cases.judging import MadeCall, call_misfit, is_free, judge_turn
from wildtool.own_cases.records import CallPattern, Expectation, Slot

TIMES = [(1, 1), (0, 1), (2, 2), (1, 2), (1, inf), (0, inf), (0, 2)]
ARGUMENTS: list[dict[str, Any] | None] = [
    None,
    {"x": 1},
    {"x": 2},
    {"x": {"$any": True}},
    {"x": {"$one_of": [1, 3]}},
]


def drawn_slots(draw: Random) -> tuple[Slot, ...]:
    has_order = draw.random() < 0.3
    slots: list[Slot] = []
    for number in range(draw.randint(0, 3)):
        least, most = draw.choice(TIMES)
        after = (f"s{draw.randrange(number)}",) if has_order and number and draw.random() < 0.5 else ()
        patterns = [
            CallPattern(draw.choice("ab*"), draw.choice(ARGUMENTS)) for _ in range(draw.randint(1, 2))
        ]
        slots.append(Slot(tuple(patterns), least, most, f"s{number}", after))
    return tuple(slots)


def drawn_calls(draw: Random) -> list[MadeCall]:
    return [(draw.choice("abc"), {"x": draw.randint(1, 3)}) for _ in range(draw.randint(0, 4))]


def by_trying_all(expectation: Expectation, calls: Sequence[MadeCall]) -> bool:
    """Whether any way to give each call to a slot, or to none, is right by the words of the form."""
    its = expectation.slots
    return any(
        is_right_way(expectation, calls, way) for way in product(range(-1, len(its)), repeat=len(calls))
    )


def is_right_way(expectation: Expectation, calls: Sequence[MadeCall], way: Sequence[int]) -> bool:
    its = expectation.slots
    schemas: Mapping[str, Mapping[str, object]] = {}
    for (name, arguments), place in zip(calls, way, strict=True):
        if place < 0:
            if not is_free(expectation, name):
                return False
        elif all(call_misfit(pattern, name, arguments, schemas) for pattern in its[place].patterns):
            return False
    if any(not slot.least <= way.count(place) <= slot.most for place, slot in enumerate(its)):
        return False
    given_to = [place for place in way if place >= 0]
    if expectation.in_order and given_to != sorted(given_to):
        return False
    labels = {slot.label: place for place, slot in enumerate(its)}
    for at, place in enumerate(way):
        for label in its[place].after if place >= 0 else ():
            other = labels[label]
            if way[:at].count(other) < max(1, its[other].least):
                return False
    return True


def test_a_turn_is_right_where_some_way_to_assign_its_calls_is():
    draw = Random(48)
    right = 0
    for _ in range(a_fiftieth_of(36_000)):
        also = draw.choice([(), ("c",), ("a",)])
        expectation = Expectation((drawn_slots(draw),), also, (), draw.random() < 0.5)
        calls = drawn_calls(draw)
        by_rule = judge_turn(expectation, calls, "").error is None
        assert by_rule == by_trying_all(expectation, calls), (expectation, calls)
        right += by_rule
    assert right, "none of the drawn turns is right, so nothing was compared"


def test_a_turn_with_alternatives_is_right_where_one_of_them_is():
    draw = Random(49)
    for _ in range(a_fiftieth_of(5_000)):
        alternatives = tuple(drawn_slots(draw) for _ in range(draw.randint(2, 3)))
        calls = drawn_calls(draw)
        alone = [judge_turn(Expectation((each,)), calls, "").error is None for each in alternatives]
        assert (judge_turn(Expectation(alternatives), calls, "").error is None) == any(alone)


def test_many_calls_of_one_tool_are_judged_in_no_time():
    expectation = Expectation(
        (
            (
                Slot((CallPattern("a"),), 3, inf),
                Slot((CallPattern("b"),)),
            ),
        )
    )
    calls: list[MadeCall] = [("a", {})] * 498
    assert judge_turn(expectation, [*calls, ("b", {})], "").error is None
    assert judge_turn(expectation, [*calls, ("b", {}), ("b", {})], "").error == "extra call"
