"""The sets that can be read, by the names of `--from`, and how a file's set is recognised by its keys."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.json_codec import as_list, as_object
from wildtool.shapes import is_record
from wildtool.training.readers.hermes import (
    is_hermes,
    lists_tools_in_tags,
    read_hermes,
    read_hermes_prompts,
)
from wildtool.training.readers.openai import is_prompt_completion, read_openai, read_pandora
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.other_sets import (
    read_bitagent,
    read_glaive_chatml,
    read_glaive_code,
    read_gsm8k_toolcalls,
    read_python_tools,
    read_roborovski_dpo,
    read_toolgen,
    read_xlam,
)
from wildtool.training.readers.sharegpt import (
    REPLY_ROLES,
    USER_ROLES,
    read_glaive_toolcall,
    read_sharegpt,
)
from wildtool.training.readers.toolace import read_toolace
from wildtool.training.readers.toolbench import read_toolbench
from wildtool.training.record import TrainingRecord

_GUESSED = frozenset({"gsm8k-toolcalls", "pandora"})
RowReader = Callable[[Mapping[str, Any], ReadOptions], TrainingRecord]


@dataclass(frozen=True, slots=True)
class PublicSet:
    """A layout of training data."""

    name: str
    about: str
    """One line for the help."""
    read: RowReader
    columns: frozenset[str]
    """What the reader takes from a row."""
    family: str = ""
    """Sets of one family are partly the same data."""
    has_licence: bool = True
    """Whether its card shows a licence."""
    has_any_shape: bool = False
    """Whether its rows may have any shape that `wildtool.shapes` reads."""

    @property
    def is_guessed(self) -> bool:
        """Whether parts of the layout were not seen, so that a user should look at what was read."""
        return self.name in _GUESSED


def _sets() -> Iterator[PublicSet]:
    messages = "messages conversations tools system prompt completion chosen rejected"
    turns = "conversations system tools chosen rejected"
    pairs = "input preferred_output non_preferred_output"
    calls = "tool_call_accepted tool_call_rejected call_result_accepted agent_output_accepted"
    for name, note, read, columns, family, has_licence in (
        ("sharegpt", "conversations of LLaMA-Factory's shape", read_sharegpt, f"{turns} wildtool", "", True),
        (
            "openai",
            "messages of OpenAI's and any other API's shape, also TRL's",
            read_openai,
            f"{messages} {pairs}",
            "",
            True,
        ),
        ("hermes", "calls in <tool_call> tags", read_hermes, f"{turns} messages", "hermes", False),
        (
            "hermes-prompts",
            "prompts with their calls",
            read_hermes_prompts,
            "prompt completion system user tools",
            "hermes",
            False,
        ),
        ("xlam", "Salesforce's APIGen set", read_xlam, "query answers tools", "apigen", True),
        (
            "glaive-chatml",
            "Glaive's function calls in ChatML",
            read_glaive_chatml,
            "system_message function_description conversations",
            "glaive",
            True,
        ),
        ("glaive-code", "Glaive's code assistant, no tools", read_glaive_code, "question answer", "", True),
        ("glaive-toolcall", "LLaMA-Factory's demo sets", read_glaive_toolcall, turns, "glaive", True),
        ("toolace", "ToolACE's public part", read_toolace, "system conversations", "", True),
        ("toolbench", "ToolBench's solution steps", read_toolbench, "conversations", "toolbench", True),
        ("toolgen", "ToolGen's chats of tool tokens", read_toolgen, "conversations", "toolbench", False),
        ("bitagent", "BitAgent's tool calls", read_bitagent, "conversation tools", "bitagent", False),
        ("pandora", "Pandora's messages; assumed layout", read_pandora, messages, "glaive", True),
        (
            "roborovski-dpo",
            "pairs of a better and a worse call",
            read_roborovski_dpo,
            f"tool question {calls}",
            "",
            False,
        ),
        (
            "gsm8k-toolcalls",
            "GSM8K with its steps as calls",
            read_gsm8k_toolcalls,
            "question answer toolcalls",
            "",
            False,
        ),
        ("python-tools", "tools without conversations", read_python_tools, "tools", "apigen", True),
    ):
        yield PublicSet(
            name,
            note,
            read,
            frozenset(columns.split()),
            family,
            has_licence,
            has_any_shape=read is read_openai,
        )


DATA_SETS: Mapping[str, PublicSet] = {public_set.name: public_set for public_set in _sets()}
"""By the names of `--from`."""
CALLS_IN_TEXT = frozenset({"hermes", "hermes-prompts", "toolace", "glaive-chatml", "toolbench"})
"""Sets of conversations whose calls are texts, which no reader of shapes knows from what else a model says."""
REFUSED = {"default-prompts": "default-prompts are two prompt templates, not records"}
"""Names of sets that hold nothing to convert, and why."""


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
    ("hermes", lambda row: "messages" in row and lists_tools_in_tags(row)),
    (
        "openai",
        lambda row: (
            "messages" in row
            or {"prompt", "chosen", "rejected"} <= row.keys()
            or {"input", "preferred_output"} <= row.keys()
            or is_prompt_completion(row)
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
    ("openai", lambda row: "conversations" not in row and is_record(row)),
)
"""What tells a set, the narrower layouts first."""


def fitting_sets(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sets that each of some rows could belong to: one where all have the same, else all that were found."""
    names = dict.fromkeys(next((name for name, fits in _TELLTALES if fits(row)), "") for row in rows if row)
    return [name for name in cast(dict[str, None], names) if name]
