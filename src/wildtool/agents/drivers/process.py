"""The process of an agent: JSON lines to its input and from its output, and nothing of it that stays behind."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Any

from wildtool.agents.agent import AgentFailedError
from wildtool.children import async_child
from wildtool.json_codec import REPLY_LIMITS, dumps, loads_within, one_line
from wildtool.tools.sources.server_words import words_of_log

if TYPE_CHECKING:
    from asyncio.subprocess import Process

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Of one message of an agent."""
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
"""Of all that an agent writes in a conversation, on each of its two outputs."""
LOG_BYTES = 64 * 1024
"""Of its error output that are kept: the end."""
_PRINTED_LINES = 20
"""Lines of its output that are kept though they are no messages: the last ones."""
_CHUNK = 64 * 1024
_EXIT_S = 3.0
"""How long an agent that has closed its output may take to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to start."""

    name: str
    """Of the agent, for messages."""
    words: Sequence[str]
    environment: Mapping[str, str]
    """All of its variables."""
    folder: Path
    """The folder that it is started in."""
    log: Path
    """Where the end of its error output is kept."""


class AgentProcess:
    """A started agent. It and all that it started end at `close`, and when wildtool ends, however that comes."""

    def __init__(self, command: Command, process: "Process", stack: AsyncExitStack) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.name = command.name
        self._log_file = command.log
        self._process = process
        self._stack = stack
        self._input, self._output = process.stdin, process.stdout
        self._printed: deque[str] = deque(maxlen=_PRINTED_LINES)
        self._log = bytearray()
        self._taken = 0
        self._logging = asyncio.create_task(self._keep_log(process.stderr))

    @classmethod
    async def start(cls, command: Command, *, with_input: bool = True) -> "AgentProcess":
        """Starts a program. Raises AgentFailedError where it cannot be started."""
        stack = AsyncExitStack()
        context = async_child(
            command.words,
            # It has nothing to save.
            grace_s=0.0,
            stdin=PIPE if with_input else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=command.environment,
            cwd=command.folder,
            longest_line=MAX_LINE_BYTES,
        )
        try:
            process = await stack.enter_async_context(context)
        except OSError as error:
            raise AgentFailedError(
                f"{command.name}: {command.words[0]} cannot be started: {error.strerror}"
            ) from error
        return cls(command, process, stack)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Writes a message. Raises AgentFailedError where the agent has ended."""
        assert self._input is not None
        try:
            self._input.write(one_line(dumps(message)) + b"\n")
            await self._input.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise await self.failure("it ended", has_ended=True) from None

    async def receive(self) -> dict[str, Any]:
        """Its next message; other lines are passed over. Raises AgentFailedError where it ends, or writes too much."""
        while True:
            line = await self._line()
            try:
                message = loads_within(line, REPLY_LIMITS)
            except ValueError:
                message = None
            if isinstance(message, dict):
                return message  # pyright: ignore[reportUnknownVariableType]
            self._printed.append(line[:1000].decode("utf-8", "replace"))

    async def all_output(self) -> bytes:
        """What it writes until it closes its output. Raises AgentFailedError where that is too much, or it fails."""
        output = bytearray()
        while chunk := await self._output.read(_CHUNK):
            output += chunk
            if len(output) > MAX_LINE_BYTES:
                raise await self._flooded()
        status = await self._status()
        if status != 0:
            self._printed.extend(bytes(output[-4000:]).decode("utf-8", "replace").split("\n"))
            raise await self.failure("it failed", has_ended=True)
        return bytes(output)

    async def failure(self, what: str, *, has_ended: bool = False) -> AgentFailedError:
        """The error that says what the agent did, how it ended and what it last said.

        Args:
            has_ended: whether it has closed its output, so that its end is worth waiting for.
        """
        status = await self._status() if has_ended else self._process.returncode
        if status is not None:
            await asyncio.wait([self._logging], timeout=_EXIT_S)
        how = "it still runs" if status is None else f"exit status {status}"
        words = words_of_log(self._log.decode("utf-8", "replace")) or words_of_log("\n".join(self._printed))
        return AgentFailedError(f"{self.name}: {what} ({how}){f': {words}' if words else ''}")

    async def close(self) -> None:
        """Ends it with all that it started; may be called more than once."""
        await self._stack.aclose()
        self._logging.cancel()
        with suppress(asyncio.CancelledError):
            await self._logging
        with suppress(OSError):  # the folder may be gone, or full
            self._log_file.write_bytes(self._log)

    async def _line(self) -> bytes:
        try:
            line = await self._output.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            self._printed.append(error.partial[:1000].decode("utf-8", "replace"))
            raise await self.failure("it ended", has_ended=True) from None
        except asyncio.LimitOverrunError:
            raise await self._flooded() from None
        self._taken += len(line)
        if self._taken > MAX_OUTPUT_BYTES:
            raise await self._flooded()
        return line

    async def _flooded(self) -> AgentFailedError:
        most = f"{MAX_LINE_BYTES >> 20} MiB in one message or {MAX_OUTPUT_BYTES >> 20} MiB in all"
        await self._stack.aclose()
        return await self.failure(f"it wrote more than {most}")

    async def _keep_log(self, stream: asyncio.StreamReader) -> None:
        written = 0
        while chunk := await stream.read(_CHUNK):
            written += len(chunk)
            self._log += chunk
            del self._log[:-LOG_BYTES]
            if written > MAX_OUTPUT_BYTES:
                # It is not read any more, so the agent waits, and a limit of time ends it.
                return

    async def _status(self) -> int | None:
        try:
            return await asyncio.wait_for(self._process.wait(), _EXIT_S)
        except TimeoutError:
            return None
