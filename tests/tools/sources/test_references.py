"""What a schema means once its references are followed: how deep, how large, and after how much work it is cut."""

from typing import Any

import pytest

from wildtool.errors import DataError
from wildtool.tools.sources import references
from wildtool.tools.sources.references import (
    SchemaReader,
    UnreadableSchemaError,
    is_unfillable,
    requires_unfillable,
    why_unfillable,
)

TEXT: dict[str, Any] = {"type": "string"}


def thing(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def wide(count: int, **more: Any) -> dict[str, Any]:
    return thing(**{f"p{k}": TEXT for k in range(count)}, **more)


def resolved(schema: Any, **parts: Any) -> Any:
    return SchemaReader({"s": parts, "list": [{"type": "integer"}, {"type": "number"}]}).resolve(schema)


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("#/s/none", "it refers to '#/s/none', which is not in the file"),
        ("#/list/2", "it refers to '#/list/2', which is not in the file"),
        ("#/list/x", "it refers to '#/list/x', which is not in the file"),
        ("#/list/000000001", "it refers to '#/list/000000001', which is not in the file"),
        ("a.json#/s", "it refers to 'a.json#/s', outside this file; put everything into one file first"),
        ("#/s/ring", "the reference '#/s/ring' leads around in a ring"),
        ("#/s/none_either", "it refers to '#/s/none', which is not in the file"),
    ],
)
def test_a_reference_that_leads_nowhere_is_named(reference: str, problem: str):
    parts = {"ring": {"allOf": [{"$ref": "#/s/ring"}]}, "none_either": {"anyOf": [{"$ref": "#/s/none"}] * 2}}
    reader = SchemaReader({"s": parts, "list": [TEXT, TEXT]})
    for _ in range(2):
        with pytest.raises(UnreadableSchemaError) as refused:
            reader.resolve({"$ref": reference})
        assert str(refused.value) == problem


def _levels(schema: Any, step: str = "down") -> int:
    below = schema.get("items") if step == "items" else schema.get("properties", {}).get(step)
    return 1 + _levels(below, step) if below is not None else 0


def test_six_levels_of_objects_and_lists_are_read():
    nested, lists = thing(x=TEXT), TEXT
    for _ in range(9):
        nested, lists = thing(x=TEXT, down=nested), {"type": "array", "items": lists}
    assert _levels(resolved(nested)) == 5
    assert _levels(resolved(lists), "items") == 7
    assert is_unfillable(resolved(lists))
    for _ in range(3):
        lists = lists["items"]
    assert _levels(resolved(lists), "items") == 6
    assert not is_unfillable(resolved(lists))


def test_a_list_is_cut_before_the_object_that_holds_it():
    deep = wide(596, a={"type": "array", "items": TEXT})
    assert resolved(thing(x=TEXT, deep=deep)) == thing(x=TEXT, deep=wide(596))


def test_a_schema_is_cut_at_the_deepest_level_that_fits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(references, "MAX_SCHEMA_SIZE", 60)
    monkeypatch.setattr(references, "_LARGEST_FLAT", 80)
    nested = wide(15)
    for _ in range(7):
        nested = wide(14, down=nested)
    assert _levels(resolved(nested)) == 3
    assert list(resolved(wide(79))["properties"]) == [f"p{k}" for k in range(79)]
    with pytest.raises(UnreadableSchemaError) as refused:
        resolved(wide(80))
    assert str(refused.value) == "it has too many parameters"


@pytest.mark.parametrize(
    ("schema", "work"),
    [
        ({"type": "string"}, 3),
        (thing(a=TEXT, b=TEXT), 4 + 5 + 2 * 3),
        ({"$ref": "#/s/T"}, 2 + 3 + 2),
        (thing(a={"$ref": "#/s/T"}, b={"$ref": "#/s/T"}), 4 + 5 + 2 + 3 + 2),
        ({"$ref": "#/s/T", "title": "t"}, 3 + 3 + 2),
        ({"allOf": [thing(a=TEXT), thing(b=TEXT)]}, 2 + 4 + 1 + 4 + 2 + 5 + 2 * 3),
    ],
)
def test_each_schema_counts_once_for_the_work_of_reading_it(
    schema: Any, work: int, monkeypatch: pytest.MonkeyPatch
):
    parts = {"T": {"type": "integer", "title": "T"}}
    monkeypatch.setattr(references, "_MOST_WORK", work)
    resolved(schema, **parts)
    monkeypatch.setattr(references, "_MOST_WORK", work - 1)
    with pytest.raises(DataError, match="takes too long; leave the largest out"):
        resolved(schema, **parts)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "file"}, "'p' is a file, which cannot be said in a text"),
        ({**TEXT, "format": "binary"}, "'p' is a file, which cannot be said in a text"),
        ({"type": "array", "items": {"type": "file"}}, "'p' is a file, which cannot be said in a text"),
        (thing(), "no schema says what 'p' holds, or it needs a file, lies too deep or holds itself"),
        (
            {"type": "array", "items": {"type": "object", "x-lost": "a.b"}},
            "no schema says what 'p.a.b' holds, or it needs a file, lies too deep or holds itself",
        ),
    ],
)
def test_what_cannot_be_given_says_why(schema: Any, why: str):
    assert (is_unfillable(schema), why_unfillable("p", schema)) == (True, why)
    assert requires_unfillable(schema) is ("p.a.b" in why)


@pytest.mark.parametrize(
    "schema", [TEXT, {}, thing(a=TEXT), {"type": "array"}, {"type": "array", "items": TEXT}]
)
def test_other_values_can_be_given(schema: Any):
    assert not is_unfillable(schema)
