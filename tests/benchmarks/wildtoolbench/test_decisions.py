"""Each decision about the replies to one task in full, under the three profiles."""

import pytest

from benchmarks.wildtoolbench.build import DONE, answer, ask, call, calls, item, node, raw_call, says, verdict
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.types import Message

TASK = [ask(), node("a", 0, n=1), node("b", 1, n=2), node("c", 1, text="x y"), answer(2, 3)]
ASKED, FIRST = says("Which one?"), calls(call("a", n=1))
BOTH = calls(call("b", n=2), call("c", "id2", text="x y"))
REPLIES: dict[str, list[Message]] = {
    "right": [ASKED, FIRST, BOTH, DONE],
    "one by one": [ASKED, FIRST, calls(call("c", text="x y")), calls(call("b", n=2)), DONE],
    "no question": [FIRST],
    "empty": [says("")],
    "call too early": [ASKED, calls(call("b", n=2))],
    "ended early": [ASKED, FIRST, DONE],
    "refused": [ASKED, DONE],
    "other tool": [ASKED, calls(call("d"))],
    "no such tool": [ASKED, calls(call("zz"))],
    "twice": [ASKED, FIRST, FIRST],
    "wrong value": [ASKED, calls(call("a", n=3)), BOTH, DONE],
    "wrong type": [ASKED, calls(call("a", n="1")), BOTH, DONE],
    "unknown argument": [ASKED, calls(call("a", n=1, zz=2)), BOTH, DONE],
    "left out": [ASKED, calls(call("a")), BOTH, DONE],
    "no JSON": [ASKED, calls(raw_call("a", "{"))],
    "after the end": [ASKED, FIRST, BOTH, calls(call("d"))],
    "nothing": [],
}


def decision(profile: str, name: str) -> list[str]:
    """Outcome, error and reason; then what counts, with the nodes that each reply matched, and the original's labels."""
    own = verdict(profile, TASK, *REPLIES[name])
    steps = [
        ",".join(map(str, step["matched"]))
        + ("" if step.get("correct", True) else "-")
        + ("*" if step.get("deleted") else "")
        + (f"({'; '.join(step['checks'])})" if {*step.get("checks", ())} - {"correct"} else "")
        + ("." * step.get("checks", ()).count("correct"))
        for step in own.detail["steps"]
    ]
    counts = f"{own.fields['ap_done']}/{own.fields['ap_total']}, {own.fields['nodes_done']} done"
    main = f"{own.outcome}, {own.error}: {own.reason}"
    kind = f"{own.fields['orchestration']}{', optimal' if own.fields['optimal'] else ''}"
    labels = [
        str(own.fields[name]) for name in ("error_label", "reference_error") if own.fields[name] is not None
    ]
    return [main, f"{own.steps} replies: {' | '.join(steps)}; {counts}; {kind}", *labels]


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        (
            "official",
            "right",
            [
                "correct, None: every step matched",
                "4 replies: 0 | 1. | 2,3.. | 4; 4/5, 5 done; mixed, optimal",
            ],
        ),
        (
            "official",
            "one by one",
            ["correct, None: every step matched", "5 replies: 0 | 1. | 3. | 2. | 4; 5/5, 5 done; mixed"],
        ),
        (
            "official",
            "no question",
            [
                "wrong, Wrong Name / Missing Info: called a before asking the user for what it needs",
                "1 replies: -; 1/5, 0 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "empty",
            [
                "wrong, Refusal: an empty reply although a call was due (the original raises KeyError:"
                " 'inference_answer')",
                "1 replies: -; 1/5, 0 done; mixed",
                "tool_calls and content are None or empty",
                "scoring: KeyError: 'inference_answer'",
            ],
        ),
        (
            "official",
            "call too early",
            [
                "wrong, Call Error: called b before the calls it depends on",
                "2 replies: 0 | -; 2/5, 1 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "ended early",
            [
                "wrong, Early Termination: text while 2 calls were still to be made",
                "3 replies: 0 | 1. | -; 3/5, 2 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "refused",
            [
                "wrong, Refusal: text although a call was due",
                "2 replies: 0 | -; 2/5, 1 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "other tool",
            [
                "wrong, Call Error: called d, which the task does not need",
                "2 replies: 0 | -; 2/5, 1 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "no such tool",
            [
                "wrong, Call Error: called zz, which is not in the tool list",
                "2 replies: 0 | -; 2/5, 1 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "twice",
            [
                "wrong, Redundant Call: called a once too often",
                "3 replies: 0 | 1. | -; 3/5, 2 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "wrong value",
            [
                "wrong, Param Value Error: error_match: value mismatch at 'n'",
                "4 replies: 0 | 1(error_match: value mismatch at 'n') | 2,3* | 4; 3/5, 1 done; mixed",
                "error_match: value mismatch at 'n'",
            ],
        ),
        (
            "official",
            "wrong type",
            [
                "wrong, Param Type Error: error_schema: nested args type inconsistent",
                "4 replies: 0 | 1(error_schema: nested args type inconsistent) | 2,3* | 4; 3/5, 1 done; mixed",
                "error_schema: nested args type inconsistent",
            ],
        ),
        (
            "official",
            "unknown argument",
            [
                "wrong, Param Hallucination: error_schema: args not defined",
                "4 replies: 0 | 1(error_schema: args not defined) | 2,3* | 4; 3/5, 1 done; mixed",
                "error_schema: args not defined",
            ],
        ),
        (
            "official",
            "left out",
            [
                "wrong, Param Value Error: error_match: args keys mismatch (missing: ['n'])",
                "4 replies: 0 | 1(error_match: args keys mismatch (missing: ['n'])) | 2,3* | 4; 3/5, 1 done; mixed",
                "error_match: args keys mismatch (missing: ['n'])",
            ],
        ),
        (
            "official",
            "no JSON",
            [
                "wrong, Unreadable Call: error: args invalid json format",
                "3 replies: 0 | 1(error: args invalid json format) | -*; 2/5, 1 done; mixed",
                "tool_calls and content are None or empty",
            ],
        ),
        (
            "official",
            "after the end",
            [
                "wrong, Redundant Call: called d after every call was made",
                "4 replies: 0 | 1. | 2,3.. | -; 4/5, 4 done; mixed",
                "action name not in candidate_answer_function_list",
            ],
        ),
        (
            "official",
            "nothing",
            [
                "wrong, Refusal: an empty reply although a call was due (the original raises KeyError:"
                " 'inference_answer')",
                "1 replies: -; 1/5, 0 done; mixed",
                "tool_calls and content are None or empty",
                "scoring: KeyError: 'inference_answer'",
            ],
        ),
        (
            "fixed",
            "right",
            [
                "correct, None: every call bound, in a legal order",
                "4 replies: 0 | 1 | 2,3 | 4; 5/5, 5 done; mixed, optimal",
            ],
        ),
        (
            "fixed",
            "one by one",
            [
                "correct, None: every call bound, in a legal order",
                "5 replies: 0 | 1 | 3 | 2 | 4; 5/5, 5 done; mixed",
            ],
        ),
        (
            "fixed",
            "no question",
            [
                "wrong, Wrong Name / Missing Info: called a before asking the user for what it needs",
                "1 replies: ; 0/5, 0 done; mixed",
                "called a before asking the user for what it needs",
            ],
        ),
        (
            "fixed",
            "empty",
            [
                "wrong, Refusal: an empty reply although a call was due",
                "1 replies: ; 0/5, 0 done; mixed",
                "an empty reply although a call was due",
            ],
        ),
        (
            "fixed",
            "call too early",
            [
                "wrong, Call Error: called b before the calls it depends on",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "called b before the calls it depends on",
            ],
        ),
        (
            "fixed",
            "ended early",
            [
                "wrong, Early Termination: text while 2 calls were still to be made",
                "3 replies: 0 | 1 | ; 2/5, 2 done; mixed",
                "text while 2 calls were still to be made",
            ],
        ),
        (
            "fixed",
            "refused",
            [
                "wrong, Refusal: text although a call was due",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "text although a call was due",
            ],
        ),
        (
            "fixed",
            "other tool",
            [
                "wrong, Call Error: called d, which the task does not need",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "called d, which the task does not need",
            ],
        ),
        (
            "fixed",
            "no such tool",
            [
                "wrong, Call Error: called zz, which is not in the tool list",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "called zz, which is not in the tool list",
            ],
        ),
        (
            "fixed",
            "twice",
            [
                "wrong, Redundant Call: called a once too often",
                "3 replies: 0 | 1 | ; 2/5, 2 done; mixed",
                "called a once too often",
            ],
        ),
        (
            "fixed",
            "wrong value",
            [
                "wrong, Param Value Error: a: n: 3 is not 1 (number)",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "a: n: 3 is not 1 (number)",
            ],
        ),
        (
            "fixed",
            "wrong type",
            [
                "wrong, Param Type Error: a: n: '1' is not 1 (type)",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "a: n: '1' is not 1 (type)",
            ],
        ),
        (
            "fixed",
            "unknown argument",
            [
                "wrong, Param Hallucination: a: zz: 2 was not asked for",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "a: zz: 2 was not asked for",
            ],
        ),
        (
            "fixed",
            "left out",
            [
                "wrong, Param Type Error: a: n: 1 is missing",
                "2 replies: 0 | ; 1/5, 1 done; mixed",
                "a: n: 1 is missing",
            ],
        ),
        (
            "fixed",
            "after the end",
            [
                "wrong, Redundant Call: called d after every call was made",
                "4 replies: 0 | 1 | 2,3 | ; 4/5, 4 done; mixed",
                "called d after every call was made",
            ],
        ),
        (
            "fixed",
            "nothing",
            [
                "wrong, Refusal: an empty reply although a call was due",
                "1 replies: ; 0/5, 0 done; mixed",
                "an empty reply although a call was due",
            ],
        ),
        (
            "paper",
            "right",
            ["correct, None: every call right", "4 replies: 0 | 1 | 2,3 | 4; 5/5, 5 done; mixed, optimal"],
        ),
        (
            "paper",
            "one by one",
            ["correct, None: every call right", "5 replies: 0 | 1 | 3 | 2 | 4; 5/5, 5 done; mixed"],
        ),
        (
            "paper",
            "no question",
            [
                "wrong, Wrong Name / Missing Info: missing information in tool calling",
                "1 replies: -; 0/5, 0 done; mixed",
                "missing information in tool calling",
            ],
        ),
        (
            "paper",
            "empty",
            [
                "wrong, Refusal: reject tool calling",
                "1 replies: -; 0/5, 0 done; mixed",
                "reject tool calling",
            ],
        ),
        (
            "paper",
            "call too early",
            ["wrong, Early Termination: early stop", "2 replies: 0 | -; 1/5, 1 done; mixed", "early stop"],
        ),
        (
            "paper",
            "ended early",
            [
                "wrong, Redundant Call: redundant tool calling",
                "3 replies: 0 | 1 | -; 2/5, 2 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "refused",
            [
                "wrong, Redundant Call: redundant tool calling",
                "2 replies: 0 | -; 1/5, 1 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "other tool",
            [
                "wrong, Call Error: call the wrong function",
                "2 replies: 0 | -; 1/5, 1 done; mixed",
                "call the wrong function",
            ],
        ),
        (
            "paper",
            "no such tool",
            [
                "wrong, Call Error: function name hallucination",
                "2 replies: 0 | -; 1/5, 1 done; mixed",
                "function name hallucination",
            ],
        ),
        (
            "paper",
            "twice",
            [
                "wrong, Redundant Call: redundant tool calling",
                "3 replies: 0 | 1 | -; 2/5, 2 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "wrong value",
            [
                "wrong, Param Value Error: param value error",
                "4 replies: 0 | 1 | 2,3 | 4; 5/5, 5 done; mixed",
                "param value error",
            ],
        ),
        (
            "paper",
            "wrong type",
            [
                "wrong, Param Type Error: type error",
                "4 replies: 0 | 1 | 2,3 | 4; 5/5, 5 done; mixed",
                "type error",
            ],
        ),
        (
            "paper",
            "unknown argument",
            [
                "wrong, Param Hallucination: param hallucination",
                "4 replies: 0 | 1 | 2,3 | 4; 5/5, 5 done; mixed",
                "param hallucination",
            ],
        ),
        (
            "paper",
            "left out",
            [
                "wrong, Redundant Call: redundant tool calling",
                "4 replies: 0 | 1 | 2,3 | 4; 4/5, 4 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "no JSON",
            [
                "wrong, Redundant Call: redundant tool calling",
                "3 replies: 0 | 1 | -; 2/5, 2 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "after the end",
            [
                "wrong, Redundant Call: redundant tool calling",
                "4 replies: 0 | 1 | 2,3 | -; 4/5, 4 done; mixed",
                "redundant tool calling",
            ],
        ),
        (
            "paper",
            "nothing",
            [
                "wrong, Refusal: reject tool calling",
                "1 replies: -; 0/5, 0 done; mixed",
                "reject tool calling",
            ],
        ),
    ],
)
def test_a_decision_says_what_was_done_and_what_was_wrong(
    profile: str, name: str, expected: list[str]
) -> None:
    assert decision(profile, name) == expected


def test_what_is_known_of_a_task_before_any_reply() -> None:
    own = item(TASK, [answer()], english_task_types=["Mixed Multi-Tool", "Chat"])
    assert [WILDTOOLBENCH.fields(own, unit) for unit in own.units] == [
        {
            "task_type": "Mixed Multi-Tool",
            "position": 1,
            "subtype": "First Turn",
            "transitions": 1,
            "gold_calls": 3,
            "turns": 4,
            "topology": "mixed",
            "nodes": 5,
            "asked_back": None,
        },
        {
            "task_type": "Chat",
            "position": 2,
            "subtype": "Partial Information",
            "transitions": 1,
            "gold_calls": 0,
            "turns": 1,
            "topology": "none",
            "nodes": 1,
            "asked_back": None,
        },
    ]
