"""The server of `wildtool view`: lists runs and opens their reports, for browsers on this machine only.

It is read-only: missing verdicts and all pages are written to a temporary folder. Browsers let any web page send
requests to a server like this one, so it answers only requests that name it as their host (another name may have been
pointed at this machine) and that come from its own pages or a typed address. Files are found by looking up their
address among those written, never by building a path from it.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any

import orjson
from aiohttp import web

from wildtool.engine.score.results import run_folders
from wildtool.report.server.access import (
    BACKLOG,
    CLOSING_S,
    MEDIA_TYPES,
    SAFE_HEADERS,
    AccessPolicy,
    Handler,
    address_of,
    listening_socket,
    wait_for_sigterm,
)
from wildtool.report.server.connections import REQUEST_S, Connections, quiet_without_descriptors
from wildtool.report.server.report_jobs import ReportJobs, files_below
from wildtool.report.server.run_index import RunIndex
from wildtool.report.site.site import BESIDE, Site
from wildtool.sanitize import ellipsize

POLICY = f"{BESIDE}; connect-src 'self'"
"""Content security policy of the list, which may load its rows."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    **SAFE_HEADERS,
}
_READER = "wildtool-reader"


class ReaderThread:
    """One thread that reads runs, so that two reads never overlap.

    It does not keep the process alive: a read that never ends (a lost disk) must not block SIGTERM.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=_READER, daemon=True)
        self._thread.start()

    async def call(self, action: Callable[[], Any]) -> Any:
        """The result of an action, computed in the thread."""
        done: Future[Any] = Future()
        self._calls.put((action, done))
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """Ends the thread after its current action, and waits briefly for that."""
        self._calls.put(None)
        self._thread.join(CLOSING_S)

    def _run(self) -> None:
        while (asked := self._calls.get()) is not None:
            action, done = asked
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(action())
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                done.set_exception(error)


def has_pending_read() -> bool:
    """Whether a stopped server left a read behind, which the process need not wait for."""
    return any(thread.name == _READER for thread in enumerate_threads())


class ViewApp:
    """What the server answers."""

    def __init__(self, root: Path, place: Path) -> None:
        """Args:
        root: the folder with runs.
        place: an empty folder for pages.
        """
        self.run_index = RunIndex(root)
        self.report_jobs = ReportJobs(place / "reports")
        site = Site(place / "list", title="wildtool view", policy=POLICY)
        site.add(
            "index",
            "Runs",
            "runs.html",
            scripts=("runs.js",),
            styles=("runs.css",),
            root=ellipsize(root.resolve()),
        )
        site.finish(place)
        self._pages = files_below(place / "list")
        self.reader = ReaderThread()
        self._measuring: asyncio.Task[None] | None = None

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/runs.json", self.runs),
            web.get("/open.json", self.open),
            web.get("/made.json", self.made),
            web.get("/report/{key}/{path:.*}", self.report),
            web.get("/favicon.ico", self.icon),
            web.get("/{path:.*}", self.page),
        ]

    async def runs(self, request: web.Request) -> web.Response:
        """The list; missing numbers follow in a later answer."""
        await self.reader.call(self.run_index.scan)
        if self._measuring is None or self._measuring.done():
            self._measuring = asyncio.create_task(self._measure())
        return _json(self.run_index.listing)

    async def open(self, request: web.Request) -> web.Response:
        """Starts the report of the runs that the address names, as they are now; returns its key."""
        runs = self.run_index.find(request.query.getall("run", []))
        if runs is None:
            # The link is older than the server: the list is not known yet.
            await self.reader.call(self.run_index.scan)
            runs = self.run_index.find(request.query.getall("run", []))
        if runs is None:
            return _json({"problem": "This run no longer exists."}, status=404)
        return _json({"key": self.report_jobs.make(runs).key})

    async def made(self, request: web.Request) -> web.Response:
        """The progress of a report."""
        report = self.report_jobs.jobs.get(request.query.get("key", ""))
        if report is None:
            return _json({"problem": "This report no longer exists."}, status=404)
        if report.problem:
            return _json({"problem": report.problem})
        if report.files is None:
            return _json({"step": ellipsize(report.step)})
        return _json({"address": f"report/{report.key}/index.html"})

    async def report(self, request: web.Request) -> web.StreamResponse:
        report = self.report_jobs.jobs.get(request.match_info["key"])
        files = None if report is None else report.files
        return _file(files or {}, request.match_info["path"])

    async def icon(self, request: web.Request) -> web.Response:
        """Empty: browsers ask for an icon and complain if there is none."""
        return web.Response(status=204)

    async def page(self, request: web.Request) -> web.StreamResponse:
        return _file(self._pages, request.match_info["path"] or "index.html")

    async def close(self) -> None:
        await self.report_jobs.close()
        if self._measuring is not None:
            self._measuring.cancel()
        self.reader.close()

    async def _measure(self) -> None:
        while await self.reader.call(self.run_index.measure):
            pass


def make_application(
    view: ViewApp, policy: AccessPolicy, answering: Callable[[asyncio.BaseTransport | None], None]
) -> web.Application:
    """The viewer with its access policy. Args: answering: called with the transport of each complete
    request."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        answering(request.transport)
        refusal = policy.deny_reason(request)
        if refusal is not None:
            raise refusal
        return await handler(request)

    async def secured(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)

    async def closed(app: web.Application) -> None:
        await view.close()

    app = web.Application(middlewares=[guarded])
    app.on_response_prepare.append(secured)
    app.on_cleanup.append(closed)
    app.add_routes(view.routes())
    return app


async def serve(root: Path, host: str, port: int, *, remote: bool, ready: Callable[[str], None]) -> None:
    """Serves until SIGTERM or cancellation. A read that does not end keeps running: `has_pending_read`.

    Args:
        root: the folder with runs, or a bundle.
        port: 0 for any free one.
        remote: whether `host` may be reachable by other machines.
        ready: called with the address once it answers.

    Raises UsageError if it cannot listen there, RecordError if there is no such folder.
    """
    folder = _folder(root)
    with (
        listening_socket(host, port, remote=remote) as at,
        TemporaryDirectory(prefix="wildtool-view-") as place,
    ):
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(quiet_without_descriptors)
        viewer = ViewApp(folder, Path(place))
        connections = Connections(lambda: runner.server())  # pyright: ignore[reportOptionalCall]
        app = make_application(viewer, AccessPolicy(host, remote=remote), connections.request_complete)
        runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            shutdown_timeout=CLOSING_S,
            keepalive_timeout=REQUEST_S,
            lingering_time=REQUEST_S,
        )
        await runner.setup()
        listener = await loop.create_server(connections, sock=at, backlog=BACKLOG)
        try:
            ready(address_of(host, at))
            await wait_for_sigterm()
        finally:
            listener.close()
            await runner.cleanup()


def _folder(root: Path) -> Path:
    # An empty folder may get runs later; for anything else, the error says what is wrong.
    return root if root.is_dir() else run_folders(root)[0]


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


def _file(files: Mapping[str, Path], path: str) -> web.StreamResponse:
    found = files.get(path)
    if found is None:
        raise web.HTTPNotFound(text="Page not found. The list of runs: /\n")
    return web.FileResponse(
        found, headers={"Content-Type": MEDIA_TYPES.get(found.suffix, "application/octet-stream")}
    )
