"""JSON as it goes over the wire and into files."""

import io
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool import json_codec
from wildtool.errors import DataError

ANY_TEXT = st.text(alphabet=st.characters())
"""Lone surrogates included."""
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def test_text_is_written_as_compact_utf8():
    assert json_codec.dumps({"a": "你好", "b": [1, None]}) == '{"a":"你好","b":[1,null]}'.encode()


def test_a_lone_surrogate_is_written_as_an_escape_and_read_back():
    assert json_codec.dumps("a\ud800你") == '"a\\ud800你"'.encode()
    assert json_codec.loads(json_codec.dumps("a\ud800你")) == "a\ud800你"


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**40, 2**63])
def test_large_integers_stay_integers(number: int):
    assert json_codec.loads(json_codec.dumps([number])) == [number]
    assert isinstance(json_codec.loads(str(number)), int)


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_infinities_survive(number: float):
    assert json_codec.loads(json_codec.dumps({"x": [number]})) == {"x": [number]}


def test_nan_survives():
    assert math.isnan(json_codec.loads(json_codec.dumps({"x": [math.nan]}))["x"][0])


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "[1,]", b"\xff", "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: str | bytes):
    with pytest.raises(ValueError):
        json_codec.loads(text)


def test_nesting_that_cannot_be_written_is_a_value_error():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError):
        json_codec.dumps(deep)


def test_nesting_of_some_hundred_levels_is_written():
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    assert json_codec.loads(json_codec.dumps(deep)) == deep


@given(ANY_JSON)
def test_a_settled_value_is_read_back_as_it_was(value: object):
    settled = json_codec.normalize(value)
    assert json_codec.loads(json_codec.dumps(settled)) == settled


@given(ANY_JSON.filter(lambda value: "\\ud" not in repr(value).lower()))
def test_a_value_without_surrogates_is_settled_already(value: object):
    assert json_codec.normalize(value) == value


def test_two_separate_surrogates_settle_as_the_character_they_stand_for():
    assert json_codec.normalize("\ud83d" + "\ude00") == "😀"


SMALL = json_codec.JsonLimits(bytes=100, depth=3, values=10)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('"' + "a" * 100 + '"', "bytes"),
        ("[[[[1]]]]", "deeper than 3"),
        ('{"a":[{"b":[]}]}', "deeper than 3"),
        ("[" + "1," * 10 + "1]", "more than 10 values"),
        ("[" * 90, "deeper than 3"),
        ('["\\"[",' + "[]," * 12 + "1]", "more than 10 values"),
        ('{"a" "[[[[": ' + "1," * 12 + "}", "more than 10 values"),
    ],
)
def test_a_text_beyond_the_limits_is_refused_before_it_is_parsed(text: str, what: str):
    for data in (text, text.encode()):
        with pytest.raises(json_codec.TooLargeError, match=what):
            json_codec.loads_within(data, SMALL)


@pytest.mark.parametrize(
    "text",
    ['["[[[[[[[[,,,,,,,,,,,,"]', '["a\\"[[[[[,,,,,,,,,,,"]', "[[[1,2,3,4,5,6,7]]]", '{"a":{"b":{"c":1}}}'],
)
def test_what_stands_in_a_string_counts_toward_no_limit(text: str):
    assert json_codec.loads_within(text, SMALL) == json_codec.loads(text)


@given(ANY_JSON)
def test_ordinary_json_is_read_the_same_within_limits(value: object):
    text = json_codec.dumps(value)
    assert json_codec.loads_within(text, json_codec.REPLY_LIMITS) == json_codec.loads(text)


def test_limits_take_time_in_proportion_to_a_hostile_text():
    for text in (b'"' * 2_000_001, b'"' + b"\\" * 2_000_001, b"[" * 2_000_000, b"[]," * 2_000_000):
        with pytest.raises(ValueError):
            json_codec.loads_within(text, json_codec.REPLY_LIMITS)


def test_values_as_deep_as_the_limit_are_read_and_written():
    text = b"[" * json_codec.REPLY_LIMITS.depth + b"]" * json_codec.REPLY_LIMITS.depth
    assert json_codec.dumps(json_codec.loads_within(text, json_codec.REPLY_LIMITS)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [True, None], "a": (1, 2)}, b'{"b":[true,null],"a":[1,2]}'),
        ([None, math.inf, -math.inf], b"[null,Infinity,-Infinity]"),
        ({"a": {"b": None}, "c": [[math.inf]]}, b'{"a":{"b":null},"c":[[Infinity]]}'),
        ([None, (math.inf,)], b"[null,[Infinity]]"),
        ({"z": "\ud800", "a": "é"}, '{"z":"\\ud800","a":"é"}'.encode()),
    ],
)
def test_the_bytes_of_a_value(value: Any, text: bytes):
    assert json_codec.dumps(value) == text


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'"a b"', b'"a b"'),
        ("é".encode(), "é".encode()),
        ("a\u2028b\u2029c\x85d\u2028".encode(), b"a\\u2028b\\u2029c\\u0085d\\u2028"),
    ],
)
def test_a_line_has_no_character_that_ends_lines_for_some_readers(data: bytes, line: bytes):
    assert json_codec.one_line(data) == line


@pytest.mark.parametrize("value", [[None, 1], [1e30], {"a": "b"}, "text"])
def test_a_value_that_writing_keeps_is_its_own_normal_form(value: Any):
    assert json_codec.normalize(value) is value


def test_a_value_that_must_be_written_slowly_is_read_back():
    value = [None, math.inf, 2**70]
    assert json_codec.normalize(value) == value
    assert json_codec.normalize(value) is not value
    assert json_codec.normalize({"\ud83d\ude00": 1}) == {"😀": 1}


@pytest.mark.parametrize(
    ("text", "limits", "values"),
    [
        ("1", (1, 0, 1), 1),
        ("[1,2]", (5, 1, 3), 3),
        ('{"a":[]}', (8, 2, 3), 3),
        ('["a,b"]', (7, 1, 3), 3),
        ('["a,b"]', (7, 1, 2), 2),
        ('["[["]', (6, 1, 2), 2),
        ("[[],{}]", (7, 2, 5), 5),
        ("[[[]],[]]", (9, 3, 6), 6),
        ('[[1,","],{"a":3}]', (20, 2, 6), 6),
    ],
)
def test_the_values_of_a_text_are_counted_where_it_is_within_its_limits(
    text: str, limits: tuple[int, int, int], values: int
):
    size, depth, number = limits
    assert json_codec.check_limits(text.encode(), json_codec.JsonLimits(size, depth, number)) == values


@pytest.mark.parametrize(
    ("text", "limits", "message"),
    [
        ("[1,2]", (4, 1, 3), "more than 4 bytes of JSON"),
        ("[" * 2000, (1000, 1, 3), "more than 1,000 bytes of JSON"),
        ("[]", (9, 0, 9), "JSON nested deeper than 0 levels"),
        ("[[],[[]]]", (9, 2, 9), "JSON nested deeper than 2 levels"),
        ("[1,2]", (9, 1, 2), "JSON of more than 2 values"),
        ('{"a":{}}', (9, 2, 2), "JSON of more than 2 values"),
    ],
)
def test_the_limit_that_a_text_exceeds_is_named(text: str, limits: tuple[int, int, int], message: str):
    size, depth, number = limits
    with pytest.raises(json_codec.TooLargeError, match=f"^{message}$"):
        json_codec.check_limits(text.encode(), json_codec.JsonLimits(size, depth, number))


def test_the_limits_of_a_reply_and_of_a_line():
    assert json_codec.JsonLimits(67_108_864, 500, 1_000_000) == json_codec.REPLY_LIMITS
    assert json_codec.JsonLimits(268_435_456, 1000, 4_000_000) == json_codec.LINE_LIMITS


def test_lines_are_read_up_to_the_first_that_is_too_long():
    file = io.BytesIO(b"ab\n\nabcd\nabcdefgh\nx\n")
    limits = json_codec.JsonLimits(5, 1, 1)
    assert [*json_codec.lines_within(file, limits)] == [b"ab\n", b"\n", b"abcd\n", b"abcdef"]


def test_a_value_becomes_one_that_every_reader_accepts():
    class Other:
        def __str__(self) -> str:
            return "other"

    value = {
        1: "text",
        "n": [2, 2.5, True, None, Other()],
        "deep": {"a": {"b": 1}, "t": ([], 0)},
    }
    assert json_codec.portable(value, text=str.upper, number=lambda n: n * 2, max_depth=2) == {
        "1": "TEXT",
        "N": [4, 5.0, True, None, "OTHER"],
        "DEEP": {"A": {"B": 2}, "T": ["…", 0]},
    }
    assert json_codec.portable(value, text=str, number=int, max_depth=1)["deep"] == {"a": "…", "t": "…"}
    assert json_codec.portable("a", text=str.upper, number=int, max_depth=-1) == "A"
    assert json_codec.portable([], text=str, number=int, max_depth=-1) == "…"
    assert json_codec.portable([[1]], text=str, number=int, max_depth=1, depth=1) == ["…"]


def test_a_lone_surrogate_can_be_replaced():
    assert json_codec.replace_surrogates("a\ud800b\udfffc\ue000") == "a\ufffdb\ufffdc\ue000"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "é", "b": None}, '{"a": "\\u00e9", "b": null}'),
        ({"a": {1}}, "{'a': {1}}"),
        ([None, "a"], "[None, 'a']"),
        ("a", "a"),
    ],
)
def test_what_a_tool_returned_is_shown_as_published_sandboxes_show_it(value: Any, text: str):
    assert json_codec.object_text(value) == text


@pytest.mark.parametrize(
    ("value", "an_object", "a_list", "objects"),
    [
        ({"a": 1}, {"a": 1}, [], []),
        ([{"a": 1}, 2], {}, [{"a": 1}, 2], [{"a": 1}, {}]),
        (None, {}, [], []),
        ("ab", {}, [], []),
    ],
)
def test_a_value_of_another_type_counts_as_empty(value: Any, an_object: Any, a_list: Any, objects: Any):
    assert json_codec.as_object(value) == an_object
    assert json_codec.as_list(value) == a_list
    assert json_codec.as_objects(value) == objects


def test_the_values_inside_a_value_are_given_in_their_order():
    value = {"a": [1, {"b": 2}], "c": {}, "d": "e"}
    assert [*json_codec.values_inside(value)] == [value, [1, {"b": 2}], 1, {"b": 2}, 2, {}, "e"]


def test_lines_of_a_file_are_read_with_their_places(tmp_path: Path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n  \n{"b": 12345678901234567890123}')
    assert [*json_codec.read_json_lines(path)] == [
        (f"{path}:1", {"a": 1}),
        (f"{path}:4", {"b": 12345678901234567890123}),
    ]
    assert [*json_codec.numbered_json_lines(path)] == [(1, {"a": 1}), (4, {"b": 12345678901234567890123})]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[1]", ": expected a JSON object, found a list"),
        (b"null", ": expected a JSON object, found null"),
        (
            b"{",
            ": not a JSON object (Expecting property name enclosed in double quotes: line 1 column 2 (char 1));"
            " expected one task per line",
        ),
        (b'"\xff"', ": not UTF-8 text (invalid start byte); expected JSON lines"),
        (b"[" * 1001, ": too large to be read (JSON nested deeper than 1000 levels)"),
    ],
)
def test_a_line_that_is_no_record_is_named_with_what_was_expected(tmp_path: Path, line: bytes, problem: str):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"{}\n" + line)
    with pytest.raises(DataError) as raised:
        list(json_codec.read_json_lines(path, "task"))
    assert str(raised.value) == f"{path}:2{problem}"


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path):
    with pytest.raises(DataError) as raised:
        list(json_codec.read_json_lines(tmp_path / "none"))
    assert str(raised.value) == f"cannot read {tmp_path}/none: No such file or directory"


@pytest.mark.parametrize(
    ("value", "kind", "expected", "message"),
    [
        (True, int, "", "a:1: field n: expected a whole number, found a boolean"),
        (1, bool, "", "a:1: field n: expected a boolean, found a number"),
        (1, float, "", "a:1: field n: expected a decimal number, found a number"),
        (1.5, int, "an age", "a:1: field n: expected an age, found a number"),
        ([], dict, "", "a:1: field n: expected an object, found a list"),
        ({}, list, "", "a:1: field n: expected a list, found an object"),
        (None, str, "", "a:1: field n: expected a text, found null"),
        ("a", tuple, "", "a:1: field n: expected tuple, found a text"),
    ],
)
def test_a_field_of_another_type_is_named_with_both(value: Any, kind: Any, expected: str, message: str):
    with pytest.raises(DataError) as raised:
        json_codec.checked(value, kind, "a:1: field n", expected)
    assert str(raised.value) == message
    if not expected:
        with pytest.raises(DataError) as raised:
            json_codec.required_field({"n": value}, "n", kind, "a:1")
        assert str(raised.value) == message


@pytest.mark.parametrize(("value", "kind"), [(True, bool), (1, int), (1.5, float), ("a", str), ([], list)])
def test_a_field_of_the_type_that_it_must_have_is_given(value: Any, kind: Any):
    assert json_codec.required_field({"n": value}, "n", kind, "a:1") is value


def test_equal_values_have_one_canonical_text():
    assert json_codec.canonical_json({"b": [1, {"d": 2, "c": 3}], "a": "é"}) == (
        '{"a":"é","b":[1,{"c":3,"d":2}]}'.encode()
    )
    assert json_codec.canonical_json({"b": 2**70, "a": "é\ud800"}) == (
        '{"a":"é\ud800","b":1180591620717411303424}'.encode("utf-8", "surrogatepass")
    )
