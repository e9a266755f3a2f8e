"""Finds the format that a model writes by its chat template or its name."""

import re

from wildtool.errors import UsageError, unknown_name
from wildtool.models.tool_formats import CALL_FORMATS
from wildtool.models.tool_formats.format import CallFormat

AUTO = "auto"
BY_OPTION = "by option"
BY_TEMPLATE = "by template"
CHOICE_NOTES = {
    AUTO: ", told by the model's name",
    BY_OPTION: "",
    BY_TEMPLATE: ", told by the marks in it",
}
"""Ways in which a format may have been chosen, as settings name them, and what a user is told of each."""
NAME_PATTERNS = (
    ("gorilla-?openfunctions", "gorilla"),
    ("tool-?llama", "react"),
    ("xlam", "json-list"),
    ("hammer", "hammer"),
    ("toolace|watt-?tool", "pythonic"),
    ("hermes", "hermes"),
    ("gpt-?oss", "harmony"),
    ("kimi-?k2", "kimi"),
    ("minimax-?m3", "minimax-m3"),
    ("minimax-?m2", "minimax"),
    ("lfm-?2", "pythonic"),
    ("functiongemma|gemma-?4", "gemma"),
    ("gemma-?3", "pythonic"),
    ("smollm-?3", "hermes"),
    ("command-?(r|a)|c4ai", "command-r"),
    (r"granite-?4\.[2-9]", "qwen3-coder"),
    ("granite-?3|phi-?4-mini", "granite"),
    (r"deepseek-?v(3\.2(?!-?exp)|4)", "dsml"),
    ("deepseek", "deepseek"),
    (r"qwen-?3-?coder|qwen-?3\.[5-9]|nemotron-?3", "qwen3-coder"),
    ("qwen|qwq|granite-?4", "hermes"),
    ("llama-?4", "pythonic"),
    ("llama-?3", "llama3-json"),
    ("(mis|mix|minis|magis|devs|codes)tral|mistral-?nemo", "mistral"),
    ("glm", "glm"),
)
"""What a name holds, in any case, and the format it then has; the first that fits counts, so what a model was tuned
for stands before what it was tuned from."""

TEMPLATE_MARKS = (
    (r"\]<\]minimax\[>\[", "minimax-m3"),
    ("<minimax:tool_call>", "minimax"),
    (r"<\|tool_call>|<start_function_call>", "gemma"),
    (r"<\|START_ACTION\|>|\bdirectly[-_]answer\b", "command-r"),
    (r"<\|tool_call_start\|>|<\|tool_list_start\|>", "pythonic"),
    (r"<\|tool_call\|>", "granite"),
    ("｜DSML｜", "dsml"),
    (r"<\|tool_call_argument_begin\|>", "kimi"),
    (r"<\|channel\|>", "harmony"),
    (r"<function=[\s\S]{0,500}<parameter=", "qwen3-coder"),
    (r"\[TOOL_CALLS\]", "mistral"),
    ("<｜tool▁call▁begin｜>", "deepseek"),
    ("<arg_key>", "glm"),
    # Marks of formats that are not known here, some of which share a mark with one that is.
    (r"<function=|<tool_calls>|<\|tool_call", None),
    ("<tool_call>", "hermes"),
    (r"\[func_name1\(", "pythonic"),
    (r"<\|python_tag\|>|\"parameters\\?\": dictionary of argument name", "llama3-json"),
    (r"\[\{\\?\"name\\?\": \\?\"tool_call_name", "json-list"),
)
"""What the text of a chat template holds, and the format in which it writes calls; the first that fits counts."""


def format_of_template(template: str) -> CallFormat | None:
    """The format in which a chat template writes calls; None where no known mark stands in it."""
    found = (name for pattern, name in TEMPLATE_MARKS if re.search(pattern, template))
    name = next(found, None)
    return None if name is None else CALL_FORMATS[name]


def resolve_format(wanted: str, model: str) -> CallFormat:
    """The format of that name, or with `auto` the one of the model's name.

    Raises:
        UsageError: no such format, or none is known for the model; the message lists them.
    """
    if wanted != AUTO:
        if wanted not in CALL_FORMATS:
            raise UsageError(unknown_name("format", wanted, (*CALL_FORMATS, AUTO)))
        return CALL_FORMATS[wanted]
    for pattern, name in NAME_PATTERNS:
        if re.search(pattern, model, re.IGNORECASE):
            return CALL_FORMATS[name]
    raise UsageError(
        f"no format is known for a model called {model!r}; name one with --tool-format: {', '.join(CALL_FORMATS)}"
    )
