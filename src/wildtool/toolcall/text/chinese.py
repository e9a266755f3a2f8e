"""Splits Chinese text into words with jieba and its default dictionary."""

import logging
import os
import stat
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from wildtool.data.pinned import cache_folder


def cut(text: str) -> list[str]:
    """Words of a text in order, blanks and punctuation included. The first call loads the dictionary (about 0.7 s)."""
    return cast(list[str], _jieba().lcut(text))


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
        loaded.dt.initialize()
    else:
        with TemporaryDirectory(prefix="wildtool-") as folder:
            loaded.dt.tmp_dir = folder
            loaded.dt.initialize()
    return loaded


def _own_folder(folder: Path) -> Path | None:
    """The folder, created if missing; None unless only this user can write to it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    foreign = hasattr(os, "getuid") and (
        found.st_uid != os.getuid() or bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    )
    usable = stat.S_ISDIR(found.st_mode) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    return folder if usable and not foreign else None
