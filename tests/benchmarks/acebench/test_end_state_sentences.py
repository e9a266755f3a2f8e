"""Comparisons of end states and milestones, sentence by sentence, under both profiles."""

# ruff: noqa: E501 - each sentence stands on one line

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench.sandbox_build import record
from wildtool.benchmarks.acebench.episode.end_state import (
    EndState,
    compare_end_state,
    compare_states,
    fixed_process_accuracy,
    made_in_order,
    parse_calls,
    process_accuracy,
    same_call,
    same_values,
)
from wildtool.toolcall.call_syntax import CallExpression

COUNT, WRONG = "wrong number of class", "class attributes wrong"
EQUAL = EndState(True)


@pytest.mark.parametrize(
    ("gold", "result", "published", "fixed"),
    [
        ([], [], EQUAL, EQUAL),
        (
            [{"A": {}}],
            [],
            EndState(False, COUNT),
            EndState(False, COUNT, (("classes: expected ['A'], found []",),)),
        ),
        ({"A": {"x": 1}}, [{"A": {"x": 1}}], EQUAL, EQUAL),
        (
            [{"A": {"x": 1}}],
            [{"B": {"x": 1}}],
            EQUAL,
            EndState(False, COUNT, (("classes: expected ['A'], found ['B']",),)),
        ),
        (
            [{"A": {"x": 1}}, {"B": {}}],
            [{"A": {"x": 2, "y": 3}}, {"B": {"z": 1}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(x) wrong, [expected: 1, real: 2]",
                        "class(A) attributes(y) missing in possible_answer.",
                    ),
                    ("class(B) attributes(z) missing in possible_answer.",),
                ),
            ),
            EndState(
                False,
                WRONG,
                (
                    ("A.x: expected 1, found 2", "A.y: expected nothing, found 3"),
                    ("B.z: expected nothing, found 1",),
                ),
            ),
        ),
        (
            [{"A": {"x": 1}}, {"C": {}}],
            [{"A": {"x": 2}}, {"B": {}}],
            EndState(
                False,
                WRONG,
                (
                    ("class(A) attributes(x) wrong, [expected: 1, real: 2]",),
                    ("class(A) attributes(x) wrong, [expected: 1, real: 2]",),
                ),
            ),
            EndState(False, COUNT, (("classes: expected ['A', 'C'], found ['A', 'B']",),)),
        ),
        (
            [{"A": {"x": {"a": 1, "b": 2, "c": 3}}}],
            [{"A": {"x": {"b": 5, "c": 3, "d": 4}}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(x) wrong, [expected: {'a': 1, 'b': 2, 'c': 3}, real: {'b': 5, 'c': 3, 'd': 4}]",
                        "class(A) attributes(x.b) wrong, [expected: 2, real: 5]",
                    ),
                ),
            ),
            EndState(
                False,
                WRONG,
                (
                    (
                        "A.x.a: expected 1, found nothing",
                        "A.x.b: expected 2, found 5",
                        "A.x.d: expected nothing, found 4",
                    ),
                ),
            ),
        ),
        (
            [{"A": {"x": {"a": 1}}}],
            [{"A": {"x": 5}}],
            EndState(False, WRONG, (("class(A) attributes(x) wrong, [expected: {'a': 1}, real: 5]",),)),
            EndState(False, WRONG, (("A.x: expected {'a': 1}, found 5",),)),
        ),
        (
            [{"A": {"x": [1, 2]}}],
            [{"A": {"x": [2, 1]}}],
            EndState(False, WRONG, (("class(A) attributes(x) wrong, [expected: [1, 2], real: [2, 1]]",),)),
            EndState(False, WRONG, (("A.x[0]: expected 1, found 2", "A.x[1]: expected 2, found 1"),)),
        ),
        (
            [{"A": {"x": 1.0, "t": True}}],
            [{"A": {"x": 1, "t": 1}}],
            EQUAL,
            EndState(False, WRONG, (("A.t: expected True, found 1",),)),
        ),
        (
            [{"A": {"n": 0.1, "m": 3}}],
            [{"A": {"n": 0.1000000000001, "m": 3.0}}],
            EndState(
                False, WRONG, (("class(A) attributes(n) wrong, [expected: 0.1, real: 0.1000000000001]",),)
            ),
            EQUAL,
        ),
        (
            [{"A": {"n": 0.1}}],
            [{"A": {"n": 0.10000000000000002}}],
            EndState(
                False, WRONG, (("class(A) attributes(n) wrong, [expected: 0.1, real: 0.10000000000000002]",),)
            ),
            EQUAL,
        ),
        (
            [{"A": {"message": "Hello, Ann", "text": "Hello, Ann", "title": "A", "description": "two"}}],
            [{"A": {"message": "hello Ann!", "text": "hello Ann!", "title": "B", "description": "2"}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(message) wrong, [expected: Hello, Ann, real: hello Ann!]",
                        "class(A) attributes(text) wrong, [expected: Hello, Ann, real: hello Ann!]",
                        "class(A) attributes(title) wrong, [expected: A, real: B]",
                        "class(A) attributes(description) wrong, [expected: two, real: 2]",
                    ),
                ),
            ),
            EndState(
                False,
                WRONG,
                (("A.text: expected 'Hello, Ann', found 'hello Ann!'", "A.title: expected 'A', found 'B'"),),
            ),
        ),
        (
            [{"A": {"list": [1, {"b": 2}, 3]}}],
            [{"A": {"list": [1, {"b": 3, "c": 4}]}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(list) wrong, [expected: [1, {'b': 2}, 3], real: [1, {'b': 3, 'c': 4}]]",
                    ),
                ),
            ),
            EndState(
                False,
                WRONG,
                (
                    (
                        "A.list[1].b: expected 2, found 3",
                        "A.list[1].c: expected nothing, found 4",
                        "A.list[2]: expected 3, found nothing",
                    ),
                ),
            ),
        ),
        (
            [{"A": {"list": [1]}}],
            [{"A": {"list": [1, 2, 3]}}],
            EndState(False, WRONG, (("class(A) attributes(list) wrong, [expected: [1], real: [1, 2, 3]]",),)),
            EndState(
                False,
                WRONG,
                (("A.list[1]: expected nothing, found 2", "A.list[2]: expected nothing, found 3"),),
            ),
        ),
        (
            [{"A": {"orders": [{"p": 1}, {"p": 1}, {"p": 2}]}}],
            [{"A": {"orders": [{"p": 2}, {"p": 1}, {"p": 3}]}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(orders) wrong, [expected: [{'p': 1}, {'p': 1}, {'p': 2}], real: [{'p': 2}, {'p': 1}, {'p': 3}]]",
                    ),
                ),
            ),
            EndState(
                False,
                WRONG,
                (
                    (
                        "A.orders[1]: expected {'p': 1}, found none",
                        "A.orders: expected nothing more, found {'p': 3}",
                    ),
                ),
            ),
        ),
        (
            [
                {
                    "A": {
                        "reservations": [{"reservation_id": "1", "f": 1}],
                        "items": ["b", "a"],
                        "logged_in_users": [],
                    }
                }
            ],
            [
                {
                    "A": {
                        "reservations": [{"reservation_id": "7", "f": 1}],
                        "items": ["a", "b"],
                        "logged_in_users": ["x"],
                    }
                }
            ],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(reservations) wrong, [expected: [{'reservation_id': '1', 'f': 1}], real: [{'reservation_id': '7', 'f': 1}]]",
                        "class(A) attributes(items) wrong, [expected: ['b', 'a'], real: ['a', 'b']]",
                        "class(A) attributes(logged_in_users) wrong, [expected: [], real: ['x']]",
                    ),
                ),
            ),
            EndState(False, WRONG, (("A.logged_in_users: expected nothing more, found 'x'",),)),
        ),
        (
            [{"A": {"x": "y" * 300, "n": None}}],
            [{"A": {"x": ["z"], "n": 0}}],
            EndState(
                False,
                WRONG,
                (
                    (
                        "class(A) attributes(x) wrong, [expected: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy, real: ['z']]",
                        "class(A) attributes(n) wrong, [expected: None, real: 0]",
                    ),
                ),
            ),
            EndState(
                False,
                WRONG,
                (
                    (
                        "A.x: expected 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…, found ['z']",
                        "A.n: expected None, found 0",
                    ),
                ),
            ),
        ),
        (
            [{"A": {"x": 1}}, {"B": {"y": 1}}],
            [{"B": {"y": 2}}, {"A": {"x": 2}}],
            EndState(
                False,
                WRONG,
                (
                    ("class(A) attributes(x) wrong, [expected: 1, real: 2]",),
                    ("class(B) attributes(y) wrong, [expected: 1, real: 2]",),
                ),
            ),
            EndState(False, WRONG, (("A.x: expected 1, found 2",), ("B.y: expected 1, found 2",))),
        ),
        (
            [{"A": {"x": {"k": 1}}}],
            [{"A": {"x": [1]}}],
            EndState(False, WRONG, (("class(A) attributes(x) wrong, [expected: {'k': 1}, real: [1]]",),)),
            EndState(False, WRONG, (("A.x: expected {'k': 1}, found [1]",),)),
        ),
    ],
)
def test_what_differs_in_two_end_states(gold: Any, result: Any, published: EndState, fixed: EndState) -> None:
    assert compare_end_state(gold, result) == published
    corrected = replace(record(), end_state=(gold,) if isinstance(gold, dict) else tuple(gold))
    assert compare_states(corrected, result) == fixed


@pytest.mark.parametrize(
    ("milestones", "process", "published", "fixed"),
    [
        (("[f(a=1)]", "[g()]", "[h()]"), [], 0.0, 0.0),
        (("[f(a=1)]", "[g()]", "[h()]"), ["[f(a=1)]"], 0.333333, 0.333333),
        (("[f(a=1)]", "[g()]", "[h()]"), [" [f(a=1)] ", "[h()]", "[g()]"], 0.666667, 0.666667),
        (("[f(a=1)]", "[g()]", "[h()]"), ["[g()]", "[h()]", "[f(a=1)]"], 0.333333, 0.666667),
        (("[f(a=1)]", "[g()]", "[h()]"), ["[f(a=1), g()]"], 0.0, 0.666667),
        (("[f(a=1)]", "[g()]", "[h()]"), ["words", "[g()]"], 0.0, 0.333333),
        (("[f(a=1)]", "[g()]", "[h()]"), ["[g(), h()]"], 0.0, 0.666667),
        (("[f(a=1)]", "[g()]", "[h()]"), ["[f( a=1 )]", "[ g() ]", "[h()]"], 0.0, 1.0),
        (("[f(a=1), g()]",), [], 0.0, 0.0),
        (("[f(a=1), g()]",), ["[f(a=1)]"], 0.0, 0.5),
        (("[f(a=1), g()]",), [" [f(a=1)] ", "[h()]", "[g()]"], 0.0, 1.0),
        (("[f(a=1), g()]",), ["[g()]", "[h()]", "[f(a=1)]"], 0.0, 0.5),
        (("[f(a=1), g()]",), ["[f(a=1), g()]"], 1.0, 1.0),
        (("[f(a=1), g()]",), ["words", "[g()]"], 0.0, 0.5),
        (("[f(a=1), g()]",), ["[g(), h()]"], 0.0, 0.5),
        (("[f(a=1), g()]",), ["[f( a=1 )]", "[ g() ]", "[h()]"], 0.0, 1.0),
        (("words", "[g()]"), [], 0.0, 0.0),
        (("words", "[g()]"), ["[f(a=1)]"], 0.0, 0.0),
        (("words", "[g()]"), [" [f(a=1)] ", "[h()]", "[g()]"], 0.0, 0.5),
        (("words", "[g()]"), ["[g()]", "[h()]", "[f(a=1)]"], 0.0, 0.5),
        (("words", "[g()]"), ["[f(a=1), g()]"], 0.0, 0.5),
        (("words", "[g()]"), ["words", "[g()]"], 1.0, 1.0),
        (("words", "[g()]"), ["[g(), h()]"], 0.0, 0.5),
        (("words", "[g()]"), ["[f( a=1 )]", "[ g() ]", "[h()]"], 0.0, 0.5),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), [], 0.0, 0.0),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["[f(a=1)]"], 0.0, 0.5),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), [" [f(a=1)] ", "[h()]", "[g()]"], 0.5, 0.5),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["[g()]", "[h()]", "[f(a=1)]"], 1.0, 1.0),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["[f(a=1), g()]"], 0.0, 0.5),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["words", "[g()]"], 0.5, 0.5),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["[g(), h()]"], 0.0, 1.0),
        ((("[x()]", "[f(a=1)]"), ("[g()]", "[h()]")), ["[f( a=1 )]", "[ g() ]", "[h()]"], 0.0, 1.0),
        ((), [], 1.0, 1.0),
        ((), ["[f(a=1)]"], 1.0, 1.0),
        ((), [" [f(a=1)] ", "[h()]", "[g()]"], 1.0, 1.0),
        ((), ["[g()]", "[h()]", "[f(a=1)]"], 1.0, 1.0),
        ((), ["[f(a=1), g()]"], 1.0, 1.0),
        ((), ["words", "[g()]"], 1.0, 1.0),
        ((), ["[g(), h()]"], 1.0, 1.0),
        ((), ["[g(message='Hi there')]"], 1.0, 1.0),
        ((), ["[f( a=1 )]", "[ g() ]", "[h()]"], 1.0, 1.0),
        (((), ("[f()]",)), [], 1.0, 1.0),
        (((), ("[f()]",)), ["[f(a=1)]"], 1.0, 1.0),
        (((), ("[f()]",)), [" [f(a=1)] ", "[h()]", "[g()]"], 1.0, 1.0),
        (((), ("[f()]",)), ["[g()]", "[h()]", "[f(a=1)]"], 1.0, 1.0),
        (((), ("[f()]",)), ["[f(a=1), g()]"], 1.0, 1.0),
        (((), ("[f()]",)), ["words", "[g()]"], 1.0, 1.0),
        (((), ("[f()]",)), ["[g(), h()]"], 1.0, 1.0),
        (((), ("[f()]",)), ["[g(message='Hi there')]"], 1.0, 1.0),
        (((), ("[f()]",)), ["[f( a=1 )]", "[ g() ]", "[h()]"], 1.0, 1.0),
        (("[g(message='hi there!')]",), [], 0.0, 0.0),
        (("[g(message='hi there!')]",), ["[f(a=1)]"], 0.0, 0.0),
        (("[g(message='hi there!')]",), ["[g(message='Hi there')]"], 0.0, 1.0),
        # Code counts as it is written, where gold is code.
        (("[g(message='Print(x)')]",), ["[g(message='print(x)')]"], 0.0, 1.0),
        (("[g(message='print(x)')]",), ["[g(message='Print(x)')]"], 0.0, 0.0),
    ],
)
def test_the_share_of_milestones_that_was_reached(
    milestones: Any, process: list[str], published: float, fixed: float
) -> None:
    assert process_accuracy(milestones, process, end_to_end=False) == pytest.approx(published, abs=1e-6)
    assert fixed_process_accuracy(milestones, process, end_to_end=False) == pytest.approx(fixed, abs=1e-6)
    assert process_accuracy(milestones, process, end_to_end=True) == 1.0
    assert fixed_process_accuracy(milestones, process, end_to_end=True) == 1.0


def test_messages_are_parsed_into_calls_or_one_without_a_name() -> None:
    assert parse_calls(["[f(a=1), g()]", " words ", "[h()]"]) == [
        CallExpression("f", {"a": 1}),
        CallExpression("g", {}),
        CallExpression("", {"": "words"}),
        CallExpression("h", {}),
    ]


def test_calls_and_values_are_the_same_by_name_and_meaning() -> None:
    call = CallExpression("f", {"a": 1, "message": "Hello, Ann"})
    others = [
        CallExpression("f", {"message": "hello Ann", "a": 1.0}),
        CallExpression("g", call.arguments),
        CallExpression("f", {"a": 1}),
        CallExpression("f", {**call.arguments, "b": None}),
        CallExpression("f", {"a": True, "message": "Hello, Ann"}),
    ]
    assert [same_call(call, other) for other in others] == [True, False, False, False, False]
    pairs: list[tuple[Any, Any, str]] = [
        ("a b", "A b!", "message"),
        ("a b", "A b!", ""),
        ([1, 2], (1, 2), "x"),
        ([1, 2], [2, 1], "x"),
        ([1, 2], [2, 1], "orders"),
        (None, None, ""),
        (None, 0, ""),
        (1, "1", ""),
        ("Print(x)", "print(x)", "message"),
        ("print(x)", "Print(x)", "message"),
        ([{"message": "Print(x)"}], [{"message": "print(x)"}], "orders"),
        ([{"message": "print(x)"}], [{"message": "Print(x)"}], "orders"),
        (["a", "b"], "ab", "x"),
        ("ab", ["a", "b"], "x"),
        (b"x", b"y", ""),
        (b"x", b"x", ""),
        (1, 1 + 0j, ""),
        (10**400, 0.5, ""),
    ]
    assert [same_values(*pair) for pair in pairs] == [
        True,
        False,
        True,
        False,
        True,
        True,
        False,
        False,
        True,
        False,
        True,
        False,
        False,
        False,
        False,
        True,
        False,
        False,
    ]


def test_a_difference_shows_200_characters_of_a_value() -> None:
    shown = [198 * "x", 199 * "x"]
    (sentences,) = compare_states(
        replace(record(), end_state=({"C": {"a": shown[0]}},)), [{"C": {"a": shown[1]}}]
    ).errors
    assert sentences == (f"C.a: expected '{shown[0]}', found '{shown[1]}…",)


@pytest.mark.parametrize(
    ("gold", "calls", "reached"),
    [
        ("", "", {}),
        ("ab", "ab", {0: 0, 1: 1}),
        ("ab", "ba", {1: 0}),
        ("abc", "xaybzc", {0: 1, 1: 3, 2: 5}),
        ("abc", "cab", {0: 1, 1: 2}),
        ("aab", "ab", {0: 0, 2: 1}),
        ("ab", "aab", {0: 0, 1: 2}),
        ("abcd", "bdac", {1: 0, 3: 1}),
        ("abcbdab", "bdcaba", {1: 0, 4: 1, 5: 3, 6: 4}),
        ("xmjyauz", "mzjawxu", {1: 0, 2: 2, 4: 3, 5: 6}),
    ],
)
def test_milestones_are_a_longest_common_subsequence(gold: str, calls: str, reached: dict[int, int]) -> None:
    milestones, made_calls = ([CallExpression(name, {}) for name in names] for names in (gold, calls))
    assert made_in_order(milestones, made_calls) == reached
