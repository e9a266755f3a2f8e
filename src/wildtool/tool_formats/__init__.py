"""The formats in which models without native calls write them, one module for each kind."""

from collections.abc import Mapping

from wildtool.tool_formats.command_r import COMMAND_R
from wildtool.tool_formats.format import REPAIRS, CallFormat
from wildtool.tool_formats.gemma import GEMMA
from wildtool.tool_formats.glm import GLM
from wildtool.tool_formats.harmony import HARMONY
from wildtool.tool_formats.json_calls import HAMMER, JSON_LIST, LLAMA3_JSON
from wildtool.tool_formats.marked_json import GRANITE, HERMES, MISTRAL
from wildtool.tool_formats.minimax_m3 import MINIMAX_M3
from wildtool.tool_formats.python_calls import GORILLA, PYTHONIC
from wildtool.tool_formats.react import REACT
from wildtool.tool_formats.scanner import ParsedReply, ToolCall, ToolResult
from wildtool.tool_formats.section_calls import DEEPSEEK, KIMI
from wildtool.tool_formats.xml_calls import DSML, MINIMAX, QWEN3_CODER

__all__ = ["CALL_FORMATS", "REPAIRS", "CallFormat", "ParsedReply", "ToolCall", "ToolResult"]

CALL_FORMATS: Mapping[str, CallFormat] = {
    call_format.name: call_format
    for call_format in (
        HERMES,
        LLAMA3_JSON,
        PYTHONIC,
        JSON_LIST,
        HAMMER,
        MISTRAL,
        DEEPSEEK,
        GLM,
        GORILLA,
        REACT,
        QWEN3_CODER,
        MINIMAX,
        DSML,
        KIMI,
        HARMONY,
        MINIMAX_M3,
        GEMMA,
        GRANITE,
        COMMAND_R,
    )
}
"""All formats by name."""
