"""What schemas say of values: types, branches, members and the places inside arguments."""

from typing import Any

import pytest

from wildtool.toolcall.schema import (
    argument_parts,
    branch_for,
    enum_of,
    fits_types,
    member_schemas,
    path_text,
    required_names,
    schema_types,
)
from wildtool.toolcall.text.json_in_text import MAX_PLACES, objects_in


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": "float"}, {"number"}),
        ({"type": "dict"}, {"object"}),
        ({"type": ["integer", "null", 5, "oops"]}, {"integer", "null"}),
        ({"type": "oops"}, set()),
        ({"type": []}, set()),
        ({"type": 5}, set()),
        ({}, set()),
    ],
)
def test_types_of_a_schema(schema: dict[str, Any], types: set[str]) -> None:
    assert schema_types(schema) == types


VALUES: list[Any] = [True, 5, 5.0, 5.5, "5", None, [5], {"a": 5}]


@pytest.mark.parametrize(
    ("types", "fitting"),
    [
        ([], VALUES),
        (["boolean"], [True]),
        (["number"], [5, 5.0, 5.5]),
        (["integer"], [5, 5.0]),
        (["string"], ["5"]),
        (["null"], [None]),
        (["array"], [[5]]),
        (["object"], [{"a": 5}]),
        (["string", "null"], ["5", None]),
    ],
)
def test_values_that_fit_types(types: list[str], fitting: list[Any]) -> None:
    fits = [value for value in VALUES if fits_types(value, frozenset(types))]
    assert [(type(value), value) for value in fits] == [(type(value), value) for value in fitting]


def test_the_first_branch_that_allows_gold_is_merged() -> None:
    branches: list[Any] = [
        5,
        {"type": "integer"},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "x": 1},
    ]
    schema = {"anyOf": branches, "description": "d"}
    # What is no schema allows everything.
    assert branch_for(1, schema) == {**schema}
    assert branch_for(1, {**schema, "anyOf": branches[1:]}) == {
        **schema,
        "anyOf": branches[1:],
        "type": "integer",
    }
    either = {"oneOf": branches[1:]}
    assert branch_for("a", either) == {**either, "type": "string", "enum": ["a"]}
    assert branch_for("b", either) == {**either, "type": "string", "x": 1}
    assert branch_for(None, either) is either
    assert branch_for("b", {"anyOf": [], "oneOf": branches[3:]})["x"] == 1
    assert branch_for(1, {}) == {}


def test_members_enums_and_required_names_are_lists_or_nothing() -> None:
    assert member_schemas({"properties": {"a": {"type": "string"}, "b": 5}}) == {
        "a": {"type": "string"},
        "b": {},
    }
    assert member_schemas({}) == {}
    assert [enum_of(schema) for schema in ({"enum": [1]}, {"enum": "x"}, {})] == [[1], [], []]
    assert [required_names(schema) for schema in ({"required": ["a"]}, {"required": "a"}, {})] == [
        ["a"],
        [],
        [],
    ]


def test_parts_of_arguments_come_from_the_outside_in_with_their_schemas() -> None:
    city = {"type": "string"}
    stop = {"properties": {"city": city}}
    schema = {"properties": {"stops": {"items": stop}, "n": {"type": "integer"}}}
    arguments = {"stops": [{"city": "Oslo", "odd": 1}], "n": 2, "more": [3]}
    parts = list(argument_parts(arguments, schema))
    assert parts == [
        (("stops",), [{"city": "Oslo", "odd": 1}], {"items": stop}),
        (("stops", 0), {"city": "Oslo", "odd": 1}, stop),
        (("stops", 0, "city"), "Oslo", city),
        (("stops", 0, "odd"), 1, {}),
        (("n",), 2, {"type": "integer"}),
        (("more",), [3], {}),
        (("more", 0), 3, {}),
    ]
    assert [path_text(path) for path, _, _ in parts[:3]] == ["stops", "stops[0]", "stops[0].city"]
    assert path_text(()) == ""


def test_objects_in_a_text_are_found_with_inner_ones_up_to_a_number_of_places() -> None:
    assert list(objects_in('a {"b": {"c": 1}} {oops} {"d": "x\ny"}')) == [
        {"b": {"c": 1}},
        {"c": 1},
        {"d": "x\ny"},
    ]
    assert list(objects_in("none")) == []
    assert list(objects_in("{}")) == [{}]
    assert len(list(objects_in("{}" * (MAX_PLACES + 1)))) == MAX_PLACES
    assert list(objects_in("{" * (MAX_PLACES - 1) + '{"a": 1}')) == [{"a": 1}]
    assert list(objects_in("{" * MAX_PLACES + '{"a": 1}')) == []
