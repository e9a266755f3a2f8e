"""A recorded raw answer is read again as its protocol and its tool format read it when it came."""

import json
from typing import Any

import pytest

from wildtool.models.providers.anthropic import AnthropicModel
from wildtool.models.providers.base import HttpModel
from wildtool.models.providers.gemini import GeminiModel
from wildtool.models.providers.openai_chat import CompletionsModel, OpenAIModel
from wildtool.models.providers.openai_responses import ResponsesModel
from wildtool.models.reread import read_raw, served_model
from wildtool.types import Reply, Request

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get.weather",
        "description": "",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
ASKED = Request([{"role": "user", "content": "Oslo?"}], (WEATHER,))
PLAIN = Request([{"role": "user", "content": "Oslo is"}], ())
CALL = {"id": "c1", "type": "function", "function": {"name": "get.weather", "arguments": '{"city":"Oslo"}'}}
ANSWERS: list[tuple[type[HttpModel], Request, Any]] = [
    (
        OpenAIModel,
        ASKED,
        {
            "choices": [
                {"message": {"role": "assistant", "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
            ]
        },
    ),
    (CompletionsModel, PLAIN, {"choices": [{"text": "Oslo is cold", "finish_reason": "stop"}]}),
    (
        AnthropicModel,
        ASKED,
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t", "name": "get_weather", "input": {"city": "Oslo"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 5},
        },
    ),
    (
        GeminiModel,
        ASKED,
        {
            "candidates": [
                {
                    "content": {
                        "parts": [{"functionCall": {"name": "get.weather", "args": {"city": "Oslo"}}}]
                    },
                    "finishReason": "STOP",
                }
            ]
        },
    ),
    (
        ResponsesModel,
        ASKED,
        {
            "status": "completed",
            "output": [
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "get.weather",
                    "arguments": '{"city":"Oslo"}',
                }
            ],
        },
    ),
]


@pytest.mark.parametrize(("protocol", "request_", "answer"), ANSWERS)
def test_each_protocol_is_recognized(protocol: type[HttpModel], request_: Request, answer: Any):
    raw = json.dumps(answer)
    came = protocol("m", "http://127.0.0.1/v1").read(raw.encode(), request_)
    assert came.raw == raw
    (again,) = read_raw(came, request_)
    assert (again.message, again.finish_reason, again.usage) == (came.message, came.finish_reason, came.usage)


def test_calls_in_a_text_are_read_in_the_format_that_the_reply_names():
    text = '<tool_call>\n{"name": "get.weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    raw = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})
    plain, parsed = read_raw(Reply({}, raw=raw, changes=("format:hermes",)), ASKED)
    assert plain.message["content"] == text
    assert parsed.message["tool_calls"][0]["function"] == {
        "name": "get.weather",
        "arguments": '{"city":"Oslo"}',
    }


def test_the_text_of_local_weights_is_its_own_answer():
    (reply,) = read_raw(Reply({}, raw="It is cold.", finish_reason="stop"), ASKED)
    assert (reply.message["content"], reply.finish_reason) == ("It is cold.", "stop")


@pytest.mark.parametrize(
    "raw",
    [
        '{"choices": [{"message": {"content": "x"}, "stop_reason": "stop"}]}',
        "{}",
        "[1]",
        "[" * 5_000,
        '{"error": {"message": "late"}}',
        "data: x\n\n",
    ],
)
def test_what_no_protocol_reads_is_not_guessed(raw: str):
    assert list(read_raw(Reply({}, raw=raw), ASKED)) == []


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ('{"model": "m-2024"}', "m-2024"),
        ('{"modelVersion": "g-2"}', "g-2"),
        ('data: {"model": "m-2024", "choices": []}\n\ndata: {"model": "other"}\n\n', "m-2024"),
        ('event: x\ndata: {"type": "message_start", "message": {"model": "c-1"}}\n\n', "c-1"),
        ("data: [" + "[" * 5_000, ""),
        ('{"model": 3}', ""),
        ("[" * 5_000, ""),
        ("text", ""),
    ],
)
def test_an_answer_may_name_its_model(raw: str, name: str):
    assert served_model(raw) == name
