"""What a function may give as its answer, and what a model of it gives and says."""

import re
from typing import Any

import pytest

from wildtool.errors import WildtoolError
from wildtool.models.function import CallableModel
from wildtool.types import Address, Message, Request

HELLO: Message = {"role": "user", "content": "hi"}
REQUEST = Request([HELLO], [{"type": "function"}], address=Address("i", 0, "u", 2))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", {"role": "assistant", "content": ""}),
        ({"content": "a", "more": 1}, {"role": "assistant", "content": "a", "more": 1}),
        ({"content": "a", "choices": []}, {"role": "assistant", "content": "a", "choices": []}),
        ({"tool_calls": None}, {"role": "assistant", "content": None, "tool_calls": None}),
        ({"content": "a", "tool_calls": []}, {"role": "assistant", "content": "a", "tool_calls": []}),
        (
            {
                "tool_calls": (
                    {"name": "f"},
                    {"id": "x", "type": "function", "function": {"name": "g", "arguments": "{"}},
                    {"id": "", "name": "h", "arguments": {"a": "é"}},
                    {"name": "i", "args": {"a": 1}},
                )
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                    {"id": "x", "type": "function", "function": {"name": "g", "arguments": "{"}},
                    {"id": "call_2", "type": "function", "function": {"name": "h", "arguments": '{"a":"é"}'}},
                    {"id": "call_3", "type": "function", "function": {"name": "i", "arguments": '{"a":1}'}},
                ],
            },
        ),
    ],
)
async def test_an_answer_becomes_a_message(answer: Any, message: Message):
    assert (await CallableModel(lambda messages, tools: answer).complete(REQUEST)).message == message


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (None, "None"),
        (["a"], "'a'"),
        ({}, "{}"),
        ({"role": "tool", "content": "a"}, "found tool"),
        ({"words": 1, "b": 2}, "words, b"),
        ({"tool_calls": 5}, "5"),
        ({"tool_calls": [{"name": "f"}, 5]}, "call 2"),
        ({"tool_calls": [{"function": {"name": 1}}]}, "call 1: a call has no `name`"),
        ({"tool_calls": [{"name": "f", "argz": {"x": 1}}]}, "call of 'f': `argz` here"),
    ],
)
async def test_an_answer_that_no_shape_has_is_refused_by_name(answer: Any, named: str):
    with pytest.raises(WildtoolError, match=re.escape(named)):
        await CallableModel(lambda messages, tools: answer).complete(REQUEST)
