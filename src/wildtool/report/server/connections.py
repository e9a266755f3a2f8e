"""Limits the number and duration of the local server's connections, so that no client blocks others.

A client that sends its request slowly, reads its answer slowly, or opens connections without end would use up the
process's file descriptors. Each connection has a deadline, and when there are too many, the oldest one is closed.
"""

import asyncio
import errno
import resource
from collections.abc import Callable
from typing import Any, cast

REQUEST_S = 10.0
"""Seconds within which a request must arrive."""
ANSWER_S = 600.0
"""Seconds within which an answer must be read."""
MAX_CONNECTIONS = 256
"""Connections at a time, if there are enough descriptors."""


def connection_limit() -> int:
    """The number of connections that leaves enough descriptors for files, reports and processes."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(4, min(MAX_CONNECTIONS, soft // 4))


class Connections:
    """Wraps the server's protocol for each connection, and enforces the deadlines."""

    def __init__(self, server: Callable[[], asyncio.BaseProtocol], most: int | None = None) -> None:
        """Args:
        server: makes the protocol that reads requests and answers them.
        most: connections at a time; None for as many as the descriptors allow.
        """
        self._server = server
        self._most = connection_limit() if most is None else most
        self._open: dict[asyncio.BaseTransport, Connection] = {}

    def __call__(self) -> asyncio.Protocol:
        return Connection(cast(asyncio.Protocol, self._server()), self)

    def request_complete(self, transport: asyncio.BaseTransport | None) -> None:
        """Notes that a connection's request is complete."""
        its = self._open.get(transport) if transport is not None else None
        if its is not None:
            its.start_answer()

    def opened(self, connection: "Connection", transport: asyncio.BaseTransport) -> None:
        while len(self._open) >= self._most:
            # Those still waiting for their request first; a dict keeps the order in which they were opened.
            oldest = min(self._open, key=lambda each: self._open[each].busy)
            self._open.pop(oldest).close()
        self._open[transport] = connection

    def closed(self, transport: asyncio.BaseTransport) -> None:
        self._open.pop(transport, None)


class Connection(asyncio.Protocol):
    """One connection: forwards everything, and closes at its deadline."""

    def __init__(self, inner: asyncio.Protocol, every: Connections) -> None:
        self.busy = False
        """Whether one of its requests is being answered."""
        self._inner = inner
        self._every = every
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def start_answer(self) -> None:
        """A whole request has arrived."""
        self.busy = True
        self._allow(ANSWER_S)

    def close(self) -> None:
        """Closes immediately and drops unsent data."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._every.opened(self, transport)
        self._allow(REQUEST_S)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self.busy:
            # The next request starts, or a body that nobody asked for.
            self.busy = False
            self._allow(REQUEST_S)
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        if self._transport is not None:
            self._every.closed(self._transport)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _allow(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.close)


def quiet_without_descriptors(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Exception handler of an event loop that ignores missing descriptors for new connections: the loop retries by
    itself after a second.
    """
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS)):
        loop.default_exception_handler(context)
