"""The server of `wildtool view`: lists runs and opens their reports, for browsers on this machine only.

It is read-only: missing verdicts and all pages are written to a temporary folder. Browsers let any web page send
requests to a server like this one, so it answers only requests that name it as their host (another name may have been
pointed at this machine) and that come from its own pages or a typed address. Files are found by looking up their
address among those written, never by building a path from it.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from aiohttp import web

from wildtool.engine.score.results import run_folders
from wildtool.report.server.access import AccessPolicy, address_of, listening_socket
from wildtool.report.server.address_token import AddressToken
from wildtool.report.server.report_jobs import ReportJobs, files_below
from wildtool.report.server.run_index import RunIndex
from wildtool.report.server.serving import (
    Answering,
    WorkerThread,
    file_answer,
    guarded_application,
    json_answer,
    serve_application,
)
from wildtool.report.site.site import BESIDE, Site
from wildtool.sanitize import ellipsize
from wildtool.temporary import temporary_folder

POLICY = f"{BESIDE}; connect-src 'self'"
"""Content security policy of the list, which may load its rows."""
HEADERS: Mapping[str, str] = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'"}
_NO_PAGE = "Page not found. The list of runs: /\n"


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
        self.reader = WorkerThread()
        self._measuring: asyncio.Task[None] | None = None

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/runs.json", self.runs),
            web.get("/open.json", self.open),
            web.get("/made.json", self.made),
            web.get("/report/{key}/{path:.*}", self.report),
            web.get("/{path:.*}", self.page),
        ]

    async def runs(self, request: web.Request) -> web.Response:
        """The list; missing numbers follow in a later answer."""
        await self.reader.call(self.run_index.scan)
        if self._measuring is None or self._measuring.done():
            self._measuring = asyncio.create_task(self._measure())
        return json_answer(self.run_index.listing)

    async def open(self, request: web.Request) -> web.Response:
        """Starts the report of the runs that the address names, as they are now; returns its key."""
        runs = self.run_index.find(request.query.getall("run", []))
        if runs is None:
            # The link is older than the server: the list is not known yet.
            await self.reader.call(self.run_index.scan)
            runs = self.run_index.find(request.query.getall("run", []))
        if runs is None:
            return json_answer({"problem": "This run no longer exists."}, status=404)
        return json_answer({"key": self.report_jobs.make(runs).key})

    async def made(self, request: web.Request) -> web.Response:
        """The progress of a report."""
        report = self.report_jobs.jobs.get(request.query.get("key", ""))
        if report is None:
            return json_answer({"problem": "This report no longer exists."}, status=404)
        if report.problem:
            return json_answer({"problem": report.problem})
        if report.files is None:
            return json_answer({"step": ellipsize(report.step)})
        return json_answer({"address": f"report/{report.key}/index.html"})

    async def report(self, request: web.Request) -> web.StreamResponse:
        report = self.report_jobs.jobs.get(request.match_info["key"])
        files = None if report is None else report.files
        return file_answer(files or {}, request.match_info["path"], _NO_PAGE)

    async def page(self, request: web.Request) -> web.StreamResponse:
        return file_answer(self._pages, request.match_info["path"] or "index.html", _NO_PAGE)

    async def close(self) -> None:
        await self.report_jobs.close()
        if self._measuring is not None:
            self._measuring.cancel()
        self.reader.close()

    async def _measure(self) -> None:
        while await self.reader.call(self.run_index.measure):
            pass


async def serve(
    root: Path,
    host: str,
    port: int,
    *,
    remote: bool,
    ready: Callable[[str], None],
    token: AddressToken | None = None,
) -> None:
    """Serves until SIGTERM or cancellation. A read that does not end keeps running: `has_pending_action`.

    Args:
        root: the folder with runs, or a bundle.
        port: 0 for any free one.
        remote: whether `host` may be reachable by other machines.
        ready: called with the address, without its token, once it answers.
        token: that browsers need; None for none.

    Raises UsageError if it cannot listen there, RecordError if there is no such folder.
    """
    folder = _folder(root)
    with (
        listening_socket(host, port, remote=remote) as at,
        temporary_folder() as place,
    ):
        viewer = ViewApp(folder, Path(place))

        def make(answering: Answering) -> web.Application:
            policy = AccessPolicy(host, remote=remote)
            return guarded_application(
                viewer.routes(),
                policy,
                lambda request: HEADERS,
                answering=answering,
                close=viewer.close,
                token=token,
            )

        await serve_application(make, at, lambda: ready(address_of(host, at)))


def _folder(root: Path) -> Path:
    # An empty folder may get runs later; for anything else, the error says what is wrong.
    return root if root.is_dir() else run_folders(root)[0]
