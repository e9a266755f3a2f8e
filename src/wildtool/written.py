"""Which files a command wrote, so that the same command may write them again.

Most files of wildtool bear a mark; lines of training data, sessions or hints have no place for one. Of those it is
remembered, in the user's cache folder, which command wrote them and how they were left. Such a file is not replaced once
somebody has changed it, nor by another command.
"""

import os
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

COMMAND: ContextVar[str] = ContextVar("command", default="")
"""The name and settings of the command that is at work, as text; empty where wildtool is used as a library."""


def remember(path: Path, new: Path | None = None) -> None:
    """Notes that the command wrote a file; without a command nothing is noted.

    Args:
        new: the complete file that is about to be moved there, so that no stop between the two leaves a file of which
            nobody knows; what lies there until then stays noted, too. None: it is there already.
    """
    if not COMMAND.get():
        return
    # Without such a folder a second run needs --force.
    with suppress(OSError):
        note = _note(path)
        states = [_state(new or path)]
        if new is not None and written_before(path):
            states.append(_state(path))
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = note.with_name(f"{note.name}.{os.getpid()}")
        unfinished.write_bytes(b"\n".join(states))
        unfinished.replace(note)


def written_before(path: Path) -> bool:
    """Whether the same command wrote a file, which is as it was left."""
    with suppress(OSError):
        return bool(COMMAND.get()) and _state(path) in _note(path).read_bytes().split(b"\n")
    return False


def _note(path: Path) -> Path:
    from platformdirs import user_cache_path  # only where a file is written that bears no mark

    return user_cache_path("wildtool") / "written" / sha256(os.fsencode(path.absolute())).hexdigest()


def _state(path: Path) -> bytes:
    """The command and the state of a file. Raises OSError."""
    status = path.lstat()
    command = sha256(f"{Path.cwd()} {COMMAND.get()}".encode(errors="surrogatepass")).hexdigest()
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino} {command}".encode()
