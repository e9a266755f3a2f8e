"""What an answer with HTTP 200 says of a failure, in the words of each protocol, and what is none."""

import json
from typing import Any

import pytest

from models.asking import reply_in
from wildtool.errors import CallError

PATHS = {
    "chat": "chat/completions",
    "anthropic": "messages",
    "gemini": "models/gemini-x:generateContent",
    "responses": "responses",
}
REFUSED = {"type": "message", "stop_reason": "refusal", "content": []}
ERROR = {"message": "m", "code": 503}
FILTERED = [{"content_filter_results": {"jailbreak": {"filtered": False}, "hate": {"filtered": True}}}]


def choice(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": ""}, "finish_reason": "stop", **fields}]}


def candidate(**fields: Any) -> dict[str, Any]:
    return {"candidates": [fields]}


BLOCKED = "the provider blocked the prompt: "


@pytest.mark.parametrize(
    ("protocol", "answer", "kind", "problem"),
    [
        *((protocol, {"error": ERROR}, "http 503", "HTTP 503: m") for protocol in PATHS),
        ("chat", {**choice(), "error": ERROR}, "http 503", "HTTP 503: m"),
        ("chat", choice(error=ERROR), "http 503", "HTTP 503: m"),
        ("chat", choice(message={"error": ERROR}), "http 503", "HTTP 503: m"),
        (
            "chat",
            {**choice(), "prompt_filter_results": FILTERED},
            "blocked prompt",
            f"{BLOCKED}the prompt was filtered",
        ),
        ("anthropic", {**REFUSED, "stop_details": {"explanation": "no"}}, "blocked prompt", f"{BLOCKED}no"),
        ("anthropic", REFUSED, "blocked prompt", f"{BLOCKED}stop reason refusal"),
        ("gemini", candidate(error=ERROR), "http 503", "HTTP 503: m"),
        (
            "gemini",
            candidate(finishReason="MISSING_THOUGHT_SIGNATURE"),
            "http 400",
            "HTTP 400: the reply ended with the finish reason MISSING_THOUGHT_SIGNATURE",
        ),
        (
            "gemini",
            candidate(finishReason="PUP_LIMITED_DISABLED"),
            "http 403",
            "HTTP 403: the reply ended with the finish reason PUP_LIMITED_DISABLED",
        ),
        (
            "gemini",
            {"promptFeedback": {"blockReason": "OTHER"}},
            "blocked prompt",
            f"{BLOCKED}block reason OTHER",
        ),
        (
            "gemini",
            {"promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}},
            "wrong shape",
            'the answer holds no reply of a model: {"promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}}',
        ),
    ],
)
def test_a_failure_in_an_answer_is_named(protocol: str, answer: Any, kind: str, problem: str):
    with pytest.raises(CallError) as raised:
        reply_in(protocol, json.dumps(answer).encode())
    place = f"http://127.0.0.1:1/v1/{PATHS[protocol]}"
    assert (raised.value.kind, str(raised.value)) == (kind, f"{place}: {problem}")


@pytest.mark.parametrize(
    ("protocol", "answer", "content", "reason"),
    [
        ("chat", {**choice(message={"content": "a"}), "prompt_filter_results": FILTERED}, "a", "stop"),
        ("chat", {**choice(), "prompt_filter_results": [{}, 5]}, "", "stop"),
        ("anthropic", {**REFUSED, "content": [{"type": "text", "text": "No."}]}, "No.", "content_filter"),
        (
            "gemini",
            candidate(content={"parts": [{"text": "a"}]}, finishReason="STOP", error=None),
            "a",
            "stop",
        ),
        (
            "gemini",
            {**candidate(content={"parts": [{"text": "a"}]}), "promptFeedback": {"blockReason": "OTHER"}},
            "a",
            "content_filter",
        ),
        ("gemini", candidate(finishReason="STOP"), "", "stop"),
    ],
)
def test_what_was_written_all_the_same_is_a_reply(protocol: str, answer: Any, content: str, reason: str):
    reply = reply_in(protocol, json.dumps(answer).encode())
    assert (reply.message["content"], reply.finish_reason) == (content, reason)


def test_parts_that_a_message_cannot_hold_are_kept_beside_it():
    parts = [{"text": "a"}, {"executableCode": {"code": "1"}}]
    reply = reply_in("gemini", json.dumps(candidate(content={"parts": parts})).encode())
    assert reply.message == {"role": "assistant", "content": "a", "provider_content": {"gemini": parts}}
