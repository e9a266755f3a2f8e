"""What an agent's message is read as, in text and as native calls, and how native calls and results come back to it."""

from typing import Any

import pytest

from benchmarks.acebench.sandbox_build import edition, record
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode
from wildtool.benchmarks.acebench.episode.fixed_messages import (
    AgentCall,
    AgentMessage,
    message_text,
    read_native_message,
    read_text_message,
)
from wildtool.benchmarks.acebench.native import (
    chat_messages,
    native_gold,
    native_message,
    native_names,
    native_tools,
)
from wildtool.benchmarks.acebench.prompts.own import prompt_texts
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.types import Message, Request


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        (3, ""),
        ("x</think>a</think> b", " b"),
        ([{"text": "a"}, {"type": "image"}, 3, {"text": 4}, {"text": "</think>b"}], "b"),
    ],
)
def test_the_text_of_a_message_is_what_follows_its_thoughts(content: Any, text: str) -> None:
    assert message_text({"content": content}) == text
    assert message_text({}) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[f(a=1), g()]", AgentMessage("[f(a=1), g()]", (AgentCall("f", {"a": 1}), AgentCall("g", {})))),
        ("f(a=1)", AgentMessage("f(a=1)", (AgentCall("f", {"a": 1}),))),
        ("Hello [f()]", AgentMessage("Hello [f()]")),
        ("[f()] Hello", AgentMessage("[f()] Hello")),
        (" [5] ", AgentMessage(" [5] ", fault="not a call but Constant")),
        ("[]", AgentMessage("[]", fault="no call")),
        ("", AgentMessage("")),
    ],
)
def test_a_text_is_calls_or_prose_as_a_whole(text: str, message: AgentMessage) -> None:
    found = read_text_message({"content": text})
    assert found == message
    assert found.is_for_sandbox == bool(message.calls or message.fault)
    assert found.as_text() == text


def test_at_most_so_many_calls_of_a_message_are_read() -> None:
    counts = (100, 101)
    texts = [f"[{', '.join(['f()'] * count)}]" for count in counts]
    assert [len(read_text_message({"content": text}).calls) for text in texts] == [100] * 2
    native = [{"tool_calls": [{"function": {"name": "f"}}] * count} for count in counts]
    assert [len(read_native_message(reply).calls) for reply in native] == [100] * 2


def call(**parts: Any) -> dict[str, Any]:
    return {"id": "i", "type": "function", "x": 1, "function": {"name": "f", "arguments": '{"a": 1}'}} | parts


def wire_call(name: Any = "f", arguments: Any = "{}", id_: str = "i") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("entry", "read", "repeated"),
    [
        (call(), AgentCall("f", {"a": 1}, "", "i"), call()),
        (call(id=""), AgentCall("f", {"a": 1}, "", "call_1"), wire_call("f", '{"a": 1}', "call_1")),
        (call(id=3), AgentCall("f", {"a": 1}, "", "call_1"), wire_call("f", '{"a": 1}', "call_1")),
        (wire_call("f", ""), AgentCall("f", {}, "", "i"), wire_call("f", "")),
        (
            wire_call("f", None),
            AgentCall("f", {}, "the arguments are of type NoneType, expected a text", "i"),
            wire_call(),
        ),
        (
            wire_call("f", {}),
            AgentCall("f", {}, "the arguments are of type dict, expected a text", "i"),
            wire_call(),
        ),
        (wire_call(3), AgentCall("", {}, "no name of a tool", "i"), wire_call("unknown")),
        (wire_call(""), AgentCall("", {}, "no name of a tool", "i"), wire_call("")),
        ({}, AgentCall("", {}, "no name of a tool", "call_1"), wire_call("unknown", id_="call_1")),
        (None, AgentCall("", {}, "no name of a tool", "call_1"), wire_call("unknown", id_="call_1")),
    ],
)
def test_a_native_call_is_repeated_as_received_or_made_whole(
    entry: Any, read: AgentCall, repeated: dict[str, Any]
) -> None:
    message = read_native_message({"content": "go", "tool_calls": [call(), entry]})
    assert message.calls == (AgentCall("f", {"a": 1}, "", "i"), read)
    assert message.as_sent == {"role": "assistant", "content": "go", "tool_calls": [call(), repeated]}
    assert (message.text, message.fault, message.is_for_sandbox) == ("go", "", True)


def test_native_arguments_that_cannot_be_read_are_a_fault_and_are_repeated() -> None:
    broken = wire_call("f", "{")
    message = read_native_message({"content": 3, "tool_calls": [broken], "provider_content": ["x"]})
    ((found,), sent) = message.calls, message.as_sent
    assert (found.name, found.arguments, bool(found.fault), found.id) == ("f", {}, True, "i")
    assert sent == {"role": "assistant", "content": None, "tool_calls": [broken], "provider_content": ["x"]}
    assert message.as_text() == "[f()]"
    for calls in (None, [], "x"):
        assert read_native_message({"content": "a", "tool_calls": calls}) == AgentMessage("a")


def native(*calls: Message, content: str | None = None) -> Message:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def test_an_agent_with_native_calls_reads_a_chat_with_each_result_under_its_id() -> None:
    function = {"name": "turn_on_wifi", "description": "", "parameters": {"type": "object", "properties": {}}}
    for kind, name in (
        (FixedMultiStepEpisode, "native_multi_step"),
        (FixedMultiTurnEpisode, "native_multi_turn"),
    ):
        episode = kind(record(), edition(), native=True)
        talks = kind is FixedMultiTurnEpisode
        if talks:
            episode.advance({"content": "Wifi, please."})
        both = native(wire_call("turn_on_wifi", "{}", "a"), wire_call("gone", "{}", "b"), content="On it.")
        episode.advance(both)
        episode.advance({"content": "Hm."})
        if talks:
            episode.advance({"content": "Well?"})
        request = episode.request()
        assert isinstance(request, Request)
        system, *chat = request.messages
        texts = prompt_texts("en")
        rules = [texts["phone_rules"]] if talks else []
        assert system == {"role": "system", "content": "\n\n".join([texts[name], *rules])}
        assert chat == [
            {"role": "user", "content": "Wifi, please." if talks else "Turn on the wifi."},
            both,
            {
                "role": "tool",
                "tool_call_id": "a",
                "content": '{"status": true, "message": "BaseApi.turn_on_wifi.ok"}',
            },
            {
                "role": "tool",
                "tool_call_id": "b",
                "content": texts["unknown"].format(name="gone", tools="turn_on_wifi"),
            },
            {"role": "assistant", "content": "Hm."},
            {"role": "user", "content": "Well?" if talks else texts["nobody"]},
        ]
        assert request.tools == [{"type": "function", "function": function}]
        assert request.in_text is None
        assert episode.process == ["[turn_on_wifi(), gone()]"]


def test_gold_of_an_episode_is_its_next_message_and_then_the_end() -> None:
    texts = ("[turn_on_wifi(), login_device()]", "[login_device()]", "words")
    for is_native in (False, True):
        episode = FixedMultiStepEpisode(record(*texts), edition(), native=is_native)
        golds: list[Message] = []
        for _ in range(4):
            request = episode.request()
            assert isinstance(request, Request) and request.gold is not None
            golds.append(request.gold("any"))
            episode.advance(golds[-1])
        calls = [CallExpression("turn_on_wifi", {}), CallExpression("login_device", {})]
        plain = [{"role": "assistant", "content": text} for text in (*texts, "finish conversation")]
        made_calls = [native_message(calls), native_message(calls[1:], 2)]
        assert golds == ([*made_calls, *plain[2:]] if is_native else plain)
        assert episode.done


# Native tools ----------------------------------------------------------------------------------------


def test_a_transcript_is_a_chat_whose_lines_without_a_label_go_on() -> None:
    assert chat_messages("user: One,\ntwo\nuser:three\nsystem: [f()]\nsystem: user: x\nuser: \n\n") == [
        {"role": "user", "content": "One,\ntwo\nthree"},
        {"role": "assistant", "content": "[f()]\nuser: x"},
        {"role": "user", "content": ""},
    ]
    assert chat_messages("No label\nuser: x") == [{"role": "user", "content": "No label\nx"}]
    assert chat_messages("") == [{"role": "user", "content": ""}]


def test_names_that_endpoints_refuse_are_made_legal_and_unlike() -> None:
    names = ["a b", "a_b", "a_b", "a.b", "查", "x" * 70, "x" * 64, "!", "function_8", "f"]
    assert native_names([{"name": name} for name in names]) == [
        "a_b_2",
        "a_b",
        "a_b_3",
        "a_b_4",
        "function_5",
        "x" * 62 + "_2",
        "x" * 64,
        "function_8_2",
        "function_8",
        "f",
    ]


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float", "minimum": 1}, {"type": "number", "minimum": 1}),
        ({"type": "enum", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": "list"}, {"type": "array", "items": {}}),
        ({"type": "tuple", "items": {"type": "dict"}}, {"type": "array", "items": {"type": "object"}}),
        ({"type": "list(string)"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "list(enum)"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "objectArray"}, {"type": "array", "items": {"type": "object"}}),
        ({"type": "colour", "x": 1}, {"x": 1}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "pattern": r"[\d-x]"}, {"type": "string", "pattern": r"[\d\-x]"}),
        ({"type": "string", "pattern": r"[a-z]"}, {"type": "string", "pattern": r"[a-z]"}),
        (
            {"additionalProperties": {"type": "float"}, "patternProperties": {"a": {"type": "dict"}}},
            {"additionalProperties": {"type": "number"}, "patternProperties": {"a": {"type": "object"}}},
        ),
        ({"additionalProperties": False, "items": [1]}, {"additionalProperties": False, "items": [1]}),
        (3, {}),
    ],
)
def test_a_schema_is_said_in_json_schemas_types_at_every_level(written: Any, schema: Any) -> None:
    function = {
        "name": "f",
        "parameters": {"type": "dict", "properties": {"p": {"properties": {"q": written}}}},
    }
    (tool,) = native_tools([function])
    assert tool == {
        "type": "function",
        "function": {
            "name": "f",
            "description": "",
            "parameters": {"type": "object", "properties": {"p": {"properties": {"q": schema}}}},
        },
    }


def test_a_tool_has_its_parameters_wherever_they_are() -> None:
    inside = {"properties": {"a": {}}}
    shown = {"type": "object", "properties": {"a": {}}}
    empty = {"type": "object", "properties": {}}
    functions: list[dict[str, Any]] = [
        {"name": "a", "description": 3, "parameters": inside, "arguments": {}},
        {"name": "b", "arguments": inside},
        {"name": "c", "_arguments": inside},
        {"name": "d"},
        {"name": "e", "parameters": {"properties": 3}},
    ]
    tools = [tool["function"] for tool in native_tools(functions)]
    assert [tool["parameters"] for tool in tools] == [shown, shown, shown, empty, empty]
    assert [tool["description"] for tool in tools] == ["3", "", "", "", ""]


def test_gold_calls_have_the_names_of_the_tools() -> None:
    functions = [{"name": "a b"}, {"name": "a b"}, {"name": "c"}]
    calls = [CallExpression("a b", {"ü": 1}), CallExpression("c", {}), CallExpression("gone", {})]
    assert native_gold(calls, functions) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            wire_call("a_b", '{"ü": 1}', "call_0"),
            wire_call("c", "{}", "call_1"),
            wire_call("gone", "{}", "call_2"),
        ],
    }
