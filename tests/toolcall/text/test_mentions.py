"""Values of calls in texts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.mentions import mention, value_words


@pytest.mark.parametrize(
    ("word", "text", "place"),
    [
        ("Husum", "in Husum.", 3),
        ("Husum", "Husumer, then Husum", 14),
        ("10", "in 2010", None),
        ("is", "I like this", None),
        ("id", "user_id", None),
        ("mar", "март márz", None),
        ("caf", "café", None),
        ("st-17", "(st-17)", 1),
        ("基尔", "我住在基尔。", 3),
        ("Kiel", "我住在Kiel吗", 3),
        ("서울", "서울에서", 0),
        ("", "any", None),
        ("-5", "x-5", 1),
    ],
)
def test_a_value_is_found_as_a_word(word: str, text: str, place: int | None):
    assert mention(word, text) == place


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": " Husum ", "n": 17, "x": 2.5}, ["Husum", "17", "2.5"]),
        ({"a": ["st-1", {"b": "st-2"}]}, ["st-1", "st-2"]),
        ({"a": "x", "b": True, "c": None, "d": 7, "e": ""}, []),
        ("plain", ["plain"]),
    ],
)
def test_texts_and_numbers_are_looked_for_nested_ones_too(arguments: Any, words: list[str]):
    assert list(value_words(arguments)) == words


@pytest.mark.parametrize(("lists", "words"), [(20, ["deep"]), (21, [])])
def test_what_is_nested_is_read_down_to_twenty_levels(lists: int, words: list[str]):
    value: Any = "deep"
    for _ in range(lists):
        value = [value]
    assert list(value_words(value)) == words


def test_what_is_nested_without_end_is_left_out():
    value: Any = "deep"
    for _ in range(3000):
        value = [value]
    assert not list(value_words(value))


@given(st.text(alphabet="ab 基_", max_size=12), st.text(alphabet="ab基", min_size=1, max_size=3))
def test_a_found_place_has_the_word_and_blanks_around_a_word_always_show_it(text: str, word: str):
    place = mention(word, text)
    assert place is None or text[place : place + len(word)] == word
    assert mention(word, f"{text} {word} {text}") is not None
