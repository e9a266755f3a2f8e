"""How far back a call's arguments were said last."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingCall,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
)
from wildtool_data.prepare.reach import reach

USER, TEXT = UserTurn("And now?"), AssistantTurn("Fine.")


def calls(**arguments: object) -> AssistantTurn:
    return AssistantTurn(None, (TrainingCall("level", arguments, "c"),))


def result(text: str) -> ResultTurn:
    return ResultTurn((ObservedResult(text),))


def reach_of(*turns: TrainingTurn, **more: object) -> int:
    return reach(TrainingRecord(turns=turns, **more))  # pyright: ignore[reportArgumentType]


def test_turns_are_counted_back_to_where_the_value_was_said_last():
    assert reach_of(UserTurn("I am in Husum."), TEXT, USER, TEXT, USER, calls(place="Husum")) == 5
    assert reach_of(UserTurn("I am in Husum."), TEXT, UserTurn("Husum"), calls(place="Husum")) == 1


def test_a_result_is_one_turn():
    assert reach_of(USER, calls(day="Monday"), result("st-17"), TEXT, USER, calls(station="st-17")) == 3


def test_what_the_model_said_itself_is_nearer():
    first = (UserTurn("I am in Husum."), TEXT, USER, AssistantTurn("You are in Husum."), USER)
    assert reach_of(*first, calls(place="Husum")) == 2
    assert (
        reach_of(UserTurn("Husum"), calls(place="Husum"), result("5 m"), TEXT, USER, calls(place="Husum"))
        == 4
    )


def test_a_value_that_only_the_model_said_comes_from_no_turn():
    assert reach_of(USER, AssistantTurn("Try st-17."), USER, calls(station="st-17")) == 0


@pytest.mark.parametrize("value", ["x", True, None, ""])
def test_short_and_plain_values_are_not_looked_for(value: object):
    assert reach_of(UserTurn("x True null"), TEXT, USER, calls(value=value)) == 0


@pytest.mark.parametrize(("value", "text"), [(10, "It was 2010."), ("is", "I like this."), ("id", "user_id")])
def test_a_part_of_another_word_is_no_value(value: object, text: str):
    assert reach_of(UserTurn(text), TEXT, USER, calls(value=value)) == 0


def test_nested_values_are_looked_for():
    assert reach_of(UserTurn("I am in Husum."), TEXT, USER, calls(places=[{"name": "Husum"}])) == 3


def test_what_a_longer_word_of_a_tool_has_is_not_near():
    tool = {"type": "function", "function": {"name": "level", "description": "For Husumers."}}
    assert reach_of(UserTurn("Husum, please"), TEXT, USER, calls(place="Husum"), tools=(tool,)) == 3


def test_values_that_the_system_text_or_a_tool_names_are_near():
    turns = (UserTurn("Husum, please, in metres"), TEXT, USER, calls(place="Husum", unit="metres"))
    tool = {"type": "function", "function": {"name": "level", "description": "In metres."}}
    assert reach_of(*turns) == 3
    assert reach_of(*turns, system="You live in Husum.", tools=(tool,)) == 0


def test_the_better_reply_of_a_pair_counts():
    pair = {"kind": "preference", "chosen": calls(days=17), "rejected": calls(days=2)}
    assert reach_of(UserTurn("For 17 days"), TEXT, USER, **pair) == 3


@given(st.lists(st.sampled_from(["alpha", "beta", ""]), min_size=1, max_size=8))
def test_talk_between_takes_the_value_as_much_farther(said: list[str]):
    turns = [turn for text in said for turn in (UserTurn(json.dumps(text)), TEXT)]
    end = (UserTurn("Now."), calls(word="alpha"))
    near, far = reach_of(*turns, *end), reach_of(*turns, USER, TEXT, *end)
    assert far == (near + 2 if "alpha" in said else 0)
