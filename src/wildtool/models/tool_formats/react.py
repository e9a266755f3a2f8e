"""ReAct as ToolLLaMA writes it: `Thought:`, `Action:` with a name, `Action Input:` with JSON; `Observation:` is ours."""

import re
from collections.abc import Sequence
from typing import Any

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines
from wildtool.models.tool_formats.scanner import Scanner, ToolCall, ToolResult
from wildtool.types import Tool

_ACTION = re.compile(r"^[ \t]*+Action:[ \t]*+(.*+)$", re.MULTILINE)
_INPUT = re.compile(r"\s*+Action Input:\s*+")
_OBSERVATION = re.compile(r"^[ \t]*+Observation:", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*+(?:Thought|Action|Observation|Final Answer|End Action)\b", re.MULTILINE)
_END = re.compile(r"\s*+End Action\b")
_THOUGHT = re.compile(r"\A\s*+Thought:[ \t]*+")
_FINAL = re.compile(r"^[ \t]*+Final Answer:[ \t]*+", re.MULTILINE)
FINISH = "Finish"
"""The action by which ToolLLaMA ends; its `final_answer` is what the user is told."""


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call a tool, reply in these lines and stop after them:\n"
        "Thought: what is known and what is to be done next\nAction: name of the tool\n"
        "Action Input: arguments as one JSON object\n\n"
        "Several calls that do not wait for each other may follow one another. Results come back after Observation:. "
        "To speak to the user, reply with a line Thought: and then Final Answer: what the user is told. "
        f"{NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"Action: {call.name}\nAction Input: {json_text(call.arguments)}" for call in calls)


def _with_text(text: str, calls: str) -> str:
    if not calls:
        return f"Final Answer: {text}"
    return f"Thought: {text}\n{calls}" if text else calls


def _write_results(results: Sequence[ToolResult]) -> str:
    return "\n".join(f"Observation: {result.text}" for result in results)


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    while action := _ACTION.search(reading.text, reading.at):
        if reading.calls and _OBSERVATION.search(reading.text, reading.at, action.start()):
            break
        reading.add_text(action.start())
        reading.at = action.end()
        _take(reading, action[1].strip())
    if reading.calls and _OBSERVATION.search(reading.text, reading.at):
        reading.repairs.append("own-observation")
    reading.add_rest()
    _sort(reading)


def _take(reading: Scanner, name: str) -> None:
    given = _INPUT.match(reading.text, reading.at)
    if given is None:
        reading.repairs.append("missing-arguments")
        _call(reading, name, {})
        return
    reading.at = given.end()
    try:
        value = reading.value()
    except UnreadableValueError:
        following = _NEXT.search(reading.text, reading.at)
        end = following.start() if following else len(reading.text)
        value, reading.at = reading.text[reading.at : end].strip(), end
        reading.repairs.append("unreadable-arguments")
    _call(reading, name, value)
    if ending := _END.match(reading.text, reading.at):
        reading.at = ending.end()


def _call(reading: Scanner, name: str, arguments: Any) -> None:
    match arguments:
        case {"final_answer": str() as answer} if name == FINISH:
            reading.content = answer
        case _:
            reading.calls.append(ToolCall(name, arguments))


def _sort(reading: Scanner) -> None:
    """Tells what the user is told from thoughts: the final answer is, and a thought only where it stands by a call."""
    kept = reading.plain_text
    thought = _THOUGHT.match(kept)
    spoken = kept[thought.end() :] if thought else kept
    final = _FINAL.search(spoken)
    if final and reading.content is None:
        reading.content = spoken[final.end() :].strip()
        spoken = spoken[: final.start()]
    if reading.content is None and reading.calls:
        reading.content = spoken
    elif reading.content is not None and spoken.strip():
        reading.reasoning = spoken.strip()


REACT = CallFormat(
    name="react",
    about="ToolLLaMA: lines Thought:, Action:, Action Input:; what comes back is Observation:",
    source="OpenBMB/ToolBench, toolbench/inference/Prompts/ReAct_prompts.py",
    system=_system,
    write_calls=_write_calls,
    write_results=_write_results,
    find=_find,
    with_text=_with_text,
)
