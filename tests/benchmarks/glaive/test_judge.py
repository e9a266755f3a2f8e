"""Glaive's rules: what each profile counts, what a verdict says, what is planted as a mistake and how it is explained."""

import json
from dataclasses import asdict, astuple
from typing import Any

import pytest

from wildtool.benchmark import Check, Mutant
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.data import GlaiveRecord
from wildtool.benchmarks.glaive.judge import COUNTS_OF, GlaiveCounts, GlaiveRules, first_json
from wildtool.types import Item, Request

SYSTEM = json.dumps(
    {"name": "book", "parameters": {"properties": {"city": {"type": "string"}, "pets": {"type": "boolean"}}}}
)
GOLD = '{"name": "book", "arguments": {"city": "Rome", "nights": 2}}'
INVALID_GOLD = GlaiveCounts(1, invalid_gold=1)
INVALID = GlaiveCounts(1, invalid_prediction=1)


def record(gold: str = GOLD, system: str = SYSTEM) -> GlaiveRecord:
    return GlaiveRecord(system, "Two nights in Rome.", gold)


def item(gold: str = GOLD) -> Item:
    return Item("00000", ("0",), record(gold))


def call(**arguments: Any) -> str:
    return json.dumps({"name": "book", "arguments": arguments})


@pytest.mark.parametrize(
    ("text", "gold", "toleap", "fixed"),
    [
        (GOLD, GOLD, (1, 1, 1, 1, 0, 0), (1, 1, 1, 1, 0, 0)),
        # Words around it, another case, blanks: the same call.
        (f"Sure: {call(city='rome ', nights=2)}.", GOLD, (1, 1, 1, 1, 0, 0), (1, 1, 1, 1, 0, 0)),
        # Only `toleap` takes a text for the value that it spells.
        (call(city="Rome", nights="2"), GOLD, (1, 1, 1, 1, 0, 0), (1, 1, 1, 0, 0, 0)),
        (
            call(city="Rome", nights="2.5"),
            call(city="Rome", nights=2.5),
            (1, 1, 1, 1, 0, 0),
            (1, 1, 1, 0, 0, 0),
        ),
        (call(pets="True"), call(pets=True), (1, 1, 1, 1, 0, 0), (1, 1, 1, 0, 0, 0)),
        (call(pets="FALSE"), call(pets=False), (1, 1, 1, 1, 0, 0), (1, 1, 1, 0, 0, 0)),
        (call(pets="false"), call(pets=True), (1, 1, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0)),
        (call(city="Roma", nights=2), GOLD, (1, 1, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0)),
        (call(city="Rome", nights=3), GOLD, (1, 1, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0)),
        (call(city="Rome"), GOLD, (1, 1, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
        (call(city="Rome", nights=2, dogs=1), GOLD, (1, 1, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
        (GOLD.replace("book", "cancel"), GOLD, (1, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)),
        # No call at all, and JSON that is none.
        (None, GOLD, (1, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        ("Done.", GOLD, (1, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        (GOLD[:-1], GOLD, (1, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        ('{"name": "book"}', GOLD, (2, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        ('{"name": 3, "arguments": {}}', GOLD, (1, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 1)),
        ("[1]", GOLD, (2, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        ('{"name": "book", "arguments": []}', GOLD, (2, 0, 0, 0, 0, 1), (1, 0, 0, 0, 0, 1)),
        ('{"name": "book", "arguments": {}, "id": 1}', call(), (2, 0, 0, 0, 0, 1), (1, 1, 1, 1, 0, 0)),
        # The first call that can be read counts, and no later one.
        (f"{call(city='Oslo')} {GOLD}", GOLD, (1, 1, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
        (f'{{"x": 1}} {GOLD}', GOLD, (2, 0, 0, 0, 0, 1), (1, 1, 1, 1, 0, 0)),
        # Gold that is no call.
        (GOLD, "{", (1, 0, 0, 0, 1, 0), (0, 0, 0, 0, 1, 0)),
        (GOLD, "[1]", (0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0)),
        (GOLD, '{"name": "book"}', (0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0)),
        (call(), '{"name": "book", "arguments": "{}"}', (0, 1, 0, 0, 0, 0), (1, 1, 1, 1, 0, 0)),
    ],
)
def test_what_a_reply_adds_to_the_counts(
    text: str | None, gold: str, toleap: tuple[int, ...], fixed: tuple[int, ...]
) -> None:
    assert [astuple(COUNTS_OF[name](text, record(gold))) for name in ("toleap", "fixed")] == [toleap, fixed]


def test_an_argument_that_differs_inside_is_a_wrong_value_and_no_wrong_name() -> None:
    gold = call(city={"name": "Rome", "code": 1})
    replies = (call(city={"name": "Rome"}), call(city={"name": "Rome", "code": 1, "x": 2}))
    for text in replies:
        assert astuple(COUNTS_OF["fixed"](text, record(gold))) == (1, 1, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "json_text"),
    [
        ('a {"b": "}", "c": [1]} d', '{"b": "}", "c": [1]}'),
        ("[1, {2}] {", "[1, {2}]"),
        ('{"b": "\\"}"} x', '{"b": "\\"}"}'),
        ("{[} ]", "{[}"),
        ("{{}", None),
        ("none", None),
        ("", None),
    ],
)
def test_the_first_json_ends_where_its_own_brackets_balance(text: str, json_text: str | None) -> None:
    assert first_json(text) == json_text


@pytest.mark.parametrize(
    ("counts", "correct", "error", "reason"),
    [
        (GlaiveCounts(1, 1, 1, 1), True, None, "function, argument names and values of the gold call"),
        (GlaiveCounts(), False, "Wrong Function", "another function than gold"),
        (
            GlaiveCounts(1, 1),
            False,
            "Wrong Argument Names",
            "the right function with other argument names than gold",
        ),
        (
            GlaiveCounts(1, 1, 1),
            False,
            "Wrong Argument Values",
            "the right argument names with other values than gold",
        ),
        (INVALID, False, "Invalid Prediction", "no call in the asked format can be read"),
        (INVALID_GOLD, False, "Unusable Gold", "the gold call cannot be compared with anything"),
        (GlaiveCounts(0, 1), False, "Unusable Gold", "the gold call cannot be compared with anything"),
    ],
)
def test_a_verdict_says_what_is_wrong_with_the_columns_that_decided(
    counts: GlaiveCounts, correct: bool, error: str | None, reason: str
) -> None:
    rules = GlaiveRules(lambda text, record: counts)
    assert rules.check("", record()) == Check(correct, error, reason, fields=asdict(counts))


def test_a_record_without_a_reply_counts_once_and_has_nothing_right() -> None:
    columns = dict.fromkeys(GLAIVE.columns, 0) | {"counted": 1}
    assert GLAIVE.rules("toleap").unfinished(None, item(), "0") == Check(False, fields=columns)


def test_the_request_is_one_message_and_its_gold_answer_the_call_as_the_data_write_it() -> None:
    request = GLAIVE.rules("toleap").episode(item(), "0").request()
    assert isinstance(request, Request) and request.gold is not None
    assert [message["role"] for message in request.messages] == ["user"]
    assert request.gold("any") == {"role": "assistant", "content": GOLD}
    assert (request.tools, request.role) == ((), "agent")


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ({"content": f"x {{}} {GOLD}"}, [("book", {"city": "Rome", "nights": 2})]),
        ({"content": '{"name": "book", "arguments": "{\\"a\\": 1}"}'}, [("book", {"a": 1})]),
        ({"content": '{"name": 1, "arguments": {}}'}, [("message", '{"name": 1, "arguments": {}}')]),
        ({"content": "Hello"}, [("message", "Hello")]),
        ({"content": None}, [("message", None)]),
    ],
)
def test_what_a_reply_calls_is_the_call_in_its_text_else_the_text(
    message: dict[str, Any], calls: list[Any]
) -> None:
    assert list(GLAIVE.rules("fixed").said(message)) == calls


def planted(kind: str, text: str | None, note: str) -> Mutant:
    return Mutant("0", kind, ({"role": "assistant", "content": text},), note)


def test_the_mistakes_of_a_gold_call_are_of_every_kind() -> None:
    gold: dict[str, Any] = {"city": "Köln", "pets": True, "nights": 2, "price": 1.5, "tags": ["x"], "at": {}}
    text = json.dumps({"name": "book", "arguments": gold}, ensure_ascii=False)

    def reply(name: str = "book", **arguments: Any) -> str:
        return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)

    others: dict[str, Any] = {
        "city": "not Köln",
        "pets": False,
        "nights": 3,
        "price": 2.5,
        "tags": ["x", "zzyzx"],
        "at": {"zzyzx": 1},
    }
    expected = [
        planted("other function", reply("book_x", **gold), "book_x in place of book"),
        planted("extra argument", reply(**gold, no_such=1), "no_such"),
    ]
    for key, value in gold.items():
        rest = {name: other for name, other in gold.items() if name != key}
        expected += [
            planted("missing argument", reply(**rest), key),
            planted("renamed argument", reply(**rest, **{f"{key}_x": value}), key),
            planted("other value", reply(**gold | {key: others[key]}), key),
        ]
        if key == "pets":
            expected.append(planted("number for a truth value", reply(**{**gold, key: 1}), key))
    expected += [
        planted("only words", "I cannot help with that.", "no call"),
        planted("cut off", text[:-1], "the last bracket is missing"),
        planted("no output", None, "nothing was said"),
    ]
    assert list(GLAIVE.rules("fixed").mutants(item(text))) == expected


def test_a_gold_call_that_a_profile_refuses_has_no_mistakes() -> None:
    gold = '{"name": "book", "arguments": "{}"}'
    assert list(GLAIVE.rules("toleap").mutants(item(gold))) == []
    notes = [mutant.kind for mutant in GLAIVE.rules("fixed").mutants(item(gold))]
    assert notes == ["other function", "extra argument", "only words", "cut off", "no output"]


def test_a_mistake_that_lives_and_a_gold_call_that_is_wrong_have_their_quirk() -> None:
    rules = GLAIVE.rules("toleap")
    kinds = ("number for a truth value", "other value")
    assert [rules.explain(item(), planted(kind, "", "")) for kind in kinds] == [
        "Q6: for Python 1 equals true",
        "",
    ]
    golds = ("{", '{"name": "book", "arguments": "{}"}', GOLD)
    assert [rules.explain_gold(item(gold), "0") for gold in golds] == [
        "the gold call is no call",
        "Q2: the gold arguments are a text",
        "",
    ]


def test_a_number_may_stand_for_gold_in_a_text_where_the_function_wants_one_and_not_the_other_way() -> None:
    schema = {"name": "book", "parameters": {"properties": {"nights": {"type": "integer", "default": 5}}}}
    counts = COUNTS_OF["fixed"]
    found = {
        (gold, reply): counts(call(nights=reply), record(call(nights=gold), json.dumps(schema))).values_ok
        for gold, reply in (("5", 5), (5, "5"))
    }
    assert found == {("5", 5): 1, (5, "5"): 0}
    assert counts(call(), record(call(nights=5), json.dumps(schema))).values_ok == 1
