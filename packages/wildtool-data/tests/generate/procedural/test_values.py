"""What procedural sessions make of a parameter: the kind of its values, and how a user writes one."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from generate.golden import check
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.calls import ResultSampler
from wildtool_data.make.procedural.guess_semantics import ReturnSemantics
from wildtool_data.make.procedural.tool_sets import ToolSpec
from wildtool_data.make.procedural.values import _MAKERS, MEMBER_KINDS, ValueSampler  # pyright: ignore[reportPrivateUsage]
from wildtool_data.make.procedural.wording import Wording


def test_a_result_has_optional_fields_of_four_levels_and_what_is_required_below() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "boolean"}}}
    needed: dict[str, Any] = {**schema, "required": ["x"]}
    for _ in range(5):
        schema = {"type": "object", "properties": {"x": {"type": "boolean"}, "down": schema}}
        needed = {"type": "object", "properties": {"down": needed}, "required": ["down"]}
    values = ValueSampler(Random(0), "en", datetime(2025, 3, 4, tzinfo=UTC))

    def levels(result: Any) -> int:
        return 1 + levels(result["down"]) if "down" in result else int("x" in result)

    assert levels(ResultSampler(values, {}).of(schema)) == 4
    assert levels(ResultSampler(values, {}).of(needed)) == 6


def test_an_object_without_members_is_left_out_of_a_result_where_it_may_be() -> None:
    properties = {name: {"type": "object", "properties": {}} for name in ("must", "may")}
    schema = {"type": "object", "properties": {**properties, "n": {"type": "boolean"}}, "required": ["must"]}
    values = ValueSampler(Random(0), "en", datetime(2025, 3, 4, tzinfo=UTC))
    result = ResultSampler(values, {}).of(schema)
    assert (sorted(result), result["must"]) == (["must", "n"], {})


def test_what_a_result_says_is_that_of_its_first_object_with_something_in_it() -> None:
    wording = Wording(Random(0), "en")
    assert wording._plain_fields({"id": 7, "a": {}, "b": {"level": 3}}, "id") == "level 3"  # pyright: ignore[reportPrivateUsage]
    assert wording._plain_fields({"id": 7, "a": {}}, "id") == "ok"  # pyright: ignore[reportPrivateUsage]


class _Ends(Random):
    """Draws the least of everything, or the largest."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self.end = end

    def random(self) -> float:
        return self.end


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_kind_has_a_least_and_a_largest_value(lang: Lang) -> None:
    def drawn(kind: str, end: float) -> Any:
        return ValueSampler(_Ends(end), lang, datetime(2025, 3, 4, tzinfo=UTC)).of(kind)

    kinds = [*_MAKERS, *sorted(MEMBER_KINDS), "list:count"]
    kinds = [kind for kind in kinds if kind not in ("hash", "uuid")]
    check(f"value_ends_{lang}", {kind: [drawn(kind, end) for end in (0.0, 1 - 1e-9)] for kind in kinds})


def test_a_result_has_forty_optional_leaves_eight_fields_of_each_object_and_all_that_is_required() -> None:
    def wide(count: int, inner: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {f"f{k}": inner for k in range(count)}, **more}

    leaf = {"type": "boolean"}
    values = ValueSampler(Random(0), "en", datetime(2025, 3, 4, tzinfo=UTC))
    sampled = [
        ResultSampler(values, {}).of(schema)
        for schema in (
            wide(9, wide(9, leaf)),
            wide(5, wide(9, leaf, required=[f"f{k}" for k in range(9)]), required=["f4"]),
        )
    ]
    assert [[len(inner) for inner in result.values()] for result in sampled] == [[8] * 5, [9] * 5]


ROOM = {"room_id": 7, "name": "Sea", "open": True, "beds": [1], "price": 2.5}


def test_an_answer_says_what_a_documented_result_holds() -> None:
    results: list[tuple[tuple[str, ...] | None, Any]] = [
        *((None, result) for result in ({"rooms": [ROOM, {"room_id": 8}], "total": 2}, "done", ROOM)),
        (None, {"rooms": [ROOM], "others": [ROOM], "total": 2}),
        (None, {"inner": {"a": 1}, "rooms": ["Sea", True, 3]}),
        (None, {f"field{k}": k for k in range(7)}),
        *(((), result) for result in (ROOM, {"name": "Sea"}, {"rooms": [ROOM], "name": "Sea"})),
        (("data", "rooms"), {"data": {"rooms": [ROOM, {"name": "Lake"}]}}),
        (("data",), {"data": ROOM, "n": 1}),
        (("data", "x"), {"data": [ROOM]}),
    ]
    definition: Any = {"type": "function", "function": {"name": "find", "description": "", "parameters": {}}}
    rows: dict[str, list[str]] = {}
    for place, result in results:
        gives = ReturnSemantics(noun="room", id_key="" if place is None else "room_id", place=place)
        tool = ToolSpec(
            "find", definition, (), gives, ("find",), clause_from_name=True, returns={"type": "object"}
        )
        rows[f"{place} {result}"] = [
            Wording(Random(1), lang).summary([(tool, result)]) for lang in ("en", "zh")
        ]
    check("documented_results", rows)
