"""Shares the jobs of a long task between this process and a copy of it (docs/decisions/0026)."""

import fcntl
import os
import pickle
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn, TypeVar

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")
Mine = Callable[[int], bool]
"""Whether the job of this place, counted from 0, is to be done here; asked for each job in turn."""

_CLAIMED = 16
"""Jobs claimed at once."""
_THREADS, _LOAD = Path("/proc/self/task"), Path("/proc/loadavg")


def in_two_processes(
    ours: Callable[[Mine], Ours], theirs: Callable[[Mine], Theirs]
) -> tuple[Ours, Theirs] | None:
    """Does some jobs here and the others in a copy of this process, each of which goes through all of them in the same
    order and does those that are its own.

    Args:
        ours: does the jobs of this process.
        theirs: does those of the copy; its result is pickled. Both may read by `os.pread` what is open already, and
            must open anything else themselves.

    Returns None where the process cannot be copied safely, or where either raised an exception or was killed: then the
    caller does all jobs here, and the exception that comes first is raised as ever.
    """
    if not _can_copy():
        return None
    with suppress(OSError), TemporaryFile() as counter, TemporaryFile() as answer:
        claims = _Claims(counter.fileno(), os.getpid())
        copy = os.fork()
        if copy == 0:
            _be_the_copy(lambda: theirs(claims), answer)
        status = None
        try:
            found = ours(claims)
            status = os.waitpid(copy, 0)[1]
        except Exception:  # noqa: BLE001 - raised again when the caller does all jobs here
            return None
        finally:
            if status is None:
                os.kill(copy, signal.SIGKILL)
                os.waitpid(copy, 0)
        if status == 0:
            answer.seek(0)
            return found, pickle.load(answer)
    return None


def _can_copy() -> bool:
    """Whether there is a second processor with nothing to do, and no thread that a copy would lack, with all locks that
    it holds."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    return _running_tasks() < (os.cpu_count() or 1) and sum(1 for _ in _THREADS.iterdir()) == 1


def _running_tasks() -> int:
    """How many tasks of the machine run or wait for a processor now, this one included; 0 if that is not known."""
    try:
        return int(_LOAD.read_text("ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0


def _be_the_copy(work: Callable[[], object], answer: IO[bytes]) -> NoReturn:
    """Does its work and ends, without what a process does at its end: that is for the one it was copied from."""
    status = 1
    try:
        # Ctrl-C reaches both processes; the other one then ends this.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pickle.dump(work(), answer)
        answer.flush()
        status = 0
    finally:
        os._exit(status)


class _Claims:
    """Which jobs are this process's own: groups of successive ones, claimed by whichever process is free.

    Each process has its own object; they share the file that counts the groups.
    """

    def __init__(self, counter: int, parent: int) -> None:
        self._counter = counter
        self._parent = parent
        self._own = range(0)

    def __call__(self, place: int) -> bool:
        while place >= self._own.stop:
            group = self._next_group()
            self._own = range(group * _CLAIMED, (group + 1) * _CLAIMED)
        return place in self._own

    def _next_group(self) -> int:
        if self._parent not in (os.getpid(), os.getppid()):
            raise ProcessLookupError("the process that takes the results is gone")
        # A lock that goes with its process, so that nobody waits for one that was killed.
        fcntl.lockf(self._counter, fcntl.LOCK_EX)
        try:
            group = int.from_bytes(os.pread(self._counter, 8, 0), "little")
            os.pwrite(self._counter, (group + 1).to_bytes(8, "little"), 0)
        finally:
            fcntl.lockf(self._counter, fcntl.LOCK_UN)
        return group
