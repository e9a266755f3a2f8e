"""What some servers and chat templates refuse in a history is sent as they take it, and that is named."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.server import Answer, http
from models.asking import HELLO, TOOL, asked_and_answered, call, model
from models.peers import Body, Peer
from wildtool.errors import CallError
from wildtool.models.openai_messages import Changes
from wildtool.models.providers.chat_changes import split_parallel_calls, with_short_ids
from wildtool.types import Message, Reply, Request

NINE = re.compile("[a-zA-Z0-9]{9}")


def short(messages: list[Message]) -> list[Message]:
    return with_short_ids(messages, {})


IDS = st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["a", "call_1", "abcdefghi", "000000000"]))


@given(st.lists(st.lists(IDS, max_size=4), max_size=4))
def test_every_call_gets_nine_letters_and_digits_of_its_own_and_its_result_the_same(turns: list[list[Any]]):
    messages = [
        message
        for ids in turns
        for message in asked_and_answered(*(call(id_, f"f{number}", "{}") for number, id_ in enumerate(ids)))
    ]
    made = short(messages)
    called = [c["id"] for message in made for c in message.get("tool_calls") or []]
    assert all(NINE.fullmatch(id_) for id_ in called) and len(set(called)) == len(called)
    assert [message["tool_call_id"] for message in made if message.get("role") == "tool"] == called
    assert json.dumps(messages).count('"f0"') == json.dumps(made).count('"f0"')


def test_an_id_becomes_the_same_in_every_request_and_a_short_one_stays():
    first, second = (
        asked_and_answered(call("toolu_1", "f", "{}")),
        asked_and_answered(call("abcDEF123", "g", "{}")),
    )
    alone, after = short(first), short([*second, *first])
    assert alone[1]["tool_calls"][0]["id"] == after[4]["tool_calls"][0]["id"]
    assert after[1] == second[1] and after[2] == second[2]


def test_nothing_but_the_ids_changes():
    messages = asked_and_answered(call("toolu_1", "f", '{"a": 1 }'), content="So:")
    messages[1]["reasoning_content"] = "hm"
    (changed,) = {c["id"] for c in short(messages)[1]["tool_calls"]}
    assert json.dumps(short(messages)).replace(changed, "toolu_1") == json.dumps(messages)


def test_a_result_without_a_call_gets_nine_letters_and_digits_and_is_named():
    changes: Changes = {}
    made = with_short_ids([{"role": "tool", "tool_call_id": "lost", "content": ""}], changes)
    assert NINE.fullmatch(made[0]["tool_call_id"]) and "result-without-call" in changes


def test_calls_made_at_once_are_put_one_after_another_with_their_results():
    calls = [call("a", "f", "{}"), call("b", "g", "{}")]
    hello, said, first, second = asked_and_answered(*calls, content="Both:")
    changes: Changes = {}
    made = split_parallel_calls([hello, said, second, first, hello], changes)
    assert made == [
        hello,
        {**said, "tool_calls": calls[:1]},
        first,
        {**said, "content": "", "tool_calls": calls[1:]},
        second,
        hello,
    ]
    assert list(changes) == ["parallel-calls-split"]


@given(
    st.lists(st.sampled_from(["a", "b", None]), max_size=4),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=4),
)
def test_no_call_and_no_result_is_lost_by_splitting(ids: list[str | None], results: list[str]):
    said = {"role": "assistant", "content": "x", "tool_calls": [call(id_, "f", "{}") for id_ in ids]}
    told = [{"role": "tool", "tool_call_id": id_, "content": str(n)} for n, id_ in enumerate(results)]
    made = split_parallel_calls([HELLO, said, *told, HELLO], {})
    assert [c for message in made for c in message.get("tool_calls", ())] == said["tool_calls"]
    assert sorted(m["content"] for m in made if m["role"] == "tool") == sorted(m["content"] for m in told)
    assert all(len(message.get("tool_calls", ())) < 2 for message in made)


HISTORY = asked_and_answered(call("toolu_1", "f", "{}"), call("toolu_2", "f", "{}"))


def demanding(*, nine: bool = False, single: bool = False, status: int = 400) -> Any:
    """A server that refuses what such a template or validator refuses, in its words."""

    def said(body: Body, digest: str) -> Message | Answer:
        made = [message.get("tool_calls") or [] for message in body["messages"]]
        if single and any(len(calls) > 1 for calls in made):
            return refusal("This model only supports single tool-calls at once!")
        for id_ in (c["id"] for calls in made for c in calls):
            if nine and not NINE.fullmatch(id_):
                return refusal(f"Tool call id was {id_} but must be a-z, A-Z, 0-9, with a length of 9.")
        return {"role": "assistant", "content": "ok"}

    def refusal(why: str) -> Answer:
        body = {"object": "error", "message": why, "type": "BadRequestError", "code": status}
        return Answer(http(status, json.dumps(body).encode()))

    return said


async def ask(said: Any, times: int = 2) -> tuple[list[Reply], Peer]:
    async with Peer("chat", said) as peer:
        asked = model("chat", peer.base_url)
        try:
            replies = [await asked.complete(Request(HISTORY, [TOOL])) for _ in range(times)]
        finally:
            await asked.close()
    return replies, peer


@pytest.mark.parametrize(
    ("wants", "named"),
    [
        ({"nine": True}, ("call-id-replaced",)),
        ({"single": True}, ("parallel-calls-split",)),
        ({"single": True, "status": 500}, ("parallel-calls-split",)),
        ({"nine": True, "single": True}, ("parallel-calls-split", "call-id-replaced")),
    ],
)
async def test_a_refusal_teaches_how_to_ask_from_then_on(wants: dict[str, Any], named: tuple[str, ...]):
    replies, peer = await ask(demanding(**wants))
    assert [reply.message["content"] for reply in replies] == ["ok", "ok"]
    assert all(reply.changes == named for reply in replies)
    assert len(peer.bodies) == 2 + len(named)


async def test_a_server_that_refuses_nothing_gets_the_history_as_it_is():
    replies, peer = await ask(demanding(), times=1)
    assert replies[0].changes == () and json.loads(peer.bodies[0])["messages"] == HISTORY


async def test_a_server_that_refuses_on_is_asked_no_more():
    why = b'{"error":{"message":"Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9."}}'
    with pytest.raises(CallError):
        await ask(lambda body, digest: Answer(http(400, why)), times=1)


THOUGHTFUL = [
    {**message, "reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}
    if message["role"] == "assistant"
    else message
    for message in HISTORY
]


def wanting(needs: Any, why: str) -> Any:
    """A server that answers `why` to a message of the model that is not as it needs it."""

    def said(body: Body, digest: str) -> Message | Answer:
        for message in body["messages"]:
            if message["role"] == "assistant" and not needs(message):
                error = {"error": {"message": why, "type": "invalid_request_error", "code": None}}
                return Answer(http(400, json.dumps(error).encode()))
        return {"role": "assistant", "content": "ok"}

    return said


def _signed(message: Message) -> bool:
    return all(call.get("extra_content", {}).get("google") for call in message["tool_calls"])


@pytest.mark.parametrize(
    ("needs", "why", "named"),
    [
        (
            lambda message: "reasoning_content" in message,
            "Missing `reasoning_content` field in the assistant message at message index 1.",
            ("empty-reasoning-added",),
        ),
        (
            lambda message: "reasoning_content" in message,
            "The reasoning_content in the thinking mode must be passed back to the API.",
            ("empty-reasoning-added",),
        ),
        (
            _signed,
            "Function call is missing a thought_signature in functionCall parts.",
            ("thought-signature-added",),
        ),
        (
            lambda message: "reasoning" not in message and "reasoning_details" not in message,
            "'messages.1' : for 'role:assistant' ('messages.1' : property 'reasoning' is unsupported)",
            ("message-key-dropped:reasoning", "message-key-dropped:reasoning_details"),
        ),
        (
            lambda message: "reasoning" not in message,
            "Extra inputs are not permitted, field: 'messages[1].reasoning', value: 'hm'",
            ("message-key-dropped:reasoning", "message-key-dropped:reasoning_details"),
        ),
        (
            lambda message: "reasoning" not in message,
            '{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning"],"msg":"Extra inputs are not '
            'permitted"}',
            ("message-key-dropped:reasoning", "message-key-dropped:reasoning_details"),
        ),
    ],
)
async def test_what_an_endpoint_wants_of_the_reasoning_in_a_history_it_gets(
    needs: Any, why: str, named: tuple[str, ...]
):
    async with Peer("chat", wanting(needs, why)) as peer:
        asked = model("chat", peer.base_url)
        try:
            reply = await asked.complete(Request(THOUGHTFUL, [TOOL]))
        finally:
            await asked.close()
    assert reply.message["content"] == "ok"
    assert reply.changes == named
    assert len(peer.bodies) == 2


async def test_gemini_s_own_calls_are_sent_as_it_signed_them():
    signature = {"google": {"thought_signature": "c2ln"}}
    first, second = HISTORY[1]["tool_calls"]
    own = [{**first, "extra_content": signature}, second]
    history = [{**message, "tool_calls": own} if "tool_calls" in message else message for message in HISTORY]
    # What follows was made by another model.
    history += [
        {**message, "content": "again"} if message["role"] == "user" else message for message in HISTORY
    ]

    def said(body: Body, digest: str) -> Message | Answer:
        first, second = (message["tool_calls"] for message in body["messages"] if message.get("tool_calls"))
        assert first == own
        if any("extra_content" not in call for call in second):
            error = {"message": "Function call is missing a thought_signature in functionCall parts."}
            return Answer(http(400, json.dumps({"error": error}).encode()))
        return {"role": "assistant", "content": "ok"}

    async with Peer("chat", said) as peer:
        asked = model("chat", peer.base_url)
        try:
            reply = await asked.complete(Request(history, [TOOL]))
        finally:
            await asked.close()
    assert reply.changes == ("thought-signature-added",)


@pytest.mark.parametrize(
    "words",
    [
        "property reasoning is unsupported by this model",
        "Reasoning is not supported by this model; see the documentation of messages",
        "thinking is not supported by this model. It got 2 messages.",
    ],
)
async def test_an_unknown_setting_of_reasoning_changes_no_history(words: str):
    why = json.dumps({"error": {"message": words, "type": "invalid_request_error"}}).encode()
    async with Peer("chat", lambda body, digest: Answer(http(400, why))) as peer:
        asked = model("chat", peer.base_url)
        try:
            with pytest.raises(CallError, match=re.escape(words)):
                await asked.complete(Request(THOUGHTFUL, [TOOL]))
        finally:
            await asked.close()
    assert len(peer.bodies) == 1
