"""The Responses adapter: items, reasoning and refusals, as OpenAI's reference describes them."""

import json
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import HELLO, TOOL, asked_and_answered, body, call, changes, model, told
from models.peers import Peer
from wildtool.errors import CallError
from wildtool.types import PROVIDER_CONTENT, Request

CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": '{"a": 1 }',
    "status": "completed",
}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}


def answer(output: list[Any], **about: Any) -> Answer:
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": output, **about}
    return Answer(http(200, json.dumps(whole).encode()))


def test_the_body_is_what_the_reference_shows():
    assert body("responses", [{"role": "system", "content": "Be brief."}, HELLO], [TOOL]) == {
        "model": "gpt-x",
        "input": [{"role": "system", "content": "Be brief."}, HELLO],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", **TOOL["function"], "strict": False}],
    }


async def test_tools_are_kept_from_being_strict_and_that_is_named():
    strict = {"type": "function", "function": {**TOOL["function"], "strict": True}}
    assert await changes("responses", [HELLO], [TOOL]) == ("strict-set-to-false",)
    assert await changes("responses", [HELLO], [strict]) == ()


def test_calls_and_results_are_items_in_order():
    sent = body(
        "responses", asked_and_answered(call("a", "f", '{"x":1}'), call("b", "g", "{}"), content="So:")
    )
    assert sent["input"][1:] == [
        {"role": "assistant", "content": "So:"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "r0"},
        {"type": "function_call_output", "call_id": "b", "output": "r1"},
    ]


async def test_argument_texts_come_back_as_written():
    reply = await told("responses", answer([CALL]))
    assert reply.message["tool_calls"] == [call("call_1", "f", '{"a": 1 }')]


async def test_encrypted_reasoning_goes_back_and_bare_reasoning_is_left_out_and_named():
    sealed = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "gA",
    }
    bare = {"type": "reasoning", "id": "rs_2", "summary": []}
    reply = await told("responses", answer([sealed, bare, CALL]))
    assert reply.message["reasoning_content"] == "Hm."
    assert reply.message[PROVIDER_CONTENT] == {"openai_responses": [sealed, bare, CALL]}
    messages = [HELLO, reply.message, {"role": "tool", "tool_call_id": "call_1", "content": "r"}]
    assert body("responses", messages)["input"][1:3] == [sealed, CALL]
    assert await changes("responses", messages) == ("unencrypted-reasoning-dropped",)


async def test_a_refusal_is_a_reply():
    reply = await told("responses", answer([{**SAID, "content": [{"type": "refusal", "refusal": "No."}]}]))
    assert (reply.message["refusal"], reply.message["content"], reply.finish_reason) == (
        "No.",
        "",
        "content_filter",
    )


@pytest.mark.parametrize(("reason", "finish"), [("max_output_tokens", "length"), ("content_filter",) * 2])
async def test_an_incomplete_response_is_a_reply_that_says_why(reason: str, finish: str):
    reply = await told("responses", answer([], status="incomplete", incomplete_details={"reason": reason}))
    assert (reply.message["content"], reply.finish_reason) == ("", finish)


async def test_a_failed_response_is_a_failed_call():
    with pytest.raises(CallError, match="try later") as caught:
        await told(
            "responses", answer([], status="failed", error={"code": "server_error", "message": "try later"})
        )
    assert (caught.value.kind, caught.value.final) == ("http 500", False)


async def test_a_model_without_encrypted_reasoning_is_asked_for_none_from_then_on():
    why = b'{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}'

    def said(body: dict[str, Any], digest: str) -> Any:
        return Answer(http(400, why)) if body.get("include") else {"role": "assistant", "content": "ok"}

    async with Peer("responses", said) as peer:
        asked = model("responses", peer.base_url)
        for _ in range(2):
            assert (await asked.complete(Request([HELLO]))).message["content"] == "ok"
        await asked.close()
    assert len(peer.bodies) == 3
