"""Two sessions in the place of the embedded set, so that a board of official data is built in a moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kept_values import forget_kept
from wildtool.benchmarks.wildtoolbench import data as sessions


@contextmanager
def two_official_sessions(folder: Path, *places: int) -> Iterator[Path]:
    """Inside, wild-mini has two sessions only; gives their file, which lies in a folder.

    Args: places: of the sessions among all; none for the first two.
    """
    lines = sessions.WILD_MINI_FILE.read_text("utf-8").splitlines(keepends=True)
    mini = folder / "mini.jsonl"
    mini.write_text("".join(lines[place] for place in places or (0, 1)), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "WILD_MINI_FILE", mini)
        forget_kept("wildtool.engine.compare")
        yield mini
    forget_kept("wildtool.engine.compare")
