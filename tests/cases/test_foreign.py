"""Files of other programs are told apart by their own keys, and what cannot be judged by rule is refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cases.reading import is_right, k, read
from wildtool.cli import app
from wildtool.errors import DataError
from wildtool.own_cases.case_files import checked_cases

CALLED = {"role": "assistant", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "1"}]}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def trajectory(mode: str, **keys: Any) -> dict[str, Any]:
    """An assertion of agentv."""
    return {"type": "tool-trajectory", "mode": mode, **keys}


ADK = {
    "eval_set_id": "s",
    "eval_cases": [
        {
            "eval_id": "order 1",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "Where is A-1?"}]},
                    "intermediate_data": {
                        "tool_uses": [{"name": "f", "args": {"a": 1}}],
                        "tool_responses": [{"name": "f", "response": {"status": "late"}}],
                    },
                    "final_response": {"parts": [{"text": "It is late."}]},
                },
                {"user_content": {"parts": [{"text": "Thanks"}]}, "intermediate_data": {"tool_uses": []}},
            ],
        }
    ],
}
PROMPTFOO = """
prompts: ["{{q}}"]
providers:
- id: openai:chat:x
  config:
    tools: [{name: f, parameters: {type: object, properties: {a: {type: integer}}}}, {name: g, parameters: {}}]
tests:
- vars: {q: "Where is A-1?"}
  assert:
  - {type: "trajectory:tool-args-match", value: {name: f, args: {a: 1}, mode: partial}}
  - {type: "not-trajectory:tool-used", value: g}
  - {type: latency, threshold: 900}
- vars: {q: Both}
  assert: [{type: tool-call-f1, value: [f, g]}]
- vars: {q: First f}
  assert: [{type: "trajectory:tool-sequence", value: {steps: [f, g], mode: exact}}]
- vars: {q: Nice?}
  assert: [{type: llm-rubric, value: is it nice}]
"""


@pytest.mark.parametrize(
    ("row", "replies"),
    [
        (
            {"question": "a", "expected_tool": "f", "expected_args": {"a": 1}},
            [([k("f", a=1)], True), ([k("f", a=2)], False)],
        ),
        (
            {"question": "a", "expected_tool": "f", "expected_args": '{"a": 1}'},
            [([k("f", a=1)], True), ([k("f", a=2)], False)],
        ),
        ({"query": "a", "expectedToolCalls": [{"toolName": "f", "args": {}}]}, [([k("f", a=7)], True)]),
        (
            {"query": "a", "expected_calls": [{"name": "f", "arguments": '{"a": 1}'}]},
            [([k("f", a=1)], True), ([k("f", a=2)], False)],
        ),
        ({"input": "a", "expectedTool": None}, [([], True), ([k("f")], False)]),
        ({"prompt": "a", "expected_tools": ["f", "g"]}, [([k("g"), k("f")], True), ([k("f")], False)]),
        (
            {"messages": [{"role": "user", "content": "a"}], "expected_trajectory": ["f", "g"]},
            [([k("f"), k("g")], True), ([k("g"), k("f")], False)],
        ),
        (
            {
                "input": "a",
                "expected_tool_calls": [{"function": {"name": "f", "arguments": '{"a": {"$gt": 1}}'}}],
            },
            [([k("f", a={"$gt": 1})], True), ([k("f", a=2)], False)],
        ),
        (
            {
                "input": "a",
                "expected_output": None,
                "expected_tools": [{"name": "f", "input_parameters": {"a": 1}}],
            },
            [([k("f", a=1)], True), ([k("f", a=1), k("g")], True), ([k("g")], False)],
        ),
        (
            {"query": "a", "expected_tool_use": [{"tool_name": "f", "tool_input": {}}], "reference": "b"},
            [([k("f")], True), ([k("f", a=1)], False), ([k("f"), k("g")], False)],
        ),
    ],
)
def test_a_row_of_another_form_means_the_same_here(
    tmp_path: Path, row: dict[str, Any], replies: list[tuple[list[Any], bool]]
):
    found = read(tmp_path, json.dumps(row), "rows.jsonl")
    assert not found.errors, [*map(str, found.errors)]
    (unit,) = found.cases[0].units.values()
    assert [is_right(unit, calls) for calls, _ in replies] == [right for _, right in replies]


F1, F2, G = k("f", a=1), k("f", a=2), k("g")


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        pytest.param(
            {
                "id": "7",
                "user_scenario": {
                    "instructions": {"reason_for_call": "cancel it", "known_info": "You are Ann."}
                },
                "evaluation_criteria": {
                    "actions": [
                        {"name": "f", "arguments": {"a": 1, "b": 2}, "compare_args": ["a"], "info": {"x": 1}},
                        {"name": "g", "arguments": {}, "requestor": "assistant"},
                        {"name": "tap", "arguments": {}, "requestor": "user"},
                    ]
                },
            },
            [[F1, G], [G, k("look"), k("f", a=1, b=9)]],
            [[F1], [F2, G]],
            id="tau2",
        ),
        pytest.param(
            {
                "inputs": {"query": "a"},
                "expectations": {
                    "expected_tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "g"}]
                },
            },
            [[G, F1]],
            [[F1], [F1, G, G]],
            id="MLflow",
        ),
        pytest.param(
            {"user_input": [user("a"), CALLED], "reference_tool_calls": '[{"name": "f", "args": {"a": 1}}]'},
            [[F1]],
            [[], [F2], [F1, G]],
            id="ragas",
        ),
        pytest.param(
            {
                "inputs": {"messages": [user("a")]},
                "outputs": {
                    "messages": [user("a"), CALLED, {"role": "tool", "tool_call_id": "1", "content": "late"}]
                },
            },
            [[F1]],
            [[], [F2]],
            id="LangSmith",
        ),
        pytest.param(
            {
                "messages": [user("a")],
                "expectedCall": [
                    {"functionName": "f", "arguments": {"a": {"$lte": 1}}},
                    {"functionName": "g"},
                ],
            },
            [[F1, G], [k("f", a=0), G]],
            [[G, F1], [F2, G], [F1]],
            id="webmcp",
        ),
        pytest.param(
            {
                "messages": [user("a")],
                "expectedCall": [
                    {"unordered": [{"functionName": "f", "arguments": {"a": 1}}, {"functionName": "h"}]},
                    {"functionName": "g", "optional": True},
                    {"functionName": "share"},
                ],
            },
            [[k("h"), F1, k("share")], [F1, k("h"), G, k("share")]],
            [[F1, k("share"), k("h")], [F1, k("share")], [F1, k("h"), k("share"), G, G]],
            id="webmcp in groups",
        ),
        pytest.param(
            {"messages": [user("a")], "expectedCall": None}, [[]], [[G]], id="webmcp without a call"
        ),
        pytest.param({"query": "a", "runs": 1, "isNegativeTest": True}, [[]], [[G]], id="MCPJam"),
        pytest.param(
            {
                "id": "c",
                "turns": [
                    {
                        "user": "a",
                        "expect": {
                            "tool_calls_include": ["f", "g"],
                            "tool_calls_args": [{"tool": "f", "args": {"a": 1}}],
                            "tool_calls_exclude": ["pay"],
                            "tool_calls_ordered": True,
                        },
                    }
                ],
            },
            [[k("f", a=1, b=2), k("look"), G]],
            [[G, F1], [F2, G], [F1, G, k("pay")]],
            id="pytest-agent-eval",
        ),
        pytest.param(
            {
                "name": "s",
                "turns": [
                    {
                        "user": "a",
                        "expect": [{"event": "function_call", "calls": [{"name": "f", "args": {"a": 1}}]}],
                    }
                ],
            },
            [[k("f", a=1, b=2)]],
            [[], [F2]],
            id="pipecat",
        ),
        pytest.param(
            {
                "conversation_group_id": "c",
                "turns": [
                    {
                        "query": "a",
                        "expected_tool_calls": [
                            [[{"tool_name": "get", "arguments": {"pod": "pod-.*", "all": True}}]],
                            [[{"tool_name": "f"}], [{"tool_name": "g"}]],
                        ],
                    }
                ],
            },
            [[k("get", pod="pod-1", all=True)], [k("f"), G]],
            [[k("get", pod="job", all=True)], [G, k("f")], [k("f")]],
            id="lightspeed",
        ),
    ],
)
def test_a_row_of_five_more_forms_means_the_same_here(
    tmp_path: Path, row: dict[str, Any], right: list[list[Any]], wrong: list[list[Any]]
):
    found = read(tmp_path, json.dumps(row), "rows.jsonl")
    assert not found.errors, [*map(str, found.errors)]
    (unit,) = found.cases[0].units.values()
    verdicts = [is_right(unit, calls) for calls in (*right, *wrong)]
    assert verdicts == [True] * len(right) + [False] * len(wrong)


@pytest.mark.parametrize(
    ("mode", "right"),
    [
        ("exact", [True, False, False, False, False]),
        ("in_order", [True, True, False, False, False]),
        ("superset", [True, True, True, False, False]),
        ("subset", [True, False, True, True, True]),
        ("any_order", [True, True, True, False, False]),
    ],
)
def test_each_mode_of_agentv_is_read_by_its_name(tmp_path: Path, mode: str, right: list[bool]):
    calls = (
        {"minimums": {"f": 1, "g": 1}}
        if mode == "any_order"
        else {"expected": [{"tool": "f", "args": {"a": 1}}, {"tool": "g"}]}
    )
    suite = {"tests": [{"id": "t 1", "input": "a", "criteria": "b", "assert": [trajectory(mode, **calls)]}]}
    (unit,) = read(tmp_path, json.dumps(suite), "EVAL.json").cases[0].units.values()
    made = [[F1, G], [F1, k("look"), G], [G, F1], [F1], []]
    assert [is_right(unit, each) for each in made] == right


@pytest.mark.parametrize(
    ("mode", "right"),
    [
        ("exact", [True, False, False]),
        ("superset", [True, True, False]),
        ("subset", [True, False, True]),
        (["a"], [True, True, False]),
        ("ignore", [True, True, True]),
    ],
)
def test_arguments_of_agentv_are_compared_as_args_match_says(tmp_path: Path, mode: Any, right: list[bool]):
    expected = [{"tool": "f", "args": {"a": 1}, "args_match": mode}]
    suite = {"tests": [{"input": "x", "assertions": [trajectory("exact", expected=expected)]}]}
    (unit,) = read(tmp_path, json.dumps(suite), "EVAL.json").cases[0].units.values()
    assert [is_right(unit, [call]) for call in (F1, k("f", a=1, b=2), k("f"))] == right


def test_names_alone_are_calls_wherever_a_form_lists_calls(tmp_path: Path):
    rows = [
        {"tests": [{"input": "x", "assert": [trajectory("exact", expected=["f", "g"])]}]},
        {"conversation_group_id": "c", "turns": [{"query": "x", "expected_tool_calls": ["f", "g"]}]},
        {"id": "d", "turns": [{"user": "x", "expect": {"tool_calls_include": "f"}}]},
    ]
    for row in rows:
        (unit,) = read(tmp_path, json.dumps(row), "rows.json").cases[0].units.values()
        assert is_right(unit, [k("f"), G]) and not is_right(unit, [])


def test_what_is_left_out_of_a_foreign_case_is_said(tmp_path: Path):
    expect = {"tool_calls_include": ["f"], "judge": {"rubric": "nice"}}
    row = {"id": "c", "turns": [{"user": "a", "expect": expect}]}
    faults = read(tmp_path, json.dumps(row), "rows.jsonl").faults
    assert [(fault.level, "judge" in fault.message) for fault in faults] == [("warning", True)]


def test_turns_of_an_evalset_are_judged_after_what_was_recorded_before(tmp_path: Path):
    found = read(tmp_path, json.dumps(ADK), "shop.evalset.json")
    first, second = found.cases[0].units.values()
    assert is_right(first, [k("f", a=1)]) and not is_right(first, [k("f", a=1), k("g")])
    assert is_right(second, []) and not is_right(second, [k("delete_all")])
    shown = [message.get("content") for message in second.messages]
    assert shown == ["Where is A-1?", None, '{"status": "late"}', "It is late.", "Thanks"]


@pytest.mark.parametrize(
    ("match_type", "right"),
    [("EXACT", [True, False, False]), ("IN_ORDER", [True, True, False]), ("ANY_ORDER", [True, True, True])],
)
def test_an_evalset_is_compared_as_its_config_says(tmp_path: Path, match_type: str, right: list[bool]):
    config = {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": match_type}}}
    (tmp_path / "test_config.json").write_text(json.dumps(config), encoding="utf-8")
    uses = [{"name": "f", "args": {}}, {"name": "g", "args": {}}]
    rows = [{"query": "a", "expected_tool_use": uses}, {"query": "b", "expected_tool_use": []}]
    both, none = (case.units["1"] for case in read(tmp_path, json.dumps(rows), "shop.test.json").cases)
    made = [[k("f"), k("g")], [k("f"), k("h"), k("g")], [k("g"), k("f")]]
    assert [is_right(both, calls) for calls in made] == right
    assert not is_right(none, [k("delete_all")])


def test_assertions_of_promptfoo_about_calls_are_kept_and_judged_ones_are_counted(tmp_path: Path):
    found = read(tmp_path, PROMPTFOO, "promptfooconfig.yaml")
    assert not found.errors, [*map(str, found.errors)]
    one, both, order = (case.units["1"] for case in found.cases)
    assert is_right(one, [k("f", a=1, b=2), k("f")]) and not is_right(one, [k("f", a=1), k("g")])
    assert is_right(both, [k("g"), k("f"), k("f")]) and not is_right(both, [k("f")])
    assert is_right(order, [k("f"), k("g")]) and not is_right(order, [k("g"), k("f")])
    assert found.without_gold == 1
    assert "llm-rubric" in next(fault.message for fault in found.faults if fault.level == "warning")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"input": "a", "expected_tool_calls": 3}, "how many"),
        ({"input": "a", "expected_tool_calls": True}, "whether"),
        ({"input": "a", "expected_tools": ["f"], "expected_trajectory": ["g"]}, "both"),
        ({"input": "a", "expected_tools": ["f", "g"], "expected_args": {"x": 1}}, "not clear"),
        ({"input": "a", "expected_tool": "f", "expected_args": "x = 1"}, "'expected_args' is no object"),
        ({"input": "a", "expected_tool": "f", "args": {"x": 1}}, "'args' of the row is not read"),
        ({"input": "a", "expected_tool": "f", "params": '{"x": 1}'}, "'params' of the row is not read"),
        ({"input": "a", "expected_tool": "f", "expected_args": {"a": 1}, "expectedArgs": {"a": 2}}, "both"),
        ({"input": "a", "expected_tool": {"name": "f", "arguments": "a is 1"}}, "cannot be read"),
        ({"vars": {"q": "a"}, "assert": [{"type": "javascript", "value": "true"}]}, "javascript"),
        ({"vars": {"q": "a"}, "assert": [{"type": "tool-call-f1", "value": 3}]}, "names no tools"),
        (
            {
                "vars": {"q": "a"},
                "assert": [{"type": "trajectory:tool-sequence", "value": {"mode": "exact"}}],
            },
            "names no tools",
        ),
        (
            {
                "vars": {"q": "a"},
                "assert": [
                    {"type": "trajectory:tool-args-match", "value": {"name": "f", "args": {}, "mode": "all"}}
                ],
            },
            "the mode 'all'",
        ),
        (
            {
                "vars": {"q": "a"},
                "assert": [{"type": "trajectory:tool-args-match", "value": {"name": "f", "args": 3}}],
            },
            "no object",
        ),
        (
            {"prompts": ["prompt.txt"], "tests": [{"assert": [{"type": "tool-call-f1", "value": "f"}]}]},
            "another file",
        ),
        ({"skill_name": "x", "evals": [{"id": 1, "prompt": "a"}]}, "skill evals"),
        ({"query": "a", "response": "b", "tool_calls": [], "tool_definitions": []}, "Azure"),
        ({"id": "1", "user_scenario": {}, "evaluation_criteria": {}}, "tau2"),
        ({"inputs": {"q": "a"}, "expectations": {"expected_facts": ["b"]}}, "MLflow"),
        ({"inputs": {"q": "a", "r": "b"}, "expectations": {"expected_tool_calls": []}}, "not clear"),
        ({"inputs": {"q": "a"}, "outputs": {"answer": "b"}}, "LangSmith"),
        (
            {"user_input": [user("a"), CALLED, user("b")], "reference_tool_calls": [{"name": "f"}]},
            "several turns",
        ),
        ({"tests": [{"input": "a", "assert": [{"type": "llm-grader"}]}]}, "llm-grader"),
        (
            {"tests": [{"input": "a", "assert": [trajectory("any_order", expected=[{"tool": "f"}])]}]},
            "lists no calls",
        ),
        ({"tests": [{"input": "a", "assert": [trajectory("loose", expected=[{"tool": "f"}])]}]}, "'loose'"),
        (
            {
                "tests": [
                    {
                        "input": "a",
                        "assert": [
                            trajectory(
                                "exact", expected=[{"tool": "f", "args": {"a": 1}, "args_match": ["b"]}]
                            )
                        ],
                    }
                ]
            },
            "args_match names 'b'",
        ),
        ({"query": "a", "expectedToolCalls": [], "isNegativeTest": False}, "MCPJam"),
        ({"prompts": ["{{q}}"], "tests": ["file://more.yaml", {"vars": {"q": "a"}}]}, "file://more.yaml"),
        ({"id": "c", "turns": [{"user": "a", "expect": {"tool_calls_args": ["f"]}}]}, "no list of objects"),
        (
            {
                "messages": [user("a")],
                "expectedCall": [{"functionName": "f", "arguments": {"a": {"$type": "x"}}}],
            },
            "$type",
        ),
        ({"id": "c", "turns": [{"user": "a", "expect": {"judge": {"rubric": "nice"}}}]}, "judge"),
        ({"conversation_group_id": "c", "turns": [{"query": "a", "response": "b"}]}, "no turn says"),
        ({"input": "a", "expected_tools": [{"name": "f", "argumnets": {"a": 1}}]}, "'argumnets'"),
        ({"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "a"}]}}]}, "no expectation"),
        (
            {"eval_id": "c", "conversation": [{"user_content": {}, "intermediate_data": {"tool_uses": []}}]},
            "no text",
        ),
    ],
)
def test_what_has_no_gold_is_refused_by_name_and_is_no_pass(tmp_path: Path, row: dict[str, Any], words: str):
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n" * 2, encoding="utf-8")
    with pytest.raises(DataError, match="2 cases without an expectation") as error:
        checked_cases(tmp_path / "rows.jsonl")
    assert words in str(error.value)


def promptfoo(*assertions: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "a"}, "assert": assertions}], **keys}


def arguments_match(**value: Any) -> dict[str, Any]:
    return promptfoo({"type": "trajectory:tool-args-match", "value": {"name": "f", **value}})


def actions(*entries: dict[str, Any]) -> dict[str, Any]:
    scenario = {"instructions": "cancel it"}
    return {"id": "7", "user_scenario": scenario, "evaluation_criteria": {"actions": [*entries]}}


def agentv(*expected: Any, **keys: Any) -> dict[str, Any]:
    return {"tests": [{"input": "a", "assert": [trajectory("exact", expected=[*expected], **keys)]}]}


def second_turn(expect: Any) -> dict[str, Any]:
    """A file of turns whose first is judged."""
    return {
        "id": "c",
        "turns": [{"user": "a", "expect": {"tool_calls_include": ["g"]}}, {"user": "b", "expect": expect}],
    }


def evalset(**data: Any) -> dict[str, Any]:
    """An evalset whose first turn is judged."""
    turns = [
        {"user_content": {"parts": [{"text": "a"}]}, "intermediate_data": each}
        for each in ({"tool_uses": [{"name": "g"}]}, data)
    ]
    return {"eval_id": "c", "conversation": turns}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"input": "a", "expected_tool": {"name": "f", "order_id": "A-1"}}, "'order_id'"),
        ({"input": "a", "expected_tool": {"name": "f", "args": {"a": 1}, "optional": True}}, "'optional'"),
        ({"input": "a", "query": "b", "expected_tool": "f"}, "'input' and 'query'"),
        ({"input": "a", "expected_output": "b", "expected_tools": None}, "no expected_tools"),
        (arguments_match(argz={"a": 1}), "'argz'"),
        (arguments_match(args={"a": 1}, arguments={"a": 2}), "both"),
        (arguments_match(args={"a": 1}, defaults=["a"]), "'defaults'"),
        (promptfoo({"type": "trajectory:tool-used", "value": {"name": "f", "least": 2}}), "'least'"),
        (promptfoo({"type": "tool-call-f1", "value": "f"}, prompts=["{{ q | upper }}"]), "expression"),
        (promptfoo({"type": "tool-call-f1", "value": "f"}, defaultTest="file://more.yaml"), "'defaultTest'"),
        ({"vars": {"q": ["a", "b"]}, "assert": [{"type": "tool-call-f1", "value": "f"}]}, "variable"),
        (evalset(tool_use=[{"name": "f"}]), "'tool_use'"),
        (evalset(tool_uses=[{"name": "f"}], tool_responses="late"), "'tool_responses'"),
        (
            {
                "eval_id": "c",
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": "a"}, {"inline_data": {}}]},
                        "intermediate_data": {"tool_uses": []},
                    }
                ],
            },
            "more than text",
        ),
        (actions({"name": "f", "argz": {"a": 1}}), "'argz'"),
        (actions({"name": "f", "arguments": {"a": 1}, "compare_args": ["b"]}), "'b'"),
        (actions({"name": "f", "arguments": {"a": 1}, "compare_args": "a"}), "'compare_args'"),
        (actions({"name": "f", "requestor": "agent"}, {"name": "g"}), "'agent'"),
        (agentv({"tool": "f", "arguments": {"a": 1}}), "'arguments'"),
        (agentv("f", minimums={"g": 1}), "both"),
        (
            {"tests": [{"input": "a", "assert": [trajectory("any_order", minimums={"f": 0})]}]},
            "lists no calls",
        ),
        ({"user_input": "a", "reference_tool_calls": None}, "null"),
        ({"messages": [user("a")], "expectedCall": {"functionName": "f"}}, "'expectedCall'"),
        ({"messages": [user("a")], "expectedCall": [{"unordered": []}]}, "'unordered'"),
        (
            {
                "messages": [user("a")],
                "expectedCall": [{"unordered": [{"functionName": "f"}], "ordered": []}],
            },
            "'ordered'",
        ),
        ({"messages": [user("a")], "expectedCall": [{"functionName": "f", "args": {"a": 1}}]}, "'args'"),
        ({"query": "a", "expectedToolCalls": ["f"], "isNegativeTest": "true"}, "isNegativeTest"),
        (second_turn("calls f"), "'expect'"),
        (second_turn({"tool_calls_include": {"f": 1}}), "'tool_calls_include'"),
        (second_turn({"tool_calls_args": [{"tool": "f", "arguments": {"a": 1}}]}), "'arguments'"),
        (second_turn({"tool_calls_args": [{"tool": "f", "args": {"a": 1}, "mode": "all"}]}), "'all'"),
        (second_turn({"tool_calls_include": ["f"], "tool_calls_ordered": "yes"}), "tool_calls_ordered"),
        (second_turn({"tool_calls_include": ["f"], "reply_contains_all": {"a": 1}}), "'reply_contains_all'"),
        (second_turn([{"event": "function_call", "name": "f"}]), "names no calls"),
        (
            {
                "conversation_group_id": "c",
                "turns": [{"query": "a", "expected_tool_calls": [[["f"]], {"tool_name": "g"}]}],
            },
            "alternatives",
        ),
        (
            {
                "conversation_group_id": "c",
                "turns": [{"query": "a", "expected_tool_calls": [{"tool_name": "f", "args": {"a": 1}}]}],
            },
            "'args'",
        ),
    ],
)
def test_a_key_or_a_type_that_is_not_read_is_refused_by_name(tmp_path: Path, row: dict[str, Any], words: str):
    (tmp_path / "rows.json").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "tools.json").write_text('[{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}]')
    with pytest.raises(DataError, match="1 case without an expectation") as error:
        checked_cases(tmp_path / "rows.json")
    assert words in str(error.value)


def test_an_unknown_way_to_compare_an_evalset_is_refused(tmp_path: Path):
    config = {"criteria": {"tool_trajectory_avg_score": {"match_type": "SUBSET"}}}
    (tmp_path / "test_config.json").write_text(json.dumps(config), encoding="utf-8")
    found = read(tmp_path, json.dumps(ADK), "shop.evalset.json")
    assert not found.cases and "SUBSET" in found.faults[0].message


def test_columns_beside_the_gold_that_judge_are_said_to_be_left_out(tmp_path: Path):
    rows = [
        {"input": "a", "expected_tool": "f", "forbidden_tools": ["g"]},
        {"inputs": {"q": "a"}, "expectations": {"expected_tool_calls": ["f"], "forbidden_tools": ["g"]}},
    ]
    for row in rows:
        (warning,) = read(tmp_path, json.dumps(row), "rows.json").faults
        assert warning.level == "warning" and "forbidden_tools" in warning.message


def test_a_text_of_promptfoo_in_place_of_a_list_of_prompts_is_the_prompt(tmp_path: Path):
    row = promptfoo({"type": "tool-call-f1", "value": "f"}, prompts="Please: {{q}}")
    (unit,) = read(tmp_path, json.dumps(row), "rows.json").cases[0].units.values()
    assert unit.messages[-1]["content"] == "Please: a"


def test_what_is_not_well_written_is_named_beside_cases_without_gold(tmp_path: Path):
    row = json.dumps({"skill_name": "x", "evals": []})
    found = read(tmp_path, f"{row}\n{{\n", "rows.jsonl")
    assert [fault.line for fault in found.errors] == [2]


def test_a_file_of_another_form_takes_the_tools_that_lie_beside_it(tmp_path: Path):
    rows = json.dumps({"input": "a", "expected_tools": ["f"]})
    (tmp_path / "rows.jsonl").write_text(rows, encoding="utf-8")
    with pytest.raises(DataError, match=r"tools\.json"):
        checked_cases(tmp_path / "rows.jsonl")
    (tmp_path / "tools.json").write_text('[{"name": "f", "parameters": {}}]', encoding="utf-8")
    ((_, unit),) = checked_cases(tmp_path / "rows.jsonl")[0].units.items()
    assert [tool["function"]["name"] for tool in unit.tools] == ["f"]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Hi"}},
        {"type": "session_meta", "payload": {"id": "c"}},
        {"resourceSpans": []},
    ],
)
def test_a_log_of_another_program_is_refused_with_the_command_that_reads_it(tmp_path: Path, line: Any):
    file = tmp_path / "log.jsonl"
    file.write_text(f"{json.dumps(line)}\n", "utf-8")
    ended = CliRunner().invoke(app, ["run", str(file), "--model", "baseline/gold"])
    assert ended.exit_code == 2
    assert "wildtool review import" in ended.stderr and "is not a key here" not in ended.stderr
