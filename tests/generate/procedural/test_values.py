"""What procedural sessions make of a parameter: the kind of its values, and how a user writes one."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from generate.golden import check
from wildtool.sets.make.core.plan import Lang
from wildtool.sets.make.procedural import calls
from wildtool.sets.make.procedural.calls import ResultSampler
from wildtool.sets.make.procedural.guess_semantics import ReturnSemantics, guess_kind
from wildtool.sets.make.procedural.history import History, Mention
from wildtool.sets.make.procedural.tool_sets import ParameterSlot, ToolSpec
from wildtool.sets.make.procedural.values import _MAKERS, MEMBER_KINDS, ValueSampler, as_spoken  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.make.procedural.wording import Wording


@pytest.mark.parametrize(
    ("kind", "value", "spoken"),
    [("enum", "very_large", "very large"), ("email", "ann_b@husum.example", "ann_b@husum.example")],
)
def test_a_user_writes_a_member_of_an_enum_as_words_and_any_other_value_as_it_is(
    kind: str, value: Any, spoken: str
) -> None:
    assert as_spoken(value, kind, "en") == spoken


@pytest.mark.parametrize(("length", "kind"), [(60, "email"), (61, "text")])
def test_the_first_sixty_characters_of_a_description_tell_the_kind(length: int, kind: str) -> None:
    schema = {"type": "string", "description": "email".rjust(length, "x")}
    assert guess_kind("thing", schema) == kind


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


@pytest.mark.parametrize(("far", "tasks"), [(False, [1]), (True, [2, 3, 4])])
def test_what_was_said_in_the_task_before_is_near_and_earlier_is_far(far: bool, tasks: list[int]) -> None:
    history = History(by_noun=False)
    history.add([Mention(ParameterSlot(("c",), "city", "city", "title", required=True), "Oslo", 0)])
    assert [t for t in range(5) if history.has_in_range("city", far, t)] == tasks
    assert not any(history.has_in_range("day", far, t) for t in range(5))


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


@pytest.mark.parametrize(
    ("key", "prefix"), [("train_id", "tn"), ("cart_item_id", "ci"), ("bookingId", "bg"), ("id", "id")]
)
def test_ids_begin_with_letters_of_their_key(key: str, prefix: str) -> None:
    assert calls._prefix(key) == prefix  # pyright: ignore[reportPrivateUsage]


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


@pytest.mark.parametrize(
    ("form", "bounds", "ends"),
    [
        ("", None, ["x_10000", "x_99999"]),
        ("whole", None, [10_000, 99_999]),
        ("whole", (10_000, 99_999), [10_000, 99_999]),
        ("whole", (10_001, 99_998), [10_001, 99_998]),
        ("whole", (5, 9), [5, 9]),
    ],
)
def test_ids_have_five_digits_or_keep_to_their_bounds(form: str, bounds: Any, ends: list[Any]) -> None:
    class Ends(_Ends):
        def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
            assert stop is not None
            return stop - 1 if self.end else start

    day = datetime(2025, 3, 4, tzinfo=UTC)
    drawn = [ValueSampler(Ends(end), "en", day).id("x", form, bounds) for end in (0.0, 1 - 1e-9)]
    assert drawn == ends


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
