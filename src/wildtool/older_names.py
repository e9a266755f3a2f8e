"""Names of earlier versions that still work: each use is said once, with the name of today."""

import sys
import warnings
from types import FrameType

GOES_WITH = "0.4"
"""The version in which the older names stop to work."""

OLDER_SETTINGS = {
    "catalogue": "among",
    **{
        f"catalogue_{part}": f"among_{part}"
        for part in ("kinds", "seed", "tools", "retriever", "top_k", "base_url", "api_key_env", "header")
    },
}
"""Settings by their older names, as Python and `wildtool.toml` have them. Jobs of shared runs keep the older ones."""


class OlderNameWarning(DeprecationWarning):
    """An older name is used. A command prints it; Python shows it as any DeprecationWarning."""


def warn_of_older(older: str, name: str) -> None:
    """Says that something has another name now, at the line that calls wildtool."""
    text = f"{older} is {name} now; the older name goes with {GOES_WITH}"
    warnings.warn(text, OlderNameWarning, stacklevel=level_of_the_caller())


def level_of_the_caller() -> int:
    """The stack level, as of a `warnings.warn` in the caller of this function, of the line that calls wildtool."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    level = outside = 1
    while frame is not None:
        level += 1
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "wildtool":
            outside = level
        frame = frame.f_back
    return outside
