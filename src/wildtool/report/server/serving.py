"""What local servers have in common: the check that each request passes first, their answers, their thread, and how they
start and stop. `wildtool.report.server.access` says who may ask."""

import asyncio
import logging
import socket
import ssl
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any

import orjson
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from wildtool import json_codec
from wildtool.redact import redacted
from wildtool.report.server.access import SAFE_HEADERS, AccessPolicy, Handler, wait_for_sigterm
from wildtool.report.server.address_token import AddressToken
from wildtool.report.server.connections import REQUEST_S, Connections

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
INTERNAL_ERROR = "Internal error. The terminal in which the server runs names its place.\n"
CLOSING_S = 1.0
"""Seconds to wait for open requests when a server stops."""
_WORKER = "wildtool-worker"
Answering = Callable[[asyncio.BaseTransport | None], None]
"""Called with the transport of each complete request."""


def log_error(error: BaseException) -> None:
    """Names an unexpected error and its place on the screen, without any text of a request, such as a cookie."""
    frames = traceback.extract_tb(error.__traceback__)
    own = next(
        (frame for frame in reversed(frames) if _is_own(Path(frame.filename))),
        frames[-1] if frames else None,
    )
    place = f" in {Path(own.filename).name}, line {own.lineno}" if own else ""
    sys.stderr.write(f"internal error: {type(error).__name__}{place}\n")


def _is_own(path: Path) -> bool:
    """Whether a file is one of wildtool or of a package beside it."""
    return any(part == "wildtool" or part.startswith("wildtool_") for part in path.parts)


class _ErrorLog(logging.Handler):
    """Passes on what aiohttp logs of errors; faulty requests are answered, and no error."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, HttpProcessingError | ConnectionError):
            log_error(error)


def _log_unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, BaseException) and not isinstance(error, OSError):
        log_error(error)


class WorkerThread:
    """One thread for everything that must not overlap, such as the use of a store.

    It does not keep the process alive: an action that never ends (a lost disk) must not block SIGTERM.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=_WORKER, daemon=True)
        self._thread.start()

    async def call(self, action: Callable[[], Any]) -> Any:
        """The result of an action, computed in the thread."""
        future: Future[Any] = Future()
        self._calls.put((action, future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Ends the thread after its current action, and waits briefly for that."""
        self._calls.put(None)
        self._thread.join(CLOSING_S)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            action, future = call
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(action())
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                future.set_exception(error)


def has_pending_action() -> bool:
    """Whether a stopped server left an action behind, which the process need not wait for."""
    return any(thread.name == _WORKER for thread in enumerate_threads())


def json_answer(value: Any, status: int = 200) -> web.Response:
    """A value as JSON that browsers read: NaN is null."""
    try:
        body = orjson.dumps(value)
    except TypeError:  # lone surrogates, integers beyond 64 bits
        body = json_codec.dumps(value)
    return web.Response(body=redacted(body), status=status, content_type="application/json")


def file_answer(files: Mapping[str, Path], path: str, otherwise: str) -> web.StreamResponse:
    """The file at an address. Raises the answer for none. Args: otherwise: what to say then."""
    file = files.get(path)
    if file is None:
        raise web.HTTPNotFound(text=otherwise)
    kind = MEDIA_TYPES.get(file.suffix, "application/octet-stream")
    return web.FileResponse(file, headers={"Content-Type": kind})


async def _no_icon(request: web.Request) -> web.Response:
    # Browsers ask for an icon and complain if there is none.
    return web.Response(status=204)


def guarded_application(
    routes: Iterable[web.RouteDef],
    policy: AccessPolicy,
    headers: Callable[[web.Request], Mapping[str, str]],
    *,
    answering: Answering = lambda transport: None,
    start: Callable[[], Awaitable[None]] | None = None,
    close: Callable[[], Awaitable[None]],
    body_bytes: int = 1024**2,
    token: AddressToken | None = None,
) -> web.Application:
    """An application that answers nothing but what its policy allows.

    Args:
        token: of the address that was printed; None where everyone who reaches the server may ask, or people sign in.
        headers: gives, for a request, headers of its answer beside `SAFE_HEADERS`.
        start, close: called before the first request, and after the last one.
        body_bytes: the longest body of a request.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = policy.deny_reason(request.method, request.headers)
        if refusal is not None:
            raise refusal
        if token is not None and (redirect := token.admit(request)) is not None:
            return redirect
        # From then on the client waits, and not the server.
        request.content.on_eof(lambda: answering(request.transport))
        try:
            return await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 - named here, since its traceback may hold what was sent
            log_error(error)
            raise web.HTTPInternalServerError(text=INTERNAL_ERROR) from None

    async def secured(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update({**SAFE_HEADERS, **headers(request)})

    async def started(app: web.Application) -> None:
        if start:
            await start()

    async def closed(app: web.Application) -> None:
        await close()

    app = web.Application(middlewares=[guarded], client_max_size=body_bytes)
    app.on_response_prepare.append(secured)
    app.on_startup.append(started)
    app.on_cleanup.append(closed)
    app.add_routes([web.get("/favicon.ico", _no_icon), *routes])
    return app


async def serve_application(
    make: Callable[[Answering], web.Application],
    at: socket.socket,
    ready: Callable[[], None],
    context: ssl.SSLContext | None = None,
) -> None:
    """Serves until SIGTERM or cancellation.

    Args:
        make: makes the application; its argument is to be called with the transport of each request.
        ready: called once it answers.
    """
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_unhandled)
    log = logging.Logger("wildtool server", logging.ERROR)
    log.addHandler(_ErrorLog())
    connections = Connections(lambda: runner.server())  # pyright: ignore[reportOptionalCall]
    runner = web.AppRunner(
        make(connections.request_complete),
        access_log=None,
        logger=log,
        handle_signals=False,
        shutdown_timeout=CLOSING_S,
        keepalive_timeout=REQUEST_S,
        lingering_time=REQUEST_S,
    )
    await runner.setup()
    accepting = loop.create_task(connections.accept(at, context))
    try:
        ready()
        await wait_for_sigterm()
    finally:
        accepting.cancel()
        await runner.cleanup()
