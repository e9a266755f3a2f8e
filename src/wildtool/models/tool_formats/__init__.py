"""How models without native calls write them, one small module each."""

from collections.abc import Mapping

from wildtool.models.tool_formats.command_r import COMMAND_R
from wildtool.models.tool_formats.deepseek import DEEPSEEK
from wildtool.models.tool_formats.dsml import DSML
from wildtool.models.tool_formats.format import REPAIRS, CallFormat
from wildtool.models.tool_formats.gemma import GEMMA
from wildtool.models.tool_formats.glm import GLM
from wildtool.models.tool_formats.gorilla import GORILLA
from wildtool.models.tool_formats.granite import GRANITE
from wildtool.models.tool_formats.hammer import HAMMER
from wildtool.models.tool_formats.harmony import HARMONY
from wildtool.models.tool_formats.hermes import HERMES
from wildtool.models.tool_formats.json_list import JSON_LIST
from wildtool.models.tool_formats.kimi import KIMI
from wildtool.models.tool_formats.llama3_json import LLAMA3_JSON
from wildtool.models.tool_formats.minimax import MINIMAX
from wildtool.models.tool_formats.minimax_m3 import MINIMAX_M3
from wildtool.models.tool_formats.mistral import MISTRAL
from wildtool.models.tool_formats.pythonic import PYTHONIC
from wildtool.models.tool_formats.qwen3_coder import QWEN3_CODER
from wildtool.models.tool_formats.react import REACT
from wildtool.models.tool_formats.scanner import ParsedReply, ToolCall, ToolResult

__all__ = ["CALL_FORMATS", "REPAIRS", "CallFormat", "ParsedReply", "ToolCall", "ToolResult"]

CALL_FORMATS: Mapping[str, CallFormat] = {
    known.name: known
    for known in (
        *(HERMES, LLAMA3_JSON, PYTHONIC, JSON_LIST, HAMMER),
        *(MISTRAL, DEEPSEEK, GLM, GORILLA, REACT),
        *(QWEN3_CODER, MINIMAX, DSML, KIMI, HARMONY),
        *(MINIMAX_M3, GEMMA, GRANITE, COMMAND_R),
    )
}
"""All formats by name."""
