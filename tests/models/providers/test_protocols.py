"""What every adapter of a foreign protocol does: nothing is lost on the way there and back, or it is named."""

import json
from collections.abc import Callable

import pytest

from faults.server import Answer, http
from models.asking import (
    FOREIGN,
    HELLO,
    KEY,
    PARAMETERS,
    TOOL,
    asked_and_answered,
    body,
    call,
    changes,
    model,
    told,
)
from models.peers import PROTOCOLS, Body, Peer
from wildtool.errors import UsageError
from wildtool.types import PROVIDER_CONTENT, Address, Message, Request


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_a_schema_goes_out_byte_for_byte(protocol: str):
    sent = model(protocol).body(Request([HELLO], [TOOL]))
    assert json.dumps(PARAMETERS, ensure_ascii=False, separators=(",", ":")).encode() in sent


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_chinese_text_is_sent_as_utf_8(protocol: str):
    sent = model(protocol).body(Request([{"role": "user", "content": "帮我订一张票🎫"}]))
    assert '"帮我订一张票🎫"'.encode() in sent


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_parallel_calls_come_back_with_ids_names_and_arguments(protocol: str):
    calls = [call("c1", "f", '{"a":1,"城市":"里斯本"}'), call("c2", "f", '{"a":null,"b":{"c":"7"}}')]
    reply = await told(protocol, {"content": None, "tool_calls": calls})
    found = reply.message["tool_calls"]
    assert [one["function"] for one in found] == [one["function"] for one in calls]
    assert len({one["id"] for one in found}) == 2
    assert (reply.message["content"], reply.finish_reason) == (None, "tool_calls")


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_a_text_comes_back_as_it_was_with_usage_under_common_names(protocol: str):
    reply = await told(protocol, {"content": "里 \n斯本"})
    assert reply.message == {"role": "assistant", "content": "里 \n斯本"}
    assert reply.finish_reason == "stop" and reply.latency_s > 0
    assert reply.usage["prompt_tokens"] in (11, 14) and reply.usage["completion_tokens"] == 7
    assert '"里 \\n斯本"' in reply.raw


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_a_reply_with_calls_goes_back_exactly_as_it_came(protocol: str):
    reply = await told(protocol, {"content": "Let me see.", "tool_calls": [call("c1", "f", '{"a":1}')]})
    kept = next(iter(reply.message[PROVIDER_CONTENT].values()))
    messages = [HELLO, reply.message, *results_of(reply.message)]
    assert json.dumps(kept)[1:-1] in json.dumps(body(protocol, messages, [TOOL]))
    assert "message-key-dropped:provider_content" not in await changes(protocol, messages, [TOOL])


def results_of(message: Message) -> list[Message]:
    return [{"role": "tool", "tool_call_id": c["id"], "content": "done"} for c in message["tool_calls"]]


def fewer_calls(message: Message) -> Message:
    return {**message, "tool_calls": message["tool_calls"][:1]}


def other_arguments(message: Message) -> Message:
    function = {"name": "f", "arguments": '{"edited":1}'}
    return {**message, "tool_calls": [{**one, "function": function} for one in message["tool_calls"]]}


def other_text(message: Message) -> Message:
    return {**message, "content": "edited"}


@pytest.mark.parametrize("protocol", FOREIGN)
@pytest.mark.parametrize("edit", [fewer_calls, other_arguments, other_text])
async def test_a_reply_that_was_edited_is_written_anew_and_that_is_named(
    protocol: str, edit: Callable[[Message], Message]
):
    calls = [call("c1", "f", "{}"), call("c2", "f", "{}")]
    edited = edit((await told(protocol, {"content": None, "tool_calls": calls})).message)
    messages = [HELLO, edited, *results_of(edited)]
    assert "message-key-dropped:provider_content" in await changes(protocol, messages)
    sent = model(protocol).body(Request(messages))
    assert b'"sig-' not in sent and b'"enc-' not in sent


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    "arguments",
    [
        "{'a': 1",
        "[1]",
        '{"a":1,"a":2}',
        '{"a":NaN}',
        "中",
        "null",
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, id="deep"),
    ],
)
async def test_arguments_that_are_no_object_are_wrapped_whole_and_named(protocol: str, arguments: str):
    messages = asked_and_answered(call("c1", "f", arguments))
    assert json.dumps({"malformed_arguments": arguments}) in json.dumps(body(protocol, messages))
    assert "malformed-arguments-wrapped" in await changes(protocol, messages)


@pytest.mark.parametrize("arguments", ["{'a': 1", "", '{"a":1,  "a":2}', "中"])
def test_responses_sends_any_argument_text_as_it_is(arguments: str):
    sent = body("responses", asked_and_answered(call("c1", "f", arguments)))
    assert sent["input"][1]["arguments"] == arguments


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
async def test_no_arguments_are_an_empty_object_and_named(protocol: str):
    assert "empty-arguments-as-object" in await changes(protocol, asked_and_answered(call("c1", "f", "")))


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_ids_that_are_missing_or_stand_twice_are_replaced_and_results_still_find_their_calls(
    protocol: str,
):
    messages = asked_and_answered(call("x", "f", "{}"), call("x", "g", "{}"), call(None, "h", "{}"))
    assert "call-id-replaced" in await changes(protocol, messages)
    sent = json.dumps(body(protocol, messages))
    assert sent.index("r0") < sent.index("r1") < sent.index("r2")


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_sound_history_changes_no_id(protocol: str):
    messages = asked_and_answered(call("toolu_bdrk_1", "f", "{}"), call("call-2", "g", "{}"))
    assert "call-id-replaced" not in await changes(protocol, messages)


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
async def test_names_that_the_provider_refuses_are_mapped_there_and_back(protocol: str):
    names = ["查询天气", "a/b", "a b", "a_b", "x" * 200, "", "/"]
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    said: list[str] = []

    def answer(body: Body, digest: str) -> Message:
        declared = body["tools"] if protocol == "anthropic" else body["tools"][0]["functionDeclarations"]
        said.extend(tool["name"] for tool in declared)
        return {"content": None, "tool_calls": [call(f"c{n}", name, "{}") for n, name in enumerate(said)]}

    async with Peer(protocol, answer) as peer:
        asked = model(protocol, peer.base_url)
        reply = await asked.complete(Request([HELLO], tools))
        await asked.close()
    assert peer.mistakes == [] and len(set(said)) == len(names)
    assert [one["function"]["name"] for one in reply.message["tool_calls"]] == names
    assert "tool-name-mapped" in reply.changes


async def test_a_name_that_begins_with_a_digit_is_mapped_for_gemini_alone():
    tool = {"type": "function", "function": {"name": "2fa"}}
    assert await changes("gemini", [HELLO], [tool]) == ("tool-name-mapped",)
    assert body("anthropic", [HELLO], [tool])["tools"][0]["name"] == "2fa"


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_what_has_no_place_in_the_protocol_is_named(protocol: str):
    tool = {"type": "function", "function": {"name": "f", "parameters": PARAMETERS, "own": 1}}
    messages = [
        {"role": "user", "content": "hi", "name": "ann"},
        *asked_and_answered(call("c", "f", "{}"))[1:],
    ]
    messages[1] |= {"reasoning_content": "hm"}
    found = await changes(protocol, messages, [tool] if protocol != "responses" else [])
    assert {"message-key-dropped:name", "message-key-dropped:reasoning_content"} <= set(found)
    assert ("tool-key-dropped:own" in found) == (protocol != "responses")


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_repeats_are_asked_with_different_seeds_or_told_that_there_is_none(protocol: str):
    request = Request([HELLO], address=Address("item", 2, "unit", 0))
    reply = await told(protocol, {"content": "ok"}, request, seed=40)
    if protocol == "gemini":
        assert json.loads(model(protocol, seed=40).body(request))["generationConfig"] == {"seed": 42}
    else:
        assert "seed-not-sent" in reply.changes and b"42" not in model(protocol, seed=40).body(request)


@pytest.mark.parametrize("protocol", FOREIGN)
def test_options_have_the_protocols_names(protocol: str):
    sent = body(protocol, [HELLO], temperature=0.5, max_tokens=9)
    names = {
        "anthropic": {"temperature": 0.5, "max_tokens": 9},
        "gemini": {"generationConfig": {"temperature": 0.5, "maxOutputTokens": 9}},
        "responses": {"temperature": 0.5, "max_output_tokens": 9},
    }
    assert names[protocol].items() <= sent.items()


@pytest.mark.parametrize(
    ("protocol", "field"),
    [
        ("anthropic", "messages"),
        ("anthropic", "system"),
        ("gemini", "contents"),
        ("gemini", "tools"),
        ("responses", "input"),
        ("responses", "previous_response_id"),
        ("gemini", "stream"),
    ],
)
def test_the_extra_body_may_not_replace_what_the_benchmark_sends(protocol: str, field: str):
    with pytest.raises(UsageError, match=field):
        model(protocol, extra_body={field: []})


async def test_the_extra_body_joins_gemini_s_configuration_but_sets_nothing_twice():
    extra = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    sent = body("gemini", [HELLO], temperature=0.0, extra_body=extra)
    assert sent["generationConfig"] == {"temperature": 0.0, "thinkingConfig": {"thinkingBudget": 0}}
    with pytest.raises(UsageError, match="temperature is given both"):
        model("gemini", temperature=0.0, extra_body={"generationConfig": {"temperature": 1}})


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": "里斯本 now"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1", "f", '{"a":1,"城":"里"}')]},
        {
            "role": "assistant",
            "content": "So:",
            "tool_calls": [call("c1", "f", "{}"), call("c2", "f", '{"a":2}')],
        },
    ],
    ids=["text", "call", "text and calls"],
)
async def test_a_stream_is_the_same_reply(protocol: str, said: Message):
    whole = await told(protocol, said)
    streamed = await told(protocol, said, stream=True)
    assert streamed.message == whole.message
    assert (streamed.finish_reason, streamed.usage) == (whole.finish_reason, whole.usage)


@pytest.mark.parametrize("protocol", FOREIGN)
def test_a_picture_is_not_left_out_silently(protocol: str):
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    with pytest.raises(ValueError, match="image_url"):
        model(protocol).body(Request([{"role": "user", "content": [picture]}]))


async def test_azure_takes_the_key_in_a_header_of_its_own():
    async with Peer("chat", lambda body, digest: {"role": "assistant", "content": "ok"}) as peer:
        asked = PROTOCOLS["chat"].model("azure/d", peer.base_url, KEY, sent_as="d", key_header="api-key")
        await asked.complete(Request([HELLO]))
        await asked.close()
    assert f"\r\napi-key: {KEY}".encode() in peer.heads[-1] and b"Authorization" not in peer.heads[-1]


async def test_what_a_model_said_before_it_was_stopped_is_its_reply():
    said = {"type": "text", "text": "Well,"}
    stopped = {
        "anthropic": {
            "type": "message",
            "content": [said],
            "stop_reason": "refusal",
            "usage": {"input_tokens": 5},
        },
        "gemini": {
            "candidates": [{"content": {"parts": [{"text": "Well,"}]}, "finishReason": "SAFETY"}],
            "usageMetadata": {"promptTokenCount": 5},
        },
    }
    for protocol, answer in stopped.items():
        reply = await told(protocol, Answer(http(200, json.dumps(answer).encode())))
        assert (reply.message["content"], reply.finish_reason) == ("Well,", "content_filter")
        assert reply.usage["prompt_tokens"] == 5


def parsed(protocol: str, answer: Body) -> Message:
    asked = model(protocol)
    return asked.parse(answer, asked.build(Request([HELLO], [TOOL]))).message


@pytest.mark.parametrize(
    ("parts", "is_kept"),
    [
        ([{"text": "X"}, {"text": "Y"}], False),
        ([{"text": "T", "thought": True}, {"text": "X"}], True),
        ([{"text": "X", "thoughtSignature": "s"}, {"text": "Y"}], True),
        ([{"functionCall": {"name": "f", "id": ""}}], True),
        ([{"other": 1}], True),
    ],
)
def test_parts_of_gemini_are_kept_where_they_hold_more_than_the_message(parts: list[Body], is_kept: bool):
    message = parsed("gemini", {"candidates": [{"content": {"parts": parts}}]})
    assert message.get("provider_content") == ({"gemini": parts} if is_kept else None)
    # An empty id is none, be it of a call or of its result.
    result = {"role": "tool", "tool_call_id": "call_1_0", "content": "R"}
    contents = model("gemini").build(Request([HELLO, message, result])).fields["contents"]
    assert contents[1]["parts"] == (parts if is_kept else [{"text": "XY"}])
    if "functionCall" in parts[0]:
        assert contents[2]["parts"] == [{"functionResponse": {"name": "f", "response": {"output": "R"}}}]


def test_items_of_a_reply_without_calls_go_back_as_they_came():
    items: list[Body] = [
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "message", "content": [{"type": "output_text", "text": "X"}]},
    ]
    message = parsed("responses", {"output": items})
    assert model("responses").build(Request([HELLO, message, HELLO])).fields["input"][1:3] == items


@pytest.mark.parametrize("protocol", FOREIGN)
def test_the_key_is_nowhere_in_what_a_model_says_of_itself(protocol: str):
    asked = model(protocol)
    assert KEY not in repr(asked) + json.dumps(asked.settings())
