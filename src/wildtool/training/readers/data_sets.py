"""The sets that can be read, by the names of `--from`, and how a file's set is told by its keys."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.json_codec import as_list, as_object
from wildtool.training.readers.hermes import is_hermes, read_hermes, read_hermes_prompts
from wildtool.training.readers.openai import read_openai, read_pandora
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.sharegpt import REPLY_ROLES, USER_ROLES, read_glaive_toolcall, read_sharegpt
from wildtool.training.record import TrainingRecord

RowReader = Callable[[Mapping[str, Any], ReadOptions], TrainingRecord]


@dataclass(frozen=True, slots=True)
class DataSet:
    """A layout of training data."""

    about: str
    """One line for the help."""
    read: RowReader
    family: str = ""
    """Sets of one family are partly the same data."""


DATA_SETS: Mapping[str, DataSet] = {
    "sharegpt": DataSet("conversations of LLaMA-Factory's shape", read_sharegpt),
    "openai": DataSet("messages of OpenAI's shape, and of TRL's", read_openai),
    "hermes": DataSet("calls in <tool_call> tags", read_hermes, "hermes"),
    "hermes-prompts": DataSet("prompts with the calls that complete them", read_hermes_prompts, "hermes"),
    "glaive-toolcall": DataSet("LLaMA-Factory's demonstration set", read_glaive_toolcall, "glaive"),
    "pandora": DataSet("messages; the layout is assumed", read_pandora, "glaive"),
}
"""By the names of `--from`."""


def _turn_keys(row: Mapping[str, Any]) -> set[str]:
    return {key for turn in as_list(row.get("conversations")) for key in as_object(turn)}


def _turn_roles(row: Mapping[str, Any]) -> set[str]:
    return {str(as_object(turn).get("from")) for turn in as_list(row.get("conversations"))}


_TELLTALES: Sequence[tuple[str, Callable[[Mapping[str, Any]], bool]]] = (
    ("xlam", lambda row: {"query", "answers", "tools"} <= row.keys()),
    ("glaive-chatml", lambda row: {"function_description", "conversations"} <= row.keys()),
    ("gsm8k-toolcalls", lambda row: {"question", "toolcalls"} <= row.keys()),
    ("roborovski-dpo", lambda row: {"tool_call_accepted", "tool_call_rejected"} <= row.keys()),
    (
        "glaive-code",
        lambda row: (
            {"question", "answer"} <= row.keys()
            and all(key in ("question", "answer") or not isinstance(value, str) for key, value in row.items())
        ),
    ),
    ("python-tools", lambda row: {"func_name", "tools"} <= row.keys()),
    ("bitagent", lambda row: {"conversation", "tools"} <= row.keys()),
    (
        "openai",
        lambda row: (
            "messages" in row
            or {"prompt", "chosen", "rejected"} <= row.keys()
            or {"input", "preferred_output"} <= row.keys()
        ),
    ),
    ("hermes-prompts", lambda row: {"prompt", "completion"} <= row.keys()),
    ("toolgen", lambda row: "content" in _turn_keys(row)),
    ("hermes", lambda row: "conversations" in row and is_hermes(row)),
    ("toolbench", lambda row: "conversations" in row and str(row.get("id", "")).startswith("Step ")),
    (
        "toolace",
        lambda row: (
            "conversations" in row and "system" in row and bool(_turn_roles(row) & {"user", "assistant"})
        ),
    ),
    (
        "sharegpt",
        lambda row: (
            "conversations" in row
            and "value" in _turn_keys(row)
            and bool(_turn_roles(row) & (USER_ROLES | REPLY_ROLES))
        ),
    ),
)
"""What tells a set, the narrower layouts first."""


def fitting_sets(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sets that each of some rows could belong to: one where all have the same, else all that were found."""
    found = dict.fromkeys(next((name for name, fits in _TELLTALES if fits(row)), "") for row in rows if row)
    return [name for name in cast(dict[str, None], found) if name]
