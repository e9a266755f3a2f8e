"""Qwen3-Coder: `<function=name>` with `<parameter=key>` tags inside `<tool_call>`; Qwen3.5 and Nemotron 3 too."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, tool_lines, wrap_results
from wildtool.models.tool_formats.tags import TagSyntax, find_tagged
from wildtool.types import Tool

TAGS = TagSyntax(
    block=("<tool_call>", "</tool_call>"),
    block_per_call=True,
    call=("<function=", "</function>"),
    argument=("<parameter=", "</parameter>"),
    quoted=False,
    lines=True,
    python_literals=True,
)


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"# Tools\nThese functions can be called, each described by one JSON object:\n<tools>\n{tool_lines(tools)}\n"
        "</tools>\n\nTo call functions, end the reply with one such block for each call:\n"
        "<tool_call>\n<function=NAME>\n<parameter=ARGUMENT>\nVALUE\n</parameter>\n</function>\n</tool_call>\n\n"
        "A value may have several lines; texts stand without quotes, other values as JSON. Calls of one reply are made "
        f"at once; each result comes back between <tool_response> and </tool_response>. {NO_CALL_TEXT}"
    )


QWEN3_CODER = CallFormat(
    name="qwen3-coder",
    about="Qwen3-Coder, Qwen3.5, Nemotron 3: <function=…> and <parameter=…> between <tool_call> and </tool_call>",
    source="chat template of Qwen/Qwen3-Coder-30B-A3B-Instruct; vLLM's parser qwen3_coder",
    system=_system,
    write_calls=TAGS.write,
    write_results=lambda results: wrap_results("<tool_response>\n", "\n</tool_response>", results),
    find=lambda reading, tools: find_tagged(reading, tools, TAGS),
)
