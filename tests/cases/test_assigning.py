"""Which calls can be given to which slots, beside trying all ways."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.cases.judging import MadeCall, call_misfit, is_free, judge_turn
from wildtool.cases.records import CallPattern, Expectation, Slot

TIMES = st.sampled_from([(1, 1), (0, 1), (2, 2), (1, 2), (1, inf), (0, inf), (0, 2)])
ARGUMENTS = st.sampled_from([None, {"x": 1}, {"x": 2}, {"x": {"$any": True}}, {"x": {"$one_of": [1, 3]}}])
PATTERNS = st.builds(CallPattern, st.sampled_from("ab*"), ARGUMENTS)


@st.composite
def slots(draw: st.DrawFn) -> tuple[Slot, ...]:
    made: list[Slot] = []
    for number in range(draw(st.integers(0, 3))):
        least, most = draw(TIMES)
        earlier = [f"s{place}" for place in range(number)]
        after = draw(st.sets(st.sampled_from(earlier), max_size=1)) if earlier else ()
        patterns = tuple(draw(st.lists(PATTERNS, min_size=1, max_size=2)))
        made.append(Slot(patterns, least, most, f"s{number}", tuple(after)))
    if draw(st.booleans()):
        made = [Slot(slot.patterns, slot.least, slot.most, slot.label) for slot in made]
    return tuple(made)


CALLS = st.lists(
    st.tuples(st.sampled_from("abc"), st.fixed_dictionaries({"x": st.integers(1, 3)})), max_size=4
)
EXPECTATIONS = st.builds(
    lambda slots, also, in_order: Expectation((slots,), also, (), in_order),
    slots(),
    st.sampled_from([(), ("c",), ("a",)]),
    st.booleans(),
)


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


@settings(max_examples=a_fiftieth_of(36_000), deadline=None)
@given(EXPECTATIONS, CALLS)
def test_a_turn_is_right_where_some_way_to_assign_its_calls_is(
    expectation: Expectation, calls: list[MadeCall]
):
    assert (judge_turn(expectation, calls, "").error is None) == by_trying_all(expectation, calls)


@settings(max_examples=a_fiftieth_of(2_000), deadline=None)
@given(st.lists(slots(), min_size=2, max_size=3), CALLS)
def test_a_turn_with_alternatives_is_right_where_one_of_them_is(
    alternatives: list[tuple[Slot, ...]], calls: list[MadeCall]
):
    whole = judge_turn(Expectation(tuple(alternatives)), calls, "").error is None
    assert whole == any(judge_turn(Expectation((each,)), calls, "").error is None for each in alternatives)


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
