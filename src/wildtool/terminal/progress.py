"""Shows the progress of runs: one live line on a terminal, elsewhere a plain line from time to time."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TextIO

from wildtool.engine.run.progress import ProgressObserver

LIVE_EVERY_S = 0.25
PLAIN_EVERY_S = 10.0


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
        due = time.monotonic() + PLAIN_EVERY_S
        while not self._closed.wait(LIVE_EVERY_S):
            lines: Sequence[ProgressObserver] = self._runs if self._live else ()
            if not self._live and time.monotonic() >= due:
                due += PLAIN_EVERY_S
                lines = [run for run in self._runs if run.progress.is_going and run.should_log()]
            self._draw(lines)

    def _draw(self, runs: Sequence[ProgressObserver]) -> None:
        begun = [run for run in runs if run.progress.total]
        room = shutil.get_terminal_size().columns - 1 if self._live else None
        back = f"\x1b[{self._drawn}A" if self._live and self._drawn else ""
        clear = "\r\x1b[K" if self._live else ""
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
