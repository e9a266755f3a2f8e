"""The Messages adapter: system, blocks, limits, as Anthropic's reference describes them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from faults.server import Answer, http
from models.asking import HELLO, TOOL, asked_and_answered, body, call, changes, model, told
from models.peers import Body, Peer
from wildtool.types import PROVIDER_CONTENT, Message, Reply, Request

MIXED = [
    {"type": "thinking", "thinking": "First", "signature": "EqQB"},
    {"type": "redacted_thinking", "data": "Emwk"},
    {"type": "text", "text": "One, "},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    {"type": "text", "text": "two."},
    {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}},
]


def answer(content: list[object], reason: str = "end_turn") -> Answer:
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": None,
        "output_tokens": 4,
    }
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
    return Answer(
        http(200, json.dumps({**about, "content": content, "stop_reason": reason, "usage": usage}).encode())
    )


def test_the_body_is_what_the_reference_shows():
    sent = body("anthropic", [{"role": "system", "content": "Be brief."}, HELLO], [TOOL])
    assert sent == {
        "model": "claude-x",
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "tools": [{"name": "f", "description": "Does.", "input_schema": TOOL["function"]["parameters"]}],
        "max_tokens": 4096,
    }


async def test_moving_the_system_text_is_named_by_where_it_stood():
    system: Message = {"role": "system", "content": "x"}
    assert await changes("anthropic", [system, HELLO]) == ("system-to-top-level",)
    assert await changes("anthropic", [HELLO, ANSWER, system, HELLO]) == ("late-system-to-top-level",)


SYSTEM: Message = {"role": "system", "content": "x"}
ANSWER: Message = {"role": "assistant", "content": "y"}


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, SYSTEM],
        [HELLO, SYSTEM, ANSWER, HELLO],
        [HELLO, SYSTEM, {**SYSTEM, "role": "developer"}, ANSWER, HELLO],
        [*asked_and_answered(call("a", "f", "{}")), SYSTEM],
    ],
)
async def test_a_system_message_stays_where_the_api_takes_it(messages: list[Message]):
    assert "late-system-to-top-level" not in await changes("anthropic", messages)
    sent = body("anthropic", messages)
    assert "system" not in sent
    assert [m["role"] for m in sent["messages"]].count("system") == 1


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, ANSWER, SYSTEM],
        [HELLO, SYSTEM, HELLO],
        [
            *asked_and_answered(call("a", "f", "{}"))[:2],
            SYSTEM,
            *asked_and_answered(call("a", "f", "{}"))[2:],
        ],
    ],
)
async def test_a_system_message_at_another_place_goes_to_the_top_and_is_named(messages: list[Message]):
    assert "late-system-to-top-level" in await changes("anthropic", messages)
    assert body("anthropic", messages)["system"] == [{"type": "text", "text": "x"}]


async def ask(said: Any, *, times: int = 2, **settings: Any) -> tuple[list[Reply], Peer]:
    async with Peer("anthropic", said) as peer:
        asked = model("anthropic", peer.base_url, **settings)
        try:
            replies = [await asked.complete(Request([HELLO, SYSTEM])) for _ in range(times)]
        finally:
            await asked.close()
    assert peer.mistakes == []
    return replies, peer


def refusing(why: str, wrong: Callable[[Body], bool]) -> Any:
    """A server that refuses some bodies in these words."""
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": why}}
    refusal = Answer(http(400, json.dumps(error).encode()))
    return lambda body, digest: refusal if wrong(body) else {"content": "ok"}


@pytest.mark.parametrize(
    "why",
    [
        "role 'system' is not supported on this model",
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
        "messages.1.role: Input should be 'user' or 'assistant'",
        "messages[1].role: unknown variant `system`, expected `user` or `assistant`",
    ],
)
async def test_a_model_that_takes_no_late_system_message_gets_it_at_the_top(why: str):
    replies, peer = await ask(refusing(why, lambda body: body["messages"][-1]["role"] == "system"))
    assert [reply.changes for reply in replies] == [("late-system-to-top-level",)] * 2
    assert len(peer.bodies) == 3


@pytest.mark.parametrize(
    "why", ["`temperature` is deprecated for this model.", "temperature: Extra inputs are not permitted"]
)
async def test_a_temperature_that_the_model_refuses_is_left_out_and_named(why: str):
    replies, peer = await ask(refusing(why, lambda body: "temperature" in body), temperature=0.5)
    assert [reply.changes for reply in replies] == [("temperature-not-sent",)] * 2
    assert len(peer.bodies) == 3


@pytest.mark.parametrize(
    ("settings", "version"),
    [
        ({}, "2026-10-21"),
        ({"max_tokens": 5}, "2026-10-21"),
        ({"temperature": 0.0}, "2023-06-01"),
        ({"extra_body": {"top_k": 5}}, "2023-06-01"),
    ],
)
async def test_the_version_is_the_newest_that_knows_what_is_sent(settings: dict[str, Any], version: str):
    _, peer = await ask(lambda body, digest: {"content": "ok"}, times=1, **settings)
    assert f"\r\nanthropic-version: {version}\r\n".encode() in peer.heads[0]


async def test_an_endpoint_that_does_not_know_the_newest_version_is_asked_by_the_one_before():
    error = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "anthropic-version: not valid"},
    }

    async with Peer("anthropic", lambda body, digest: {"content": "ok"}) as peer:
        answer, asked = peer.answer, model("anthropic", peer.base_url)

        def strict(head: bytes, body: bytes) -> Answer:
            found = answer(head, body)
            return Answer(http(400, json.dumps(error).encode())) if b"2026-10-21" in head else found

        peer.answer = strict  # type: ignore[method-assign]
        assert (await asked.complete(Request([HELLO]))).message["content"] == "ok"
        await asked.close()


def test_results_of_one_step_stand_in_one_message_before_what_the_user_says():
    messages = [*asked_and_answered(call("a", "f", "{}"), call("b", "f", "{}")), HELLO]
    sent = body("anthropic", messages)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "user"]
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["a", "b"]


@pytest.mark.parametrize("content", ["", " \n"])
async def test_blank_content_beside_calls_is_left_out_and_named(content: str):
    messages = asked_and_answered(call("a", "f", "{}"), content=content)
    assert await changes("anthropic", messages) == ("empty-content-dropped",)


async def test_a_message_that_says_nothing_is_left_out_and_named():
    messages: list[Message] = [HELLO, {"role": "assistant", "content": None}, HELLO]
    assert await changes("anthropic", messages) == ("empty-message-dropped",)
    assert len(body("anthropic", messages)["messages"]) == 2


async def test_a_tool_without_parameters_gets_an_empty_schema_and_that_is_named():
    bare = {"type": "function", "function": {"name": "f"}}
    untyped = {"type": "function", "function": {"name": "g", "parameters": {"properties": {}}}}
    assert await changes("anthropic", [HELLO], [bare, untyped]) == ("empty-schema-added", "schema-type-added")


async def test_mixed_blocks_become_one_message_and_go_back_in_their_order():
    reply = await told("anthropic", answer(list(MIXED), "tool_use"))
    assert reply.message["content"] == "One, two."
    assert reply.message["reasoning_content"] == "First"
    assert [one["id"] for one in reply.message["tool_calls"]] == ["toolu_1", "toolu_2"]
    assert reply.message[PROVIDER_CONTENT] == {"anthropic": MIXED}
    results = [{"role": "tool", "tool_call_id": f"toolu_{n}", "content": ""} for n in (1, 2)]
    assert body("anthropic", [HELLO, reply.message, *results])["messages"][1]["content"] == MIXED


async def test_plain_replies_keep_nothing_besides():
    reply = await told("anthropic", answer([{"type": "text", "text": "Hi.", "citations": None}]))
    assert reply.message == {"role": "assistant", "content": "Hi."}


CITED = [{"type": "char_location", "cited_text": "x", "document_index": 0}]


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
        [{"type": "text", "text": "One.", "citations": CITED}],
        [MIXED[5], {"type": "text", "text": "after"}],
    ],
    ids=["two texts", "cited", "a text behind a call"],
)
async def test_what_one_text_before_calls_cannot_say_goes_back_as_it_came(blocks: list[object]):
    message = (await told("anthropic", answer(blocks))).message
    results = [
        {"role": "tool", "tool_call_id": one["id"], "content": ""} for one in message.get("tool_calls", [])
    ]
    assert body("anthropic", [HELLO, message, *results])["messages"][1]["content"] == blocks


async def test_blocks_that_would_be_refused_are_mended_and_that_is_named():
    blocks = [MIXED[0], {"type": "text", "text": ""}, {**MIXED[3], "input": '{"a": 1'}]
    message = (await told("anthropic", answer(blocks, "max_tokens"))).message
    assert message["tool_calls"][0]["function"]["arguments"] == '{"a": 1'
    messages = [HELLO, message, {"role": "tool", "tool_call_id": "toolu_1", "content": ""}]
    wrapped = {**MIXED[3], "input": {"malformed_arguments": '{"a": 1'}}
    assert body("anthropic", messages)["messages"][1]["content"] == [MIXED[0], wrapped]
    expected = ("empty-content-dropped", "malformed-arguments-wrapped")
    assert await changes("anthropic", messages) == expected


def test_a_strict_tool_stays_strict():
    strict = {"type": "function", "function": {**TOOL["function"], "strict": True}}
    assert body("anthropic", [HELLO], [strict])["tools"][0]["strict"] is True


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_tokens", "length"),
        ("stop_sequence", "stop"),
        ("refusal", "content_filter"),
    ],
)
async def test_reasons_to_stop_have_their_usual_names(reason: str, finish: str):
    assert (await told("anthropic", answer([{"type": "text", "text": "x"}], reason))).finish_reason == finish


async def test_cached_tokens_count_as_read():
    usage = (await told("anthropic", answer([]))).usage
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cache_creation_input_tokens"]) == (
        7,
        4,
        2,
    )


CHINESE = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {
                "城市": {"type": "string", "description": "出发城市"},
                "filter[id]": {"type": "string", "title": "own"},
                "filter_id_": {"type": "string"},
                "plain": {"type": "object", "properties": {"内": {}}},
            },
            "required": ["城市", "plain"],
        },
    },
}


async def test_names_of_parameters_that_are_refused_go_out_as_similar_ones_and_come_back():
    given = {"城市": "北京", "filter[id]": "1", "filter_id_": "2", "plain": {"内": 1}}
    said: Message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("c0", "f", json.dumps(given, ensure_ascii=False, separators=(",", ":")))],
    }
    messages = asked_and_answered(*said["tool_calls"])
    sent = body("anthropic", messages, [CHINESE])
    schema, block = sent["tools"][0]["input_schema"], sent["messages"][1]["content"][0]
    city, other, *same = schema["properties"]
    assert same == ["filter_id_", "plain"] and schema["required"] == [city, "plain"]
    assert schema["properties"][city] == {"title": "城市", "type": "string", "description": "出发城市"}
    assert schema["properties"][other] == {"type": "string", "title": "own"}
    assert block["input"] == {city: "北京", other: "1", "filter_id_": "2", "plain": {"内": 1}}
    assert await changes("anthropic", messages, [CHINESE]) == ("parameter-name-mapped",)

    came = await told("anthropic", answer([block], "tool_use"), Request([HELLO], [CHINESE]))
    assert came.message["tool_calls"] == said["tool_calls"]


async def test_thinking_beside_renamed_parameters_still_goes_back_as_it_came():
    sent = body("anthropic", [HELLO], [CHINESE])["tools"][0]["input_schema"]["properties"]
    blocks = [MIXED[0], {**MIXED[3], "input": {next(iter(sent)): "北京"}}]
    came = await told("anthropic", answer(blocks, "tool_use"), Request([HELLO], [CHINESE]))
    messages = [HELLO, came.message, {"role": "tool", "tool_call_id": "toolu_1", "content": "r"}]
    assert body("anthropic", messages, [CHINESE])["messages"][1]["content"] == blocks
    assert await changes("anthropic", messages, [CHINESE]) == ("parameter-name-mapped",)
