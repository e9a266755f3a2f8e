"""The server of a review's pages: who may ask, what they ask for, and how errors are answered.

Every request names this server as its host and comes from its own pages (`wildtool.report.server.access`). Pages are
static files from a fixed table. All work on the review happens in one thread, since a store is for one thread.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from wildtool.errors import UsageError
from wildtool.report.server.access import AccessPolicy, address_of, listening_socket, resolve
from wildtool.report.server.address_token import AddressToken
from wildtool.report.server.serving import (
    Answering,
    guarded_application,
    json_answer,
    serve_application,
)
from wildtool_review.history import EditConflict
from wildtool_review.project import ReviewProject
from wildtool_review.server.bodies import BODY_LIMITS
from wildtool_review.server.checks import ChecksProgress, RuleChecks, is_long
from wildtool_review.server.operations import (
    READS,
    WRITES,
    Operation,
    RecordedRuns,
    ReviewService,
)
from wildtool_review.server.pages import OK, PageServer, body_of
from wildtool_review.server.payloads import Payload, problem_payload
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.server.sign_in import SignIn

PAGES_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of everything."""
_RISK = (
    "People sign in there, so say how it is encrypted: --tls-cert and --tls-key, or --behind-proxy ORIGIN if a proxy "
    "does that"
)
_SIGN_IN = problem_payload(UsageError("Sign in first.")), 401
_SIGN_IN_BYTES = 4096


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
    risk: str = _RISK
    """What to say where others could reach it unprotected."""

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
        resolve(self.host, self.port, remote=self.signs_in, risk=self.risk)
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


class ReviewApp(PageServer):
    """What the server of a review answers."""

    own_files = ("index.html", "editor.js", "decisions.js", "item.js", "review.js")
    shared_files = ("site.css", "site.js", "trajectory_texts.js")

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
        super().__init__()
        self.project = project
        self.sign_in = sign_in
        self.checks = RuleChecks(project, self.work, on_progress) if on_progress else None
        if self.checks:
            project.is_checked_later = is_long
        self.service = ReviewService(
            project,
            name,
            signs_in=not sign_in.alone,
            runs=runs,
            checks=self.checks,
            regeneration=regeneration,
        )

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/sign-in", self.session),
            web.post("/api/sign-in", self.start_session),
            web.post("/api/sign-out", self.end_session),
            web.get("/api/{what}", self.read),
            web.post("/api/{what}", self.write),
            web.get("/{path:.*}", self.page),
        ]

    async def read(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, READS, dict(request.query))

    async def write(self, request: web.Request) -> web.StreamResponse:
        # What strangers send is not read.
        refused = await self.told(
            lambda: ({}, OK) if self.sign_in.person(self.project, request) else _SIGN_IN
        )
        return (
            refused if refused.status != OK else await self._answer(request, WRITES, await body_of(request))
        )

    async def session(self, request: web.Request) -> web.Response:
        """Whether somebody is signed in."""
        return await self.told(lambda: ({"who": self.sign_in.person(self.project, request)}, OK))

    async def start_session(self, request: web.Request) -> web.Response:
        if self.sign_in.is_limited(request):
            return json_answer(
                problem_payload(UsageError("Too many wrong tokens. Try again in a minute.")), 429
            )
        fits = request.content_length is not None and request.content_length <= _SIGN_IN_BYTES
        token = str((await body_of(request)).get("token", "")) if fits else ""
        response = json_answer({})

        def start() -> tuple[Any, int]:
            self.project.refresh()
            if self.sign_in.alone or self.sign_in.start(self.project, token.strip(), response):
                return {}, OK
            self.sign_in.note_wrong(request)
            wrong = UsageError("This token is nobody's. Ask for a new one: wildtool review people add")
            return problem_payload(wrong), 401

        answer = await self.told(start)
        return response if answer.status == OK else answer

    async def end_session(self, request: web.Request) -> web.Response:
        response = json_answer({})

        def end() -> tuple[Any, int]:
            self.sign_in.end(self.project, request, response)
            return {}, OK

        answer = await self.told(end)
        return response if answer.status == OK else answer

    async def start(self) -> None:
        if self.checks:
            self.checks.start()

    async def close(self) -> None:
        if self.checks:
            await self.checks.stop()
        if self.service.regeneration:
            await self.work(self.service.regeneration.close)
        await self.work(self.project.close)
        await super().close()

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
                return operation(self.service, person, body), OK
            except EditConflict as error:
                return self.service.conflict(error, person, body), 409

        return await self.told(act)


# Serving ------------------------------------------------------------------------------------------------


def review_application(
    review: PageServer,
    policy: AccessPolicy,
    answering: Answering = lambda transport: None,
    token: AddressToken | None = None,
) -> web.Application:
    """The pages with their access policy. Args: as of `guarded_application`."""

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
    await serve_at(
        listen,
        lambda: ReviewApp(project, name, sign_in, runs, on_progress, regeneration),
        ready,
        token,
    )


async def serve_at(
    listen: Listen,
    make: Callable[[], PageServer],
    ready: Callable[[str], None],
    token: AddressToken | None,
) -> None:
    """Serves pages until SIGTERM or cancellation. Args and errors: as of `serve_review`; make: makes what answers."""
    policy = AccessPolicy(
        listen.host, remote=listen.signs_in, scheme=listen.scheme, proxy=listen.proxy, writes=True
    )
    with listening_socket(listen.host, listen.port, remote=listen.signs_in, risk=listen.risk) as at:
        await serve_application(
            lambda answering: review_application(make(), policy, answering, token),
            at,
            lambda: ready(listen.proxy + "/" if listen.proxy else address_of(listen.host, at, listen.scheme)),
            listen.tls(),
        )
