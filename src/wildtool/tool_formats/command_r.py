"""Command R7B and A: a JSON list of calls between `<|START_ACTION|>` and `<|END_ACTION|>`; Command R's `Action:` is read
too."""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.prompt_text import format_prompt, json_text
from wildtool.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

OPEN, CLOSE = "<|START_ACTION|>", "<|END_ACTION|>"
_THOUGHT = re.compile(r"\s*+<\|START_THINKING\|>(.*?)(?:<\|END_THINKING\|>|\Z)\s*+", re.DOTALL)
_OPENS = re.compile(r"<\|START_ACTION\|>|(?:^|\n)Action:\s*+(?=```|\[)")
_ANSWERS = ("directly_answer", "directly-answer")
"""The tool that Command R calls if it needs none."""


def _write_calls(calls: Sequence[ToolCall]) -> str:
    entries = [
        json_text({"tool_call_id": str(number), "tool_name": call.name, "parameters": call.arguments})
        for number, call in enumerate(calls)
    ]
    return f"{OPEN}[{', '.join(entries)}]{CLOSE}"


def _write_results(results: Sequence[ToolResult]) -> str:
    documents = [
        json_text({"tool_call_id": str(number), "results": {"0": result.text}, "is_error": None})
        for number, result in enumerate(results)
    ]
    return f"<|START_TOOL_RESULT|>[{', '.join(documents)}]<|END_TOOL_RESULT|>"


def _find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    scanner.ignored_marks = (
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|CHATBOT_TOKEN|>",
        "<|START_OF_TURN_TOKEN|>",
    )
    thought = scanner.take_reasoning(_THOUGHT, "<|END_THINKING|>")
    is_marked = thought or any(mark in scanner.text for mark in scanner.ignored_marks)
    for opening in scanner.each(_OPENS):
        _take(scanner, opening)
        is_marked = True
    if is_marked:
        scanner.content = scanner.plain_text


def _take(scanner: Scanner, opening: re.Match[str]) -> None:
    before = len(scanner.repairs)
    calls = _calls(scanner.try_value())
    if calls is None:
        scanner.reject_mark(opening)
        return
    scanner.calls += [call for call in calls if call.name not in _ANSWERS]
    if opening[0] == OPEN:
        scanner.expect_close(CLOSE)
    else:
        # Command R itself writes the list in a fence.
        scanner.repairs[before:] = [name for name in scanner.repairs[before:] if name != "code-fence"]


def _calls(value: Any) -> list[ToolCall] | None:
    """The calls of a list; None if it is something else."""
    calls: list[ToolCall] = []
    for member in cast("list[Any]", value) if isinstance(value, list) else [value]:
        match member:
            case {"tool_name": str() as name}:
                parameters = cast("dict[str, Any]", member).get("parameters")
                calls.append(ToolCall(name, {} if parameters is None else parameters))
            case _:
                return None
    return calls


COMMAND_R = CallFormat(
    name="command-r",
    about='Command R7B and A: <|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": …}]<|END_ACTION|>',
    source="chat template of CohereForAI/c4ai-command-r7b-12-2024; Cohere's guide to prompting Command R",
    prompt=format_prompt("command-r"),
    write_calls=_write_calls,
    write_results=_write_results,
    find=_find,
)
