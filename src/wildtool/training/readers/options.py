"""What a user may ask of a reader."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Choices that some layouts leave open."""

    kind: str = ""
    """`sft` or `preference` for a set that can give both; empty for what it is."""
    keep_system: bool = False
    """Whether a system text is kept whose only job is to list tools or to say how calls are written."""
    keep_finish: bool = False
    """Whether the call that ends a trajectory stays a call instead of becoming the answer."""


DEFAULT_OPTIONS = ReadOptions()
