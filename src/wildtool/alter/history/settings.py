"""The choices of `--history`; loaded with the command line."""

from enum import StrEnum


class HistorySetting(StrEnum):
    """Whose earlier tasks a session goes on from, where not the gold ones."""

    own = "own"


class Unrecorded(StrEnum):
    """What a call gets that the record does not answer."""

    refuse = "refuse"
    simulate = "simulate"
