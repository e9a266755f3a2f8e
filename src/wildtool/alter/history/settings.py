"""The choices of `--history`; loaded with the command line."""

from enum import StrEnum


class HistorySetting(StrEnum):
    """What a unit shows of what came before it, where not all as it is recorded."""

    gold = "gold"
    own = "own"
    none = "none"
    without_user = "without:user"
    without_assistant = "without:assistant"
    without_tool = "without:tool"


class Unrecorded(StrEnum):
    """What a call gets that the record does not answer."""

    refuse = "refuse"
    simulate = "simulate"
