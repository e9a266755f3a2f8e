"""Models through Inspect with small classes in place of its own: what they are asked, and what comes of the answers."""

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from models.asking import HELLO, TOOL, call
from models.options import model_options
from models.providers import plain_inspect as plain
from wildtool.errors import CallError, UsageError
from wildtool.models.providers.inspect import InspectModel, inspect_model
from wildtool.models.resolve import model_from_name
from wildtool.models.settings import Sampling
from wildtool.types import Address, Message, Request


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    names: list[Any] = []
    for name, module in plain.modules(names).items():
        monkeypatch.setitem(sys.modules, name, module)
    return names


class Usage(plain.Record):
    pass


USAGE = Usage(
    input_tokens=5, output_tokens=3, total_tokens=13, input_tokens_cache_read=4, input_tokens_cache_write=1
)


def output(content: Any, *calls: Any, reason: str = "stop", usage: Any = USAGE) -> Any:
    message = plain.ChatMessageAssistant(content=content, tool_calls=list(calls) or None)
    return plain.Record(choices=[plain.Record(message=message, stop_reason=reason)], usage=usage, error=None)


def inspected(*answers: Any, **sampling: Any) -> tuple[InspectModel, plain.Inner]:
    inner = plain.Inner(*answers)
    return InspectModel("inspect/m", inner, Sampling(**sampling)), inner


async def test_every_message_of_a_chat_arrives():
    model, inner = inspected(output("ok"), temperature=0.5, seed=3, extra_body={"a": 1})
    chat: list[Message] = [
        {"role": "system", "content": "S", "name": "x"},
        {"role": "developer", "content": [{"type": "text", "text": "D"}]},
        HELLO,
        {
            "role": "assistant",
            "content": None,
            "refusal": "r",
            "tool_calls": [call("c1", "f", '{"a": 1}'), call("c2", "g", "{"), call("c1", "f", "")],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "R", "name": "f", "more": 1},
        {"role": "assistant", "content": "A"},
    ]
    tools = [
        {"function": {"name": "f", "description": "D.", "parameters": {"type": "object", "properties": {}}}},
        {"function": {"name": "g", "parameters": {"type": "object", "x": 1}}},
        {"function": {"name": "h"}},
    ]
    reply = await model.complete(Request(chat, tools, address=Address("i", 2, "u", 0)))
    ((messages, offered, config),) = inner.asked
    (second,) = (each.id for each in messages[3].tool_calls[2:])
    assert messages == [
        plain.ChatMessageSystem(content="S"),
        plain.ChatMessageSystem(content="D"),
        plain.ChatMessageUser(content="hi"),
        plain.ChatMessageAssistant(
            content="",
            tool_calls=[
                plain.ToolCall(id="c1", function="f", arguments={"a": 1}),
                plain.ToolCall(id="c2", function="g", arguments={"malformed_arguments": "{"}),
                plain.ToolCall(id=second, function="f", arguments={}),
            ],
        ),
        plain.ChatMessageTool(content="R", tool_call_id="c1", function="f"),
        plain.ChatMessageAssistant(content="A", tool_calls=None),
    ]
    assert second.startswith("call_")
    schema = plain.ToolParams(type="object", properties={})
    assert offered == [
        plain.ToolInfo(name="f", description="D.", parameters=schema),
        plain.ToolInfo(name="g", description="", parameters=plain.ToolParams(type="object")),
        plain.ToolInfo(name="h", description="", parameters=plain.ToolParams()),
    ]
    assert config == plain.GenerateConfig(max_retries=0, temperature=0.5, seed=5, extra_body={"a": 1})
    assert reply.changes == (
        "not-wire-exact",
        "message-key-dropped:name",
        "content-parts-joined",
        "developer-as-system",
        "message-key-dropped:refusal",
        "malformed-arguments-wrapped",
        "call-id-replaced",
        "empty-arguments-as-object",
        "message-key-dropped:more",
        "schema-remodelled",
    )
    bare, asked = inspected(output("ok"))
    await bare.complete(Request([HELLO]))
    assert asked.asked[0][1:] == ([], plain.GenerateConfig(max_retries=0))


async def test_every_field_of_an_answer():
    parts = [
        plain.Part(type="reasoning", reasoning="T1", redacted=False),
        plain.Part(type="reasoning", reasoning="T2", redacted=True),
        plain.Part(type="reasoning", reasoning="T3", redacted=False),
        plain.Part(type="text", text="X"),
    ]
    calls = [
        plain.ToolCall(id="c1", function="f", arguments={"a": "é"}),
        plain.ToolCall(id="c2", function="g", arguments={}, parse_error="not JSON"),
    ]
    model, inner = inspected(output(parts, *calls, reason="max_tokens"), output("ok"), output("ok"))
    reply = await model.complete(Request([HELLO], [TOOL]))
    own = {"content": [vars(part) for part in parts], "tool_calls": [vars(each) for each in calls]}
    assert reply.message == {
        "role": "assistant",
        "content": "X",
        "reasoning_content": "T1\nT3",
        "tool_calls": [call("c1", "f", '{"a":"é"}'), call("c2", "g", "not JSON")],
        "provider_content": {"inspect": [own]},
    }
    assert (reply.finish_reason, reply.usage) == (
        "length",
        {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "inspect": vars(USAGE)},
    )
    assert "malformed-arguments-lost" in reply.changes
    assert json.loads(reply.raw)["choices"][0]["stop_reason"] == "max_tokens"
    assert 0 <= reply.latency_s < 60
    result = {"role": "tool", "tool_call_id": "c1", "content": "R"}
    await model.complete(Request([HELLO, reply.message, result]))
    sent = inner.asked[1][0]
    assert sent[1] == plain.ChatMessageAssistant.model_validate(own)
    assert (sent[2].tool_call_id, sent[2].function) == ("c1", "f")
    await model.complete(Request([HELLO, {**reply.message, "content": "Y"}, result]))
    assert inner.asked[2][0][1].content == "Y"


@pytest.mark.parametrize(
    ("error", "kind", "words", "final"),
    [
        (ValueError("again"), "provider error", "ValueError: again", False),
        (ValueError("never"), "provider error", "ValueError: never", True),
        ((429, "slow"), "http 429", "Exception: slow", False),
        ((404, "gone"), "http 404", "Exception: gone", True),
        ((300, "moved"), "http 300", "Exception: moved", True),
        ((500, "broken"), "http 500", "Exception: broken", False),
    ],
)
async def test_a_call_that_fails_is_named(error: Any, kind: str, words: str, final: bool):
    failure = error
    if isinstance(error, tuple):
        failure = Exception(error[1])
        vars(failure)["status_code"] = error[0]
    wrapped = Exception("retries")
    vars(wrapped)["last_attempt"] = SimpleNamespace(exception=lambda: failure)
    for raised_one in (failure, wrapped):
        model, _ = inspected(raised_one)
        with pytest.raises(CallError) as raised:
            await model.complete(Request([HELLO]))
        assert (raised.value.kind, str(raised.value), raised.value.final) == (
            kind,
            f"inspect/m through Inspect: {words}",
            final,
        )


async def test_keys_of_the_environment_are_in_no_message(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_API_KEY", "12345678")
    monkeypatch.setenv("MY_TOKEN", "1234567")
    monkeypatch.setenv("MY_NAME", "abcdefgh")
    model, _ = inspected(ValueError("12345678 1234567 abcdefgh" + "x" * 600))
    with pytest.raises(CallError) as raised:
        await model.complete(Request([HELLO]))
    words = str(raised.value).removeprefix("inspect/m through Inspect: ValueError: ")
    assert words.startswith("*** 1234567 abcdefghx")
    assert len(words) == 500


async def test_what_cannot_be_sent_and_what_is_no_reply():
    model, _ = inspected(
        plain.Record(choices=[], error="overloaded"), plain.Record(choices=[], error=None), output("ok")
    )
    for problem in ("overloaded", "no choice"):
        with pytest.raises(CallError) as raised:
            await model.complete(Request([HELLO]))
        assert (raised.value.kind, str(raised.value)) == (
            "wrong shape",
            f"inspect/m gave no reply: {problem}",
        )
    with pytest.raises(CallError) as raised:
        await model.complete(Request([{"role": "function", "content": "x"}]))
    assert (raised.value.kind, str(raised.value), raised.value.final) == (
        "unsendable request",
        "the request cannot be sent through Inspect: there is no role 'function'",
        True,
    )


async def test_settings_and_the_end(made: list[Any]):
    model, inner = inspected(temperature=0.0, max_tokens=5, seed=7, extra_body={"a": 1})
    assert model.settings() == {
        "base_url": "inspect:openai",
        "sent_as": "gpt/x",
        "library": "inspect_ai 9.9",
        "wire_exact": False,
        "temperature": 0.0,
        "max_tokens": 5,
        "seed": 7,
        "extra_body": {"a": 1},
    }
    assert "seed" not in inspected()[0].settings()
    await model.close()
    assert inner.api.closed
    named = model_from_name("inspect/openai/x", model_options(display_name="mine", temperature=0.25))
    assert (named.name, made, named.settings()["temperature"]) == ("mine", [("openai/x", False)], 0.25)
    with pytest.raises(UsageError) as raised:
        inspect_model("inspect/broken", "broken", Sampling())
    assert str(raised.value) == "model 'inspect/broken' cannot be called through Inspect: no key"
