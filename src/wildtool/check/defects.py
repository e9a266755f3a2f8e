"""The classes of defects that `wildtool check` looks for; their texts are in `defects.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import files


class DefectKind(IntEnum):
    """The classes by their names in `defects.toml`, with the numbers that reports and passports show: from 1 on, and 0
    where streamed and whole replies differ in another way."""

    STREAMED_AND_WHOLE_DIFFER = 0
    EMPTY_CALL_DROPPED = 1
    ARGUMENTS_DROPPED_AFTER_EMPTY_CALL = 2
    SECOND_CALL_BROKEN = 3
    SAME_INDEX = 4
    INDEX_WRONG = 5
    IDS_WRONG = 6
    FINISH_REASON_DENIES_CALLS = 7
    FINISH_REASON_WITHOUT_CALL = 8
    TEXT_BESIDE_CALL_DROPPED = 9
    ARGUMENTS_NO_JSON_TEXT = 10
    BRACES_UNBALANCED = 11
    TYPES_CHANGE = 12
    ARGUMENTS_EMPTY = 13
    CALLS_SWALLOWED = 14
    OPTIONAL_INTEGERS_MALFORMED = 15
    PARALLEL_CALLS_LOST = 16
    MALFORMED_CALL_IN_HISTORY = 17
    TOOL_CHOICE_IGNORED = 18
    CUT_REPLY_PASSES = 19
    CALLS_AS_TEXT = 20
    REASONING_LEAKS = 21
    SCHEMA_PARTS_DROPPED = 22
    NAMES_CHANGED = 23
    TEXT_NOT_ASCII_BROKEN = 24
    RESULTS_IN_HISTORY = 25
    PROMPT_OR_TOOLS_VANISH = 26
    USAGE_WRONG = 27
    REPLIES_DEPEND_ON_OTHERS = 28
    ERROR_WITH_STATUS_200 = 29
    LONG_ARGUMENTS_CUT = 30
    ARGUMENTS_ENCODED_TWICE = 31
    SAME_CALL_TWICE = 32
    HISTORY_REFUSED = 33
    MANY_TOOLS_REFUSED = 34
    REASONING_IN_HISTORY = 35
    RESULTS_NOT_USED = 36
    RUN_REQUEST_REFUSED = 37
    NAME_OR_ARGUMENTS_REPEATED = 38
    EMPTY_REPLY = 39

    @property
    def is_listed(self) -> bool:
        """Whether it is a class of its own, and not what is left over."""
        return self is not DefectKind.STREAMED_AND_WHOLE_DIFFER


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A class of broken tool calls."""

    kind: DefectKind
    name: str
    """What is wrong, in a few words."""
    probes: str
    """What is sent, and how the defect is recognized."""
    effect: str
    """What it costs in a benchmark run."""
    cause: str
    """The likely one."""
    remedy: str
    """A setting to change, or what to do."""
    software: str
    """Where users reported it: software and issue."""
    untested: str = "the model did not make the call that was requested"
    """Why it may have stayed untested."""


def _read() -> Mapping[DefectKind, Defect]:
    text = files("wildtool.check").joinpath("defects.toml").read_text("utf-8")
    entries = {DefectKind[fields.pop("kind").upper()]: fields for fields in tomllib.loads(text)["defect"]}
    return {kind: Defect(kind=kind, **fields) for kind, fields in entries.items()}


DEFECTS = _read()
"""By class, in the order of their numbers."""
