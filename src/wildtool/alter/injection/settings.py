"""What `--inject` takes."""

from enum import StrEnum


class InjectionSetting(StrEnum):
    """How a planted instruction is worded."""

    base = "base"
    """The instruction alone."""
    enhanced = "enhanced"
    """With a sentence before it that claims to come before the user's request."""
