"""The server of a review's pages: who may ask, what they ask for, and how errors are answered.

Every request names this server as its host and comes from its own pages (`wildtool.report.server.access`). Pages are
static files from a fixed table. All work on the review happens in one thread, since a store is for one thread.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from wildtool import json_codec
from wildtool.errors import DataError, RecordError, StorageError, UsageError
from wildtool.json_codec import as_object
from wildtool.report.server.access import AccessPolicy, address_of, listening_socket, resolve
from wildtool.report.server.address_token import AddressToken
from wildtool.report.server.serving import (
    Answering,
    WorkerThread,
    file_answer,
    guarded_application,
    json_answer,
    serve_application,
)
from wildtool_review.history import EditConflict
from wildtool_review.project import ReviewProject
from wildtool_review.server.checks import ChecksProgress, RuleChecks
from wildtool_review.server.operations import (
    BODY_LIMITS,
    READS,
    WRITES,
    Operation,
    RecordedRuns,
    ReviewService,
)
from wildtool_review.server.payloads import Payload, problem_payload
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.server.sign_in import SignIn

PAGES_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of everything."""
_OWN_FILES = (
    "index.html",
    "review.css",
    "words.js",
    "messages.js",
    "api.js",
    "graph.js",
    "figures.js",
    "saves.js",
    "editor.js",
    "decisions.js",
    "item.js",
    "review.js",
)
_RISK = (
    "People sign in there, so say how it is encrypted: --tls-cert and --tls-key, or --behind-proxy ORIGIN if a proxy "
    "does that"
)
_OK = 200
_SIGN_IN = problem_payload(UsageError("Sign in first.")), 401
_SIGN_IN_BYTES = 4096
_TOO_LARGE = "This is too long to be saved.\n"
_SHARED_FILES = ("site.css", "site.js", "trajectory_texts.js")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where a server listens, and how browsers reach it."""

    host: str = "127.0.0.1"
    port: int = 8643
    """0 for any free one."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    proxy: str = ""
    """The origin of a proxy before it, such as `https://review.example.org`."""

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    @property
    def signs_in(self) -> bool:
        """Whether people have to sign in: others may reach it."""
        return bool(self.tls_cert or self.proxy)

    def check(self) -> None:
        """Raises UsageError for what cannot go together, and where others could reach it unprotected."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise UsageError("--tls-cert and --tls-key belong together: give both files")
        if self.proxy:
            parts = urlsplit(self.proxy)
            local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
            plain = self.proxy == f"{parts.scheme}://{parts.netloc}" and "@" not in parts.netloc
            if not parts.hostname or not plain or not (parts.scheme == "https" or local):
                raise UsageError(
                    f"--behind-proxy {self.proxy}: expected the address in people's browsers, without a path, such as "
                    "https://review.example.org"
                )
        resolve(self.host, self.port, remote=self.signs_in, risk=_RISK)
        self.tls()

    def tls(self) -> ssl.SSLContext | None:
        """What encrypts; None where the server does not. Raises UsageError for files that cannot be used."""
        if self.tls_cert is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"--tls-cert {self.tls_cert}: cannot be used ({error})") from error
        return context


class ReviewApp:
    """What the server answers."""

    def __init__(
        self,
        project: ReviewProject,
        name: str,
        sign_in: SignIn,
        runs: RecordedRuns | None = None,
        on_progress: Callable[[ChecksProgress], None] | None = None,
        regeneration: Regeneration | None = None,
    ) -> None:
        """Args: as of `ReviewService` and `RuleChecks`; on_progress: None if the rules do not run by themselves."""
        self.project = project
        self.sign_in = sign_in
        self.checks = RuleChecks(project, self.work, on_progress) if on_progress else None
        self.service = ReviewService(
            project,
            name,
            signs_in=not sign_in.alone,
            runs=runs,
            checks=self.checks,
            regeneration=regeneration,
        )
        self._thread = WorkerThread()
        self._files = _page_files()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/sign-in", self.session),
            web.post("/api/sign-in", self.start_session),
            web.post("/api/sign-out", self.end_session),
            web.get("/api/{what}", self.read),
            web.post("/api/{what}", self.write),
            web.get("/{path:.*}", self.page),
        ]

    async def work(self, action: Callable[[], Any]) -> Any:
        """The result of an action in the thread that has the store."""
        return await self._thread.call(action)

    async def read(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, READS, dict(request.query))

    async def write(self, request: web.Request) -> web.StreamResponse:
        # What strangers send is not read.
        refused = await self._told(
            lambda: ({}, _OK) if self.sign_in.person(self.project, request) else _SIGN_IN
        )
        return refused if refused.status != _OK else await self._answer(request, WRITES, await _body(request))

    async def session(self, request: web.Request) -> web.Response:
        """Whether somebody is signed in."""
        return await self._told(lambda: ({"who": self.sign_in.person(self.project, request)}, _OK))

    async def start_session(self, request: web.Request) -> web.Response:
        if self.sign_in.is_limited(request):
            return json_answer(
                problem_payload(UsageError("Too many wrong tokens. Try again in a minute.")), 429
            )
        fits = request.content_length is not None and request.content_length <= _SIGN_IN_BYTES
        token = str((await _body(request)).get("token", "")) if fits else ""
        response = json_answer({})

        def start() -> tuple[Any, int]:
            self.project.refresh()
            if self.sign_in.alone or self.sign_in.start(self.project, token.strip(), response):
                return {}, _OK
            self.sign_in.note_wrong(request)
            wrong = UsageError("This token is nobody's. Ask for a new one: wildtool review people add")
            return problem_payload(wrong), 401

        answer = await self._told(start)
        return response if answer.status == _OK else answer

    async def end_session(self, request: web.Request) -> web.Response:
        response = json_answer({})

        def end() -> tuple[Any, int]:
            self.sign_in.end(self.project, request, response)
            return {}, _OK

        answer = await self._told(end)
        return response if answer.status == _OK else answer

    async def page(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"] or "index.html"
        return file_answer(self._files, path, "There is no such page. The review: /\n")

    async def start(self) -> None:
        if self.checks:
            self.checks.start()

    async def close(self) -> None:
        if self.checks:
            await self.checks.stop()
        if self.service.regeneration:
            await self.work(self.service.regeneration.close)
        await self.work(self.project.close)
        self._thread.close()

    async def _answer(
        self, request: web.Request, table: Mapping[str, Operation], body: Payload
    ) -> web.StreamResponse:
        operation = table.get(request.match_info["what"])

        def act() -> tuple[Any, int]:
            self.project.refresh()
            person = self.sign_in.person(self.project, request)
            if not person:
                return _SIGN_IN
            if operation is None:
                return problem_payload(UsageError("There is no such thing to ask for.")), 404
            try:
                return operation(self.service, person, body), _OK
            except EditConflict as error:
                return self.service.conflict(error, person, body), 409

        return await self._told(act)

    async def _told(self, act: Callable[[], tuple[Any, int]]) -> web.Response:
        """The answer and status that an action gives in the thread that has the store, or its error."""

        def told() -> tuple[Any, int]:
            try:
                return act()
            except (UsageError, DataError) as error:
                return problem_payload(error), 422
            except StorageError as error:
                return problem_payload(StorageError("The review cannot be saved: {0}", error)), 507
            except RecordError as error:
                return problem_payload(error), 500

        answer, status = await self.work(told)
        return json_answer(answer, status)


async def _body(request: web.Request) -> Payload:
    """The JSON object of a request. Raises the answer for anything else."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="Expected JSON.\n")
    try:
        return as_object(json_codec.loads_within(await request.read(), BODY_LIMITS))
    except web.HTTPRequestEntityTooLarge as error:
        error.text = _TOO_LARGE
        raise
    except ValueError as error:
        raise web.HTTPBadRequest(text="Expected one JSON object, not too large.\n") from error


def _page_files() -> dict[str, Path]:
    """The files of the pages, by address."""
    own, shared = files("wildtool_review.server") / "assets", files("wildtool.report") / "assets"
    places = {name: own / name for name in _OWN_FILES} | {name: shared / name for name in _SHARED_FILES}
    return {name: Path(str(place)) for name, place in places.items()}


# Serving ------------------------------------------------------------------------------------------------


def review_application(
    review: ReviewApp,
    policy: AccessPolicy,
    answering: Answering = lambda transport: None,
    token: AddressToken | None = None,
) -> web.Application:
    """The review with its access policy. Args: as of `guarded_application`."""

    def headers(request: web.Request) -> Mapping[str, str]:
        caching = {"Cache-Control": "no-store"} if request.path.startswith("/api/") else {}
        return {"Content-Security-Policy": PAGES_POLICY, **caching}

    return guarded_application(
        review.routes(),
        policy,
        headers,
        answering=answering,
        start=review.start,
        close=review.close,
        body_bytes=BODY_LIMITS.bytes,
        token=token,
    )


async def serve_review(
    project: ReviewProject,
    name: str,
    listen: Listen,
    *,
    person: str,
    ready: Callable[[str], None],
    runs: RecordedRuns | None = None,
    on_progress: Callable[[ChecksProgress], None] | None = None,
    regeneration: Regeneration | None = None,
    token: AddressToken | None = None,
) -> None:
    """Serves a review until SIGTERM or cancellation, and closes it.

    Args:
        person: who acts where nobody signs in.
        ready: called with the address, without its token, once it answers.
        token: that browsers need; None for none, as where people sign in.
        runs, on_progress, regeneration: as of `ReviewApp`.

    Raises UsageError if it cannot listen there, or others could reach it unprotected.
    """
    listen.check()
    sign_in = SignIn(
        "" if listen.signs_in else person,
        secure=(listen.proxy or listen.scheme).startswith("https"),
        proxied=bool(listen.proxy),
    )
    policy = AccessPolicy(
        listen.host, remote=listen.signs_in, scheme=listen.scheme, proxy=listen.proxy, writes=True
    )
    with listening_socket(listen.host, listen.port, remote=listen.signs_in, risk=_RISK) as at:
        await serve_application(
            lambda answering: review_application(
                ReviewApp(project, name, sign_in, runs, on_progress, regeneration), policy, answering, token
            ),
            at,
            lambda: ready(listen.proxy + "/" if listen.proxy else address_of(listen.host, at, listen.scheme)),
            listen.tls(),
        )
