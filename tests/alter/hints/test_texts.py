"""Texts that hints are made of, and what of them is shown when."""

import json
from pathlib import Path

import pytest

from wildtool.alter.hints.gold_hints import (  # pyright: ignore[reportPrivateUsage]
    _clues,
    _in_result,
    _tool_name,
)
from wildtool.alter.hints.hint_files import Hint
from wildtool.alter.hints.hints import Hints
from wildtool.alter.hints.reasoning import PROMPT_DIGEST
from wildtool.types import Item, Message, Request


def test_a_long_value_of_a_result_is_quoted_without_its_key():
    values = [f"x {'w' * length}" for length in (198, 199)]
    texts = [_in_result("x", json.dumps({"a": value}), 7) for value in values]
    assert [text.partition("w")[0] for text in texts] == ["a is x ", '"{"a": "x ']


def test_a_result_is_called_by_the_tool_of_its_call_else_by_itself():
    call = {"id": "1", "function": {"name": "get"}}
    before: list[Message] = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "old"}}]},
        {"role": "assistant", "tool_calls": [call, {"id": "2"}]},
    ]
    results: list[Message] = [
        {"tool_call_id": "1"},
        {"tool_call_id": "2", "name": "own"},
        {"tool_call_id": "3"},
    ]
    assert [_tool_name(result, before) for result in results] == ["get", "own", "a tool"]


def test_only_what_no_fresh_message_has_is_a_clue():
    messages: list[Message] = [
        {"role": "user", "content": "Rye and Dover"},
        {"role": "assistant", "content": "Hove"},
        {"role": "tool", "content": None},
        {"role": "tool", "content": "Rye"},
    ]
    calls = [("get", {"cities": ["Rye", "Dover", "Hove"]})]
    assert [*_clues(calls, messages, messages[2:])] == ['Said earlier: "Rye and Dover"']
    assert [*_clues(calls, messages, [])] == [
        'Earlier result of a tool: "Rye"',
        'Said earlier: "Rye and Dover"',
    ]


def test_aid_is_what_the_options_say(tmp_path: Path):
    hints, reasons = tmp_path / "hints.jsonl", tmp_path / "reasons.jsonl"
    rows = ['{"item": "a", "unit": "0", "text": "x"}', '{"item": "b", "unit": "0", "text": "y"}']
    hints.write_text("\n".join(rows), "utf-8")
    reasons.write_text(rows[0], "utf-8")
    read, other = (
        tuple(Hint(item, "0", 0, text) for item, text in pairs) for pairs in (("ax", "by"), ("ay", "bx"))
    )
    expected = {
        (None, None): Hints(),
        (str(hints), None): Hints(read),
        (f"shuffled:{hints}", None): Hints(other, True),
        (None, "own"): Hints(rationale="own", prompt=PROMPT_DIGEST),
        (f"shuffled:{hints}", "own"): Hints(other, True, "own", prompt=PROMPT_DIGEST),
        (None, str(reasons)): Hints(rationale="given", rationales={("a", "0"): "x"}),
        (str(hints), str(reasons)): Hints(read, False, "given", {("a", "0"): "x"}),
    }
    assert {options: Hints.given(*options) for options in expected} == expected
    assert [Hints.recorded(aid.identity()) for aid in expected.values()] == [*expected.values()]


def test_a_text_stays_only_where_its_message_is_still_there():
    unit = Hints((Hint("a", "0", 0, "first"), Hint("a", "0", 2, "third"))).unit(Item("a", ("0",), None), "0")
    spoken: list[Message] = [{"role": "system", "content": "system 0"}, {"role": "user", "content": "user 1"}]
    shown: list[list[Message]] = []
    for messages in (spoken, spoken[:1], [spoken[0], {"role": "user", "content": "other"}], spoken):
        exchange = unit.exchange(Request(messages))
        shown.append([*next(exchange).messages])
        with pytest.raises(StopIteration):
            exchange.send({"role": "assistant", "content": "x"})
    assert [[message["content"] for message in messages] for messages in shown] == [
        ["system 0", "user 1\nfirst"],
        ["system 0"],
        ["system 0", "other\nthird"],
        ["system 0", "user 1\nfirst"],
    ]
