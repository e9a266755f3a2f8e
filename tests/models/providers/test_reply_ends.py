"""What each protocol's ends become: a reply with its usual reason, or a failed call, whole and streamed."""

import json
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import HELLO, TOOL, model, told
from models.peers import Body, Peer, sse
from wildtool.errors import CallError
from wildtool.models.providers.anthropic import MOST_CONTINUATIONS
from wildtool.reply_ends import End, end_of
from wildtool.types import PROVIDER_CONTENT, Reply, Request

TEXT = "Well,"


def chat(reason: Any, **more: Any) -> Body:
    message = {"role": "assistant", "content": TEXT, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def messages(reason: Any, text: str = TEXT) -> Body:
    return {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": reason}


def gemini(reason: Any, **more: Any) -> Body:
    candidate = {"content": {"parts": [{"text": TEXT}]}} | (
        {} if reason is None else {"finishReason": reason}
    )
    return {"candidates": [candidate], **more}


def responses(status: str, reason: Any = None) -> Body:
    said = {"type": "message", "content": [{"type": "output_text", "text": TEXT}]}
    details = None if reason is None else {"reason": reason}
    return {"status": status, "output": [said], "incomplete_details": details}


def events(protocol: str, answer: Body) -> bytes:
    """The same answer as a stream."""
    match protocol:
        case "chat":
            choice = answer["choices"][0]
            start = {"choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]}
            end = {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
            return sse([start, end], "data: [DONE]\n\n")
        case "anthropic":
            block = answer["content"][0]
            parts = [
                {"type": "message_start", "message": {"type": "message", "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": block["text"]},
                },
                {"type": "message_delta", "delta": {"stop_reason": answer["stop_reason"]}},
                {"type": "message_stop"},
            ]
            return sse(parts, "")
        case "gemini":
            return sse([answer], "")
        case _:
            return sse([{"type": f"response.{answer['status']}", "response": answer}], "")


async def ended(protocol: str, answer: Body, *, stream: bool) -> Reply:
    body = events(protocol, answer) if stream else json.dumps(answer).encode()
    return await told(protocol, Answer(http(200, body)), stream=stream)


REPLIES = [
    ("chat", chat("stop"), End.COMPLETE),
    ("chat", chat("length"), End.CUT),
    ("chat", chat("content_filter"), End.FILTERED),
    ("chat", chat("sensitive"), End.FILTERED),
    ("chat", chat("stop", refusal="No."), End.REFUSED),
    ("chat", chat(None), End.UNKNOWN),
    ("anthropic", messages("end_turn"), End.COMPLETE),
    ("anthropic", messages("max_tokens"), End.CUT),
    ("anthropic", messages("model_context_window_exceeded"), End.CUT),
    ("anthropic", messages("refusal"), End.FILTERED),
    ("anthropic", messages("refusal", ""), End.FILTERED),
    ("gemini", gemini("STOP"), End.COMPLETE),
    ("gemini", gemini("SAFETY"), End.FILTERED),
    ("gemini", gemini("LANGUAGE"), End.FILTERED),
    ("gemini", gemini("STOP", promptFeedback={"blockReason": "OTHER"}), End.FILTERED),
    ("gemini", gemini(None, promptFeedback={"blockReason": "SAFETY"}), End.FILTERED),
    ("gemini", gemini("STOP", promptFeedback={"blockReason": "BLOCKED_REASON_UNSPECIFIED"}), End.COMPLETE),
    ("gemini", gemini("MALFORMED_FUNCTION_CALL"), End.MALFORMED),
    ("gemini", gemini("UNEXPECTED_TOOL_CALL"), End.MALFORMED),
    ("responses", responses("completed"), End.COMPLETE),
    ("responses", responses("incomplete", "max_output_tokens"), End.CUT),
    ("responses", responses("incomplete", "content_filter"), End.FILTERED),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("protocol", "answer", "end"), REPLIES)
async def test_an_end_that_says_something_of_the_model_is_a_reply_of_that_class(
    protocol: str, answer: Body, end: End, stream: bool
):
    reply = await ended(protocol, answer, stream=stream)
    assert end_of(reply) == end


FAILED = [
    ("chat", chat("error"), False),
    ("chat", chat("abort"), False),
    ("anthropic", messages(None), False),
    ("gemini", gemini("OTHER"), False),
    ("gemini", gemini("FINISH_REASON_UNSPECIFIED"), False),
    ("gemini", gemini("NO_IMAGE"), False),
    ("gemini", gemini("MISSING_THOUGHT_SIGNATURE"), True),
    ("responses", responses("failed"), False),
    ("responses", responses("cancelled"), False),
    ("responses", responses("incomplete"), False),
    ("responses", responses("incomplete", "steered"), False),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("protocol", "answer", "final"), FAILED)
async def test_text_before_an_end_that_the_provider_did_not_reach_is_no_reply(
    protocol: str, answer: Body, final: bool, stream: bool
):
    with pytest.raises(CallError) as caught:
        await ended(protocol, answer, stream=stream)
    assert caught.value.final == final


async def test_a_candidate_without_a_reason_has_not_ended():
    with pytest.raises(CallError) as caught:
        await told("gemini", Answer(http(200, json.dumps(gemini(None)).encode())))
    assert (caught.value.kind, caught.value.final) == ("reply unfinished", False)


SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "Lisbon"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}


def turn(content: list[Any], reason: str) -> Answer:
    usage = {"input_tokens": 5, "output_tokens": 3, "cache_creation": {"ephemeral_1h_input_tokens": 2}}
    body = {"type": "message", "content": content, "stop_reason": reason, "usage": usage}
    return Answer(http(200, json.dumps(body).encode()))


async def continued(*turns: Answer) -> tuple[Reply, list[Body]]:
    """The reply where the peer answers these in order, the last one for ever; and what it was sent."""
    left = list(turns)
    async with Peer("anthropic", lambda body, digest: left.pop(0) if len(left) > 1 else left[0]) as peer:
        asked = model("anthropic", peer.base_url)
        try:
            return await asked.complete(Request([HELLO], [TOOL])), [json.loads(body) for body in peer.bodies]
        finally:
            await asked.close()


@pytest.mark.parametrize("last", [[{"type": "text", "text": "Sunny."}], [CALL]])
async def test_a_paused_turn_goes_back_as_it_is_and_its_parts_are_one_reply(last: list[Any]):
    first = [{"type": "text", "text": "So: "}, SEARCH]
    reason = "tool_use" if last == [CALL] else "end_turn"
    reply, bodies = await continued(
        turn(first, "pause_turn"), turn([FOUND], "pause_turn"), turn(last, reason)
    )
    assert [body["messages"][1:] for body in bodies] == [
        [],
        [{"role": "assistant", "content": first}],
        [{"role": "assistant", "content": [*first, FOUND]}],
    ]
    assert reply.message["content"] == ("So: " if last == [CALL] else "So: Sunny.")
    assert bool(reply.message.get("tool_calls")) == (last == [CALL])
    assert reply.message[PROVIDER_CONTENT] == {"anthropic": [*first, FOUND, *last]}
    assert (reply.usage["prompt_tokens"], reply.usage["completion_tokens"]) == (15, 9)
    assert reply.usage["cache_creation"] == {"ephemeral_1h_input_tokens": 6}
    assert reply.raw.count('"type": "message"') == 3


async def test_a_turn_that_is_paused_for_ever_is_no_reply():
    with pytest.raises(CallError, match="pause_turn") as caught:
        await continued(turn([SEARCH], "pause_turn"))
    assert caught.value.usage["prompt_tokens"] == 5 * (1 + MOST_CONTINUATIONS)


async def test_what_the_parts_of_a_turn_took_is_told_where_a_later_one_fails():
    with pytest.raises(CallError) as caught:
        await continued(turn([SEARCH], "pause_turn"), Answer(http(500, b"{}")))
    assert (caught.value.kind, caught.value.usage["completion_tokens"]) == ("http 500", 3)


async def test_an_unfinished_reply_tells_its_tokens():
    answer = gemini("OTHER", usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 2})
    with pytest.raises(CallError) as caught:
        await told("gemini", Answer(http(200, json.dumps(answer).encode())))
    assert (caught.value.usage["prompt_tokens"], caught.value.usage["completion_tokens"]) == (7, 2)
