"""The parts of local servers, one by one: deadlines of connections, who may ask, errors on the screen, answers."""

import asyncio
import signal
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import web
from multidict import CIMultiDict

from wildtool.errors import UsageError
from wildtool.report.server import access, serving
from wildtool.report.server.access import (
    AccessPolicy,
    resolve,
    wait_for_sigterm,
)
from wildtool.report.server.connections import Connection, Connections


class Inner(asyncio.Protocol):
    """The protocol of the server: notes what it is told."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def connection_made(self, transport: Any) -> None:
        self.log.append(("made", transport))

    def data_received(self, data: bytes) -> None:
        self.log.append(("data", data))

    def eof_received(self) -> bool | None:
        self.log.append("eof")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.log.append(("lost", exc))

    def pause_writing(self) -> None:
        self.log.append("pause")

    def resume_writing(self) -> None:
        self.log.append("resume")


# Deadlines of connections -----------------------------------------------------------------------------


async def test_a_connection_passes_everything_on():
    inner, every = Inner(), Connections(Inner, 1)
    connection = Connection(inner, every, cast(socket.socket, None))
    every._open[connection] = None  # pyright: ignore[reportPrivateUsage]
    transport: Any = SimpleNamespace(get_protocol=lambda: connection)
    connection.connection_made(transport)
    connection.data_received(b"x")
    assert connection.eof_received() is True
    connection.pause_writing()
    connection.resume_writing()
    every.request_complete(None)
    every.request_complete(cast(Any, SimpleNamespace(get_protocol=lambda: inner)))
    assert not connection.busy
    every.request_complete(transport)
    assert connection.busy
    connection.data_received(b"y")
    assert not connection.busy
    error = OSError()
    connection.connection_lost(error)
    assert every._open == {}  # pyright: ignore[reportPrivateUsage]
    assert inner.log == [
        ("made", transport),
        ("data", b"x"),
        "eof",
        "pause",
        "resume",
        ("data", b"y"),
        ("lost", error),
    ]


# Who may ask ------------------------------------------------------------------------------------------


def asked(method: str = "GET", host: str | None = "127.0.0.1:1", **headers: str) -> Any:
    pairs = [("Host", host)] if host is not None else []
    names = {"origin": "Origin", "site": "Sec-Fetch-Site"}
    sent = CIMultiDict([*pairs, *((names[name], value) for name, value in headers.items())])
    return SimpleNamespace(method=method, headers=sent)


NAME = "This server has another name. Use the address that it printed.\n"
SITE = "Other sites may not link here. Type the address yourself.\n"
METHOD = "405: Method Not Allowed"
PROXY = "https://Review.example.org"


@pytest.mark.parametrize(
    ("request_", "policy", "reason"),
    [
        (asked(), {}, None),
        (asked("HEAD", "localhost"), {}, None),
        (asked(host="[::1]:99999"), {}, None),
        (asked(host="MINE:80"), {}, None),
        (asked(host="::1"), {}, NAME),
        (asked(host="localhost:"), {}, NAME),
        (asked(host="localhost:123456"), {}, NAME),
        (asked(host="other"), {}, NAME),
        (asked(host="machine"), {}, NAME),
        (asked(host="a b"), {}, NAME),
        (asked(host=None), {}, NAME),
        (asked(host="10.1.2.3"), {}, NAME),
        (asked(host="10.1.2.3"), {"remote": True}, None),
        (asked(host="[2001:db8::1]:1"), {"remote": True}, None),
        (asked(host="machine:1"), {"remote": True}, None),
        (asked(host="other"), {"remote": True}, NAME),
        (asked(origin="http://127.0.0.1:1"), {}, None),
        (asked(origin="https://127.0.0.1:1"), {}, SITE),
        (asked(origin="https://127.0.0.1:1"), {"scheme": "https"}, None),
        (asked(origin="null"), {}, SITE),
        (asked(site="none"), {}, None),
        (asked(site="same-origin"), {}, None),
        (asked(site="same-origin", origin="http://x"), {}, SITE),
        (asked(site="cross-site"), {}, SITE),
        (asked(site="cross-site", origin="http://127.0.0.1:1"), {}, SITE),
        (asked("POST"), {}, METHOD),
        (asked("POST", origin="http://127.0.0.1:1"), {}, METHOD),
        (asked("POST"), {"writes": True}, SITE),
        (asked("POST", origin="http://127.0.0.1:1"), {"writes": True}, None),
        (asked(), {"writes": True}, None),
        (asked("PUT"), {"writes": True}, METHOD),
        (asked(host="review.example.org", origin=PROXY), {"proxy": PROXY}, None),
        (asked(host="mine", origin=PROXY), {"proxy": PROXY}, None),
        (asked(host="review.example.org", origin=PROXY.replace("s:", ":")), {"proxy": PROXY}, SITE),
        (asked(host="other"), {"proxy": "nonsense"}, NAME),
    ],
)
def test_requests_are_answered_by_host_origin_and_method(
    monkeypatch: pytest.MonkeyPatch, request_: Any, policy: dict[str, Any], reason: str | None
):
    monkeypatch.setattr(access.socket, "gethostname", lambda: "Machine")
    refusal = AccessPolicy("Mine", **{"remote": False, **policy}).deny_reason(
        request_.method, request_.headers
    )
    assert (refusal and refusal.text) == reason
    if isinstance(refusal, web.HTTPMethodNotAllowed):
        assert refusal.allowed_methods == {"GET", "HEAD", *(["POST"] if policy else [])}


# Where it listens -------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("unknown"), UnicodeError("too long"), OverflowError("port")])
def test_a_host_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception):
    def fail(*words: Any, **options: Any) -> Any:
        raise error

    monkeypatch.setattr(access.socket, "getaddrinfo", fail)
    with pytest.raises(UsageError) as caught:
        resolve("nowhere", 1, remote=True)
    assert str(caught.value) == f"--host nowhere: no such host ({error})"


async def test_sigterm_ends_the_wait_where_it_can_be_handled(monkeypatch: pytest.MonkeyPatch):
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", handlers.__setitem__)
    waiting = asyncio.create_task(wait_for_sigterm())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert list(handlers) == [signal.SIGTERM]
    handlers[signal.SIGTERM]()
    await waiting

    def refuse(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", refuse)
    waiting = asyncio.create_task(wait_for_sigterm())
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()


# Errors on the screen ---------------------------------------------------------------------------------


def test_of_errors_that_nobody_awaits_those_of_the_network_are_not_named(capsys: pytest.CaptureFixture[str]):
    loop: Any = None
    for context in ({}, {"exception": "text"}, {"exception": OSError()}, {"exception": ValueError("secret")}):
        serving._log_unhandled(loop, context)  # pyright: ignore[reportPrivateUsage]
    assert capsys.readouterr().err == "internal error: ValueError\n"
