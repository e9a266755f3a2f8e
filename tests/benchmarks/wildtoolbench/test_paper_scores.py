"""How like gold the paper's evaluator finds a value, and what it notes of it."""

from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.paper.judge import score_value

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
OBJECT = {
    "type": "object",
    "properties": {"a": TEXT, "n": {"type": "integer", "description": "Default 5, or null."}},
}


def score(value: Any, gold: Any, schema: Any) -> tuple[float | str, list[str]]:
    """The score, or what is raised, and the kinds of mistakes."""
    kinds: set[str] = set()
    try:
        return round(score_value(value, gold, schema, kinds), 4), sorted(kinds)
    except (KeyError, TypeError, AttributeError) as error:
        return f"! {type(error).__name__}: {error}", sorted(kinds)


@pytest.mark.parametrize(
    ("value", "gold", "schema", "expected"),
    [
        (1, 1.0, WHOLE, (1.0, [])),
        (1, 2, WHOLE, (0.0, ["param value error"])),
        (True, 1, WHOLE, (0.0, ["type error"])),
        ("1", 1, WHOLE, (0.0, ["type error"])),
        ("a b", "AB", TEXT, (1.0, [])),
        ("the red apple", "the green apple", TEXT, (0.8, [])),
        ("x", "y", TEXT, (0.0, ["param value error"])),
        ("", "a", TEXT, (0.0, ["param value error"])),
        ("a b c d", "a b c e", TEXT, (0.8571, [])),
        ({"a": "x"}, {"a": "x", "n": 1}, OBJECT, (1.0, [])),
        ({"a": "x", "n": 5}, {"a": "x"}, OBJECT, (1.0, [])),
        ({"a": "x", "n": None}, {"a": "x"}, OBJECT, (1.0, [])),
        ({"a": "x", "n": 6}, {"a": "x"}, OBJECT, (0.5, ["param value hallucination"])),
        ({"z": 1}, {"a": "x"}, OBJECT, (0.0, ["param hallucination"])),
        ({}, {"a": "x"}, OBJECT, (0.0, ["param value error"])),
        ({"n": 7, "z": 1}, {"a": "x"}, OBJECT, (0.0, ["param hallucination"])),
        ([1, 2], [2, 1], {"type": "array", "items": WHOLE}, (1.0, [])),
        ([1, 3], [2, 1], {"type": "array", "items": WHOLE}, (0.5, ["param value error"])),
        ([1], [1, 2], {"type": "array", "items": WHOLE}, (0.0, ["param value error"])),
        (["a"], ["b"], {"type": "array"}, (0.0, ["param value error"])),
        ([{"a": "x"}], [{"a": "x", "n": 1}], {"type": "array", "items": OBJECT}, (1.0, [])),
        ("1,2", "3,4", TEXT, (0.3333, ["param value error"])),
        ("1.5,2", "3,4", TEXT, (0.3333, ["param value error"])),
        ({"a": "x"}, {"a": "y"}, {"type": "array", "items": OBJECT}, (0.0, ["param value error"])),
        (True, False, {"type": "boolean"}, (0.0, ["param value error"])),
        ("a", "b", {"type": "odd"}, ("! TypeError: no rule for a str of the type odd", [])),
        (1.5, 2.5, {"type": "float"}, (0.0, ["param value error"])),
        ({"a": 1}, {"a": 2}, {"type": "object"}, (0.0, ["param hallucination"])),
    ],
)
def test_a_value_is_scored_by_its_type(value: Any, gold: Any, schema: Any, expected: Any) -> None:
    assert score(value, gold, schema) == expected
