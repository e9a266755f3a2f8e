"""What trainers do with records."""

import json
from typing import Any

import pytest

from training.training_rows import call_row, text_row, turn
from wildtool_data.prepare.check.rules import check_record, record_kind
from wildtool_data.prepare.check.trainers import TRAINERS


def effects(name: str, row: dict[str, Any], form="sharegpt") -> list[str]:
    findings = check_record(row, record_kind(row)) if form == "sharegpt" else []
    return [note.rule for note in TRAINERS[name].of_record(row, form, findings)]


def with_turns(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**text_row("a"), "conversations": list(turns), **more}


HUMAN, GPT = turn("human", "a"), turn("gpt", "b")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (call_row("a"), []),
        (with_turns(), ["drops"]),
        ({"system": ""}, ["stops"]),
        (with_turns(HUMAN, turn("bot", "b")), ["drops"]),
        (with_turns(GPT, HUMAN), ["drops"]),
        # Dropped before its call is read.
        (with_turns(HUMAN, turn("function_call", "broken"), HUMAN), ["drops"]),
        (with_turns(HUMAN, turn("function_call", "broken")), ["stops"]),
        (with_turns(HUMAN, turn("function_call", "[]")), ["changes"]),
        (with_turns(HUMAN, turn("gpt", {"a": 1})), ["stops"]),
        (with_turns(turn("gpt", None), HUMAN), ["drops"]),
        (with_turns(HUMAN, GPT, tools="null"), ["stops"]),
        (with_turns(HUMAN, GPT, tools="{}"), []),
        (with_turns(HUMAN, GPT, tools=[]), []),
        (with_turns(HUMAN, GPT, tools='[{"name": "t", "parameters": {"properties": {"a": 1}}}]'), ["stops"]),
        (with_turns(turn("system", "S"), HUMAN, GPT, system="other"), ["changes"]),
        (with_turns(turn("system", "S"), HUMAN, GPT, system=""), []),
        (with_turns(HUMAN, GPT, system="other"), []),
        (with_turns(HUMAN, chosen=GPT, rejected="x"), ["drops"]),
        (with_turns(HUMAN, chosen=GPT, rejected=HUMAN), ["changes"]),
        (with_turns(HUMAN, chosen=GPT, rejected=turn("bot", "x")), ["stops"]),
    ],
)
def test_llama_factory_treats_rows_as_its_converter_does(row, expected):
    assert effects("llama-factory", row) == expected


def messages(*replies: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "a"}, *replies], **more}


def calling(arguments: Any) -> dict[str, Any]:
    call = {"type": "function", "function": {"name": "t", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


RESULT = {"role": "tool", "content": "1"}


@pytest.mark.parametrize(
    ("name", "row", "expected"),
    [
        ("trl", messages(calling({"a": 1})), []),
        ("trl", messages(calling('{"a": 1}')), ["changes"]),
        ("trl", messages({"role": "assistant", "content": "b", "weight": 0}, tools=""), ["stops", "changes"]),
        ("trl", messages(tools="[]"), []),
        ("verl", messages({"role": "assistant"}), ["stops"]),
        ("verl", messages(calling({}), RESULT, RESULT), ["stops"]),
        ("verl", messages(calling({}), RESULT, tools=json.dumps([])), ["stops"]),
        ("axolotl", messages(calling("{broken")), ["stops"]),
        ("axolotl", messages(calling("{}")), []),
        ("axolotl", messages({"role": "assistant", "content": ""}), ["changes"]),
    ],
)
def test_trainers_of_messages(name, row, expected):
    assert effects(name, row, "messages") == expected
