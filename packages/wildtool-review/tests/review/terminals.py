"""A command of `wildtool review` on a terminal of its own, which tests type keys into."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str, **settings: str) -> None:
        self.master, slave = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wildtool", "review", "quick", *arguments],
            cwd=folder,
            env={**os.environ, "COLUMNS": "200", **settings},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.wait_for_key()

    def wait_for_key(self) -> None:
        """Reads until the command asks for the next key, or ends."""
        before = self.text.count("q quit")
        while self.text.count("q quit") == before or self._is_cooked():
            if not self._read():
                return

    def _is_cooked(self) -> bool:
        return bool(termios.tcgetattr(self.master)[3] & termios.ICANON)

    def _read(self) -> bool:
        """Reads what is there; whether the command may print more."""
        ready, _, _ = select.select([self.master], [], [], 0.01)
        if not ready:
            return self.process.poll() is None
        try:
            found = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += found.decode("utf-8", "replace")
        return bool(found)

    def type(self, keys: str) -> str:
        """Types keys one by one; what was printed after the last."""
        start = 0
        for key in keys:
            start = len(self.text)
            os.write(self.master, key.encode())
            self.wait_for_key()
        return self.text[start:]


@contextmanager
def terminal(folder: Path, *arguments: str, **settings: str) -> Iterator[Terminal]:
    opened = Terminal(folder, *arguments, **settings)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.process.wait()
        os.close(opened.master)
