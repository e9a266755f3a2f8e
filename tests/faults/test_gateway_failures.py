"""What fails at a provider after HTTP 200 was sent is a failed call, never a reply; a blocked prompt has its own name."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import playing, verdicts, wildtool
from faults.server import Answer, FaultServer, http
from models.asking import HELLO, model, told
from models.peers import PROTOCOLS, Body, sse
from wildtool.errors import CallError
from wildtool.models.http.failures import failure_of_error
from wildtool.types import Request

SAID = {"role": "assistant", "content": "The weather is", "tool_calls": None}
CHOICE: Body = {"index": 0, "message": SAID, "finish_reason": "stop"}


async def failed(protocol: str, answer: Body | list[Body], *, status: int = 200) -> CallError:
    """The failure that an answer, or the events of one, lead to."""
    body = sse(answer, "data: [DONE]\n\n") if isinstance(answer, list) else json.dumps(answer).encode()
    with pytest.raises(CallError) as caught:
        await told(protocol, Answer(http(status, body)), stream=isinstance(answer, list))
    return caught.value


ERRORS = [
    ({"code": 502, "message": "Provider disconnected"}, "http 502", False),
    ({"code": 429, "message": "slow down"}, "http 429", False),
    ({"code": "429", "message": "slow down"}, "http 429", False),
    ({"code": "rate_limit_exceeded", "message": "slow down"}, "http 429", False),
    ({"status": "RESOURCE_EXHAUSTED", "message": "quota"}, "http 429", False),
    ({"code": "server_error", "message": "broke"}, "http 500", False),
    ({"type": "overloaded_error", "message": "Overloaded"}, "http 529", False),
    ({"type": "invalid_request_error", "message": "prompt is too long"}, "http 400", True),
    ({"type": "BadRequestError", "code": 400, "message": "too long"}, "http 400", True),
    ({"code": 403, "message": "not allowed"}, "http 403", True),
    ({"message": "no idea"}, "wrong shape", False),
    ("no idea", "wrong shape", False),
    ({"code": "content_filter", "message": "filtered"}, "blocked prompt", True),
    ({"code": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}, "blocked prompt", True),
    ({"code": 403, "message": "flagged", "metadata": {"flagged_input": "a bomb"}}, "blocked prompt", True),
]


@pytest.mark.parametrize("where", ["in the choice", "in the message", "beside the choices"])
@pytest.mark.parametrize(("error", "kind", "final"), ERRORS)
async def test_an_error_in_or_beside_a_choice_is_a_failed_call_retried_as_its_code_says(
    where: str, error: Any, kind: str, final: bool
):
    choice: Body = {**CHOICE}
    if where == "in the choice":
        choice["error"] = error
    elif where == "in the message":
        choice["message"] = {**SAID, "error": error}
    beside = {"error": error} if where == "beside the choices" else {}
    found = await failed("chat", {"choices": [choice], **beside})
    assert (found.kind, found.final) == (kind, final)


@pytest.mark.parametrize("where", ["in the choice", "beside the choices"])
@pytest.mark.parametrize(("error", "kind", "final"), ERRORS)
async def test_an_error_in_the_midst_of_a_stream_is_a_failed_call_even_if_the_stream_ends_well(
    where: str, error: Any, kind: str, final: bool
):
    begun = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "The weather is"}}]}
    inside = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    broken = (
        {"choices": [{**inside, "error": error}]}
        if where == "in the choice"
        else {"choices": [inside], "error": error}
    )
    found = await failed("chat", [begun, broken])
    assert (found.kind, found.final) == (kind, final)


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource"])
async def test_a_finish_reason_that_names_a_failure_is_one_whole_and_streamed(reason: str):
    assert not (await failed("chat", {"choices": [{**CHOICE, "finish_reason": reason}]})).final
    delta = {"index": 0, "delta": {"content": "The weather is"}, "finish_reason": reason}
    assert reason in str(await failed("chat", [{"choices": [delta]}]))


@pytest.mark.parametrize(
    ("reason", "kind"), [("MISSING_THOUGHT_SIGNATURE", "http 400"), ("PUP_LIMITED_DISABLED", "http 403")]
)
async def test_a_finish_reason_that_says_nothing_about_the_model_is_a_failed_call(reason: str, kind: str):
    found = await failed("gemini", {"candidates": [{"content": {"parts": []}, "finishReason": reason}]})
    assert (found.kind, found.final) == (kind, True)


WHOLE: dict[str, Body] = {
    "chat": {"choices": [CHOICE]},
    "anthropic": {"type": "message", "content": [{"type": "text", "text": "So"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "So"}]}, "finishReason": "STOP"}]},
    "responses": {"status": "completed", "output": []},
}


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("error", [{"code": 503, "message": "away"}, "away"])
async def test_an_error_beside_a_whole_reply_is_a_failed_call_in_every_protocol(protocol: str, error: Any):
    assert "away" in str(await failed(protocol, {**WHOLE[protocol], "error": error}))


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("nothing", [None, {}, ""])
async def test_an_empty_error_is_none(protocol: str, nothing: Any):
    answer = {**WHOLE[protocol], "error": nothing}
    await told(protocol, Answer(http(200, json.dumps(answer).encode())))
    speaks = PROTOCOLS[protocol]
    events = [{**event, "error": nothing} for event in speaks.stream(speaks.write(SAID, "0"))]
    reply = await told(protocol, Answer(http(200, sse(events, speaks.closing))), stream=True)
    assert reply.message["content"] == SAID["content"]


BLOCKED: list[tuple[str, int, Body]] = [
    (
        "chat",
        400,
        {
            "error": {
                "message": "The response was filtered",
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
            }
        },
    ),
    ("chat", 400, {"error": {"code": "data_inspection_failed", "message": "inappropriate content"}}),
    ("chat", 400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
    (
        "responses",
        400,
        {"error": {"code": "invalid_prompt", "type": "invalid_request_error", "message": "flagged"}},
    ),
    (
        "responses",
        200,
        {"status": "failed", "error": {"code": "invalid_prompt", "message": "flagged"}, "output": []},
    ),
    ("gemini", 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}),
    ("anthropic", 200, {"type": "message", "content": [], "stop_reason": "refusal", "stop_details": None}),
    (
        "chat",
        200,
        {
            "choices": [{"index": 0, "finish_reason": "content_filter", "message": {"content": None}}],
            "prompt_filter_results": [
                {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": True}}}
            ],
        },
    ),
]


@pytest.mark.parametrize(("protocol", "status", "answer"), BLOCKED)
async def test_a_blocked_prompt_is_one_named_final_outcome(protocol: str, status: int, answer: Body):
    found = await failed(protocol, answer, status=status)
    assert (found.kind, found.final) == ("blocked prompt", True)


@pytest.mark.parametrize(
    ("protocol", "events"),
    [
        ("gemini", [{"promptFeedback": {"blockReason": "SAFETY"}}]),
        (
            "responses",
            [
                {"type": "response.created", "response": {"status": "in_progress", "error": None}},
                {"type": "response.failed", "response": BLOCKED[4][2]},
            ],
        ),
        (
            "anthropic",
            [
                {"type": "message_start", "message": {"type": "message", "content": []}},
                {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
                {"type": "message_stop"},
            ],
        ),
        ("chat", [{"error": {"code": "content_filter", "message": "filtered"}}]),
    ],
)
async def test_a_blocked_prompt_is_named_in_streams_too(protocol: str, events: list[Body]):
    assert (await failed(protocol, events)).kind == "blocked prompt"


def body_of(status: int, body: Body) -> Body:
    return {"custom_id": "a", "response": {"status_code": status, "body": body}, "error": None}


@pytest.mark.parametrize(
    ("protocol", "row", "kind"),
    [
        ("chat", body_of(400, BLOCKED[0][2]), "blocked prompt"),
        ("chat", {"custom_id": "a", "response": None, "error": {"code": "content_filter"}}, "blocked prompt"),
        ("chat", body_of(503, {"error": {"message": "away"}}), "http 503"),
        ("anthropic", {"custom_id": "a", "result": {"type": "errored", "error": ERRORS[7][0]}}, "http 400"),
        (
            "anthropic",
            {"custom_id": "a", "result": {"type": "errored", "error": {"error": ERRORS[6][0]}}},
            "http 529",
        ),
        ("anthropic", {"custom_id": "a", "result": {"type": "errored"}}, "batch error"),
    ],
)
def test_a_request_of_a_batch_that_failed_is_named_like_a_call_of_its_own(
    protocol: str, row: Body, kind: str
):
    async def send(body: bytes, request: object) -> tuple[bytes, float]:
        raise NotImplementedError

    error = model(protocol).use_batches(send).result(row).error
    assert error is not None and error.kind == kind


@pytest.mark.parametrize(
    ("protocol", "answer"),
    [
        ("chat", {"choices": [{**CHOICE, "error": {"code": 502, "message": "died"}}]}),
        ("responses", {"status": "failed", "output": [], "error": None}),
        ("anthropic", {**WHOLE["anthropic"], "error": {"type": "api_error"}}),
    ],
)
async def test_a_failure_inside_the_answer_of_a_batch_is_a_failed_call(protocol: str, answer: Body):
    async def send(body: bytes, request: object) -> tuple[bytes, float]:
        return json.dumps(answer).encode(), 1.0

    asked = model(protocol)
    asked.use_batches(send)
    with pytest.raises(CallError):
        await asked.complete(Request([HELLO]))


async def test_what_a_gateway_quotes_of_the_provider_behind_it_is_told():
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": "Tool call id was x"}}
    assert str(await failed("chat", {"error": error}, status=400)).endswith("error: Tool call id was x")
    assert str(await failed("chat", {"choices": [{**CHOICE, "error": error}]})).endswith("Tool call id was x")


async def test_an_error_without_a_key_for_it_is_one():
    found = await failed(
        "chat", {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}
    )
    assert (found.kind, found.final) == ("http 400", True) and str(found).endswith("too long")


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress"])
async def test_a_response_that_is_not_over_or_failed_without_an_error_is_no_reply(status: str):
    found = await failed("responses", {"status": status, "output": [], "error": None})
    assert not found.final and status in str(found)


@pytest.mark.parametrize(
    "error", [*(error for error, _, _ in ERRORS), {"code": 10**400}, {"code": [1]}, [1], 5, True]
)
def test_any_error_has_words(error: Any):
    found = failure_of_error(error)
    assert found is not None and found.message


@pytest.mark.long
async def test_streamed_calls_that_break_off_with_an_error_are_never_judged(tmp_path: Path):
    begun = {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}
    broken = {"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502}}]}
    async with FaultServer("ok") as server:
        server.behave = lambda call: Answer(http(200, sse([begun, broken], "data: [DONE]\n\n")))
        ended = await wildtool(*playing(server, tmp_path / "run", "--stream"), cwd=tmp_path)
    assert ended.status == 3 and "http 502" in ended.err
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"infra_error"}


async def test_blocked_prompts_are_told_apart_from_network_faults_and_do_not_stop_a_run(tmp_path: Path):
    answer = Answer(http(400, json.dumps(BLOCKED[0][2]).encode()))
    async with FaultServer("ok") as server:
        server.behave = lambda call: answer
        ended = await wildtool(*playing(server, tmp_path / "run", limit=8, retries=3), cwd=tmp_path)
    assert ended.status == 3 and "because calls ended with blocked prompt" in ended.err
    assert "trying again will hardly help" in ended.err
    assert len(verdicts(tmp_path / "run")) == 32
    assert max(server.asked.values()) == 1
