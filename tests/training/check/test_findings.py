"""Every finding of a record word by word."""

import json
from typing import Any

import pytest

from training.training_rows import TOOL, turn
from wildtool.findings import Finding
from wildtool.sets.prepare.check.rules import calls_of_turn, check_record, record_kind

HUMAN, GPT = turn("human", "a"), turn("gpt", "b")
CALL = turn("function_call", '{"name": "level", "arguments": {"station": "A"}}')
RESULT = turn("observation", "5")
TOOLS = json.dumps([TOOL])
OTHER = '{"name": "x", "arguments": {}}'


def line(finding: Finding) -> str:
    """A finding of a value as one text."""
    assert (finding.where, finding.id) == ("", "")
    return f"{finding.level} {finding.rule} {finding.field}: {finding.message}"


def found(record: Any) -> list[str]:
    return list(map(line, check_record(record, record_kind(record))))


def talk(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": list(turns), **more}


DROPS = "LLaMA-Factory drops this record"
STOPS = "LLaMA-Factory stops here"
SOME = "some templates of LLaMA-Factory stop on it"


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        (talk(HUMAN, GPT), []),
        (talk(turn("system", "S"), HUMAN, CALL, RESULT, GPT, tools=TOOLS), []),
        (talk(HUMAN, chosen=GPT, rejected=CALL, tools=TOOLS), []),
        ([1], ["error S01 : a record must be an object, this is a list"]),
        ({"a": 1}, ["error S02 conversations: conversations must be a list with at least one turn"]),
        (
            talk(1, turn(None, {"a": 1}), {"from": "gpt"}, turn("human", [1]), turn("human", 5)),
            [
                "error S03 conversations[0]: turn 1 must be an object, this is a number",
                "error S03 conversations[1]: turn 2: from is null, not a text",
                "error S03 conversations[1]: turn 2: value is an object; write it as JSON text",
                "error S03 conversations[2]: turn 3: value is null, not a text",
                "error S03 conversations[3]: turn 4: value is a list; write it as JSON text",
                "error S03 conversations[4]: turn 5: value is a number, not a text",
            ],
        ),
        (
            talk(HUMAN, turn("bot", "b"), turn("user", "b"), GPT),
            [
                'error S04 conversations[1]: turn 2: role "bot" is none of human, gpt, function_call, observation',
                'error S04 conversations[2]: turn 3: role "user" is none of human, gpt, function_call, observation',
            ],
        ),
        (
            talk(HUMAN, turn("system", "b")),
            [
                'error S04 conversations[1]: turn 2: role "system" is none of human, gpt, function_call, observation'
            ],
        ),
        (
            talk(turn("system", "S"), GPT, HUMAN),
            [f"error S05 conversations[1]: turn 2 is gpt, only human or observation can be here: {DROPS}"],
        ),
        (
            talk(HUMAN, HUMAN, GPT, GPT),
            [f"error S05 conversations[1]: turn 2 is human, only gpt or function_call can be here: {DROPS}"],
        ),
        (
            talk(HUMAN, GPT, HUMAN),
            [f"error S06 conversations[2]: ends with human: nothing to learn after it; {DROPS}"],
        ),
        (
            talk(turn("system", "S")),
            [f"error S06 conversations[0]: has no turn: nothing to learn after it; {DROPS}"],
        ),
        (
            talk(HUMAN, GPT, chosen=GPT, rejected=turn("gpt", "c")),
            [f"error S07 conversations[1]: the prompt of a pair must end with human or observation: {DROPS}"],
        ),
        (
            talk(HUMAN, turn("function_call", "[]")),
            ["error S08 conversations[1]: turn 2: the list of calls is empty"],
        ),
        (
            talk(HUMAN, turn("function_call", '{"a" 1}')),
            [f"error S08 conversations[1]: turn 2: the call is no JSON (column 6): {STOPS}"],
        ),
        (
            talk(HUMAN, GPT, tools="{"),
            [f"error S09 tools: tools must be a JSON text of a list, this text is no JSON: {STOPS}"],
        ),
        (
            talk(HUMAN, GPT, tools="5"),
            [f"error S09 tools: tools must be a JSON text of a list, this is a number: {STOPS}"],
        ),
        (
            talk(HUMAN, GPT, tools=[]),
            [f"error S09 tools: tools must be a JSON text of a list, this is a list: {STOPS}"],
        ),
        (
            talk(HUMAN, GPT, tools="[{}, 5]"),
            [f"error S09 tools: tools must be a JSON text of a list of objects: {STOPS}"],
        ),
        (talk(HUMAN, GPT, tools="[]"), []),
        (
            talk(
                HUMAN,
                GPT,
                tools='[{"name": ""}, {"name": 5}, {"name": "f"}, {"type": "function", "function": {"name": "g"}},'
                ' {"type": 1, "function": {"name": "h"}}, {"type": "function", "name": "i"}]',
            ),
            [
                "error S10 tools[0]: tool 1 has no name",
                "error S10 tools[1]: tool 2 has no name",
                'error S10 tools[2]: tool "f" has no parameters.properties: write {"type": "object", "properties": {}}',
                'error S10 tools[3]: tool "g" has no parameters.properties: write {"type": "object", "properties": {}}',
                "error S10 tools[4]: tool 5 has no name",
                'error S10 tools[5]: tool "i" has no parameters.properties: write {"type": "object", "properties": {}}',
            ],
        ),
        (
            talk(turn("human", " "), turn("gpt", "")),
            [
                "error S11 conversations[0]: turn 1: empty request",
                "error S11 conversations[1]: turn 2: empty reply",
            ],
        ),
        (
            talk(
                HUMAN,
                turn("function_call", '[{"name": "f", "arguments": 5}, {"name": "g", "arguments": "{}"}]'),
            ),
            [
                'warning S12 conversations[1]: calls "f", and the record has no tools that can be read',
                'warning S15 conversations[1]: turn 2: arguments of "f" are a number: models learn to quote twice',
                'warning S15 conversations[1]: turn 2: arguments of "g" are a text: models learn to quote twice',
            ],
        ),
        (talk(HUMAN, CALL, turn("observation", ""), GPT, tools=TOOLS), []),
        (
            talk(HUMAN, chosen=turn("gpt", ""), rejected=turn("gpt", "b")),
            ["error S11 chosen: chosen: empty reply"],
        ),
        (
            talk(HUMAN, CALL, RESULT, CALL),
            [
                'warning S12 conversations[1]: calls "level", and the record has no tools that can be read',
            ],
        ),
        (
            talk(
                HUMAN, turn("function_call", f'[{{"name": "tide", "arguments": [1]}}, {OTHER}]'), tools=TOOLS
            ),
            [
                'warning S13 conversations[1]: turn 2: calls "tide"; tools are level',
                'warning S13 conversations[1]: turn 2: calls "x"; tools are level',
                'warning S15 conversations[1]: turn 2: arguments of "tide" are a list: models learn to quote twice',
            ],
        ),
        (
            talk(HUMAN, turn("function_call", '{"name": "level", "arguments": {"x": 1}}'), tools=TOOLS),
            [
                'warning S14 conversations[1]: turn 2: level: argument "x" is not in its schema',
                'warning S14 conversations[1]: turn 2: level: required argument "station" is missing',
            ],
        ),
        (
            talk(HUMAN, turn("function_call", '{"name": "level", "arguments": "x"}'), tools=TOOLS),
            [
                'warning S15 conversations[1]: turn 2: arguments of "level" are a text: models learn to quote twice'
            ],
        ),
        (
            talk(HUMAN, GPT, RESULT, GPT),
            ["warning S16 conversations[2]: turn 3: a result without a call"],
        ),
        (talk(RESULT, GPT), ["warning S16 conversations[0]: turn 1: a result without a call"]),
        (
            talk(turn("system", "S"), HUMAN, CALL, RESULT, GPT, RESULT, GPT, tools=TOOLS),
            ["warning S16 conversations[5]: turn 6: a result without a call"],
        ),
        (
            talk(
                HUMAN,
                GPT,
                tools=json.dumps(
                    [
                        {"name": "f", "parameters": {"properties": {"a": 1, "b": {"enum": ["x", 5, 6]}}}},
                        {"name": "f", "parameters": {"properties": {"c": {"enum": [["é" * 60]]}}}},
                    ]
                ),
            ),
            [
                f'warning S17 tools[0]: tool "f", "a": its schema is no object, {SOME}',
                f'warning S17 tools[0]: tool "f", "b": enum holds 5, {SOME}',
                f'warning S17 tools[1]: tool "f", "c": enum holds ["{"é" * 38}, {SOME}',
                'warning S18 tools[1]: tool "f" is listed twice',
            ],
        ),
        (
            talk(HUMAN, chosen=HUMAN),
            [
                "error S19 chosen: chosen must be one turn of gpt or function_call",
                "error S19 rejected: rejected must be one turn of gpt or function_call",
            ],
        ),
        (
            talk(HUMAN, chosen=GPT, rejected=turn("gpt", 5)),
            ["error S19 rejected: rejected must be one turn of gpt or function_call"],
        ),
        (
            talk(HUMAN, chosen=GPT, rejected=turn("gpt", " b\n")),
            ["error S20 rejected: chosen and rejected say the same"],
        ),
        (
            talk(
                HUMAN,
                chosen=CALL,
                rejected=turn("function_call", '{"arguments": {"station":"A"}, "name": "level"}'),
                tools=TOOLS,
            ),
            ["error S20 rejected: chosen and rejected say the same"],
        ),
        (talk(HUMAN, chosen=turn("gpt", CALL["value"]), rejected=CALL, tools=TOOLS), []),
        (talk(HUMAN, chosen=GPT, rejected=turn("gpt", "{")), []),
        (
            talk(turn("human", "a <|im_end|><|im_start|>"), turn("gpt", "[TOOL_CALLS]")),
            [
                'warning S21 conversations[0]: turn 1: "<|im_end|>" is a mark of a chat format: was the set converted?',
                'warning S21 conversations[1]: turn 2: "[TOOL_CALLS]" is a mark of a chat format: was the set converted?',
            ],
        ),
        (
            talk(
                HUMAN,
                turn("function_call", f"I <|eot_id|> look. <tool_call>{CALL['value']}</tool_call>"),
                tools=TOOLS,
            ),
            [
                'warning S21 conversations[1]: turn 2: "<|eot_id|>" is a mark of a chat format: was the set converted?',
            ],
        ),
        (
            talk(
                HUMAN, turn("function_call", f"I look. <tool_call>{CALL['value']}</tool_call>"), tools=TOOLS
            ),
            [],
        ),
        (
            talk(HUMAN, chosen=turn("function_call", OTHER), rejected=turn("gpt", "<tool_response>")),
            [
                'warning S12 chosen: calls "x", and the record has no tools that can be read',
                'warning S21 rejected: rejected: "<tool_response>" is a mark of a chat format: was the set converted?',
            ],
        ),
        (talk(HUMAN, chosen=GPT, rejected=CALL), []),
    ],
)
def test_what_is_wrong_in_a_record_is_said(record: Any, lines: list[str]):
    assert found(record) == lines


def test_many_tools_are_cut_off():
    names = [f"tool{k:03}" for k in range(40)]
    tools = json.dumps([{"name": name, "parameters": {"properties": {}}} for name in names])
    (said,) = found(talk(HUMAN, CALL, tools=tools))
    assert said == f'warning S13 conversations[1]: turn 2: calls "level"; tools are {", ".join(names)[:200]}'


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": 1}', [{"name": "f", "arguments": 1}]),
        (' <think>x</think> {"name": "f", "arguments": 1}', [{"name": "f", "arguments": 1}]),
        ('t <tool_call>[{"name": "f", "arguments": 1}]</tool_call> ', [{"name": "f", "arguments": 1}]),
        ("", "the call is no JSON (column 1)"),
        ("<think>x</think> {a}", "the call is no JSON (column 19)"),
        ("t <tool_call> {a}</tool_call>", "the call is no JSON (column 16)"),
        ("<tool_call>1</tool_call> t", "the call is no JSON (column 1)"),
        ("<tool_call></tool_call></tool_call>", "the call is no JSON (column 1)"),
        ("[]", "the list of calls is empty"),
        ('[{"name": "f"}]', "a call must be an object with name and arguments"),
        (
            '[{"name": "f", "arguments": 1}, {"arguments": 1}]',
            "a call must be an object with name and arguments",
        ),
    ],
)
def test_calls_of_a_turn_or_why_there_are_none(text: str, calls: Any):
    assert calls_of_turn(text) == calls
