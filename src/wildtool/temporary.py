"""The home of temporary files: folders that go when their work ends or, where it was killed, at the next work there.

A folder is held by a lock of the process that made it, so no other process takes a living one for a dead one, on whatever
machine or in whatever container it runs.
"""

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

_LOCK = ".wildtool-lock"
_NAME = re.compile(r"\.?wildtool-(?:(?P<kind>[a-z]+)-)?[a-z0-9_]{8}\.tmp")
"""Names of such folders; hidden ones lie beside results."""


def is_temporary(name: str, kind: str | None = None) -> bool:
    """Whether a file name is that of a temporary folder of wildtool. Args: kind: of `folder_until_exit`; None for any."""
    match = _NAME.fullmatch(name)
    return match is not None and kind in (None, match["kind"])


def lasting_files(folder: Path, pattern: str = "*") -> list[Path]:
    """The sorted files below a folder whose names fit a pattern, without those in temporary folders."""
    return sorted(
        path
        for path in folder.rglob(pattern)
        if path.is_file() and not any(map(is_temporary, path.relative_to(folder).parts))
    )


@contextmanager
def temporary_folder(beside: Path | None = None) -> Generator[Path]:
    """An empty folder that goes with all it holds, by any end but a kill.

    Args: beside: the existing folder to make it in, where its files have their places; None for the system's.

    Raises OSError where none can be made.
    """
    place = Path(tempfile.gettempdir()) if beside is None else beside
    with _held_folder(place, "wildtool-" if beside is None else ".wildtool-") as folder:
        yield folder


@contextmanager
def _held_folder(place: Path, prefix: str) -> Generator[Path]:
    _clear_once(place, os.getpid())
    folder, lock = _locked_folder(place, prefix)
    try:
        yield folder
    finally:
        # In this order: a file system takes long to free a file that is open. To be cleared meanwhile does no harm.
        os.close(lock)
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def folder_until_exit(kind: str, place: Path | None = None) -> Path:
    """The folder of this process for some kind of files, which goes when the process ends.

    Args: kind: a word of its name. place: where it is made; None for the system's folder of temporary files.

    Raises OSError where none can be made.
    """
    return _folder_of(kind, place, os.getpid())


@cache
def _folder_of(kind: str, place: Path | None, process: int) -> Path:
    import atexit

    stack = ExitStack()
    where, dot = (Path(tempfile.gettempdir()), "") if place is None else (place, ".")
    folder = stack.enter_context(_held_folder(where, f"{dot}wildtool-{kind}-"))
    atexit.register(stack.close)
    return folder


def clear_dead(place: Path) -> None:
    """Removes this user's temporary folders in a folder whose processes were killed."""
    with suppress(OSError):
        for entry in list(os.scandir(place)):
            status = entry.stat(follow_symlinks=False) if is_temporary(entry.name) else None
            if status is not None and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                _clear(Path(entry.path))


@cache
def _clear_once(place: Path, process: int) -> None:
    clear_dead(place)


def _clear(folder: Path) -> None:
    """Removes a folder unless a process holds it."""
    with suppress(OSError):
        lock = _open_lock(folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _locked_folder(place: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, and the descriptor that holds it."""
    while True:
        folder = Path(tempfile.mkdtemp(".tmp", prefix, place))
        lock = -1
        try:
            lock = _open_lock(folder)
            with suppress(OSError):  # a file system without locks: then no other process can clear it either
                fcntl.flock(lock, fcntl.LOCK_EX)
            # Another process may have cleared it before it was held.
            if os.fstat(lock).st_ino == (folder / _LOCK).stat().st_ino:
                return folder, lock
        except FileNotFoundError:
            pass
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            if lock >= 0:
                os.close(lock)
            raise
        if lock >= 0:
            os.close(lock)


def _open_lock(folder: Path) -> int:
    return os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
