"""Patterns that people and models write, matched by RE2 in time that grows with the text alone (decision 0011)."""

from functools import lru_cache
from importlib import import_module
from typing import Any

from wildtool.json_codec import replace_surrogates
from wildtool.toolcall.arguments import MAX_ARGUMENT_CHARACTERS


@lru_cache(maxsize=128)
def compiled_pattern(pattern: str) -> Any:
    """A pattern of RE2. Raises ValueError for one that is none."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(replace_surrogates(pattern), options)
    except re2.error as error:
        raise ValueError(_decoded(error)) from error


def pattern_occurs(pattern: str, text: str) -> bool:
    """Whether a pattern occurs anywhere in a text. Raises ValueError for one that is none."""
    place = compiled_pattern(pattern).search(replace_surrogates(text[:MAX_ARGUMENT_CHARACTERS]))
    return place is not None


def _decoded(error: Exception) -> str:
    (message, *_) = error.args or (error,)
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
