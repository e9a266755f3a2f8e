"""Functions that share the event loop of a run: what they start is ended with them, and what blocks the loop is said."""

import asyncio
import sys
import threading
import warnings
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar
from weakref import WeakSet

BLOCKED_S = 20.0
"""Seconds for which a function may block the event loop before a warning says so."""
OWNER: ContextVar["TaskCollector | None"] = ContextVar("OWNER", default=None)
"""What collects the tasks of the function that runs; tasks take over the context of who starts them."""


class TaskCollector:
    """The tasks that one function has started, and those that these have started."""

    _factories: ClassVar[dict[asyncio.AbstractEventLoop, tuple[int, Any]]] = {}
    """By loop how many collectors are open, and the task factory that it had before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        count, before = self._factories.get(loop, (0, None))
        if not count:
            before = loop.get_task_factory()
            loop.set_task_factory(_collecting(before))
        self._factories[loop] = (count + 1, before)

    def add(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)

    async def cancel(self, timeout_s: float) -> None:
        """Ends what still runs."""
        left = {task for task in self._tasks if not task.done()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=timeout_s)

    def close(self) -> None:
        """Collects nothing more."""
        count, before = self._factories[self._loop]
        if count > 1:
            self._factories[self._loop] = (count - 1, before)
            return
        del self._factories[self._loop]
        self._loop.set_task_factory(before)


def _collecting(before: Any) -> Any:
    """A task factory that hands tasks to their owner. Args: before: the loop's own, if it has one."""

    def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **keywords: Any) -> "asyncio.Task[Any]":
        task = (
            before(loop, coroutine, **keywords) if before else asyncio.Task(coroutine, loop=loop, **keywords)
        )
        owner = OWNER.get()
        if owner is not None:
            owner.add(task)
        return task

    return make


class LoopWatch:
    """A thread that looks whether the loop goes on, while functions play in it."""

    def __init__(self, name: str, file: str | None, blocked_s: float) -> None:
        """Args:
        name: of the function.
        file: in which it is written; None where it has none.
        blocked_s: seconds after which the loop counts as blocked.
        """
        self._name, self._file, self._blocked_s = name, file, blocked_s
        self._playing = 0
        self._stopped = threading.Event()

    def enter(self) -> None:
        """One more conversation begins."""
        self._playing += 1
        if self._playing == 1:
            self._stopped = threading.Event()
            watch = (asyncio.get_running_loop(), threading.get_ident(), self._stopped)
            threading.Thread(target=self._look, args=watch, daemon=True).start()

    def leave(self) -> None:
        """A conversation has ended."""
        self._playing -= 1
        if not self._playing:
            self._stopped.set()

    def _look(self, loop: asyncio.AbstractEventLoop, thread: int, stopped: threading.Event) -> None:
        while not stopped.wait(self._blocked_s / 4):
            beat = threading.Event()
            try:
                loop.call_soon_threadsafe(beat.set)
            except RuntimeError:
                return  # the loop is closed
            if not beat.wait(self._blocked_s):
                self._warn(sys._current_frames().get(thread))  # pyright: ignore[reportPrivateUsage]
                while not (beat.wait(1.0) or stopped.is_set() or loop.is_closed()):
                    pass

    def _warn(self, frame: FrameType | None) -> None:
        """Says where the function blocks, if it is what blocks."""
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        if frame is not None:
            place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
            warnings.warn(
                f"{self._name} has blocked the event loop for {self._blocked_s:g} s ({place}), and all other "
                "conversations wait for it: put what blocks into `await session.in_thread(…)`",
                RuntimeWarning,
                stacklevel=2,
            )
