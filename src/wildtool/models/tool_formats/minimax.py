"""MiniMax M2: `<invoke name="…">` with `<parameter name="…">` tags, all calls in one `<minimax:tool_call>`."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, wrap_results
from wildtool.models.tool_formats.tags import TagSyntax, find_tagged
from wildtool.types import Tool

TAGS = TagSyntax(
    block=("<minimax:tool_call>", "</minimax:tool_call>"),
    block_per_call=False,
    call=("<invoke name=", "</invoke>"),
    argument=("<parameter name=", "</parameter>"),
    quoted=True,
    lines=False,
)


def _system(tools: Sequence[Tool]) -> str:
    told = "\n".join(f"<tool>{json_text(tool.get('function', tool))}</tool>" for tool in tools)
    return (
        f"# Tools\nThese tools can be called:\n<tools>\n{told}\n</tools>\n\n"
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
    system=_system,
    write_calls=TAGS.write,
    write_results=lambda results: wrap_results("<response>", "</response>", results),
    find=lambda reading, tools: find_tagged(reading, tools, TAGS),
)
