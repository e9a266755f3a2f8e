"""File systems that are small or cannot be written, for tests of what a run does there."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small(place: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of that size at `place`; skips the test where nobody may mount one."""
    place.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def freeze(place: Path) -> None:
    """Makes a file system of `small` read-only, for root too."""
    _mount("-o", "remount,ro", place)


def fill(place: Path) -> None:
    """Leaves no byte free."""
    try:
        with (place / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(1 << 12)):
                pass
    except OSError:
        return


def _mount(*words: object) -> None:
    try:
        done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
