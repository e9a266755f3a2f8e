"""Who asks: one person on this machine, or people who signed in with their personal tokens.

A session is a random cookie that no script reads. What it means is kept in memory and checked against the store at
each request, so a revoked or replaced token ends its sessions at once.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from wildtool.review.people import token_hash
from wildtool.review.project import ReviewProject

SESSION_S = 12 * 3600
"""Seconds until a person has to sign in again."""
_MOST_SESSIONS = 1000
"""Sessions that are kept; the oldest end first."""
_LONGEST_TOKEN = 200


@dataclass(frozen=True, slots=True)
class _Session:
    token: str
    ends: float


class SignIn:
    """The sessions of a server."""

    def __init__(
        self, alone: str = "", *, secure: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        """Args:
        alone: who acts where nobody signs in; empty if everyone has to.
        secure: whether browsers reach the server by https only.
        clock: seconds now.
        """
        self.alone = alone
        # A prefix that browsers only accept from the host itself, by https.
        self._cookie = "__Host-wildtool-review" if secure else "wildtool-review"
        self._secure = secure
        self._clock = clock
        self._sessions: dict[str, _Session] = {}

    def person(self, project: ReviewProject, request: web.BaseRequest) -> str:
        """The name of the person who asks; empty if nobody has signed in."""
        if self.alone:
            return self.alone
        session = self._sessions.get(token_hash(request.cookies.get(self._cookie, "")))
        if session is None or session.ends < self._clock():
            return ""
        person = project.person_of(session.token)
        return person.name if person else ""

    def start(self, project: ReviewProject, token: str, response: web.Response) -> bool:
        """Starts a session for the owner of a token, and puts its cookie into the response; False for a wrong token."""
        if len(token) > _LONGEST_TOKEN or project.person_of(token) is None:
            return False
        key = secrets.token_urlsafe(32)
        self._sessions[token_hash(key)] = _Session(token, self._clock() + SESSION_S)
        while len(self._sessions) > _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        response.set_cookie(
            self._cookie,
            key,
            httponly=True,
            samesite="Strict",
            secure=self._secure,
            path="/",
            max_age=SESSION_S,
        )
        return True

    def end(self, request: web.BaseRequest, response: web.Response) -> None:
        """Ends the session of a request."""
        self._sessions.pop(token_hash(request.cookies.get(self._cookie, "")), None)
        response.del_cookie(self._cookie, path="/", httponly=True, samesite="Strict", secure=self._secure)
