"""DeepSeek V3.2 and V4: tags marked `｜DSML｜`, in which each argument says whether it is a text."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import Format
from wildtool.models.tool_formats.prompt_text import OTHERWISE, between, json_text
from wildtool.models.tool_formats.scanner import Reading, Result
from wildtool.models.tool_formats.tags import Tags, find_tagged
from wildtool.types import Tool

TAGS = Tags(
    block=("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    also=("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    each=False,
    call=("<｜DSML｜invoke name=", "</｜DSML｜invoke>"),
    argument=("<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    quoted=True,
    lines=False,
    says_text=True,
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
        f"Results come back between <function_results> and </function_results>. {OTHERWISE}"
    )


def _write_results(results: Sequence[Result]) -> str:
    return f"<function_results>\n{between('<result>', '</result>', results)}\n</function_results>"


def _find(reading: Reading, tools: Sequence[Tool]) -> None:
    reading.ignored = ("<｜end▁of▁sentence｜>",)
    find_tagged(reading, tools, TAGS)


DSML = Format(
    name="dsml",
    about='DeepSeek V3.2 and V4: <｜DSML｜invoke name="…"> and <｜DSML｜parameter name="…" string="…">',
    source="deepseek-ai/DeepSeek-V3.2, encoding/encoding_dsv32.py; vLLM's parsers deepseek_v32 and deepseek_v4",
    system=_system,
    write_calls=TAGS.write,
    write_results=_write_results,
    find=_find,
)
