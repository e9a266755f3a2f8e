"""Cuts Chinese text into words with jieba and its default dictionary."""

import logging
from typing import Any, cast


def cut(text: str) -> list[str]:
    """Words of a text in order, blanks and punctuation included. The first call loads the dictionary (about 0.7 s)."""
    import jieba  # type: ignore[import-untyped]  # slow to load, and seldom needed

    # jieba reports the loading of its dictionary on standard error.
    cast(Any, jieba).setLogLevel(logging.WARNING)
    return cast(list[str], cast(Any, jieba).lcut(text))
