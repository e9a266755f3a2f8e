"""Tokens by kind of price, as each protocol reports them, and what they cost."""

import json
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import told
from wildtool.models.token_usage import Price, TokenUsage, reported_cost, summed_usage, token_usage

PRICE = Price(
    input=10.0,
    output=100.0,
    cached_input=1.0,
    cache_write=12.5,
    cache_write_1h=20.0,
    audio_input=40.0,
    audio_output=400.0,
)
CHAT_END = {"choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]}
BLOCKS = {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}
RESPONSE = {"status": "completed", "output": []}
CANDIDATE = {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}
REPORTED: list[tuple[str, dict[str, Any], TokenUsage]] = [
    (
        "chat",
        CHAT_END
        | {
            "usage": {
                "prompt_tokens": 1000,
                "completion_tokens": 50,
                "total_tokens": 1050,
                "prompt_tokens_details": {
                    "cached_tokens": 800,
                    "audio_tokens": 20,
                    "cache_write_tokens": 100,
                },
                "completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 5},
            }
        },
        TokenUsage(80, 800, 100, 0, 20, 15, 30, 5),
    ),
    (
        "chat",
        CHAT_END
        | {"usage": {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_cache_hit_tokens": 900}},
        TokenUsage(fresh=100, cached=900, written=50),
    ),
    (
        "chat",
        CHAT_END | {"usage": {"prompt_tokens": 1000, "completion_tokens": 50, "cached_tokens": 900}},
        TokenUsage(fresh=100, cached=900, written=50),
    ),
    (
        "chat",
        CHAT_END
        | {
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 45,
                "completion_tokens_details": {"reasoning_tokens": 30},
            }
        },
        TokenUsage(fresh=10, written=5, reasoning=30),
    ),
    (
        "responses",
        RESPONSE
        | {
            "usage": {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 40},
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 1050,
            }
        },
        TokenUsage(fresh=60, cached=900, cache_written=40, written=20, reasoning=30),
    ),
    (
        "anthropic",
        BLOCKS
        | {
            "usage": {
                "input_tokens": 50,
                "cache_read_input_tokens": 900,
                "cache_creation_input_tokens": 50,
                "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20},
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 10},
            }
        },
        TokenUsage(50, 900, 30, 20, 0, 40, 10, 0),
    ),
    (
        "anthropic",
        BLOCKS | {"usage": {"input_tokens": 50, "cache_creation_input_tokens": 50, "output_tokens": 5}},
        TokenUsage(fresh=50, cache_written=50, written=5),
    ),
    (
        "gemini",
        CANDIDATE
        | {
            "usageMetadata": {
                "promptTokenCount": 1000,
                "cachedContentTokenCount": 800,
                "toolUsePromptTokenCount": 100,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 30,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 940},
                    {"modality": "AUDIO", "tokenCount": 60},
                ],
            }
        },
        TokenUsage(fresh=240, cached=800, audio_input=60, written=20, reasoning=30),
    ),
]


@pytest.mark.parametrize(("protocol", "answer", "tokens"), REPORTED)
async def test_every_protocol_gives_the_same_record_of_its_tokens(
    protocol: str, answer: dict[str, Any], tokens: TokenUsage
):
    reply = await told(protocol, Answer(http(200, json.dumps(answer).encode())))
    assert token_usage(reply.usage) == tokens


@pytest.mark.parametrize(("protocol", "answer", "tokens"), REPORTED)
async def test_what_was_cached_costs_what_the_cache_costs(
    protocol: str, answer: dict[str, Any], tokens: TokenUsage
):
    reply = await told(protocol, Answer(http(200, json.dumps(answer).encode())))
    expected = (
        10 * tokens.fresh
        + tokens.cached
        + 12.5 * tokens.cache_written
        + 20 * tokens.cache_written_1h
        + 40 * tokens.audio_input
        + 100 * (tokens.written + tokens.reasoning)
        + 400 * tokens.audio_output
    )
    assert PRICE.cost(reply.usage) == pytest.approx(expected / 1e6)


@pytest.mark.parametrize(
    "details",
    [
        {"cached_tokens": 10**9},
        {"cached_tokens": -1},
        {"cached_tokens": "many"},
        {"cached_tokens": True},
        {"audio_tokens": 10**9, "cached_tokens": 60},
        [],
        "x",
    ],
)
def test_no_part_exceeds_its_whole(details: Any):
    tokens = token_usage({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": details})
    assert (tokens.prompt, tokens.completion) == (100, 7)
    assert min(tokens.fresh, tokens.cached, tokens.audio_input) >= 0


def test_a_price_without_those_of_the_cache_takes_its_tokens_for_others():
    usage = {"prompt_tokens": 100, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 20}
    assert Price(input=10.0, output=1.0).cost(usage) == pytest.approx(1000 / 1e6)
    hour = {"prompt_tokens": 100, "cache_creation": {"ephemeral_1h_input_tokens": 100}}
    assert Price(input=10.0, output=1.0, cache_write=20.0).cost(hour) == pytest.approx(2000 / 1e6)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": 0}, 0.0),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, 0.21),
        ({"cost": 0.25, "cost_details": {"upstream_inference_cost": 0.2}}, 0.25),
        ({}, None),
        ({"cost": "much"}, None),
        ({"cost": -1}, None),
        ({"cost": True}, None),
        ({"cost": float("nan")}, None),
    ],
)
def test_the_cost_that_an_endpoint_reports_is_read(usage: dict[str, Any], cost: float | None):
    assert reported_cost(usage) == (cost if cost is None else pytest.approx(cost))


def test_costs_of_two_attempts_are_added():
    assert summed_usage({"cost": 0.25, "prompt_tokens": 1}, {"cost": 0.5, "prompt_tokens": 2}) == {
        "cost": 0.75,
        "prompt_tokens": 3,
    }
