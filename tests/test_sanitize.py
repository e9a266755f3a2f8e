"""Texts that are handed around: what they say of the machine they come from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.sanitize import (
    basename_only,
    csv_safe,
    ellipsize,
    escape_text,
    single_line,
    strip_folders,
    truncate_words,
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/srv/me/data/sessions.jsonl", "sessions.jsonl"),
        ("~/data/sessions.jsonl", "sessions.jsonl"),
        ("replay:/srv/me/run#gold", "replay:run#gold"),
        ('{"path": "/models/llama/7b", "n": 1}', '{"path": "7b", "n": 1}'),
        ("no such file: /a/b/c, /d/e", "no such file: c, e"),
        ("data/sessions.jsonl", "data/sessions.jsonl"),
        ("https://host:8000/v1/chat", "https://host:8000/v1/chat"),
        ("org/model-7b", "org/model-7b"),
        ("3/4 and a / b", "3/4 and a / b"),
        ("</b></i> <a href=x/>", "</b></i> <a href=x/>"),
    ],
)
def test_of_absolute_paths_only_the_last_part_is_left(text: str, left: str):
    assert strip_folders(text) == left


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("/srv/me/my data/a set.jsonl", "a set.jsonl"),
        ("--data=/srv/me/my data/x.jsonl", "--data=x.jsonl"),
        ("/srv/me/runs/", "runs"),
        ("official", "official"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_name_that_is_a_path_is_its_last_part(name: str, left: str):
    assert basename_only(name) == left


@given(st.lists(st.text("ab c.", min_size=1), min_size=2, max_size=4))
def test_no_folder_of_a_path_survives_in_a_name(parts: list[str]):
    assert "/" not in basename_only("/" + "/".join(parts)).rstrip("/") or not parts[-1].strip("./ ")


def test_a_text_is_cut_between_words():
    assert truncate_words("one two three", 13) == "one two three"
    assert truncate_words("one two three", 12) == "one two…"
    assert truncate_words("a" * 20, 5) == "aaaa…"
    assert truncate_words("ab cdef gh", 8) == "ab cdef…"
    assert truncate_words("abc defghij", 8) == "abc def…"
    assert truncate_words("abcd efghij", 8) == "abcd ef…"
    assert truncate_words("abcde fghij", 8) == "abcde…"
    assert truncate_words("one\ntwo three", 8) == "one\ntwo…"
    assert truncate_words("one two\nthree", 11) == "one two…"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        (5, "5"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[31m\x00\u202e\u200b\ud800é", "\\x1b[31m\\x00\\u202e\\u200b\\ud800é"),
    ],
)
def test_characters_that_change_what_is_seen_are_escaped(text: object, safe: str):
    assert escape_text(text) == safe


@pytest.mark.parametrize(
    ("text", "longest", "line"),
    [
        ("a\tb\nc", 5, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abcdefg\x1b", 7, "abcdef…"),
        ("ab\x1bcd", 6, "ab\\x1…"),
        (1234567, 6, "12345…"),
    ],
)
def test_a_line_is_cut_where_it_is_too_long(text: object, longest: int, line: str):
    assert single_line(text, longest) == line


def test_names_are_shown_up_to_200_characters():
    assert single_line("a" * 200) == "a" * 200
    assert single_line("a" * 201) == "a" * 199 + "…"
    assert ellipsize("a" * 200) == "a" * 200
    assert ellipsize("a" * 100 + "b" * 101) == "a" * 66 + "…" + "a" * 32 + "b" * 101


@pytest.mark.parametrize(
    ("text", "longest", "line"),
    [
        ("abcdefghi", 9, "abcdefghi"),
        ("abcdefghij", 9, "ab…efghij"),
        ("a\nc", 9, "a c"),
        ("a" * 10_001, 6, "a…aaa…"),
        ("a" * 10_000, 6, "a…aaaa"),
    ],
)
def test_of_a_line_that_is_too_long_the_ends_are_left(text: object, longest: int, line: str):
    assert ellipsize(text, longest) == line


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (True, "true"),
        (False, "false"),
        (-1, -1),
        (None, None),
        ("-1", "'-1"),
        ("'=a", "''=a"),
        ("'a", "'a"),
        ("a=b", "a=b"),
        ("a\0b", "a\ufffdb"),
    ],
)
def test_no_cell_is_a_formula(value: Any, cell: Any):
    assert csv_safe(value) == cell
