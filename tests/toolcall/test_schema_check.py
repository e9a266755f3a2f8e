"""Definitions of tools, and gold arguments, are refused for every fault, and each is named with its place."""

from collections.abc import Callable
from typing import Any

import pytest

from wildtool.toolcall.schema_check import argument_faults, function_faults, shorten
from work import growth

FUNCTION: dict[str, Any] = {
    "name": "bad name",
    "description": " ",
    "parameters": {
        "type": "object",
        "properties": {
            "a": {"type": "number", "description": "x"},
            "b": {"type": "text"},
            "c": {"type": "string", "enum": [], "description": ""},
            "d": {"type": "integer", "enum": [1, 2, 1, True, "x", 1.0], "description": 5},
            "e": {"type": "object", "description": "x"},
            "e2": {"type": "object", "description": "x", "additionalProperties": True},
            "f": {"type": "array", "description": "x", "items": {"type": "oops"}},
            "g": {"anyOf": [], "description": "x"},
            "h": {"anyOf": [{"type": "string"}, {"type": "nope"}, 5], "description": "x"},
            "i": {
                "type": "object",
                "description": "x",
                "properties": {"properties": {"type": "string", "description": "y"}, "z": {"type": "float"}},
                "required": ["z", "q"],
            },
            "j": 7,
            "k": {"type": "object", "description": "x", "properties": [], "required": "a"},
            "l": {"type": ["string"], "description": "x"},
            "m": {"type": "array", "description": "x"},
            "n": {"type": "float", "enum": [1, 2.5, True], "description": "x"},
            "o": {"type": "q", "enum": [1, 2.5, True], "description": "x"},
        },
        "required": ["a", 3, "zz"],
    },
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "u": {},
        "i": {"type": "integer"},
        "f": {"type": "float"},
        "b": {"type": "boolean"},
        "n": {"type": "null"},
        "e": {"type": "string", "enum": ["x", "y"]},
        "l": {"type": "array", "items": {"type": "integer"}},
        "l2": {"type": "array"},
        "o": {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]},
        "o2": {"type": "object", "additionalProperties": True},
        "any": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]},
        "any0": {"anyOf": []},
        "t": {"type": ["string"]},
        "q": {"type": "weird"},
    },
    "required": ["s", "zz"],
}


def test_every_fault_of_a_definition_is_named() -> None:
    assert list(function_faults(FUNCTION)) == [
        ("name", "'bad name' cannot be the name of a tool"),
        ("description", "expected a description"),
        ("parameters.required", "3 is required but not a property, which nothing can satisfy (Q39)"),
        ("parameters.required", "'zz' is required but not a property, which nothing can satisfy (Q39)"),
        ("parameters.properties.a.type", "the format writes decimals as `float`, not `number`"),
        (
            "parameters.properties.b.type",
            "expected one of string, integer, float, boolean, array, object, null; found 'text'",
        ),
        ("parameters.properties.c.enum", "expected a non-empty list"),
        ("parameters.properties.d.enum[2]", "1 occurs twice"),
        ("parameters.properties.d.enum[3]", "True is not of type integer"),
        ("parameters.properties.d.enum[4]", "'x' is not of type integer"),
        ("parameters.properties.d.enum[5]", "1.0 is not of type integer"),
        (
            "parameters.properties.e",
            "an object must list its properties; a free-form one accepts only {} (Q38)",
        ),
        (
            "parameters.properties.f.items.type",
            "expected one of string, integer, float, boolean, array, object, null; found 'oops'",
        ),
        ("parameters.properties.g.anyOf", "expected a non-empty list of schemas (Q46)"),
        (
            "parameters.properties.h.anyOf[1].type",
            "expected one of string, integer, float, boolean, array, object, null; found 'nope'",
        ),
        ("parameters.properties.h.anyOf[2]", "expected a schema object"),
        (
            "parameters.properties.i.required",
            "'q' is required but not a property, which nothing can satisfy (Q39)",
        ),
        (
            "parameters.properties.i.properties.properties",
            "a parameter of this name breaks the official comparison (Q47)",
        ),
        ("parameters.properties.j", "expected a schema object"),
        ("parameters.properties.k.properties", "expected an object of parameter schemas"),
        ("parameters.properties.k.required", "expected a list of parameter names, found 'a' (Q48)"),
        (
            "parameters.properties.l.type",
            "expected one of string, integer, float, boolean, array, object, null; found ['string']",
        ),
        ("parameters.properties.n.enum[2]", "True is not of type float"),
        (
            "parameters.properties.o.type",
            "expected one of string, integer, float, boolean, array, object, null; found 'q'",
        ),
        ("parameters.properties.b.description", "expected a description"),
        ("parameters.properties.c.description", "expected a description"),
        ("parameters.properties.d.description", "expected a description"),
        ("parameters.properties.i.properties.z.description", "expected a description"),
    ]


def test_a_sound_definition_has_no_faults() -> None:
    parameters = {
        "type": "object",
        "properties": {"e": {"type": "string", "description": "x", "enum": ["a"]}},
    }
    assert list(function_faults({"name": "a" * 64, "description": "x", "parameters": parameters})) == []
    assert (
        list(function_faults({"name": "a.B-9_", "description": "x", "parameters": {"type": "object"}})) == []
    )


def test_a_definition_without_parameters_is_looked_at_no_further() -> None:
    function = {"name": "a" * 65, "parameters": {"type": "string"}}
    assert list(function_faults(function)) == [
        ("name", f"'{'a' * 65}' cannot be the name of a tool"),
        ("description", "expected a description"),
        ("parameters", "expected a schema of type `object`"),
    ]


@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        (
            {
                "s": 1,
                "u": 1,
                "i": True,
                "f": True,
                "b": 1,
                "n": 0,
                "e": "z",
                "l": [1, "2", 3.0, True],
                "l2": ["a"],
                "o": {"r": 1},
                "o2": {"r": 1},
                "any": "none",
                "any0": 1,
                "t": 5,
                "q": 5,
                "new": 1,
            },
            [
                ("zz", "a required argument is missing"),
                ("s", "expected type string, found 1"),
                ("u", "expected type string, found 1"),
                ("i", "expected type integer, found True"),
                ("f", "expected type float, found True"),
                ("b", "expected type boolean, found 1"),
                ("n", "expected type null, found 0"),
                ("e", "'z' is not in the enum ['x', 'y']"),
                ("l[1]", "expected type integer, found '2'"),
                ("l[2]", "expected type integer, found 3.0"),
                ("l[3]", "expected type integer, found True"),
                ("o.p", "a required argument is missing"),
                ("o.r", "the schema does not define this argument"),
                ("any", "expected type integer, found 'none'"),
                ("any0", "expected type string, found 1"),
                ("new", "the schema does not define this argument"),
            ],
        ),
        (
            {
                "s": "",
                "u": "x",
                "i": 1,
                "f": 1,
                "b": False,
                "n": None,
                "e": "x",
                "l": [],
                "o": {"p": "x"},
                "any": "all",
                "zz": 1,
            },
            [("zz", "the schema does not define this argument")],
        ),
        ({"any": 3}, [("s", "a required argument is missing"), ("zz", "a required argument is missing")]),
        ([1], [("", "expected type object, found [1]")]),
    ],
)
def test_every_fault_of_gold_arguments_is_named(arguments: Any, faults: list[tuple[str, str]]) -> None:
    assert list(argument_faults(arguments, SCHEMA)) == faults


def test_further_names_are_allowed_inside_arguments_only() -> None:
    free, fault = {"type": "object", "additionalProperties": True}, "the schema does not define this argument"
    assert list(argument_faults({"a": 1}, free)) == [("a", fault)]
    assert list(argument_faults({"a": 1}, free, "x")) == []
    assert list(argument_faults({"a": 1}, {"type": "object"}, "x")) == [("x.a", fault)]


def test_a_value_is_shown_up_to_80_characters() -> None:
    assert shorten("x" * 78) == f"'{'x' * 78}'"
    assert shorten("x" * 79) == f"'{'x' * 76}..."


@pytest.mark.parametrize(
    "member", [str, lambda k: [k], lambda k: {"a": k}], ids=["texts", "lists", "objects"]
)
def test_an_enum_of_many_members_is_checked_in_linear_work(member: Callable[[int], Any]):
    def checked(count: int) -> Callable[[], object]:
        colour = {"type": "string", "description": "x", "enum": [member(k) for k in range(count)]}
        parameters = {"type": "object", "properties": {"colour": colour}}
        return lambda: list(function_faults({"name": "f", "description": "x", "parameters": parameters}))

    assert growth(checked, 1_000) < 2.5


def test_a_fault_shows_only_the_beginning_of_a_long_enum():
    schema = {"type": "string", "enum": [f"v{k}" for k in range(1_000)]}
    assert [message for _, message in argument_faults("w", schema)] == [
        f"'w' is not in the enum {shorten(schema['enum'][:30])}"
    ]
