"""End state and milestones under profile `fixed`."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.sandbox_build import record
from wildtool.benchmarks.acebench.episode.end_state import (
    WRONG_ATTRIBUTES,
    WRONG_COUNT,
    compare_states,
    fixed_process_accuracy,
)

State = dict[str, Any]


def end(gold: State, result: State) -> str:
    """The error type of one class's state; empty where it is right."""
    found = compare_states(replace(record(), end_state=({"C": gold},)), [{"C": result}])
    assert found.correct == (not found.error_type)
    return found.error_type


def test_equal_states_are_right():
    assert end({"a": {"1": {"x": 1}}, "b": [1]}, {"a": {"1": {"x": 1}}, "b": [1]}) == ""


@pytest.mark.parametrize(
    ("gold", "result"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        ({"a": {}}, {"a": {"1": "more"}}),
        ({"a": {"1": "less"}}, {"a": {}}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1]}, {"a": [1, 1]}),
        ({"a": True}, {"a": 1}),
        ({"a": "1"}, {"a": 1}),
        ({"a": None}, {}),
        ({"orders": [1]}, {"orders": [1, 1]}),
        ({"users": {"Ann": "Pw"}}, {"users": {"Ann": "pw"}}),
    ],
)
def test_any_difference_is_wrong(gold: State, result: State):
    assert end(gold, result) == WRONG_ATTRIBUTES


@pytest.mark.parametrize("result", [[], [{"D": {}}], [{"C": {}}, {"D": {}}], [{"c": {}}]])
def test_classes_are_matched_by_their_exact_names(result: list[State]):
    found = compare_states(replace(record(), end_state=({"C": {}},)), result)
    assert (found.correct, found.error_type) == (False, WRONG_COUNT)


def test_the_order_of_classes_does_not_matter():
    gold = replace(record(), end_state=({"C": {"x": 1}}, {"D": {"y": 2}}))
    assert compare_states(gold, [{"D": {"y": 2}}, {"C": {"x": 1}}]).correct


@pytest.mark.parametrize("key", ["message", "title", "description"])
def test_texts_that_the_agent_words_count_by_meaning(key: str):
    assert (
        end({"inbox": {"7": {key: "See you tomorrow"}}}, {"inbox": {"7": {key: "See you tomorrow."}}}) == ""
    )
    assert end({"inbox": {"7": {key: "It costs 68 yuan"}}}, {"inbox": {"7": {key: "It costs 86 yuan"}}})


def test_any_other_text_counts_letter_by_letter():
    assert end({"a": {"merchant_name": "Teahouse"}}, {"a": {"merchant_name": "Teahouse."}})


def test_what_was_ordered_first_does_not_matter():
    gold, result = ({"orders": [{"items": items}]} for items in ([{"p": 1}, {"p": 2}], [{"p": 2}, {"p": 1}]))
    assert end(gold, result) == ""


def test_which_booking_came_first_does_not_matter():
    def booked(*flights: str) -> State:
        return {
            "reservations": [
                {"reservation_id": f"res_{at}", "flight_no": number} for at, number in enumerate(flights)
            ]
        }

    assert end(booked("F1", "F2"), booked("F2", "F1")) == ""
    assert end(booked("F1", "F2"), booked("F1", "F1"))


def test_sums_may_differ_in_the_last_bit():
    assert end({"balance": 0.3}, {"balance": 0.1 + 0.2}) == ""
    assert end({"balance": 0.3}, {"balance": 0.31})


def test_a_difference_names_its_place():
    found = compare_states(replace(record(), end_state=({"C": {"a": {"b": 1}}},)), [{"C": {"a": {"b": 2}}}])
    assert found.errors == (("C.a.b: expected 1, found 2",),)


def process(milestones: Any, *made: str, end_to_end: bool = False) -> float:
    return fixed_process_accuracy(milestones, made, end_to_end=end_to_end)


@pytest.mark.parametrize(
    "made",
    ["[f(a='x', b=1)]", '[ f(b=1,a="x") ]', "[f(b=1.0, a='x')]", "f(a='x', b=1)", "[g(), f(a='x', b=1)]"],
)
def test_a_milestone_is_a_call_however_it_is_written(made: str):
    assert process(["[f(a='x', b=1)]"], made) == 1


@pytest.mark.parametrize(
    "made", ["[f(a='y', b=1)]", "[f(a='x')]", "[g(a='x', b=1)]", "[f(a='x', b=1, c=2)]", ""]
)
def test_another_call_is_no_milestone(made: str):
    assert process(["[f(a='x', b=1)]"], made) == 0


def test_milestones_after_one_that_was_not_reached_count():
    assert process(["[a()]", "[b()]", "[c()]"], "[a()]", "[c()]") == pytest.approx(2 / 3)


def test_milestones_count_in_order():
    assert process(["[a()]", "[b()]"], "[b()]", "[a()]") == 0.5


def test_calls_of_one_message_may_be_made_in_several():
    assert process(["[a(), b()]"], "[a()]", "[b()]") == 1


def test_the_best_alternative_counts():
    assert process([["[a()]", "[b()]"], ["[c()]", "[b()]"]], "[c()]", "[b()]") == 1


def test_a_right_end_state_means_that_all_was_done():
    assert process(["[a()]"], end_to_end=True) == 1
    assert process([], "[a()]") == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_JSON, _JSON)
def test_no_state_raises_and_every_state_equals_itself_without_nan(gold: Any, result: Any):
    end({"a": gold, "orders": [gold]}, {"a": result, "orders": [result]})
    if "nan" not in repr(gold):
        assert end({"a": gold}, {"a": gold}) == ""


@given(st.lists(st.text()), st.lists(st.text()))
def test_no_process_raises(milestones: list[str], made: list[str]):
    assert 0 <= process(milestones, *made) <= 1
