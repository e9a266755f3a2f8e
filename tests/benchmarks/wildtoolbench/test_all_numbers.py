"""All numbers of a run of eight tasks, under each profile."""

from typing import Any

from benchmarks.number_lines import number_lines
from benchmarks.wildtoolbench.test_summary import right, table, wrong
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH, error_classes

ROWS: list[dict[str, Any]] = [
    right(),
    right(
        unit="1",
        position=2,
        task_type="Parallel Multi-Tool",
        subtype="Partial Information",
        orchestration="parallel",
        topology="parallel",
        gold_calls=2,
        turns=2,
        ap_done=2,
        ap_total=3,
        nodes_done=3,
        nodes=3,
        calls=2,
        transitions=1,
    ),
    wrong(
        unit="2",
        position=3,
        task_type="Mixed Multi-Tool",
        subtype="Long-Range Dependency",
        orchestration="mixed",
        topology="mixed",
        gold_calls=5,
        turns=6,
        ap_done=1,
        ap_total=6,
        nodes_done=1,
        nodes=7,
        calls=3,
        transitions=1,
        error_label="early stop",
    ),
    wrong(
        error_classes.PARAM_VALUE,
        item="t",
        position=1,
        task_type="Sequential Multi-Tool",
        orchestration="sequential",
        topology="sequential",
        gold_calls=3,
        turns=4,
        ap_done=2,
        ap_total=4,
        nodes_done=2,
        nodes=4,
        calls=0,
        transitions=3,
        reference_error="scoring: x",
    ),
    right(
        item="t",
        unit="1",
        position=2,
        task_type="Chat",
        subtype="Coreferential Reference",
        orchestration="none",
        topology="none",
        gold_calls=0,
        turns=1,
        ap_done=1,
        ap_total=1,
        nodes_done=1,
        nodes=1,
        calls=1,
        transitions=3,
        asked_back=True,
    ),
    right(
        item="t",
        unit="2",
        position=3,
        task_type="Clarify",
        subtype="Partial Information",
        gold_calls=1,
        turns=3,
        calls=1,
        transitions=3,
        asked_back=None,
    ),
    wrong(item="u", unit="0", outcome="infra_error", reference_error="inference: y", correct=False),
    right(item="u", unit="1", position=4, transitions=2, calls=None, nodes_done=0),
]


def lines(profile: str) -> list[str]:
    return number_lines(WILDTOOLBENCH.summarize(table(*ROWS), profile))


def test_a_run_has_all_its_numbers() -> None:
    assert lines("official") == [
        "accuracy: task 5/8*, session 0/3*",
        "task type: Single-Tool 2/3*, Multi-Tool 1/3*, Parallel Multi-Tool 1/1, "
        "Sequential Multi-Tool 0/1, Mixed Multi-Tool 0/1, Clarify 1/1*, Chat 1/1*",
        "position: 1 1/3, 2 2/2, 3 1/2, 4 1/1",
        "hidden intent: First Turn 2/4, Subsequent Turn 3/4, Coreferential Reference 1/1, "
        "Partial Information 2/2, Long-Range Dependency 0/1",
        "instruction transitions: 0 1/2, 1 1/2, 2 1/1, 3 2/3",
        "calls: called where a call was expected 2/5, first step right where a call was expected 4/5, "
        "text where a call was expected 3/5, called in Chat, where none was expected 1/1",
        "gold calls: 0 1/1, 1 3/4, 2 1/1, 3 0/1, 4 0/0, 5 or more 0/1",
        "turns: 1 1/1, 2 3/4, 3 1/1, 4 0/1, 5 0/0, 6 or more 0/1",
        "orchestration: parallel 1/1, sequential 0/1, mixed 0/1",
        "optimal path (OP): total 1/2*, parallel 1/1, mixed 0/1",
        "accomplish progress (AP): total 3/10*, sequential 2/4, mixed 1/6",
        "accomplish progress (nodes done / nodes): total 3/11, sequential 2/4, mixed 1/7",
        "errors: Refusal 1/2, Wrong Name / Missing Info 0/2, Wrong Refusal 0/2, Redundant Call 0/2, "
        "Call Error 0/2, Early Termination 0/2, Param Type Error 0/2, Param Hallucination 0/2, "
        "Param Value Error 1/2, Unreadable Call 0/2, Unusable Gold 0/2",
        "coverage: infra errors 1/8 count, unplayed 0/8 count, not scorable by the original 3/8 count, "
        "task accuracy if all of these were right 6/8",
        "cost: steps per task 16/8 steps mean, prompt tokens per task 0/0 tokens mean, "
        "completion tokens per task 0/0 tokens mean, latency per step 0/16 s mean",
    ]


def test_fixed_also_counts_questions_in_chat_and_the_paper_its_labels() -> None:
    official = lines("official")
    assert [line for line in lines("fixed") if line not in official] == [
        "task type: Single-Tool 2/3*, Multi-Tool 1/3*, Parallel Multi-Tool 1/1, "
        "Sequential Multi-Tool 0/1, Mixed Multi-Tool 0/1, Clarify 1/1*, Chat 1/1*, Chat, "
        "asked back 1/1 count",
    ]
    assert [line for line in lines("paper") if line not in official] == [
        "errors: Refusal 1/2, Wrong Name / Missing Info 0/2, Wrong Refusal 0/2, Redundant Call 0/2, "
        "Call Error 0/2, Early Termination 0/2, Param Type Error 0/2, Param Hallucination 0/2, "
        "Param Value Error 1/2",
        "error labels: reject tool calling 0/2, missing information in tool calling 0/2, "
        "call function without reject 0/2, redundant tool calling 0/2, call the wrong function 0/2, "
        "function name hallucination 0/2, early stop 1/2, type error 0/2, miss required params 0/2, "
        "param hallucination 0/2, param value hallucination 0/2, param value error 0/2",
    ]
