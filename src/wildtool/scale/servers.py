"""A model server of one worker: started on a free port of this machine, watched, and ended with its worker."""

import os
import shlex
import socket
import time
import urllib.error
from pathlib import Path
from subprocess import STDOUT
from typing import Self

from wildtool.children import Child
from wildtool.data.unredirected import open_unredirected
from wildtool.errors import UsageError, WildtoolError
from wildtool.models.resolve import PRESETS
from wildtool.secret_places import recordable, register_foreign

PORT = "{port}"
START_S = 1_800.0
"""Seconds for which a server may load its model."""
LOOK_S = 0.2
END_S = 20.0
"""Seconds for a server to end before it is killed."""
TAIL_BYTES = 600
"""Of its log, in messages."""
_LOADING = 503
_FETCHES_MODELS = "HF_TOKEN"
"""Key of a provider from which servers fetch models, too."""


class ServerError(WildtoolError):
    """A server of a worker that does not start, or ended."""

    exit_status = 3


class ModelServer:
    """One server, as a context manager that ends it."""

    def __init__(self, command: str, base_url: str, log: Path, key_variable: str | None = None) -> None:
        """Starts it.

        Args:
            command: its words as a shell would read them; `{port}` becomes the port.
            base_url: of its API, with `{port}`.
            log: gets what it writes.
            key_variable: name of the variable whose key it asks for, if it does.

        Raises UsageError where the command cannot be read, ServerError where there is no such program.
        """
        register_foreign(command, base_url)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        try:
            words = [word.replace(PORT, str(self.port)) for word in shlex.split(command)]
        except ValueError as error:
            raise UsageError(
                f"--server is {recordable(command)!r}, which no shell can read ({error})"
            ) from error
        self._url = f"{base_url.replace(PORT, str(self.port)).rstrip('/')}/models"
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("ab") as output:
                self._process = Child(
                    words, grace_s=END_S, stdout=output, stderr=STDOUT, env=_environment(key_variable)
                )
        except OSError as error:
            raise ServerError(
                f"the server of this worker does not start ({words[0]}: {error.strerror}); its shards are free for other "
                "workers"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.end()

    def wait(self) -> None:
        """Returns when it answers. Raises ServerError where it ends before, or takes too long."""
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            self.check()
            try:
                open_unredirected(self._url, 10, by_proxy=False).close()
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
            # A shell says it in this way where a signal ended a program.
            shown = status if status >= 0 else 128 - status
            raise ServerError(
                f"the server of this worker ended with status {shown} ({last_line}); its shards are free for other "
                f"workers. Its log: {self._log}"
            )


def _environment(key_variable: str | None) -> dict[str, str]:
    """The variables of this process without the keys of providers, which a server of a local model has no use for."""
    keys = {preset.key_env for preset in PRESETS.values()} - {_FETCHES_MODELS, key_variable}
    return {name: value for name, value in os.environ.items() if name not in keys}
