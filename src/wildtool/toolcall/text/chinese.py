"""Splits Chinese text into words with jieba and its default dictionary."""

import logging
import marshal
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from wildtool.data.pinned import cache_folder
from wildtool.temporary import temporary_folder

_NEEDS_DICTIONARY = re.compile("[\u4e00-\u9fd5]|AT&T|[cC]#|[cC]\\+\\+")
"""Chinese characters, and all other words of the dictionary."""
_RUN = re.compile(r"([a-zA-Z0-9+#&._%-]+)")
_PART = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_BLANK = re.compile(r"(\r\n|\s)")


def cut(text: str) -> list[str]:
    """Words of a text in order, blanks and punctuation included. The first Chinese text loads the dictionary (about
    0.4 s)."""
    return (
        cast(list[str], _jieba().lcut(text)) if _NEEDS_DICTIONARY.search(text) else list(_plain_words(text))
    )


def _plain_words(text: str) -> Iterator[str]:
    """What jieba makes of a text of which its dictionary has no word."""
    for number, run in enumerate(_RUN.split(text)):
        if number % 2:
            yield from [run] if len(run) == 1 else filter(None, _PART.split(run))
        else:
            for blank, rest in enumerate(_BLANK.split(run)):
                yield from [rest] if blank % 2 else rest


def particles_in_words(text: str, particles: frozenset[str]) -> Counter[str]:
    """How often each character that can be a particle is a part of a longer word, as 地 of 耕地, or carries the meaning.

    An attribute's 的 carries it between single characters and at the end (他的书, 有的), 得 always (打得过), a final 吧
    or 吗 behind a single character (贴吧), 地 behind one (外地).
    """
    words = cut(text)
    counts: Counter[str] = Counter()
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        behind = words[place + 1] if place + 1 < len(words) else ""
        if len(word) > 1 or _carries_meaning(word, before, behind):
            counts.update(character for character in word if character in particles)
    return counts


def _carries_meaning(particle: str, before: str, behind: str) -> bool:
    if particle == "的":
        return not behind.isalnum() or (len(before) < 2 and len(behind) < 2)
    if particle in "地吗呢吧啊呀了":
        return len(before) < 2
    return particle == "得"


@cache
def _jieba() -> Any:
    """jieba with its dictionary loaded, through a cache that only this user can write.

    By default jieba reads a cache of a fixed name in the folder for temporary files, without a check: another user who
    creates it first could change how texts are split, and so the verdicts.
    """
    import jieba  # type: ignore[import-untyped]  # slow to load, and seldom needed

    loaded = cast(Any, jieba)
    # jieba reports the loading of its dictionary on standard error.
    loaded.setLogLevel(logging.WARNING)
    # The cache does not record the version that wrote it.
    loaded.dt.cache_file = f"jieba-{loaded.__version__}.cache"
    own = _own_folder(cache_folder() / "jieba")
    if own is not None:
        loaded.dt.tmp_dir = str(own)
        _load_dictionary(loaded.dt, own / loaded.dt.cache_file)
    else:
        with temporary_folder() as folder:
            loaded.dt.tmp_dir = folder
            loaded.dt.initialize()
    return loaded


def _load_dictionary(tokenizer: Any, kept: Path) -> None:
    """As jieba's `initialize`, which reads a kept dictionary value by value and so takes twice as long."""
    with suppress(OSError, EOFError, ValueError, TypeError):
        tokenizer.FREQ, tokenizer.total = marshal.loads(kept.read_bytes())
        tokenizer.initialized = True
    tokenizer.initialize()


def _own_folder(folder: Path) -> Path | None:
    """The folder, created if missing; None unless only this user can write to it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    foreign = hasattr(os, "getuid") and (
        status.st_uid != os.getuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    )
    usable = stat.S_ISDIR(status.st_mode) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    return folder if usable and not foreign else None
