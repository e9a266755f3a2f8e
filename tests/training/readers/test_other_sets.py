"""Sets of a layout of their own as records: what each column gives, and why a row is none."""

from typing import Any

import pytest

from training.record_forms import call, calls, read, record, results, tool
from wildtool.training.readers.options import ReadOptions
from wildtool.training.record import AssistantTurn, UserTurn

Q, R = UserTurn("q"), AssistantTurn("r")
FUNCTION = '{"name": "f", "parameters": {"a": {"type": "int"}}}'
F = tool("f", "a", a={"type": "integer"})
CALL = '{"name": "f", "arguments": {"a": 1}}'


def test_toolgen_marks_what_is_not_learned():
    turns = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "r", "loss": False},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "r", "loss": True},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "r"},
    ]
    unlearned = AssistantTurn("r", learned=False)
    notes = ("special-tokens",)
    assert read({"conversations": turns}, "toolgen") == record(
        Q, unlearned, Q, R, Q, R, system="S", notes=notes
    )
    assert read({"conversations": turns[1:2] + turns[-1:]}, "toolgen") == record(Q, R, notes=notes)
    turns[0]["content"] = ""
    assert read({"conversations": turns[:3]}, "toolgen") == record(Q, unlearned, notes=notes)


DPO = {
    "tool": "{'name': 'f', 'parameters': {'a': 'int'}}",
    "question": "q",
    "tool_call_accepted": "{'a': 1}",
    "call_result_accepted": "'5'",
    "agent_output_accepted": "r",
    "tool_call_rejected": "{'a': 2}",
}


@pytest.mark.parametrize(
    ("value", "text"),
    [("'5'", "5"), ("[5]", "[5]"), ("5 m", "5 m"), ({"a": 1}, '{"a": 1}'), ("{'a': 1}", "{'a': 1}")],
)
def test_a_result_of_roborovski_loses_its_quotes(value: Any, text: str):
    row = {**DPO, "call_result_accepted": value}
    assert read(row, "roborovski-dpo", ReadOptions(kind="sft")) == record(
        Q, calls(call("f", a=1)), results(text), R, tools=(F,)
    )


def test_xlam_is_a_question_with_its_calls():
    row = {"query": "q", "answers": f"[{CALL}, {CALL}]", "tools": f"[{FUNCTION}]"}
    both = record(Q, calls(call("f", a=1), call("f", 2, a=1)), tools=(F,))
    assert read(row, "xlam") == both
    assert read({**row, "answers": [{"name": "f", "arguments": {"a": 1}}] * 2}, "xlam") == both
    row["answers"] = "[{'name': 'f', 'arguments': {'a': 1}}]"
    assert read(row, "xlam") == record(Q, calls(call("f", a=1)), tools=(F,), repairs=("python-literal",))


def test_a_question_of_code_has_an_answer():
    assert read({"question": "q", "answer": "r"}, "glaive-code") == record(Q, R)
