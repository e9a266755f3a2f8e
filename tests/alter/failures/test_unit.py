"""One unit with failing tools: which later call is for which failed one."""

import json
from collections.abc import Sequence

import pytest

from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.unit import FailingUnit
from wildtool.types import FieldValue, Message, Request, Tool

WEATHER: Tool = {"type": "function", "function": {"name": "get_weather", "description": "Gets the weather."}}


def end_of(schedule: str, *replies: Sequence[str], text: str) -> tuple[FieldValue, ...]:
    """How a unit ends whose model asks for the weather of these cities, reply by reply, and then says a text."""
    unit = FailingUnit(FailureSchedule.parse(schedule), "place", "en")
    messages: list[Message] = [{"role": "user", "content": "What is the weather?"}]
    exchange = unit.exchange(Request(messages, [WEATHER]))
    next(exchange)
    for number, cities in enumerate(replies):
        calls = [
            {
                "id": f"{number}-{city}",
                "type": "function",
                "function": {"name": "get_weather", "arguments": json.dumps({"city": city})},
            }
            for city in cities
        ]
        try:
            exchange.send({"role": "assistant", "content": None, "tool_calls": calls})
        except StopIteration as end:
            made = end.value["tool_calls"]
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "14.2"} for call in made]
            messages = [*messages, end.value, *results]
            exchange = unit.exchange(Request(messages, [WEATHER]))
            next(exchange)
    with pytest.raises(StopIteration):
        exchange.send({"role": "assistant", "content": text})
    fields = unit.fields(ended=True)
    return fields["failure_end"], fields["failure_retried"], fields["failure_invented"]


RYE, BOTH = "Rye 14.2.", "Rye 14.2, Dover 19.7."


def test_one_call_is_for_one_of_two_that_failed():
    assert end_of("first-call,timeout", ["Rye", "Dover"], ["Rye"], text=BOTH) == ("silent", False, True)
    assert end_of("first-call,timeout", ["Rye", "Dover"], ["Rye"], ["Rye"], text=BOTH)[0] == "silent"
    assert end_of("first-call,timeout", ["Rye", "Dover"], ["Rye, UK"], text=BOTH)[0] == "silent"


@pytest.mark.parametrize(
    "replies",
    [
        [["Rye", "Dover"], ["Rye", "Dover"]],
        [["Rye", "Dover"], ["Dover"], ["Rye"]],
        [["Rye", "Dover"], ["Dover, UK", "Rye"]],
        [["Rye"], ["Rye, UK"]],
        [["Rye", "Rye"], ["Rye"]],
    ],
)
def test_each_may_be_tried_again_in_any_order_and_with_other_arguments(replies: list[list[str]]):
    assert end_of("first-call,timeout", *replies, text=RYE) == ("recovered", True, None)


def test_a_call_that_fails_again_is_for_the_same_result():
    for last in ("Rye", "Rye, UK", "Rye (UK)"):
        ended = end_of("twice-then-well,timeout", ["Rye"], ["Rye, UK"], [last], text=RYE)
        assert ended == ("recovered", True, None)
    ended = end_of("twice-then-well,timeout", ["Rye", "Dover"], ["Rye, UK"], ["Rye"], text=BOTH)
    assert ended == ("silent", False, True)
    assert end_of("twice-then-well,timeout", ["Rye"], ["Rye"], text=RYE) == ("silent", False, True)


def test_a_damaged_result_takes_an_equal_call():
    assert end_of("first-call,empty", ["Rye", "Dover"], ["Rye"], text=BOTH) == ("silent", False, True)
    assert end_of("first-call,empty", ["Rye"], ["Rye, UK"], text=RYE)[:2] == ("silent", False)
    assert end_of("twice-then-well,empty", ["Rye"], ["Rye"], ["Rye"], text=RYE)[0] == "recovered"
