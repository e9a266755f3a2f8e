"""Programs that wildtool starts. Nothing else in it starts one.

Each runs under a supervisor (`supervisor.py`), in a session of its own. It ends with everything that it started when it
is no longer needed, and also when wildtool ends, whether by an error, Ctrl-C, SIGTERM or SIGKILL.
"""

import errno
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from shutil import which
from typing import IO, TYPE_CHECKING, Any

from wildtool import supervisor

if TYPE_CHECKING:
    from asyncio.subprocess import Process

GRACE_S = 2.0
"""Seconds from SIGTERM to SIGKILL, for programs that have nothing to save."""
_SUPERVISOR_S = 10.0
"""Seconds for a supervisor beyond the grace of its program."""
Stream = int | IO[Any] | None


def python_words(*words: str) -> list[str]:
    """The command of this Python with some words. It imports nothing from the folder that it is started in
    (`-P`)."""
    return [sys.executable, "-P", *words]


@contextmanager
def safe_paths() -> Generator[None]:
    """Meanwhile processes that `multiprocessing` starts import nothing from the folder that they are started in: it takes
    no flag for them."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def run_in_terminal(words: Sequence[str]) -> int:
    """Waits for a program that takes over the terminal, such as an editor, and gives its status. It stays in the session
    of the terminal, which ends it, so that it can use `/dev/tty`. Raises OSError where there is no such program."""
    return subprocess.run(words, check=False).returncode


class Child(subprocess.Popen[bytes]):
    """A program as `subprocess.Popen` has it, with everything that it starts.

    Its process id is the supervisor's, its status the program's. `terminate` asks it to end, and what is left after its
    grace is killed; `kill` leaves it no grace.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        grace_s: float = GRACE_S,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = None,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Starts it.

        Args:
            words: the command, without a shell.
            grace_s: seconds from SIGTERM to SIGKILL.
            env: all of its environment variables; those of this process where it is None.
            cwd: its folder; that of this process where it is None.

        Raises OSError where there is no such program.
        """
        environment = dict(os.environ if env is None else env)
        line, self._line = os.pipe()
        self.grace_s = grace_s
        try:
            super().__init__(
                _supervised(words, line, grace_s, environment),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                cwd=cwd,
                pass_fds=(line,),
                # Ctrl-C is for the process that wants it.
                start_new_session=True,
            )
        except BaseException:
            self._let_go()
            raise
        finally:
            os.close(line)

    def kill(self) -> None:
        """Kills it and everything that it started."""
        if self._line >= 0:
            with suppress(BrokenPipeError):  # it has ended
                os.write(self._line, supervisor.KILL)

    def end(self) -> None:
        """Returns when it has ended, with everything that it started: it is asked, and killed if it does not."""
        self._let_go()
        # A copy of this process, such as a judge's, may have the line, too.
        self.terminate()
        try:
            self.wait(self.grace_s + _SUPERVISOR_S)
        except subprocess.TimeoutExpired:
            super().kill()
            self.wait()

    def _let_go(self) -> None:
        line, self._line = self._line, -1
        if line >= 0:
            os.close(line)

    def __exit__(self, *error: Any) -> None:
        self.end()
        super().__exit__(*error)

    def __del__(self, *more: Any) -> None:
        if hasattr(self, "_line"):
            self._let_go()
        super().__del__(*more)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]


@asynccontextmanager
async def async_child(
    words: Sequence[str],
    *,
    grace_s: float = GRACE_S,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = None,
    stderr: Stream = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    longest_line: int = 2**16,
) -> "AsyncGenerator[Process]":
    """A program for an event loop, which has ended when the context has. Args and errors: as of `Child`.

    Args:
        longest_line: bytes of a line of its output that can be read; twice as many are held until they are read.
    """
    import asyncio  # takes longer than most commands

    environment = dict(os.environ if env is None else env)
    line, held = os.pipe()
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            *_supervised(words, line, grace_s, environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            cwd=cwd,
            limit=longest_line,
            pass_fds=(line,),
            start_new_session=True,
        )
        yield process
    finally:
        os.close(line)
        os.close(held)
        if process is not None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


def _supervised(words: Sequence[str], line: int, grace_s: float, environment: Mapping[str, str]) -> list[str]:
    """The command of a supervisor. Raises OSError where there is no such program."""
    program = which(words[0], path=environment.get("PATH", os.defpath))
    if program is None:
        reason = errno.EACCES if "/" in words[0] and Path(words[0]).exists() else errno.ENOENT
        raise OSError(reason, os.strerror(reason), words[0])
    place = [sys.executable, "-I", "-S", str(supervisor.__file__)]
    # The program may be started in another folder.
    path = str(Path(program).absolute())
    return [*place, str(line), str(grace_s), environment.get("LC_CTYPE", ""), path, *words]
