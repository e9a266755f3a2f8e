"""Command R7B and A: a JSON list of calls between `<|START_ACTION|>` and `<|END_ACTION|>`; Command R's `Action:` is read
too."""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

OPEN, CLOSE = "<|START_ACTION|>", "<|END_ACTION|>"
_THOUGHT = re.compile(r"\s*+<\|START_THINKING\|>(.*?)(?:<\|END_THINKING\|>|\Z)\s*+", re.DOTALL)
_OPENS = re.compile(r"<\|START_ACTION\|>|(?:^|\n)Action:\s*+(?=```|\[)")
_ANSWERS = ("directly_answer", "directly-answer")
"""The tool that Command R calls to say that it calls none."""


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"## Available Tools\nThese tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call tools, write one JSON list of all calls that can be made now, numbered from 0:\n"
        f'{OPEN}[{{"tool_call_id": "0", "tool_name": "NAME", "parameters": {{"ARGUMENT": "VALUE"}}}}]{CLOSE}\n\n'
        "Results come back between <|START_TOOL_RESULT|> and <|END_TOOL_RESULT|>. "
        f"{NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    told = [
        json_text({"tool_call_id": str(number), "tool_name": call.name, "parameters": call.arguments})
        for number, call in enumerate(calls)
    ]
    return f"{OPEN}[{', '.join(told)}]{CLOSE}"


def _write_results(results: Sequence[ToolResult]) -> str:
    told = [
        json_text({"tool_call_id": str(number), "results": {"0": one.text}, "is_error": None})
        for number, one in enumerate(results)
    ]
    return f"<|START_TOOL_RESULT|>[{', '.join(told)}]<|END_TOOL_RESULT|>"


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = (
        *("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
        *("<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    )
    if thought := _THOUGHT.match(reading.text):
        reading.reasoning = thought[1].strip()
        reading.at = thought.end()
        reading.repairs += [] if "<|END_THINKING|>" in thought[0] else ["unclosed-reasoning"]
    seen = thought is not None or any(mark in reading.text for mark in reading.ignored_marks)
    while found := _OPENS.search(reading.text, reading.at):
        reading.add_text(found.start())
        reading.at = found.end()
        _take(reading, found)
        seen = True
    reading.add_rest()
    if seen:
        reading.content = reading.plain_text


def _take(reading: Scanner, found: re.Match[str]) -> None:
    before = len(reading.repairs)
    try:
        value = reading.value()
    except UnreadableValueError:
        value = None
    calls = _calls(value)
    if calls is None:
        after = _OPENS.search(reading.text, found.end())
        reading.at = found.start()
        reading.add_unreadable(after.start() if after else len(reading.text))
        return
    reading.calls += [call for call in calls if call.name not in _ANSWERS]
    if found[0] == OPEN:
        reading.expect_close(CLOSE)
    else:
        # Command R's own way: the list stands in a fence.
        reading.repairs[before:] = [name for name in reading.repairs[before:] if name != "code-fence"]


def _calls(value: Any) -> list[ToolCall] | None:
    """The calls of a list; None where it is none."""
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
    system=_system,
    write_calls=_write_calls,
    write_results=_write_results,
    find=_find,
)
