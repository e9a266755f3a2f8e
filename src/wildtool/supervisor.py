"""Runs one program, and ends it with everything that it started once the process that wanted it lets go or is gone.

A program of its own, started by its path and without site packages (`children.py` does), so that it is there at once and
imports nothing of wildtool. It has one thread, so that it may fork, and as long as it lives somebody looks after the
program, however wildtool ended. On Linux it is the parent of whatever the program leaves behind, too, and the program is
killed if the supervisor is.
"""

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress
from resource import RLIMIT_CORE, setrlimit

KILL = b"k"
"""Sent over the line, it asks for an end without grace."""
NOT_STARTED = 127
"""Exit status where the program cannot be started, as a shell's."""
_DEATH_SIGNAL, _ADOPTS_ORPHANS = 1, 36
"""Of prctl on Linux: which signal a process gets when its parent ends; that orphans below it become its children."""
_CLEAR_S, _LOOK_S = 5.0, 0.01
"""How long to look for processes that were left behind, and how often."""
_ON_LINUX = sys.platform == "linux"


def supervise(line: int, grace_s: float, program: str, words: list[str]) -> int:
    """Runs a program until it ends, or until it has to.

    Args:
        line: a file to read from. Only the process that wants the program has its other end; when that is closed, or at
            SIGTERM or SIGINT, the program and its process group get SIGTERM.
        grace_s: seconds that they have, before everything that is left is killed.
        program: path of the file to execute.
        words: of its command line, the first its name.

    Returns the status as `os.waitpid` gives it.
    """
    os.set_inheritable(line, False)
    _prctl(_ADOPTS_ORPHANS, 1)
    woken = _wake_at(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
    pid = _start(program, words)
    # Else the program's streams would stay open when it closes them.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    until, files = None, [line, woken]
    while (status := _status(pid)) is None:
        rest_s = None if until is None else until - time.monotonic()
        if rest_s is not None and rest_s <= 0:
            break
        ready, _, _ = select.select(files, [], [], rest_s)
        signals = os.read(woken, 4096) if woken in ready else b""
        word = os.read(line, len(KILL)) if line in ready else None
        if word == KILL:
            break
        is_to_end = word is not None or signal.SIGTERM in signals or signal.SIGINT in signals
        if is_to_end and until is None:
            until = time.monotonic() + grace_s
            _signal_group(pid, signal.SIGTERM)
        if word is not None:
            files = [woken]
    _signal_group(pid, signal.SIGKILL)
    if status is None:
        status = os.waitpid(pid, 0)[1]
    _clear()
    return status


def _wake_at(*signals: signal.Signals) -> int:
    """A file from which their numbers are read as they arrive."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for each in signals:
        signal.signal(each, lambda sent, frame: None)
    return reading


def _start(program: str, words: list[str]) -> int:
    """Starts the program in a session of its own; gives its process id once it runs."""
    own = os.getpid()
    # Closed when the program is executed: only then there is a group to send signals to, and nothing that ignores them.
    executed, starting = os.pipe()
    pid = os.fork()
    if pid:
        os.close(starting)
        os.read(executed, 1)
        os.close(executed)
        return pid
    try:
        os.setsid()
        # Python ignores them.
        for each in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_DFL)
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != own:  # it was killed meanwhile
            os._exit(NOT_STARTED)
        os.execv(program, words)
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
    finally:
        os._exit(NOT_STARTED)


def _status(pid: int) -> int | None:
    """The status of the program, once it has ended. Orphans that it left and that ended are forgotten."""
    with suppress(ChildProcessError):
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == pid:
                return status
            if child == 0:
                break
    return None


def _signal_group(pid: int, sent: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, sent)


def _clear() -> None:
    """Kills what the program left behind, also in sessions of their own: each that ends hands on its own children."""
    until = time.monotonic() + _CLEAR_S
    while time.monotonic() < until:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for child in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(_LOOK_S)


def _children() -> list[int]:
    """The process ids of all that have this process as their parent."""
    own, children = os.getpid(), list[int]()
    # pathlib would take as long to import as all of the rest.
    for name in os.listdir("/proc") if _ON_LINUX else ():  # noqa: PTH208
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # The name of a program, in parentheses, may hold anything.
                fields = file.read().rpartition(b")")[2].split()
                if int(fields[1]) == own:
                    children.append(int(name))
    return children


def _prctl(option: int, value: int) -> None:
    if _ON_LINUX:
        ctypes.CDLL(None).prctl(option, value)


def end_as(status: int) -> None:
    """Ends this process as another one ended, by a signal or with an exit status."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # Its own memory explains nothing.
        setrlimit(RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    line_, grace_, locale_, program_, *words_ = sys.argv[1:]
    # Python sets this variable where the locale is C, and the program is to have no other variables than it was given.
    if locale_:
        os.environ["LC_CTYPE"] = locale_
    else:
        os.environ.pop("LC_CTYPE", None)
    end_as(supervise(int(line_), float(grace_), program_, words_))
