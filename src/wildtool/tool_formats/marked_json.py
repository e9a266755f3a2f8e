"""Formats with calls as JSON behind a mark: Hermes, Mistral, Granite."""

import re
from collections.abc import Sequence

from wildtool.tool_formats import prompt_text
from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.json_calls import find_bare_calls
from wildtool.tool_formats.scanner import Scanner, ToolCall, any_of
from wildtool.types import Tool

HERMES_OPEN, HERMES_CLOSE = "<tool_call>", "</tool_call>"
MISTRAL_MARK = "[TOOL_CALLS]"
GRANITE_MARK = "<|tool_call|>"
_GRANITE_OPENS = any_of(GRANITE_MARK, "<tool_call>")
_MISTRAL_NAME = re.compile(r"\s*+([^\s\[\]{}]++)\s*+(?:\[CALL_ID\]\w*+)?(?:\[ARGS\])?\s*+(?=\{)")
"""Comes before the arguments since version 11 of Mistral's tokenizer."""


def _find_unmarked(scanner: Scanner, *, single: bool = False) -> None:
    """Finds calls in a reply without the format's mark."""
    find_bare_calls(scanner, "arguments", single=single)
    scanner.repairs += ["missing-open-tag"] if scanner.calls else []


def _hermes_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    if HERMES_OPEN not in scanner.text:
        _find_unmarked(scanner, single=True)
        return
    for opening in scanner.each(any_of(HERMES_OPEN)):
        value = scanner.json_block(opening.start(), HERMES_OPEN, HERMES_CLOSE)
        if value is not None:
            scanner.repairs += ["list-of-calls"] if isinstance(value, list) else []
            scanner.expect_close(HERMES_CLOSE)


HERMES = CallFormat(
    name="hermes",
    about="Hermes 2 Pro and 3, Qwen 2.5 and 3: JSON between <tool_call> and </tool_call>",
    source="chat templates of NousResearch/Hermes-2-Pro-Llama-3-8B and Qwen/Qwen2.5-7B-Instruct",
    prompt=prompt_text.format_prompt("hermes"),
    write_calls=prompt_text.each(
        lambda call: f"{HERMES_OPEN}\n{prompt_text.call_json(call)}\n{HERMES_CLOSE}"
    ),
    write_results=prompt_text.results_between("<tool_response>\n", "\n</tool_response>"),
    find=_hermes_find,
)


def _mistral_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    if MISTRAL_MARK not in scanner.text:
        _find_unmarked(scanner)
        return
    for opening in scanner.each(any_of(MISTRAL_MARK)):
        if heading := _MISTRAL_NAME.match(scanner.text, scanner.at):
            scanner.at = heading.end()
            scanner.calls.append(ToolCall(heading[1], scanner.value_or_text(MISTRAL_MARK)))
        elif not scanner.add_calls(scanner.try_value(), "arguments"):
            scanner.read_until(MISTRAL_MARK)
            scanner.reject(opening.start())


MISTRAL = CallFormat(
    name="mistral",
    about='Mistral, Mixtral, Ministral: [TOOL_CALLS] [{"name": …, "arguments": …}]',
    source="mistralai/mistral-common, instruct tokenizers 3 and 11; vLLM's template for Mistral",
    prompt=prompt_text.format_prompt("mistral"),
    write_calls=lambda calls: f"{MISTRAL_MARK} {prompt_text.call_list(calls)}",
    write_results=prompt_text.each(
        lambda result: (
            f"[TOOL_RESULTS] {prompt_text.json_text({'name': result.name, 'content': result.text})} [/TOOL_RESULTS]"
        )
    ),
    find=_mistral_find,
    ignored_marks=("</s>",),
)


def _granite_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    if not _GRANITE_OPENS.search(scanner.text):
        _find_unmarked(scanner)
        return
    for opening in scanner.each(_GRANITE_OPENS):
        if not scanner.add_calls(scanner.try_value(), "arguments"):
            scanner.reject_mark(opening)


GRANITE = CallFormat(
    name="granite",
    about='Granite 3, Phi-4-mini: <|tool_call|>[{"name": …, "arguments": …}]',
    source="vLLM's parser granite; chat templates of ibm-granite/granite-3.3-8b-instruct and "
    "microsoft/Phi-4-mini-instruct",
    prompt=prompt_text.format_prompt("granite"),
    write_calls=lambda calls: f"{GRANITE_MARK}{prompt_text.call_list(calls)}",
    write_results=prompt_text.plain_results,
    find=_granite_find,
    ignored_marks=("<|/tool_call|>", "</tool_call>", "<|end_of_text|>", "<|end|>"),
)
