"""Replies of roles: which text is read, which object is taken out of it, and what is said where there is none."""

from typing import Any

import pytest

from wildtool.sets.make.core.parsing import (
    MAX_ROLE_REPLY_CHARACTERS,
    Action,
    Decision,
    RefusedReplyError,
    read_action,
    read_decision,
    read_object,
    read_parts,
    reply_text,
    strings_in,
)


def refusal(read: Any) -> list[str]:
    with pytest.raises(RefusedReplyError) as refused:
        read()
    return [f"{finding.rule}: {finding.message}" for finding in refused.value.faults]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (" a ", "a"),
        ("<think>b</think> a", "a"),
        ("  <think>b\nc</think>\n a</think>", "a</think>"),
        ("a <think>b</think>", "a <think>b</think>"),
        ("<think>b</think><think>c</think>a", "<think>c</think>a"),
        ("<think>b", "<think>b"),
        (None, ""),
        (3, ""),
        ("x\ud800", "x?"),
        ("a" * MAX_ROLE_REPLY_CHARACTERS + "b", "a" * MAX_ROLE_REPLY_CHARACTERS),
    ],
)
def test_the_text_of_a_reply_is_without_thoughts_and_blanks(content: Any, text: str):
    assert reply_text({"content": content}) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (' {"a": 1} ', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('x ```\n{"a": 1}``` {"a": 2}', {"a": 1}),
        ('so {"a": {"b": 2}} it is', {"a": {"b": 2}}),
        ('```\n[1]\n``` and {"a": 3}', {"a": 3}),
        ("{}", {}),
        ('{"a": 1} it is', {"a": 1}),
        ('so{"a": 1}it', {"a": 1}),
    ],
)
def test_an_object_is_taken_whole_out_of_a_fence_or_between_braces(text: str, value: Any):
    assert read_object(text, "X1") == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is none"),
        ("none", None),
        ("[1]", "it is not an object"),
        ("} {", None),
        ("{", None),
        ('"a"', "it is not an object"),
        ("```\n[]\n```", "it is not an object"),
    ],
)
def test_what_is_no_object_is_refused_with_the_problem(text: str, problem: str | None):
    (message,) = refusal(lambda: read_object(text, "X1"))
    head = "X1: Give one JSON object and nothing else, without comments: "
    assert message.startswith(head) and message.endswith(".")
    assert problem is None or message == f"{head}{problem}."


def test_a_decision_has_a_thought_a_plan_and_actions():
    second = '{"name": "b", "arguments": {}, "derived": {"x": "so"}}'
    text = f'{{"thought": "t", "plan": "p", "actions": [{{"name": "a", "arguments": {{"x": 1}}}}, {second}]}}'
    assert read_decision(text) == Decision("t", "p", (Action("a", {"x": 1}), Action("b", {}, {"x": "so"})))
    assert refusal(lambda: read_decision("{}")) == [
        "P13: `thought` must be a text.",
        "P13: `plan` must be a text.",
        "P13: `actions` must be a list.",
    ]
    assert refusal(lambda: read_decision('{"thought": 1, "plan": "p", "actions": []}')) == [
        "P13: `thought` must be a text.",
        "P3: `actions` is empty; decide on a call, a question or the answer.",
    ]
    assert refusal(
        lambda: read_decision(
            '{"thought": "t", "plan": 2, "actions": [{"name": "a", "arguments": {}}, 3, {"name": "a"}]}'
        )
    ) == [
        "P13: `plan` must be a text.",
        "P13: `actions[1]` must have a `name` (text) and `arguments` (object).",
        "P13: `actions[2]` must have a `name` (text) and `arguments` (object).",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"name": 1, "arguments": {}},
        {"name": "a", "arguments": []},
        {"name": "a", "arguments": {}, "derived": []},
        {"name": "a", "arguments": {}, "derived": {"x": 1}},
        {"name": "a", "arguments": {}, "derived": {"x": " "}},
        {"name": "a", "arguments": {}, "derived": {"x": "so", "y": ""}},
    ],
)
def test_what_has_no_name_arguments_or_reasons_is_no_call(entry: dict[str, Any]):
    assert read_action(entry) is None


def test_the_faults_of_all_parts_are_told_at_once():
    def refuse(rule: str) -> Any:
        return lambda: read_object("", rule)

    assert read_parts(lambda: 1, lambda: "b") == [1, "b"]
    assert [
        message[:3] for message in refusal(lambda: read_parts(refuse("X1"), lambda: 1, refuse("X2")))
    ] == ["X1:", "X2:"]
    assert strings_in(["a", 1, "b", None]) == ["a", "b"]
    assert strings_in("ab") == []
