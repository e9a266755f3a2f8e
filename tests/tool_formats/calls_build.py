"""Calls of every kind, and texts made of the pieces that formats look for."""

from typing import Any

from hypothesis import strategies as st

from wildtool.json_codec import dumps
from wildtool.tool_formats import CALL_FORMATS, CallFormat, ToolCall

ANY_NAME = ("hermes", "llama3-json", "json-list", "hammer", "mistral")
"""Formats that write a name as a JSON text."""
MARKS = (
    "<tool_call>",
    "</tool_call>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "function",
    "<function=f>",
    "</function>",
    "<parameter=a>",
    "</parameter>",
    "<minimax:tool_call>",
    '<invoke name="f">',
    '<parameter name="a">',
    "</invoke>",
    "<｜DSML｜function_calls>",
    '<｜DSML｜invoke name="f">',
    '<｜DSML｜parameter name="a" string="true">',
    "</｜DSML｜parameter>",
    "</｜DSML｜tool_calls>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "functions.f:0",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|start|>assistant",
    "<|channel|>commentary to=functions.f",
    "<|constrain|>json",
    "<|channel|>analysis",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    " to=functions.f",
    "]<]minimax[>[",
    "]<]minimax[>[<a>",
    "]<]minimax[>[</a>",
    "<item>",
    "<mm:think>",
    "</mm:think>",
    "<|tool_call>call:f{",
    "<tool_call|>",
    '<|"|>',
    "<escape>",
    "<start_function_call>",
    "<|channel>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "<|START_THINKING|>",
    "\nAction:```json\n",
    "<|tool_call|>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    '{"tool_name":"f","parameters":{}}',
    "[TOOL_CALLS]",
    "[ARGS]",
    "<<function>>",
    "<|python_tag|>",
    "<think>",
    "</think>",
    "</think>\n",
    "\nAction: f",
    "\nAction Input: ",
    "\nObservation: x",
    "Final Answer: x",
    "Thought: ",
    "End Action",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    '"',
    "'",
    "\\",
    ",",
    ":",
    "=",
    "**",
    "```",
    "```json\n",
    "\n",
    " ",
    '{"name":"f","arguments":{"a":1}}',
    "[f(a=1)]",
    "f(",
    '"name":',
    "True",
    "null",
    "12",
    "1e999",
    "NaN",
    "\\u4e2d",
    "\\ud83d",
    "中文",
    "🎫",
    "9" * 5000,
)

sound_text = st.text(st.characters(exclude_categories=["Cs"]))
text = st.lists(sound_text | st.sampled_from(MARKS[:-1]), max_size=4).map("".join)
value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(text, part, max_size=4),
    max_leaves=12,
)
plain_name = st.from_regex(r"\w(?:[\w.:/-]{0,20}\w)?", fullmatch=True)
hostile = st.lists(st.text() | st.sampled_from([*MARKS, "\ud800"]), max_size=25).map("".join)


NamedCall = tuple[str, str, dict[str, Any]]
"""A call with two names, any text and a plain one, and its arguments."""
named_calls = st.lists(
    st.tuples(text, plain_name, st.dictionaries(text, value, max_size=4)), min_size=1, max_size=3
)


def calls_of(format: CallFormat, drawn: list[NamedCall]) -> list[ToolCall]:
    """The calls by those names that the format can write."""
    return [ToolCall(name if format.name in ANY_NAME else plain, given) for name, plain, given in drawn]


def exact(calls: object) -> list[tuple[str, bytes]]:
    """Names and arguments so that 1, 1.0 and True differ and the order of keys does not matter."""
    return [(call.name, dumps(_sorted(call.arguments))) for call in calls]  # type: ignore[attr-defined]


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return [{key: _sorted(value[key])} for key in sorted(value)]
    return [_sorted(part) for part in value] if isinstance(value, list) else value


every_format = list(CALL_FORMATS.values())
