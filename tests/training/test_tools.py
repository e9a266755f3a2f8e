"""Tools of every layout in OpenAI's shape."""

import json
from typing import Any

import pytest

from training.record_forms import tool
from wildtool.sets.prepare.record import RowError
from wildtool.sets.prepare.tools import NO_TOOLS, FoundTools, TypeText, read_type, tools_from

ANY, TEXT, WHOLE = {}, {"type": "string"}, {"type": "integer"}
NUMBER, LIST, OBJECT = {"type": "number"}, {"type": "array"}, {"type": "object"}


def listed(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        *((word, TEXT) for word in ("str", "String", "text", " str ", "typing.str")),
        *((word, WHOLE) for word in ("int", "integer", "long")),
        *((word, NUMBER) for word in ("float", "double", "decimal", "number")),
        *((word, {"type": "boolean"}) for word in ("bool", "boolean")),
        *((word, LIST) for word in ("list", "array", "tuple", "set", "sequence", "list[]", "list[any]")),
        *(
            (word, OBJECT)
            for word in (
                "dict",
                "object",
                "map",
                "dictionary",
                "Dict[str, int]",
                "Mapping[a, b]",
                "map<a, b>",
            )
        ),
        *((word, ANY) for word in ("any", "none", "null", "callable", "empty", "", "Callable[[a], b]")),
        *(
            (f"{word}[int]", listed(WHOLE))
            for word in ("list", "set", "Sequence", "tuple", "Iterable", "frozenset", "array")
        ),
        ("List<int>", listed(WHOLE)),
        ("typing.List[typing.List[str]]", listed(listed(TEXT))),
        ("Tuple[int, ...]", listed(WHOLE)),
        ("Tuple[int, float]", listed(NUMBER)),
        ("Tuple[float, int]", listed(NUMBER)),
        ("Tuple[int, str]", LIST),
        ("int | float", NUMBER),
        ("Union[str, str]", TEXT),
        ("Union[int, str]", ANY),
        ("list[int] | list[int]", listed(WHOLE)),
        ("Literal['a', 'b|c']", {"enum": ["a", "b|c"]}),
        ("Literal['a|b'] | Literal['a|b']", {"enum": ["a|b"]}),
        ("Literal['[a|b'] | Literal[\"[a|b\"]", {"enum": ["[a|b"]}),
        ('Literal["a]", 2]', {"enum": ["a]", 2]}),
        ('Literal["\'", 2] | Literal["\'", 2]', {"enum": ["'", 2]}),
    ],
)
def test_types_that_a_value_must_have(text: str, schema: dict[str, Any]):
    assert read_type(text) == TypeText(schema, False)


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        *((text, WHOLE) for text in ("int, optional", "int (optional)", "int,Optional ", "Optional[int]")),
        *(
            (text, WHOLE)
            for text in ("int | None", "null | int", "Union[int, None]", "Union[Optional[int], int]")
        ),
        ("None | None", ANY),
        ("Optional[list[int]], optional", listed(WHOLE)),
    ],
)
def test_types_of_a_value_that_may_be_left_out(text: str, schema: dict[str, Any]):
    assert read_type(text) == TypeText(schema, True)


LONG = "x" * 80


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("list[a b]", TypeText(LIST, False, ("a b",))),
        ("tuple[a b, c d]", TypeText(LIST, False, ("a b", "c d"))),
        ("list[Optional[a b]]", TypeText(LIST, False, ("a b",))),
        ("a b | c d | None", TypeText(ANY, True, ("a b", "c d"))),
        ("int |", TypeText(ANY, False, ("int |",))),
        ("Optional[a b]", TypeText(ANY, True, ("a b",))),
        ("Page[int]", TypeText(ANY, False, ("Page[int]",))),
        (f"Page[{LONG}]", TypeText(ANY, False, (f"Page[{LONG[:55]}",))),
        (LONG, TypeText(ANY, False, (LONG[:60],))),
        ("Literal[a b]", TypeText(ANY, False, ("Literal[a b]",))),
        (f"Literal[{LONG} b]", TypeText(ANY, False, (f"Literal[{LONG[:52]}",))),
        ("Literal[-'a']", TypeText(ANY, False, ("Literal[-'a']",))),
    ],
)
def test_words_that_no_rule_knows_are_named(text: str, reading: TypeText):
    assert read_type(text) == reading


def nested(depth: int, inside: str) -> str:
    return "list[" * depth + inside + "]" * depth


def test_types_are_read_down_to_a_depth():
    assert read_type(nested(32, "int")).unknown == ()
    assert read_type(nested(33, "int")).unknown == ("list[int]",)
    assert read_type(nested(31, "int | None")).unknown == ()
    assert read_type(nested(32, "int | None")).unknown == ("int | None",)
    assert read_type("Optional[" * 32 + "int" + "]" * 32) == TypeText(WHOLE, True)
    assert read_type("Optional[" * 33 + "int" + "]" * 33) == TypeText(ANY, True, ("Optional[int]",))
    assert read_type("Union[" * 32 + "int" + "]" * 32) == TypeText(WHOLE, False)
    assert read_type("Union[" * 33 + "int" + "]" * 33) == TypeText(ANY, False, ("Union[int]",))


# Forms of tools --------------------------------------------------------------------------------------

BARE = {"name": "f", "parameters": {"a": "int"}}
F = tool("f", "a", a=WHOLE)


@pytest.mark.parametrize(
    "value",
    [
        BARE,
        [BARE],
        [json.dumps(BARE)],
        json.dumps(BARE),
        json.dumps([BARE]),
        str(BARE),
        str([BARE]),
        {"type": "function", "function": BARE},
        {"name": "f", "arguments": {"a": "int"}},
        {"name": "f", "input_schema": {"a": "int"}},
        {"name": "f", "inputSchema": {"a": "int"}},
        {"name": "f", "parameters": json.dumps({"a": "int"})},
        {"name": "f", "parameters": [{"name": "a", "type": "int"}, {"type": "str"}, "b"]},
        {
            "name": "f",
            "description": None,
            "parameters": {"properties": {"a": {"type": "int"}}, "required": ["a"]},
        },
        {"name": "f", "parameters": {"properties": {"a": "int"}, "type": "Object", "required": ["a", 5]}},
        {
            "name": "f",
            "parameters": {"properties": {"a": {"type": "int"}}, "required": True},
            "required": ["a"],
        },
        {
            "name": "f",
            "parameters": {
                "type": "dict",
                "properties": json.dumps({"a": {"type": "int", "required": True}}),
            },
        },
    ],
)
def test_one_tool_is_read_in_every_form(value: Any):
    assert tools_from(value) == FoundTools((F,), None, ())


@pytest.mark.parametrize("value", [None, "", "  ", [], {}, "[]", [{}]])
def test_what_holds_no_tools_gives_none(value: Any):
    assert tools_from(value) == NO_TOOLS == FoundTools((), None, ())


def test_a_run_of_values_is_a_list():
    g = {"name": "g"}
    both = FoundTools((F, tool("g")), None, ())
    assert tools_from(f"{json.dumps(BARE)}\n, {json.dumps(g)} ") == both
    assert tools_from(f"{json.dumps([BARE])}{json.dumps([g])}") == both


@pytest.mark.parametrize(
    "value",
    [
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"a": "int"}}}},
        [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"a": "int"}}]}],
    ],
)
def test_wrapped_definitions_are_read_and_given_as_found(value: Any):
    found = tools_from(value)
    assert found.tools == (F,)
    assert found.given == tuple(value if isinstance(value, list) else [value])


def test_further_keys_are_given_as_found():
    for entry in (
        {**BARE, "strict": True},
        {"function": {**BARE, "strict": True}},
        {"function": BARE, "x": 1},
    ):
        assert tools_from([{"name": "g"}, entry]) == FoundTools((tool("g"), F), ({"name": "g"}, entry), ())
    every = {
        "type": "function",
        "name": "f",
        "description": "",
        "required": ["a"],
        "parameters": {"type": "object"},
    }
    assert tools_from(every).given is None


def test_a_description_is_a_text():
    assert tools_from({"name": "f", "description": "Does."}).tools == (tool("f", description="Does."),)
    assert tools_from({"name": "f", "description": 5}).tools == (tool("f", description="5"),)


def test_names_of_required_parameters_stay_where_there_are_no_others():
    for empty in ({}, None, "{broken", [], 5):
        entry = {"name": "f", "parameters": empty, "required": ["a", 5]}
        assert tools_from(entry).tools == (tool("f", "a"),)
    assert tools_from({"name": "f", "required": "a"}).tools == (tool("f"),)


def test_a_schema_keeps_what_is_not_typed():
    parameters = {
        "type": "object",
        "properties": {
            "a": {"type": "str, optional", "description": "A.", "required": True, "enum": ["x"]},
            "b": {"type": ["string", "null"], "required": "yes"},
            "c": {"type": 5, "items": {"type": "Literal['x']", "enum": ["y"]}},
            "d": {
                "type": "dict",
                "properties": {"e": {"type": "odd word"}, "f": True, "type": {"type": "int"}},
            },
            "g": True,
            "h": {"items": [1], "properties": 5},
            "i": {"required": False, "type": "Literal[1]", "enum": [2]},
            "j": {"type": "list[int]", "items": {"type": "str"}},
            "k": {"type": "list[int]"},
        },
        "required": ["b"],
        "additionalProperties": False,
        "$defs": {"type": "str"},
    }
    found = tools_from({"name": "f", "parameters": parameters, "required": ["c"]})
    assert found.unknown_types == ("odd word",)
    (read_tool,) = found.tools
    assert read_tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "A.", "enum": ["x"]},
            "b": {"type": ["string", "null"], "required": "yes"},
            "c": {"items": {"enum": ["y"]}},
            "d": {"type": "object", "properties": {"e": {}, "f": True, "type": {"type": "integer"}}},
            "g": True,
            "h": {"items": [1], "properties": 5},
            "i": {"enum": [2]},
            "j": {"type": "array", "items": {"type": "string"}},
            "k": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["b", "a"],
        "additionalProperties": False,
        "$defs": {"type": "str"},
    }


def test_a_flat_map_says_what_is_required():
    flat = {
        "a": "int",
        "b": "int, optional",
        "c": {"type": "int", "default": None},
        "d": {"type": "int", "default": 5, "required": True},
        "e": {"type": "int", "required": False, "description": "E."},
        "f": {"type": "int", "required": "yes"},
        "g": {"type": "Literal['x']", "enum": ["y"]},
        "h": {"type": "Literal['x']"},
        "i": {"type": "list", "items": {"type": "odd word"}},
        "j": {"type": "dict", "properties": {"k": {"type": "str"}}},
        "l": {"type": "another word | None"},
        "m": {"default": 0, "type": "int"},
        "n": 5,
    }
    found = tools_from({"name": "f", "parameters": flat})
    assert found.unknown_types == ("odd word", "another word")
    (read_tool,) = found.tools
    assert read_tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": WHOLE,
            "b": WHOLE,
            "c": WHOLE,
            "d": {**WHOLE, "default": 5},
            "e": {**WHOLE, "description": "E."},
            "f": {**WHOLE, "required": "yes"},
            "g": {"enum": ["y"]},
            "h": {"enum": ["x"]},
            "i": {"type": "array", "items": {}},
            "j": {"type": "object", "properties": {"k": TEXT}},
            "l": {},
            "m": {**WHOLE, "default": 0},
            "n": {},
        },
        "required": ["a", "d", "f", "g", "h", "i", "j", "n"],
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "str", "properties": "int"},
        {"properties": {"a": 5}},
        {"type": "string"},
    ],
)
def test_a_map_whose_names_are_words_of_a_schema_is_flat(parameters: dict[str, Any]):
    (read_tool,) = tools_from({"name": "f", "parameters": parameters}).tools
    assert list(read_tool["function"]["parameters"]["properties"]) == list(parameters)


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (5, "tools must be a list, found 5"),
        (("x" * 300,), f"tools must be a list, found ({'x' * 300!r},)"[:200]),
        (
            "{broken",
            "the tools cannot be read: neither JSON nor a Python literal ('{' was never closed (<unknown>, line 1))",
        ),
        (
            ["{broken"],
            "a tool cannot be read: neither JSON nor a Python literal ('{' was never closed (<unknown>, line 1))",
        ),
        ([["x" * 300]], f"a tool must be an object, found [{'x' * 300!r}]"[:200]),
        ([BARE, {"a": 1}], "entry 2: a tool has no `name`; it has a"),
        ([{"name": ""}], "entry 1: a tool has no `name`; it has name"),
        ([{"name": 5}], "entry 1: a tool has no `name`; it has name"),
        ([{"name": "f", "function": {}}], "entry 1: a tool has no `name`; it has nothing"),
        (
            [{"name": "f", "input_schema": {"b": "int"}, "parameters": {"a": "int"}}],
            "entry 1: tool 'f': both `parameters` and `input_schema` hold parameters, and they differ; keep one of them",
        ),
    ],
)
def test_tools_that_cannot_be_read_say_why(value: Any, detail: str):
    with pytest.raises(RowError) as refused:
        tools_from(value)
    assert (refused.value.reason, refused.value.detail) == ("bad-tools", detail)
