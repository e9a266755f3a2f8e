"""BFCL's check of calls against the accepted ones: every rule of both profiles, with the reason that it gives."""

from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import BOOK, LATER, RING, STAY
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.checker import (
    SYNTAXES,
    CallChecker,
    Fault,
    check_calls,
    dict_error,
    mark_numbers,
    standardise,
)
from wildtool.benchmarks.bfcl.fixed import (
    FIXED_SYNTAXES,
    FixedChecker,
    are_equal,
    called_functions,
    corrected_entry,
    overlay,
    same_members,
)
from wildtool.benchmarks.bfcl.records import BfclEntry

OFFICIAL, FIXED = CallChecker(SYNTAXES["python"], False), FixedChecker(FIXED_SYNTAXES["python"], False)
ROME = {"city": "Rome", "nights": 3}


# Whole calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ({"hotel.book": {**ROME, "price": 80.5, "extras": ["Sea View"]}}, None),
        ({"hotel.book": {**ROME}}, None),
        ({"ring": {}, "x": {}}, ("wrong_func_name", "called ring, x, expected hotel.book")),
        ({}, ("wrong_func_name", "called none, expected hotel.book")),
        ({"hotel_book": ROME}, ("wrong_func_name", "called hotel_book, expected hotel.book")),
        ({"hotel.book": {"city": "Rome"}}, ("missing_required", "'nights' is required")),
        ({"hotel.book": {**ROME, "zz": 1}}, ("unexpected_param", "'zz' is not expected")),
    ],
)
def test_a_call_has_the_name_and_parameters_of_its_function(call: Any, fault: tuple[str, str] | None) -> None:
    expected = fault and Fault(f"simple_function_checker:{fault[0]}", fault[1])
    assert OFFICIAL.check(BOOK, call, STAY) == expected
    assert FIXED.check(BOOK, call, STAY) == expected


def test_native_names_have_underscores() -> None:
    checker = CallChecker(SYNTAXES["python"], True)
    assert checker.check(BOOK, {"hotel_book": ROME}, STAY) is None
    assert checker.check(BOOK, {"hotel.book": ROME}, STAY) == Fault(
        "simple_function_checker:wrong_func_name", "called hotel.book, expected hotel_book"
    )


def test_what_no_answer_accepts_is_not_expected_and_what_it_wants_must_be_given() -> None:
    answer = {"hotel.book": {"city": ["Rome"], "nights": [3], "extras": [["a"]]}}
    assert OFFICIAL.check(BOOK, {"hotel.book": {**ROME, "price": 1.0}}, answer) == Fault(
        "simple_function_checker:unexpected_param", "'price' is not expected"
    )
    assert OFFICIAL.check(BOOK, {"hotel.book": ROME}, answer) == Fault(
        "simple_function_checker:missing_optional", "'extras' must be given"
    )
    more = {"hotel.book": {**answer["hotel.book"], "no_such": [1]}}
    assert OFFICIAL.check(BOOK, {"hotel.book": {**ROME, "no_such": 1}}, more) == Fault(
        "simple_function_checker:unexpected_param", "'no_such' is not expected"
    )


# Values ----------------------------------------------------------------------------------------------

TEXT, WHOLE, DECIMAL, TRUTH = ({"type": word} for word in ("string", "integer", "float", "boolean"))
OBJECT, TUPLE = {"type": "dict"}, {"type": "tuple", "items": {"type": "integer"}}


def list_of(word: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": word}}


@pytest.mark.parametrize(
    ("schema", "value", "accepted", "official", "fixed"),
    [
        (TEXT, "New-York, it's", ['new york "it"s'], "value_error:string", "value_error:string"),
        (TEXT, "New-York", ["x", "new york"], None, None),
        (TEXT, "1.5", ["15"], None, "value_error:string"),
        (TEXT, "", [""], None, None),
        (TEXT, "", ["a", ""], None, "value_error:string"),
        (TEXT, 5, ["a"], "type_error:simple", "type_error:simple"),
        (WHOLE, 3, [2, 3], None, None),
        (WHOLE, 4, [3], "value_error:others", "value_error:others"),
        (WHOLE, 3.0, [3], "type_error:simple", "type_error:simple"),
        (WHOLE, True, [1], "type_error:simple", "type_error:simple"),
        (WHOLE, "x", ["x"], None, None),
        (WHOLE, "X", ["x"], "value_error:others", "value_error:others"),
        (WHOLE, 3, ["x"], "value_error:others", "value_error:others"),
        (DECIMAL, 3, [3.0], None, None),
        (DECIMAL, 3, [3], None, None),
        (DECIMAL, "3", [3.0], "type_error:simple", "type_error:simple"),
        (TRUTH, True, [True], None, None),
        (TRUTH, False, [True], "value_error:others", "value_error:others"),
        (list_of("string"), ["A-b", "c"], [["ab", "C"]], None, None),
        (list_of("string"), ["c", "ab"], [["ab", "c"]], "value_error:list/tuple", "value_error:list/tuple"),
        (list_of("string"), ["ab", 5], [["ab", "5"]], "type_error:nested", "type_error:nested"),
        (list_of("string"), [], [["a"], ""], None, "value_error:list/tuple"),
        (list_of("string"), "x", [["a"]], "type_error:simple", "type_error:simple"),
        (list_of("integer"), (1, 2), [[1, 2]], "type_error:simple", None),
        (list_of("float"), [1, 2.0], [[1.0, 2.0]], "type_error:nested", None),
        (list_of("integer"), [True], [[1]], "type_error:nested", "type_error:nested"),
        (list_of("float"), [True], [[1.0]], "type_error:nested", "type_error:nested"),
        (list_of("integer"), ["x"], [["x"]], None, None),
        (list_of("array"), [[True]], [[[1]]], None, "value_error:list/tuple"),
        (TUPLE, (1, 2), [[1, 2]], None, None),
        (TUPLE, [1, 2], [[1, 2]], None, None),
        (TUPLE, (2, 1), [[1, 2]], "value_error:list/tuple", "value_error:list/tuple"),
        (OBJECT, {"a": "X y", "b": 1}, ["", {"a": ["xy"], "b": [1, ""]}], None, None),
        (OBJECT, {"a": "xy"}, [{"a": ["xy"], "b": [1, ""]}], None, None),
        (OBJECT, {"b": 1}, [{"a": ["xy"], "b": [1, ""]}], "value_error:dict_key", "value_error:dict_value"),
        (OBJECT, {"a": "xy", "c": 1}, [{"a": ["xy"]}], "value_error:dict_key", "value_error:dict_value"),
        (OBJECT, {"a": "z"}, [{"b": [1]}, {"a": ["xy"]}], "value_error:dict_value", "value_error:dict_value"),
        (OBJECT, {"a": "xy"}, [{"a": ["xy"]}, {"b": [1]}], None, None),
        (OBJECT, {}, [""], "dict_checker:unclear", "value_error:dict_value"),
        (OBJECT, [], [{}], "type_error:simple", "type_error:simple"),
        (list_of("dict"), [{"a": 1}, {"a": 2}], [[{"a": [1]}], [{"a": [1]}, {"a": [2, 3]}]], None, None),
        (
            list_of("dict"),
            [{"a": 1}],
            [[{"a": [1]}, {"a": [1]}]],
            "value_error:list_dict_count",
            "value_error:list/tuple",
        ),
        (
            list_of("dict"),
            [{"a": 1}, {"a": 2}],
            [[{"a": [1]}, {"a": [1]}]],
            "value_error:dict_value",
            "value_error:list/tuple",
        ),
        (
            list_of("dict"),
            [{"a": 2}],
            [[{"a": [1]}], [{"a": [1]}, {"a": [1]}]],
            "value_error:list_dict_count",
            "value_error:list/tuple",
        ),
        (
            list_of("dict"),
            [{"a": 2}, {"a": 1}],
            [[{"a": [1]}, {"a": [1]}]],
            "value_error:dict_value",
            "value_error:list/tuple",
        ),
    ],
)
@pytest.mark.parametrize("required", [False])
def test_a_value_has_the_type_and_is_one_of_those_accepted(
    schema: Any, value: Any, accepted: Any, official: str | None, fixed: str | None, required: bool
) -> None:
    found = OFFICIAL.check_value("x", value, schema, accepted, required=required)
    assert (found and found.error) == official
    found = FIXED.check_value("x", value, schema, accepted, required=required)
    assert (found and found.error) == fixed


def test_a_refused_value_is_shown_with_what_was_expected() -> None:
    for checker in (OFFICIAL, FIXED):
        assert checker.check_value("x", 4, WHOLE, [3], required=True) == Fault(
            "value_error:others", "'x' is 4, expected [3]"
        )
        assert checker.check_value("x", "4", WHOLE, [3], required=True) == Fault(
            "type_error:simple", "'x': expected integer, found str '4'"
        )
    for length, shown in ((118, f"'{'a' * 118}'"), (119, f"'{'a' * 118}…")):
        found = OFFICIAL.check_value("x", "a" * length, TEXT, ["b"], required=True)
        assert found is not None and found.message == f"'x' is {shown}, expected ['b']"
    # A tuple stays one where no list is expected.
    assert FIXED.check_value("x", (4,), WHOLE, [3], required=True) == Fault(
        "type_error:simple", "'x': expected integer, found tuple (4,)"
    )
    long = FIXED.check_value("x", "a" * 130, TEXT, ["b" * 130], required=True)
    assert long is not None and long.message == f"'x' is '{'a' * 119}, expected ['{'b' * 118}"


def test_the_mark_of_what_may_be_left_out_is_a_value_only_where_there_is_no_other() -> None:
    for required, error in ((True, None), (False, "value_error:string")):
        found = FIXED.check_value("x", "", TEXT, ["a", ""], required=required)
        assert (found and found.error) == error
    assert FIXED.check_value("x", "", TEXT, [""], required=False) is None
    assert FIXED.check_value("x", 3, WHOLE, 3, required=False) is None


def test_members_of_an_enum_are_told_apart_by_case_under_fixed() -> None:
    schema = {"type": "string", "enum": ["a", "A"]}
    assert OFFICIAL.check_value("x", "A", schema, ["a"], required=True) is None
    assert FIXED.check_value("x", "A", schema, ["a"], required=True) == Fault(
        "value_error:string", "'x' is 'A', expected []"
    )
    assert FIXED.check_value("x", "A", schema, ["a", "A"], required=True) is None
    assert FIXED.check_value("x", "a-", schema, ["a"], required=True) is None


def test_an_empty_text_stands_for_an_optional_argument_left_out_alone_under_fixed() -> None:
    texts = {name: {"type": "string"} for name in ("needed", "free")}
    document = {"name": "f", "parameters": {"properties": texts, "required": ["needed"]}}
    answer = {"f": {"needed": ["", "a"], "free": ["", "b"]}}
    for needed, free, fault in (("", "b", None), ("a", "", "value_error:string")):
        for checker, error in ((OFFICIAL, None), (FIXED, fault)):
            result = checker.check(document, {"f": {"needed": needed, "free": free}}, answer)
            assert (result and result.error) == error


def test_values_of_other_languages_are_texts() -> None:
    for language, kind, schema in (
        ("java", "java", {"type": "String"}),
        ("javascript", "js", {"type": "String"}),
    ):
        checker = CallChecker(SYNTAXES[language], False)  # type: ignore[index]
        assert checker.check_value("x", 5, schema, ["a"], required=True) == Fault(
            f"type_error:{kind}", "'x': expected the text of a value, found int"
        )
        fixed = FixedChecker(FIXED_SYNTAXES[language], False)  # type: ignore[index]
        assert fixed.check_value("x", 5, schema, ["a"], required=True) == Fault(
            f"type_error:{kind}", "'x': expected the text of a value"
        )


# Lists of calls --------------------------------------------------------------------------------------

ANN = {"ring": {"name": ["Ann"]}}


def checked(name: str, functions: Any, answers: Any, *calls: Any) -> tuple[str, str] | None:
    fault = check_calls(BFCL_CATEGORIES[name], functions, answers, calls, underscores=False)
    record = BfclEntry(BFCL_CATEGORIES[name], (), tuple(functions), tuple(answers))
    other = BFCL_BENCHMARK.in_mode("prompt").rules("fixed").single.compare(record, calls)  # type: ignore[attr-defined]
    assert (other is None) == (fault is None)
    return None if fault is None else (fault.error, fault.message)


def test_each_kind_counts_its_calls() -> None:
    book, ring = {"hotel.book": ROME}, {"ring": {"name": "Ann"}}
    assert checked("simple_python", [BOOK], [STAY], book) is None
    assert checked("simple_python", [BOOK], [STAY], book, book) == (
        "simple_function_checker:wrong_count",
        "2 calls, expected 1",
    )
    assert checked("multiple", [RING, BOOK], [STAY], book) is None
    assert checked("multiple", [RING, BOOK], [STAY]) == (
        "multiple_function_checker:wrong_count",
        "0 calls, expected 1",
    )
    assert checked("multiple", [RING, BOOK], [STAY], ring) == (
        "simple_function_checker:wrong_func_name",
        "called ring, expected hotel.book",
    )
    assert checked("parallel", [BOOK, RING], [STAY, ANN], ring, book) is None
    assert checked("parallel", [BOOK, RING], [STAY, ANN], ring) == (
        "parallel_function_checker_no_order:wrong_count",
        "1 calls, expected 2",
    )


def test_a_parallel_answer_without_its_call_names_what_is_wrong_with_each_call_left() -> None:
    book, ring = {"hotel.book": ROME}, {"ring": {"name": "Bo"}}
    assert checked("parallel", [BOOK, RING], [STAY, ANN], book, ring) == (
        "parallel_function_checker_no_order:cannot_find_match",
        "no call is ring: call 2: 'name' is 'Bo', expected ['Ann']",
    )
    assert checked("parallel", [BOOK, RING], [ANN, STAY], book, ring) == (
        "parallel_function_checker_no_order:cannot_find_match",
        "no call is ring: call 1: called hotel.book, expected ring; call 2: 'name' is 'Bo', expected ['Ann']",
    )


def test_fixed_names_the_answer_that_no_call_is_left_for() -> None:
    single = BFCL_BENCHMARK.in_mode("prompt").rules("fixed").single  # type: ignore[attr-defined]
    record = BfclEntry(BFCL_CATEGORIES["parallel"], (), (BOOK, RING), (LATER, STAY, ANN))
    rome, oslo = {"hotel.book": ROME}, {"hotel.book": {"city": "Oslo", "nights": 3}}
    assert single.compare(record, [rome, oslo, {"ring": {"name": "Ann"}}]) is None
    assert single.compare(record, [oslo, rome, {"ring": {"name": "Bo"}}]) == Fault(
        "parallel_function_checker_no_order:cannot_find_match",
        "no call is ring: called hotel.book, expected ring; called hotel.book, expected ring;"
        " 'name' is 'Bo', expected ['Ann']",
    )


def test_an_answer_to_no_function_cannot_be_judged() -> None:
    with pytest.raises(TypeError, match=r"^no function ring$"):
        check_calls(BFCL_CATEGORIES["multiple"], [BOOK], [ANN], [{}], underscores=False)


# Parts -----------------------------------------------------------------------------------------------


def test_texts_are_compared_without_spaces_and_signs() -> None:
    assert standardise("It's A,b./c-d_e*f^g; h") == 'it"sabcdefg;h'
    assert mark_numbers("a.b -3 1.5 v2-4 3 - 4 .5") == "a.b ¬3 1¤5 v2-4 3 - 4 .5"


def test_the_error_of_an_object_is_that_of_the_last_accepted_one() -> None:
    assert dict_error({"a": 1}, ["", {"a": [2]}, {"b": [1]}]) == "value_error:dict_key"
    assert dict_error({"a": 1}, [{"b": [1]}, {"a": [2]}, ""]) == "value_error:dict_value"


def test_a_missing_key_of_an_object_decides_its_error_whatever_else_is_wrong() -> None:
    assert dict_error({"a": "z"}, [{"a": ["xy"], "b": [1]}]) == "value_error:dict_key"
    assert dict_error({"a": "z"}, [{"a": ["xy"], "b": [1, ""]}]) == "value_error:dict_value"


@pytest.mark.parametrize(
    ("value", "accepted", "equal"),
    [
        ("a", "A", True),
        ("-", "-", True),
        ("-", ".", False),
        ("", "", True),
        ("-", "", False),
        ("1.5", "15", False),
        ("x*2", "x/2", False),
        ("x**2", "x * 2", False),
        ("3*x^2 - 1", "3*x**2-1", True),
        ("3x**2", "3*x**2", True),
        ("m2", "m^2", True),
        ("2024/05/01", "2024-05-01", True),
        (True, 1, False),
        (1, True, False),
        (True, True, True),
        (1, 1.0, True),
        (1, "1", False),
        ([1, [2]], (1, (2,)), True),
        ([1], [1, 2], False),
        ([1], [True], False),
        ([], {}, False),
        ({"a": ["B"]}, {"a": ["b"]}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_values_are_equal_however_deep(value: Any, accepted: Any, equal: bool) -> None:
    assert are_equal(value, accepted) == equal


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"a": "X"}, True),
        ({"a": "x", "b": 1}, True),
        ({"a": "x", "b": 2}, False),
        ({"b": 1}, False),
        ({"a": "x", "c": 1}, False),
        ({"a": "y", "b": 1}, True),
    ],
)
def test_members_of_an_object_are_those_accepted(value: Any, fits: bool) -> None:
    assert same_members(value, {"a": ["x", "y"], "b": [1, ""]}) == fits
    assert same_members({"a": 1}, {"a": 1})


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ({"tool_calls": [{"function": {"name": "a", "arguments": "{}"}}, {"function": {"name": "b"}}]}, ["a", "b"]),
        ({"content": "ring(name='x')"}, ["ring"]),
        ({"content": "```json\n<x>{\"name\": \"other\", \"arguments\": {}}</x>\n```"}, ["other"]),
        ({"content": "<a><b><c>other(x=1)</c></b></a>"}, ["other"]),
        ({"content": "<d><a><b><c>other(x=1)</c></b></a></d>"}, []),
        ({"content": "{\"name\": \"other\", \"arguments\": {}} and more"}, []),
        ({"content": "other(x=1), more.of(2)"}, ["other", "more.of"]),
        ({"content": "[other(), 5, f(x)]"}, ["other"]),
        ({"content": "Sorry()"}, []),
        ({"content": "sorry()"}, ["sorry"]),
        ({"content": "Sorry(no, never)"}, []),
        ({"content": "Sorry('no')"}, ["Sorry"]),
        ({"content": "Sorry(no=1)"}, ["Sorry"]),
        ({"content": "well, no"}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_a_call_in_any_form_is_one_but_prose_is_none(reply: Any, names: list[str]) -> None:
    assert called_functions(reply, [RING]) == names


def test_answers_that_no_call_can_fulfil_are_replaced() -> None:
    name, changes = next(
        (name, changes) for name, changes in overlay().items() if changes[0]["accept"] is not None
    )
    change = changes[0]
    key, parameter = change["function"], change["parameter"]
    other = {"other": {parameter: [1]}}
    record = BfclEntry(
        BFCL_CATEGORIES["parallel"], (), (RING,), ({key: {parameter: [0], "kept": [2]}}, other)
    )
    corrected = corrected_entry(name, record)
    first, second = corrected.answers
    assert first[key][parameter] == change["accept"] and first[key]["kept"] == [2] and second == other
    assert corrected_entry("no such entry", record) is record
    lost, gone = next(
        (name, change)
        for name, changes in overlay().items()
        for change in changes
        if change["accept"] is None
    )
    answer = {gone["function"]: {gone["parameter"]: [0], "kept": [2]}}
    record = BfclEntry(BFCL_CATEGORIES["parallel"], (), (RING,), (answer,))
    assert gone["parameter"] not in corrected_entry(lost, record).answers[0][gone["function"]]
    assert answer[gone["function"]][gone["parameter"]] == [0], "the entry itself stays"
