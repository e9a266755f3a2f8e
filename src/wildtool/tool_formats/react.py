"""ReAct as ToolLLaMA writes it: `Thought:`, `Action:` with a name, `Action Input:` with JSON, `Observation:`."""

import re
from collections.abc import Sequence
from typing import Any

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.prompt_text import each, format_prompt, json_text, results_between
from wildtool.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

_ACTION = re.compile(r"^[ \t]*+Action:[ \t]*+(.*+)$", re.MULTILINE)
_INPUT = re.compile(r"\s*+Action Input:\s*+")
_OBSERVATION = re.compile(r"^[ \t]*+Observation:", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*+(?:Thought|Action|Observation|Final Answer|End Action)\b", re.MULTILINE)
_END = re.compile(r"\s*+End Action\b")
_THOUGHT = re.compile(r"\A\s*+Thought:[ \t]*+")
_FINAL = re.compile(r"^[ \t]*+Final Answer:[ \t]*+", re.MULTILINE)
FINISH = "Finish"
"""The action with which ToolLLaMA ends; its `final_answer` is the text for the user."""


def _with_text(text: str, calls: str) -> str:
    if not calls:
        return f"Final Answer: {text}"
    return f"Thought: {text}\n{calls}" if text else calls


def _find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    while action := _ACTION.search(scanner.text, scanner.at):
        if scanner.calls and _OBSERVATION.search(scanner.text, scanner.at, action.start()):
            break
        scanner.add_text(action.start())
        scanner.at = action.end()
        if name := action[1].strip():
            _take(scanner, name)
        else:
            scanner.reject(action.start())
    if _OBSERVATION.search(scanner.text, scanner.at):
        scanner.repairs.append("own-observation")
    scanner.add_rest()
    _sort(scanner)


def _take(scanner: Scanner, name: str) -> None:
    label = _INPUT.match(scanner.text, scanner.at)
    if label is None:
        scanner.repairs.append("missing-arguments")
        _call(scanner, name, {})
        return
    scanner.at = label.end()
    try:
        value = scanner.value()
    except UnreadableValueError:
        following = _NEXT.search(scanner.text, scanner.at)
        end = following.start() if following else len(scanner.text)
        value, scanner.at = scanner.text[scanner.at : end].strip(), end
        scanner.repairs.append("unreadable-arguments")
    _call(scanner, name, value)
    if ending := _END.match(scanner.text, scanner.at):
        scanner.at = ending.end()


def _call(scanner: Scanner, name: str, arguments: Any) -> None:
    match arguments:
        case {"final_answer": str() as answer} if name == FINISH:
            scanner.content = answer
        case _:
            scanner.calls.append(ToolCall(name, arguments))


def _sort(scanner: Scanner) -> None:
    """Separates text for the user from thoughts: the final answer is text, and so is a thought beside a call."""
    plain = scanner.plain_text
    thought = _THOUGHT.match(plain)
    spoken = plain[thought.end() :] if thought else plain
    final = _FINAL.search(spoken)
    if final and scanner.content is None:
        scanner.content = spoken[final.end() :].strip()
        spoken = spoken[: final.start()]
    if scanner.content is None and scanner.calls:
        scanner.content = spoken
    elif scanner.content is not None and spoken.strip():
        scanner.reasoning = spoken.strip()


REACT = CallFormat(
    name="react",
    about="ToolLLaMA: lines Thought:, Action:, Action Input:; what comes back is Observation:",
    source="OpenBMB/ToolBench, toolbench/inference/Prompts/ReAct_prompts.py",
    prompt=format_prompt("react"),
    write_calls=each(lambda call: f"Action: {call.name}\nAction Input: {json_text(call.arguments)}"),
    write_results=results_between("Observation: ", ""),
    find=_find,
    with_text=_with_text,
)
