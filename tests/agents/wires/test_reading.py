"""What an agent asks is read without loss from the requests of every wire, or the loss is counted; a body that is none is
refused by the name of its key."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.wires.drawn import PATHS, conversations, odd, question, request_of, tools, wires
from long import a_fiftieth_of
from wildtool.agents.agent import WIRES, Wire
from wildtool.agents.wires import WIRE_FORMATS, wire_of
from wildtool.json_codec import as_object, dumps, loads
from wildtool.types import Message, Tool

HELLO: Message = {"role": "user", "content": "hi"}


@given(wires, conversations(), tools())
@settings(max_examples=a_fiftieth_of(5000), deadline=None)
def test_a_conversation_that_our_adapters_send_is_read_back_equal(
    wire: Wire, messages: list[Message], offered: list[Tool]
):
    read = request_of(wire, messages, offered)
    assert read.messages == messages
    assert [dumps(tool["function"]["parameters"]) for tool in read.tools] == [
        dumps(tool["function"]["parameters"]) for tool in offered
    ]
    assert [unstrict(tool) for tool in read.tools] == offered
    assert not read.lost and not read.stream


def unstrict(tool: Tool) -> Tool:
    return {**tool, "function": {key: value for key, value in tool["function"].items() if key != "strict"}}


ROLES = ("system", "developer", "user", "assistant", "tool")
_OWN_PARTS: dict[str, Any] = {
    "anthropic": [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "text", "text": "x"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    ],
    "gemini": [
        {"text": "x", "thoughtSignature": "s"},
        {"functionCall": {"id": "c", "name": "f", "args": {}}},
    ],
    "openai_responses": [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "t"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ],
}
_SAID: Message = {
    "role": "assistant",
    "content": "x",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}


NO_CALLS = (True, "text", ["text"], {"name": "get_tides"})


@pytest.mark.parametrize("calls", NO_CALLS)
@pytest.mark.parametrize("stream", [True, False])
def test_what_a_model_has_in_place_of_calls_reaches_an_agent_as_it_is(calls: Any, stream: bool):
    asked = replace(question("chat", request_of("chat", [HELLO], []).body), stream=stream)
    answer = WIRE_FORMATS["chat"].write({"role": "assistant", "tool_calls": calls}, asked, {}, None)
    body = answer.body.decode()
    bodies = [line.removeprefix("data: ") for line in body.splitlines() if "{" in line] if stream else [body]
    choices = [choice for each in bodies for choice in loads(each)["choices"]]
    parts = [choice["delta"] if stream else choice["message"] for choice in choices]
    assert [part["tool_calls"] for part in parts if "tool_calls" in part] == [calls]
    assert choices[-1]["finish_reason"] == "stop"


@pytest.mark.parametrize("calls", NO_CALLS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "chat"])
def test_what_is_no_call_and_has_no_place_on_a_wire_is_named(wire: Wire, calls: Any, stream: bool):
    asked = replace(question(wire, request_of(wire, [HELLO], []).body), stream=stream)
    said = {"role": "assistant", "content": "hi"}
    plain = WIRE_FORMATS[wire].write(said, asked, {}, None)
    answer = WIRE_FORMATS[wire].write({**said, "tool_calls": calls}, asked, {}, None)
    assert (plain.changes, answer.changes) == ((), ("message-key-dropped:tool_calls",))
    assert not any(word in answer.body for word in (b"tool_use", b"functionCall", b"function_call"))


@given(wires, conversations(), tools(), st.data())
@settings(max_examples=a_fiftieth_of(10_000), deadline=None)
def test_whatever_an_agent_sends_is_read_and_answered_or_refused(
    wire: Wire, messages: list[Message], offered: list[Tool], data: st.DataObject
):
    body = dict(request_of(wire, messages, offered).body)
    key = data.draw(st.sampled_from(sorted(body)))
    body[key] = changed(body[key], data)
    try:
        read = question(wire, body)
    except ValueError:
        return
    said = {**_SAID, "provider_content": changed(_OWN_PARTS, data)}
    said = changed(said, data) if data.draw(st.booleans()) else said
    read = replace(read, stream=data.draw(st.booleans()))
    assert WIRE_FORMATS[wire].write(as_object(said), read, {}, None).body
    assert {message["role"] for message in read.messages} <= {*ROLES}
    assert dumps(read.messages) and all(len(name) < 200 for name in read.lost)


def changed(value: Any, data: st.DataObject) -> Any:
    """A value with another one somewhere in it."""
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 4)) == 0:
        return data.draw(odd)
    if isinstance(value, list):
        place = data.draw(st.integers(0, len(value) - 1))
        return [changed(part, data) if number == place else part for number, part in enumerate(value)]
    key = data.draw(st.sampled_from(sorted(value)))
    return {name: changed(part, data) if name == key else part for name, part in value.items()}


@pytest.mark.parametrize("wire", WIRES)
def test_model_stream_and_sampling_are_read_under_the_names_of_the_wire(wire: Wire):
    read = request_of(wire, [HELLO], temperature=0.5, max_tokens=7, stream=True)
    assert read.stream and read.model.endswith("-x")
    assert sorted(map(str, read.sampling.values())) == ["0.5", "7"]


BODIES: dict[str, tuple[Wire, dict[str, Any]]] = {
    "messages": ("chat", {"model": "m"}),
    "model": ("chat", {"messages": []}),
    "`messages`": ("chat", {"model": "m", "messages": "hi"}),
    "messages[0]": ("chat", {"model": "m", "messages": ["hi"]}),
    "role": ("chat", {"model": "m", "messages": [{"role": "nobody", "content": ""}]}),
    "tool_call_id": ("chat", {"model": "m", "messages": [{"role": "tool", "content": ""}]}),
    "tool_calls[0]: function: `name`": (
        "chat",
        {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]},
    ),
    "`n`": ("chat", {"model": "m", "messages": [], "n": 2}),
    "`functions`": ("chat", {"model": "m", "messages": [], "functions": [{"name": "f"}]}),
    "tools[0]": ("chat", {"model": "m", "messages": [], "tools": [{"type": "function"}]}),
    "input": ("responses", {"model": "m"}),
    "previous_response_id": ("responses", {"model": "m", "input": "hi", "previous_response_id": "r"}),
    "reference": ("responses", {"model": "m", "input": [{"type": "item_reference", "id": "i"}]}),
    "`call_id`": ("responses", {"model": "m", "input": [{"type": "function_call", "name": "f"}]}),
    "background": ("responses", {"model": "m", "input": "hi", "background": True}),
    "no `messages`": ("messages", {"model": "m"}),
    "the role 'tool'": ("messages", {"model": "m", "messages": [{"role": "tool", "content": ""}]}),
    "tool_use_id": (
        "messages",
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
    ),
    "contents": ("gemini", {}),
    "cachedContent": ("gemini", {"contents": [], "cachedContent": "c"}),
    "parts[0]": ("gemini", {"contents": [{"role": "user", "parts": ["hi"]}]}),
    "functionCall": ("gemini", {"contents": [{"role": "model", "parts": [{"functionCall": {}}]}]}),
    "functionResponse": ("gemini", {"contents": [{"parts": [{"functionResponse": "r"}]}]}),
    "generationConfig": ("gemini", {"contents": [], "generationConfig": "hot"}),
    "`stream`": ("chat", {"model": "m", "messages": [], "stream": "yes"}),
    "`content`": ("responses", {"model": "m", "input": [{"role": "assistant", "content": {"text": "x"}}]}),
    "content[0]": ("responses", {"model": "m", "input": [{"role": "assistant", "content": ["x"]}]}),
    "`refusal`": (
        "responses",
        {"model": "m", "input": [{"role": "assistant", "content": [{"type": "refusal"}]}]},
    ),
}


@pytest.mark.parametrize("key", BODIES)
def test_a_body_that_is_no_request_is_refused_by_its_key(key: str):
    wire, body = BODIES[key]
    with pytest.raises(ValueError) as refusal:
        question(wire, body)
    assert key in str(refusal.value)


def test_images_marks_of_errors_and_tools_that_the_provider_runs_are_counted():
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "is_error": True,
        "content": [{"type": "text", "text": "no"}, {"type": "image", "source": {}}],
    }
    content = [result, {"type": "image", "source": {}}, {"type": "text", "text": "?"}]
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": content}]
    search = {"type": "web_search_20250305", "name": "web_search"}
    read = question("messages", {"model": "m", "messages": messages, "tools": [search]})
    assert read.messages[1:] == [
        {"role": "tool", "tool_call_id": "c", "content": "no"},
        {"role": "user", "content": "?"},
    ]
    assert not read.tools and sum(read.lost.values()) == 4


UNKNOWN: dict[str, tuple[Wire, dict[str, Any]]] = {
    "of a message": ("messages", {"messages": [{"role": "user", "content": "x", "odd": 1}]}),
    "of a result": (
        "messages",
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "odd": 1}]}]},
    ),
    "of a text": ("messages", {"messages": [], "system": [{"type": "text", "text": "x", "odd": 1}]}),
    "of an item": ("responses", {"input": [{"role": "user", "content": "x", "odd": 1}]}),
    "of an output": ("responses", {"input": [{"type": "function_call_output", "call_id": "c", "odd": 1}]}),
    "of a namespace": (
        "responses",
        {"input": [], "tools": [{"type": "namespace", "name": "n", "odd": 1, "tools": []}]},
    ),
    "of a turn": ("gemini", {"contents": [{"parts": [{"text": "x"}], "odd": 1}]}),
    "of an instruction": ("gemini", {"contents": [], "systemInstruction": {"parts": [], "odd": 1}}),
    "of a response": ("gemini", {"contents": [{"parts": [{"functionResponse": {"name": "f", "odd": 1}}]}]}),
    "a part": ("gemini", {"contents": [{"parts": [{"odd": {"data": ""}}, {"text": "x"}]}]}),
}


@pytest.mark.parametrize("place", UNKNOWN)
def test_a_key_that_the_chat_shape_has_no_place_for_is_counted(place: str):
    wire, body = UNKNOWN[place]
    lost = question(wire, {"model": "m", **body}).lost
    assert sum(count for name, count in lost.items() if "odd" in name) == 1


def test_a_call_of_gemini_with_more_than_arguments_is_kept_as_it_came():
    part = {"functionCall": {"id": "c", "name": "f", "args": {}, "odd": 1}}
    [reply] = question("gemini", {"contents": [{"role": "model", "parts": [part]}]}).messages
    assert reply["provider_content"] == {"gemini": [part]}


def test_tools_of_a_namespace_are_named_as_calls_name_them():
    def namespace(name: str) -> dict[str, Any]:
        return {"type": "namespace", "name": name, "tools": [{"type": "function", "name": "add"}]}

    body = {"model": "m", "input": "hi", "tools": [namespace("mcp__a"), namespace("mcp__b")]}
    body["input"] = [
        {"type": "function_call", "call_id": id_, "namespace": name, "name": "add", "arguments": "{}"}
        for id_, name in [("1", "mcp__a"), ("2", "mcp__b")]
    ]
    read = question("responses", body)
    offered = [tool["function"]["name"] for tool in read.tools]
    assert offered[0] == "add" and len({*offered}) == 2
    assert [call["function"]["name"] for call in read.messages[0]["tool_calls"]] == offered
    answer = WIRE_FORMATS["responses"].write(read.messages[0], read, {}, None)
    items = loads(answer.body)["output"]
    assert [(item["namespace"], item["name"]) for item in items] == [("mcp__a", "add"), ("mcp__b", "add")]


@pytest.mark.parametrize("is_first", [False, True])
def test_a_tool_without_a_namespace_keeps_its_name_beside_one_of_a_namespace(is_first: bool):
    add = {"type": "function", "name": "add"}
    tools = [add, {"type": "namespace", "name": "mcp__a", "tools": [add]}]
    body = {"model": "m", "input": "hi", "tools": tools if is_first else tools[::-1]}
    offered = [tool["function"]["name"] for tool in question("responses", body).tools]
    assert offered.count("add") == 1 and len({*offered}) == 2


def test_calls_of_gemini_without_ids_are_bound_by_name_and_order():
    def turn(role: str, key: str, *values: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "parts": [{key: value} for value in values]}

    asks = turn("model", "functionCall", {"name": "f", "args": {"a": 1}}, {"name": "g"}, {"name": "f"})
    results = turn(
        "user",
        "functionResponse",
        {"name": "g", "response": {"output": "of g"}},
        {"name": "f", "response": {"error": "of the first"}},
        {"name": "f", "response": {"output": "of f", "more": 1}},
    )
    read = question("gemini", {"contents": [asks, results, asks, results]})
    ids = [call["id"] for message in (read.messages[0], read.messages[4]) for call in message["tool_calls"]]
    bound = [message["tool_call_id"] for message in read.messages if message["role"] == "tool"]
    assert len({*ids}) == 6 and bound == [ids[place] for place in (1, 0, 2, 4, 3, 5)]
    assert [message["content"] for message in read.messages[1:4]] == [
        "of g",
        "of the first",
        '{"output": "of f", "more": 1}',
    ]
    again = question("gemini", {"contents": [asks, results, asks, results, turn("user", "text")]})
    assert again.messages[:8] == read.messages


def test_a_result_that_gemini_repeats_is_counted_and_one_without_a_call_is_kept():
    call = {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]}
    result = {"functionResponse": {"id": "c", "name": "f", "response": {"output": "r"}}}
    other = {"functionResponse": {"id": "d", "name": "f", "response": {"output": "r"}}}
    read = question("gemini", {"contents": [call, {"role": "user", "parts": [result, result, other]}]})
    assert [message["tool_call_id"] for message in read.messages[1:]] == ["c", "d"]
    assert sorted(read.lost.values()) == [1, 1]


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_parts_of_a_text_are_lines(wire: Wire):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    result = {"type": "tool_result", "tool_use_id": "c", "content": parts}
    bodies: dict[Wire, dict[str, Any]] = {
        "messages": {"messages": [{"role": "user", "content": [result]}, {"role": "user", "content": parts}]},
        "responses": {
            "input": [
                {"type": "function_call_output", "call_id": "c", "output": parts},
                {"role": "user", "content": parts},
            ]
        },
    }
    read = question(wire, {"model": "m", **bodies[wire]})
    assert [message["content"] for message in read.messages] == ["a\nb", "a\nb"]


def test_google_s_own_schemas_are_read_as_json_schema():
    parameters = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    body = {"contents": [], "tools": [{"function_declarations": [{"name": "f", "parameters": parameters}]}]}
    [tool] = question("gemini", body).tools
    assert tool["function"]["parameters"] == {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize("wire", WIRES)
def test_a_path_belongs_to_one_wire(wire: Wire):
    assert wire_of(PATHS[wire]) == wire
    assert wire_of(f"{PATHS[wire]}?beta=true") == wire
    assert WIRE_FORMATS[wire].wire == wire


@pytest.mark.parametrize(
    "path",
    ["/v1/models", "/v1/messages/count_tokens", "/mcp", "/v1beta/models/m:countTokens", "/x/v1/responses"],
)
def test_other_paths_belong_to_none(path: str):
    assert wire_of(path) is None
