"""How templates word a call, what its result is, and how a later task refers to what was said or seen."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from generate.golden import check
from wildtool.errors import DataError
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.calls import (
    DraftCall,
    ResultSampler,
    entities,
    entity_rows,
    mentions,
    simulate_result,
)
from wildtool_data.make.procedural.guess_semantics import (
    ReturnSemantics,
)
from wildtool_data.make.procedural.history import History, Mention, reference
from wildtool_data.make.procedural.requests import with_places
from wildtool_data.make.procedural.tool_sets import (
    ParameterSlot,
    ToolSpec,
    built_in_tool_sets,
    slot_of,
    split_tools,
)
from wildtool_data.make.procedural.values import ValueSampler, word_list
from wildtool_data.make.procedural.wording import (
    Wording,
    _fields,  # pyright: ignore[reportPrivateUsage]
    can_omit,
    omitted,
)

DAY = datetime(2025, 3, 4, tzinfo=UTC)


def _tool(**more: Any) -> ToolSpec:
    slots = tuple(
        slot_of({"type": type_}, (name,), required=True)
        for name, type_ in (("city", "string"), ("orderId", "string"), ("nights", "integer"))
    )
    gives = more.pop(
        "gives",
        ReturnSemantics(True, "room", "room", (("name", "title"), ("price", "price"), ("rating", "rating"))),
    )
    return ToolSpec(
        "find",
        {"type": "function", "function": {"name": "find", "description": "", "parameters": {}}},
        slots,
        gives,
        ("find {city}[ for {nights} nights][ of {orderId}]", "look [in {city}]"),
        False,
        **more,
    )


def test_a_clause_says_what_is_said_and_leaves_out_the_rest():
    tool, rows = _tool(), {}
    for lang in ("en", "zh"):
        words = Wording(Random(3), lang)
        for spoken in (
            {},
            {"city": "Oslo"},
            {"city": "Oslo", "nights": "3"},
            {"city": "that city", "nights": "the same"},
            {"nights": "3", "orderId": "o_1"},
        ):
            rows[f"{lang} {spoken}"] = [
                words.clause(tool, spoken, {"city"} if "that city" in spoken.values() else set())
                for _ in range(4)
            ]
        slots = tool.slots
        rows[f"{lang} words"] = [
            words.literal(tool, slots[0], "Oslo"),
            words.literal(tool, slots[1], "o_1"),
            words.nouns(slots),
            words.nth(1),
            words.best("price", "room"),
            words.join(["a", "b", "c"], ["and", "then"]),
            words.request("find it", "polite"),
            words.opener(),
            words.after("Hi.", "Go."),
            [*words.chat("city", "city", "Oslo")],
            [*words.chat("x", "apple", "red")],
        ]
    check("clauses", rows)
    assert (omitted("find {city}[ of {x}]"), can_omit(tool, "city"), can_omit(tool, "nights")) == (
        {"city"},
        True,
        True,
    )
    assert not can_omit(ToolSpec("f", tool.definition, (), ReturnSemantics(), ("f {city}",), False), "city")
    assert [Wording(Random(0), "en").has_best(kind) for kind in ("price", "x")] == [True, False]


@pytest.mark.parametrize(
    ("lang", "clauses"),
    [
        ("en", ["go", "go with A", "go with A and B", "go with A, B and C"]),
        ("zh", ["go", "go，A", "go，A，B", "go，A，B，C"]),
    ],
)
def test_the_values_of_a_clause_from_a_description_are_listed(lang: Lang, clauses: list[str]):
    tool = replace(_tool(), clauses=(with_places("go", ["a", "b", "c"]),))
    words = Wording(Random(1), lang)
    said = [words.clause(tool, {key: key.upper() for key in "abc"[:count]}, ()) for count in range(4)]
    assert said == clauses


def test_results_and_what_is_mentioned_of_them_are_drawn_as_before():
    row = {
        "type": "object",
        "properties": {"roomId": {"type": "string"}, "price": {"type": "float"}, "city": {"type": "string"}},
        "required": ["roomId"],
    }
    gives = {
        "list": ReturnSemantics(
            True, "room", "room", (("name", "title"), ("price", "price"), ("rating", "rating"))
        ),
        "one": ReturnSemantics(False, "booking", "booking", (("person", "person"), ("status", "status"))),
        "nothing": ReturnSemantics(),
        "named list": ReturnSemantics(True, "room", "room", (), "roomId", "", ("rooms",), "roomId"),
        "whole": ReturnSemantics(False, "city", "city", (), "city", "", (), "city"),
    }
    returns = {
        "named list": {"type": "object", "properties": {"rooms": {"type": "array", "items": row}}},
        "whole": row,
    }
    rows: dict[str, Any] = {}
    for name, semantics in gives.items():
        tool = _tool(gives=semantics, **({"returns": returns[name]} if name in returns else {}))
        values, words, seen = ValueSampler(Random(2), "en", DAY), Wording(Random(2), "en"), {}
        for k in range(2):
            call = DraftCall(tool, dict(zip(tool.slots, ("Oslo", "o_1", 3), strict=True)))
            simulate_result(call, values, seen)
            noted = [f"{m.slot.key} {m.value} {m.task} {m.index} {m.best}" for m in mentions(call, k, words)]
            rows[f"{name} {k}"] = [
                call.result,
                noted,
                len(entity_rows(call)),
                len(entities(call, k, words)),
                words.summary([(tool, call.result)]),
            ]
        rows[f"{name} seen"] = sorted(seen)
    check("simulated_results", rows)
    deep: dict[str, Any] = {
        "type": "object",
        "properties": {f"f{k}": {"type": "string"} for k in range(12)}
        | {"in": row, "rows": {"type": "array", "items": row}, "n": {"type": "null"}},
        "required": ["in", "rows"],
    }
    sampled = [
        ResultSampler(ValueSampler(Random(k), "en", DAY), {"price": 3.5, "city": "Oslo", "f0": True}).of(deep)
        for k in range(3)
    ]
    check("sampled_results", sampled)


def test_what_was_said_can_be_referred_to_while_it_is_clear():
    def said(key: str, value: Any, task: int, index: int | None = None, best: str = "") -> Mention:
        kind = "id" if key.endswith("id") else "title"
        return Mention(ParameterSlot((key,), key, key, kind, required=True), value, task, index, best)

    history = History(by_noun=False)
    history.add(
        [
            said("city", "Oslo", 0),
            said("day", "1", 0),
            said("day", "2", 0),
            said("room_id", "r1", 1, 0, "price"),
            said("room_id", "r2", 1, 1),
            said("city", "Rome", 2),
            *(said("x", str(k), 2) for k in range(5)),
            *(said("y", str(k), 2) for k in range(4)),
            said("z", "a", 2),
            said("z", "a", 2),
            said("w", "a", 2),
            said("w", "b", 2, 0),
            said("v", "a", 2, 0),
            said("v", "b", 2, 0),
        ]
    )
    shown = {
        f"{name} {t}": [f"{m.slot.key} {m.value} {m.task} {m.index}" for m in getattr(history, name)(t)]
        for name in ("near", "far")
        for t in (1, 2, 3, 4)
    }
    check("history", shown)
    assert [history.knows(key) for key in ("city", "q")] == [True, False]
    phrases = {
        f"{lang} {far} {k}": reference(Wording(Random(k), lang), mention, "thing", far=far)
        for lang in ("en", "zh")
        for far in (False, True)
        for k, mention in enumerate(
            (
                said("city", "a", 0),
                said("room_id", "a", 0),
                said("city", "a", 0, 1),
                said("room_id", "a", 0, 2),
                said("room_id", "a", 0, 0, "price"),
                said("room_id", "a", 0, 0, "price"),
            )
        )
    }
    check("references", phrases)


@pytest.mark.parametrize(("share", "held"), [(0.01, 5), (0.125, 5), (0.126, 10), (0.5, 20), (0.99, 35)])
def test_whole_sets_are_held_out_until_there_are_enough(share: float, held: int):
    others, kept = split_tools(built_in_tool_sets("en"), share, "1")
    assert (len(kept.names), len(others.names)) == (held, 40 - held)


@pytest.mark.parametrize(("share", "held"), [(0.01, 1), (0.3, 2), (0.5, 2), (0.7, 4), (0.99, 4)])
def test_of_one_set_single_tools_are_held_out(share: float, held: int):
    (first, *_) = built_in_tool_sets("en")
    others, kept = split_tools((first,), share, "1")
    assert (len(kept.names), len(others.names), kept.places) == (held, 5 - held, (0,))
    with pytest.raises(DataError) as refused:
        split_tools((first[:1],), share, "1")
    assert (
        str(refused.value)
        == f"1 tools are too few to hold out a share of {share:g}: each part needs a tool with parameters"
    )


def test_fields_of_a_result_are_single_values_beside_its_id():
    row = {"id": 2, "roomName": "Sea", "beds": [1], "of": {"a": 1}, "free": True}
    assert [_fields(row, "id"), _fields({"id": 2, "beds": []}, "id")] == ["room name Sea, free True", "ok"]


def test_a_text_that_follows_a_pattern_is_of_words_where_it_can_be():
    words = {name: {word.lower() for word in word_list(name, "en")} for name in ("adjectives", "nouns")}
    for seed in range(5):
        values = ValueSampler(Random(seed), "en", DAY)
        first, second = values.of("pattern:^[a-z]+-[a-z]+$").split("-")
        assert first in words["adjectives"] and second in words["nouns"]
        assert values.of("pattern:^z{9}$") == "z" * 9
