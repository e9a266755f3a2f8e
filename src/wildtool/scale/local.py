"""Workers as processes of this machine."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from wildtool.children import Child, python_words
from wildtool.errors import RecordError
from wildtool.terminal import print_err

PARENT_VARIABLE = "WILDTOOL_WORKER_PARENT"
"""Set for a worker that a command has started, which says itself what the user has to know."""
SHORT_LIFE_S = 5.0
"""A worker that is killed sooner was hardly killed by chance."""
MAX_SHORT_LIVES = 5
"""Such workers in a row, of each process, before none is started any more."""
STOP_S = 60.0
"""Time to send what is recorded and to give shards up."""
RELAY_S = 5.0
"""Time to print the last words of a worker that has ended."""


@dataclass(slots=True)
class _Process:
    process: Child
    relay: threading.Thread
    """Ends with its errors' stream."""
    started: float


def worker_words(url: str, server: str | None, trust: str | None = None) -> list[str]:
    """The words of the command of one worker, without the program.

    Args:
        server: command of its server, if it has one.
        trust: hash of the job, which the worker is to trust.
    """
    words = ["worker", "--run", url]
    for option, value in (("--server", server), ("--trust", trust)):
        words += [] if value is None else [option, value]
    return words


def leave_at_sigterm() -> None:
    """From now on SIGTERM, which a worker also gets when the command that started it ends, raises SystemExit in the main
    thread: nobody reads what an interrupted worker has to say."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(sent: int, frame: FrameType | None) -> None:
    sys.exit(130)


class LocalLauncher:
    """Starts processes, and another one for each that is killed."""

    def __init__(self, count: int, server: str | None = None) -> None:
        """Args: server: command of a server for each."""
        self.count = count
        self._server = server
        self.statuses: list[int] = []
        self.say: Callable[[str], object] = print_err
        self._url = ""
        self._working: list[_Process] = []
        self._short_lives = 0
        self._printed: set[bytes] = set()

    def start(self, url: str) -> None:
        """Starts all workers of the run at that address."""
        self._url = url
        self._working = [self._started() for _ in range(self.count)]

    def poll(self) -> bool:
        """Replaces workers that were killed; whether any still works. Raises RecordError where all are killed at once."""
        for each in list(self._working):
            status = each.process.poll()
            if status is None:
                continue
            self._working.remove(each)
            # Processes that a killed worker leaves behind may keep its stream open.
            each.relay.join(RELAY_S)
            if status >= 0:
                self.statuses.append(status)
                continue
            short = time.monotonic() - each.started < SHORT_LIFE_S
            self._short_lives = self._short_lives + 1 if short else 0
            if self._short_lives > MAX_SHORT_LIVES * self.count:
                raise RecordError(
                    f"workers are killed as soon as they start (signal {-status}); look for a limit of memory, and run "
                    "the same command again to continue"
                )
            self._working.append(self._started())
        return bool(self._working)

    def stop(self) -> None:
        """Ends all workers."""
        for each in self._working:
            each.process.terminate()
        until = time.monotonic() + STOP_S
        for each in self._working:
            with suppress(subprocess.TimeoutExpired):
                each.process.wait(max(0.0, until - time.monotonic()))
            each.process.kill()
            each.process.end()
            each.relay.join(RELAY_S)
        self._working = []

    def _started(self) -> _Process:
        process = Child(
            python_words("-m", "wildtool", *worker_words(self._url, self._server)),
            grace_s=STOP_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, PARENT_VARIABLE: "1"},
        )
        relay = threading.Thread(target=self._relay, args=(process,), daemon=True)
        relay.start()
        return _Process(process, relay, time.monotonic())

    def _relay(self, process: Child) -> None:
        """Prints what workers say, and what several say only once."""
        for line in process.stderr or ():
            if line not in self._printed:
                self._printed.add(line)
                self.say(line.decode("utf-8", "replace").rstrip("\n"))
