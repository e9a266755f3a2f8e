"""Sets of a layout of their own as records: what each column gives, and why a row is none."""

from typing import Any

import pytest

from training.record_forms import call, calls, read, record, refusal, results, tool
from wildtool.sets.prepare.readers.options import ReadOptions
from wildtool.sets.prepare.record import AssistantTurn, TrainingRecord, UserTurn

Q, R = UserTurn("q"), AssistantTurn("r")
FUNCTION = '{"name": "f", "parameters": {"a": {"type": "int"}}}'
F = tool("f", "a", a={"type": "integer"})
CALL = '{"name": "f", "arguments": {"a": 1}}'
KEEP = ReadOptions(keep_system=True)


def glaive(*turns: tuple[Any, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": value} for role, value in turns], **more}


GLAIVE = (
    ("system", 'Help with functions - {"name": "f"}'),
    ("human", "q"),
    ("function-call", CALL),
    ("function-response", 5),
    ("gpt", "r"),
)
GLAIVE_TURNS = Q, calls(call("f", a=1)), results("5"), R


@pytest.mark.parametrize(
    ("more", "options", "system"),
    [
        ({"system_message": " Be brief. - "}, KEEP, "Be brief."),
        ({"system_message": " Be brief. - "}, ReadOptions(), None),
        ({"system_message": " "}, KEEP, "Help with functions"),
        ({}, KEEP, "Help with functions"),
        ({}, ReadOptions(), None),
    ],
)
def test_the_system_text_of_glaive_with_tools_is_kept_on_request(
    more: dict[str, Any], options: ReadOptions, system: str | None
):
    row = glaive(*GLAIVE, function_description=FUNCTION, **more)
    assert read(row, "glaive-chatml", options) == record(*GLAIVE_TURNS, tools=(F,), system=system)


def test_the_system_text_of_glaive_without_tools_stays():
    row = glaive(("human", "q"), ("gpt", "r"), system_message="Be brief.", id=3)
    kept = record(Q, R, system="Be brief.", id="3", columns={"id": 3})
    assert read(row, "glaive-chatml") == kept
    for more in ({"system_message": " -"}, {}):
        assert read(glaive(("human", "q"), ("gpt", "r"), **more), "glaive-chatml") == record(Q, R)


def test_bitagent_is_read_from_texts_and_lists():
    turns = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "q"},
        {"role": "tool call", "content": {"name": "f", "arguments": {"a": 1}}},
        {"role": "tool response", "content": {"b": 2}},
        {"role": "assistant", "content": "r"},
    ]
    read_record = record(Q, calls(call("f", a=1)), results('{"b": 2}'), R, system="S", tools=(F,))
    assert read({"conversation": turns, "tools": [FUNCTION]}, "bitagent") == read_record
    assert read({"conversation": str(turns), "tools": FUNCTION}, "bitagent") == read_record
    turns[0]["content"] = ""
    assert read({"conversation": turns, "tools": ""}, "bitagent") == record(
        *GLAIVE_TURNS[:2], results('{"b": 2}'), R
    )


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


def test_roborovski_gives_pairs_and_conversations():
    pair = {"kind": "preference", "tools": (F,), "chosen": calls(call("f", a=1))}
    assert read(DPO, "roborovski-dpo") == record(Q, rejected=calls(call("f", a=2)), **pair)
    assert read({**DPO, "tool_call_rejected": {"a": 3}}, "roborovski-dpo") == record(
        Q, rejected=calls(call("f", a=3)), **pair
    )
    for text in ("No {call}", "[1]"):
        assert read({**DPO, "tool_call_rejected": text}, "roborovski-dpo") == record(
            Q, rejected=AssistantTurn(text), **pair
        )
    sft = ReadOptions(kind="sft")
    assert read(DPO, "roborovski-dpo", sft) == record(Q, calls(call("f", a=1)), results("5"), R, tools=(F,))
    short = {key: DPO[key] for key in ("tool", "question", "tool_call_accepted")}
    assert read(short, "roborovski-dpo", sft) == record(Q, calls(call("f", a=1)), tools=(F,))
    assert read(DPO, "roborovski-dpo", ReadOptions(kind="preference")) == read(DPO, "roborovski-dpo")


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


def test_tools_alone_are_a_record_of_their_own():
    row = {"tools": [{"name": "f", "extra": 1, "parameters": {"a": "odd"}}], "func_name": "f"}
    assert read(row, "python-tools") == TrainingRecord(
        kind="tools",
        turns=(),
        tools=(tool("f", "a", a={}),),
        given_tools=({"name": "f", "extra": 1, "parameters": {"a": "odd"}},),
        unknown_types=("odd",),
        source="f",
        row=7,
        columns={"func_name": "f"},
    )


def test_steps_of_arithmetic_are_calls():
    number = {"type": "number"}
    row = {
        "question": "q",
        "toolcalls": '["<T>add(1, 2.5)=3.5", ["<T> sqrt(4) = 2 ", "x"], "<T>add(3, -2)=1"]',
        "answer": "It is <T>add(1, 2.5)=3.5 and <T> sqrt(4) =2.",
    }
    assert read(row, "gsm8k-toolcalls") == record(
        Q,
        calls(call("add", a=1, b=2.5)),
        results("3.5"),
        calls(call("sqrt", 2, a=4)),
        results("2"),
        calls(call("add", 3, a=3, b=-2)),
        results("1"),
        AssistantTurn("It is 3.5 and 2."),
        tools=(tool("add", "a", "b", a=number, b=number), tool("sqrt", "a", a=number)),
    )


@pytest.mark.parametrize(
    ("operation", "numbers"),
    [
        *((name, "1, 2") for name in ("add", "subtract", "multiply", "divide", "power", "log")),
        *((name, "1, 2") for name in ("choose", "permutate", "gcd", "lcm", "remainder")),
        *((name, "1") for name in ("sqrt", "ln")),
    ],
)
def test_every_operation_of_arithmetic_is_read(operation: str, numbers: str):
    row = {"question": "q", "toolcalls": [f"<T>{operation}({numbers})=1"], "answer": "1"}
    names = "ab"[: len(numbers.split(","))]
    assert read(row, "gsm8k-toolcalls") == record(
        Q,
        calls(call(operation, **dict(zip(names, (1, 2), strict=False)))),
        results("1"),
        AssistantTurn("1"),
        tools=(tool(operation, *names, **{name: {"type": "number"} for name in names}),),
    )


LONG = "x" * 300


@pytest.mark.parametrize(
    ("row", "data_set", "reason", "detail"),
    [
        (glaive(), "glaive-chatml", "no-user", "no user turn"),
        (glaive(("robot", "q")), "glaive-chatml", "unknown-role", "the role 'robot'"),
        (glaive((5, "q")), "glaive-chatml", "unknown-role", "a turn of conversations has no from"),
        ({"conversation": "[{"}, "bitagent", "unreadable-line", None),
        (
            {"conversations": [{"role": "robot" * 50}]},
            "toolgen",
            "unknown-role",
            ("the role '" + "robot" * 50)[:100],
        ),
        ({**DPO, "tool": ""}, "roborovski-dpo", "bad-tools", "no tool"),
        (
            {**DPO, "tool_call_accepted": LONG},
            "roborovski-dpo",
            "unreadable-call",
            ("tool_call_accepted: '" + LONG)[:200],
        ),
        ({**DPO, "tool_call_rejected": None}, "roborovski-dpo", "empty-reply", "tool_call_rejected is blank"),
        ({"query": "q", "answers": "[]"}, "xlam", "no-answer", "answers is empty"),
        ({"query": "q", "answers": " "}, "xlam", "unreadable-call", None),
        ({"query": "q"}, "xlam", "no-answer", "answers is empty"),
        ({"query": "q", "answers": ["f"]}, "xlam", "unreadable-call", "a call must be an object, found 'f'"),
        ({"tools": "[]"}, "python-tools", "bad-tools", "no tools"),
        ({"question": "q", "toolcalls": " "}, "gsm8k-toolcalls", "no-call", "toolcalls is empty"),
        (
            {"question": "q", "toolcalls": [LONG]},
            "gsm8k-toolcalls",
            "unreadable-call",
            ("expected <T>operation(…)=result, found '" + LONG)[:200],
        ),
        (
            {"question": "q", "toolcalls": [[]]},
            "gsm8k-toolcalls",
            "unreadable-call",
            "expected <T>operation(…)=result, found []",
        ),
        (
            {"question": "q", "toolcalls": ["<T>add(1)=1"]},
            "gsm8k-toolcalls",
            "unreadable-call",
            "no operation add of 1 numbers",
        ),
        (
            {"question": "q", "toolcalls": [f"<T>{LONG}(1)=1"]},
            "gsm8k-toolcalls",
            "unreadable-call",
            f"no operation {LONG} of 1 numbers"[:200],
        ),
        (
            {"question": "q", "toolcalls": ["<T>ln(true)=1"]},
            "gsm8k-toolcalls",
            "unreadable-call",
            "'true' is no number",
        ),
        (
            {"question": "q", "toolcalls": ["<T>ln( x)=1"]},
            "gsm8k-toolcalls",
            "unreadable-call",
            "'x' is no number",
        ),
        (
            {"question": "q", "toolcalls": [f"<T>ln({LONG})=1"]},
            "gsm8k-toolcalls",
            "unreadable-call",
            f"'{LONG}' is no number"[:200],
        ),
    ],
)
def test_what_is_no_record_says_why(row: dict[str, Any], data_set: str, reason: str, detail: str | None):
    found = refusal(row, data_set)
    assert found == (reason, found[1] if detail is None else detail)
