"""DeepSeek V3.2 and V4: tags marked `｜DSML｜`, in which each argument says whether it is a text."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, wrap_results
from wildtool.models.tool_formats.scanner import Scanner, ToolResult
from wildtool.models.tool_formats.tags import TagSyntax, find_tagged
from wildtool.types import Tool

TAGS = TagSyntax(
    block=("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    alternative_block=("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    block_per_call=False,
    call=("<｜DSML｜invoke name=", "</｜DSML｜invoke>"),
    argument=("<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    quoted=True,
    lines=False,
    marks_strings=True,
)


def _system(tools: Sequence[Tool]) -> str:
    told = "\n".join(json_text(tool.get("function", tool)) for tool in tools)
    return (
        f"## Tools\nThese functions can be called, one JSON object each:\n<functions>\n{told}\n</functions>\n\n"
        "To call functions, end the reply with one block that holds all calls that can be made now:\n"
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">\n'
        '<｜DSML｜parameter name="ARGUMENT" string="true|false">VALUE</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>\n\n"
        'Texts have string="true" and stand without quotes; other values have string="false" and stand as JSON. '
        f"Results come back between <function_results> and </function_results>. {NO_CALL_TEXT}"
    )


def _write_results(results: Sequence[ToolResult]) -> str:
    return f"<function_results>\n{wrap_results('<result>', '</result>', results)}\n</function_results>"


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = ("<｜end▁of▁sentence｜>",)
    find_tagged(reading, tools, TAGS)


DSML = CallFormat(
    name="dsml",
    about='DeepSeek V3.2 and V4: <｜DSML｜invoke name="…"> and <｜DSML｜parameter name="…" string="…">',
    source="deepseek-ai/DeepSeek-V3.2, encoding/encoding_dsv32.py; vLLM's parsers deepseek_v32 and deepseek_v4",
    system=_system,
    write_calls=TAGS.write,
    write_results=_write_results,
    find=_find,
)
