"""The parts of local servers, one by one: deadlines of connections, who may ask, errors on the screen, answers."""

import asyncio
import json
import logging
import signal
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from multidict import CIMultiDict

from engine.instant_time import instantly, now
from wildtool.errors import UsageError
from wildtool.report.server import access, connections, serving
from wildtool.report.server.access import (
    AccessPolicy,
    address_of,
    listening_socket,
    resolve,
    wait_for_sigterm,
)
from wildtool.report.server.connections import Connection, Connections
from wildtool.report.server.serving import (
    WorkerThread,
    file_answer,
    json_answer,
    log_error,
)


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


@pytest.mark.parametrize(
    ("events", "closed_at"),
    [
        ([], 10.0),
        ([(4, "data")], 10.0),
        ([(4, "whole")], 604.0),
        ([(4, "whole"), (9, "whole")], 609.0),
        ([(4, "whole"), (5, "data")], 15.0),
        ([(4, "whole"), (5, "data"), (6, "data")], 15.0),
        ([(4, "lost")], None),
    ],
)
def test_a_connection_is_closed_at_its_deadline(events: Sequence[tuple[int, str]], closed_at: float | None):
    closed: list[float] = []

    async def live() -> None:
        connection = Connection(Inner(), Connections(Inner, 1), cast(socket.socket, None))
        connection.connection_made(cast(Any, SimpleNamespace(abort=lambda: closed.append(now()))))
        for at, event in events:
            await asyncio.sleep(at - now())
            match event:
                case "data":
                    connection.data_received(b"x")
                case "whole":
                    connection.start_answer()
                case _:
                    connection.connection_lost(None)
        await asyncio.sleep(10_000)

    instantly(live())
    assert closed == ([] if closed_at is None else [closed_at])


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


async def test_a_connection_that_has_no_transport_yet_is_shut_down():
    ours, theirs = socket.socketpair()
    connection = Connection(Inner(), Connections(Inner, 1), ours)
    theirs.settimeout(5)
    connection.close()
    assert theirs.recv(1) == b""
    ours.close()
    connection.close()
    theirs.close()


class Client:
    """The other end of a connection that is started."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.theirs.setblocking(False)

    @property
    def is_open(self) -> bool:
        try:
            return self.theirs.recv(1) != b""
        except BlockingIOError:
            return True


async def test_of_too_many_connections_the_oldest_that_waits_is_closed_else_the_oldest():
    every = Connections(Inner, 2)
    clients = [Client() for _ in range(5)]

    async def start(client: Client) -> list[bool]:
        await every._start(client.ours, None)  # pyright: ignore[reportPrivateUsage]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return [each.is_open for each in clients]

    assert await start(clients[0]) == [True] * 5
    (first,) = every._open  # pyright: ignore[reportPrivateUsage]
    first.start_answer()
    assert await start(clients[1]) == [True] * 5
    assert await start(clients[2]) == [True, False, True, True, True]
    for connection in every._open:  # pyright: ignore[reportPrivateUsage]
        connection.start_answer()
    assert await start(clients[3]) == [False, False, True, True, True]
    assert await start(clients[4]) == [False, False, True, False, True]
    for connection in list(every._open):  # pyright: ignore[reportPrivateUsage]
        connection.close()
    await asyncio.sleep(0)
    for client in clients:
        client.theirs.close()


@pytest.mark.parametrize("encrypted", [False, True])
async def test_what_cannot_be_understood_in_time_is_no_connection(
    monkeypatch: pytest.MonkeyPatch, encrypted: bool
):
    every, options = Connections(Inner, 1), list[Any]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if encrypted else None

    async def connect(factory: Any, accepted: Any, **words: Any) -> None:
        options.append((isinstance(factory(), Connection), accepted, words))
        assert len(every._open) == 1  # pyright: ignore[reportPrivateUsage]
        raise ssl.SSLError("no handshake")

    monkeypatch.setattr(asyncio.get_running_loop(), "connect_accepted_socket", connect)
    await every._start(cast(Any, "accepted"), context)  # pyright: ignore[reportPrivateUsage]
    limit = 10.0 if encrypted else None
    assert options == [(True, "accepted", {"ssl": context, "ssl_handshake_timeout": limit})]
    assert every._open == {}  # pyright: ignore[reportPrivateUsage]


def test_a_server_allows_as_many_connections_as_its_descriptors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "connection_limit", lambda: 7)
    assert [Connections(Inner, most)._most for most in (None, 0, 3)] == [7, 0, 3]  # pyright: ignore[reportPrivateUsage]


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


def test_a_server_listens_at_the_address_of_its_host():
    assert resolve("127.0.0.1", 80, remote=False) == (socket.AF_INET, ("127.0.0.1", 80))
    assert resolve("0.0.0.0", 81, remote=True) == (socket.AF_INET, ("0.0.0.0", 81))
    with pytest.raises(UsageError) as caught:
        resolve("0.0.0.0", 80, remote=False, risk="Beware.")
    assert str(caught.value) == "--host 0.0.0.0 can be reached by other machines. Beware."
    with pytest.raises(UsageError) as readable:
        listening_socket("0.0.0.0", 0, remote=False)
    assert str(readable.value) == (
        "--host 0.0.0.0 can be reached by other machines. Nothing is encrypted: anyone in between can read the token, and"
        " all runs with every prompt and reply. Add --allow-remote if you want this"
    )
    with listening_socket("127.0.0.1", 0, remote=False) as at:
        port = at.getsockname()[1]
        assert address_of("127.0.0.1", at) == f"http://127.0.0.1:{port}/"
        assert address_of("::1", at, "https") == f"https://[::1]:{port}/"
        with pytest.raises(UsageError) as taken:
            listening_socket("127.0.0.1", port, remote=False)
    assert str(taken.value) == (
        f"cannot listen at 127.0.0.1, port {port} (Address already in use); --port 0 picks a free one"
    )


@pytest.mark.parametrize("error", [OSError("unknown"), UnicodeError("too long"), OverflowError("port")])
def test_a_host_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception):
    def fail(*words: Any, **options: Any) -> Any:
        raise error

    monkeypatch.setattr(access.socket, "getaddrinfo", fail)
    with pytest.raises(UsageError) as caught:
        resolve("nowhere", 1, remote=True)
    assert str(caught.value) == f"--host nowhere: no such host ({error})"


def test_addresses_with_a_zone_are_known_as_those_of_this_machine(monkeypatch: pytest.MonkeyPatch):
    info = [(socket.AF_INET6, 1, 6, "", ("::1%lo", 80, 0, 1))]
    monkeypatch.setattr(access.socket, "getaddrinfo", lambda *words, **options: info)
    assert resolve("localhost", 80, remote=False) == (socket.AF_INET6, ("::1%lo", 80))


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


def raised(act: Any) -> BaseException:
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def test_an_unexpected_error_is_named_with_its_place_in_this_project(capsys: pytest.CaptureFixture[str]):
    log_error(raised(lambda: AccessPolicy(cast(Any, None), remote=False)))
    line = capsys.readouterr().err
    assert line.startswith("internal error: AttributeError in access.py, line ")
    log_error(raised(lambda: json.loads("secret{")))
    elsewhere = capsys.readouterr().err
    assert elsewhere.startswith("internal error: JSONDecodeError in decoder.py, line ")
    assert "secret" not in elsewhere
    log_error(KeyError("secret"))
    assert capsys.readouterr().err == "internal error: KeyError\n"


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        (KeyError("x"), "internal error: KeyError\n"),
        (BadHttpMessage("faulty"), ""),
        (ConnectionResetError(), ""),
        (None, ""),
    ],
)
def test_faulty_requests_and_lost_connections_are_not_named(
    capsys: pytest.CaptureFixture[str], error: BaseException | None, printed: str
):
    log = serving._ErrorLog()  # pyright: ignore[reportPrivateUsage]
    info: Any = (type(error), error, None) if error else None
    log.emit(logging.LogRecord("x", logging.ERROR, "p", 1, "words", (), info))
    assert capsys.readouterr().err == printed


def test_of_errors_that_nobody_awaits_those_of_the_network_are_not_named(capsys: pytest.CaptureFixture[str]):
    loop: Any = None
    for context in ({}, {"exception": "text"}, {"exception": OSError()}, {"exception": ValueError("secret")}):
        serving._log_unhandled(loop, context)  # pyright: ignore[reportPrivateUsage]
    assert capsys.readouterr().err == "internal error: ValueError\n"


# Answers and actions ----------------------------------------------------------------------------------


def test_values_become_json_that_browsers_read():
    for value, body in (
        ({"a": float("nan"), "b": "你"}, '{"a":null,"b":"你"}'.encode()),
        ([2**70], b"[1180591620717411303424]"),
    ):
        answer = json_answer(value, 201)
        assert (answer.status, answer.content_type, answer.body) == (201, "application/json", body)
    assert json_answer([]).status == 200
    assert json.loads(cast(bytes, json_answer(["\ud800"]).body)) == ["\ud800"]


def test_a_file_is_answered_with_its_kind(tmp_path: Path):
    kinds = {
        "a.html": "text/html; charset=utf-8",
        "a.js": "text/javascript; charset=utf-8",
        "a.css": "text/css; charset=utf-8",
        "a.csv": "text/csv; charset=utf-8",
        "a.svg": "image/svg+xml",
        "a.png": "image/png",
        "a.bin": "application/octet-stream",
    }
    files = {f"x/{name}": tmp_path / name for name in kinds}
    answers = {path: file_answer(files, path, "nothing") for path in files}
    assert {path[2:]: answer.headers["Content-Type"] for path, answer in answers.items()} == kinds
    with pytest.raises(web.HTTPNotFound) as caught:
        file_answer(files, "a.html", "nothing here")
    assert caught.value.text == "nothing here"


async def test_actions_of_a_thread_follow_each_other_and_raise_where_they_are_awaited():
    thread = WorkerThread()
    log: list[int] = []
    first, cancelled, last = (
        asyncio.ensure_future(thread.call(lambda number=number: log.append(number) or number))
        for number in (1, 2, 3)
    )
    cancelled.cancel()
    assert (await first, await last) == (1, 3)
    with pytest.raises(ZeroDivisionError):
        await thread.call(lambda: 1 / 0)
    assert log in ([1, 3], [1, 2, 3])
    thread.close()
    assert not thread._thread.is_alive()  # pyright: ignore[reportPrivateUsage]
