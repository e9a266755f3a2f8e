"""What a short test of an endpoint says of it, line by line."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from wildtool.errors import CallError
from wildtool.models import probe as probing
from wildtool.models.probe import PROBE_MESSAGES, PROBE_TOOL, probe
from wildtool.types import Message, Reply, Request


class Scripted:
    """Gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers: Reply | Exception, name: str = "m") -> None:
        self.name, self.asked = name, list[Request]()
        self._answers = list(answers)

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None: ...

    def settings(self) -> Mapping[str, Any]:
        return {}


def calls(*arguments: Any) -> Message:
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": "get_weather", "arguments": each}}
        for n, each in enumerate(arguments)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


RIGHT = '{"city": "Oslo", "code": "kiwi"}'
DONE = Reply({"content": "Sunny."})


async def test_an_endpoint_with_all_that_is_looked_for():
    usage = {"prompt_tokens": 50, "completion_tokens": 9}
    first = Reply(
        {**calls(RIGHT, RIGHT), "reasoning": "hm"},
        finish_reason="tool_calls",
        usage=usage,
        changes=("a", "b"),
    )
    model = Scripted(first, DONE)
    assert await probe(model) == {
        "native calls": "yes",
        "parallel calls": "yes, 2 in one reply",
        "system message": "followed",
        "usage": "50 tokens in, 9 out",
        "reasoning": "shown",
        "finish reason": "tool_calls",
        "changed on the way": "a, b",
        "results": "accepted",
    }
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "Sunny, 21 degrees."} for n in (0, 1)]
    assert model.asked == [
        Request(PROBE_MESSAGES, (PROBE_TOOL,)),
        Request((*PROBE_MESSAGES, first.message, *results), (PROBE_TOOL,)),
    ]
    assert PROBE_MESSAGES == (
        {"role": "system", "content": 'The value of the argument "code" is always "kiwi".'},
        {"role": "user", "content": "Look up the weather in Lisbon and in Oslo, both at once."},
    )
    function = PROBE_TOOL["function"]
    assert (PROBE_TOOL["type"], function["name"], function["description"], function["parameters"]) == (
        "function",
        "get_weather",
        "The weather in one city.",
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "code": {"type": "string"}},
            "required": ["city", "code"],
        },
    )


async def test_an_endpoint_that_refuses_its_own_calls_and_says_little():
    first = Reply(calls(RIGHT), usage={"prompt_tokens": 50})
    assert await probe(Scripted(first, CallError("http 400", "no results here"))) == {
        "native calls": "yes",
        "parallel calls": "not seen",
        "system message": "followed",
        "usage": "not reported",
        "reasoning": "not seen",
        "finish reason": "None",
        "changed on the way": "nothing",
        "results": "refused: no results here",
    }


@pytest.mark.parametrize(
    ("arguments", "followed"),
    [
        ([RIGHT, '{"code": "apple"}'], False),
        (['{"code": "apple"}', RIGHT], False),
        (["{"], False),
        (['["kiwi"]'], False),
        ([RIGHT], True),
    ],
)
async def test_the_system_message_is_followed_where_every_call_has_its_word(
    arguments: list[str], followed: bool
):
    results = await probe(Scripted(Reply(calls(*arguments)), DONE))
    assert results["system message"] == ("followed" if followed else "not seen to be followed")


@pytest.mark.parametrize(
    ("message", "usage", "shown"),
    [
        ({"reasoning_content": "hm"}, {}, True),
        ({"reasoning_details": [1]}, {}, True),
        ({"reasoning": ""}, {}, False),
        ({}, {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 1}}, True),
        ({}, {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 0}}, False),
    ],
)
async def test_reasoning_is_a_text_or_a_count(message: Message, usage: Message, shown: bool):
    results = await probe(Scripted(Reply({**calls(RIGHT), **message}, usage=usage), DONE))
    assert results["reasoning"] == ("shown" if shown else "not seen")


async def test_calls_in_a_format_that_was_chosen():
    formatted = ("other", "format:glm", "format:no")
    read = await probe(Scripted(Reply(calls(RIGHT), changes=formatted), DONE))
    assert (read["calls as text"], read.get("native calls"), read["results"]) == (
        "yes, in the format glm",
        None,
        "accepted",
    )
    unread = await probe(Scripted(Reply({"content": "hm"}, changes=formatted)))
    assert [*unread.items()][:2] == [
        ("calls as text", "none read in the format glm"),
        ("parallel calls", "not seen"),
    ]
    assert "results" not in unread


def written(format: str) -> str:
    """A call as this format writes it."""
    from wildtool.tool_formats import CALL_FORMATS, ToolCall

    return CALL_FORMATS[format].write("", [ToolCall("get_weather", json.loads(RIGHT))])


async def test_a_model_without_native_calls_is_tried_with_formats_until_one_is_read():
    silent, hermes = Reply({"content": "I cannot."}), Reply({"content": written("hermes")})
    model = Scripted(silent, silent, hermes, name="qwen3-coder-30b")
    results = await probe(model)
    assert [*results.items()][:2] == [
        ("native calls", "no"),
        ("calls as text", "yes, with `--tool-format hermes`"),
    ]
    assert len(model.asked) == 3
    assert "results" not in results


async def test_a_format_that_the_reply_is_written_in_is_tried_first():
    glm = Reply({"content": written("glm")})
    model = Scripted(glm, glm)
    assert (await probe(model))["calls as text"] == "yes, with `--tool-format glm`"
    assert model.asked[1].tools == ()


async def test_formats_that_are_not_read_are_named():
    silent = Reply({"content": None})
    results = await probe(Scripted(*[silent] * 4))
    assert results["calls as text"] == "none read; tried hermes, llama3-json, pythonic"
    failed = await probe(Scripted(silent, silent, CallError("http 500", "gone")))
    assert (failed["native calls"], failed["calls as text"]) == ("no", "not known: gone")


async def test_a_format_in_which_a_model_finds_no_end_is_passed_over(monkeypatch: pytest.MonkeyPatch):
    assert probing._TRY_S == 20.0  # pyright: ignore[reportPrivateUsage]
    silent = Reply({"content": ""})
    results = await probe(Scripted(silent, TimeoutError(), silent, Reply({"content": written("pythonic")})))
    assert results["calls as text"] == "yes, with `--tool-format pythonic`"


async def test_calls_that_no_endpoint_takes_are_none():
    broken = Reply({"content": "", "tool_calls": [{"function": {"name": 5}}]})
    results = await probe(Scripted(broken, *[Reply({"content": ""})] * 3))
    assert (results["native calls"], results["parallel calls"]) == ("no", "not seen")


async def test_a_first_call_that_fails_is_no_result():
    with pytest.raises(CallError, match="gone"):
        await probe(Scripted(CallError("http 500", "gone")))
