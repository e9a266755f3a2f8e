"""What strangers, slow clients and restarts do to the server of a review."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp.test_utils import make_mocked_request

from report.server.test_connections import rest_of
from review.made_sets import project
from review.server.served import served
from wildtool.report.server import connections
from wildtool_review.project import ReviewProject
from wildtool_review.server import operations
from wildtool_review.server.app import Listen, serve_review
from wildtool_review.server.sign_in import WRONG_S, WRONG_TOKENS, SignIn

CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
    "-keyout key.pem -out cert.pem"
)
COOKIE = "wildtool-review=a-cookie-of-somebody"


@asynccontextmanager
async def listening(review: ReviewProject, listen: Listen | None = None) -> AsyncIterator[int]:
    """The port of a running server, as the command starts it."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    if listen is None or listen.proxy:
        # The address is that of the proxy then.
        with socket.create_server(("127.0.0.1", 0)) as free:
            listen = replace(listen or Listen(), port=free.getsockname()[1])
    served = serve_review(review, "set", listen, person="owner", ready=address.set_result)
    task = asyncio.create_task(served)
    await asyncio.wait([task, address], return_when=asyncio.FIRST_COMPLETED)
    try:
        yield listen.port or urlsplit(address.result()).port or 0
    finally:
        task.cancel()
        await asyncio.wait([task])


def request(port: int, what: str, body: bytes, *headers: str) -> bytes:
    """A POST as it is written, without its body."""
    origin = f"127.0.0.1:{port}"
    lines = [f"POST /api/{what} HTTP/1.1", f"Host: {origin}", f"Origin: http://{origin}", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


async def test_a_save_that_takes_long_is_answered_also_if_its_body_came_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    review = project(tmp_path)
    edit = review.remark
    monkeypatch.setattr(review, "remark", lambda *said: (time.sleep(0.8), edit(*said))[1])
    async with listening(review) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps({"id": "s0", "note": "mine"}).encode()
        writer.write(request(port, "remark", body))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(body)
        assert (await rest_of(reader)).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_the_body_of_a_stranger_is_not_waited_for(tmp_path: Path):
    review = project(tmp_path, people="ann")
    async with listening(review, Listen(port=0, proxy="http://127.0.0.1")) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = request(port, "edit", b"x" * 8_000_000).replace(
            f"http://127.0.0.1:{port}".encode(), b"http://127.0.0.1"
        )
        writer.write(head)
        assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 401")
        writer.close()


@pytest.mark.parametrize("wait", [True, False])
async def test_connections_count_before_they_agree_on_their_encryption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: bool
):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl, which makes certificates")
    make = subprocess.run  # it takes a moment, and nothing else goes on
    make(CERTIFICATE.split(), cwd=tmp_path, check=True, capture_output=True)
    if wait:
        monkeypatch.setattr(connections, "REQUEST_S", 0.1)
    else:
        monkeypatch.setattr(connections, "connection_limit", lambda: 4)
    listen = Listen("127.0.0.1", 0, tmp_path / "cert.pem", tmp_path / "key.pem")
    trust = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    trust.check_hostname = False
    async with listening(project(tmp_path, people="ann"), listen) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(12)]
        assert await asyncio.wait_for(rest_of(held[0][0]), 5) == b""
        monkeypatch.setattr(connections, "REQUEST_S", 60)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
        writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        assert (await rest_of(reader)).startswith(b"HTTP/1.1 200")
        for _, each in held:
            each.close()


async def test_neither_traceback_nor_cookie_is_logged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
):
    def broken(*_: Any) -> Any:
        raise KeyError(COOKIE)

    monkeypatch.setitem(operations.READS, "figures", broken)  # pyright: ignore[reportArgumentType]
    async with listening(project(tmp_path)) as port:
        for lines, status in (
            (["GET /api/figures HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Cookie: {COOKIE}"], b"500"),
            (["GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Cook ie\x01: {COOKIE}"], b"400"),
            ([f"GET / HTTP/9{COOKIE}", "Host: x"], b"400"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
            answer = await rest_of(reader)
            assert answer.startswith((b"HTTP/1.1 " + status, b"HTTP/1.0 " + status)), answer
            assert b"Traceback" not in answer
            writer.close()
    said = "".join(capsys.readouterr()) + caplog.text
    assert said.startswith("internal error: KeyError in app.py, line ") and said.count("\n") == 1
    assert COOKIE not in said


async def test_a_session_outlives_the_server_and_ends_with_its_token(tmp_path: Path):
    review = project(tmp_path, people="ann")
    token = review.add_person("owner", "ann", "reviewer")
    async with served(review, alone="") as pages:
        assert (await pages.post("sign-in", token=token)).status == 200
        (cookie,) = list(pages.client.session.cookie_jar)
    kept = (tmp_path / "set.review.sqlite").read_bytes()
    assert cookie.value.encode() not in kept and token.encode() not in kept
    again = project(tmp_path, [])
    async with served(again, alone="") as pages:
        headers = {"Cookie": f"{cookie.key}={cookie.value}"}
        answer = await pages.client.get("/api/review", headers=headers)
        assert (await answer.json())["who"] == "ann"
        again.add_person("owner", "ann", "reviewer")
        assert (await pages.client.get("/api/review", headers=headers)).status == 401


async def test_many_wrong_tokens_from_one_address_are_stopped_for_a_while(tmp_path: Path):
    review = project(tmp_path, people="ann")
    token = review.add_person("owner", "ann", "reviewer")
    async with served(review, alone="") as pages:
        found = [(await pages.post("sign-in", token=f"wtr_{k}")).status for k in range(WRONG_TOKENS + 5)]
        assert found == [401] * WRONG_TOKENS + [429] * 5
        assert (await pages.post("sign-in", token=token)).status == 429


def test_each_address_behind_a_proxy_has_its_own_limit_which_ends():
    now = [0.0]
    sign_in = SignIn(proxied=True, clock=lambda: now[0])

    def asked(address: str) -> Any:
        return make_mocked_request("POST", "/", headers={"X-Forwarded-For": f"198.51.100.9, {address}"})

    for k in range(WRONG_TOKENS):
        sign_in.note_wrong(asked("192.0.2.1"))
        sign_in.note_wrong(asked(f"2001:db8::{k}"))
    assert [sign_in.is_limited(asked(a)) for a in ("192.0.2.1", "192.0.2.2")] == [True, False]
    assert [sign_in.is_limited(asked(a)) for a in ("2001:db8::ff", "2001:db8:0:1::1")] == [True, False]
    now[0] = WRONG_S + 1
    assert not sign_in.is_limited(asked("192.0.2.1"))
