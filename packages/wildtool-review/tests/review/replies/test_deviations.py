"""What one answer does otherwise than gold: in a small task with four nodes, and with other benchmarks."""

from types import SimpleNamespace
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.benchmarks.wildtoolbench.data import ANSWER, GoldNode
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.types import Item
from wildtool_review.replies.deviations import Deviation, deviations

NODES = (
    GoldNode("find", {"a": 1, "b": "x"}, "", ()),
    GoldNode("find", {"a": 2}, "", (0,), alternatives={"a": [3]}),
    GoldNode("send", {"to": "Ann"}, "", (0,)),
    GoldNode(ANSWER, {"answer_type": "tool"}, "", (1, 2)),
)
RECORD = {
    "id": "s",
    "english_tasks": ["?"],
    "english_answer_list": [
        [{"action": {"name": node.name, "arguments": node.arguments}, "kept": 1} for node in NODES]
    ],
}
FIRST, SECOND, SEND = (("find", {"a": 1, "b": "x"}), ("find", {"a": 2}), ("send", {"to": "Ann"}))
TEXT = [("message", {"text": "Hm."})]


def judged(*replies: Any, steps: Any = (), profile: str = "official", judged_steps: int = 0) -> Any:
    """An answer whose replies make these calls, as the judge logged them."""
    task = SimpleNamespace(nodes=NODES)
    return SimpleNamespace(
        unit="0",
        item=Item("s", ("0",), SimpleNamespace(tasks=[task])),
        transcript=SimpleNamespace(replies=[SimpleNamespace(message=calls) for calls in replies]),
        rules=SimpleNamespace(said=lambda message: message),
        verdict=SimpleNamespace(detail={"steps": list(steps)}),
        run=SimpleNamespace(profile=profile),
        answer=SimpleNamespace(steps=judged_steps),
    )


RIGHT = {"matched": [0], "correct": True, "checks": [CORRECT]}
WRONG = {"matched": []}
ANSWERS: dict[str, Any] = {
    "another value": judged([("find", {"a": 9, "b": "x"})], steps=[WRONG]),
    "values left out and added": judged([("find", {"a": 1, "c": None})], steps=[WRONG]),
    "another value beside gold": judged([("find", {"a": 9, "c": 2})], steps=[WRONG], profile="fixed"),
    "a value that gold accepts too": judged(
        [FIRST], [("find", {"a": 3}), ("send", {"to": "Bob"})], steps=[RIGHT, WRONG], profile="fixed"
    ),
    "another call": judged([("look", {"q": 1})], steps=[WRONG]),
    "another call for the answer": judged(
        [FIRST], [SECOND, SEND], [("look", {})], steps=[RIGHT, {"matched": [1, 2]}, WRONG]
    ),
    "arguments that are none": judged([("find", "a")], [FIRST], steps=[WRONG]),
    "nearer to a later call": judged([("find", {"a": 7})], steps=[WRONG]),
    "too early": judged([FIRST, SEND], steps=[WRONG]),
    "too early and otherwise": judged([SEND, ("find", {"a": 1, "b": "y"})], steps=[WRONG]),
    "more calls than gold has": judged([FIRST], [SECOND, SEND, SEND, SECOND], steps=[RIGHT, WRONG]),
    "a text in place of a call": judged(TEXT, steps=[WRONG]),
    "no call at all": judged([FIRST], [], steps=[RIGHT, WRONG]),
    "a text where an answer is due": judged([FIRST], [SECOND, SEND], TEXT, steps=[RIGHT, {"matched": [1, 2]}, WRONG]),
    "a step that is not correct": judged([("find", {"a": 0, "b": "x"})], steps=[{**RIGHT, "correct": False}]),
    "a refused check": judged([("find", {"a": 0, "b": "x"})], steps=[{**RIGHT, "checks": [CORRECT, "type"]}]),
    "a reply that is not logged": judged([FIRST], [("find", {"a": 5})], steps=[RIGHT]),
    "names that fit": judged([FIRST], [("find", {"a": 4}), SEND], steps=[RIGHT, {"matched": [1, 2]}]),
    "all right": judged([FIRST], [SEND, SECOND], TEXT, steps=[RIGHT, {"matched": [1, 2]}, {"matched": [3]}]),
    "a step without reply": judged([FIRST], steps=[RIGHT, WRONG]),
}  # fmt: skip


def test_an_answer_to_a_session_deviates_in_its_deciding_step():
    same_as_golden(
        "review/deviations.json",
        {case: [repr(each) for each in deviations("wildtoolbench", answer, RECORD)] for case, answer in ANSWERS.items()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("replies", "judged_steps", "calls"),
    [
        ([[FIRST], [SEND]], 0, [{"name": "send", "arguments": {"to": "Ann"}}]),
        ([[FIRST, SEND], [SEND]], 1, [{"name": name, "arguments": given} for name, given in (FIRST, SEND)]),
        ([[FIRST], [SEND]], 3, [{"name": "send", "arguments": {"to": "Ann"}}]),
        ([[FIRST], TEXT], 2, None),
        ([], 0, None),
        ([[]], 0, None),
    ],
)
def test_of_other_benchmarks_the_calls_of_the_last_judged_step_are_one_answer(
    replies: list[Any], judged_steps: int, calls: Any
):
    differences = deviations("other", judged(*replies, judged_steps=judged_steps), {})
    assert differences == ([] if calls is None else [Deviation("calls", "", None, calls)])
