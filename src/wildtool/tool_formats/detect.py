"""Finds the format of a model by its chat template or its name."""

import re

from wildtool.errors import UsageError, unknown_name
from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.format import CallFormat

AUTO = "auto"
BY_OPTION = "by option"
BY_TEMPLATE = "by template"
BY_DEFAULT = "by default"
COMMONEST = "hermes"
"""What `auto` sends to a model of an unknown name: the format that most models were trained on or know."""
CHOICE_NOTES = {
    AUTO: ", chosen by the model's name",
    BY_DEFAULT: ", the commonest, since the model's name tells none (others: `wildtool list formats`)",
    BY_OPTION: "",
    BY_TEMPLATE: ", chosen by the marks in it",
}
"""How a format was chosen, as settings name it, and the note for the user."""
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
"""Patterns of names, in any case, and their format. The first match counts, so fine-tuned models come before the models
that they were made from."""

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
    # Marks of unsupported formats, some of which share a mark with a supported one.
    (r"<function=|<tool_calls>|<\|tool_call", None),
    ("<tool_call>", "hermes"),
    (r"\[func_name1\(", "pythonic"),
    (r"<\|python_tag\|>|\"parameters\\?\": dictionary of argument name", "llama3-json"),
    (r"\[\{\\?\"name\\?\": \\?\"tool_call_name", "json-list"),
)
"""Patterns of chat templates, and the format in which they write calls. The first match counts."""


def format_of_template(template: str) -> CallFormat | None:
    """The format in which a chat template writes calls; None without a known mark."""
    names = (name for pattern, name in TEMPLATE_MARKS if re.search(pattern, template))
    name = next(names, None)
    return None if name is None else CALL_FORMATS[name]


def known_format(model: str) -> str | None:
    """The name of the format that models of such a name write; None where none is known."""
    return next((name for pattern, name in NAME_PATTERNS if re.search(pattern, model, re.IGNORECASE)), None)


def resolve_format(wanted: str, model: str) -> tuple[CallFormat, str]:
    """The format of that name, or with `auto` that of the model's name, and how it was chosen, as settings name it.

    The prompt describes the format, so a model of an unknown name can be sent the commonest one.

    Raises UsageError where there is no such format; the message lists them.
    """
    if wanted != AUTO:
        return named_format(wanted), BY_OPTION
    known = known_format(model)
    return CALL_FORMATS[known or COMMONEST], AUTO if known else BY_DEFAULT


def named_format(name: str) -> CallFormat:
    """The format of that name. Raises UsageError where there is none; the message lists them."""
    if name not in CALL_FORMATS:
        raise UsageError(unknown_name("format", name, (*CALL_FORMATS, AUTO)))
    return CALL_FORMATS[name]
