"""Seal-Tools' decisions in full: what each profile counts of a reply, which error it names, and what `fixed` can read."""

import json
from typing import Any

import pytest

from benchmarks.sealtools.sealtools_build import BOAT, TIDE, parsed, record
from wildtool.benchmark import Check
from wildtool.benchmarks.sealtools.data import parse_record
from wildtool.benchmarks.sealtools.judge import (
    ERRORS,
    MAX_CHARACTERS,
    MAX_LISTS,
    MAX_WRAPS,
    SCORERS,
    Counts,
    ratios,
    read_fixed,
    read_published,
    same_value,
)

GOLD = {"gold_api": 2, "gold_param": 3}
ALL = {"parsed": 1, **GOLD, "pred_api": 2, "pred_param": 3, "ok_api": 2, "ok_param": 3}
ONCE_MORE = {"pred_api": 3, "pred_param": 5, "ok_api": 3, "ok_param": 5}
KEYS = (("api",), ("parameters",), ("responses",))


def decision(check: Check) -> tuple[str | None, str, dict[str, Any]]:
    """Error, reason, and the columns that are not 0 or empty."""
    assert check.correct == (check.error is None)
    return check.error, check.reason, {name: value for name, value in check.fields.items() if value}


@pytest.mark.parametrize(
    ("calls", "error", "reason", "columns", "others"),
    [
        ([TIDE, BOAT], None, "exactly the gold calls", ALL, {}),
        (
            [TIDE, TIDE, BOAT],
            "extra_call",
            "a call more than gold has",
            ALL | ONCE_MORE,
            {
                "fixed": (
                    "wrong_api",
                    "an API that gold does not call",
                    ALL | {"pred_api": 3, "pred_param": 5, "wrong_api": 1},
                )
            },
        ),
        (
            [TIDE],
            "missing_call",
            "a gold call is missing",
            ALL | {"pred_api": 1, "pred_param": 2, "ok_api": 1, "ok_param": 2},
            {},
        ),
        (
            [TIDE, {**BOAT, "api": "sayHello"}],
            "wrong_api",
            "an API that gold does not call",
            ALL | {"ok_api": 1, "ok_param": 2, "wrong_api": 1},
            {},
        ),
        (
            [{**TIDE, "parameters": {"harbour": "Porto", "zz": "1"}}, BOAT],
            "unknown_param",
            "a parameter that the gold call does not have",
            ALL | {"ok_param": 1, "unknown_param": 1, "wrong_value": 1},
            {},
        ),
        (
            [{**TIDE, "parameters": {"harbour": "Porto", "hour": "7"}}, BOAT],
            "wrong_value",
            "another value than gold's",
            ALL | {"ok_param": 2, "wrong_value": 1},
            {},
        ),
        (
            [{**TIDE, "parameters": {"harbour": "Vigo"}}, BOAT],
            "missing_param",
            "a parameter of gold is missing",
            ALL | {"pred_param": 2, "ok_param": 2},
            {},
        ),
        (
            [TIDE, {"name": "bookBoat"}, BOAT],
            "missing_api",
            "an entry of the list names no API",
            ALL | {"missing_api": 1},
            {},
        ),
        (
            [{"api": "getTide", "arguments": TIDE["parameters"], "responses": []}, BOAT],
            None,
            "exactly the gold calls",
            ALL,
            {
                "original": (
                    "missing_param",
                    "a parameter of gold is missing",
                    ALL | {"pred_param": 1, "ok_param": 1},
                )
            },
        ),
    ],
)
def test_each_profile_counts_a_reply_and_names_its_first_error(
    calls: list[Any], error: str | None, reason: str, columns: dict[str, int], others: dict[str, Any]
) -> None:
    for profile, scorer in SCORERS.items():
        check = scorer.check(json.dumps(calls), parsed(TIDE, BOAT))
        assert decision(check) == others.get(profile, (error, reason, columns)), profile
        assert check.detail == {"calls": calls}


@pytest.mark.parametrize("profile", SCORERS)
def test_a_reply_without_calls_counts_gold_alone(profile: str) -> None:
    for text in (None, "", "words"):
        check = SCORERS[profile].check(text, parsed(TIDE, BOAT))
        assert decision(check) == ("format_error", "no list of calls can be read", GOLD)
        assert check.detail == {"calls": None}
        assert {*check.fields} == {*Counts.__dataclass_fields__, "reference_error"}


@pytest.mark.parametrize(
    ("entry", "raised"),
    [(7, True), (["api"], True), ("an api", True), (None, True), ("x", False), (["y"], False), ({}, False)],
)
def test_an_entry_that_is_no_call_ends_the_originals_where_they_look_for_a_name_in_it_q8(
    entry: Any, raised: bool
) -> None:
    columns = ALL | {"pred_api": 1, "pred_param": 2, "ok_api": 1, "ok_param": 2, "missing_api": 1}
    end = "; the published evaluator raises TypeError here" if raised else ""
    error = {"reference_error": "TypeError"} if raised else {}
    for profile in SCORERS:
        own_end, own_error = ("", {}) if profile == "fixed" else (end, error)
        found = decision(SCORERS[profile].check(json.dumps([TIDE, entry]), parsed(TIDE, BOAT)))
        assert found == ("missing_api", f"an entry of the list names no API{own_end}", columns | own_error)


def test_errors_are_named_in_their_order() -> None:
    counts: dict[str, int] = {"parsed": 1, "pred_api": 3, "ok_api": 1, "gold_api": 2}
    named = [Counts().first_error]
    for name in (*reversed(ERRORS[1:5]), None):
        named.append(Counts(**counts).first_error)
        counts |= {name: 1} if name else {}
    assert named == [
        "format_error",
        "missing_call",
        "wrong_value",
        "unknown_param",
        "wrong_api",
        "missing_api",
    ]
    assert [
        Counts(parsed=1, pred_api=pred, ok_api=ok, gold_api=2, ok_param=values, gold_param=1).first_error
        for pred, ok, values in ((2, 2, 1), (2, 2, 0), (2, 2, 2), (3, 2, 1), (3, 3, 1), (1, 1, 1))
    ] == [None, "missing_param", "missing_param", "extra_call", "extra_call", "missing_call"]


def test_counts_add_up_name_by_name() -> None:
    names = [*Counts.__dataclass_fields__]
    first, second = Counts(*range(11)), Counts(*range(100, 1200, 100))
    assert {name: getattr(first + second, name) for name in names} == {
        name: 101 * place + 100 for place, name in enumerate(names)
    }


def test_ratios_are_those_with_a_hit() -> None:
    assert ratios(Counts(), 4) == {}
    assert ratios(Counts(parsed=1, ok_api=1, pred_api=2), 4) == {"AMOUNT": 0.25}
    assert ratios(Counts(parsed=1, gold_api=1, pred_api=2), 4) == {"AMOUNT": 0.25}
    counts = Counts(parsed=2, ok_api=1, pred_api=2, gold_api=4, ok_param=3, pred_param=3, gold_param=4)
    assert ratios(counts, 4) == {
        "AMOUNT": 0.5,
        "P_api": 0.5,
        "R_api": 0.25,
        "F1_api": pytest.approx(1 / 3),
        "P_param": 1.0,
        "R_param": 0.75,
        "F1_param": pytest.approx(6 / 7),
    }


# Reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (None, None),
        ("[{'api': 'a',\n'parameters': {}, 'responses': []}]x]", [{"api": "a", "parameters": {}, "responses": []}]),
        ('[ { "api": "", "parameters": [[1], 2], "responses": 1}] [3]', [{"api": "", "parameters": [[1], 2], "responses": 1}]),  # noqa: E501
        ('x [1] [{"api": "a", "parameters": {}, "responses": []}', None),
        ('[{"api": "a", "parameters": {}}]', None),
        ('[{"api": "a", "responses": {}}]', None),
        ('[{"api": a, "parameters": {}, "responses": []}]', None),
        ('[{"api": "a", "parameters": {}, "responses": []}]]', [{"api": "a", "parameters": {}, "responses": []}]),
        ('[{"name": "api", "parameters": {}, "responses": []}]', None),
    ],
)  # fmt: skip
def test_the_published_rules_read_from_the_first_list_of_calls_to_its_balanced_bracket(
    text: str | None, calls: Any
) -> None:
    assert read_published(text, KEYS) == calls


A, B, C = ({"api": name} for name in "abc")
SKELETON = '[{"api": ""}]'


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (json.dumps([A, B]), [A, B]),
        (f"{SKELETON} {json.dumps([A])} {json.dumps([B])}", [A]),
        (f"[1] {{}} {json.dumps([B, 7, 'x'])}", [B, 7, "x"]),
        (repr([A, {"api": "it's"}]), [A, {"api": "it's"}]),
        (json.dumps({"x": [1, {"y": [A, B]}], "z": [C]}), [A, B]),
        (json.dumps({"x": {"y": A}, "z": [B]}), [A]),
        (json.dumps([[A], [B]]), [A]),
        (json.dumps([{"api": 5}, A]), [{"api": 5}, A]),
        (json.dumps([{"api": 5}]), None),
        # One object after another, with commas or without, is a list; words between end it.
        (f"{json.dumps(A)} {json.dumps(B)},\n{json.dumps(C)}", [A, B, C]),
        (f"{json.dumps(A)} and {json.dumps(B)}", [A]),
        (f"{json.dumps(A)} {{'api': 'b'}} {{c", [A, {"api": "b"}]),
        # What is left of a list that is cut off is none, but a whole one after it is.
        (f"[{json.dumps(A)}, {json.dumps(B)}", None),
        (f"[ {json.dumps(A)}, {json.dumps(B)}, {json.dumps([C])}", [C]),
        (f"[{json.dumps(A)}, {json.dumps(B)}: {json.dumps(C)}", [C]),
        (f"[{json.dumps(A)}: {json.dumps(C)}", [C]),
        ("x [{'api': 'a', 'b': [{", None),
        (f" \n<think>{json.dumps([A])}\n</think> {json.dumps([B])}", [B]),
        (f"<think>{json.dumps([A])}</think><think>{json.dumps([C])}</think> {json.dumps([B])}", [C]),
        (f"x <think>{json.dumps([A])}</think> {json.dumps([B])}", [A]),
        ("['\\'[', {'api': 'a'}]", ["'[", A]),
        ("[{'api': 'a'}]. {'api': 'b'}", [A]),
        ("{'api': 'a'}{'api': 'b'}", [A, B]),
        ("[{'api': 'a'}", None),
        ("[{'api': a}] [{'api': 'b'}]", [B]),
        ("", None),
        (None, None),
    ],
)  # fmt: skip
def test_fixed_reads_the_first_list_that_holds_a_call(text: str | None, calls: Any) -> None:
    assert read_fixed(text) == calls


def test_fixed_looks_only_so_far() -> None:
    wrapped = [json.dumps([A]) for _ in range(2)]
    for place, depth in enumerate((MAX_WRAPS, MAX_WRAPS + 1)):
        for _ in range(depth):
            wrapped[place] = f'{{"x": {wrapped[place]}}}'
    # What is too deep for the outermost object is not looked for in the ones within.
    assert list(map(read_fixed, wrapped)) == [[A], None]
    beginnings = ["[1] " * count + json.dumps([A]) for count in (MAX_LISTS - 1, MAX_LISTS)]
    assert list(map(read_fixed, beginnings)) == [[A], None]
    long = [" " * (MAX_CHARACTERS - length) + json.dumps([A]) for length in (14, 13)]
    assert list(map(read_fixed, long)) == [[A], None]


# Matching and values ---------------------------------------------------------------------------------


def fixed_counts(calls: list[Any], *gold: dict[str, Any]) -> dict[str, int]:
    counts, raised, _ = SCORERS["fixed"].counts(json.dumps(calls), parsed(*gold))
    assert raised is None
    return {name: value for name in counts.__dataclass_fields__ if (value := getattr(counts, name))}


def test_calls_of_one_name_go_to_the_gold_calls_that_they_share_most_values_with() -> None:
    def tide(**parameters: str) -> dict[str, Any]:
        return {"api": "getTide", "parameters": parameters, "responses": []}

    gold = (tide(harbour="Vigo", hour="7"), tide(harbour="Porto", hour="7"), tide(harbour="Porto", hour="9"))
    assert fixed_counts([*reversed(gold)], *gold)["ok_param"] == 6
    # Of calls that share as much, the first has its choice.
    assert fixed_counts([tide(hour="7"), tide(harbour="Porto", hour="7")], *gold)["ok_param"] == 3
    assert fixed_counts([tide(hour="8", harbour="Faro"), tide(harbour="Vigo", hour="8")], *gold) == {
        "parsed": 1,
        "gold_api": 3,
        "gold_param": 6,
        "pred_api": 2,
        "pred_param": 4,
        "ok_api": 2,
        "ok_param": 1,
        "wrong_value": 3,
    }


def test_names_of_results_are_those_of_the_first_call_that_gives_them_q12() -> None:
    both = {**TIDE, "responses": ["API_call_0", "API_call_5"]}
    boat = {**BOAT, "parameters": {"level": "API_call_5", "wind": "API_call_0"}}
    for key in ("responses", "response"):
        own = {name: value for name, value in both.items() if name != "responses"} | {key: ["x", "y", "z"]}
        call = {**BOAT, "parameters": {"level": "y", "wind": "x"}, "responses": ["x"]}
        assert fixed_counts([own, call], both, boat)["ok_param"] == 4
    odd = [{**both, "responses": [5, "y"]}, {**BOAT, "parameters": {"level": "y", "wind": "API_call_0"}}]
    assert fixed_counts(odd, both, boat)["ok_param"] == 4


@pytest.mark.parametrize(
    ("gold", "value", "same"),
    [
        ("7", 7, True), (7, "7.0", True), ("seven", 7, False), (7, "seven", False), (7, True, False),
        (True, "true", True), (True, "True", True), (False, "true", False), (None, "", True), (None, "None", False),
        ("Vigo", " vigo", True), ("Vigo", "Porto", False),
        ([], [], True), (["a", 1], ["a", "1"], True), (["a", "b"], ["b", "a"], False), (["a"], ["a", "b"], False),
        (["a"], "a", False), ("a", ["a"], False), ("['a']", ["a"], False),
        ("Print(x)", "print(x)", True), ("print(x)", "Print(x)", False),
        (["Print(x)"], ["print(x)"], True), (["print(x)"], ["Print(x)"], False),
         ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, "x", False), (["a", {"b": 1}], ["a", {"b": 1}], True), (10**400, "1", False),
    ],
)  # fmt: skip
def test_values_mean_the_same_or_not(gold: Any, value: Any, same: bool) -> None:
    assert same_value(gold, value, lambda: "harbour: which") is same


def test_only_the_value_that_the_reply_has_may_be_short_of_words_by_use() -> None:
    """The use of a parameter is asked for in lists too, and gold stays the first of the two."""
    uses: list[str] = []

    def use() -> str:
        uses.append("asked")
        return "pattern: a regular expression"

    assert not same_value(["colou?r"], ["Colou?r"], use)
    assert uses == ["asked"]
    assert same_value(["colou?r"], ["colou?r"], use)
    assert uses == ["asked"], "equal values need no use"


def test_what_a_parameter_is_for_is_looked_up_by_tool_and_key() -> None:
    text = json.dumps(record({**TIDE, "parameters": {"harbour": "colou?r", "hour": "colou?r"}}))
    # The first tool is the one that is called; the others keep what they say of `harbour`.
    described = parse_record(json.loads(text.replace("which", "a regular expression", 1)), "x")
    reply = json.dumps([{**TIDE, "parameters": {"harbour": "Colou?r", "hour": "Colou?r"}}])
    assert SCORERS["fixed"].counts(reply, described)[0].ok_param == 1
    broken = parse_record(json.loads(text.replace("api_list = [", "api_list = ")), "x")
    assert SCORERS["fixed"].counts(reply, broken)[0].ok_param == 2


def test_an_integer_that_python_does_not_print_is_another_value() -> None:
    reply = f"[{{'api': 'getTide', 'parameters': {{'harbour': 'Vigo', 'hour': 0x{'f' * 5000}}}}}]"
    fields = SCORERS["fixed"].check(reply, parsed(TIDE)).fields
    assert (fields["ok_param"], fields["wrong_value"]) == (1, 1)
