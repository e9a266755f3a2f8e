"""Sessions of people who sign in: how long they hold, and who is kept out."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from review.made_sets import project
from wildtool.sets.review.people import token_hash
from wildtool.sets.review.project import ReviewProject
from wildtool.sets.review.server import sign_in
from wildtool.sets.review.server.sign_in import SESSION_S, WRONG_S, WRONG_TOKENS, SignIn


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


def test_only_so_many_sessions_are_kept_and_none_that_has_ended(
    review: ReviewProject, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sign_in, "_MOST_SESSIONS", 2)
    clock = Clock()
    sessions = SignIn(clock=clock)
    token = review.add_person("owner", "ann", "reviewer")
    values: list[str] = []
    for _ in range(3):
        clock.now += 1
        values.append(started(sessions, review, token)[1].cookies["wildtool-review"].value)
    assert set(review.store.settings("session ")) == {f"session {token_hash(value)}" for value in values[1:]}
    clock.now += SESSION_S + 1
    last = started(sessions, review, token)[1].cookies["wildtool-review"].value
    assert set(review.store.settings("session ")) == {f"session {token_hash(last)}"}


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


@pytest.mark.parametrize(
    ("proxied", "remote", "forwarded", "address"),
    [
        (False, "10.0.0.1", "1.2.3.4", "10.0.0.1"),
        (True, "10.0.0.1", "9.9.9.9, 1.2.3.4", "1.2.3.4"),
        (True, "10.0.0.1", None, "10.0.0.1"),
        (True, "10.0.0.1", "odd", "10.0.0.1"),
        (False, "2001:db8:1:2:3::4", None, "2001:db8:1:2::/64"),
        (False, "", None, ""),
    ],
)
def test_an_address_is_that_of_the_browser(proxied: bool, remote: str, forwarded: str | None, address: str):
    sessions = SignIn(proxied=proxied)
    assert sessions._address(request(remote, forwarded=forwarded)) == address  # pyright: ignore[reportPrivateUsage]


def test_only_so_many_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sign_in, "_MOST_ADDRESSES", 2)
    sessions = SignIn()
    for number in range(3):
        sessions.note_wrong(request(f"10.0.0.{number}"))
    assert list(sessions._wrong) == ["10.0.0.1", "10.0.0.2"]  # pyright: ignore[reportPrivateUsage]
