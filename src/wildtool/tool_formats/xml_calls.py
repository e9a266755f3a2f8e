"""Formats with a tag around each call and each argument: Qwen3-Coder, MiniMax M2, and DeepSeek's DSML."""

from collections.abc import Sequence

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.prompt_text import format_prompt, function_lines, results_between, tagged_functions
from wildtool.tool_formats.scanner import ToolResult
from wildtool.tool_formats.tags import TagSyntax

QWEN_TAGS = TagSyntax(
    opening=("<tool_call>",),
    closing=("</tool_call>",),
    block_per_call=True,
    call=("<function=", "</function>"),
    argument=("<parameter=", "</parameter>"),
    quoted=False,
    lines=True,
    python_literals=True,
)


QWEN3_CODER = CallFormat(
    name="qwen3-coder",
    about="Qwen3-Coder, Qwen3.5, Nemotron 3: <function=…> and <parameter=…> between <tool_call> and </tool_call>",
    source="chat template of Qwen/Qwen3-Coder-30B-A3B-Instruct; vLLM's parser qwen3_coder",
    prompt=format_prompt("qwen3-coder"),
    write_calls=QWEN_TAGS.write,
    write_results=results_between("<tool_response>\n", "\n</tool_response>"),
    find=QWEN_TAGS.find,
)


MINIMAX_TAGS = TagSyntax(
    opening=("<minimax:tool_call>",),
    closing=("</minimax:tool_call>",),
    block_per_call=False,
    call=("<invoke name=", "</invoke>"),
    argument=("<parameter name=", "</parameter>"),
    quoted=True,
    lines=False,
)


MINIMAX = CallFormat(
    name="minimax",
    about='MiniMax M2 and M2.5: <invoke name="…"> and <parameter name="…"> in one <minimax:tool_call>',
    source="MiniMax-AI/MiniMax-M2.5, docs/tool_calling_guide.md; chat template of MiniMaxAI/MiniMax-M2",
    prompt=format_prompt("minimax"),
    show_tools=tagged_functions,
    write_calls=MINIMAX_TAGS.write,
    write_results=results_between("<response>", "</response>"),
    find=MINIMAX_TAGS.find,
)


DSML_TAGS = TagSyntax(
    opening=("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"),
    closing=("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"),
    block_per_call=False,
    call=("<｜DSML｜invoke name=", "</｜DSML｜invoke>"),
    argument=("<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    quoted=True,
    lines=False,
    marks_strings=True,
)


def _dsml_write_results(results: Sequence[ToolResult]) -> str:
    return f"<function_results>\n{results_between('<result>', '</result>')(results)}\n</function_results>"


DSML = CallFormat(
    name="dsml",
    about='DeepSeek V3.2 and V4: <｜DSML｜invoke name="…"> and <｜DSML｜parameter name="…" string="…">',
    source="deepseek-ai/DeepSeek-V3.2, encoding/encoding_dsv32.py; vLLM's parsers deepseek_v32 and deepseek_v4",
    prompt=format_prompt("dsml"),
    show_tools=function_lines,
    write_calls=DSML_TAGS.write,
    write_results=_dsml_write_results,
    find=DSML_TAGS.find,
    ignored_marks=("<｜end▁of▁sentence｜>",),
)
