"""Conversations of ShareGPT's, Hermes', ToolACE's and ToolBench's shape as records."""

import json
from typing import Any

import pytest

from training.record_forms import call, calls, read, record, refusal, results, tool
from wildtool.training.readers.options import ReadOptions
from wildtool.training.record import AssistantTurn, UserTurn

Q, R = UserTurn("q"), AssistantTurn("r")
FUNCTION = '{"name": "f", "parameters": {"a": {"type": "int"}}}'
F = tool("f", "a", a={"type": "integer"})
CALL = '{"name": "f", "arguments": {"a": 1}}'
KEEP = ReadOptions(keep_system=True)


def talk(*said: tuple[Any, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": value} for role, value in said], **more}


# ShareGPT --------------------------------------------------------------------------------------------


def test_the_system_column_counts_where_no_turn_says_it():
    assert read(talk(("user", "q"), ("gpt", "r"), system="S", more=1), "sharegpt") == record(
        Q, R, system="S", columns={"more": 1}
    )
    assert read(talk(("system", ""), ("user", "q"), ("gpt", "r"), system="S"), "glaive-toolcall") == record(
        Q, R
    )
    assert read(talk(("user", "q"), ("gpt", "r"), system=None), "glaive-toolcall") == record(Q, R)


# Hermes ----------------------------------------------------------------------------------------------

TAGS = f"<tools> {FUNCTION} </tools>"
BLOCK = f"<tool_call>\n{CALL}\n</tool_call>"


def test_tags_that_are_not_closed_end_with_the_text():
    row = talk(("human", "q"), ("gpt", f"<tool_call>{CALL}"), ("tool", "<tool_response>5"), ("gpt", "r"))
    closed = talk(("human", "q"), ("gpt", BLOCK), ("tool", "<tool_response>5"), ("gpt", "r"))
    for unclosed in (
        row,
        closed,
        talk(("human", "q"), ("gpt", f"<tool_call>{CALL}"), ("tool", "5"), ("gpt", "r")),
    ):
        assert read(unclosed, "hermes") == record(
            Q, calls(call("f", a=1)), results("5"), R, repairs=("missing-close-tag",)
        )
    assert read(talk(("system", f"<tools>{FUNCTION}"), ("human", "q"), ("gpt", "r")), "hermes") == record(
        Q, R, tools=(F,)
    )
    assert refusal(talk(("human", "q"), ("gpt", "<tool_call>{'name': 'f', 'arguments': [1]}")), "hermes") == (
        "unreadable-call",
        "the arguments are no object: [1]",
    )


@pytest.mark.parametrize(
    ("completion", "turn"),
    [
        (f"[{CALL}]", calls(call("f", a=1))),
        (f" {CALL}", calls(call("f", a=1))),
        ([json.loads(CALL)], calls(call("f", a=1))),
        (BLOCK, calls(call("f", a=1))),
        (f" Look. {BLOCK} Then.", calls(call("f", a=1), text="Look.")),
        ("r", R),
    ],
)
def test_prompts_of_hermes_are_completed_by_calls_or_text(completion: Any, turn: AssistantTurn):
    prompt = [{"role": "system", "content": TAGS}, {"role": "user", "content": "q"}]
    assert read({"prompt": prompt, "completion": completion}, "hermes-prompts") == record(Q, turn, tools=(F,))
    row = {"user": "q", "system": TAGS, "completion": completion, "tools": '[{"name": "g"}]'}
    assert read(row, "hermes-prompts") == record(Q, turn, tools=(tool("g"),))
    assert read(row, "hermes-prompts", KEEP) == record(Q, turn, tools=(tool("g"),), system=TAGS)
    row = {"prompt": prompt[1:], "system": "S", "completion": completion}
    assert read(row, "hermes-prompts") == record(Q, turn, system="S")


# ToolACE ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['["5"', "5", '{"a": 1}'])
def test_one_result_of_several_calls_that_is_no_list_is_refused(text: str):
    row = talk(("user", "q"), ("assistant", "[f(), f()]"), ("tool", text), ("assistant", "r"))
    assert refusal(row, "toolace") == ("result-count", "1 results for 2 calls")
