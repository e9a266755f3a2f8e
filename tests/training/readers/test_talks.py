"""Conversations of ShareGPT's, Hermes', ToolACE's and ToolBench's shape as records."""

import json
from typing import Any

import pytest

from training.record_forms import call, calls, read, record, refusal, results, tool, turns
from wildtool.sets.prepare.readers.options import ReadOptions
from wildtool.sets.prepare.readers.toolace import parse_bracket_calls
from wildtool.sets.prepare.record import AssistantTurn, TrainingCall, UserTurn

Q, R = UserTurn("q"), AssistantTurn("r")
FUNCTION = '{"name": "f", "parameters": {"a": {"type": "int"}}}'
F = tool("f", "a", a={"type": "integer"})
CALL = '{"name": "f", "arguments": {"a": 1}}'
KEEP = ReadOptions(keep_system=True)


def talk(*said: tuple[Any, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": value} for role, value in said], **more}


# ShareGPT --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "reply", "made", "result"),
    [
        ("human", "gpt", "function_call", "tool"),
        ("user", "assistant", "function-call", "function"),
        ("human", "gpt", "tool_call", "observation"),
        ("human", "gpt", "tool call", "function-response"),
        ("human", "gpt", "tool call", "tool_response"),
        ("human", "gpt", "tool call", "tool response"),
    ],
)
def test_every_usual_word_for_a_role_is_read(user: str, reply: str, made: str, result: str):
    row = talk(
        ("system", "S"), (user, "q"), (made, CALL), (result, 5), (reply, "r"), tools=FUNCTION, system="T"
    )
    assert read(row, "sharegpt") == record(Q, calls(call("f", a=1)), results("5"), R, system="S", tools=(F,))


def test_the_system_column_counts_where_no_turn_says_it():
    assert read(talk(("user", "q"), ("gpt", "r"), system="S", more=1), "sharegpt") == record(
        Q, R, system="S", columns={"more": 1}
    )
    assert read(talk(("system", ""), ("user", "q"), ("gpt", "r"), system="S"), "glaive-toolcall") == record(
        Q, R
    )
    assert read(talk(("user", "q"), ("gpt", "r"), system=None), "glaive-toolcall") == record(Q, R)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (CALL, None),
        (f"I look.\n<tool_call>\n{CALL}\n</tool_call>\n", "I look."),
        (f"<tool_call>{CALL}</tool_call>", None),
        (f"<think>\nHm.\n</think>\n\n{CALL}", "Hm."),
        (f" <think>Hm.</think>{CALL}", "Hm."),
        (f"<think></think>{CALL}", None),
        (json.loads(CALL), None),
    ],
)
def test_text_beside_calls_is_read(value: Any, text: str | None):
    made = calls(call("f", a=1), text=text)
    assert read(talk(("human", "q"), ("function_call", value)), "sharegpt") == record(Q, made)
    pair = talk(
        ("human", "q"), chosen={"from": "tool_call", "value": value}, rejected={"from": "gpt", "value": "r"}
    )
    assert read(pair, "sharegpt") == record(Q, kind="preference", chosen=made, rejected=R)


def test_one_text_may_hold_the_results_of_several_calls():
    two = ("function_call", f"[{CALL}, {CALL}]")
    made = calls(call("f", a=1), call("f", 2, a=1))
    for value, texts, repairs in (
        ('["5", 6]', ("5", "6"), ()),
        ('["5", 6, 7]', ('["5", 6, 7]', ""), ("shared-result",)),
        ("5", ("5", ""), ("shared-result",)),
    ):
        row = talk(("human", "q"), two, ("observation", value), ("gpt", "r"))
        assert read(row, "sharegpt") == record(Q, made, results(*texts), R, repairs=repairs)


ODD_CALL = '{"name": "f", "arguments": [1]}'


def test_arguments_of_the_demonstration_set_are_objects():
    row = talk(("human", "q"), ("function_call", ODD_CALL))
    assert turns(row, "sharegpt")[1] == calls(TrainingCall("f", [1], "call_1"))
    assert refusal(row, "glaive-toolcall") == ("unreadable-call", "the arguments are no object: [1]")
    pair = talk(
        ("human", "q"),
        chosen={"from": "tool_call", "value": ODD_CALL},
        rejected={"from": "gpt", "value": "r"},
    )
    assert read(pair, "sharegpt") == record(
        Q, kind="preference", chosen=calls(TrainingCall("f", [1], "call_1")), rejected=R
    )
    assert refusal(pair, "glaive-toolcall") == ("unreadable-call", "the arguments are no object: [1]")


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ({"name": "f", "parameters": {"a": 1}}, {"a": 1}),
        ({"name": "f", "args": {"a": 1}}, {"a": 1}),
        ({"type": "tool_use", "name": "f", "input": {"a": 1}}, {"a": 1}),
        ({"function": {"name": "f", "arguments": '{"a": 1}'}}, {"a": 1}),
        ({"name": "f", "arguments": None}, {}),
        ({"name": "f", "arguments": "{'a': 1}"}, {"a": 1}),
        ({"name": "f", "arguments": "{a"}, "{a"),
        ({"name": "f", "arguments": "[1]"}, "[1]"),
        ({"name": "f", "arguments": 5}, 5),
        ({"name": "f", "function": "g"}, {}),
    ],
)
def test_a_call_is_read_in_every_form(value: Any, arguments: Any):
    for entry in (value, [value], json.dumps(value)):
        row = talk(("human", "q"), ("function_call", entry))
        assert read(row, "sharegpt") == record(Q, calls(TrainingCall("f", arguments, "call_1")))


@pytest.mark.parametrize(
    ("value", "repairs"),
    [
        ("""{"name": "f", "arguments": '{"a": 1}'}""", ("quoted-arguments",)),
        ("""{"name": "f", "arguments": '{"a": "it\\'s"}'}""", ("quoted-arguments",)),
        ("{'name': 'f', 'arguments': {'a': 1}}", ("python-literal",)),
    ],
)
def test_what_is_nearly_json_is_repaired(value: str, repairs: tuple[str, ...]):
    row = talk(("human", "q"), ("function_call", value))
    a = "it's" if "it" in value else 1
    assert read(row, "sharegpt") == record(Q, calls(call("f", a=a)), repairs=repairs)


LONG = "x" * 300


@pytest.mark.parametrize(
    ("row", "data_set", "reason", "detail"),
    [
        (talk((5, "q")), "sharegpt", "unknown-role", "a turn of conversations has no from"),
        (talk((LONG, "q")), "sharegpt", "unknown-role", f"the role '{LONG}'"[:100]),
        (
            talk(("human", {"a": LONG})),
            "sharegpt",
            "not-text",
            f"expected text, found {{'a': '{LONG}'}}"[:200],
        ),
        (talk(("human", []), ("gpt", "r")), "sharegpt", "empty-user", "turn 1 is blank"),
        (
            talk(("human", [{"type": "text"}])),
            "sharegpt",
            "not-text",
            "expected text, found [{'type': 'text'}]",
        ),
        (talk(("human", [{"text": "q"}])), "sharegpt", "not-text", "expected text, found [{'text': 'q'}]"),
        (
            talk(("human", ["q", {"type": "text", "text": "q"}])),
            "sharegpt",
            "not-text",
            "expected text, found ['q', {'type': 'text', 'text': 'q'}]",
        ),
        (talk(("human", "q"), ("tool_call", "[]")), "sharegpt", "unreadable-call", "an empty list of calls"),
        (
            talk(("human", "q"), ("tool_call", [LONG])),
            "sharegpt",
            "unreadable-call",
            f"a call must be an object, found {LONG[:80]!r}",
        ),
        (
            talk(("human", "q"), ("tool_call", "{}")),
            "sharegpt",
            "unreadable-call",
            "a call has no `name`; it has nothing",
        ),
        (
            talk(("human", "q"), ("tool_call", {"name": ""})),
            "sharegpt",
            "unreadable-call",
            "a call has no `name`; it has name",
        ),
        (
            talk(("human", "q"), ("tool_call", {"name": 5})),
            "sharegpt",
            "unreadable-call",
            "a call has no `name`; it has name",
        ),
        (
            talk(("human", "q"), ("tool_call", {"name": "f", "arguments": LONG})),
            "glaive-toolcall",
            "unreadable-call",
            f'the arguments are no object: "{LONG[:99]}',
        ),
        (
            talk(("human", "q"), chosen={"from": LONG, "value": "r"}, rejected={}),
            "sharegpt",
            "unknown-role",
            f"chosen has the role '{LONG}'"[:100],
        ),
        (
            talk(("human", "q"), chosen={"from": "gpt", "value": "r"}, rejected={"from": "gpt", "value": ""}),
            "sharegpt",
            "empty-reply",
            "rejected is blank",
        ),
        (talk(("human", "q"), ("system", "S")), "sharegpt", "late-system", "turn 2 is a system turn"),
        (talk(("system", "S"), ("system", "S")), "sharegpt", "late-system", "turn 1 is a system turn"),
    ],
)
def test_what_is_no_conversation_says_why(row: dict[str, Any], data_set: str, reason: str, detail: str):
    assert refusal(row, data_set) == (reason, detail)


def test_a_pair_has_both_replies():
    for side in ("chosen", "rejected"):
        row = talk(("human", "q"), ("gpt", "r"), **{side: {"from": "gpt", "value": "s"}})
        assert read(row, "sharegpt") == record(Q, R)


# Hermes ----------------------------------------------------------------------------------------------

TAGS = f"<tools> {FUNCTION} </tools>"
BLOCK = f"<tool_call>\n{CALL}\n</tool_call>"


def test_hermes_has_tools_calls_and_results_in_tags():
    said = (
        ("system", f"Call. <tools></tools> {TAGS} <tools> </tools>"),
        ("human", "q"),
        ("gpt", f"I look. {BLOCK}{BLOCK} after"),
        ("tool", "<tool_response> 5 </tool_response><tool_response>6</tool_response>"),
        ("assistant", "r"),
        ("user", "q"),
        ("gpt", BLOCK),
        ("tool", {"b": 1}),
        ("gpt", "r"),
    )
    expected: dict[str, Any] = {"tools": (F,)}
    body = (
        Q,
        calls(call("f", a=1), call("f", 2, a=1), text="I look."),
        results("5", "6"),
        R,
        Q,
        calls(call("f", 3, a=1)),
        results('{"b": 1}'),
        R,
    )
    assert read(talk(*said), "hermes") == record(*body, **expected)
    messages = [{"role": role, "content": value} for role, value in said]
    assert read({"messages": messages}, "hermes") == record(*body, **expected)
    assert read(talk(*said), "hermes", KEEP) == record(*body, system=said[0][1], **expected)


def test_the_tools_of_a_column_come_first():
    row = talk(("system", TAGS), ("human", "q"), ("gpt", "r"), tools='[{"name": "g"}]')
    assert read(row, "hermes") == record(Q, R, tools=(tool("g"),))
    assert read({**row, "tools": "[]"}, "hermes") == record(Q, R, tools=(F,))


def test_a_system_text_without_tools_is_kept():
    row = talk(("human", "q"), ("gpt", "r"), system="S")
    assert read(row, "hermes") == record(Q, R, system="S")
    assert read(talk(("human", "q"), ("gpt", "r"), system=TAGS), "hermes") == record(Q, R, tools=(F,))
    assert read(talk(("human", "q"), ("gpt", "r")), "hermes") == record(Q, R)


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

ACE_TOOLS = f'[{FUNCTION}, {{"name": "Get (now)"}}]'
ACE = (F, tool("Get (now)"))


def test_toolace_calls_are_read_with_their_tools():
    row = talk(
        ("user", "q"),
        ("assistant", ' [f(a=1, b="x, y"), Get (now)()] '),
        ("tool", '["5", {"b": 6}]'),
        ("assistant", "r"),
        ("user", "q"),
        ("assistant", "[f()]"),
        ("tool", "[1, 2]"),
        ("assistant", "r"),
        system=f"Before. {ACE_TOOLS}. After. \n",
        id=1,
    )
    body = (
        Q,
        calls(call("f", a=1, b="x, y"), call("Get (now)", 2)),
        results("5", '{"b": 6}'),
        R,
        Q,
        calls(call("f", 3)),
        results("[1, 2]"),
        R,
    )
    more: dict[str, Any] = {"tools": ACE, "id": "1", "columns": {"id": 1}}
    assert read(row, "toolace") == record(*body, **more)
    assert read(row, "toolace", KEEP) == record(*body, system="Before.\n\nAfter.", **more)
    row["system"] = ACE_TOOLS
    assert read(row, "toolace", KEEP) == record(*body, **more)
    row = talk(("user", "q"), ("assistant", "r"), system="Only a text [1].")
    assert read(row, "toolace") == record(Q, R, system="Only a text [1].")


@pytest.mark.parametrize("text", ['["5"', "5", '{"a": 1}'])
def test_one_result_of_several_calls_that_is_no_list_is_refused(text: str):
    row = talk(("user", "q"), ("assistant", "[f(), f()]"), ("tool", text), ("assistant", "r"))
    assert refusal(row, "toolace") == ("result-count", "1 results for 2 calls")


@pytest.mark.parametrize(
    ("text", "read_calls"),
    [
        ("", []),
        ("f()", []),
        ("[f()", []),
        ("f()]", []),
        ("[1, 2]", []),
        ("[]", []),
        ("[ ( ]", []),
        (
            "[ f ( a = 1 ) , g(b=[1, 2], c={'d': 3}, ) ]",
            [("f", {"a": 1}), ("g", {"b": [1, 2], "c": {"d": 3}})],
        ),
        ("[f()] [g()]", [("f", {}), ("g", {})]),
        ("[f()], [g()]", [("f", {}), ("g", {})]),
        ('[f(a="x\\"),(", b=\'"\')]', [("f", {"a": 'x"),(', "b": '"'})]),
        ("[f(a=true, b=word, c=, d==)]", [("f", {"a": True, "b": "word", "c": "", "d": "="})]),
        ("[f (x) (a=1), f (a=2)]", [("f (x) ", {"a": 1}), ("f", {"a": 2})]),
        ("[  f (x) (a=1)]", [("f (x) ", {"a": 1})]),
        ("[g.h-i j(a=1)]", [("g.h-i j", {"a": 1})]),
    ],
)
def test_calls_in_brackets_are_read(text: str, read_calls: list[tuple[str, dict[str, Any]]]):
    assert parse_bracket_calls(text, ["f", "f (x) "]) == read_calls


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("[f(), 5]", "no call at character 6"),
        ("[f() g()]", "expected a comma or ] at character 6"),
        ("[f()], g()]", "expected another list at character 8"),
        ("[f()] x]", "expected another list at character 7"),
        ("[f()], ]", "expected another list at character 8"),
        ("[f(a=[1)]", "brackets do not match"),
        ("[f(a=1]", "brackets do not match"),
        ("[f(a=(1]", "brackets do not match"),
        ("[f(a='1)]", "a quote does not close"),
        ("[f(a={1 ]", "brackets do not match"),
        ("[f(a=[1]", "brackets or quotes do not close"),
        ("[f((a=1)]", "brackets do not match"),
        ("[f(5)]", "expected name=value, found '5'"),
        ("[f(=5)]", "expected name=value, found '=5'"),
        ("[f(, a=5)]", "expected name=value, found ''"),
        (f"[f({LONG})]", f"expected name=value, found '{LONG}'"[:200]),
    ],
)
def test_a_call_in_brackets_that_cannot_be_read_is_refused(text: str, detail: str):
    row = talk(("user", "q"), ("assistant", text))
    assert refusal(row, "toolace") == ("unreadable-call", detail)


# ToolBench -------------------------------------------------------------------------------------------

LISTED = "Act. you have access to the following APIs:"
FINISH = """{"name": "Finish"}"""
ANSWER = 'Thought: t\nAction: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "r"}'


def bench(*said: tuple[str, Any]) -> dict[str, Any]:
    return talk(
        ("system", f"{LISTED} [{FUNCTION}, {FINISH}]"), ("user", "\nq\nBegin!\n"), *said, id="Step 3: x"
    )


BENCH: dict[str, Any] = {"tools": (F,), "id": "Step 3: x", "columns": {"id": "Step 3: x"}}


def test_steps_of_toolbench_are_calls_and_the_last_is_the_answer():
    row = bench(
        ("assistant", "\nThought: t\nAction: f\nAction Input: {'a': 1}\n"),
        ("function", "5"),
        ("assistant", "Action: f\nAction Input:"),
        ("function", {"b": 1}),
        ("assistant", ANSWER),
    )
    body = (Q, calls(call("f", a=1), text="t"), results("5"), calls(call("f", 2)), results('{"b": 1}'))
    assert read(row, "toolbench") == record(*body, R, notes=("final-thought",), **BENCH)
    assert read(row, "toolbench", KEEP) == record(*body, R, notes=("final-thought",), system=LISTED, **BENCH)
    whole = calls(call("Finish", 3, return_type="give_answer", final_answer="r"), text="t")
    assert read(row, "toolbench", ReadOptions(keep_finish=True)) == record(
        *body, whole, **BENCH | {"tools": (F, tool("Finish"))}
    )


def test_a_thought_without_an_action_is_a_reply():
    assert read(bench(("assistant", "Thought: r ")), "toolbench") == record(Q, R, **BENCH)
    answer = ANSWER.removeprefix("Thought: t\n").replace('"r"', "5")
    assert read(bench(("assistant", answer)), "toolbench") == record(Q, AssistantTurn("5"), **BENCH)
    assert read(talk(("user", "q"), ("assistant", "r"), id="Step"), "toolbench", KEEP) == record(
        Q, R, id="Step", columns={"id": "Step"}
    )
    plain = talk(("system", "S"), ("user", "q"), ("assistant", "r"))
    assert read(plain, "toolbench") == record(Q, R)
    assert read(plain, "toolbench", KEEP) == record(Q, R, system="S")


@pytest.mark.parametrize(
    ("said", "reason", "detail"),
    [
        (("assistant", f"Action Input: {LONG}"), "unreadable-call", None),
        (("assistant", "Action: \nAction Input: {}"), "unreadable-call", "an action has no name"),
        (("assistant", f"Action: f\nAction Input: [{json.dumps(LONG)}]"), "unreadable-call", None),
        (("assistant", "Action: f\nAction Input: [1]"), "unreadable-call", "Action Input is no object: [1]"),
        (("assistant", "Action: Finish\nAction Input: {}"), "gave-up", "finished with None"),
        (
            ("assistant", f'Action: Finish\nAction Input: {{"return_type": "{LONG}"}}'),
            "gave-up",
            f"finished with '{LONG}'"[:100],
        ),
        (("system", "S"), "late-system", "turn 3 is a system turn"),
        (("robot", "S"), "unknown-role", "the role 'robot'"),
    ],
)
def test_steps_that_teach_nothing_are_refused(said: tuple[str, Any], reason: str, detail: str | None):
    found = refusal(bench(said), "toolbench")
    assert found[0] == reason
    if detail is None:
        value = said[1].removeprefix("Action: f\nAction Input: ")
        detail = (
            f"Action Input is no object: {value[:100]}"
            if value.startswith("[")
            else f"expected Action and Action Input, found {said[1]!r}"[:200]
        )
    assert found[1] == detail
