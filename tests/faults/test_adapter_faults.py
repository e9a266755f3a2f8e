"""Whatever an endpoint answers, each adapter gives a reply or a named CallError, and never tells the key."""

import json
import threading
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.server import Answer, http
from models.asking import FOREIGN, HELLO, KEY, call, model, told
from models.peers import PROTOCOLS, Peer, sse
from wildtool.errors import CallError
from wildtool.models.http.failures import ProviderFailure
from wildtool.models.providers.base import WireRequest
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Reply, Request

SAID = {"role": "assistant", "content": "So:", "tool_calls": [call("c1", "f", '{"a":1}')]}


async def failure(protocol: str, answer: Answer, **settings: Any) -> CallError:
    with pytest.raises(CallError) as caught:
        await told(protocol, answer, **settings)
    return caught.value


def refusal(protocol: str, status: int, why: str, *headers: str) -> Answer:
    return Answer(http(status, json.dumps(PROTOCOLS[protocol].error(status, why)).encode(), *headers))


@pytest.mark.parametrize("protocol", FOREIGN)
@pytest.mark.parametrize(
    ("status", "final"),
    [(400, True), (401, True), (404, True), (429, False), (500, False), (503, False), (529, False)],
)
async def test_an_error_is_quoted_in_the_providers_words(protocol: str, status: int, final: bool):
    error = await failure(protocol, refusal(protocol, status, "prompt is too long: 210000 tokens"))
    assert (error.kind, error.final) == (f"http {status}", final)
    assert str(error).endswith("prompt is too long: 210000 tokens")


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_the_wait_that_a_header_asks_for_is_told(protocol: str):
    assert (await failure(protocol, refusal(protocol, 429, "slow down", "Retry-After: 7"))).retry_after_s == 7


async def test_the_wait_that_google_asks_for_in_the_body_is_told():
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    body = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    assert (await failure("gemini", Answer(http(429, json.dumps(body).encode())))).retry_after_s == 34.5


@pytest.mark.parametrize("protocol", FOREIGN)
@pytest.mark.parametrize(
    "answer",
    [
        b"{}",
        b"[]",
        b"null",
        b'"x"',
        b'{"content":"x","type":"message"}',
        b'{"candidates":[]}',
        b'{"output":{}}',
    ],
)
async def test_an_answer_of_another_shape_is_a_failed_call(protocol: str, answer: bytes):
    error = await failure(protocol, Answer(http(200, answer)))
    assert (error.kind, error.final) == ("wrong shape", False)


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_an_answer_that_is_cut_short_is_a_failed_call(protocol: str):
    assert (
        await failure(protocol, Answer(http(200, b'{"id"', length=99), close=True))
    ).kind == "truncated body"
    assert (await failure(protocol, Answer(http(200, b'{"id"')))).kind == "invalid JSON"


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.97])
async def test_a_stream_without_its_end_is_a_failed_call(protocol: str, kept: float):
    speaks = PROTOCOLS[protocol]
    whole = sse(speaks.stream(speaks.write(SAID, "0")))
    # The last event of chat completions holds only the usage.
    whole = whole.rpartition(b'data: {"id"')[0] if protocol == "chat" else whole
    error = await failure(protocol, Answer(http(200, whole[: int(len(whole) * kept)])), stream=True)
    assert (error.kind, error.final) == ("truncated body", False)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("events", [1, 2])
async def test_a_stream_that_ends_between_two_events_is_a_failed_call(protocol: str, events: int):
    speaks = PROTOCOLS[protocol]
    error = await failure(
        protocol, Answer(http(200, sse(speaks.stream(speaks.write(SAID, "0"))[:events]))), stream=True
    )
    assert (error.kind, error.final) == ("truncated body", False)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
async def test_an_error_inside_a_stream_is_a_failed_call(protocol: str):
    speaks = PROTOCOLS[protocol]
    begun = speaks.stream(speaks.write(SAID, "0"))[:1]
    error = await failure(
        protocol, Answer(http(200, sse([*begun, speaks.error(529, "Overloaded")]))), stream=True
    )
    assert not error.final and "Overloaded" in str(error)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
async def test_an_endpoint_that_does_not_stream_is_read_whole(protocol: str):
    written = PROTOCOLS[protocol].write(SAID, "0")
    reply = await told(protocol, Answer(http(200, json.dumps(written).encode())), stream=True)
    assert reply.message["content"] == "So:"


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
async def test_an_endpoint_that_streams_unasked_is_read_as_a_stream(protocol: str):
    speaks = PROTOCOLS[protocol]
    events = sse(speaks.stream(speaks.write(SAID, "0")), speaks.closing)
    reply = await told(protocol, Answer(http(200, events, kind="text/event-stream")))
    assert reply.message["content"] == "So:" and len(reply.message["tool_calls"]) == 1


@pytest.mark.long
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_of_millions_of_lists_is_refused_before_it_is_parsed(protocol: str, stream: bool):
    whole = json.dumps(PROTOCOLS[protocol].write(SAID, "0")).encode()
    answer = whole[:-1] + b',"more":[' + b"[]," * 1_000_000 + b"1]}"
    body = b"data: " + answer + b"\n\n" if stream else answer
    assert (await failure(protocol, Answer(http(200, body)), stream=stream)).kind == "body too large"


async def test_a_long_answer_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    readers: list[str] = []
    read = OpenAIModel.parse

    def watched(self: OpenAIModel, parsed: Any, asked: WireRequest) -> Reply | None:
        readers.append(threading.current_thread().name)
        return read(self, parsed, asked)

    monkeypatch.setattr(OpenAIModel, "parse", watched)
    for length in (1, 1_200_000):
        await told("chat", {"content": "x" * length})
    assert readers[0] == threading.main_thread().name != readers[1]


@pytest.mark.parametrize("protocol", FOREIGN)
@pytest.mark.parametrize("status", [200, 401, 429])
async def test_the_key_is_told_by_no_error_and_no_reply(protocol: str, status: int):
    answer = Answer(
        http(status, json.dumps({"error": {"message": f"wrong key {KEY}"}, "echo": KEY}).encode())
    )
    error = await failure(protocol, answer)
    assert KEY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("protocol", FOREIGN)
async def test_without_a_key_a_refusal_says_that_none_was_sent(protocol: str):
    speaks = PROTOCOLS[protocol]

    class Keyless(Peer):
        def answer(self, head: bytes, body: bytes) -> Answer:
            return refusal(protocol, 401, "no key")

    async with Keyless(protocol, lambda body, digest: SAID) as peer:
        asked = speaks.model("m", peer.base_url)
        with pytest.raises(CallError, match="--api-key-env"):
            await asked.complete(Request([HELLO]))
        await asked.close()


WORDS = st.sampled_from(
    ("type", "content", "message", "output", "candidates", "parts", "error", "delta", "index")
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
TEXT = st.sampled_from(("", " ", "f", "x", "{", "{}")) | ANY
CALLED = st.fixed_dictionaries({}, optional={"name": TEXT, "args": ANY, "id": TEXT})
KINDS = st.sampled_from(
    ("text", "thinking", "redacted_thinking", "tool_use", "message", "function_call", "reasoning", "other")
)
PART = st.fixed_dictionaries(
    {},
    optional={
        "type": KINDS | ANY,
        "text": TEXT,
        "thinking": TEXT,
        "signature": TEXT,
        "input": ANY,
        "id": TEXT,
        "name": TEXT,
        "thought": ANY,
        "functionCall": CALLED | ANY,
        "call_id": TEXT,
        "arguments": TEXT,
        "content": ANY,
        "summary": ANY,
        "encrypted_content": TEXT,
    },
)


@pytest.mark.parametrize("protocol", FOREIGN)
@given(inner=st.lists(PART | ANY, max_size=4))
def test_any_json_is_a_reply_or_none_and_a_reply_can_be_sent_back(protocol: str, inner: list[Any]):
    whole = {
        "anthropic": {"type": "message", "content": inner},
        "gemini": {"candidates": [{"content": {"parts": inner}}]},
        "responses": {"output": inner, "status": "completed"},
    }[protocol]
    asked = model(protocol)
    reply = asked.parse(whole, WireRequest({}))
    assert isinstance(reply, Reply)
    asked.body(Request([HELLO, reply.message]))


@pytest.mark.parametrize("protocol", FOREIGN)
@given(whole=ANY)
def test_any_answer_is_a_reply_a_failed_call_or_none(protocol: str, whole: Any):
    assert isinstance(model(protocol).failure(whole), ProviderFailure | None)
    assert isinstance(model(protocol).parse(whole, WireRequest({})), Reply | None)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
@given(parts=st.lists(PART | ANY, max_size=6))
def test_any_events_are_an_answer_or_a_broken_stream(protocol: str, parts: list[Any]):
    try:
        model(protocol).join_stream(parts)
    except ValueError as error:
        assert "stream" in str(error)
