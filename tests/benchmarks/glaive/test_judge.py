"""Glaive's rules: what each profile counts, what a verdict says, what is planted as a mistake and how it is explained."""

import json
from typing import Any

from wildtool.benchmark import Check, Mutant
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.data import GlaiveRecord
from wildtool.types import Item

SYSTEM = json.dumps(
    {"name": "book", "parameters": {"properties": {"city": {"type": "string"}, "pets": {"type": "boolean"}}}}
)
GOLD = '{"name": "book", "arguments": {"city": "Rome", "nights": 2}}'


def record(gold: str = GOLD, system: str = SYSTEM) -> GlaiveRecord:
    return GlaiveRecord(system, "Two nights in Rome.", gold)


def item(gold: str = GOLD) -> Item:
    return Item("00000", ("0",), record(gold))


def test_a_record_without_a_reply_counts_once_and_has_nothing_right() -> None:
    columns = dict.fromkeys(GLAIVE.columns, 0) | {"counted": 1}
    assert GLAIVE.rules("toleap").unfinished(None, item(), "0") == Check(False, fields=columns)


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
