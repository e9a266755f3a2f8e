"""Pythonic: calls as a list of Python calls, `[f(a='x'), g()]`."""

import re
from collections.abc import Sequence

from wildtool.models.tool_formats.bare_json import find_bare_calls
from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, function_list, plain_results
from wildtool.models.tool_formats.python_calls import find_lists, write_list
from wildtool.models.tool_formats.scanner import Scanner
from wildtool.types import Tool

_JSON = re.compile(r"<\|tool_call_start\|>\s*+(?:\[\s*+)?\{")
_NOTHING = re.compile(r"\s*+\[\s*+\]\s*+")


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"These functions can be called, given as a JSON list:\n{function_list(tools)}\n\n"
        "To call functions, reply with nothing but a list of calls in Python's syntax, with every argument named: "
        "[func_name1(param1=value1, param2=value2), func_name2(param=value)]. Calls of one list are made at once. "
        f"{NO_CALL_TEXT}"
    )


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = (
        *("<|python_start|>", "<|python_end|>", "<|python_tag|>", "<|eom|>", "<|eot|>"),
        *("<|tool_call_start|>", "<|tool_call_end|>", "<|im_end|>"),
    )
    if _NOTHING.fullmatch(reading.text):
        reading.repairs.append("empty-list")
        return
    if _JSON.search(reading.text):
        # LFM2 writes JSON where its prompt asks for it.
        find_bare_calls(reading, "arguments")
        return
    find_lists(reading)
    if "<|tool_call_start|>" in reading.text:
        # LFM2 writes objects as JSON within its calls, and may say something beside them.
        reading.repairs = [name for name in reading.repairs if name != "json-literal"]
    else:
        reading.expect_nothing_else()


PYTHONIC = CallFormat(
    name="pythonic",
    about="Llama 4, LFM2, ToolACE, Watt-tool: the reply is [f(a='x'), g(b=1)]",
    source="chat template of meta-llama/Llama-4-Scout-17B-16E-Instruct; model cards of Team-ACE/ToolACE-8B, "
    "watt-ai/watt-tool-8B and LiquidAI/LFM2-1.2B-Tool",
    system=_system,
    write_calls=write_list,
    write_results=plain_results,
    find=_find,
)
