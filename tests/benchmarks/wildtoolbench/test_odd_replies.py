"""Replies that are odd in form, and gold graphs that are: what both profiles decide, and what a model sees afterwards."""

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.wildtoolbench.build import (
    DONE,
    answer,
    ask,
    call,
    calls,
    item,
    node,
    raw_call,
    says,
    shown,
    told,
    verdict,
)
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.rule_words import rule_in_words
from wildtool.types import Message

TWO = [node("a", n=1), node("a", n=2), node("b", 0, 1, text="x"), answer(2)]
PAIR = [node("a", n=1) | {"alternatives": {"n": [5, None]}}, node("b", text="x"), answer(0, 1)]
LATE = [node("a", n=1), ask(0), node("b", 1, text="x"), answer(2)]
GRAPHS: dict[str, Sequence[dict[str, Any]]] = {
    "two": TWO,
    "pair": PAIR,
    "late": LATE,
    "cycle": [node("a", 1), node("b", 0), answer(0, 1)],
    "outside": [node("a", 7), answer(0)],
    "no tool": [node("zz", n=1), answer(0)],
    "nothing": [],
    "run": [node("a", n=1), node("a", n=2), node("b", text="x"), answer(0, 1, 2)],
    "question beside": [ask(), node("a", n=1), answer(0, 1)],
}


def outcome(profile: str, graph: str, replies: Sequence[Message]) -> list[str]:
    """The decision, its labels, and the nodes that each reply matched."""
    own = verdict(profile, GRAPHS[graph], *replies)
    labels = [
        str(own.fields[name]) for name in ("error_label", "reference_error") if own.fields[name] is not None
    ]
    steps = " | ".join(",".join(map(str, step["matched"])) for step in own.detail["steps"])
    counts = f"{own.fields['ap_done']}/{own.fields['ap_total']}, {own.fields['nodes_done']}"
    reason = own.reason
    if reference := own.fields["reference_error"]:
        raised = f" (the original raises {str(reference).partition(': ')[2]})"
        assert reason.endswith(raised)
        reason = f"{reason.removesuffix(raised)} (raises)"
    labels = [label for label in labels if rule_in_words(label) != reason]
    return [f"{own.outcome}, {own.error}: {reason}", f"{steps}; {counts}", *labels]


CASES: list[tuple[str, list[Message]]] = [
    ("two", [calls(call("a", "i", n=1), call("a", "j", n=2)), calls(call("b", text="x")), DONE]),
    ("two", [calls(call("a", "i", n=2), call("a", "j", n=1)), calls(call("b", text="x")), DONE]),
    ("two", [calls(call("a", n=2)), calls(call("a", n=1)), calls(call("b", text="x")), DONE]),
    ("two", [calls(call("a", "i", n=1), call("a", "j", n=1))]),
    ("two", [calls(call("a", "i", n=3), call("a", "j", n=2))]),
    ("two", [calls(call("a", "i", n=1), call("a", "j", n=2), call("a", "k", n=2))]),
    ("two", [calls(call("a", "i", n=1), call("b", "j", text="x"))]),
    ("pair", [calls(call("b", "i", text="x"), call("a", "j", n=1), call("a", "k", n=1))]),
    ("pair", [calls(call("b", text="x"), call("a", "j", n=5)), DONE]),
    ("pair", [calls(call("a", "j"), call("b", text="x")), DONE]),
    ("pair", [calls(call("a", "j", n=6), call("b", text="x")), DONE]),
    ("pair", [calls(call("a", None, n=1), call("b", None, text="x")), DONE]),
    ("pair", [{"role": "assistant", "tool_calls": 5}]),
    ("pair", [{"role": "assistant", "tool_calls": [5]}]),
    ("pair", [{"role": "assistant", "tool_calls": [{"id": "i"}]}]),
    ("pair", [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]}]),
    ("pair", [calls(raw_call(5, "{}"))]),
    ("pair", [calls(raw_call("a", "[]")), DONE]),
    ("pair", [calls(raw_call("a", None)), DONE]),
    ("pair", [calls(raw_call("a", {"n": 1})), DONE]),
    ("pair", [{"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "tool_calls": []}]),
    ("late", [says("Which one?")]),
    ("late", [calls(call("a", n=1)), says("Which one?"), calls(call("b", text="x")), says("")]),
    ("late", [calls(call("a", n=1)), calls(call("b", text="x"))]),
    ("late", [calls(call("a", n=1)), says("Which one?"), says("Done."), says("x")]),
    ("cycle", [calls(call("a"))]),
    ("outside", [calls(call("a"))]),
    ("outside", [DONE]),
    ("no tool", [calls(call("zz", n=1)), DONE]),
    ("nothing", [DONE]),
    ("nothing", [calls(call("a"))]),
    ("question beside", [says("Which one?"), calls(call("a", n=1)), DONE]),
    ("question beside", [calls(call("a", n=1)), says("Which one?"), DONE]),
    ("run", [calls(call("a", "i", n=1), call("b", "j", text="x"))]),
]
EXPECTED = {
    "official": [
        ["correct, None: every step matched", "0,1 | 2 | 3; 3/4, 4"],
        ["correct, None: every step matched", "0,1 | 2 | 3; 3/4, 4"],
        ["wrong, Param Value Error: a value differs from the gold value at 'n'", "0 | 1 | 2 | 3; 3/4, 0"],
        [
            "wrong, Param Value Error: a value differs from the gold value at 'n'",
            "0,1 | ; 1/4, 0",
            "tool_calls and content are None or empty",
        ],
        [
            "wrong, Param Value Error: a value differs from the gold value at 'n'",
            "0,1 | ; 1/4, 0",
            "tool_calls and content are None or empty",
        ],
        [
            "wrong, Redundant Call: called a once too often",
            "; 1/4, 0",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Call Error: called b before the calls it depends on",
            "; 1/4, 0",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Redundant Call: called a once too often",
            "; 1/3, 0",
            "action name not in candidate_answer_function_list",
        ],
        ["wrong, Param Value Error: a value differs from the gold value at 'n'", "0,1 | 2; 1/3, 0"],
        [
            "wrong, Param Value Error: the arguments are others than those of the gold call (missing: ['n'])",
            "0,1 | 2; 1/3, 0",
        ],
        ["wrong, Param Value Error: a value differs from the gold value at 'n'", "0,1 | 2; 1/3, 0"],
        ["correct, None: every step matched", "0,1 | 2; 2/3, 3"],
        [
            "wrong, Unreadable Call: the calls cannot be read (raises)",
            "; 0/3, 0",
            "inference: TypeError: object of type 'int' has no len()",
        ],
        [
            "wrong, Unreadable Call: the calls cannot be read: 'int' object is not subscriptable (raises)",
            "; 1/3, 0",
            "parse tool_calls failed, error: 'int' object is not subscriptable",
            "scoring: KeyError: 'inference_answer'",
        ],
        [
            "wrong, Unreadable Call: the calls cannot be read: 'function' (raises)",
            "; 1/3, 0",
            "parse tool_calls failed, error: 'function'",
            "scoring: KeyError: 'inference_answer'",
        ],
        [
            "wrong, Unreadable Call: the calls cannot be read: 'id' (raises)",
            "; 1/3, 0",
            "parse tool_calls failed, error: 'id'",
            "scoring: KeyError: 'inference_answer'",
        ],
        ["wrong, Unreadable Call: the action's name is none of the allowed ones", "; 1/3, 0"],
        [
            "wrong, Param Type Error: an argument is of another type than the tool's definition says",
            "0 | ; 1/3, 0",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Unreadable Call: arguments cannot be read (raises)",
            "0 | ; 2/3, 1",
            "action name not in candidate_answer_function_list",
            "scoring: TypeError: the JSON object must be str, bytes or bytearray, not NoneType",
        ],
        [
            "wrong, Unreadable Call: arguments cannot be read (raises)",
            "0 | ; 2/3, 1",
            "action name not in candidate_answer_function_list",
            "scoring: TypeError: the JSON object must be str, bytes or bytearray, not dict",
        ],
        [
            "wrong, Refusal: text although a call was due",
            "; 1/3, 0",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Refusal: text although a call was due",
            "; 1/4, 0",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Refusal: an empty reply where an answer was due (raises)",
            "0 | 1 | 2 | ; 4/4, 3",
            "tool_calls and content are None or empty",
            "scoring: KeyError: 'inference_answer'",
        ],
        [
            "wrong, Wrong Name / Missing Info: called b before asking the user for what it needs",
            "0 | ; 2/4, 1",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Early Termination: text while 1 calls were still to be made",
            "0 | 1 | ; 3/4, 2",
            "action name not in candidate_answer_function_list",
        ],
        [
            "wrong, Unusable Gold: the gold graph has no path (raises)",
            "; 1/3, 0",
            "action name not in candidate_answer_function_list",
            "scoring: KeyError: 'inference_answer'",
        ],
        ["wrong, Unusable Gold: the gold graph has no path (raises)", "; 0/2, 0", "inference: KeyError: 7"],
        ["wrong, Unusable Gold: the gold graph has no path (raises)", "; 0/2, 0", "inference: KeyError: 7"],
        [
            "wrong, Unusable Gold: gold calls zz, which is not in the tool list (raises)",
            "0 | 1; 2/2, 2",
            "scoring: KeyError: 'zz'",
        ],
        ["wrong, Unusable Gold: the gold graph has no path (raises)", "; 0/0, 0", "inference: KeyError: 0"],
        [
            "wrong, Unusable Gold: the gold graph has no path (raises)",
            "; 1/0, 0",
            "current step: 0, idx_list is None",
            "scoring: KeyError: 'inference_answer'",
        ],
        ["correct, None: every step matched", "0 | 1 | 2; 3/3, 3"],
        ["correct, None: every step matched", "1 | 0 | 2; 3/3, 3"],
        [
            "wrong, Redundant Call: called a once too often",
            "; 1/4, 0",
            "action name not in candidate_answer_function_list",
        ],
    ],
    "fixed": [
        ["correct, None: every call bound, in a legal order", "0,1 | 2 | 3; 4/4, 4"],
        ["correct, None: every call bound, in a legal order", "1,0 | 2 | 3; 4/4, 4"],
        ["correct, None: every call bound, in a legal order", "1 | 0 | 2 | 3; 4/4, 4"],
        ["wrong, Param Value Error: a: n: 1 is not 2 (number)", "; 0/4, 0"],
        ["wrong, Param Value Error: a: n: 3 is not 1 (number)", "; 0/4, 0"],
        ["wrong, Redundant Call: called a once too often", "; 0/4, 0"],
        ["wrong, Call Error: called b before the calls it depends on", "; 0/4, 0"],
        ["wrong, Redundant Call: called a once too often", "; 0/3, 0"],
        ["correct, None: every call bound, in a legal order", "1,0 | 2; 3/3, 3"],
        ["correct, None: every call bound, in a legal order", "0,1 | 2; 3/3, 3"],
        ["wrong, Param Value Error: a: n: 6 is not 1 (number)", "; 0/3, 0"],
        ["correct, None: every call bound, in a legal order", "0,1 | 2; 3/3, 3"],
        ["wrong, Unreadable Call: tool_calls is int, not a list of calls", "; 0/3, 0"],
        ["wrong, Unreadable Call: call 0 has no function object", "; 0/3, 0"],
        ["wrong, Unreadable Call: call 0 has no function object", "; 0/3, 0"],
        ["wrong, Unreadable Call: call 0 has no id", "; 0/3, 0"],
        ["wrong, Unreadable Call: call 0 has no name", "; 0/3, 0"],
        [
            "wrong, Unreadable Call: arguments of a: the arguments hold a list, expected a JSON object",
            "; 0/3, 0",
        ],
        [
            "wrong, Unreadable Call: arguments of a: the arguments are of type NoneType, expected a text",
            "; 0/3, 0",
        ],
        [
            "wrong, Unreadable Call: arguments of a: the arguments are of type dict, expected a text",
            "; 0/3, 0",
        ],
        ["wrong, Refusal: text although a call was due", "; 0/3, 0"],
        ["wrong, Refusal: text although a call was due", "; 0/4, 0"],
        ["wrong, Refusal: an empty reply where an answer was due", "0 | 1 | 2 | ; 3/4, 3"],
        [
            "wrong, Wrong Name / Missing Info: called b before asking the user for what it needs",
            "0 | ; 1/4, 1",
        ],
        ["wrong, Early Termination: text while 1 calls were still to be made", "0 | 1 | ; 2/4, 2"],
        ["wrong, Unusable Gold: the gold graph has a cycle or not exactly one answer node", "; 0/3, 0"],
        ["wrong, Unusable Gold: the gold graph has a cycle or not exactly one answer node", "; 0/2, 0"],
        ["wrong, Unusable Gold: the gold graph has a cycle or not exactly one answer node", "; 0/2, 0"],
        ["correct, None: every call bound, in a legal order", "0 | 1; 2/2, 2"],
        ["wrong, Unusable Gold: the gold graph has a cycle or not exactly one answer node", "; 0/0, 0"],
        ["wrong, Unusable Gold: the gold graph has a cycle or not exactly one answer node", "; 0/0, 0"],
        ["correct, None: every call bound, in a legal order", "0 | 1 | 2; 3/3, 3"],
        ["correct, None: every call bound, in a legal order", "1 | 0 | 2; 3/3, 3"],
        [
            "wrong, Early Termination: an empty reply while 1 calls were still to be made",
            "0,2 | ; 2/4, 2",
        ],
    ],
}


@pytest.mark.parametrize("profile", EXPECTED)
def test_odd_replies_and_graphs_are_decided(profile: str) -> None:
    for (graph, replies), expected in zip(CASES, EXPECTED[profile], strict=True):
        assert outcome(profile, graph, replies) == expected, (graph, replies)


def test_of_gold_calls_that_are_equal_by_meaning_the_one_that_is_written_so_is_done() -> None:
    gold = [node("a", text=text, observation=number) for number, text in enumerate(("New York", "new york"))]
    episode = WILDTOOLBENCH.rules("fixed").episode(item([*gold, answer(0, 1)]), "0")
    told(episode, calls(call("a", text="new york")), calls(call("a", text="NEW YORK")))
    assert [message["content"] for message in shown(episode)[2:]] == [None, "1", None, "0"]


def test_calls_with_null_ids_get_some() -> None:
    own = item(PAIR)
    episode = WILDTOOLBENCH.rules("fixed").episode(own, "0")
    told(episode, calls(call("b", None, text="x"), call("a", "i", n=5)))
    reply, *results = shown(episode)[2:]
    ids = [made["id"] for made in reply["tool_calls"]]
    assert isinstance(ids[0], str) and ids[1] == "i"
    assert [(result["tool_call_id"], result["content"]) for result in results] == [
        (ids[0], "b done"),
        ("i", "a done"),
    ]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_gold_is_given_at_once_or_one_by_one(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item(TWO), "0")
    request = episode.request()
    assert request is not None and request.gold is not None
    made = [
        [
            (each["function"]["name"], each["function"]["arguments"])
            for each in request.gold(style)["tool_calls"]
        ]
        for style in ("parallel", "serial")
    ]
    assert made == [[("a", '{"n": 1}'), ("a", '{"n": 2}')], [("a", '{"n": 1}')]]


@pytest.mark.parametrize("text", ["\u200b", " \ufeff\n", "\u00ad\u2060", "\u2800"])
def test_a_text_of_which_a_reader_sees_nothing_is_no_answer(text: str):
    decisions = {
        profile: verdict(profile, [answer()], says(text)).outcome for profile in ("official", "fixed")
    }
    assert decisions == {"official": "correct", "fixed": "wrong"}
    assert verdict("fixed", [answer()], says(f"{text}Yes.{text}")).outcome == "correct"
