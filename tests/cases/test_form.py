"""What each spelling, option and matcher of the form means: cases beside replies that are right and wrong."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cases.reading import is_right, k, read, unit_of
from wildtool.own_cases.form import CALL_KEYS, CASE_KEYS, DEFAULT_KEYS, MATCHERS, TURN_KEYS

SCHEMA_DOCUMENT: dict[str, Any] = json.loads(
    files("wildtool.data").joinpath("new_cases", "cases.schema.json").read_text("utf-8")
)
SCHEMA = Draft202012Validator(SCHEMA_DOCUMENT)
GOOD: list[tuple[str, dict[str, Any], list[tuple[list[Any], str, bool]]]] = [
    (
        "a call in short",
        {"expect": {"f": {"a": 1}}},
        [
            ([k("f", a=1)], "", True),
            ([k("f", a=1.0)], "", True),
            ([k("f", a=2)], "", False),
            ([k("f", a=True)], "", False),
            ([], "", False),
            ([k("f", a=1)] * 2, "", False),
        ],
    ),
    (
        "a call with name and arguments",
        {"expect": [{"name": "f", "arguments": {"a": 1}}]},
        [
            ([k("f", a=1)], "", True),
            ([k("f", a=1, b=2)], "", False),
            ([k("f", a=1, b=None)], "", True),
        ],
    ),
    ("a name alone", {"expect": "f"}, [([k("f", zzz=1)], "", True), ([k("g")], "", False)]),
    ("no arguments", {"expect": {"f": {}}}, [([k("f")], "", True), ([k("f", a=1)], "", False)]),
    (
        "a call as text",
        {"expect": "f(a=1, b='x')"},
        [([k("f", a=1, b="x")], "", True), ([k("f", a=1)], "", False)],
    ),
    ("no call, as a list", {"expect": []}, [([], "hi", True), ([k("f")], "", False)]),
    ("no call, as a word", {"expect": "none"}, [([], "hi", True), ([k("f")], "", False)]),
    (
        "two calls in any order",
        {"expect": [{"f": {"a": 1}}, {"f": {"a": 2}}]},
        [([k("f", a=2), k("f", a=1)], "", True), ([k("f", a=1), k("f", a=1)], "", False)],
    ),
    (
        "two calls in the listed order",
        {"order": "listed", "expect": ["f", "g"]},
        [([k("f"), k("g")], "", True), ([k("g"), k("f")], "", False)],
    ),
    (
        "accepted values",
        {"expect": {"f": {"a": {"$one_of": ["x", "y", {"$pattern": "^z"}]}}}},
        [([k("f", a="Y")], "", True), ([k("f", a="zoo")], "", True), ([k("f", a="w")], "", False)],
    ),
    (
        "a list is a list",
        {"expect": {"f": {"a": ["x", "y"]}}},
        [
            ([k("f", a=["x", "y"])], "", True),
            ([k("f", a="x")], "", False),
            ([k("f", a=["y", "x"])], "", False),
        ],
    ),
    (
        "a list in any order",
        {"expect": {"f": {"a": {"$unordered": ["x", "y"]}}}},
        [([k("f", a=["y", "x"])], "", True), ([k("f", a=["x", "x"])], "", False)],
    ),
    (
        "any value",
        {"expect": {"f": {"a": {"$any": True}}}},
        [([k("f", a="q")], "", True), ([k("f")], "", False)],
    ),
    (
        "left out, or this",
        {"expect": {"f": {"a": 1, "b": {"$maybe": 10}}}},
        [
            ([k("f", a=1)], "", True),
            ([k("f", a=1, b=10)], "", True),
            ([k("f", a=1, b=11)], "", False),
        ],
    ),
    (
        "absent, with other arguments free",
        {"expect": [{"f": {"a": 1, "b": {"$absent": True}}, "extra": True}]},
        [([k("f", a=1, c=9)], "", True), ([k("f", a=1, b=1)], "", False)],
    ),
    (
        "a pattern",
        {"expect": {"f": {"a": {"$pattern": "^ORD-\\d{3}$"}}}},
        [([k("f", a="ORD-123")], "", True), ([k("f", a="ORD-12")], "", False)],
    ),
    (
        "contains all of these",
        {"expect": {"f": {"a": {"$contains": ["charged", "twice"]}}}},
        [([k("f", a="Card was CHARGED twice")], "", True), ([k("f", a="charged once")], "", False)],
    ),
    (
        "a range, and near a number",
        {"expect": {"f": {"a": {"$gte": 1, "$lte": 5}, "b": {"$near": 12.5, "$within": 0.1}}}},
        [
            ([k("f", a=5, b=12.55)], "", True),
            ([k("f", a=6, b=12.5)], "", False),
            ([k("f", a="3", b=12.5)], "", False),
        ],
    ),
    (
        "a value that has keys with $",
        {"expect": {"find": {"filter": {"$is": {"age": {"$gt": 5}}}}}},
        [
            ([k("find", filter={"age": {"$gt": 5}})], "", True),
            ([k("find", filter={"age": 6})], "", False),
        ],
    ),
    (
        "these keys of an object",
        {"expect": {"f": {"o": {"$has": {"q": {"$contains": "shoe"}}}}}},
        [([k("f", o={"q": "running shoes", "page": 1})], "", True), ([k("f", o={"page": 1})], "", False)],
    ),
    (
        "anything but this",
        {"expect": {"f": {"a": {"$not": "prod"}}}},
        [([k("f", a="test")], "", True), ([k("f", a="prod")], "", False)],
    ),
    (
        "arguments that do not count in any call",
        {"ignore": ["*_id", "f.note"], "expect": {"f": {"a": 1}}},
        [([k("f", a=1, request_id="r", note="n")], "", True), ([k("f", a=1, other=1)], "", False)],
    ),
    (
        "an optional call",
        {"expect": ["f", {"name": "g", "arguments": {"a": 1}, "optional": True}]},
        [
            ([k("f")], "", True),
            ([k("g", a=1), k("f")], "", True),
            ([k("f"), k("g", a=2)], "", False),
        ],
    ),
    (
        "one of several calls",
        {"expect": [{"one_of": [{"f": {"a": 1}}, {"g": {"b": 2}}]}, "h"]},
        [([k("h"), k("g", b=2)], "", True), ([k("f", a=1), k("g", b=2), k("h")], "", False)],
    ),
    (
        "alternatives of the turn",
        {"expect_any": [{"f": {"a": 1}}, ["g", "h"], "none"]},
        [
            ([k("f", a=1)], "", True),
            ([k("h"), k("g")], "", True),
            ([], "", True),
            ([k("g")], "", False),
        ],
    ),
    (
        "free calls",
        {"also": ["get_*"], "expect": {"f": {"a": 1}}},
        [([k("get_x", q=1), k("f", a=1)], "", True), ([k("set_x"), k("f", a=1)], "", False)],
    ),
    (
        "all calls free",
        {"also": "any", "expect": {"f": {"a": 1}}},
        [([k("z"), k("f", a=1)], "", True), ([k("z")], "", False)],
    ),
    (
        "forbidden calls",
        {"also": "any", "never": ["delete_*", {"pay": {"amount": {"$gt": 100}}}], "expect": []},
        [
            ([k("get")], "", True),
            ([k("delete_a")], "", False),
            ([k("pay", amount=101)], "", False),
            ([k("pay", amount=101, currency="EUR")], "", False),
            ([k("pay", amount=99)], "", True),
        ],
    ),
    (
        "a number of times",
        {"expect": [{"name": "f", "times": "1-3"}]},
        [([k("f")] * 3, "", True), ([k("f")] * 4, "", False), ([], "", False)],
    ),
    (
        "calls that must not be given to the first slot that they fit",
        {"expect": [{"f": {"a": {"$any": True}}}, {"f": {"a": 1}}]},
        [([k("f", a=1), k("f", a=2)], "", True)],
    ),
    (
        "texts",
        {"expect": [], "says": ["30 days", {"$pattern": "(?i)refund"}], "not_says": "sorry"},
        [
            ([], "Refunds within 30 Days", True),
            ([], "Sorry, refund 30 days", False),
            ([], "30 days", False),
        ],
    ),
    (
        "a date relative to the day of the case",
        {"date": "2026-03-30", "expect": {"f": {"day": {"$date": "today+1d"}}}},
        [([k("f", day="2026-03-31")], "", True), ([k("f", day="2026-04-01")], "", False)],
    ),
    (
        "a value of a result above",
        {
            "order": "listed",
            "expect": [
                {"f": {"a": 1}, "as": "first", "returns": {"id": "T7"}},
                {"g": {"id": {"$from": "first.id"}}},
            ],
        },
        [
            ([k("f", a=1), k("g", id="T7")], "", True),
            ([k("f", a=1), k("g", id="T8")], "", False),
        ],
    ),
    (
        "keys that judge nothing",
        {
            "id": "a1",
            "expect": "f",
            "tags": ["p0", "refund"],
            "must": True,
            "at_least": 0.67,
            "meta": {"owner": "ann"},
            "note": "why",
        },
        [([k("f")], "", True)],
    ),
    ("null is not given", {"expect": {"f": {"a": None}}}, [([k("f")], "", True), ([k("f", a=0)], "", False)]),
    (
        "byte for byte",
        {"expect": {"f": {"a": {"$exact": "X"}}}},
        [([k("f", a="X")], "", True), ([k("f", a="x")], "", False)],
    ),
    (
        "free calls between those of an order",
        {"order": "listed", "also": ["get_*"], "expect": ["f", "g"]},
        [([k("f"), k("get_a"), k("g")], "", True), ([k("g"), k("f")], "", False)],
    ),
    (
        "one call after another, and a third at any time",
        {"expect": [{"name": "f", "as": "first"}, {"name": "g", "after": ["first"]}, "h"]},
        [
            ([k("h"), k("f"), k("g")], "", True),
            ([k("f"), k("h"), k("g")], "", True),
            ([k("g"), k("h"), k("f")], "", False),
        ],
    ),
    (
        "months and hours of a date",
        {
            "date": "2026-01-31T09:00",
            "expect": {"f": {"due": {"$date": "today+1mo"}, "at": {"$date": "now+90min"}}},
        },
        [
            ([k("f", due="2026-02-28", at="2026-01-31T10:30")], "", True),
            ([k("f", due="2026-03-03", at="2026-01-31T10:30")], "", False),
            ([k("f", due="2026-02-28", at="2026-01-31T10:00")], "", False),
        ],
    ),
    (
        "texts that are one of several, and a whole text",
        {"expect": "none", "says": [{"$one_of": ["yes", "sure"]}], "not_says": {"$is": "sure."}},
        [([], "Yes, it is.", True), ([], "No.", False), ([], "Sure.", False)],
    ),
    (
        "a matcher deep inside of a list of objects",
        {"expect": {"f": {"rows": [{"id": 1, "when": {"$pattern": "^2026"}}, {"id": 2}]}}},
        [
            ([k("f", rows=[{"id": 1, "when": "2026-01-01"}, {"id": 2}])], "", True),
            ([k("f", rows=[{"id": 1, "when": "2025-01-01"}, {"id": 2}])], "", False),
            ([k("f", rows=[{"id": 2}, {"id": 1, "when": "2026-01-01"}])], "", False),
        ],
    ),
]


@pytest.mark.parametrize(("case", "replies"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD])
def test_a_case_means_what_the_form_says(
    tmp_path: Path, case: dict[str, Any], replies: list[tuple[list[Any], str, bool]]
):
    unit = unit_of(tmp_path, {"input": "x", **case})
    assert [is_right(unit, calls, text) for calls, text, _ in replies] == [right for *_, right in replies]


@pytest.mark.parametrize("case", [row[1] for row in GOOD], ids=[row[0] for row in GOOD])
def test_the_schema_for_editors_takes_what_the_reader_takes(case: dict[str, Any]):
    SCHEMA.validate({"input": "x", **case})


def test_the_schema_for_editors_has_the_keys_and_matchers_of_the_form():
    parts: dict[str, dict[str, Any]] = SCHEMA_DOCUMENT["$defs"]
    common, judged, options = (parts[name]["properties"].keys() for name in ("common", "judged", "options"))
    assert common == DEFAULT_KEYS
    assert {*parts["case"]["properties"], *common, *judged} == CASE_KEYS
    assert {*parts["turn"]["properties"], *judged} == TURN_KEYS
    assert options == CALL_KEYS
    assert parts["matcher"]["properties"].keys() == MATCHERS


def test_a_history_in_any_shape_comes_before_the_turn(tmp_path: Path):
    messages = [{"role": "user", "content": "hi"}, {"role": "model", "parts": [{"text": "hello"}]}]
    unit = unit_of(tmp_path, {"messages": [*messages, {"role": "user", "content": "track"}], "expect": "f"})
    assert [message["role"] for message in unit.messages] == ["user", "assistant", "user"]


def test_a_number_without_quotes_is_the_text_that_was_typed_where_the_tool_takes_a_text(tmp_path: Path):
    tool = {
        "name": "ship",
        "parameters": {
            "type": "object",
            "properties": {
                "postcode": {"type": "string"},
                "price": {"type": "string"},
                "n": {"type": "integer"},
            },
        },
    }
    text = f"""
defaults: {{tools: [{tool!s}]}}
cases:
- input: x
  expect: {{ship: {{postcode: 01067, price: 12.50, n: 3}}}}
"""
    ((_, unit),) = read(tmp_path, text.replace("'", '"')).cases[0].units.items()
    assert is_right(unit, [k("ship", postcode="01067", price="12.50", n=3)])
    assert not is_right(unit, [k("ship", postcode="1067", price="12.50", n=3)])


def test_words_and_times_that_older_yaml_reads_otherwise_stay_texts(tmp_path: Path):
    text = "- input: x\n  expect: {f: {a: no, b: on, c: 10:30, d: 2026-03-30, e: 0x1F, g: 1_000}}\n"
    ((_, unit),) = read(tmp_path, text).cases[0].units.items()
    call = k("f", a="no", b="on", c="10:30", d="2026-03-30", e="0x1F", g="1_000")
    assert is_right(unit, [call])


def test_the_day_of_a_case_is_said_to_the_model_once(tmp_path: Path):
    text = """
defaults: {date: "2026-03-30"}
cases:
- {input: x, expect: f}
- {input: y, expect: f, system: "It is 2026-03-30, a Monday."}
"""
    prompts = [case.units["1"].messages[0]["content"] for case in read(tmp_path, text).cases]
    assert prompts == ["Today is 2026-03-30.", "It is 2026-03-30, a Monday."]


def test_a_prompt_of_another_folder_is_not_read(tmp_path: Path):
    (tmp_path / "secret.txt").write_text("key", encoding="utf-8")
    (tmp_path / "own").mkdir()
    found = read(
        tmp_path / "own", '{"input": "x", "expect": "f", "system": "@../secret.txt"}', "a.cases.jsonl"
    )
    assert [fault.field for fault in found.errors] == ["system"]


def test_long_ids_that_begin_alike_stay_apart(tmp_path: Path):
    begin = "Please look at the order that I made last week, number "
    text = "\n".join(f"- {{input: '{begin}{number}', expect: f}}" for number in (1, 2))
    assert len({case.id for case in read(tmp_path, text).cases}) == 2


@pytest.mark.parametrize("place", ["case", "defaults"])
def test_what_is_free_or_forbidden_in_a_case_is_so_in_each_of_its_turns(tmp_path: Path, place: str):
    settings = {"also": "get", "never": ["delete"], "order": "listed"}
    case: dict[str, Any] = {"turns": [{"input": "x", "expect": ["f", "g"]}, {"input": "y", "expect": []}]}
    document = {
        "defaults": settings if place == "defaults" else {},
        "cases": [{**case, **settings} if place == "case" else case],
    }
    (read_case,) = read(tmp_path, json.dumps(document), "own.cases.json").cases
    first, second = read_case.units.values()
    assert is_right(first, [k("f"), k("get"), k("g")]) and not is_right(first, [k("g"), k("f")])
    assert is_right(second, [k("get")])
    assert not is_right(second, [k("delete")])
    assert second.expectation.never == first.expectation.never != ()


def test_a_skipped_case_is_left_out(tmp_path: Path):
    found = read(tmp_path, "- {input: x, expect: f, skip: the tool is gone}\n- {input: y, expect: f}\n")
    assert [case.units["1"].messages[-1]["content"] for case in found.cases] == ["y"]


def test_a_case_is_repeated_as_often_as_it_says(tmp_path: Path):
    found = read(tmp_path, "- {input: x, expect: f, repeat: 3}\n")
    assert len(found.cases[0].units) == 3
