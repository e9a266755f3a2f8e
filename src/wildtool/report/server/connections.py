"""Limits the number and duration of the local server's connections, so that no client blocks others.

A client that sends its request slowly, reads its answer slowly, or opens connections without end would use up the
process's file descriptors. Each connection has a deadline, and when there are too many, the oldest one is closed. Both
hold from the moment at which it is accepted, also while it agrees on its encryption.
"""

import asyncio
import resource
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast

REQUEST_S = 10.0
"""Seconds within which a request must arrive."""
RETRY_S = 0.05
"""Seconds after which it accepts again where no descriptor was left."""
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
        self._open: dict[Connection, None] = {}
        self._starting: set[asyncio.Task[None]] = set()

    async def accept(self, at: socket.socket, context: ssl.SSLContext | None = None) -> None:
        """Accepts connections until it is cancelled. Args: context: what encrypts them; None for nothing."""
        loop = asyncio.get_running_loop()
        at.setblocking(False)
        while True:
            try:
                accepted = await _accepted(at)
            except OSError:  # no descriptor is left, or the client has gone
                await asyncio.sleep(RETRY_S)
                continue
            task = loop.create_task(self._start(accepted, context))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    def request_complete(self, transport: asyncio.BaseTransport | None) -> None:
        """Notes that a connection's request is complete."""
        its = transport.get_protocol() if transport is not None else None
        if isinstance(its, Connection):
            its.start_answer()

    def closed(self, connection: "Connection") -> None:
        self._open.pop(connection, None)

    async def _start(self, accepted: socket.socket, context: ssl.SSLContext | None) -> None:
        connection = Connection(cast(asyncio.Protocol, self._server()), self, accepted)
        while len(self._open) >= self._most:
            # Those still waiting for their request first; a dict keeps the order in which they were opened.
            oldest = min(self._open, key=lambda each: each.busy)
            self.closed(oldest)
            oldest.close()
        self._open[connection] = None
        limit = REQUEST_S if context else None
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, accepted, ssl=context, ssl_handshake_timeout=limit
            )
        except OSError:  # no handshake in time, or none that can be understood
            self.closed(connection)


async def _accepted(at: socket.socket) -> socket.socket:
    """The next connection. `sock_accept` of the event loop does the same, but fails in the background, with an
    InvalidStateError, where a connection comes in the moment it is cancelled. Raises OSError."""
    loop = asyncio.get_running_loop()
    while True:
        with suppress(BlockingIOError, InterruptedError):
            accepted, _ = at.accept()
            accepted.setblocking(False)
            return accepted
        readable = asyncio.Event()
        loop.add_reader(at, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(at)


class Connection(asyncio.Protocol):
    """One connection: forwards everything, and closes at its deadline."""

    def __init__(self, inner: asyncio.Protocol, every: Connections, accepted: socket.socket) -> None:
        self.busy = False
        """Whether one of its requests is being answered."""
        self._inner = inner
        self._every = every
        self._accepted = accepted
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
        else:
            with suppress(OSError):
                self._accepted.shutdown(socket.SHUT_RDWR)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
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
        self._every.closed(self)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _allow(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.close)
