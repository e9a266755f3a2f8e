"""What texts say of failures, and values that nothing showed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.failures.words import mentions_failure, unseen_values
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.episode import gold_replies

TELLING = [
    "I'm sorry, the weather service timed out, so I can't tell you the temperature.",
    "The search failed.",
    "I was unable to retrieve your order.",
    "Unfortunately I couldn't book the room: the tool is currently unavailable. Please try again later.",
    "You don't have access, because permission was denied.",
    "The result was cut off, so the list may lack entries.",
    "The prices I have are stale.",
    "I am still unable to reach the calendar.",
    "The server returned an error.",
    "抱歉，查询失败了，请稍后再试。",
    "系统暂时不可用，我没能完成转账。",
    "目前无法获取天气数据。",
    "您的账户没有权限使用该工具。",
]
NOT_TELLING = [
    "It will be 21 degrees in Oslo.",
    "The booking went through without any errors.",
    "There were no problems. Your seat is 14C.",
    "Which day would you like?",
    "The ticket is not refundable.",
    "You have 3 failed sensors? No: all work.",
    "已完成转账，没有任何问题。",
    "明天北京晴，最高25度。",
    "",
]


@pytest.mark.parametrize("text", TELLING)
def test_a_text_tells_of_a_failure(text: str):
    assert mentions_failure(text)


@pytest.mark.parametrize("text", NOT_TELLING)
def test_a_text_tells_of_none(text: str):
    assert not mentions_failure(text)


def test_few_right_answers_seem_to_tell_of_a_failure():
    benchmark = load_benchmark("wild-mini")
    texts = [
        str(reply.get("content") or "")
        for item in benchmark.load(data_of(benchmark).locate(None))
        for unit in item.units
        for reply in gold_replies(benchmark.rules("fixed").episode(item, unit)) or ()
    ]
    telling = [text for text in texts if mentions_failure(text)]
    assert len(telling) <= 1 < 100 < len([text for text in texts if text])


def unseen(text: str, *shown: str) -> list[str]:
    return unseen_values(text, [{"role": "tool", "content": each} for each in shown])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It costs 59.00 EUR.", '{"price": 59}'),
        ("1,200 steps", '{"steps": 1200}'),
        ("Your seat is 14C, train IC2041.", '{"seat": "14C", "train": "IC2041"}'),
        ("On 14 March 2025 at 9:05.", '{"at": "2025-03-14T09:05"}'),
        ("I found 3 of them.", "{}"),
        ("Write to ann@example.org.", "mail ann@example.org"),
        ("35 %", '{"share": 0.35, "n": 35}'),
        ("三百元", '{"price": 300}'),
        ("12 of them", "{}"),
    ],
)
def test_values_that_were_shown_are_not_invented(text: str, shown: str):
    assert unseen(text, shown) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It costs 59.00 EUR.", ["59.00"]),
        ("Booking AX-20417 is made.", ["AX-20417"]),
        ("Write to bo@example.org.", ["bo@example.org"]),
        ("It is 21.5 degrees, and 21.5 tomorrow.", ["21.5"]),
        ("共计1280元", ["1280"]),
        ("13 of them", ["13"]),
    ],
)
def test_values_that_nothing_shows_are_named(text: str, values: list[str]):
    assert unseen(text, '{"price": 60, "mail": "ann@example.org"}') == values


def test_the_models_own_earlier_arguments_are_seen():
    call = {"function": {"name": "pay", "arguments": '{"amount": 250}'}}
    assert unseen_values("I tried to pay 250.", [{"role": "assistant", "tool_calls": [call]}]) == []


@given(st.text(), st.lists(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.text()))))
def test_any_texts_can_be_read(text: str, contents: list[object]):
    assert isinstance(mentions_failure(text), bool)
    assert isinstance(unseen_values(text, [{"content": each, "tool_calls": each} for each in contents]), list)
