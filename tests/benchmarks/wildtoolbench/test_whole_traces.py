"""What a trace shows of the replies to one task: matched gold calls, notes, differences, and what became of each call."""

import pytest

from benchmarks.wildtoolbench.build import item, transcript
from benchmarks.wildtoolbench.test_decisions import REPLIES, TASK
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH


def shown(profile: str, name: str) -> list[str]:
    """Each step with the nodes that it fulfilled and its note, then what became of the gold calls, and differences."""
    trace = WILDTOOLBENCH.rules(profile).trace(item(TASK), "0", transcript(*REPLIES[name]))
    steps = [
        f"{step.role} {','.join(map(str, step.fulfilled))}{f': {step.note}' if step.note else ''}"
        for step in trace.steps
    ]
    gold = " ".join(f"{call.name[:1]}{''.join(map(str, call.deps))}-{call.status}" for call in trace.gold)
    differences = [
        f"{each.where}: {each.expected!r}, {each.found!r}, {each.rule}" for each in trace.differences
    ]
    return [*steps, gold, *differences]


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        (
            "official",
            "right",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent 4: every step matched",
                "a-done a0-done b1-done c1-done p23-done",
            ],
        ),
        (
            "official",
            "no question",
            [
                "agent : action name not in candidate_answer_function_list; called a before asking the user for"
                " what it needs",
                "a-missed a0-missed b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "official",
            "twice",
            [
                "agent 0",
                "agent 1",
                "agent : action name not in candidate_answer_function_list; called a once too often",
                "a-done a0-done b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "official",
            "wrong value",
            [
                "agent 0",
                "agent : error_match: value mismatch at 'n'",
                "agent 2,3: removed from the log, since an earlier step decided",
                "agent 4: not checked any more",
                "a-done a0-wrong b1-done c1-done p23-done",
                "a.n: 1, 3, error_match: value mismatch at 'n'",
            ],
        ),
        (
            "official",
            "left out",
            [
                "agent 0",
                "agent : error_match: args keys mismatch (missing: ['n'])",
                "agent 2,3: removed from the log, since an earlier step decided",
                "agent 4: not checked any more",
                "a-done a0-wrong b1-done c1-done p23-done",
                "a.n: 1, None, error_match: args keys mismatch (missing: ['n'])",
            ],
        ),
        (
            "official",
            "no JSON",
            [
                "agent 0",
                "agent : error: args invalid json format",
                "a-done a0-wrong b1-missed c1-missed p23-missed",
                "a: {'n': 1}, '{', error: args invalid json format",
            ],
        ),
        ("official", "nothing", ["a-missed a0-missed b1-missed c1-missed p23-missed"]),
        (
            "official",
            "after the end",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent : action name not in candidate_answer_function_list; called d after every call was made",
                "a-done a0-done b1-done c1-done p23-missed",
            ],
        ),
        (
            "fixed",
            "right",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent 4: every call bound, in a legal order",
                "a-done a0-done b1-done c1-done p23-done",
            ],
        ),
        (
            "fixed",
            "no question",
            [
                "agent : called a before asking the user for what it needs",
                "a-missed a0-missed b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "fixed",
            "twice",
            [
                "agent 0",
                "agent 1",
                "agent : called a once too often",
                "a-done a0-done b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "fixed",
            "wrong value",
            [
                "agent 0",
                "agent : a: n: 3 is not 1 (number)",
                "a-done a0-wrong b1-missed c1-missed p23-missed",
                "a.n: 1, 3, n: 3 is not 1 (number)",
            ],
        ),
        (
            "fixed",
            "left out",
            [
                "agent 0",
                "agent : a: n: 1 is missing",
                "a-done a0-wrong b1-missed c1-missed p23-missed",
                "a.n: 1, None, n: 1 is missing",
            ],
        ),
        ("fixed", "nothing", ["a-missed a0-missed b1-missed c1-missed p23-missed"]),
        (
            "fixed",
            "after the end",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent : called d after every call was made",
                "a-done a0-done b1-done c1-done p23-missed",
            ],
        ),
        (
            "paper",
            "right",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent 4: every call right",
                "a-done a0-done b1-done c1-done p23-done",
            ],
        ),
        (
            "paper",
            "no question",
            [
                "agent : action name not in candidate_answer_function_list; missing information in tool calling",
                "a-missed a0-missed b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "paper",
            "twice",
            [
                "agent 0",
                "agent 1",
                "agent : action name not in candidate_answer_function_list; redundant tool calling",
                "a-done a0-done b1-missed c1-missed p23-missed",
            ],
        ),
        (
            "paper",
            "wrong value",
            [
                "agent 0",
                "agent ",
                "agent 2,3",
                "agent 4: param value error",
                "a-done a0-wrong b1-done c1-done p23-done",
                "a.n: 1, 3, differs from the gold call of the same place",
            ],
        ),
        (
            "paper",
            "left out",
            [
                "agent 0",
                "agent ",
                "agent 2,3",
                "agent 4: redundant tool calling",
                "a-done a0-wrong b1-done c1-done p23-done",
                "a.n: 1, None, differs from the gold call of the same place",
            ],
        ),
        ("paper", "no JSON", ["agent 0", "agent ", "a-done a0-wrong b1-missed c1-missed p23-missed"]),
        ("paper", "nothing", ["a-missed a0-missed b1-missed c1-missed p23-missed"]),
        (
            "paper",
            "after the end",
            [
                "agent 0",
                "agent 1",
                "agent 2,3",
                "agent : action name not in candidate_answer_function_list; redundant tool calling",
                "a-done a0-done b1-done c1-done p23-missed",
            ],
        ),
    ],
)
def test_a_trace_shows_what_was_matched_and_what_was_not(
    profile: str, name: str, expected: list[str]
) -> None:
    assert shown(profile, name) == expected


def test_gold_calls_are_shown_with_what_they_are_for() -> None:
    trace = WILDTOOLBENCH.rules("fixed").trace(item(TASK), "0", transcript())
    assert [(call.name, call.arguments) for call in trace.gold] == [
        ("ask_user_for_required_parameters", "Which one?"),
        ("a", {"n": 1}),
        ("b", {"n": 2}),
        ("c", {"text": "x y"}),
        ("prepare_to_answer", "Here you are."),
    ]
    assert trace.steps == () and len(trace.tools) == 4
