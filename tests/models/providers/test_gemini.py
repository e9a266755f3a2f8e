"""The generateContent adapter: contents, parts, signatures and blocks, as Google's reference describes them."""

import json
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import HELLO, TOOL, asked_and_answered, body, call, changes, model, told
from models.peers import Peer
from wildtool.errors import CallError
from wildtool.reply_ends import remedy_in
from wildtool.types import PROVIDER_CONTENT, Message, Request


def answer(parts: list[Any] | None, reason: str = "STOP") -> Answer:
    content = {} if parts is None else {"content": {"role": "model", "parts": parts}}
    counts = {
        "promptTokenCount": 5,
        "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 2,
    }
    candidate = {**content, "finishReason": reason, "index": 0}
    return Answer(http(200, json.dumps({"candidates": [candidate], "usageMetadata": counts}).encode()))


def test_the_body_is_what_the_reference_shows():
    declared = {"name": "f", "description": "Does.", "parametersJsonSchema": TOOL["function"]["parameters"]}
    assert body("gemini", [{"role": "system", "content": "Be brief."}, HELLO], [TOOL]) == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [declared]}],
    }


async def test_results_are_wrapped_in_an_object_and_stand_in_one_content():
    messages = asked_and_answered(call("a", "f", '{"x":1}'), call("b", "g", "{}"))
    assert body("gemini", messages)["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}},
                {"functionCall": {"id": "b", "name": "g", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "f", "response": {"output": "r0"}}},
                {"functionResponse": {"id": "b", "name": "g", "response": {"output": "r1"}}},
            ],
        },
    ]
    assert await changes("gemini", messages) == ("tool-result-wrapped",)


async def test_calls_without_ids_get_some_and_go_back_without():
    parts = [
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "Cg=="},
        {"functionCall": {"name": "f"}},
    ]
    reply = await told("gemini", answer(parts))
    ids = [one["id"] for one in reply.message["tool_calls"]]
    assert ids == ["call_1_0", "call_1_1"]
    results: list[Message] = [{"role": "tool", "tool_call_id": id_, "content": id_} for id_ in reversed(ids)]
    later: list[Message] = [HELLO, {"role": "system", "content": "moved"}, reply.message, *results]
    contents = body("gemini", later)["contents"]
    assert contents[1]["parts"] == parts
    assert [part["functionResponse"].keys() for part in contents[2]["parts"]] == [{"name", "response"}] * 2


@pytest.mark.parametrize("thoughts", [[], [{"text": "Hm.", "thought": True}]])
async def test_thoughts_are_apart_from_the_text_and_signatures_of_texts_are_kept(thoughts: list[Any]):
    parts = [*thoughts, {"text": "Li"}, {"text": "sbon", "thoughtSignature": "Cg=="}]
    reply = await told("gemini", answer(parts))
    assert reply.message["content"] == "Lisbon"
    assert reply.message.get("reasoning_content") == ("Hm." if thoughts else None)
    assert reply.message[PROVIDER_CONTENT] == {"gemini": parts}
    assert body("gemini", [HELLO, reply.message])["contents"][1]["parts"] == parts


async def test_arguments_that_are_no_object_are_mended_where_they_go_back_and_that_is_named():
    parts = [{"functionCall": {"id": "c", "name": "f", "args": [1]}, "thoughtSignature": "Cg=="}]
    message = (await told("gemini", answer(parts))).message
    messages: list[Message] = [HELLO, message, {"role": "tool", "tool_call_id": "c", "content": ""}]
    wrapped = {"id": "c", "name": "f", "args": {"malformed_arguments": [1]}}
    sent = body("gemini", messages)["contents"][1]["parts"]
    assert sent == [{"functionCall": wrapped, "thoughtSignature": "Cg=="}]
    assert "malformed-arguments-wrapped" in await changes("gemini", messages)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("SAFETY", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("CONTINUATION", "length"),
        ("MAX_TOKENS", "length"),
        ("MALFORMED_FUNCTION_CALL",) * 2,
    ],
)
async def test_a_candidate_without_content_is_an_empty_reply_with_its_reason(reason: str, finish: str):
    reply = await told("gemini", answer(None, reason))
    assert (reply.message, reply.finish_reason) == ({"role": "assistant", "content": ""}, finish)


async def test_thoughts_count_as_written_tokens():
    usage = (await told("gemini", answer([{"text": "x"}]))).usage
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["thoughtsTokenCount"]) == (6, 6, 2)


async def test_a_call_that_gemini_did_not_make_is_signed_where_it_demands_that():
    why = {
        "error": {
            "code": 400,
            "message": "Function call is missing a thought_signature in functionCall parts.",
        }
    }

    def said(sent: dict[str, Any], digest: str) -> Message | Answer:
        called = [part for content in sent["contents"] for part in content["parts"] if "functionCall" in part]
        if any("thoughtSignature" not in part for part in called):
            return Answer(http(400, json.dumps(why).encode()))
        return {"role": "assistant", "content": "ok"}

    async with Peer("gemini", said) as peer:
        asked = model("gemini", peer.base_url)
        try:
            reply = await asked.complete(Request(asked_and_answered(call("a", "f", "{}")), [TOOL]))
        finally:
            await asked.close()
    assert reply.message["content"] == "ok"
    assert reply.changes == ("thought-signature-added", "tool-result-wrapped")


async def test_a_placeholder_that_is_refused_as_well_is_final_and_says_what_helps():
    words = "Function call is missing a thought_signature in functionCall parts."

    def said(sent: dict[str, Any], digest: str) -> Message | Answer:
        return Answer(http(400, json.dumps({"error": {"code": 400, "message": words}}).encode()))

    async with Peer("gemini", said) as peer:
        asked = model("gemini", peer.base_url)
        try:
            with pytest.raises(CallError) as refused:
                await asked.complete(Request(asked_and_answered(call("a", "f", "{}")), [TOOL]))
        finally:
            await asked.close()
    assert refused.value.final
    assert "without its thinking mode" in remedy_in(str(refused.value))
