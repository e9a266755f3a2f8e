"""How models without native calls write them, one small module each."""

from collections.abc import Mapping

from wildtool.models.formats.command_r import COMMAND_R
from wildtool.models.formats.deepseek import DEEPSEEK
from wildtool.models.formats.dsml import DSML
from wildtool.models.formats.gemma import GEMMA
from wildtool.models.formats.glm import GLM
from wildtool.models.formats.gorilla import GORILLA
from wildtool.models.formats.granite import GRANITE
from wildtool.models.formats.hammer import HAMMER
from wildtool.models.formats.harmony import HARMONY
from wildtool.models.formats.hermes import HERMES
from wildtool.models.formats.json_list import JSON_LIST
from wildtool.models.formats.kimi import KIMI
from wildtool.models.formats.llama3_json import LLAMA3_JSON
from wildtool.models.formats.minimax import MINIMAX
from wildtool.models.formats.minimax_m3 import MINIMAX_M3
from wildtool.models.formats.mistral import MISTRAL
from wildtool.models.formats.pythonic import PYTHONIC
from wildtool.models.formats.qwen3_coder import QWEN3_CODER
from wildtool.models.formats.react import REACT
from wildtool.models.formats.shape import REPAIRS, Format
from wildtool.models.formats.written import Read, Result, ToolCall

__all__ = ["FORMATS", "REPAIRS", "Format", "Read", "Result", "ToolCall"]

FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        *(HERMES, LLAMA3_JSON, PYTHONIC, JSON_LIST, HAMMER),
        *(MISTRAL, DEEPSEEK, GLM, GORILLA, REACT),
        *(QWEN3_CODER, MINIMAX, DSML, KIMI, HARMONY),
        *(MINIMAX_M3, GEMMA, GRANITE, COMMAND_R),
    )
}
"""All formats by name."""
