"""The published check of Normal replies: one small statement per rule and quirk."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.official import check_normal


def described(name: str, required: tuple[str, ...] = (), **types: Any) -> dict[str, Any]:
    """A function whose parameters have the given types (or schemas)."""
    properties = {key: type_ if isinstance(type_, dict) else {"type": type_} for key, type_ in types.items()}
    return {
        "name": name,
        "parameters": {"type": "object", "properties": properties, "required": list(required)},
    }


def error(text: str | None, gold: dict[str, Any], *functions: dict[str, Any]) -> str:
    """The error type of a reply, empty for a valid one."""
    found = check_normal(text, functions, [gold])
    assert found.valid == (found.error == "")
    assert found.valid or found.reason
    return found.error


def argument_error(type_: Any, text: str, gold: Any) -> str:
    """The error type of one argument."""
    return error(f"[f(a={text})]", {"f": {"a": gold}}, described("f", a=type_))


# Format and calls ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", "f(a=1)", "[[f(a=1)]]", "Sure: [f(a=1)]", "```[f(a=1)]```"])
def test_what_is_no_bracketed_list_of_calls_has_the_wrong_format(text: str | None) -> None:
    assert error(text, {"f": {"a": 1}}, described("f", a="integer")) == "wrong_output_format"


def test_the_number_of_calls_counts_before_their_names() -> None:
    assert error("[]", {"f": {}}, described("f")) == "wrong functions number"
    assert error("[g(), g()]", {"f": {}}, described("f")) == "wrong functions number"


def test_names_are_counted() -> None:
    f, g = described("f", a="integer"), described("g", a="integer")
    gold = {"f_1": {"a": 1}, "f_2": {"a": 2}, "g": {"a": 3}}
    assert error("[f(a=1), g(a=1), f(a=1)]", gold, f, g) == ""
    assert error("[f(a=1), g(a=1), g(a=1)]", gold, f, g) == "function_mismatch"
    assert error("[f(a=1), f(a=1), f(a=1)]", gold, f, g) == "function_mismatch"
    assert error("[f(a=1), f(a=1), h(a=1)]", gold, f, g) == "function_mismatch"


def test_the_last_calls_error_is_reported() -> None:
    f, g = described("f", a="string"), described("g", a="string")
    gold = {"f": {"a": "x"}, "g": {"a": "y"}}
    assert error("[g(a='y'), f(a='z')]", gold, f, g) == "value_error:string"
    assert error("[f(a='z'), g(a='y')]", gold, f, g) == "simple_function_checker:unclear"


def test_one_call_can_serve_two_gold_calls() -> None:
    gold = {"f_1": {"a": "x"}, "f_2": {"a": "y"}}
    assert error("[f(a='xy'), f(a='')]", gold, described("f", a="string")) == ""


def test_a_name_that_ends_in_digits_cannot_be_matched() -> None:
    f = described("f_2", a="string")
    assert error("[f_2(a='x')]", {"f_2": {"a": "x"}}, f) == "function_mismatch"
    assert error("[f(a='x')]", {"f_2": {"a": "x"}}, f) == "wrong_function_name"


def test_the_first_function_whose_name_is_contained_describes_the_call() -> None:
    gold, short, long = (
        {"plan_all": {"a": "x"}},
        described("plan", a="string"),
        described("plan_all", a="string"),
    )
    assert error("[plan_all(a='x')]", gold, long, short) == ""
    assert error("[plan_all(a='x')]", gold, short, long) == "wrong_function_name"


# Arguments of a call ---------------------------------------------------------------------------------


def test_a_call_without_arguments_passes_only_where_parameters_are_an_empty_object() -> None:
    assert error("[f()]", {"f": {}}, {"name": "f", "parameters": {}}) == ""
    assert error("[f(a=1)]", {"f": {}}, {"name": "f", "parameters": {}}) == "wrong_param"
    assert error("[f()]", {"f": {}}, described("f")) == "wrong_param"
    assert error("[f(a=1)]", {"f": {}}, described("f", a="integer")) == "wrong_param"


def test_gold_that_equals_the_properties_lets_anything_pass() -> None:
    f = described("f", ("a",), a="string")
    assert error("[f(b=1)]", {"f": {"a": {"type": "string"}}}, f) == ""


def test_required_arguments_are_looked_for_before_additional_ones() -> None:
    f = described("f", ("a",), a="integer", b="integer")
    assert error("[f(c=1)]", {"f": {"a": 1}}, f) == "lack_args"
    assert error("[f(a=1, b=1)]", {"f": {"a": 1}}, f) == "addition_args"
    assert error("[f(a=1, **{'c': 1})]", {"f": {"a": 1}}, f) == "addition_args"


def test_an_optional_gold_argument_may_be_left_out() -> None:
    f = described("f", ("a",), a="integer", b="integer")
    assert error("[f(a=1)]", {"f": {"a": 1, "b": 2}}, f) == ""


def test_the_first_faulty_argument_in_the_replys_order_decides() -> None:
    f = described("f", a="string", b="integer")
    gold = {"f": {"a": "x", "b": 1}}
    assert error("[f(a='y', b='z')]", gold, f) == "value_error:string"
    assert error("[f(b='z', a='y')]", gold, f) == "type_error"


# Types -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "text", "gold", "said"),
    [
        ("integer", "9", 1, ""),
        ("integer", "1.5", 1, "type_error"),
        ("integer", "1.0", 1, ""),
        ("integer", "True", 2, "type_error"),
        ("number", "1.5", 1, "type_error"),
        ("number", "9", 1.5, ""),
        ("float", "1", 2.5, ""),
        ("boolean", "False", True, ""),
        ("boolean", "'true'", False, ""),
        ("boolean", "true", False, ""),
        ("boolean", "'True'", False, "type_error"),
        ("boolean", "0", True, "type_error"),
        ("string", "'true'", "true", "type_error"),
        ("string", "1", "1", "type_error"),
        ("string", "1", "", "type_error"),
        ("string", "'anything'", None, ""),
        ("any", "'x'", "x", ""),
        ("enum", "'B'", "A", ""),
        ("enum", "1", "A", "type_error"),
        ("array", "[]", [], "type_error"),
        ("array", "''", "", "type_error"),
        ("object", "{}", {}, "type_error"),
        ("array", "{'k': 1}", {"k": 2}, ""),
    ],
)
def test_types_are_compared_exactly_unless_gold_has_another(
    type_: str, text: str, gold: Any, said: str
) -> None:
    assert argument_error(type_, text, gold) == said


def test_lists_of_lists_are_looked_into() -> None:
    rows = {"type": "array", "items": {"type": "array"}}
    assert argument_error(rows, "[[1], [2]]", [[1], [2]]) == ""
    assert argument_error(rows, "[[1], 2]", [[1], [2]]) == "type_error"


# Values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [("'BLUE lake'", ""), ("'the Blue-Lake!'", ""), ("'Blue Lak'", "value_error:string"), ("Blue Lake", "")],
)
def test_a_gold_text_must_be_contained_in_the_normalised_text(text: str, said: str) -> None:
    assert argument_error("string", text, "Blue Lake") == said


def test_flat_lists_are_compared_in_order_with_normalised_texts() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    assert argument_error(texts, "['A-b', 'c']", ["a b", "C"]) == ""
    assert argument_error(texts, "['c', 'a b']", ["a b", "c"]) == "value_error:list/tuple"
    assert argument_error("list", "[True]", [1]) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{'k': 41, 'd': {'x': 'red one'}}", ""),
        ("{'k': '4', 'd': {'x': 'RED'}}", ""),
        ("{'k': 5, 'd': {'x': 'red'}}", "value_error"),
        ("{'k': 4}", "value_error"),
        ("{'k': 4, 'd': {'x': 'red'}, 'e': 1}", "value_error"),
        ("{'k': 4, 'd': 'red'}", "value_error"),
        ("{'k': 4, 'd': {'x': 'blue'}}", "value_error"),
    ],
)
def test_objects_need_equal_keys_and_contain_the_gold_texts(text: str, said: str) -> None:
    assert argument_error("object", text, {"k": 4, "d": {"x": "red"}}) == said


def test_texts_true_and_false_are_booleans_in_objects() -> None:
    assert argument_error("object", "{'k': 'true'}", {"k": True}) == ""
    assert argument_error("object", "{'j': 1}", {"k": 1}) == "value_error"
    assert argument_error("object", "{'k': 'true'}", {"k": "true"}) == "value_error"


def test_a_tuple_passes_for_a_list_only_where_one_is_declared() -> None:
    items = {"items": {"type": "string"}}
    assert argument_error({"type": "tuple"} | items, "('a', 'b')", ["a", "b"]) == ""
    assert argument_error({"type": "tuple"} | items, "'ab'", ["a", "b"]) == "type_error"
    assert argument_error({"type": "array"} | items, "('a', 'b')", ["a", "b"]) == "type_error"


def test_blanks_in_texts_of_lists_inside_objects_can_only_be_escaped() -> None:
    gold = {"k": ["a b"]}
    assert argument_error("object", "{'k': ['a b']}", gold) == "value_error"
    assert argument_error("object", r"{'k': ['a\x20b']}", gold) == ""


def test_lists_of_objects_are_compared_by_position() -> None:
    rows, gold = {"type": "array", "items": {"type": "object"}}, [{"k": 1}, {"k": 2}]
    assert argument_error(rows, "[{'k': 1}, {'k': 2}]", gold) == ""
    assert argument_error(rows, "[{'k': 2}, {'k': 1}]", gold) == "value_error"
    assert argument_error(rows, "[{'k': 1}]", gold) == "value_error:list_dict_count"
    assert argument_error(rows, "[{'k': 1}, 2]", gold) == "value_error"


def test_arrays_without_items_are_taken_for_lists_of_objects() -> None:
    assert argument_error("array", "['x']", ["x"]) == "value_error"


# Candidates and crashes ------------------------------------------------------------------------------


def test_any_candidate_suffices_and_the_first_ones_error_is_reported() -> None:
    f = described("f", a="string", b="integer")
    pool = [{"f": {"a": "x"}}, {"f": {"a": "y", "b": 1}}]
    second = check_normal("[f(a='y')]", [f], pool)
    assert (second.valid, second.error, second.stray_error) == (True, "", "value_error:string")
    none = check_normal("[f(a='z', b=1)]", [f], pool)
    assert (none.valid, none.error, none.stray_error) == (False, "value_error:string", "")
    assert check_normal("[f(a='x')]", [f], pool).stray_error == ""


@pytest.mark.parametrize(
    ("function", "text", "gold", "raised"),
    [
        (described("f", a="null"), "1", 1, "KeyError: 'null'"),
        (described("f", a={}), "1", 1, "KeyError: 'type'"),
        ({"name": "f", "arguments": {}}, "1", 1, "KeyError: 'parameters'"),
        ({"name": "f", "parameters": {"properties": {"a": {}}}}, "1", 1, "KeyError: 'required'"),
        (described("other", a="string"), "1", 1, "TypeError: 'NoneType' object is not subscriptable"),
        (described("f", a="array"), "[1]", 1, "TypeError: 'int' object is not iterable"),
        (described("f", a="array"), "[{}]", ["x"], "AttributeError: 'str' object has no attribute 'keys'"),
    ],
)
def test_where_the_published_evaluator_raises_the_reply_is_wrong_and_it_is_named(
    function: dict[str, Any], text: str, gold: Any, raised: str
) -> None:
    found = check_normal(f"[f(a={text})]", [function], [{"f": {"a": gold}}])
    assert (found.valid, found.error, found.reference_error) == (False, "reference_error", raised)


@pytest.mark.parametrize("items", [None, {}, {"description": "x"}, [], "string", 5])
def test_items_without_a_type_count_as_absent(items: Any) -> None:
    schema = {"type": "array"} if items is None else {"type": "array", "items": items}
    assert argument_error(schema, "[{'a': 'x'}]", [{"a": "x"}]) == ""
    assert argument_error(schema, "[{'a': 'y'}]", [{"a": "x"}]) == "value_error"


@given(
    st.sampled_from(["array", "tuple", "list(string)", "list(enum)", "object"]),
    st.one_of(
        st.none(), st.integers(), st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text())
    ),
    st.sampled_from(["[{'a': 'x'}]", "['x', 'y']", "('x',)", "{'a': 'x'}", "[]", "5"]),
    st.sampled_from([[{"a": "x"}], ["x", "y"], {"a": "x"}, "x"]),
)
def test_whatever_names_no_type_gives_the_verdict_of_no_items(
    declared: str, items: Any, text: str, gold: Any
) -> None:
    assume(not isinstance(items, dict) or "type" not in items)
    without = argument_error({"type": declared}, text, gold)
    assert argument_error({"type": declared, "items": items}, text, gold) == without


def test_items_of_an_unknown_type_are_not_scorable() -> None:
    found = check_normal(
        "[f(a=['x'])]",
        [described("f", a={"type": "array", "items": {"type": "uuid"}})],
        [{"f": {"a": ["x"]}}],
    )
    assert (found.valid, found.reference_error) == (False, "KeyError: 'uuid'")
