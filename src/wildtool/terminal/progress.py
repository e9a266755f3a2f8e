"""Shows the progress of runs and of what takes long: a live line on a terminal, elsewhere plain lines with the time."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TextIO

from wildtool.engine.run.progress import ProgressObserver
from wildtool.sanitize import single_line

LIVE_EVERY_S = 0.25
_SILENT_S = 14.0
"""Time after which a log has a line of what takes long."""


class ProgressDisplay:
    """Shows runs while it is open as a context manager: one line for each that has started."""

    def __init__(self, runs: Sequence[ProgressObserver], stream: TextIO | None = None) -> None:
        self._runs = runs
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._closed = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._drawn = 0
        """Lines of the last drawing, which a live one overwrites."""

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._ticker.join()
        self._draw(self._runs)

    def _tick(self) -> None:
        while not self._closed.wait(LIVE_EVERY_S):
            going = (run for run in self._runs if run.progress.is_going and run.should_log())
            self._draw(self._runs if self._live else list(going))

    def _draw(self, runs: Sequence[ProgressObserver]) -> None:
        begun = [run for run in runs if run.progress.total]
        room = shutil.get_terminal_size().columns - 1 if self._live else None
        back = f"\x1b[{self._drawn}A" if self._live and self._drawn else ""
        clear = "\r\x1b[K" if self._live else _stamp()
        self._drawn = len(begun)
        messages = [run.messages.pop(0) for run in self._runs for _ in range(len(run.messages))]
        lines = [*messages, *(run.text(room) for run in begun)]
        if not lines:
            return
        try:
            self._stream.write(back + "".join(f"{clear}{line}\n" for line in lines))
            self._stream.flush()
        except OSError:
            # The terminal is gone (a closed session, a broken pipe): the runs matter more than their display.
            self._closed.set()


def _stamp() -> str:
    return time.strftime("%H:%M:%S ")


class StepLog:
    """Writes what takes long to a log: a line with the time now and then, for as long as it takes. For `show_steps`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._text = ""
        self._done: threading.Event | None = None

    def __call__(self, text: str) -> None:
        """Args: text: what is done now; empty at the end."""
        self._text = text
        if not text and self._done is not None:
            self._done.set()
            self._done = None
        elif text and self._done is None:
            self._done = threading.Event()
            threading.Thread(target=self._write_lines, args=(self._done,), daemon=True).start()

    def _write_lines(self, done: threading.Event) -> None:
        while not done.wait(_SILENT_S):
            try:
                self._stream.write(f"{_stamp()}{single_line(self._text, 200)}\n")
                self._stream.flush()
            except (OSError, ValueError):
                return  # nobody reads it any more
