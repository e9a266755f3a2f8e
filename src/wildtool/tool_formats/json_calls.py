"""Formats with calls as plain JSON: xLAM, Hammer, Llama 3. Also finds such calls anywhere in a text."""

import re
from collections.abc import Sequence
from typing import Any, cast

from wildtool.tool_formats import prompt_text
from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.lenient_json import UnreadableValueError
from wildtool.tool_formats.scanner import Scanner
from wildtool.types import Tool

_START = re.compile(r"\[\s*+\{|\{\s*+[\"'}a-z]")
_LIKE_A_CALL = re.compile(r"[\[{\s]{0,20}+[\"']?(?:name|tool_calls|function)[\"']?\s*+:")
_NEXT = re.compile(r"\s*+[;,]?\s*+(?=[\[{]|\Z)")
_NOTHING = re.compile(r"\s*+(?:```\w*\s*+)?\[\s*+\]\s*+(?:```)?\s*+")


def find_bare_calls(scanner: Scanner, key: str, *, single: bool = False) -> None:
    """Takes every JSON object or list of calls out of the rest of the text.

    Args:
        key: what the format calls the arguments.
        single: whether the format has one object after another, so that a list is a repair.
    """
    if _NOTHING.fullmatch(scanner.text, scanner.at):
        scanner.repairs.append("empty-list")
        scanner.at = len(scanner.text)
        return
    start = scanner.at
    # An object with only a name is a call only if it is the whole reply.
    span = (len(scanner.text) - len(scanner.text.lstrip()), len(scanner.text.rstrip()))
    while candidate := _START.search(scanner.text, start):
        try:
            value, end, repairs = scanner.value_at(candidate.start())
        except UnreadableValueError:
            if not _LIKE_A_CALL.match(scanner.text, candidate.start()):
                start = candidate.end()
            elif candidate[0].startswith("["):
                # Calls in a list that breaks off may still be complete.
                start = candidate.end() - 1
            else:
                scanner.add_unreadable(len(scanner.text))
                return
            continue
        start, count = end, len(scanner.calls)
        _take(scanner, value, key, candidate.start(), end, (candidate.start(), end) == span)
        if len(scanner.calls) > count:
            scanner.repairs += [*repairs, *(["list-of-calls"] if single and isinstance(value, list) else [])]
    scanner.add_rest()


def _take(scanner: Scanner, value: Any, key: str, start: int, end: int, alone: bool) -> None:
    """Takes the calls in a value, with the fence around it; any other value stays text."""
    wrapped = cast("dict[str, Any]", value).get("tool_calls") if isinstance(value, dict) else None
    if not scanner.add_calls(value if wrapped is None else wrapped, key, needs_arguments=not alone):
        if _LIKE_A_CALL.match(scanner.text, start):
            scanner.repairs.append("unreadable-call")
        return
    scanner.add_text(start)
    scanner.at = end
    if scanner.unfence():
        scanner.repairs.append("code-fence")
    if following := _NEXT.match(scanner.text, scanner.at):
        scanner.at = following.end()


def _list_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    find_bare_calls(scanner, "arguments")
    scanner.expect_nothing_else()


JSON_LIST = CallFormat(
    name="json-list",
    about='xLAM: the reply is [{"name": …, "arguments": …}, …]; the older {"tool_calls": […]} is read too',
    source="chat template of Salesforce/Llama-xLAM-2-8b-fc-r; model card of Salesforce/xLAM-7b-fc-r",
    prompt=prompt_text.format_prompt("json-list"),
    write_calls=prompt_text.call_list,
    write_results=prompt_text.plain_results,
    find=_list_find,
)


def _hammer_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    _list_find(scanner, tools)
    scanner.repairs = [name for name in scanner.repairs if name != "code-fence"]


HAMMER = CallFormat(
    name="hammer",
    about='Hammer 2: the reply is a fenced list ```[{"name": …, "arguments": …}]```',
    source="chat template and model card of MadeAgents/Hammer2.1-7b",
    prompt=prompt_text.format_prompt("hammer"),
    show_tools=prompt_text.function_list,
    write_calls=lambda calls: f"```\n{prompt_text.call_list(calls)}\n```",
    write_results=prompt_text.plain_results,
    find=_hammer_find,
)


def _llama3_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    find_bare_calls(scanner, "parameters", single=True)
    scanner.expect_nothing_else()


LLAMA3_JSON = CallFormat(
    name="llama3-json",
    about='Llama 3.1, 3.2 and 3.3: the reply is {"name": …, "parameters": …}',
    source="chat template of meta-llama/Llama-3.1-8B-Instruct; Meta's page on prompt formats of Llama 3.1",
    prompt=prompt_text.format_prompt("llama3-json"),
    write_calls=prompt_text.each(lambda call: prompt_text.call_json(call, "parameters")),
    write_results=prompt_text.plain_results,
    find=_llama3_find,
    ignored_marks=("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"),
)
