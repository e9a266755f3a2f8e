"""Sessions of people who sign in: how long they hold, and who is kept out."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from review.made_sets import project
from wildtool_review.people import token_hash
from wildtool_review.project import ReviewProject
from wildtool_review.server.sign_in import SESSION_S, WRONG_S, WRONG_TOKENS, SignIn


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def request(
    remote: str = "10.0.0.1", *, cookies: dict[str, str] | None = None, forwarded: str | None = None
) -> Any:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return SimpleNamespace(remote=remote, cookies=cookies or {}, headers=headers)


@pytest.fixture
def review(tmp_path: Path) -> ReviewProject:
    return project(tmp_path, people="ann")


def started(sessions: SignIn, review: ReviewProject, token: str) -> tuple[bool, web.Response]:
    response = web.Response()
    return sessions.start(review, token, response), response


@pytest.mark.parametrize(("secure", "name"), [(False, "wildtool-review"), (True, "__Host-wildtool-review")])
def test_a_session_holds_until_it_ends_by_itself_or_its_person(
    review: ReviewProject, secure: bool, name: str
):
    clock = Clock()
    sessions = SignIn(secure=secure, clock=clock)
    token = review.add_person("owner", "ann", "reviewer")
    began, response = started(sessions, review, token)
    cookie = response.cookies[name]
    assert began
    assert {key: cookie[key] for key in ("httponly", "samesite", "secure", "path", "max-age")} == {
        "httponly": True, "samesite": "Strict", "secure": secure, "path": "/", "max-age": str(SESSION_S)
    }  # fmt: skip
    ours = request(cookies={name: cookie.value})
    assert review.store.settings("session ") == {
        f"session {token_hash(cookie.value)}": f"{1000 + SESSION_S} {token_hash(token)}"
    }
    assert [sessions.person(review, each) for each in (ours, request(), request(cookies={name: "x"}))] == [
        "ann",
        "",
        "",
    ]
    clock.now += SESSION_S
    assert sessions.person(review, ours) == "ann"
    clock.now += 1
    assert sessions.person(review, ours) == ""
    clock.now -= 1
    gone = web.Response()
    sessions.end(review, ours, gone)
    assert sessions.person(review, ours) == ""
    assert (gone.cookies[name].value, gone.cookies[name]["max-age"]) == ("", "0")
    assert review.store.settings("session ") == {}
    sessions.end(review, request(), web.Response())


def test_a_token_that_is_replaced_ends_its_sessions(review: ReviewProject):
    sessions = SignIn()
    began, response = started(sessions, review, review.add_person("owner", "ann", "reviewer"))
    ours = request(cookies={"wildtool-review": response.cookies["wildtool-review"].value})
    assert (began, sessions.person(review, ours)) == (True, "ann")
    review.add_person("owner", "ann", "reviewer")
    assert sessions.person(review, ours) == ""


def test_a_wrong_token_starts_nothing(review: ReviewProject):
    for token in ("", "wrong", "x" * 201):
        began, response = started(SignIn(), review, token)
        assert (began, len(response.cookies)) == (False, 0)
    assert SignIn("owner").person(review, request()) == "owner"


def test_who_sends_wrong_tokens_is_kept_out_for_a_while():
    clock = Clock()
    sessions = SignIn(clock=clock)
    for _ in range(WRONG_TOKENS - 1):
        sessions.note_wrong(request())
    assert not sessions.is_limited(request())
    sessions.note_wrong(request())
    assert (sessions.is_limited(request()), sessions.is_limited(request("10.0.0.2"))) == (True, False)
    clock.now += WRONG_S - 1
    assert sessions.is_limited(request())
    clock.now += 1
    assert not sessions.is_limited(request())
