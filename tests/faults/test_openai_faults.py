"""Whatever an endpoint does, the adapter gives a reply or a named CallError, and never tells the key."""

import errno
import json
import os
import traceback
from typing import Any

import pytest

from faults.server import FAILURES, HOSTILE, Answer, Call, FaultServer, completion, http
from models.options import client_options
from wildtool.errors import CallError
from wildtool.json_codec import dumps
from wildtool.models.http.failures import retry_after_s
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Reply, Request

ASK = Request([{"role": "user", "content": "hi"}])
KEY = "sk-secret/0123456789abcdef"

KINDS = {
    "429": "http 429",
    "500": "http 500",
    "502": "http 502",
    "half-body": "truncated body",
    "not-json": "invalid JSON",
    "no-choices": "wrong shape",
    "choices-dict": "wrong shape",
    "choices-empty": "wrong shape",
    "message-text": "wrong shape",
    "message-null": "wrong shape",
    "message-missing": "wrong shape",
    "error-in-200": "wrong shape",
    "429-in-200": "http 429",
    "error-in-choice": "http 502",
    "error-beside-choices": "wrong shape",
    "error-finish": "reply unfinished",
    "closed": "network",
    "no-http": "network",
}


async def ask(behaviour: str, **settings: Any) -> Reply:
    async with FaultServer(behaviour) as server:
        return await ask_at(server, **settings)


async def ask_at(server: FaultServer, **settings: Any) -> Reply:
    model = OpenAIModel("m", server.base_url, **client_options(**settings))
    try:
        return await model.complete(ASK)
    finally:
        await model.close()


async def failure(behaviour: str, **settings: Any) -> CallError:
    with pytest.raises(CallError) as caught:
        await ask(behaviour, **settings)
    return caught.value


async def failure_of(status: int, body: bytes, *headers: str, **settings: Any) -> CallError:
    """The error that an answer of the server's leads to."""
    async with FaultServer() as server:
        server.behave = lambda call: Answer(http(status, body, *headers))
        with pytest.raises(CallError) as caught:
            await ask_at(server, **settings)
    return caught.value


@pytest.mark.parametrize("behaviour", FAILURES)
async def test_a_failed_call_is_named_and_may_be_tried_again(behaviour: str):
    error = await failure(behaviour)
    assert (error.kind, error.final) == (KINDS[behaviour], False)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422, 301, 308])
async def test_a_refusal_that_cannot_change_is_final(status: int):
    error = await failure(str(status))
    assert (error.kind, error.final) == (f"http {status}", True)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503, 529])
async def test_a_refusal_that_may_pass_is_not_final(status: int):
    error = await failure(str(status))
    assert (error.kind, error.final) == (f"http {status}", False)


async def test_nobody_listening_is_told_in_the_words_of_the_system():
    async with FaultServer() as server:
        address = server.base_url
    model = OpenAIModel("m", address)
    with pytest.raises(CallError, match=os.strerror(errno.ECONNREFUSED)) as caught:
        await model.complete(ASK)
    await model.close()
    assert caught.value.kind == "network"


async def test_silence_ends_with_the_timeout():
    error = await failure("silence", timeout_s=0.05)
    assert error.kind == "timeout"


async def test_a_body_that_stops_coming_ends_with_the_timeout():
    async with FaultServer() as server:
        server.behave = lambda call: Answer(http(200, b"{", length=100))
        with pytest.raises(CallError) as caught:
            await ask_at(server, timeout_s=0.05)
    assert caught.value.kind == "timeout"


async def test_a_body_over_the_limit_is_not_read_on():
    error = await failure("huge-content", max_body_bytes=1_000_000)
    assert error.kind == "body too large"


@pytest.mark.long
async def test_ten_megabytes_of_content_are_a_reply():
    reply = await ask("huge-content")
    assert len(reply.message["content"]) == 10_000_000


@pytest.mark.long
@pytest.mark.parametrize("behaviour", HOSTILE)
async def test_a_hostile_message_is_a_reply_like_any_other(behaviour: str):
    reply = await ask(behaviour)
    # Compared as JSON text, since NaN never equals itself.
    assert json.dumps(reply.message) == json.dumps(json.loads(HOSTILE[behaviour]))
    assert HOSTILE[behaviour] in reply.raw


@pytest.mark.long
@pytest.mark.parametrize("behaviour", HOSTILE)
async def test_a_hostile_message_can_be_sent_back_as_it_came(behaviour: str):
    reply = await ask(behaviour)
    body = OpenAIModel("m", "http://127.0.0.1:1/v1").body(Request([reply.message]))
    assert json.dumps(json.loads(body)["messages"][0]) == json.dumps(json.loads(HOSTILE[behaviour]))


async def test_json_nested_beyond_reading_is_too_large():
    nested = "[" * 100_000 + "]" * 100_000
    error = await failure_of(200, completion('{"content":' + nested + "}"))
    assert error.kind == "body too large" and "deeper" in str(error)


async def test_a_request_that_no_json_can_hold_is_final():
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(CallError) as caught:
        await OpenAIModel("m", "http://127.0.0.1:1/v1").complete(Request([{"content": nested}]))
    assert (caught.value.kind, caught.value.final) == ("unsendable request", True)


@pytest.mark.parametrize("usage", ["null", "[]", '"7"'])
async def test_a_usage_that_is_no_object_counts_as_none(usage: str):
    async with FaultServer() as server:
        body = b'{"choices":[{"message":{},"finish_reason":3}],"usage":' + usage.encode() + b"}"
        server.behave = lambda call: Answer(http(200, body))
        reply = await ask_at(server)
    assert (reply.usage, reply.finish_reason) == ({}, None)


async def test_a_reply_beside_a_null_error_is_a_reply():
    async with FaultServer() as server:
        server.behave = lambda call: Answer(
            http(200, b'{"error":null,"choices":[{"message":{"content":"x"}}]}')
        )
        assert (await ask_at(server)).message == {"content": "x"}


async def test_an_error_inside_the_choice_is_quoted():
    error = await failure_of(200, b'{"choices":[{"error":{"message":"upstream is gone","code":"502"}}]}')
    assert error.kind == "http 502" and "upstream is gone" in str(error)


async def test_an_error_with_http_200_is_quoted():
    assert "upstream broke" in str(await failure("error-in-200"))


async def test_the_servers_own_message_is_quoted_from_its_json():
    error = await failure_of(400, b'{"error":{"message":"unknown field `x`","type":"invalid"}}')
    assert str(error).endswith("/v1/chat/completions: HTTP 400: unknown field `x`")


@pytest.mark.parametrize(
    "body", [b"y" * 9000, b'{"error":"' + b"y" * 9000 + b'"}', b"[" * 9000, b"\xff" * 9000]
)
async def test_at_most_300_characters_of_the_server_are_quoted(body: bytes):
    error = await failure_of(500, body)
    assert len(str(error).partition("HTTP 500: ")[2]) == 300


async def test_a_redirect_is_not_followed_but_told():
    error = await failure_of(307, b"", "Location: http://127.0.0.1:9/v2")
    assert error.final and "http://127.0.0.1:9/v2" in str(error)


async def test_a_missing_key_is_suggested_where_the_server_wants_one():
    assert "--api-key-env" in str(await failure("401"))


async def test_retry_after_in_seconds_is_passed_on():
    assert (await failure("429:2.5")).retry_after_s == 2.5


async def test_retry_after_as_a_date_is_passed_on():
    wait = (await failure("429-date")).retry_after_s
    assert wait is not None and wait > 1e9


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        (["retry-after-ms: 250"], 0.25),
        (["Retry-After-Ms: 1500.5", "Retry-After: 7"], 1.5005),
        (["retry-after-ms: soon", "Retry-After: 7"], 7),
        (["retry-after-ms: -5"], None),
    ],
)
async def test_a_wait_in_milliseconds_is_passed_on(headers: list[str], wait: float | None):
    assert (await failure_of(429, b"later", *headers)).retry_after_s == wait


async def test_without_retry_after_none_is_passed_on():
    assert (await failure("429")).retry_after_s is None


@pytest.mark.parametrize(
    "text", ["soon", "", "-5", "inf", "nan", "1e9", "9" * 400, "Wed, 99 Foo 2026 00:00:00 GMT"]
)
def test_an_unreadable_retry_after_counts_as_none(text: str):
    assert retry_after_s(text) is None


def test_a_retry_after_in_the_past_is_no_wait():
    assert retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_key_that_the_server_echoes_is_in_no_error(status: int):
    async with FaultServer("echo-key-401") as server:
        server.behave = lambda call: Answer(http(status, echo(call)))
        with pytest.raises(CallError) as caught:
            await ask_at(server, api_key=KEY)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown and "[key]" in shown
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("behaviour", ["no-http", "half-body", "closed", "not-json"])
async def test_no_exception_that_holds_headers_or_bodies_is_attached(behaviour: str):
    error = await failure(behaviour, api_key=KEY)
    assert (error.__cause__, error.__context__) == (None, None)


def echo(call: Call) -> bytes:
    return dumps({"error": {"message": f"you sent {call.authorization}, that is wrong"}})


@pytest.mark.parametrize(
    "body",
    [
        KEY.encode() * 500,
        b"x" * 290 + KEY.encode(),
        b'{"error": "' + KEY.replace("/", "\\/").encode() + b'"',
        b'{"error": {"message": "' + KEY.replace("/", "\\u002f").encode() + b'"}}',
    ],
)
async def test_no_part_of_an_echoed_key_is_left_by_cutting_or_escaping(body: bytes):
    error = await failure_of(401, body, api_key=KEY)
    assert KEY[:8] not in str(error)


async def test_a_key_that_comes_back_in_a_good_answer_is_not_recorded():
    reply = await ask("echo-key-200", api_key=KEY)
    assert KEY not in reply.raw and reply.message["content"] == "Bearer [key]"


@pytest.mark.parametrize("key", ["hunter22", "EMPTYEMPTY", "sk-no-key-required-1"])
async def test_a_key_of_eight_characters_is_not_recorded(key: str):
    reply = await ask("echo-key-200", api_key=key)
    assert key not in reply.raw and reply.message["content"] == "Bearer [key]"


@pytest.mark.parametrize(
    "key", ["EMPTY", "none", "sk-no-key-required", "token-abc123", "lm-studio", "hunter2"]
)
async def test_a_placeholder_or_shorter_key_is_an_ordinary_word_in_answers(key: str):
    reply = await ask("echo-key-200", api_key=key)
    assert reply.message["content"] == f"Bearer {key}"


@pytest.mark.parametrize("key", ["EMPTY", "token-abc123"])
async def test_a_placeholder_key_is_an_ordinary_word_in_errors(key: str):
    assert key in str(await failure("echo-key-401", api_key=key))


async def answer_at_query(query: str, content: str) -> str:
    """The content that is kept of an answer from a base URL with this query."""
    async with FaultServer() as server:
        server.behave = lambda call: Answer(http(200, completion(json.dumps({"content": content}))))
        model = OpenAIModel("m", f"{server.base_url}?{query}")
        try:
            return (await model.complete(ASK)).message["content"]
        finally:
            await model.close()


async def test_a_key_of_the_query_that_comes_back_is_not_recorded():
    assert await answer_at_query("api_key=PASSWD99", "your PASSWD99") == "your [key]"


async def test_other_values_of_the_query_are_ordinary_words_in_answers():
    assert await answer_at_query("api-version=2024-10-21", "on 2024-10-21") == "on 2024-10-21"


async def test_an_echoed_password_of_the_url_is_in_no_error():
    async with FaultServer("echo-key-401") as server:
        model = OpenAIModel("m", server.base_url.replace("//", "//ann:hunter2hunter2@"))
        with pytest.raises(CallError) as caught:
            await model.complete(ASK)
        await model.close()
    assert "hunter2" not in str(caught.value)
    # The base64 form, which is what the server saw.
    assert "YW5uOmh1bnRlcj" not in str(caught.value)


def test_the_key_is_in_neither_settings_nor_repr():
    model = OpenAIModel("m", "http://127.0.0.1:1/v1?sig=query-secret", KEY)
    shown = repr(model) + json.dumps(model.settings())
    assert KEY not in shown and "query-secret" not in shown


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ""),
        ("?api_key=PASSWD99", "?api_key=…"),
        ("?v=2&api_key=PASSWD99&v=3", "?v=…&api_key=…&v=…"),
        ("?PASSWD99", "?…"),
        ("?PASSWD99==", "?…"),
        ("?a%26b=PASSWD99", "?a%26b=…"),
    ],
)
def test_of_a_query_the_settings_tell_only_the_names(query: str, shown: str):
    model = OpenAIModel("m", f"http://127.0.0.1:1/v1{query}#PASSWD99")
    assert model.settings()["base_url"] == f"http://127.0.0.1:1/v1{shown}"


async def test_a_key_that_is_the_whole_query_is_in_no_error():
    async with FaultServer() as server:
        server.behave = lambda call: Answer(http(500, b"PASSWD99"))
        model = OpenAIModel("m", f"{server.base_url}?PASSWD99")
        with pytest.raises(CallError) as caught:
            await model.complete(ASK)
        await model.close()
    assert "PASSWD99" not in str(caught.value)


def test_user_and_password_are_not_in_the_settings():
    model = OpenAIModel("m", "http://ann:hunter2@127.0.0.1:1/v1")
    assert model.settings()["base_url"] == "http://127.0.0.1:1/v1"


async def test_a_failed_connection_does_not_spoil_the_next_call():
    async with FaultServer("faults-then-ok:6") as server:
        model = OpenAIModel("m", server.base_url)
        for _ in range(6):
            with pytest.raises(CallError):
                await model.complete(ASK)
        reply = await model.complete(ASK)
        await model.close()
    assert reply.message["content"]
