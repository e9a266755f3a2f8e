"""Values in tags are written so that they are read back, and read by the types that their tools declare."""

from typing import Any

import pytest

from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.tool_formats.tags import (
    declared_types,
    is_unquoted_text,
    parameter_types,
    parse_tag_value,
    quoted_name,
    read_name,
    schema_type_names,
    schemas_by_tool,
    tag_value_text,
)
from wildtool.types import Tool

MARKS = ("</v>", "<v")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x y", "x y"),
        ("", ""),
        ("a < b", "a < b"),
        (" x", '" x"'),
        ("x\n", '"x\\n"'),
        ("a</v>", '"a\\u003c/v>"'),
        ("a<v b", '"a\\u003cv b"'),
        ("a</think>b", '"a\\u003c/think>b"'),
        ("5", '"5"'),
        ("null", '"null"'),
        ("[1]", '"[1]"'),
        ("[1", "[1"),
        (5, "5"),
        (None, "null"),
        ({"a": "<b>"}, '{"a":"\\u003cb>"}'),
    ],
)
def test_a_value_is_a_text_without_quotes_only_where_it_is_read_back_as_one(value: Any, text: str) -> None:
    assert tag_value_text(value, MARKS) == text
    assert is_unquoted_text(value, MARKS) is (text == value)
    assert parse_tag_value(text, frozenset(), []) == value


STRING, NOTHING = frozenset({"string"}), frozenset[str]()


@pytest.mark.parametrize(
    ("text", "declared", "value", "repairs"),
    [
        ("5", NOTHING, 5, []),
        ("5", STRING, "5", []),
        ("5", frozenset({"integer"}), 5, []),
        ("5", frozenset({"string", "integer"}), "5", []),
        ('"5"', STRING, "5", []),
        ("null", STRING, "null", []),
        ("null", frozenset({"string", "null"}), None, []),
        ("[1]", STRING, "[1]", []),
        ("x", NOTHING, "x", []),
        ("x", STRING, "x", []),
        ("True", NOTHING, "True", []),
        ("True", STRING, "True", []),
        (" True ", frozenset({"boolean"}), True, ["python-literal"]),
        ("False", frozenset({"integer"}), False, ["python-literal"]),
        ("None", frozenset({"null"}), None, ["python-literal"]),
        ("yes", frozenset({"boolean"}), "yes", []),
        ("{'a': 1}", NOTHING, "{'a': 1}", []),
        ("{'a': 1}", frozenset({"integer"}), "{'a': 1}", []),
        ("{'a': 1}", frozenset({"object"}), {"a": 1}, ["single-quotes"]),
        ("[1,]", frozenset({"array", "null"}), [1], ["trailing-comma"]),
        ("[1,] x", frozenset({"array"}), "[1,] x", []),
        ("[1, 2", frozenset({"array"}), "[1, 2", []),
        ("[1,]", frozenset({"array", "string"}), "[1,]", []),
    ],
)
def test_a_text_is_read_by_its_declared_types(
    text: str, declared: frozenset[str], value: Any, repairs: list[str]
) -> None:
    mended: list[str] = []
    read = parse_tag_value(text, declared, mended)
    assert (read, type(read), mended) == (value, type(value), repairs)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null", 5]}, {"string", "null"}),
        ({"type": "string", "anyOf": [{"type": "null"}]}, {"string"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"oneOf": [{"type": "string"}]}, {"string"}),
        ({"anyOf": [{"type": "string"}], "oneOf": [{"type": "null"}]}, {"string"}),
        ({"anyOf": [{"type": "string"}, {}]}, set()),
        ({"anyOf": [{"type": "string"}, 5]}, set()),
        ({"anyOf": 5, "oneOf": [{"type": "null"}]}, set()),
        ({"anyOf": []}, set()),
        ({}, set()),
        (None, set()),
    ],
)
def test_the_types_of_a_schema(schema: Any, types: set[str]) -> None:
    assert schema_type_names(schema) == types


def test_tools_declare_the_types_of_their_parameters() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {}}}
    tools: list[Tool] = [
        {"function": {"name": "f", "parameters": schema}},
        {"function": {"name": "g", "parameters": 5}},
        {"function": {"name": "h"}},
        {"function": {"name": 5, "parameters": schema}},
        {"function": 5},
    ]
    assert schemas_by_tool(tools) == {"f": schema, "g": 5, "h": None}
    types = declared_types(tools)
    assert types == {"f": {"a": {"string"}, "b": set()}, "g": {}, "h": {}}
    assert [parameter_types(types, *place) for place in (("f", "a"), ("f", "c"), ("k", "a"))] == [
        {"string"},
        set(),
        set(),
    ]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (" f ", "f"),
        ('"f g"', "f g"),
        ("'f g'", "f g"),
        ('"f', "f"),
        ('"5"', "5"),
        ("5", "5"),
        ('"a\\u003cb"', "a<b"),
        ("", ""),
    ],
)
def test_a_name_may_stand_in_quotes(written: str, name: str) -> None:
    assert read_name(written) == name


def test_a_name_in_quotes_ends_no_tag() -> None:
    assert quoted_name('a<b>"c"') == '"a\\u003cb\\u003e\\"c\\""'
    assert read_name(quoted_name('a<b>"c"')) == 'a<b>"c"'


def tagged(*arguments: str, name: str = "f", end: str = "</function>\n</tool_call>") -> str:
    return f"<tool_call>\n<function={name}>\n{''.join(arguments)}{end}"


@pytest.mark.parametrize(
    ("text", "calls", "kept", "repairs"),
    [
        # Values have their own lines, one of which counts at either end.
        (tagged("<parameter=a>\n\n x \n\n</parameter>\n"), [("f", {"a": "\n x \n"})], "", ""),
        (tagged("<parameter=a>x</parameter>"), [("f", {"a": "x"})], "", ""),
        (tagged("<parameter=n>\nTrue\n</parameter>"), [("f", {"n": True})], "", ""),
        (tagged("<parameter=o>\n[True]\n</parameter>"), [("f", {"o": [True]})], "", "python-literal"),
        (
            tagged("<parameter=a>x<parameter=n>1</parameter>"),
            [("f", {"a": "x", "n": 1})],
            "",
            "missing-close-tag",
        ),
        (tagged("<parameter=a>x"), [("f", {"a": "x"})], "", "missing-close-tag"),
        (tagged("<parameter=a>x", end=""), [], "=", "unreadable-call"),
        (
            tagged("<parameter=a>x</parameter>", end=""),
            [("f", {"a": "x"})],
            "",
            "missing-close-tag missing-close-tag",
        ),
        (tagged(end="</tool_call> b"), [("f", {})], "b", "missing-close-tag"),
        (tagged(end=" b</function>"), [], "=", "unreadable-call"),
        (tagged(name='"g h"'), [("g h", {})], "", ""),
        (f"a {tagged()}{tagged(name='g')} b", [("f", {}), ("g", {})], "a  b", ""),
        (tagged(end="</function><function=g></function></tool_call>"), [("f", {}), ("g", {})], "", ""),
        ("<function=f></function>", [("f", {})], "", "missing-open-tag missing-close-tag"),
        ("<function=f></function></tool_call>", [("f", {})], "", "missing-open-tag"),
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', [("f", {})], "", "json-in-tag"),
        ("<tool_call>oops</tool_call> b", [], "=", "unreadable-call"),
        (f"<tool_call>oops {tagged()}", [("f", {})], "<tool_call>oops", "unreadable-call"),
    ],
)
def test_calls_in_tags_are_taken_out_of_a_text(
    text: str, calls: list[tuple[str, Any]], kept: str, repairs: str
) -> None:
    types = {"a": "string", "n": "boolean", "o": "array"}
    properties = {key: {"type": kind} for key, kind in types.items()}
    tools: list[Tool] = [{"function": {"name": "f", "parameters": {"properties": properties}}}]
    read = CALL_FORMATS["qwen3-coder"].read(text, tools)
    assert read.calls == tuple(ToolCall(*call) for call in calls)
    assert (read.text, " ".join(read.repairs)) == (text if kept == "=" else kept, repairs)


M = "]<]minimax[>["


def nested(inner: str) -> str:
    return f'{M}<tool_call>\n{M}<invoke name="f">{inner}{M}</invoke>\n{M}</tool_call>'


@pytest.mark.parametrize(
    ("inner", "arguments", "repairs"),
    [
        (f"{M}<a>1{M}</a>", {"a": "1"}, ""),
        (f"{M}<n>1{M}</n>", {"n": 1}, ""),
        (f'{M}<parameter name="a b">x{M}</parameter>', {"a b": "x"}, ""),
        (f"{M}<o>{M}<k>1{M}</k>{M}</o>", {"o": {"k": "1"}}, ""),
        (f"{M}<l>{M}<item>1{M}</item>{M}<item>2{M}</item>{M}</l>", {"l": ["1", "2"]}, ""),
        (f"{M}<l>{M}<item>1{M}</item>{M}<k>2{M}</k>{M}</l>", {"l": {"item": "1", "k": 2}}, ""),
        (f"{M}<item>1{M}</item>", {"item": 1}, ""),
        (f"{M}<a>x</a>{M}<n>1{M}</n>", {"a": "x", "n": 1}, ""),
        (f"{M}<a>x{M}<n>1{M}</n>", {"a": "x", "n": 1}, "missing-close-tag"),
        ("", {}, ""),
    ],
)
def test_arguments_in_tags_of_their_names_may_be_nested(inner: str, arguments: Any, repairs: str) -> None:
    strings = {"type": "string"}
    properties = {
        "a": strings,
        "n": {"type": "integer"},
        "o": {"properties": {"k": strings}},
        "l": {"items": strings},
    }
    tools: list[Tool] = [{"function": {"name": "f", "parameters": {"properties": properties}}}]
    read = CALL_FORMATS["minimax-m3"].read(nested(inner), tools)
    assert (read.calls, read.text, " ".join(read.repairs)) == ((ToolCall("f", arguments),), "", repairs)
