"""Profile `fixed` on Normal replies: functions by name, calls one to one, values by meaning."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.check import CheckResult
from wildtool.benchmarks.acebench.fixed.calls import check_fixed_calls
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.toolcall.call_syntax import CallExpression


def tool(name: str = "f", required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "parameters": {"type": "object", "properties": properties, "required": list(required)},
    }


ANY = tool(
    a={"type": "string"},
    n={"type": "number"},
    b={"type": "boolean"},
    l={"type": "array"},
    o={"type": "dict"},
    d={"type": "integer", "description": "How many, default is 10."},
)
DISTRACTOR = {"name": "other", "arguments": {"x": 1}}


def check(text: str, gold: Any, *functions: dict[str, Any]) -> CheckResult:
    candidates = gold if isinstance(gold, list) else [gold]
    return check_fixed_calls(parse_reply_calls(text), functions or (DISTRACTOR, ANY), candidates)


@pytest.mark.parametrize(
    ("given", "gold"),
    [
        ("a='New York'", {"a": "new york"}),
        ("l=['New York']", {"l": ["New York"]}),
        ("l=('x', 'y')", {"l": ["x", "y"]}),
        ("l=[1, 2]", {"l": [1.0, 2]}),
        ("o={'k': 'a b', 'n': 4.0}", {"o": {"n": 4, "k": "a b"}}),
        ("n=5.0", {"n": 5}),
        ("b=true", {"b": True}),
        ("", {}),
        ("", {"d": 10}),
        ("d=10", {}),
        ("", {"l": [], "o": {}, "a": ""}),
        ("l=[], o={}, a=None", {}),
    ],
)
def test_values_that_mean_the_same_pass(given: str, gold: dict[str, Any]) -> None:
    found = check(f"[f({given})]", {"f": gold})
    assert found.valid, found.reason


@pytest.mark.parametrize(
    ("given", "gold", "error"),
    [
        ("n=6", {"n": 5}, "value_error"),
        ("b=False", {"b": True}, "value_error"),
        ("b=1", {"b": True}, "type_error"),
        ("n='5'", {"n": 5}, "type_error"),
        ("a='15'", {"a": "5"}, "value_error"),
        ("a='Go to New York now'", {"a": "New York"}, "value_error"),
        ("a='anything'", {"a": ""}, "addition_args"),
        ("l=['b', 'a']", {"l": ["a", "b"]}, "value_error"),
        ("o={'k': 14}", {"o": {"k": 4}}, "value_error"),
        ("o={'k': 1, 'm': 2}", {"o": {"k": 1}}, "value_error"),
        ("o={}", {"o": {"k": 1}}, "lack_args"),
        ("", {"a": "x"}, "lack_args"),
        ("a='x', d=11", {"a": "x"}, "addition_args"),
        ("a='x', unknown=1", {"a": "x"}, "addition_args"),
    ],
)
def test_another_value_or_parameter_fails(given: str, gold: dict[str, Any], error: str) -> None:
    assert check(f"[f({given})]", {"f": gold}).error == error


def test_an_empty_value_counts_where_the_parameter_is_required() -> None:
    function = tool(required=("l",), l={"type": "array"})
    assert check("[f(l=[])]", {"f": {"l": []}}, function).valid
    assert check("[f()]", {"f": {"l": []}}, function).error == "lack_args"


def test_a_required_parameter_that_gold_lacks_is_not_asked_for() -> None:
    assert check("[f()]", {"f": {}}, tool(required=("a",), a={"type": "string"})).valid


def test_the_function_is_found_by_its_whole_name() -> None:
    optional, required = tool("book", a={"type": "string"}), tool("bookAll", ("a",), a={"type": "string"})
    assert not check("[bookAll()]", {"bookAll": {"a": ""}}, optional, required).valid
    assert check("[book()]", {"book": {"a": ""}}, required, optional).valid


def test_a_suffix_counts_calls_unless_a_function_is_called_so() -> None:
    twice = {"f_1": {"n": 1}, "f_2": {"n": 2}}
    assert check("[f(n=2), f(n=1)]", twice).valid
    named = tool("g_2", n={"type": "number"})
    assert check("[g_2(n=1)]", {"g_2": {"n": 1}}, named).valid
    assert check("[g(n=1)]", {"g_2": {"n": 1}}, named).error == "function_mismatch"
    assert check("[g_2(n=1)]", {"g_2": {"n": 1}}, named, tool("h")).valid


def test_one_call_does_not_answer_two_expected_ones() -> None:
    gold = {"f_1": {"a": "x"}, "f_2": {"a": "y"}}
    assert check("[f(a='x'), f(a='x')]", gold).error == "value_error"


def test_a_matching_is_found_where_the_first_choice_is_wrong() -> None:
    gold = {"f_1": {"n": 1, "d": 10}, "f_2": {"n": 1}, "f_3": {"n": 2}}
    for calls in permutations(("f(n=1)", "f(n=1, d=10)", "f(n=2)")):
        assert check(f"[{', '.join(calls)}]", gold).valid


def test_the_reported_fault_is_that_of_the_best_matching_in_any_order() -> None:
    gold = {"f_1": {"n": 1, "a": "x"}, "f_2": {"n": 2, "a": "y"}, "f_3": {"n": 3, "a": "z"}}
    calls = ("f(n=1, a='x')", "f(n=2, a='wrong')", "f(n=3, a='z')")
    found = {check(f"[{', '.join(order)}]", gold) for order in permutations(calls)}
    (only,) = found
    assert only.error == "value_error"
    assert "wrong" in only.reason


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[f(), f()]", "wrong functions number"),
        ("[]", "wrong functions number"),
        ("[g()]", "function_mismatch"),
    ],
)
def test_number_and_names_of_calls_come_first(text: str, error: str) -> None:
    assert check(text, {"f": {}}).error == error


def test_any_candidate_suffices_and_the_nearest_explains() -> None:
    gold = [{"g": {}}, {"f": {"n": 1}}]
    assert check("[f(n=1)]", gold).valid
    assert check("[f(n=2)]", gold).error == "value_error"
    # Wrong values in any number are nearer than another name, and that than another number of calls.
    names = {"f_1": {"n": 1, "a": "x"}, "f_2": {"n": 2, "a": "y"}}
    farther = [{"g": {}}, {"f": {}, "g": {}}, names]
    assert [check("[f(n=8, a='z'), f(n=9, a='z')]", farther[:count]).error for count in (1, 2, 3)] == [
        "wrong functions number",
        "function_mismatch",
        "value_error",
    ]
    one_wrong, two_wrong = {"f": {"n": 1, "a": "z"}}, {"f": {"n": 3, "b": True}}
    for gold in ([one_wrong, two_wrong], [two_wrong, one_wrong]):
        assert check("[f(n=2, a='z')]", gold).reason == check("[f(n=2, a='z')]", one_wrong).reason


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.binary()
    | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@given(JSON, JSON, JSON)
@example({1: 2, "1": 3}, {"1": 3}, {"a": {"properties": 5, "required": "a"}})
def test_no_value_and_no_schema_raises(given_value: Any, gold: Any, properties: Any) -> None:
    assert_wrong(given_value, gold, properties)


@pytest.mark.parametrize(
    ("given_value", "gold"),
    [(nested(900), nested(60)), (10**5000, "\ud800"), (10**5000, 0.5), ("\ud800", [])],
    ids=["deep", "huge and text", "huge and number", "surrogate"],
)
def test_depth_and_size_of_a_value_do_not_raise(given_value: Any, gold: Any) -> None:
    assert_wrong(given_value, gold, {"a": {"type": "string"}})


def assert_wrong(given_value: Any, gold: Any, properties: Any) -> None:
    function = {"name": "f", "parameters": {"properties": properties, "required": properties}}
    calls = [CallExpression("f", {"a": given_value, None: 1})]
    found = check_fixed_calls(calls, [function], [{"f": {"a": gold, "b": given_value}}])
    assert not found.valid
    assert found.reason.encode()
