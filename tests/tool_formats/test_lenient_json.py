"""Values that models write nearly as JSON: value, end and repairs of each, and what is not read."""

import math
from typing import Any

import pytest

from wildtool.tool_formats.lenient_json import (
    MAX_LENIENT_VALUES,
    MAX_STRICT_FAILURES,
    MAX_VALUE_DEPTH,
    LenientReader,
    UnreadableValueError,
    strict_value_or,
)

Read = tuple[Any, int, list[str]] | None


def read(text: str) -> Read:
    try:
        return LenientReader(text).value(0)
    except UnreadableValueError:
        return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', ({"a": 1}, 8, [])),
        ("[1, 2.5, -3e2]", ([1, 2.5, -300.0], 14, [])),
        ("{'a': 'it'}", ({"a": "it"}, 11, ["single-quotes"])),
        ("{a: b}", ({"a": "b"}, 6, ["bare-word"])),
        ('{"a": true, "b": None}', ({"a": True, "b": None}, 22, ["json-literal", "python-literal"])),
        ('{"a": "x\ny"}', ({"a": "x\ny"}, 12, ["control-character"])),
        (
            '{"a": "\\d \\n \\x41 \\u00e9 \\U0001F600 \\ud83d\\ude00 \\U99999999"}',
            ({"a": "\\d \n A é 😀 😀 \\U99999999"}, 61, ["bad-escape"]),
        ),
        ('["\\U0010ffff \\U00110000",]', (["\U0010ffff \\U00110000"], 26, ["trailing-comma"])),
        ("[1, 2,]", ([1, 2], 7, ["trailing-comma"])),
        (
            "[True, False, None, nan, inf, -inf]",
            ([True, False, None, math.nan, math.inf, -math.inf], 35, ["python-literal"]),
        ),
        (
            "[true, false, null, NaN, Infinity, -Infinity,]",
            ([True, False, None, math.nan, math.inf, -math.inf], 46, ["json-literal", "trailing-comma"]),
        ),
        ('{"a": (1, 2,), "b": ()}', ({"a": [1, 2], "b": []}, 23, ["trailing-comma", "tuple"])),
        ('{"a": [1, 2', None),
        ('{"a": [1, 2]', ({"a": [1, 2]}, 12, ["missing-bracket"])),
        ('{"a": ', None),
        ("{", None),
        ("[", None),
        ('{"a"}', None),
        ("{1: 2}", None),
        ('{"a": 1 "b": 2}', None),
        ("[1 2]", None),
        ('["a" ', (["a"], 5, ["missing-bracket"])),
        ("[tru", None),
        ("[12", None),
        ("  [ 1 , 2 ]  tail", ([1, 2], 11, [])),
        ("text", None),
        ('"a"', None),
        ("5", None),
        ("(1, 2)", None),
        ('{"a": .5, "b": 1., "c": 1.5.2}', None),
        ("[a-b, -c, x.y]", (["a-b", "-c", "x.y"], 14, ["bare-word"])),
        ("['a\\'b', \"c'd\"]", (["a'b", "c'd"], 15, ["single-quotes"])),
        ("{\"a\": 'x\\\ny'}", ({"a": "xy"}, 13, ["control-character", "single-quotes"])),
        ('{"a": {"b": [true,]},}', ({"a": {"b": [True]}}, 22, ["json-literal", "trailing-comma"])),
        ("[1e999]", ([math.inf], 7, [])),
        ("['a']", (["a"], 5, ["single-quotes"])),
    ],
)
def test_value_end_and_repairs_are_read_or_nothing_is(text: str, expected: Read) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", None),
        ("x", None),
        ("'x'", ("x", 3, ["single-quotes"])),
        ("tru ", ("tru", 3, ["bare-word"])),
        ("true,", (True, 4, ["json-literal"])),
        (" (1, 2)x", ([1, 2], 7, ["tuple"])),
        ("-inf]", (-math.inf, 4, ["python-literal"])),
        ("2.5e1]", (25.0, 5, [])),
    ],
)
def test_any_value_is_read_where_one_is_expected(text: str, expected: Read) -> None:
    try:
        value = LenientReader(text).repaired_value(0)
    except UnreadableValueError:
        value = None
    assert value == expected


def test_integers_of_thousands_of_digits_are_not_read() -> None:
    assert read(f"[{'9' * 5_000}]") is None
    assert read(f"[{'9' * 5_000},]") is None


@pytest.mark.parametrize(("end", "deepest"), [("", MAX_VALUE_DEPTH + 1), (",", MAX_VALUE_DEPTH)])
def test_nesting_is_read_up_to_the_limit(end: str, deepest: int) -> None:
    """Strictly, and with a comma that needs a repair."""

    def nested(levels: int) -> str:
        return "[" * levels + "1" + end + "]" * levels

    assert read(nested(deepest)) is not None
    assert read(nested(deepest + 1)) is None


def test_strict_json_is_tried_until_it_failed_too_often() -> None:
    reader = LenientReader('{"a": true}x[1,]')
    for _ in range(MAX_STRICT_FAILURES):
        assert reader.value(0) == ({"a": True}, 11, [])
        assert reader.value(12) == ([1], 16, ["trailing-comma"])
    assert reader.value(0) == ({"a": True}, 11, ["json-literal"])


def test_depth_is_counted_anew_for_each_value() -> None:
    reader = LenientReader("[[[1,]],[[2,]]]")
    assert reader.value(0) == reader.value(0) == ([[[1]], [[2]]], 15, ["trailing-comma"])
    assert read(f"[{'[1,],' * 300}]") == ([[1]] * 300, 1_502, ["trailing-comma"])


def test_values_of_one_text_share_a_budget() -> None:
    text = f"[{'a,' * (MAX_LENIENT_VALUES - 1)}]"
    reader = LenientReader(text)
    assert len(reader.value(0)[0]) == MAX_LENIENT_VALUES - 1
    with pytest.raises(UnreadableValueError):
        reader.value(0)


def test_only_a_whole_text_is_strict_json() -> None:
    assert strict_value_or(' {"a": [1]} ', 0) == {"a": [1]}
    assert strict_value_or("null", 0) is None
    assert [strict_value_or(text, 0) for text in ("[1] x", "[1,]", "", "[" * 103 + "]" * 103)] == [0] * 4
