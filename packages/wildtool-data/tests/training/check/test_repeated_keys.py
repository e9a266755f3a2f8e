"""Keys that a line has twice: readers take one value without a word."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.json_codec import dumps
from wildtool_data.prepare.check.file import FileCheck, check_training_file
from wildtool_data.prepare.check.rows import keys_repeated_inside, repeated_keys

TEXTS = st.text(st.sampled_from('ab":{}\\é'), max_size=6)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


@given(VALUES, st.booleans(), st.booleans())
def test_a_text_without_repeated_keys_has_none(value: Any, is_ascii: bool, escaped: bool):
    text = json.dumps({"x": value}, ensure_ascii=is_ascii)
    text = text.replace('\\"', "\\u0022") if escaped and "\\\\" not in text else text
    assert repeated_keys(text.encode(), dumps(json.loads(text))) == []


@given(VALUES, TEXTS, VALUES, VALUES)
def test_a_repeated_key_is_named_wherever_it_is(value: Any, key: str, one: Any, other: Any):
    name = json.dumps(key)
    inner = f"{{{name}: {json.dumps(one)}, {name}: {json.dumps(other)}}}"
    text = json.dumps({"before": value, "after": ["INNER"]}).replace('"INNER"', inner)
    assert repeated_keys(text.encode(), dumps(json.loads(text))) == [key]


@pytest.mark.parametrize("is_list", [False, True])
def test_the_line_and_the_key_are_named_in_a_warning(tmp_path: Path, is_list: bool):
    row = '{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "\\u0022b", "value": "c"}]}'
    path = tmp_path / "a.jsonl"
    good = row.replace('"\\u0022b", "value": ', "")
    path.write_text(f"[{good},\n{row}]" if is_list else f"{good}\n{row}\n")
    found = [one for one in check_training_file(path, FileCheck()) if one.rule == "repeated-key"]
    assert [(one.where, one.level) for one in found] == [(f"{path}:2", "warning")]
    assert 'the key "value" more than once' in found[0].message


def test_quotes_that_are_written_as_numbers_hide_no_repeated_key():
    text = b'{"a": 1, "a": "\\u0022\\u0022"}'
    read = dumps(json.loads(text))
    assert (text.count(b'"'), repeated_keys(text, read)) == (read.count(b'"'), ["a"])


def test_a_number_that_is_too_long_hides_what_is_repeated():
    assert repeated_keys(b'{"a": 1, "a": %b}' % (b"1" * 5000), b'{"a":1}') == []
    assert repeated_keys(b"", b'{"a":1}') == []


TWICE = '{"name": "f", "arguments": {"q": 1, "q": 2}}'
TURNS = [{"from": "human", "value": "a"}]


@pytest.mark.parametrize(
    ("row", "keys"),
    [
        ({"conversations": [*TURNS, {"from": "function_call", "value": TWICE}]}, ["q"]),
        ({"conversations": [*TURNS, {"from": "observation", "value": TWICE}, {"from": "gpt", "value": TWICE}]}, []),
        ({"conversations": TURNS, "tools": '[{"name": "f", "name": "g"}]'}, ["name"]),
        ({"conversations": TURNS, "chosen": {"from": "function_call", "value": TWICE}}, ["q"]),
        ({"messages": [{"tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1, "a": 1}'}}]}]}, ["a"]),
        ({"prompt": [], "rejected": [{"tool_calls": [{"function": {"arguments": '{"a": 1, "a": 1}'}}]}]}, ["a"]),
        ({"conversations": [{"from": "function_call", "value": "[" * 70000}], "tools": "\ud800"}, []),
        (
            {
                "chosen": {"from": "function_call", "value": '{"a": 1, "a": 2}'},
                "rejected": {"from": "function_call", "value": '{"b": 1, "b": 2}'},
                "conversations": [{"from": "function_call", "value": '{"c": 1, "c": 2}'}],
                "tools": '{"d": 1, "d": 2}',
            },
            ["d", "a", "b", "c"],
        ),
        ({"tools": "[", "chosen": {"from": "function_call", "value": TWICE}}, ["q"]),
        ({"conversations": None, "tools": 3, "chosen": "x"}, []),
        ("no object", []),
    ],
)  # fmt: skip
def test_keys_are_looked_for_in_texts_of_calls_and_tools(row: Any, keys: list[str]):
    assert keys_repeated_inside(row) == keys
