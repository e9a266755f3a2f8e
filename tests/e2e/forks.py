"""Commands as processes of their own that do not import anything again: forks of one that has imported all of wildtool.

Run as a program, it is that one. Its input is a socket; each request comes with three files: one for what the command
writes, one for its errors, and one that gets its process id and, at its end, its status. It ends with the socket. Shells
of tests ask by `forked`, at an address in the file system.
"""

import asyncio
import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import wildtool
from wildtool.toolcall.text.chinese import cut

TESTS = Path(__file__).parents[1]
LENGTH = 10
"""How many bytes a length or a process id takes."""
HEEDED = {"PYTHONASYNCIODEBUG", "PYTHONPATH", "PYTHONWARNINGS"}
"""The variables for Python itself that a command may have of its own: a fork does what its start would have done."""
_SYSTEM = ctypes.CDLL(None)
_DEATH_SIGNAL = 1
"""Of prctl: which signal a process gets when its parent ends."""


def end_with_parent() -> None:
    """Lets this process be killed when the thread that made it ends, on Linux."""
    if sys.platform == "linux":
        _SYSTEM.prctl(_DEATH_SIGNAL, signal.SIGKILL)


class Fork:
    """A command that was started, with what tests use of `asyncio.subprocess.Process`."""

    def __init__(self, out: int, err: int, state: int) -> None:
        self.returncode: int | None = None
        self.pid = int(os.read(state, LENGTH))
        with suppress(ProcessLookupError):
            _running.append(os.pidfd_open(self.pid))
        self._outputs = asyncio.gather(_read(out), _read(err))
        self._ended = asyncio.ensure_future(self._end(state))

    async def communicate(self) -> tuple[bytes, bytes]:
        """What it wrote, and its errors, once it is over."""
        out, err = await asyncio.shield(self._outputs)
        await asyncio.shield(self._ended)
        return out, err

    def send_signal(self, sent: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def _end(self, state: int) -> None:
        self.returncode = int(await _read(state))


_running: list[int] = []
"""Of each command that was started since `end_all`: what names its process and never another."""


def end_all() -> None:
    """Kills all commands that still run."""
    while _running:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(_running[-1], signal.SIGKILL)
        os.close(_running.pop())


def fork(command: Path, *words: str, cwd: Path, env: Mapping[str, str]) -> Fork:
    """Starts `command WORDS` in a folder and with an environment."""
    own = {name for name, value in env.items() if name.startswith("PYTHON") and os.environ.get(name) != value}
    if unheeded := own - HEEDED:
        raise ValueError(f"only read when Python starts: {', '.join(sorted(unheeded))}")
    forker, _ = _forker()
    request = json.dumps([str(cwd), dict(env), [str(command), *words]]).encode()
    pipes = [os.pipe() for _ in range(3)]
    socket.send_fds(forker, [b"%*d" % (LENGTH, len(request))], [there for _, there in pipes])
    forker.sendall(request)
    for _, there in pipes:
        os.close(there)
    return Fork(*(here for here, _ in pipes))


def in_shells(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with which `wildtool` in a shell is a fork as well: to start one costs more than most of them do."""
    if sys.platform != "linux":
        return {**environment, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"}
    _forker()
    path = os.pathsep.join([str(_address().parent), str(Path(sys.executable).parent), environment["PATH"]])
    return {**environment, "PATH": path, "FORKER": str(_address())}


@cache
def _address() -> Path:
    """Where forks are asked for by shells; beside it lies the `wildtool` that does so."""
    # Not in the folder for temporary files, which may be that of one test.
    folder = Path(tempfile.mkdtemp(prefix="forks", dir=Path(os.environ["DRAWN_CHARTS"]).parent))
    asking = folder / "wildtool"
    asking.write_text(f"#!{sys.executable} -IS\n{Path(__file__).with_name('forked.py').read_text('utf-8')}")
    asking.chmod(0o700)
    return folder / "forker"


@cache
def _forker() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process to fork from, and its socket, with which it ends.

    It does not ask for a signal at its parent's end: Linux sends that one at the end of the thread that made it, which
    may be a thread of one test.
    """
    here, there = socket.socketpair()
    with there, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(_address()))
        door.listen()
        words = [sys.executable, "-m", "e2e.forks", str(door.fileno())]
        return here, subprocess.Popen(words, stdin=there, cwd=TESTS, pass_fds=[door.fileno()])


async def _read(file: int) -> bytes:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(file, "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        return await reader.read()
    finally:
        transport.close()


def _wait_for_work() -> None:
    """Returns once for every request, in a new process that has its folder, variables, words and outputs."""
    channel, door = socket.socket(fileno=0), socket.socket(fileno=int(sys.argv[1]))
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if channel in select.select([channel, door], [], [])[0]:
            head, files, _, _ = socket.recv_fds(channel, LENGTH, 3)
            if not head:
                os._exit(0)
            request = _received(channel, int(head))
        else:
            with door.accept()[0] as shell:
                head, files, _, _ = socket.recv_fds(shell, LENGTH, 3)
                request = _received(shell, int(head))
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
    end_with_parent()
    signal.signal(signal.SIGCHLD, ended)
    os.close(channel.detach())
    os.close(door.detach())
    out, err, state = files
    if pid := os.fork():
        os.close(out)
        os.close(err)
        os.write(state, b"%*d" % (LENGTH, pid))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(state, b"%d" % status)
        os._exit(0)
    end_with_parent()
    signal.signal(signal.SIGINT, interrupted)
    os.close(state)
    for file, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(file, standard)
        if file > 2:
            os.close(file)
    # Those of the start were made for other files, and know it.
    out, err = sys.stdout, sys.stderr
    sys.stdout = sys.__stdout__ = open(1, "w", -1, out.encoding, out.errors, closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, err.encoding, err.errors, closefd=False)  # noqa: SIM115
    folder, environment, sys.argv[:] = json.loads(request)
    os.chdir(folder)
    # Event loops read PYTHONASYNCIODEBUG themselves.
    started = {name: os.environ.get(name) for name in HEEDED}
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    if (path := environment.get("PYTHONPATH")) and path != started["PYTHONPATH"]:
        sys.path[1:1] = path.split(os.pathsep)
    if (action := environment.get("PYTHONWARNINGS")) and action != started["PYTHONWARNINGS"]:
        warnings.simplefilter(cast(Any, action))
        sys.warnoptions.append(action)


def _received(channel: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length and (part := channel.recv(length - len(received))):
        received += part
    return received


def _hurry(times: float) -> None:
    """Lets the clock of event loops run that many times as fast, for a command that waits out what an endpoint asks."""
    wait = selectors.DefaultSelector.select
    asyncio.BaseEventLoop.time = lambda loop: times * time.monotonic()
    selectors.DefaultSelector.select = lambda its, timeout=None: wait(its, timeout and timeout / times)


def _run(program: str, status: list[int]) -> None:
    """Runs a program to its end, and notes the status it asks for."""
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, int):
            status.append(ended.code)
        raise


def _leave(status: list[int]) -> None:
    """Ends the process without taking apart all that was imported, which takes longer than most commands."""
    # What the command itself left over still complains, as of a coroutine that nothing awaited.
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    if status:
        os._exit(*status)


if __name__ == "__main__":
    status: list[int] = []
    # Before everything else, and so called after all that others register.
    atexit.register(_leave, status)
    packages = pkgutil.walk_packages(wildtool.__path__, "wildtool.")
    modules = [package.name for package in packages if not package.name.endswith("__main__")]
    for module in (*modules, "duckdb", "altair", "drawn_once"):
        # A command that needs what is not installed says so itself.
        with suppress(ImportError):
            importlib.import_module(module)
    # Loads the dictionary of Chinese words.
    cut("词")
    gc.collect()
    gc.freeze()
    if drawn_once := sys.modules.get("drawn_once"):
        drawn_once.fork_to_draw(Path(os.environ["DRAWN_CHARTS"]))
    _wait_for_work()
    _hurry(float(os.environ.get("CLOCK_TIMES", "1")))
    if drawn_once:
        drawn_once.draw_once(Path(os.environ["DRAWN_CHARTS"]))
    sys.path[0] = str(Path(sys.argv[0]).parent)
    _run(sys.argv[0], status)
