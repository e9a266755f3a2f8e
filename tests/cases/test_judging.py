"""Why a turn is wrong: the class of the mistake, the value and the rule."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.reading import is_right, k, unit_of
from long import a_fiftieth_of
from wildtool.own_cases.judging import judge_turn
from wildtool.own_cases.matching import Use, misfit

EXPECTED = {"expect": [{"f": {"a": 1}}, {"g": {"b": "x"}}], "never": ["drop"], "says": "ok"}


@pytest.mark.parametrize(
    ("case", "calls", "text", "error", "words"),
    [
        (EXPECTED, [k("f", a=1), k("g", b="x")], "OK", None, ""),
        (EXPECTED, [k("f", a=1), k("g", b="x")], "no", "wrong text", '"ok"'),
        (EXPECTED, [], "ok", "no call", "f, g"),
        (EXPECTED, [k("f", a=1)], "ok", "missing call", "g"),
        (EXPECTED, [k("f", a=2), k("g", b="x")], "ok", "other arguments", "a: 2"),
        (EXPECTED, [k("f", a=1), k("g", b="x"), k("f", a=1)], "ok", "extra call", "f"),
        (EXPECTED, [k("f", a=1), k("h")], "ok", "other tool", "h is called; expected g"),
        (EXPECTED, [k("f", a=1), k("g", b="x"), k("drop")], "ok", "forbidden call", "drop"),
        ({"expect": []}, [k("f")], "", "needless call", "f"),
        ({"expect": ["f", "g"], "order": "listed"}, [k("g"), k("f")], "", "other order", "g, f"),
        (
            {"expect": {"f": {"a": {"$pattern": "^A-"}}}},
            [k("f", a="B-1")],
            "",
            "other arguments",
            '"B-1" does not fit "^A-" ($pattern)',
        ),
        (
            {"expect": {"f": {"o": {"p": [{"$lt": 3}]}}}},
            [k("f", o={"p": [4]})],
            "",
            "other arguments",
            "o.p[0]: 4 is not less than 3",
        ),
    ],
)
def test_the_reason_names_value_and_rule(
    tmp_path: Path, case: dict[str, Any], calls: list[Any], text: str, error: str | None, words: str
):
    judgement = judge_turn(unit_of(tmp_path, {"input": "x", **case}).expectation, calls, text)
    assert judgement.error == error
    assert words in judgement.reason


PAY = {"type": "object", "properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (k("pay", amount=50), True),
        (k("pay", amount="50"), True),
        (k("pay", to="Bo"), True),
        (k("pay", amount=500), False),
        (k("pay", amount="500", to="Bo"), False),
        (k("pay", amount="1,500.50"), False),
        (k("pay", Amount=500), False),
        (k("Pay", amount=500), False),
        (k("functions.pay", amount=500), False),
        (k("pay_all", amount=500), True),
    ],
)
def test_a_forbidden_call_is_one_in_any_spelling_that_a_tool_may_take(tmp_path: Path, call: Any, right: bool):
    case = {
        "input": "Pay Bo.",
        "tools": [{"name": "pay", "parameters": PAY}, {"name": "pay_all", "parameters": PAY}],
        "never": [{"pay": {"amount": {"$gt": 100}}}],
    }
    assert is_right(unit_of(tmp_path, case), [call]) == right


@pytest.mark.parametrize(("name", "right"), [("delete_user", False), ("delete", True), ("Delete", True)])
def test_a_pattern_forbids_the_names_that_it_matches_and_not_its_own_letters(
    tmp_path: Path, name: str, right: bool
):
    case = {"input": "Clean up.", "never": ["delete_*"]}
    assert is_right(unit_of(tmp_path, case), [k(name)]) == right


def test_another_value_than_one_that_is_excluded_is_a_value_where_one_is_needed(tmp_path: Path):
    schema = {"type": "object", "properties": {"env": {"type": "string"}, "to": {"type": "string"}}}
    tools = [{"name": "deploy", "parameters": {**schema, "required": ["env"]}}]
    expected = {"input": "x", "tools": tools, "expect": {"deploy": {"env": {"$not": "prod"}}}}
    given = [k("deploy", env="test"), k("deploy", env="prod"), k("deploy")]
    assert [is_right(unit_of(tmp_path, expected), [call]) for call in given] == [True, False, False]
    free = {**expected, "expect": {"deploy": {"env": "a", "to": {"$not": "prod"}}}}
    assert is_right(unit_of(tmp_path, free), [k("deploy", env="a")])
    forbidden = {"input": "x", "tools": tools, "never": [{"deploy": {"env": {"$not": "test"}}}]}
    assert [is_right(unit_of(tmp_path, forbidden), [call]) for call in given] == [True, False, False]


TOOL = {
    "name": "search",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "when": {"type": "string", "description": "date"},
        },
        "required": ["query"],
    },
}


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"query": "Running Shoes"}, True),
        ({"query": "running shoes", "limit": 10}, True),
        ({"query": "running shoes", "limit": 5}, False),
        ({"query": "walking shoes"}, False),
        ({"query": "running shoes", "page": 1}, False),
    ],
)
def test_plain_values_are_compared_by_meaning_under_the_schema_of_the_tool(
    tmp_path: Path, given: dict[str, Any], right: bool
):
    unit = unit_of(
        tmp_path, {"input": "x", "tools": [TOOL], "expect": {"search": {"query": "running shoes"}}}
    )
    judgement = judge_turn(unit.expectation, [("search", given)], "", unit.parameters)
    assert (judgement.error is None) == right


def test_a_plain_value_beside_a_matcher_is_compared_by_meaning_too(tmp_path: Path):
    case = {
        "input": "x",
        "tools": [TOOL],
        "expect": {"search": {"query": {"$contains": "shoes"}, "when": "2026-03-30"}},
    }
    unit = unit_of(tmp_path, case)
    made = [("search", {"query": "red shoes", "when": "March 30, 2026"})]
    assert judge_turn(unit.expectation, made, "", unit.parameters).error is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
MATCHERS = st.sampled_from(
    [
        {"$is": 1},
        {"$exact": "a"},
        {"$one_of": [1, "a", [1]]},
        {"$any": True},
        {"$absent": True},
        {"$maybe": {"a": 1}},
        {"$not": [1]},
        {"$pattern": "^a+$"},
        {"$contains": ["a", 1]},
        {"$has": {"a": {"$gt": 1}}},
        {"$unordered": [1, {"$any": True}]},
        {"$gt": 1, "$lte": "z"},
        {"$near": 1.5, "$within": 0.5},
        {"$date": "2026-03-30"},
    ]
)


@settings(max_examples=a_fiftieth_of(20_000), deadline=None)
@given(MATCHERS, JSON | st.sampled_from(["\ud800", 10**400, "a" * 10_000]))
def test_no_value_of_a_model_makes_a_matcher_fail(matcher: dict[str, Any], value: Any):
    assert isinstance(misfit(matcher, value, Use("a", {}, {})), str)


@settings(max_examples=a_fiftieth_of(10_000), deadline=None)
@given(JSON.filter(lambda value: value is not None), JSON)
def test_not_is_the_other_way_round(gold: Any, value: Any):
    use = Use("a", {}, {})
    assert bool(misfit({"$not": {"$is": gold}}, value, use)) != bool(misfit({"$is": gold}, value, use))
