"""The sandbox of `--expose code` in its role: it is asked a session of scripts and answers how far they get."""

import asyncio
from collections.abc import Mapping
from typing import Any

from wildtool.alter.expose.code.exposure import MONTY
from wildtool.errors import CallError
from wildtool.models.extras import import_for
from wildtool.types import Reply, Request


class SandboxModel:
    """Runs scripts in the processes of this process's sandbox."""

    name = MONTY

    def __init__(self) -> None:
        """Raises UsageError where the extra is not installed."""
        self._version: str = import_for(MONTY, "pydantic_monty", "code").__version__
        from wildtool.alter.expose.code.sandbox import shared_sandbox  # needs the extra

        self._sandbox = shared_sandbox()

    async def complete(self, request: Request) -> Reply:
        """How far the last script gets. Raises CallError."""
        try:
            message = await asyncio.to_thread(self._sandbox.answer, request.messages)
        except (ValueError, LookupError) as error:
            raise CallError("unsendable request", f"{self.name}: {error}", final=True) from error
        except (OSError, RuntimeError) as error:
            raise CallError("sandbox", f"{self.name}: {error}") from error
        return Reply(message)

    async def close(self) -> None:
        """Ends the processes; another run of this process starts its own."""
        await asyncio.to_thread(self._sandbox.close)

    def settings(self) -> Mapping[str, Any]:
        """The version of the sandbox."""
        return {"version": self._version}
