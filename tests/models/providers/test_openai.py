"""The chat-completions adapter sends what it is given byte for byte and keeps what it gets."""

import asyncio
import json
import math
from typing import Any

import pytest

from faults.server import Answer, FaultServer, completion, http
from models.options import client_options
from wildtool.errors import UsageError
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Address, Message, Reply, Request

ASK = Request([{"role": "user", "content": "hi"}])


async def sent(request: Request = ASK, name: str = "m", **settings: Any) -> bytes:
    """The body that arrives at the server."""
    async with FaultServer("ok") as server:
        await answered(server, request, name, **settings)
        return server.bodies[-1]


async def answered(server: FaultServer, request: Request = ASK, name: str = "m", **settings: Any) -> Reply:
    model = OpenAIModel(name, server.base_url, **client_options(**settings))
    try:
        return await model.complete(request)
    finally:
        await model.close()


def user(content: Any) -> Request:
    return Request([{"role": "user", "content": content}])


async def test_the_body_is_model_and_messages_and_nothing_else():
    assert await sent() == b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


async def test_tools_go_out_untouched_with_schemas_of_any_kind():
    tool = (
        b'{"type":"function","function":{"name":"f","parameters":{"type":"object","$defs":{"d":{"type":"number"}},'
        b'"properties":{"a":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]},"b":{"type":"object","properties":'
        b'{"c":{"type":"string","pattern":"^\\\\d+$","x-own":[1,2.50,{"k":null}]}}}}}},"unknown":true}'
    )
    request = Request([], [json.loads(tool)])
    assert (
        await sent(request) == b'{"model":"m","messages":[],"tools":[' + tool.replace(b"2.50", b"2.5") + b"]}"
    )


async def test_chinese_text_is_sent_as_utf_8():
    assert "帮我订一张票🎫".encode() in await sent(user("帮我订一张票🎫"))


@pytest.mark.parametrize(
    "arguments", ["{'a': 1", "", '{"a": 1,  "a":2}', '{"b":NaN}', "\\u4e2d", "null", "中 文"]
)
async def test_argument_texts_of_the_history_stay_as_they_are(arguments: str):
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    async with FaultServer("ok") as server:
        await answered(server, Request([message]))
        assert json.loads(server.bodies[-1])["messages"] == [message]
        assert json.dumps(arguments, ensure_ascii=False).encode() in server.bodies[-1]


async def test_a_lone_surrogate_is_sent_as_an_escape():
    assert rb'"content":"a\ud800b"' in await sent(user("a\ud800b"))


async def test_sampling_is_sent_only_when_given():
    body = await sent(temperature=0.0, max_tokens=5)
    assert (
        body == b'{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.0,"max_tokens":5}'
    )


async def test_the_extra_body_is_merged_last():
    body = await sent(extra_body={"temperature": 1, "chat_template_kwargs": {"think": False}})
    assert body.endswith(b',"temperature":1,"chat_template_kwargs":{"think":false}}')


@pytest.mark.parametrize("field", ["model", "messages", "tools", "stream"])
def test_the_extra_body_may_not_replace_what_the_benchmark_sends(field: str):
    with pytest.raises(UsageError, match=field):
        OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(extra_body={field: []}))


@pytest.mark.parametrize(
    "body", [{"n": 2}, {"candidateCount": 3}, {"generationConfig": {"candidate_count": 2}}]
)
def test_several_replies_to_one_request_are_refused_since_one_would_be_read(body: dict[str, Any]):
    with pytest.raises(UsageError, match="--repeats"):
        OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(extra_body=body))
    OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(extra_body={"n": 1}))


@pytest.mark.parametrize("field", ["temperature", "max_tokens", "seed"])
def test_what_has_its_own_option_is_not_set_twice(field: str):
    option: dict[str, Any] = {field: 0}
    with pytest.raises(UsageError, match=f"{field} is given both"):
        OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(**option, extra_body={field: 1}))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", ["temperature", "timeout_s", "extra_body", "deep"])
def test_a_number_that_is_not_finite_is_a_usage_error(place: str, number: float):
    option: dict[str, Any] = {place: number}
    if place == "extra_body":
        option = {"extra_body": {"a": number}}
    if place == "deep":
        option = {"extra_body": {"a": [{"b": [1, number]}]}}
    with pytest.raises(UsageError, match="finite"):
        OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(**option))


def test_a_deep_extra_body_is_checked_to_its_end():
    deep: list[Any] = [math.nan]
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UsageError, match="finite"):
        OpenAIModel("m", "http://127.0.0.1:1/v1", **client_options(extra_body={"a": deep}))


async def test_repeats_are_asked_with_different_seeds():
    request = Request(ASK.messages, address=Address("item", 2, "unit", 0))
    assert (await sent(request, seed=40)).endswith(b',"seed":42}')


@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-7B-Instruct", "qwen:7b", "a b", "模型", "openai/gpt-4o:free"])
async def test_any_model_name_is_sent_letter_for_letter(name: str):
    assert json.loads(await sent(name=name))["model"] == name


async def test_gold_role_and_address_are_not_sent():
    request = Request(ASK.messages, role="user", gold=lambda style: {}, address=Address("item", 0, "unit", 0))
    assert await sent(request) == await sent()


async def test_the_message_is_kept_as_received_with_unknown_keys_and_reasoning():
    message: Message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "思",
        "own": {"x": [1.5, None]},
    }
    reply = await _told(message)
    assert reply.message == message
    assert reply.raw.startswith('{"id":"chatcmpl-1"') and '"own"' in reply.raw


async def test_finish_reason_usage_and_latency_are_recorded():
    reply = await _told({"content": "x"})
    assert (reply.finish_reason, reply.usage["completion_tokens"]) == ("stop", 7)
    assert reply.latency_s > 0


@pytest.mark.parametrize(
    ("header", "usage", "cost"),
    [
        ("0.000039", {}, 0.000039),
        ("0.000039", {"cost": 0.5}, 0.5),
        ("0.000039", {"cost": None}, 0.000039),
        ("nan", {}, None),
        ("-1", {}, None),
        ("None", {}, None),
    ],
)
async def test_a_cost_that_a_gateway_names_in_a_header_alone_is_recorded(
    header: str, usage: dict[str, Any], cost: float | None
):
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": usage})
    async with FaultServer("ok") as server:
        server.behave = lambda call: Answer(http(200, body.encode(), f"x-litellm-response-cost: {header}"))
        reply = await answered(server)
    assert reply.usage.get("cost") == cost


async def test_the_key_is_sent_as_bearer_token():
    async with FaultServer("ok") as server:
        await answered(server, api_key="sk-123")
        assert b"\r\nAuthorization: Bearer sk-123\r\n" in server.heads[-1] + b"\r\n"


async def test_without_a_key_no_authorization_is_sent():
    async with FaultServer("ok") as server:
        await answered(server)
        assert b"authorization" not in server.heads[-1].lower()


async def test_user_and_password_in_the_url_become_basic_authentication():
    async with FaultServer("ok") as server:
        model = OpenAIModel("m", server.base_url.replace("//", "//ann:pass%40word@"))
        await model.complete(ASK)
        await model.close()
        assert b"Authorization: Basic YW5uOnBhc3NAd29yZA==" in server.heads[-1]


async def test_a_query_in_the_base_url_stays_behind_the_path():
    async with FaultServer("ok") as server:
        model = OpenAIModel("m", server.base_url + "/?api-version=2")
        await model.complete(ASK)
        await model.close()
        assert server.heads[-1].startswith(b"POST /v1/chat/completions?api-version=2 ")


async def test_calls_one_after_another_use_one_connection():
    async with FaultServer("ok") as server:
        model = OpenAIModel("m", server.base_url)
        for _ in range(3):
            await model.complete(ASK)
        await model.close()
        assert server.opened == 1


async def test_models_of_one_endpoint_share_its_connections_until_the_last_is_closed():
    async with FaultServer("ok") as server:
        one, two = OpenAIModel("one", server.base_url), OpenAIModel("two", server.base_url)
        await one.complete(ASK)
        await two.complete(ASK)
        await one.close()
        await two.complete(ASK)
        await two.close()
        assert server.opened == 1


async def test_models_of_several_endpoints_are_closed_at_once():
    async with FaultServer() as one, FaultServer() as two, FaultServer() as three:
        models = [OpenAIModel("m", server.base_url) for server in (one, two, three)]
        for model in models:
            await model.complete(ASK)
        await asyncio.gather(*(model.close() for model in models))
        for server, model in zip((one, two, three), models, strict=True):
            await model.complete(ASK)
            await model.close()
            assert server.received == 2


async def test_the_environments_proxy_is_used_for_other_machines(monkeypatch: pytest.MonkeyPatch):
    async with FaultServer("ok") as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        model = OpenAIModel("m", "http://models.example.org/v1")
        await model.complete(ASK)
        await model.close()
        assert proxy.heads[-1].startswith(b"POST http://models.example.org/v1/chat/completions ")


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000/v1", "ftp://x/v1", "http:///v1", "http://a..b/v1", "http://x:y/v1"]
)
def test_an_unusable_base_url_stops_before_the_first_call(url: str):
    with pytest.raises(UsageError, match=r"http://127\.0\.0\.1:8000/v1"):
        OpenAIModel("m", url)


async def _told(message: Message) -> Reply:
    """The reply when the server answers with this message."""
    async with FaultServer("ok") as server:
        server.behave = lambda call: Answer(http(200, completion(json.dumps(message))))
        return await answered(server)
