"""What a function may give as its answer, and what a model of it gives and says."""

import asyncio
import json
import re
from typing import Any

import pytest

from wildtool.errors import UsageError, WildtoolError
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


async def test_a_function_gets_copies_that_it_may_change():
    def answer(messages: list[Message], tools: list[Any]) -> str:
        messages[0]["content"] = "changed"
        tools.clear()
        return f"{len(messages)}"

    reply = await CallableModel(answer).complete(REQUEST)
    assert reply.message == {"role": "assistant", "content": "1"}
    assert (HELLO["content"], REQUEST.tools, reply.raw, reply.finish_reason) == (
        "hi",
        [{"type": "function"}],
        "",
        None,
    )
    assert reply.latency_s >= 0.0


@pytest.mark.parametrize("way", ["plain", "coroutine", "awaitable"])
async def test_a_function_may_be_a_coroutine_function(way: str):
    async def later(messages: Any, tools: Any) -> str:
        await asyncio.sleep(0)
        return f"{messages[0]['content']} {len(tools)}"

    def plain(messages: Any, tools: Any) -> str:
        return f"{messages[0]['content']} {len(tools)}"

    functions: dict[str, Any] = {"plain": plain, "coroutine": later, "awaitable": lambda a, b: later(a, b)}
    assert (await CallableModel(functions[way]).complete(REQUEST)).message["content"] == "hi 1"


class Completion:
    """A completion as client libraries give it."""

    def model_dump(self, exclude_none: bool = False) -> Any:
        message = {"content": None, "tool_calls": [{"name": "f"}]}
        return {
            "choices": [{"message": message, "finish_reason": "tool_calls"}, {"message": "other"}],
            "usage": {"prompt_tokens": 3},
            "none": exclude_none,
        }


async def test_a_whole_completion_is_read():
    reply = await CallableModel(lambda messages, tools: Completion()).complete(REQUEST)
    assert reply.message["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    assert (reply.finish_reason, reply.usage) == ("tool_calls", {"prompt_tokens": 3})
    assert json.loads(reply.raw)["none"] is True
    odd = {"choices": [{"message": "a", "finish_reason": 5}], "usage": [], "x": {1}}
    read = await CallableModel(lambda messages, tools: odd).complete(REQUEST)
    assert (read.message["content"], read.finish_reason, read.usage) == ("a", None, {})
    assert json.loads(read.raw)["x"] == "{1}"
    assert 0 <= reply.latency_s < 60


async def test_a_function_that_fails_is_named_with_its_place():
    def broken(messages: Any, tools: Any) -> str:
        raise KeyError("a")

    def number(messages: Any, tools: Any) -> int:
        return 5

    for function, request, message in (
        (
            broken,
            REQUEST,
            "the function broken failed (item i, unit u, step 2): KeyError: 'a'. Replies so far are",
        ),
        (broken, Request([HELLO]), "the function broken failed: KeyError: 'a'. Replies so far are recorded"),
        (
            number,
            REQUEST,
            "the function number gave no assistant message (item i, unit u, step 2): expected a text or a message,",
        ),
    ):
        with pytest.raises(WildtoolError) as raised:
            await CallableModel(function).complete(request)
        assert str(raised.value).startswith(message)


def test_a_function_is_named_by_itself_and_a_digest():
    def answer(messages: Any, tools: Any) -> str:
        return "a"

    model = CallableModel(answer)
    digest = model.settings()["code_sha256"]
    assert (model.settings(), len(digest)) == ({"function": "answer", "code_sha256": digest}, 64)
    assert model.name == f"function/answer-{digest[:8]}"
    assert CallableModel(lambda messages, tools: "a").name.startswith("function/lambda-")
    for wrong in (lambda messages: "a", 5, lambda a, b, c: "a"):
        with pytest.raises(UsageError, match=r"^model=.* must be a function of \(messages, tools\): "):
            CallableModel(wrong)  # pyright: ignore


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, messages: Any, tools: Any) -> str:
        return "a"


class Twin(Holder):
    pass


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        ((1, [2, {"a": 3}]), (1, [2, {"a": 4}])),
        ({1, 2}, {1, 3}),
        (frozenset("ab"), frozenset("ac")),
        ({"a": 1}, {"b": 1}),
        (b"a", b"b"),
        (1, 2.5),
        (None, 0),
        (Holder, Twin),
        (Holder(1), Twin(1)),
        (Holder(1), Holder(2)),
        (compile("a + 1", "", "eval"), compile("a + 2", "", "eval")),
        (compile("a + 1", "", "eval"), compile("b + 1", "", "eval")),
        (compile("a + 1", "", "eval"), compile("a - 1", "", "eval")),
        (Holder(1).__call__, Holder(2).__call__),
    ],
)
def test_what_a_model_holds_is_part_of_its_name(one: Any, other: Any):
    first, same, second = (CallableModel(Holder(value)).name for value in (one, one, other))
    assert first == same != second


def test_sets_have_one_name_in_any_order_and_keyword_defaults_count():
    def made(word: str) -> Any:
        def answer(messages: Any, tools: Any, *, kind: str = word) -> str:
            return kind

        return answer

    assert CallableModel(made("a")).name != CallableModel(made("b")).name
    sets = [{f"{number}" for number in order} for order in (range(50), reversed(range(50)))]
    assert len({CallableModel(Holder(each)).name for each in sets}) == 1
