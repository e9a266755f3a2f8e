"""Formats with a tag around each call and each argument: Qwen3-Coder, MiniMax M2, and DeepSeek's DSML."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines, wrap_results
from wildtool.models.tool_formats.scanner import Scanner, ToolResult
from wildtool.models.tool_formats.tags import TagSyntax, find_tagged
from wildtool.types import Tool

QWEN_TAGS = TagSyntax(
    block=("<tool_call>", "</tool_call>"),
    block_per_call=True,
    call=("<function=", "</function>"),
    argument=("<parameter=", "</parameter>"),
    quoted=False,
    lines=True,
    python_literals=True,
)


def _qwen_system(tools: Sequence[Tool]) -> str:
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
    system=_qwen_system,
    write_calls=QWEN_TAGS.write,
    write_results=lambda results: wrap_results("<tool_response>\n", "\n</tool_response>", results),
    find=lambda scanner, tools: find_tagged(scanner, tools, QWEN_TAGS),
)


MINIMAX_TAGS = TagSyntax(
    block=("<minimax:tool_call>", "</minimax:tool_call>"),
    block_per_call=False,
    call=("<invoke name=", "</invoke>"),
    argument=("<parameter name=", "</parameter>"),
    quoted=True,
    lines=False,
)


def _minimax_system(tools: Sequence[Tool]) -> str:
    written = "\n".join(f"<tool>{json_text(tool.get('function', tool))}</tool>" for tool in tools)
    return (
        f"# Tools\nThese tools can be called:\n<tools>\n{written}\n</tools>\n\n"
        "To call tools, write one block that holds all calls that can be made now:\n"
        '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="ARGUMENT">VALUE</parameter>\n</invoke>\n'
        "</minimax:tool_call>\n\n"
        "Texts stand without quotes, other values as JSON. Results come back between <response> and </response>. "
        f"{NO_CALL_TEXT}"
    )


MINIMAX = CallFormat(
    name="minimax",
    about='MiniMax M2 and M2.5: <invoke name="…"> and <parameter name="…"> in one <minimax:tool_call>',
    source="MiniMax-AI/MiniMax-M2.5, docs/tool_calling_guide.md; chat template of MiniMaxAI/MiniMax-M2",
    system=_minimax_system,
    write_calls=MINIMAX_TAGS.write,
    write_results=lambda results: wrap_results("<response>", "</response>", results),
    find=lambda scanner, tools: find_tagged(scanner, tools, MINIMAX_TAGS),
)


DSML_TAGS = TagSyntax(
    block=("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    alternative_block=("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    block_per_call=False,
    call=("<｜DSML｜invoke name=", "</｜DSML｜invoke>"),
    argument=("<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    quoted=True,
    lines=False,
    marks_strings=True,
)


def _dsml_system(tools: Sequence[Tool]) -> str:
    written = "\n".join(json_text(tool.get("function", tool)) for tool in tools)
    return (
        f"## Tools\nThese functions can be called, one JSON object each:\n<functions>\n{written}\n</functions>\n\n"
        "To call functions, end the reply with one block that holds all calls that can be made now:\n"
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">\n'
        '<｜DSML｜parameter name="ARGUMENT" string="true|false">VALUE</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>\n\n"
        'Texts have string="true" and stand without quotes; other values have string="false" and stand as JSON. '
        f"Results come back between <function_results> and </function_results>. {NO_CALL_TEXT}"
    )


def _dsml_write_results(results: Sequence[ToolResult]) -> str:
    return f"<function_results>\n{wrap_results('<result>', '</result>', results)}\n</function_results>"


def _dsml_find(scanner: Scanner, tools: Sequence[Tool]) -> None:
    scanner.ignored_marks = ("<｜end▁of▁sentence｜>",)
    find_tagged(scanner, tools, DSML_TAGS)


DSML = CallFormat(
    name="dsml",
    about='DeepSeek V3.2 and V4: <｜DSML｜invoke name="…"> and <｜DSML｜parameter name="…" string="…">',
    source="deepseek-ai/DeepSeek-V3.2, encoding/encoding_dsv32.py; vLLM's parsers deepseek_v32 and deepseek_v4",
    system=_dsml_system,
    write_calls=DSML_TAGS.write,
    write_results=_dsml_write_results,
    find=_dsml_find,
)
