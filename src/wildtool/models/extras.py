"""Libraries that only some models need: imported when such a model is made."""

from importlib import import_module
from typing import Any

from wildtool.errors import UsageError


def import_for(model: str, library: str, extra: str) -> Any:
    """A library of an extra. Raises UsageError with the command that installs it, where it is missing."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"model {model!r} needs the extra [{extra}]; install it with: pip install 'wildtool[{extra}]'"
        ) from error
