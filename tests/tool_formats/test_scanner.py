"""What a scanner takes out of a text, what it keeps, where it stands then, and the repairs that it names."""

import re
from typing import Any

import pytest

from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.scanner import (
    MAX_VALUE_FAILURES,
    ParsedReply,
    Scanner,
    ToolCall,
    split_reasoning,
)

MARK = re.compile("<c>")


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
