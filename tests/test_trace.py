"""What traces share: messages that are new to a role, and the places where JSON values differ."""

import json
from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.trace import (
    MAX_TRACE_DIFFERENCES,
    find_differences,
    replay_steps,
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
