"""Definitions of tools: what is unclear in them is named, and values are held to what they say."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.tools.schema.constraints import constraint_faults, pattern_problem
from wildtool.tools.schema.definitions import call_problems, definition_faults, duplicate_names

GOOD: dict[str, Any] = {
    "name": "bookTable",
    "description": "Books a table at a restaurant.",
    "parameters": {
        "type": "object",
        "properties": {
            "code": {
                "type": "string",
                "description": "Code of the restaurant.",
                "pattern": "^[A-Z]{2}\\d{4}$",
            },
            "area": {"type": "string", "description": "Where to sit.", "enum": ["inside", "garden"]},
            "guests": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 12},
            "day": {"type": "string", "description": "The day.", "format": "date"},
            "wishes": {"type": "array", "description": "Wishes.", "items": {"type": "string"}, "maxItems": 2},
            "contact": {
                "type": "object",
                "description": "Whom to call.",
                "properties": {"phone": {"type": "string", "description": "Phone number."}},
                "required": ["phone"],
            },
        },
        "required": ["code", "guests"],
    },
}


def rules(function: Any) -> set[str]:
    return {fault.rule for fault in definition_faults(function)}


def test_a_clear_definition_has_no_fault():
    assert definition_faults(GOOD) == []


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("date", r"^\d{4}-\d{2}-\d{2}$"),
        ("time", r"^([01]\d|2[0-3]):[0-5]\d$"),
        ("date-time", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"),
        ("ipv4", r"^(\d{1,3}\.){3}\d{1,3}$"),
        ("uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    ],
)
def test_a_pattern_may_say_what_a_format_says(form: str, pattern: str):
    assert definition_faults(edited(lambda f, p: p["day"].update(format=form, pattern=pattern))) == []


def edited(change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> dict[str, Any]:
    function = copy.deepcopy(GOOD)
    change(function, function["parameters"]["properties"])
    return function


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda f, p: f.update(name="book table"), "D1"),
        (lambda f, p: f.update(parameters=[]), "D1"),
        (lambda f, p: f["parameters"].update(type="array", items={"type": "string"}), "D1"),
        (lambda f, p: f.update(description=" "), "D2"),
        (lambda f, p: p["area"].pop("description"), "D2"),
        (lambda f, p: p["contact"]["properties"]["phone"].update(description="string"), "D2"),
        (lambda f, p: p["guests"].update(type="int"), "D3"),
        (lambda f, p: p["guests"].update(type=["integer", "null"]), "D3"),
        (lambda f, p: p["wishes"].pop("items"), "D3"),
        (lambda f, p: p["contact"].update(properties={}, required=[]), "D3"),
        (lambda f, p: f["parameters"]["required"].append("when"), "D4"),
        (lambda f, p: f["parameters"]["required"].append("code"), "D4"),
        (lambda f, p: p["contact"].update(required="phone"), "D4"),
        (lambda f, p: p["area"].update(enum=[]), "D5"),
        (lambda f, p: p["area"].update(enum=["a", "a"]), "D5"),
        (lambda f, p: p["guests"].update(enum=[2, 40]), "D5"),
        (lambda f, p: p["guests"].update(enum=["2"]), "D5"),
        (lambda f, p: p["code"].update(default="x"), "D5"),
        (lambda f, p: p["code"].update(pattern="(a+)+$"), "D6"),
        (lambda f, p: p["code"].update(pattern="(?=a)b"), "D6"),
        (lambda f, p: p["code"].update(pattern="^[A-Z"), "D6"),
        (lambda f, p: p["code"].update(pattern="b$a"), "D6"),
        (lambda f, p: p["code"].update(pattern=r"^[\w-.]+$"), "D6"),
        (lambda f, p: p["code"].update(pattern="^[[a]+$"), "D6"),
        (lambda f, p: p["guests"].update(pattern="^1$"), "D6"),
        (lambda f, p: p["day"].update(pattern="^day$"), "D6"),
        (lambda f, p: p["guests"].update(minimum=20), "D7"),
        (lambda f, p: p["guests"].update(minimum="1"), "D7"),
        (lambda f, p: p["area"].update(minimum=1), "D7"),
        (lambda f, p: p["day"].update(format="day"), "D7"),
        (lambda f, p: p.update(Guests={"type": "integer", "description": "Again."}), "D8"),
        (lambda f, p: p.update({"how many": {"type": "integer", "description": "Again."}}), "D8"),
        (lambda f, p: p["wishes"].update(description="x" * 2_000), "D2"),
        (lambda f, p: p["code"].update(examples=["x" * 9_000]), "D9"),
        (lambda f, p: p.update({f"p{k}": {"type": "string", "description": f"Value {k}."} for k in range(20)}), "D9"),
    ],
)  # fmt: skip
def test_what_is_unclear_has_its_rule(change: Callable[[dict[str, Any], dict[str, Any]], Any], rule: str):
    assert rule in rules(edited(change))


def test_a_definition_without_end_is_refused_and_not_walked():
    deep: dict[str, Any] = {"type": "string", "enum": ["x"]}
    for _ in range(3_000):
        deep = {"type": "array", "items": deep, "enum": [1]}
    assert "D9" in rules({**GOOD, "parameters": deep})


_WORDS = [
    "type", "properties", "items", "enum", "required", "pattern", "format", "minimum", "maxLength", "anyOf", "default",
    "name", "description", "parameters", "a",
]  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=a_fiftieth_of(2_000))
@given(json_values)
def test_no_definition_raises(value: Any):
    assert isinstance(definition_faults(value), list)
    assert isinstance(definition_faults({**GOOD, "parameters": value}), list)
    assert isinstance(list(constraint_faults(value, value if isinstance(value, dict) else {})), list)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"code": "AB1234", "guests": 4, "wishes": ["quiet"], "contact": {"phone": "1"}, "day": "2025-03-01"}, []),
        ({"code": "AB12345", "guests": 4}, ["code: 'AB12345' does not follow the pattern"]),
        ({"code": "AB1234", "guests": 40}, ["guests: 40 is above 12"]),
        ({"code": "AB1234", "guests": True}, ["guests: expected type integer"]),
        ({"guests": 4}, ["code: a required argument is missing"]),
        ({"code": "AB1234", "guests": 4, "day": "2025-02-30"}, ["day: '2025-02-30' is no date"]),
        ({"code": "AB1234", "guests": 4, "wishes": ["a", "b", "c"]}, ["wishes: ['a', 'b', 'c'] has 3 elements"]),
        ({"code": "AB1234", "guests": 4, "contact": {}}, ["contact.phone: a required argument is missing"]),
        ({"code": "AB1234", "guests": 4, "area": "roof"}, ["area: 'roof' is not in the enum"]),
        ({"code": "AB1234", "guests": 4, "colour": "red"}, ["colour: the schema does not define"]),
    ],
)  # fmt: skip
def test_a_call_is_held_to_all_that_the_definition_says(arguments: dict[str, Any], said: list[str]):
    found = [f"{where}: {what}" for where, what in call_problems(arguments, GOOD["parameters"])]
    assert len(found) == len(said)
    assert all(a.startswith(b) for a, b in zip(found, said, strict=True))


def test_a_pattern_that_is_not_read_is_told_and_not_held_against_a_value():
    schema = {"type": "string", "pattern": r"(a)\1"}
    assert "refers back" in pattern_problem(schema)
    assert list(constraint_faults("b", schema)) == []


def test_numbers_may_be_called_number_or_float():
    for name in ("number", "float"):
        assert call_problems(2.5, {"type": name, "exclusiveMinimum": 2.5}) == [("", "2.5 must be above 2.5")]


def test_names_that_occur_twice_are_found_whatever_their_letters():
    assert duplicate_names(["getUser", "getuser", "other"]) == ["getUser", "getuser"]
