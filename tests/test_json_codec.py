"""JSON as it goes over the wire and into files."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool import json_codec

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
