"""What traces share: messages that are new to a role, and the places where JSON values differ."""

import json
from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.episode import EMPTY_REPLY
from wildtool.trace import (
    MAX_TRACE_DIFFERENCES,
    GoldCall,
    GoldDifference,
    Trace,
    TraceStep,
    find_differences,
    mark_decisive,
    plain_trace,
    replay_steps,
    said_calls,
)
from wildtool.types import Message, Reply, Request, Transcript


class Script:
    """A walk that shows these lists of messages, one after the other."""

    def __init__(self, *shown: list[Message], roles: str = "") -> None:
        self._shown = list(shown)
        self._roles = [{"a": "agent", "u": "user"}[letter] for letter in roles] or ["agent"] * len(shown)
        self._step = 0

    @property
    def done(self) -> bool:
        return self._step == len(self._shown)

    def request(self) -> Request | None:
        return None if self.done else Request(self._shown[self._step], role=self._roles[self._step])

    def advance(self, reply: Message) -> None:
        self._step += 1


def says(text: str, role: str = "user") -> Message:
    return {"role": role, "content": text}


def seen(episode: Script, *replies: str) -> list[list[str]]:
    transcript = Transcript(tuple(Reply({"content": reply}) for reply in replies))
    return [[message["content"] for message in new] for _, new, _ in replay_steps(episode, transcript)]


def test_a_message_is_new_once() -> None:
    first, second = [says("a")], [says("a"), says("b")]
    assert seen(Script(first, second), "x", "y") == [["a"], ["b"]]


def test_a_changed_message_is_new_with_all_after_it() -> None:
    assert seen(Script([says("a"), says("b")], [says("c"), says("b")]), "x", "y") == [["a", "b"], ["c", "b"]]


def test_ones_own_reply_is_not_new() -> None:
    again = [says("a"), says("x", "assistant"), says("b")]
    assert seen(Script([says("a")], again), "x", "y") == [["a"], ["b"]]


def test_each_role_has_its_own_memory() -> None:
    episode = Script([says("a")], [says("a")], [says("a"), says("b")], roles="aua")
    assert seen(episode, "x", "y", "z") == [["a"], ["a"], ["b"]]


def test_replies_past_the_end_are_left_out() -> None:
    assert seen(Script([says("a")]), "x", "y") == [["a"]]


@pytest.mark.parametrize(
    ("expected", "found", "places"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [("x.b", 2, 3)]),
        ({"a": 1}, {}, [("x.a", 1, None)]),
        ({}, {"a": 1}, [("x.a", None, 1)]),
        ([1, 2], [1], [("x[1]", 2, None)]),
        ([1, None], [1], [("x[1]", None, None)]),
        ([1], [1, None], [("x[1]", None, None)]),
        ({"a": None}, {}, [("x.a", None, None)]),
        ({}, {"a": None}, [("x.a", None, None)]),
        ({"a": [{"b": "c"}]}, {"a": [{"b": "d"}]}, [("x.a[0].b", "c", "d")]),
        (1, True, [("x", 1, True)]),
        ({"a": 1}, [1], [("x", {"a": 1}, [1])]),
        ({"a": 1}, {"a": 1}, []),
    ],
)
def test_every_place_that_differs_is_named(expected: Any, found: Any, places: list[Any]) -> None:
    assert [(d.where, d.expected, d.found) for d in find_differences(expected, found, "x", "rule")] == places


def test_of_many_differences_the_first_are_named() -> None:
    assert len(find_differences(list(range(1000)), [], "x", "rule")) == MAX_TRACE_DIFFERENCES


def test_values_nested_too_deep_to_compare_differ_as_wholes() -> None:
    one, other = (json.loads("[" * 900 + end + "]" * 900) for end in "12")
    (difference,) = find_differences(one, other, "x", "rule")
    assert difference.where.startswith("x[0][0]")


@pytest.mark.parametrize("profile", WILDTOOLBENCH.profiles)
def test_deep_replies_can_be_shown(profile: str) -> None:
    from benchmarks.wildtoolbench.build import answer, item, node

    deep = json.loads("[" * 900 + "]" * 900)
    call = {
        "id": "i",
        "function": {"name": "a", "arguments": json.dumps({"text": json.loads("[" * 60 + "]" * 60)})},
    }
    replies = [{"content": deep, "tool_calls": [call]}, {"content": deep, "tool_calls": deep}]
    made = item([node("a", text="x"), answer(0)])
    found = WILDTOOLBENCH.rules(profile).trace(made, "0", Transcript(tuple(map(Reply, replies))))
    assert found.steps[0].reply is replies[0]


class Talk:
    """Shows a unit's tools at each of some steps; its gold replies are given."""

    def __init__(self, *gold: Message) -> None:
        self.gold, self.step = gold, 0

    @property
    def done(self) -> bool:
        return self.step == len(self.gold)

    def request(self) -> Request | None:
        if self.done:
            return None
        messages = [says(str(number)) for number in range(self.step + 1)]
        return Request(messages, role="agent" if self.step % 2 == 0 else "user")

    def advance(self, reply: Message) -> None:
        self.step += 1


def calls(*pairs: tuple[Any, Any], content: Any = None) -> Message:
    made = [{"id": "1", "function": {"name": name, "arguments": arguments}} for name, arguments in pairs]
    return {"role": "assistant", "content": content, "tool_calls": made}


GOLD = (calls(("a", '{"n": 1}'), ("b", '{"n": 2}')), calls(("a", '{"n": 3}')), {"content": "done"})
TOOLS = [{"type": "function", "function": {"name": "a"}}]


def plain(transcript: Transcript, correct: bool = False, gold: tuple[Message, ...] = GOLD) -> Trace:
    def decide() -> tuple[bool, str]:
        return correct, "compared"

    return plain_trace("u", Talk(*GOLD), transcript, TOOLS, gold, decide, said_calls)


def test_a_unit_stands_next_to_its_gold_calls() -> None:
    replies = (
        calls(("b", '{"n": 2, "m": 0}'), ("c", "{}"), ("a", '{"n": 3}')),
        calls(("a", '{"n": 5}')),
        {"content": "other"},
    )
    assert plain(Transcript(tuple(map(Reply, replies)))) == Trace(
        "u",
        TOOLS,
        (
            TraceStep("agent", [says("0")], replies[0], (2,), ""),
            TraceStep("user", [says("0"), says("1")], replies[1], (), ""),
            TraceStep("agent", [says("1"), says("2")], replies[2], (), "compared"),
        ),
        (
            GoldCall("a", {"n": 1}, status="wrong"),
            GoldCall("b", {"n": 2}, status="wrong"),
            GoldCall("a", {"n": 3}, status="done"),
            GoldCall("message", "done", status="wrong"),
        ),
        (
            GoldDifference("a.n", 1, 5, "compared"),
            GoldDifference("b.m", None, 0, "compared"),
            GoldDifference("message", "done", "other", "compared"),
        ),
    )


def test_calls_of_a_correct_unit_are_done_whatever_their_arguments() -> None:
    replies = (calls(("a", '{"n": 9}')), calls(), {"content": "done"})
    trace = plain(Transcript(tuple(map(Reply, replies))), correct=True)
    assert [step.fulfilled for step in trace.steps] == [(0,), (), (3,)]
    assert [call.status for call in trace.gold] == ["done"] * 4
    assert trace.differences == ()
    assert trace.steps[2].note == "compared"


def test_a_unit_that_is_not_over_is_not_decided() -> None:
    trace = plain(Transcript((Reply(GOLD[0]),)), correct=True)
    assert [(step.fulfilled, step.note) for step in trace.steps] == [((0, 1), "")]
    assert [call.status for call in trace.gold] == ["done", "done", "missed", "missed"]
    assert plain(Transcript(()), correct=True, gold=()) == Trace("u", TOOLS, (), ())


def test_a_script_goes_on_with_empty_replies() -> None:
    trace = plain(Transcript((Reply(GOLD[0]),), scripted=True))
    assert [step.reply for step in trace.steps] == [GOLD[0], EMPTY_REPLY, EMPTY_REPLY]


@pytest.mark.parametrize(
    ("reply", "made"),
    [
        ({"content": "a"}, [("message", "a")]),
        ({"content": "a", "tool_calls": []}, [("message", "a")]),
        ({"content": "a", "tool_calls": {"x": 1}}, [("message", "a")]),
        ({}, [("message", None)]),
        (calls(("a", '{"n": 1}'), ("b", "{"), content="c"), [("a", {"n": 1}), ("b", "{")]),
        (
            {"tool_calls": [5, {"function": {"name": 1, "arguments": {"n": 2}}}]},
            [("None", None), ("1", {"n": 2})],
        ),
    ],
)
def test_the_calls_of_a_reply_or_else_its_text(reply: Message, made: list[Any]) -> None:
    assert [*said_calls(reply)] == made


def test_only_the_own_reply_is_not_new() -> None:
    for message, new in (
        ({"role": "assistant", "content": "x", "tool_calls": []}, ["b"]),
        ({"role": "assistant", "content": "x", "tool_calls": None, "more": 1}, ["b"]),
        ({"role": "user", "content": "x"}, ["x", "b"]),
        ({"role": "assistant", "content": "y"}, ["y", "b"]),
        ({"role": "assistant", "content": "x", "tool_calls": [{}]}, ["x", "b"]),
    ):
        assert seen(Script([says("a")], [says("a"), message, says("b")]), "x", "y") == [["a"], new]
    assert seen(Script([says("a")], [says("a"), says("x", "assistant")], roles="au"), "x", "y") == [
        ["a"],
        ["a", "x"],
    ]
    both = [says("x", "assistant"), says("x", "assistant")]
    assert seen(Script([], both), "x", "y") == [[], ["x"]]


def test_messages_that_are_gone_or_there_again() -> None:
    assert seen(Script([says("a"), says("b")], [says("a")], [says("a"), says("b")]), "x", "y", "z") == [
        ["a", "b"],
        [],
        ["b"],
    ]


def test_differences_are_in_the_order_of_gold_and_then_of_what_came() -> None:
    differences = find_differences(
        {"b": [1, (2,)], "a": {"c": 1.0}, "d": "x"},
        {"z": 1, "a": {"c": 1}, "b": [1, [3], 4], "y": 2},
        "w",
        "r",
    )
    assert differences == [
        GoldDifference("w.b[1][0]", 2, 3, "r"),
        GoldDifference("w.b[2]", None, 4, "r"),
        GoldDifference("w.a.c", 1.0, 1, "r"),
        GoldDifference("w.d", "x", None, "r"),
        GoldDifference("w.z", None, 1, "r"),
        GoldDifference("w.y", None, 2, "r"),
    ]
    assert find_differences([1], {"0": 1}, "w", "r") == [GoldDifference("w", [1], {"0": 1}, "r")]


def test_twenty_differences_and_a_depth_of_64_are_shown() -> None:
    places = [difference.where for difference in find_differences([1] * 21, [2] * 21, "w", "r")]
    assert places == [f"w[{number}]" for number in range(20)]
    for opening, closing, step in (("[", "]", "[0]"), ('{"a":', "}", ".a")):
        one, other = (json.loads(opening * 65 + end + closing * 65) for end in "12")
        (difference,) = find_differences(one, other, "w", "r")
        assert difference.where == "w" + step * 64


def test_a_difference_that_did_not_decide_says_so() -> None:
    first, second = GoldDifference("a", 1, 2, "r"), GoldDifference("b", 1, 2, "r")
    assert mark_decisive([first, second], lambda difference: difference.where == "b") == [
        GoldDifference("a", 1, 2, "differs too, but is not what decided"),
        second,
    ]


def test_gold_calls_take_equal_calls_before_those_of_their_name() -> None:
    replies = (calls(("a", '{"n": 3}'), ("a", '{"n": 1}')), calls(("a", '{"n": 3}')), {"content": "done"})
    trace = plain(Transcript(tuple(map(Reply, replies))))
    assert [step.fulfilled for step in trace.steps] == [(0, 2), (), (3,)]
    assert [call.status for call in trace.gold] == ["done", "missed", "done", "done"]
