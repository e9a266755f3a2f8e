"""What a model said arrives at the clients of every wire, whole and streamed, or what cannot is named."""

import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.wires.drawn import EXACT_WIRES, adapter, broken, calls, question, request_of, texts, wires
from long import a_fiftieth_of
from wildtool.agents.agent import WIRES, Wire
from wildtool.agents.wires import WIRE_FORMATS, side_answer
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.errors import CallError
from wildtool.models.http.streams import events
from wildtool.types import Message, Reply, Request

HELLO: Message = {"role": "user", "content": "hi"}
USAGE = {"prompt_tokens": 11, "completion_tokens": 7}


def greeting(wire: Wire, *, stream: bool) -> Asked:
    return request_of(wire, [HELLO], stream=stream)


def written(wire: Wire, message: Message, *, stream: bool, reason: str | None = None) -> WireAnswer:
    return WIRE_FORMATS[wire].write(message, greeting(wire, stream=stream), USAGE, reason)


def reread(wire: Wire, answer: WireAnswer, *, stream: bool) -> Reply:
    return adapter(wire, stream=stream).read(answer.body, Request([HELLO]))


def calls_in(message: Message) -> list[dict[str, Any]]:
    return [
        {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for call in message.get("tool_calls") or []
    ]


def value_of(text: str, *, strict: bool = True) -> Any:
    """The value of a JSON text; the text itself where it is none. Args: strict: whether NaN is no JSON."""
    try:
        return json.loads(text, parse_constant=refuse if strict else None)
    except ValueError:
        return text


def refuse(constant: str) -> Any:
    raise ValueError(constant)


def expected(wire: Wire, text: str, *, stream: bool) -> tuple[Any, bool]:
    """Arguments as a client of a wire has them, by value where it has no text, and whether they are as the model said."""
    if wire in EXACT_WIRES:
        return text, True
    value = value_of(text)
    if wire == "messages" and stream:
        return value_of(text, strict=False), True
    return ({"malformed_arguments": text}, False) if value == text else (value, True)


@given(wires, st.booleans(), st.one_of(st.none(), st.just(""), texts), calls(), st.one_of(st.none(), texts))
@settings(max_examples=a_fiftieth_of(10_000), deadline=None)
def test_a_reply_is_read_back_equal(
    wire: Wire, stream: bool, content: str | None, said: list[Any], thought: str | None
):
    message: Message = {"role": "assistant", "content": content}
    message |= {"tool_calls": said} if said else {}
    message |= {"reasoning_content": thought} if thought else {}
    answer = written(wire, message, stream=stream)
    reply = reread(wire, answer, stream=stream)
    assert (reply.message["content"] or None) == (content or None)
    assert reply.message.get("reasoning_content") == thought
    got = calls_in(reply.message)
    assert [(call["id"], call["name"]) for call in got] == [
        (call["id"], call["name"]) for call in calls_in(message)
    ]
    arrivals = [expected(wire, call["arguments"], stream=stream) for call in calls_in(message)]
    assert [
        call["arguments"] if wire in EXACT_WIRES else value_of(call["arguments"], strict=False)
        for call in got
    ] == [value for value, _ in arrivals]
    assert bool(answer.changes) == (not all(is_as_said for _, is_as_said in arrivals))
    assert reply.finish_reason == ("tool_calls" if said else "stop")
    assert {key: reply.usage.get(key) for key in USAGE} == USAGE


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_numbers_keep_their_spelling_and_keys_that_occur_twice_stay(wire: Wire, stream: bool):
    text = '{"a":42.0,"a":1E2,\n"b":123456789012345678901234567890,"c":"\u2028"}'
    said = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}]
    answer = written(wire, {"role": "assistant", "content": None, "tool_calls": said}, stream=stream)
    body = answer.body.decode().replace("\\", "")
    for part in ("42.0", "1E2", "123456789012345678901234567890"):
        assert part in body
    assert not answer.changes and "\u2028" not in answer.body.decode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@given(arguments=broken)
@settings(max_examples=20, deadline=None)
def test_arguments_that_are_no_json_arrive_as_they_are_or_are_named_and_come_back(
    wire: Wire, stream: bool, arguments: str
):
    said = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    answer = written(wire, {"role": "assistant", "content": None, "tool_calls": said}, stream=stream)
    if not answer.changes:
        assert spoken(wire, answer, stream=stream) == arguments
    else:
        got = calls_in(reread(wire, answer, stream=stream).message)[0]["arguments"]
        sent_back = [{**said[0], "function": {"name": "f", "arguments": got}}]
        result = {"role": "tool", "tool_call_id": "c", "content": ""}
        history = [HELLO, {"role": "assistant", "content": None, "tool_calls": sent_back}, result]
        again = request_of(wire, history).messages[1]
        assert calls_in(again)[0]["arguments"] == arguments


_HALF = "\ud83d"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "arguments", [f'{{"a":"{_HALF}"}}', '{"a":"\\ud83d"}', '{"a":"\\uDE00\\ud83d"}', "{}"]
)
def test_half_a_surrogate_pair_never_reaches_a_client(wire: Wire, stream: bool, arguments: str):
    said = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    text = f"{_HALF} \\ud83d 🎫" if arguments == "{}" else None
    message: Message = {"role": "assistant", "content": text, "tool_calls": said}
    answer = written(wire, message, stream=stream)
    assert [*strict_values(answer)]
    reply = reread(wire, answer, stream=stream)
    if text is not None:
        assert reply.message["content"] == text.replace(_HALF, "\ufffd")
    assert bool(answer.changes) == (answer.body.count("\ufffd".encode()) > 0)


def strict_values(answer: WireAnswer) -> Iterator[Any]:
    """The JSON values of an answer, as a reader has them that accepts neither lone surrogates nor NaN."""
    for line in answer.body.splitlines():
        text = line.removeprefix(b"data: ")
        if text.startswith(b"{"):
            yield orjson.loads(text)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_numbers_that_json_lacks_are_null_and_named(wire: Wire, stream: bool):
    own = {"anthropic": "text", "gemini": None, "openai_responses": "message"}
    part = {"text": "x", "odd": float("nan"), "content": [{"type": "output_text", "text": "x"}]}
    content = {name: [{**part, **({"type": kind} if kind else {})}] for name, kind in own.items()}
    answer = written(wire, {"role": "assistant", "content": "x", "provider_content": content}, stream=stream)
    assert answer.changes and [*strict_values(answer)]


def test_what_a_wire_has_no_place_for_is_named():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "odd": 1}
    message = {"role": "assistant", "content": "", "refusal": "No.", "annotations": [], "tool_calls": [call]}
    named = {
        wire: sorted(name.partition(":")[2] for name in written(wire, message, stream=False).changes)
        for wire in WIRES
    }
    assert named == {
        "chat": [],
        "responses": ["odd"],
        "messages": ["odd", "refusal"],
        "gemini": ["odd", "refusal"],
    }


def spoken(wire: Wire, answer: WireAnswer, *, stream: bool) -> str:
    """The arguments of the one call of an answer, before a client makes a value of them."""
    if wire == "messages":
        deltas = [event.get("delta", {}) for event in events(answer.body)]
        return "".join(delta.get("partial_json", "") for delta in deltas)
    return calls_in(reread(wire, answer, stream=stream).message)[0]["arguments"]


REASONS = {
    "length": "length",
    "MAX_TOKENS": "length",
    "safety": "content_filter",
    None: "stop",
    "end_turn": "stop",
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("wire", WIRES)
def test_the_reason_of_the_end_arrives(wire: Wire, reason: str | None, stream: bool):
    answer = written(wire, {"role": "assistant", "content": "x"}, stream=stream, reason=reason)
    assert reread(wire, answer, stream=stream).finish_reason == REASONS[reason]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_without_counts_no_tokens_are_made_up(wire: Wire, stream: bool):
    said = {"role": "assistant", "content": "x"}
    answer = WIRE_FORMATS[wire].write(said, greeting(wire, stream=stream), {}, None)
    assert not any(reread(wire, answer, stream=stream).usage.get(name) for name in USAGE)


def test_a_stream_of_chat_has_usage_only_where_it_is_asked_for():
    body = {"model": "m", "messages": [HELLO], "stream": True}
    said = {"role": "assistant", "content": "x"}
    plain = WIRE_FORMATS["chat"].write(said, question("chat", body), USAGE, None)
    wanted = question("chat", {**body, "stream_options": {"include_usage": True}})
    counted = WIRE_FORMATS["chat"].write(said, wanted, USAGE, None)
    assert b"usage" not in plain.body and counted.body.count(b'"usage"') == 1
    assert plain.body.endswith(b"data: [DONE]\n\n")


def test_events_of_responses_are_numbered_and_end_with_all_items():
    said = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}]
    message = {"role": "assistant", "content": "a", "tool_calls": said, "reasoning_content": "b"}
    stream = list(events(written("responses", message, stream=True).body))
    assert [event["sequence_number"] for event in stream] == list(range(len(stream)))
    assert (stream[0]["type"], stream[-1]["type"]) == ("response.created", "response.completed")
    done = [event["item"] for event in stream if event["type"] == "response.output_item.done"]
    assert [item["type"] for item in done] == ["reasoning", "message", "function_call"]
    assert stream[-1]["response"]["output"] == done


def test_a_call_of_a_namespace_and_one_of_free_text_name_what_the_agent_offered():
    tools = [
        {"type": "namespace", "name": "mcp__wt", "tools": [{"type": "function", "name": "add"}]},
        {"type": "custom", "name": "patch", "format": {"type": "grammar"}},
    ]
    read = question("responses", {"model": "m", "input": "hi", "tools": tools})
    said = [
        {"id": str(number), "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(
            [("add", "{}"), ("patch", '{"input":"*** Begin"}'), ("patch", "*** raw"), ("none", "")]
        )
    ]
    message = {"role": "assistant", "content": None, "tool_calls": said}
    answer = WIRE_FORMATS["responses"].write(message, read, {}, None)
    add, patch, raw, unknown = json.loads(answer.body)["output"]
    assert (add["type"], add["namespace"], add["name"]) == ("function_call", "mcp__wt", "add")
    assert (patch["type"], patch["input"]) == ("custom_tool_call", "*** Begin")
    assert (raw["input"], len(answer.changes)) == ("*** raw", 1)
    assert (unknown["type"], unknown["name"], "namespace" in unknown) == ("function_call", "none", False)
    back = question("responses", {"model": "m", "input": [add, patch], "tools": tools}).messages[0]
    assert back["tool_calls"] == said[:2]


def test_a_refusal_arrives():
    for stream in (False, True):
        answer = written("responses", {"role": "assistant", "content": "", "refusal": "No."}, stream=stream)
        assert reread("responses", answer, stream=stream).message["refusal"] == "No."


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
@pytest.mark.parametrize("wire", WIRES)
def test_a_failure_of_the_endpoint_is_one_to_the_client(wire: Wire, status: int):
    answer = WIRE_FORMATS[wire].error(status, "the endpoint said 'no'")
    assert answer.status == status
    with pytest.raises(CallError, match="the endpoint said 'no'"):
        reread(wire, answer, stream=False)


def test_what_agents_ask_beside_the_model_is_answered():
    def answered(path: str, method: str = "GET") -> Any:
        answer = side_answer(path, method, {"contents": []} if method == "POST" else {}, "m")
        return answer and json.loads(answer.body)

    assert [model["id"] for model in answered("/v1/models?limit=1")["data"]] == ["m"]
    assert answered("/v1/models/m")["id"] == "m"
    assert [model["name"] for model in answered("/v1beta/models")["models"]] == ["models/m"]
    assert answered("/v1/messages/count_tokens", "POST")["input_tokens"] > 0
    assert answered("/v1beta/models/m:countTokens", "POST")["totalTokens"] > 0
    assert answered("/v1/files") is None and answered("/v1/models", "POST") is None
