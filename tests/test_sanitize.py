"""Texts that are handed around: what they say of the machine they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.sanitize import basename_only, strip_folders, truncate_words


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
