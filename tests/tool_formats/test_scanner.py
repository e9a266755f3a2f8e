"""What a scanner takes out of a text, what it keeps, where it stands then, and the repairs that it names."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.scanner import (
    MAX_VALUE_FAILURES,
    ParsedReply,
    Scanner,
    ToolCall,
    calls_from_value,
    split_reasoning,
)

MARK = re.compile("<c>")


def acted(text: str, at: int, action: Callable[[Scanner], Any]) -> tuple[Any, int, str, list[str]]:
    """What an action gives, the place after it, the text that was kept, and the repairs."""
    scanner = Scanner(text)
    scanner.at = at
    return action(scanner), scanner.at, scanner.plain_text, scanner.repairs


@pytest.mark.parametrize(
    ("text", "at", "action", "outcome"),
    [
        ("a bc", 0, lambda s: s.add_text(2), (None, 2, "a", [])),
        ("a bc", 3, lambda s: s.add_text(2), (None, 3, "", [])),
        ("a bc", 2, lambda s: s.add_rest(), (None, 4, "bc", [])),
        ("ab cd", 5, lambda s: s.reject(3), (None, 5, "cd", ["unreadable-call"])),
        (
            "a<c>b<c>d",
            4,
            lambda s: s.reject_mark(MARK.search(s.text)),
            (None, 5, "<c>b", ["unreadable-call"]),
        ),
        ("a<c>b", 4, lambda s: s.reject_mark(MARK.search(s.text)), (None, 5, "<c>b", ["unreadable-call"])),
        ("ab|c!d", 1, lambda s: s.read_until("!", "|"), ("b", 2, "", [])),
        ("abc", 1, lambda s: s.read_until("!"), ("bc", 3, "", [])),
        ("a  <c>b", 1, lambda s: s.accept("<c>"), (True, 6, "", [])),
        ("a  b<c>", 1, lambda s: s.accept("<c>"), (False, 1, "", [])),
        ("a <c>", 1, lambda s: s.expect_close("<c>"), (None, 5, "", [])),
        ("a } ]<c>", 1, lambda s: s.expect_close("<c>"), (None, 8, "", ["extra-bracket"])),
        ("a }b<c>", 1, lambda s: s.expect_close("<c>"), (None, 1, "", ["missing-close-tag"])),
        ("a", 1, lambda s: s.expect_close("<c>"), (None, 1, "", ["missing-close-tag"])),
        ("a [1,] b", 1, lambda s: s.value(), ([1], 6, "", ["trailing-comma"])),
        ("```json\n[1]\n``` b", 0, lambda s: s.value(), ([1], 15, "", ["code-fence"])),
        ("```\n[1] b", 0, lambda s: s.value(), ([1], 7, "", ["code-fence"])),
        ("a", 0, lambda s: s.try_value(), (None, 0, "", [])),
        ('{"a": true,} b', 0, lambda s: s.value_or_text("!"), ({"a": True}, 12, "", ["trailing-comma"])),
        (" a !b", 0, lambda s: s.value_or_text("!"), ("a", 3, "", ["unreadable-arguments"])),
        ("{a: 1, 5}", 0, lambda s: s.value_at(0), (UnreadableValueError, 0, "", [])),
        ("```\na", 4, lambda s: s.unfence(), (False, 4, "", [])),
    ],
)
def test_each_action_has_its_outcome(
    text: str, at: int, action: Any, outcome: tuple[Any, int, str, list[str]]
) -> None:
    if outcome[0] is UnreadableValueError:
        with pytest.raises(UnreadableValueError):
            acted(text, at, action)
    else:
        assert acted(text, at, action) == outcome


def test_text_between_marks_is_kept_unless_it_is_taken() -> None:
    scanner, places = Scanner("a<c>b<c>cd"), list[int]()
    for begin in scanner.each(MARK):
        places.append(begin.start())
        scanner.at += 1
    assert (places, scanner.at, scanner.plain_text) == ([1, 5], 10, "ad")
    scanner.ignored_marks = ("a", "x")
    assert scanner.plain_text == "d"


@pytest.mark.parametrize(
    ("text", "reasoning", "at", "repairs"),
    [("<r> a </r>b", "a", 10, []), ("<r> a", "a", 5, ["unclosed-reasoning"]), ("b<r>a</r>", None, 0, [])],
)
def test_reasoning_in_a_formats_own_marks(
    text: str, reasoning: str | None, at: int, repairs: list[str]
) -> None:
    scanner = Scanner(text)
    taken = scanner.take_reasoning(re.compile("<r>(.*?)(?:</r>|$)"), "</r>")
    assert (taken, scanner.reasoning, scanner.at, scanner.repairs) == (
        reasoning is not None,
        reasoning,
        at,
        repairs,
    )


CALL = '{"name": "f", "arguments": {}}'


@pytest.mark.parametrize(
    ("behind", "value", "at", "kept", "repairs"),
    [
        (f"{CALL}</c>", {"name": "f", "arguments": {}}, 33, "", []),
        ('{"a": 1}</c>b', None, 15, '<c>{"a": 1}</c>', ["unreadable-call"]),
        ("oops <c>", None, 8, "<c>oops", ["unreadable-call"]),
        ("oops", None, 7, "<c>oops", ["unreadable-call"]),
    ],
)
def test_a_block_of_json_is_calls_or_text(
    behind: str, value: Any, at: int, kept: str, repairs: list[str]
) -> None:
    scanner = Scanner(f"<c>{behind}")
    scanner.at = 3
    assert scanner.json_block(0, "<c>", "</c>") == value
    assert (scanner.at, scanner.plain_text, scanner.repairs) == (at, kept, repairs)
    assert scanner.calls == ([ToolCall("f", {})] if value else [])


def test_values_are_no_longer_read_after_too_many_failures() -> None:
    scanner = Scanner("x[1]")
    for failures in range(MAX_VALUE_FAILURES + 1):
        assert scanner.value_at(1) == ([1], 4, []), failures
        with pytest.raises(UnreadableValueError):
            scanner.value_at(0)
    with pytest.raises(UnreadableValueError):
        scanner.value_at(1)


@pytest.mark.parametrize(
    ("before", "behind", "kept", "at"),
    [
        ("a ```json\n", "\n```b", "a", 15),
        ("```", "```", "", 7),
        ("a ```json\n", "b", "a ```json", 11),
        ("a", "\n```", "a", 2),
    ],
)
def test_the_fence_around_what_was_taken_goes_with_it(before: str, behind: str, kept: str, at: int) -> None:
    scanner = Scanner(f"{before}X{behind}")
    scanner.add_text(len(before))
    scanner.at += 1
    assert scanner.unfence() is (at > len(before) + 1)
    assert (scanner.plain_text, scanner.at) == (kept, at)


def test_a_reply_without_calls_is_its_text_unchanged() -> None:
    scanner = Scanner(" a [] ", ["missing-bracket"])
    scanner.add_text(2)
    scanner.expect_nothing_else()
    assert scanner.parsed_reply(None) == ParsedReply(" a [] ", (), ("missing-bracket",))
    scanner.repairs.append("empty-list")
    assert scanner.parsed_reply("x").text == "a"
    scanner.repairs.clear()
    scanner.calls.append(ToolCall("f", {}))
    scanner.expect_nothing_else()
    scanner.reasoning = "y"
    assert scanner.parsed_reply("x") == ParsedReply("a", (ToolCall("f", {}),), ("text-around",), "x\ny")
    scanner.content, scanner.reasoning = "", None
    assert scanner.parsed_reply("") == ParsedReply("", (ToolCall("f", {}),), ("text-around",), "")


def test_nothing_stands_beside_calls_that_are_the_whole_text() -> None:
    scanner = Scanner("  ")
    scanner.add_rest()
    scanner.calls.append(ToolCall("f", {}))
    scanner.expect_nothing_else()
    assert scanner.repairs == []


@pytest.mark.parametrize(
    ("value", "key", "calls"),
    [
        ({"name": "f", "arguments": {"a": 1}}, "arguments", ([ToolCall("f", {"a": 1})], [])),
        ({"name": "f", "arguments": {"a": 1}}, "parameters", ([ToolCall("f", {"a": 1})], ["arguments-key"])),
        ({"name": "f", "parameters": 5, "arguments": 6}, "parameters", ([ToolCall("f", 5)], [])),
        ({"name": "f", "parameters": 5, "arguments": 6}, "arguments", ([ToolCall("f", 6)], [])),
        (
            {"name": "f", "parameters": None},
            "arguments",
            ([ToolCall("f", {})], ["arguments-key", "missing-arguments"]),
        ),
        ({"name": "f", "id": 1, "type": 2}, "arguments", ([ToolCall("f", {})], ["missing-arguments"])),
        ({"name": "f", "more": 1}, "arguments", None),
        ({"name": 5, "arguments": {}}, "arguments", None),
        (
            {"function": {"name": "f", "arguments": []}},
            "arguments",
            ([ToolCall("f", [])], ["nested-function"]),
        ),
        ({"function": "f", "name": "g"}, "arguments", None),
        ({"name": "f", "arguments": " [1] "}, "arguments", ([ToolCall("f", " [1] ")], [])),
        (
            {"name": "f", "arguments": ' {"a": 1,} '},
            "arguments",
            ([ToolCall("f", {"a": 1})], ["arguments-as-text", "trailing-comma"]),
        ),
        ({"name": "f", "arguments": '{"a": 1} x'}, "arguments", ([ToolCall("f", '{"a": 1} x')], [])),
        ({"name": "f", "arguments": "x"}, "arguments", ([ToolCall("f", "x")], [])),
        (
            [{"name": "f", "arguments": 1}, {"name": "g", "parameters": 2}],
            "arguments",
            ([ToolCall("f", 1), ToolCall("g", 2)], ["arguments-key"]),
        ),
        ([{"name": "f", "arguments": 1}, 5], "arguments", None),
        ([], "arguments", None),
        ("f", "arguments", None),
    ],
)
def test_the_calls_in_a_value(value: Any, key: str, calls: Any) -> None:
    assert calls_from_value(value, key) == calls
    scanner = Scanner("")
    lacks = calls is None or "missing-arguments" in calls[1]
    assert scanner.add_calls(value, key, needs_arguments=True) is not lacks
    assert (scanner.calls, scanner.repairs) == (([], []) if lacks else calls)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (" <think> a </think>\n\n b", ("a", " b", [])),
        ("<think>a", ("a", "", ["unclosed-reasoning"])),
        ("<think>a</think>b</think>", ("a", "b</think>", [])),
        (" a </think> \n\nb", ("a", "b", ["unopened-reasoning"])),
        ("a</think>", ("a", "", ["unopened-reasoning"])),
        ("a</think>b", (None, "a</think>b", [])),
        ("a <think>b</think>c", (None, "a <think>b</think>c", [])),
        ("", (None, "", [])),
    ],
)
def test_reasoning_is_split_from_the_rest(text: str, parts: tuple[str | None, str, list[str]]) -> None:
    assert split_reasoning(text) == parts
