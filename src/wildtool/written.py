"""Which files a command wrote, so that the same command may write them again.

Most files of wildtool bear a mark; lines of training data, sessions or hints have no place for one. Of those it is
remembered, in the user's cache folder, which command wrote them and how they were left. Such a file is not replaced once
somebody has changed it, nor by another command.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

_command: ContextVar[str] = ContextVar("command", default="")


@contextmanager
def doing(command: str) -> Generator[None]:
    """What is written inside is written by this command. Args: command: its name and settings, as text."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def remember(path: Path) -> None:
    """Notes that the command wrote a file; outside of `doing` nothing is noted."""
    if not _command.get():
        return
    # Without such a folder a second run needs --force.
    with suppress(OSError):
        note = _note(path)
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        note.write_bytes(_state(path))


def written_before(path: Path) -> bool:
    """Whether the same command wrote a file, which is as it was left."""
    with suppress(OSError):
        return bool(_command.get()) and _note(path).read_bytes() == _state(path)
    return False


def _note(path: Path) -> Path:
    from platformdirs import user_cache_path  # only where a file is written that bears no mark

    return user_cache_path("wildtool") / "written" / sha256(os.fsencode(path.absolute())).hexdigest()


def _state(path: Path) -> bytes:
    """The command and the state of a file. Raises OSError."""
    status = path.lstat()
    command = sha256(f"{Path.cwd()} {_command.get()}".encode(errors="surrogatepass")).hexdigest()
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino} {command}".encode()
