"""What servers refuse is told by their words, and so is what to do."""

import json
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import told
from wildtool.errors import CallError

TOOLS = [
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (500, "tools param requires --jinja flag"),
    (500, "Unsupported param: tools"),
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (404, "No endpoints found that support tool use. To learn more about provider routing, visit the docs"),
    (400, "`tool calling` is not supported with this model"),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    (400, "Function calling is not supported for the model: x"),
    (422, "deepseek-reasoner does not support Function Calling"),
    (400, "This model doesn't support tool use in streaming mode."),
    (400, "Tools are not supported by this deployment"),
    (400, "the chat template does not support tools"),
    (400, "该模型不支持工具调用"),
]
OVERFLOW = [
    (400, "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens."),
    (
        400,
        "'max_tokens' is too large: 4096. This model's maximum context length is 4096 tokens (4096 > 4096 - 9)",
    ),
    (400, "the request exceeds the available context size, try increasing it"),
    (500, "input is too large to process. increase the physical batch size"),
    (400, "prompt is too long: 205000 tokens > 200000 maximum"),
    (400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
    (400, "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576)."),
    (
        400,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
    (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"),
    (422, "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens"),
    (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    (400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096"),
    (400, "Input is too long for requested model."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "Range of input length should be [1, 30720]"),
    (400, "Invalid request: Your request exceeded model token limit: 8192"),
    (413, "The prompt is too long: 9000, model maximum context length: 8192"),
    (400, "Prompt exceeds max length"),
    (400, "输入超过模型上下文长度"),
]
OTHER = [
    (400, "Invalid value for 'temperature'"),
    (400, "model does not support parallel tool calls"),
    (404, "The model `x` does not exist"),
    (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"),
    (400, "tool_call_id of the message has no matching call"),
    (400, "messages: a tool message must follow a tool call"),
    (500, "broken"),
    (400, "Tool names must match the pattern ^[a-z]+$"),
]


async def refused(status: int, body: Any, *headers: str) -> CallError:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(CallError) as caught:
        await told("chat", Answer(http(status, text, *headers)))
    return caught.value


@pytest.mark.parametrize(("status", "words"), TOOLS)
async def test_a_server_that_takes_no_tools_is_told_so_with_what_to_do(status: int, words: str):
    error = await refused(status, {"error": {"message": words}})
    assert "add --tool-format auto" in str(error) and error.final and words[:40] in str(error)


@pytest.mark.parametrize(("status", "words"), OVERFLOW)
async def test_an_overflow_of_the_context_is_called_one(status: int, words: str):
    error = await refused(status, {"error": {"message": words}})
    assert "the context overflowed" in str(error) and error.final == (status < 500)


@pytest.mark.parametrize(("status", "words"), OTHER)
async def test_other_refusals_get_neither_advice(status: int, words: str):
    error = await refused(status, {"error": {"message": words}})
    assert "tool-format" not in str(error) and "overflowed" not in str(error)
    assert error.final == (status < 500)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        (429, {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}}),
        (402, {"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}),
        (402, b"Payment Required"),
        (400, {"type": "error", "error": {"message": "Your credit balance is too low to access the API"}}),
        (429, {"error": {"message": "suspended", "type": "exceeded_current_quota_error"}}),
        (429, {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}),
        (400, {"code": "Arrearage", "message": "Access denied"}),
        (403, {"error": "Your team has used all available credits"}),
        (429, {"error": {"message": "The project has exceeded its monthly spending cap"}}),
    ],
)
async def test_an_empty_account_is_final_and_no_rate_limit(status: int, body: Any):
    error = await refused(status, body)
    assert (error.kind, error.final) == ("quota used up", True)
    assert "the account has no quota left" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Rate limit reached for requests per minute", "code": "rate_limit_exceeded"}},
        {
            "error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
            }
        },
        b"slow down",
    ],
)
async def test_a_limit_of_calls_in_a_time_is_no_empty_account(body: Any):
    error = await refused(429, body)
    assert (error.kind, error.final) == ("http 429", False)


async def test_a_server_that_wants_tls_is_told_so():
    error = await refused(400, b"Client sent an HTTP request to an HTTPS server.")
    assert "the server speaks https, not http" in str(error)
