"""Mode `fc`: a record as a chat with tools, and native calls back as calls of the record's functions."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.reply_build import item, normal, special, tool
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.judge import channel_of
from wildtool.benchmarks.acebench.native import (
    chat_messages,
    native_names,
    native_tools,
    read_native_calls,
)
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError

FC = ACEBENCH.in_mode("fc")
LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def call(name: Any, arguments: Any) -> dict[str, Any]:
    return {
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]
    }


# Messages --------------------------------------------------------------------------------------------


def test_labelled_lines_become_messages_of_user_and_assistant() -> None:
    assert chat_messages("user: One.\nsystem: Two?\nuser: Three.\n") == [
        {"role": "user", "content": "One."},
        {"role": "assistant", "content": "Two?"},
        {"role": "user", "content": "Three."},
    ]


def test_a_request_holds_the_dialogue_in_its_order_behind_the_system_message() -> None:
    question = "user: One.\nsystem: Two?\nuser: Three.\n"
    first, *dialogue = channel_of("fc").request(normal(question=question)).messages
    assert first["role"] == "system"
    assert [message["content"] for message in dialogue] == ["One.", "Two?", "Three."]


def test_a_line_without_label_continues_its_message() -> None:
    assert chat_messages("user: One,\n\nnote: two.\n") == [{"role": "user", "content": "One,\n\nnote: two."}]


def test_earlier_calls_stay_text_and_join_the_words_behind_them() -> None:
    question = "user: Plan.\nsystem: [plan(km=3)]\nsystem: Planned.\nuser: Longer.\n"
    assert chat_messages(question)[1] == {"role": "assistant", "content": "[plan(km=3)]\nPlanned."}


def test_a_text_without_any_label_is_the_users() -> None:
    assert chat_messages("Do it.") == [{"role": "user", "content": "Do it."}]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_system_message_tells_the_date_and_nothing_of_brackets(lang: str) -> None:
    shown = channel_of("fc").request(normal(lang=lang, time="Today is Friday.")).messages[0]["content"]
    assert shown.endswith("\n\nToday is Friday.")
    assert "ApiName" not in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_preference_record_tells_its_profile(lang: str) -> None:
    assert (
        channel_of("fc")
        .request(normal(lang=lang, profile="{'a': 1}."))
        .messages[0]["content"]
        .endswith("\n{'a': 1}.")
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_special_record_is_told_the_three_messages(lang: str) -> None:
    shown = channel_of("fc").request(special(lang=lang)).messages[0]["content"]
    assert '["Missing necessary parameters (key1, key2, ...) for the api (ApiName)"]' in shown
    assert shown.count('["') == 3


# Tools -----------------------------------------------------------------------------------------------


def parameters(function: dict[str, Any]) -> Any:
    return native_tools([function])[0]["function"]["parameters"]


def test_a_function_becomes_a_tool() -> None:
    assert native_tools([tool("f", a={"type": "string"})]) == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": []},
            },
        }
    ]


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("dict", {"type": "object"}),
        ("float", {"type": "number"}),
        ("list", {"type": "array", "items": {}}),
        ("tuple", {"type": "array", "items": {}}),
        ("array", {"type": "array", "items": {}}),
        ("list(string)", {"type": "array", "items": {"type": "string"}}),
        ("objectArray", {"type": "array", "items": {"type": "object"}}),
        ("enum", {"type": "string"}),
        ("any", {}),
        ("integer", {"type": "integer"}),
    ],
)
def test_types_are_said_as_json_schema_says_them(declared: str, said: dict[str, Any]) -> None:
    assert parameters(tool(a={"type": declared}))["properties"]["a"] == said


def test_types_are_changed_at_every_level() -> None:
    inner = {"type": "dict", "properties": {"x": {"type": "float"}}}
    shown = parameters(tool(a={"type": "list", "items": inner}))["properties"]["a"]
    assert shown["items"] == {"type": "object", "properties": {"x": {"type": "number"}}}


@pytest.mark.parametrize(
    ("written", "said"),
    [(r"^[\w-\.]+@\w$", r"^[\w\-\.]+@\w$"), (r"^\d{3}-\d$", r"^\d{3}-\d$"), (r"^[\w-]+$", r"^[\w-]+$")],
)
def test_a_pattern_is_one_that_pythons_dialect_reads(written: str, said: str) -> None:
    """Endpoints refuse a whole request for `[\\w-.]`: it is not a 'regex'."""
    shown = parameters(tool(a={"type": "string", "pattern": written}))["properties"]["a"]["pattern"]
    assert shown == said
    re.compile(shown)


def test_a_parameter_that_is_called_type_is_no_type() -> None:
    properties = {"type": {"type": "dict"}, "items": {"type": "string"}}
    assert parameters(tool(**properties))["properties"] == {
        "type": {"type": "object"},
        "items": {"type": "string"},
    }


@pytest.mark.parametrize("key", ["arguments", "_arguments"])
def test_a_distractor_is_a_tool_like_any_other(key: str) -> None:
    distractor = {"name": "f", "description": "d", key: {"type": "object"}, "results": {}, "tags": []}
    function = native_tools([distractor])[0]["function"]
    assert function == {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize("given_parameters", [{}, {"type": "dict"}, None, [], {"properties": None}])
def test_parameters_are_always_an_object(given_parameters: Any) -> None:
    shown = parameters({"name": "f", "parameters": given_parameters})
    assert (shown["type"], shown["properties"]) == ("object", {})


def test_the_record_stays_as_it_was() -> None:
    function = tool(a={"type": "list"})
    before = json.dumps(function)
    native_tools([function])
    assert json.dumps(function) == before


# Names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        (["f", "g-1"], ["f", "g-1"]),
        (["a.b", "a b"], ["a_b", "a_b_2"]),
        (["a.b", "a_b"], ["a_b_2", "a_b"]),
        (["f", "f"], ["f", "f_2"]),
        (["f", "f", "f_2"], ["f", "f_3", "f_2"]),
        (["文案分析工具", "水喝_water"], ["function_1", "__water"]),
        (["x" * 65, "x" * 65], ["x" * 64, "x" * 62 + "_2"]),
        ([""], ["function_1"]),
    ],
)
def test_names_are_made_legal_and_different(own: list[str], shown: list[str]) -> None:
    assert native_names([{"name": name} for name in own]) == shown


@given(st.lists(st.text("ab.文_2", max_size=70), max_size=8))
def test_any_names_get_legal_names_of_their_own(own: list[str]) -> None:
    names = native_names([{"name": name} for name in own])
    assert len(set(names)) == len(own)
    assert all(LEGAL.fullmatch(name) for name in names)


# Calls -----------------------------------------------------------------------------------------------


def test_calls_come_back_under_the_records_names() -> None:
    record = normal(functions=(tool("a.b"), tool("a_b")))
    assert read_native_calls(call("a_b_2", '{"x": [1, null]}'), record) == [
        CallExpression("a.b", {"x": [1, None]})
    ]
    assert read_native_calls(call("a_b", "{}"), record) == [CallExpression("a_b", {})]


def test_a_name_that_is_not_offered_stays() -> None:
    assert read_native_calls(call("odd", "{}"), normal()) == [CallExpression("odd", {})]


def test_blank_arguments_are_none() -> None:
    assert read_native_calls(call("f", " "), normal()) == [CallExpression("f", {})]


@pytest.mark.parametrize(
    "arguments", ["{", "[]", '{"a": NaN}', '{"a": 1, "a": 2}', None, {"a": 1}, "[" * 100_000]
)
def test_arguments_that_are_no_json_object_are_unreadable(arguments: Any) -> None:
    with pytest.raises(CallSyntaxError, match="arguments of a tool call"):
        read_native_calls(call("f", arguments), normal())


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"tool_calls": None},
        {"tool_calls": []},
        {"tool_calls": "f"},
        {"tool_calls": {}},
        {"tool_calls": [None]},
        {"tool_calls": [{}]},
        {"tool_calls": [{"function": "f"}]},
        call(None, "{}"),
        {"tool_calls": call("f", "{}")["tool_calls"] * 1001},
    ],
)
def test_what_are_no_calls_is_unreadable(message: dict[str, Any]) -> None:
    with pytest.raises(CallSyntaxError):
        read_native_calls(message, normal())


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["function", "name", "arguments", "id", "x"]), inner, max_size=4
            )
        ),
    )
)
def test_no_reply_raises_anything_else(value: Any) -> None:
    try:
        read_native_calls({"tool_calls": [value]}, normal())
    except CallSyntaxError:
        return
    assert isinstance(value, dict)


def gold(record: Any) -> dict[str, Any]:
    request = FC.rules("official").episode(item(record), "0").request()
    assert request is not None
    assert request.gold is not None
    return request.gold("parallel")


def test_gold_calls_use_the_names_of_the_tools() -> None:
    record = normal({"a.b": {"x": "文"}}, functions=(tool("a.b"),))
    (made,) = gold(record)["tool_calls"]
    assert made["function"] == {"name": "a_b", "arguments": '{"x": "文"}'}
    assert read_native_calls(gold(record), record) == [CallExpression("a.b", {"x": "文"})]


def test_gold_of_a_function_that_stands_twice_calls_the_first() -> None:
    record = normal({"f": {"a": 1}}, functions=(tool("f"), tool("f")))
    assert gold(record)["tool_calls"][0]["function"]["name"] == "f"


def test_gold_of_a_special_record_is_text_without_calls() -> None:
    assert gold(special("special_irrelevant")) == {
        "role": "assistant",
        "content": '["Due to the limitations of the function, I cannot solve this problem."]',
    }
