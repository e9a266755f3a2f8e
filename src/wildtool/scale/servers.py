"""A model server of one worker: started on a free port of this machine, watched, and ended with its worker.

Run as a program it stands between the two: `python -m wildtool.scale.servers COMMAND…` ends the server as soon as its own
standard input ends, so that no server outlives a worker that was killed.
"""

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from wildtool.errors import UsageError, WildtoolError

PORT = "{port}"
START_S = 1_800.0
"""Seconds for which a server may load its model."""
LOOK_S = 0.2
END_S = 20.0
"""Seconds for a server to end before it is killed."""
TAIL_BYTES = 600
"""Of its log, in messages."""
_LOADING = 503


class ServerError(WildtoolError):
    """A server of a worker that does not start, or ended."""

    exit_status = 3


class ModelServer:
    """One server, as a context manager that ends it."""

    def __init__(self, command: str, base_url: str, log: Path) -> None:
        """Starts it.

        Args:
            command: its words as a shell would read them; `{port}` becomes the port.
            base_url: of its API, with `{port}`.
            log: gets what it writes.
        """
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        try:
            words = [word.replace(PORT, str(self.port)) for word in shlex.split(command)]
        except ValueError as error:
            raise UsageError(f"--server is {command!r}, which no shell can read ({error})") from error
        self._url = f"{base_url.replace(PORT, str(self.port)).rstrip('/')}/models"
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "wildtool.scale.servers", *words],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for the worker, which still has calls in flight.
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(2 * END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def wait(self) -> None:
        """Returns when it answers. Raises ServerError where it ends before, or takes too long."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            self.check()
            try:
                opener.open(self._url, timeout=10).close()
            except urllib.error.HTTPError as error:
                # Whatever it says of this address, it answers.
                if error.code != _LOADING:
                    return
            except (OSError, ValueError):
                pass
            else:
                return
            time.sleep(LOOK_S)
        raise ServerError(
            f"the server does not answer at {self._url} after {START_S:,.0f} s; its log: {self._log}"
        )

    def check(self) -> None:
        """Raises ServerError where it has ended."""
        status = self._process.poll()
        if status is not None:
            tail = self._log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").strip()
            last_line = tail.splitlines()[-1] if tail else "it wrote nothing"
            raise ServerError(
                f"the server of this worker ended with status {status} ({last_line}); its shares are free for other "
                f"workers. Its log: {self._log}"
            )


def supervise(words: Sequence[str]) -> int:
    """Runs a server until it ends or standard input does; gives its exit status."""
    try:
        server = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"{words[0]}: {error.strerror}", flush=True)  # noqa: T201 - into its log
        return 127

    def end() -> None:
        while os.read(0, 64):
            pass
        _signal(server.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.wait(END_S)
        _signal(server.pid, signal.SIGKILL)

    threading.Thread(target=end, daemon=True).start()
    status = server.wait()
    # Processes that it started may live on.
    _signal(server.pid, signal.SIGKILL)
    return status if status >= 0 else 128 - status


def _signal(group: int, sent: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, sent)


if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1:]))
