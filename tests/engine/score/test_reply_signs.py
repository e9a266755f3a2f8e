"""What a reply shows: its end, calls that nothing read, and what answered."""

import json
from typing import Any

import pytest

from wildtool.engine.score.reply_signs import (
    LOOKED_AT_CHARACTERS,
    format_of_text,
    reply_signs,
    served_by,
    unit_signs,
)
from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.scanner import ToolCall
from wildtool.types import Reply, Tool

TOOLS: list[Tool] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


def signs(content: Any = "Fine.", finish: str | None = "stop", **message: Any) -> list[str]:
    return reply_signs(Reply({"role": "assistant", "content": content, **message}, "", finish), lambda: TOOLS)


@pytest.mark.parametrize("name", CALL_FORMATS)
def test_a_call_in_any_format_is_noticed_with_its_option(name: str):
    text = CALL_FORMATS[name].write("", [ToolCall("get_weather", {"city": "Oslo"})])
    (sign,) = signs(text)
    read = CALL_FORMATS[sign.removeprefix("unread ")].read(text, TOOLS)
    assert [call.name for call in read.calls] == ["get_weather"]


@pytest.mark.parametrize(
    "text",
    [
        "The weather (in Oslo) is fine.",
        "I could look it up with get_weather (a tool), if you like.",
        "Here is the list: [1, 2, 3] and {a: 1}.",
        "Use `get_weather` for that.",
    ],
)
def test_words_about_a_tool_are_no_call(text: str):
    assert signs(text) == []


def test_calls_that_a_benchmark_asks_for_in_its_own_text_are_no_sign():
    reply = Reply({"role": "assistant", "content": "[get_weather(city='Oslo')]"}, "", "stop")
    assert reply_signs(reply, lambda: TOOLS) == ["unread pythonic"]
    assert reply_signs(reply, lambda: ()) == []


def test_a_reply_with_native_calls_is_not_searched():
    assert (
        signs(
            '{"name": "get_weather", "arguments": {}}', "tool_calls", tool_calls=[{"function": {"name": "f"}}]
        )
        == []
    )


def test_a_reply_whose_end_is_not_known_is_counted_if_an_endpoint_gave_it():
    said = {"role": "assistant", "content": "Fine."}
    assert reply_signs(Reply(said, "{}", None), lambda: TOOLS) == ["unknown end"]
    assert reply_signs(Reply(said, "{}", "a new reason"), lambda: TOOLS) == ["unknown end"]
    assert reply_signs(Reply(said, "", None), lambda: TOOLS) == []
    assert reply_signs(Reply({**said, "content": ""}, "{}", None), lambda: TOOLS) == ["unknown end", "empty"]


def test_what_answered_is_read_from_the_body_alone():
    body = {
        "model": "m-05",
        "system_fingerprint": "fp",
        "choices": [{"message": {"content": '"model": "x"'}}],
    }
    assert list(served_by(json.dumps(body))) == ["model m-05", "fingerprint fp"]
    assert list(served_by(json.dumps({"candidates": [{"args": {"model": "T"}}], "modelVersion": "g-1"}))) == [
        "model g-1"
    ]
    stream = 'event: message_start\ndata: {"type":"message_start","message":{"model":"c-1"}}\n\ndata: {"model":"no"}'
    assert list(served_by(stream)) == ["model c-1"]
    assert list(served_by('{"content": [{"input": {"model": "T"}}], "model": "c-2"}')) == ["model c-2"]


@pytest.mark.parametrize(
    "raw", ["", 'no JSON with a "model"', '{"model": 7}', '["model"]', '{"model": ' + "[" * 9000]
)
def test_no_body_raises(raw: str):
    assert list(served_by(raw)) == []


def test_a_result_that_the_model_wrote_is_a_sign_and_no_call():
    result = '<tool_response>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_response>'
    assert signs(result) == ["invented result"]
    read = Reply({"role": "assistant", "content": ""}, "", "stop", changes=("repair:own-observation",))
    assert "invented result" in reply_signs(read, lambda: TOOLS)


def calling(*names: str) -> Reply:
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in names]
    return Reply({"role": "assistant", "content": None, "tool_calls": calls}, "{}", "tool_calls")


@pytest.mark.parametrize("calls", [5, True, "abc", {"function": {"name": "a"}}, [1, [], None], [[]] * 3])
def test_calls_of_another_shape_name_no_function(calls: Any):
    tools = [{"type": "function", "function": {"name": name}} for name in "abc"]
    assert unit_signs([Reply({"tool_calls": calls})], lambda: tools, wrong=True) == {
        "replies": 1,
        "nameless calls": 1,
    }


@pytest.mark.parametrize(
    ("offered", "called", "count"),
    [
        ("abc", "abc", 1),
        ("abc", "abcab", 1),
        ("abcd", "abc", 0),
        ("abc", "aaa", 0),
        ("ab", "ab", 0),
        ("ab", "aab", 0),
        ("", "abc", 0),
    ],
)
def test_a_reply_that_calls_each_of_three_or_more_tools_is_a_sign_where_it_is_wrong(
    offered: str, called: str, count: int
):
    tools = [{"type": "function", "function": {"name": name}} for name in offered]
    assert unit_signs([calling(*called)], lambda: tools, wrong=True).get("every tool", 0) == count
    assert "every tool" not in unit_signs([calling(*called)], lambda: tools, wrong=False)


@pytest.mark.parametrize("place", ["beginning", "end"])
def test_a_call_at_either_end_of_a_long_text_is_seen(place: str):
    call, rest = '<tool_call>{"name": "book", "arguments": {}}</tool_call>', "word " * 40_000
    text = f"{call}\n{rest}" if place == "beginning" else f"{rest}\n{call}"
    tool = {"type": "function", "function": {"name": "book", "parameters": {}}}
    assert format_of_text(text, lambda: [tool]) == "hermes"


def test_of_a_hostile_text_only_its_ends_are_read_in_every_format(monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    monkeypatch.setattr(
        "wildtool.engine.score.reply_signs.calls_in_text", lambda text, tools: read.append(len(text)) or ()
    )
    tool = {"type": "function", "function": {"name": "book", "parameters": {}}}
    format_of_text("<tool_call>" * 20_000, lambda: [tool])
    assert read and max(read) <= LOOKED_AT_CHARACTERS + 1


def calls(*functions: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"c{number}", "type": "function", "function": function, **fields}
        for number, function in enumerate(functions)
    ]


def f(arguments: Any) -> dict[str, Any]:
    return {"name": "get_weather", "arguments": arguments}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (calls(f('{"city": "Oslo"}'), f('{"city": "Rome"}')), []),
        (calls(f({"city": "Oslo"})), ["arguments as objects"]),
        (calls(f(json.dumps('{"city": "Oslo"}'))), ["arguments encoded twice"]),
        (calls(f('"Oslo"')), []),
        (calls(f("{}"), id=None), ["calls without id"]),
        (calls(f("{}"), id=""), ["calls without id"]),
        (calls(f('{"city": "Oslo"}'), f('{"city": "Rome"}'), id="same"), ["calls with equal ids"]),
        (calls(f('{"city": "Oslo"}'), f('{ "city":"Oslo" }')), ["same call twice"]),
        (calls({"name": "get_weather"}, {"name": "get_time"}), []),
    ],
)
def test_what_an_endpoint_made_of_calls_is_a_sign(made: list[dict[str, Any]], expected: list[str]):
    reply = Reply({"role": "assistant", "content": None, "tool_calls": made}, "{}", "tool_calls")
    assert reply_signs(reply, lambda: TOOLS) == expected


def test_ids_are_no_sign_of_replies_that_no_endpoint_gave():
    made = calls(f("{}"), f('{"city": "Oslo"}'), id=None)
    assert signs(None, "tool_calls", tool_calls=made) == []


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "reasoning_details", "my_thoughts"])
def test_a_call_that_was_left_in_the_reasoning_of_an_empty_reply_is_a_sign(key: str):
    text = CALL_FORMATS["hermes"].write("It is asked for.", [ToolCall("get_weather", {"city": "Oslo"})])
    thought: Any = [{"type": "reasoning.text", "text": text}] if key == "reasoning_details" else text
    assert signs(None, **{key: thought}) == ["calls in reasoning"]
    assert signs("Fine.", **{key: thought}) == []
    assert signs(None, reasoning="Nothing is asked for.") == ["empty"]


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        ("empty-reasoning-added", ["empty reasoning added"]),
        ("thought-signature-added", ["signature placeholder added"]),
        ("parallel-calls-split", ["parallel calls split"]),
        ("message-key-dropped:reasoning", ["reasoning left out"]),
        ("message-key-dropped:thinking_blocks", ["reasoning left out"]),
        ("message-key-dropped:name", []),
    ],
)
def test_a_reply_to_a_history_that_was_adapted_is_a_sign(change: str, sign: list[str]):
    reply = Reply({"role": "assistant", "content": "Fine."}, "{}", "stop", changes=(change,))
    assert reply_signs(reply, lambda: TOOLS) == sign
