"""Who asks: one person on this machine, or people who signed in with their personal tokens.

A session is a random cookie that no script reads. What it means is a setting of the store, so it outlives the server; it
holds as long as its token does, so a revoked or replaced token ends its sessions at once.
"""

import ipaddress
import secrets
import time
from collections.abc import Callable

from aiohttp import web

from wildtool_review.people import token_hash
from wildtool_review.project import ReviewProject

SESSION_S = 12 * 3600
"""Seconds until a person has to sign in again."""
WRONG_TOKENS = 10
"""Wrong tokens from one address within `WRONG_S` seconds; then nobody signs in from there for a while."""
WRONG_S = 60.0
_SESSION_SETTING = "session "
_MOST_SESSIONS = 1000
"""Sessions that are kept; those that end first go first."""
_MOST_ADDRESSES = 10_000


class SignIn:
    """The sessions of a server."""

    def __init__(
        self,
        alone: str = "",
        *,
        secure: bool = False,
        proxied: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Args:
        alone: who acts where nobody signs in; empty if everyone has to.
        secure: whether browsers reach the server by https only.
        proxied: whether requests come from a proxy, which says for whom.
        clock: seconds now.
        """
        self.alone = alone
        # A prefix that browsers only accept from the host itself, by https.
        self._cookie = "__Host-wildtool-review" if secure else "wildtool-review"
        self._secure = secure
        self._proxied = proxied
        self._clock = clock
        self._wrong: dict[str, list[float]] = {}
        """When wrong tokens came, by address."""

    def person(self, project: ReviewProject, request: web.BaseRequest) -> str:
        """The name of the person who asks; empty if nobody has signed in."""
        if self.alone:
            return self.alone
        session = project.store.setting(self._setting(request))
        ends, _, token = (session or "").partition(" ")
        if not token or float(ends) < self._clock():
            return ""
        person = project.person_of_hash(token)
        return person.name if person else ""

    def is_limited(self, request: web.BaseRequest) -> bool:
        """Whether too many wrong tokens came from where a request comes from."""
        return len(self._recent(self._address(request))) >= WRONG_TOKENS

    def note_wrong(self, request: web.BaseRequest) -> None:
        """Counts a wrong token."""
        address = self._address(request)
        self._wrong[address] = [*self._recent(address), self._clock()]
        while len(self._wrong) > _MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def start(self, project: ReviewProject, token: str, response: web.Response) -> bool:
        """Starts a session for the owner of a token, and puts its cookie into the response; False for a wrong token."""
        if project.person_of(token) is None:
            return False
        key, now = secrets.token_urlsafe(32), self._clock()
        ends = {
            name: float(value.split()[0]) for name, value in project.store.settings(_SESSION_SETTING).items()
        }
        latest = sorted((name for name in ends if ends[name] >= now), key=lambda name: -ends[name])
        for name in ends.keys() - set(latest[: _MOST_SESSIONS - 1]):
            project.store.set_setting(name, None)
        project.store.set_setting(
            _SESSION_SETTING + token_hash(key), f"{now + SESSION_S:.0f} {token_hash(token)}"
        )
        response.set_cookie(
            self._cookie,
            key,
            httponly=True,
            samesite="Strict",
            secure=self._secure,
            max_age=SESSION_S,
        )
        return True

    def end(self, project: ReviewProject, request: web.BaseRequest, response: web.Response) -> None:
        """Ends the session of a request."""
        project.store.set_setting(self._setting(request), None)
        response.del_cookie(self._cookie, httponly=True, samesite="Strict", secure=self._secure)

    def _setting(self, request: web.BaseRequest) -> str:
        return _SESSION_SETTING + token_hash(request.cookies.get(self._cookie, ""))

    def _recent(self, address: str) -> list[float]:
        return [when for when in self._wrong.get(address, ()) if when > self._clock() - WRONG_S]

    def _address(self, request: web.BaseRequest) -> str:
        """Where a request comes from: an IPv4 address, or the network of an IPv6 one, which has more than can be kept."""
        header = request.headers.get("X-Forwarded-For", "") if self._proxied else ""
        try:
            address = ipaddress.ip_address(header.rpartition(",")[2].strip() or request.remote or "")
        except ValueError:
            return request.remote or ""
        return (
            str(address)
            if address.version == 4
            else str(ipaddress.ip_network((int(address), 64), strict=False))
        )
