"""Formats with calls as Python text, `f(a='x', b=[1])`: Pythonic and Gorilla. Nothing is evaluated.

Names need not be valid in Python: tools may be called `get-weather` or `Market Trends API`. An argument that cannot be a
keyword is written as `**{'max price': 5}`.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.json_calls import find_bare_calls
from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.prompt_text import each, format_prompt, function_list, plain_results
from wildtool.tool_formats.scanner import Scanner, ToolCall, any_of
from wildtool.types import Tool

_NAME = r"[^\s()\[\]{}'\"=,;<>]"
_ARGUMENTS = rf"\(\s*+(?:\)|\*\*|{_NAME}++\s*+=)"
_LISTED = re.compile(rf"\s*+({_NAME}(?:[^()\[\]{{}}'\"=,;<>\n]*{_NAME})?)\s*(?=\()")
_IN_LIST = re.compile(rf"\[\s*+(?={_NAME}[^()\[\]{{}}'\"=,;<>\n]*+{_ARGUMENTS})")
_ALONE = re.compile(rf"\s*+(?={_NAME}++{_ARGUMENTS})")
_KEYWORD = re.compile(rf"\s*+({_NAME}++)\s*+=(?!=)")
_PLAIN = re.compile(r"[\w.-]+")
"""Names of arguments that are written as keywords."""
_BETWEEN = re.compile(r"\s*+[,;]?\s*+")
_PYTHON = frozenset({"single-quotes", "python-literal", "trailing-comma"})
"""Not repairs in Python text."""
_LFM_JSON = re.compile(r"<\|tool_call_start\|>\s*+(?:\[\s*+)?\{")
_NOTHING = re.compile(r"\s*+\[\s*+\]\s*+")
GORILLA_MARK = "<<function>>"


def write_call(call: ToolCall) -> str:
    """A call as Python text."""
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return f"{call.name}({arguments!r})"
    arguments = cast("dict[str, Any]", arguments)
    plain = [f"{key}={value!r}" for key, value in arguments.items() if _PLAIN.fullmatch(key)]
    other = {key: value for key, value in arguments.items() if not _PLAIN.fullmatch(key)}
    return f"{call.name}({', '.join([*plain, *([f'**{other!r}'] if other else [])])})"


def write_list(calls: Sequence[ToolCall]) -> str:
    """Calls as a Python list of them."""
    return f"[{', '.join(map(write_call, calls))}]"


def find_lists(scanner: Scanner) -> None:
    """Takes every bracketed list of calls out of the text, or the whole text if it is calls without brackets."""
    if find_alone(scanner, scanner.at):
        scanner.repairs.append("missing-open-tag")
    while opening := _IN_LIST.search(scanner.text, scanner.at):
        scanner.add_text(opening.start())
        if not _take(scanner, opening.end(), "]"):
            # If a call breaks off, what follows cannot be told from its arguments.
            return
    scanner.add_rest()


def find_alone(scanner: Scanner, start: int) -> bool:
    """Takes consecutive calls without brackets; False if there are none."""
    return _ALONE.match(scanner.text, start) is not None and _take(scanner, start, "")


def _take(scanner: Scanner, start: int, closing: str) -> bool:
    try:
        calls, repairs, end = _calls(scanner, start, closing)
    except UnreadableValueError:
        scanner.add_unreadable(len(scanner.text))
        return False
    scanner.calls += calls
    scanner.repairs += repairs
    scanner.at = end
    if scanner.unfence():
        scanner.repairs.append("code-fence")
    return True


def _calls(scanner: Scanner, at: int, closing: str) -> tuple[list[ToolCall], list[str], int]:
    """The calls from there up to the closing bracket, or to the last call if it is missing."""
    calls: list[ToolCall] = []
    repairs: list[str] = []
    text = scanner.text
    while call := _LISTED.match(text, at):
        arguments, at, mended = _arguments(scanner, call.end() + 1)
        repairs += mended
        calls.append(ToolCall(call[1], arguments))
        between = _BETWEEN.match(text, at)
        following = between.end() if between else at
        if closing and text.startswith(closing, following):
            return calls, repairs, following + len(closing)
        if not closing and not _ALONE.match(text, following):
            return calls, repairs, at
        at = following
    if not closing or text[at:].strip() or not calls:
        raise UnreadableValueError
    return calls, [*repairs, "missing-bracket"], len(text)


def _arguments(scanner: Scanner, at: int) -> tuple[dict[str, Any], int, list[str]]:
    """The keyword arguments up to the closing bracket."""
    arguments: dict[str, Any] = {}
    repairs: set[str] = set()
    loose = scanner.lenient
    while True:
        at = loose.after_space(at)
        if scanner.text.startswith(")", at):
            return arguments, at + 1, sorted(repairs - _PYTHON)
        if scanner.text.startswith("**", at):
            value, at, mended = loose.repaired_value(at + 2)
            if not isinstance(value, dict):
                raise UnreadableValueError
            arguments |= cast("dict[str, Any]", value)
        elif keyword := _KEYWORD.match(scanner.text, at):
            arguments[keyword[1]], at, mended = loose.repaired_value(keyword.end())
        elif at >= len(scanner.text) and arguments:
            return arguments, at, sorted(repairs - _PYTHON | {"missing-bracket"})
        else:
            raise UnreadableValueError
        repairs.update(mended)
        at = loose.after_space(at)
        if scanner.text.startswith(",", at):
            at += 1
        elif at < len(scanner.text) and not scanner.text.startswith(")", at):
            raise UnreadableValueError


def _pythonic_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    scanner.ignored_marks = (
        "<|python_start|>",
        "<|python_end|>",
        "<|python_tag|>",
        "<|eom|>",
        "<|eot|>",
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        "<|im_end|>",
    )
    if _NOTHING.fullmatch(scanner.text):
        scanner.repairs.append("empty-list")
        return
    marked, in_list = _LFM_JSON.search(scanner.text), _IN_LIST.search(scanner.text)
    if marked and not (in_list and in_list.start() < marked.start()):
        # LFM2 writes JSON if its prompt asks for it; inside a list the mark is an argument's.
        find_bare_calls(scanner, "arguments")
        return
    find_lists(scanner)
    if "<|tool_call_start|>" in scanner.text:
        # LFM2 writes objects as JSON within its calls, and may write text beside them.
        scanner.repairs = [name for name in scanner.repairs if name != "json-literal"]
    else:
        scanner.expect_nothing_else()


PYTHONIC = CallFormat(
    name="pythonic",
    about="Llama 4, LFM2, ToolACE, Watt-tool: the reply is [f(a='x'), g(b=1)]",
    source="chat template of meta-llama/Llama-4-Scout-17B-16E-Instruct; model cards of Team-ACE/ToolACE-8B, "
    "watt-ai/watt-tool-8B and LiquidAI/LFM2-1.2B-Tool",
    prompt=format_prompt("pythonic"),
    show_tools=function_list,
    write_calls=write_list,
    write_results=plain_results,
    find=_pythonic_find,
)


def _gorilla_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    if GORILLA_MARK not in scanner.text:
        if find_alone(scanner, 0):
            scanner.repairs.append("missing-open-tag")
        scanner.add_rest()
        return
    for opening in scanner.each(any_of(GORILLA_MARK)):
        # Calls that cannot be read stay in the text with their mark.
        scanner.at = opening.start()
        if find_alone(scanner, opening.end()):
            scanner.accept(",")
        elif scanner.at == opening.start():
            # No call follows the mark.
            scanner.reject_mark(opening)
    scanner.expect_nothing_else()


GORILLA = CallFormat(
    name="gorilla",
    about="Gorilla OpenFunctions: <<function>>f(a='x')<<function>>g(b=1)",
    source="ShishirPatil/gorilla, openfunctions/README.md; model card of gorilla-llm/gorilla-openfunctions-v2",
    prompt=format_prompt("gorilla"),
    show_tools=function_list,
    write_calls=each(lambda call: f"{GORILLA_MARK}{write_call(call)}", between=""),
    write_results=plain_results,
    find=_gorilla_find,
)
