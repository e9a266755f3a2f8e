"""What an endpoint sends over the network, byte for byte, and what it makes of every way in which an answer ends."""

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from faults.server import http
from wildtool import __version__
from wildtool.errors import CallError, StorageError
from wildtool.models.http import endpoint as endpoints
from wildtool.models.http.endpoint import Endpoint

KEY = "sk-proj-4f8a2b6c9d1e3f5a7b8c"
BODY = b'{"messages": []}'


@dataclass
class Listener:
    """A server that notes what comes in and gives one answer to all of it; an answer of None hangs up."""

    answer: bytes | None
    heads: list[str] = field(default_factory=list[str])
    bodies: list[bytes] = field(default_factory=list[bytes])
    connections: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head.removesuffix("\r\n\r\n"))
                length = int(head.partition("Content-Length: ")[2].partition("\r")[0] or 0)
                self.bodies.append(await reader.readexactly(length))
                if self.answer is None:
                    break
                writer.write(self.answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening(answer: bytes | None = http(200, b"{}")) -> AsyncIterator[Listener]:
    listener = Listener(answer)
    server = await asyncio.start_server(listener, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    async with server:
        yield listener


def asking(base_url: str, *, max_body_bytes: int = 1000, timeout_s: float = 5.0, **more: Any) -> Endpoint:
    settings = {"api_key": KEY, "timeout_s": timeout_s, "max_body_bytes": max_body_bytes, **more}
    return Endpoint(base_url, "/chat", **settings)


def head(listener: Listener, line: str, kind: str = "application/json", *more: str) -> str:
    """The lines of a request as it must arrive."""
    return "\r\n".join(
        [
            f"{line} HTTP/1.1",
            f"Host: 127.0.0.1:{listener.port}",
            f"User-Agent: wildtool/{__version__}",
            f"Content-Type: {kind}",
            f"Authorization: Bearer {KEY}",
            *more,
        ]
    )


async def test_a_post_sends_the_body_with_the_key_and_gives_answer_seconds_and_cost():
    answer = http(201, f'{{"said": "{KEY}"}}'.encode(), "x-litellm-response-cost: 0.25", "Set-Cookie: a=b")
    async with listening(answer) as listener:
        asked = asking(f"{listener.url}/v1?v=2", query={"k": "1"})
        try:
            answers = [await asked.post(BODY) for _ in range(2)]
        finally:
            await asked.close()
    for text, seconds, cost in answers:
        assert (text, cost) == (b'{"said": "[key]"}', 0.25)
        assert 0 < seconds < 5
    # No cookie is sent back, and the second goes out over the connection of the first.
    sent = head(listener, "POST /v1/chat?v=2&k=1", "application/json", f"Content-Length: {len(BODY)}")
    assert (listener.heads, listener.bodies, listener.connections) == ([sent] * 2, [BODY] * 2, 1)


async def test_a_word_that_stands_for_a_key_is_left_in_answers():
    async with listening(http(200, b"not-required")) as listener:
        asked = asking(listener.url, api_key="not-required")
        try:
            assert (await asked.post(BODY))[0] == b"not-required"
        finally:
            await asked.close()


async def test_other_requests_go_below_the_base_url_with_their_own_query_and_kind():
    async with listening(http(200, KEY.encode())) as listener:
        asked = asking(f"{listener.url}/v1?v=2", query={"k": "1"})
        try:
            page = await asked.exchange("GET", "/files/a%2Fb", query={"after": "x"})
            assert page == b"[key]"
            received = io.BytesIO()
            assert await asked.exchange("GET", "/files", into=received) == b""
            await asked.exchange("POST", "/files", body=io.BytesIO(b"rows"), kind="text/plain")
        finally:
            await asked.close()
    # A file is for this program alone, and is read line by line before anything of it is kept.
    assert received.getvalue() == KEY.encode()
    assert listener.heads == [
        head(listener, "GET /v1/files/a%2Fb?v=2&after=x"),
        head(listener, "GET /v1/files?v=2"),
        head(listener, "POST /v1/files?v=2", "text/plain", "Content-Length: 4"),
    ]
    assert listener.bodies == [b"", b"", b"rows"]


async def failure_of(answer: bytes | None, **settings: Any) -> tuple[str, str, bool, float | None]:
    """Kind, words behind the address, finality and wait of the failure of one call."""
    async with listening(answer) as listener:
        asked = asking(f"{listener.url}/v1", **settings)
        try:
            with pytest.raises(CallError) as raised:
                await asked.post(BODY)
        finally:
            await asked.close()
    error = raised.value
    assert error.__cause__ is error.__context__ is None
    address = f"{listener.url}/v1/chat: "
    assert str(error).startswith(address)
    return error.kind, str(error).removeprefix(address), error.final, error.retry_after_s


def refusal(**fields: Any) -> bytes:
    return json.dumps({"error": fields}).encode()


WAIT = b'{"error": {"message": "slow", "details": [{"retryDelay": "34s"}]}}'


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (
            http(300, b"x"),
            ("http 300", "HTTP 300: redirects to nowhere; give the base URL of that address", True, None),
        ),
        (
            http(399, b"x", "Location: http://h/v2"),
            ("http 399", "HTTP 399: redirects to http://h/v2; give the base URL of that address", True, None),
        ),
        (
            http(302, b"x", "Location: /v2"),
            ("http 302", "HTTP 302: redirects to /v2; give the base URL of that address", True, None),
        ),
        (http(400, b"no", "Location: http://h/v2"), ("http 400", "HTTP 400: no", True, None)),
        (http(400, f"no {KEY}".encode()), ("http 400", "HTTP 400: no [key]", True, None)),
        (http(429, b"slow", "Retry-After: 7"), ("http 429", "HTTP 429: slow", False, 7.0)),
        (http(429, WAIT, "Retry-After: 0"), ("http 429", "HTTP 429: slow", False, 0.0)),
        (http(429, WAIT), ("http 429", "HTTP 429: slow", False, 34.0)),
        (
            http(429, refusal(message="empty", code="insufficient_quota"), "Retry-After: 7"),
            ("quota used up", "the account has no quota left: empty", True, None),
        ),
        (
            http(400, refusal(message="bad", code="content_policy_violation")),
            ("blocked prompt", "the provider blocked the prompt: bad", True, None),
        ),
        (http(500, b"x" * 1001), ("body too large", "the answer is longer than 1000 bytes", False, None)),
        (http(200, b"x" * 1001), ("body too large", "the answer is longer than 1000 bytes", False, None)),
        (None, ("network", "no answer: the server closed the connection", False, None)),
    ],
)
async def test_an_answer_that_is_none_is_named(
    answer: bytes | None, failure: tuple[str, str, bool, float | None]
):
    assert await failure_of(answer) == failure


async def test_an_answer_of_the_greatest_length_is_whole():
    async with listening(http(299, b"x" * 1000)) as listener:
        asked = asking(listener.url)
        try:
            assert (await asked.post(BODY))[0] == b"x" * 1000
        finally:
            await asked.close()


async def test_an_answer_that_stops_within_is_a_part_of_one_or_late(monkeypatch: pytest.MonkeyPatch):
    half = http(200, b"half", length=9)
    late = ("timeout", "no complete answer within 0.05 s", False, None)
    assert await failure_of(half, timeout_s=0.05) == late
    hanging_up = Listener.__call__

    async def answer_and_hang_up(listener: Listener, reader: Any, writer: asyncio.StreamWriter) -> None:
        listener.answer, answer = None, listener.answer
        writer.write(answer or b"")
        await hanging_up(listener, reader, writer)

    monkeypatch.setattr(Listener, "__call__", answer_and_hang_up)
    kind, words, final, _ = await failure_of(half)
    assert (kind, words[:23], final) == ("truncated body", "the answer broke off: R", False)


async def test_where_no_server_listens_that_is_said():
    async with listening() as listener:
        pass
    asked = asking(listener.url)
    try:
        with pytest.raises(CallError) as raised:
            await asked.post(BODY)
    finally:
        await asked.close()
    advice = "no server listens there; start it, or check host and port of the base URL"
    assert str(raised.value) == f"{listener.url}/chat: no answer ({advice}): Connection refused"


CONNECTION = ConnectionKey("h", 1, True, True, None, None, None)
REFUSED = ssl.SSLCertVerificationError(1, "self-signed certificate")
REFUSED.reason = "CERTIFICATE_VERIFY_FAILED"
CLEAR = ssl.SSLError(1, "wrong version")
CLEAR.reason = "WRONG_VERSION_NUMBER"
FIREWALL = " (check host and port of the base URL, and whether a firewall lies between)"


@pytest.mark.parametrize(
    ("error", "timeout_s", "words", "final"),
    [
        (aiohttp.ConnectionTimeoutError(), 5.0, f"no connection within 5 s{FIREWALL}", False),
        (aiohttp.ConnectionTimeoutError(), 60.0, f"no connection within 10 s{FIREWALL}", False),
        (
            aiohttp.ClientConnectorCertificateError(CONNECTION, REFUSED),
            5.0,
            "no answer: self-signed certificate",
            True,
        ),
        (
            aiohttp.ClientConnectorSSLError(CONNECTION, CLEAR),
            5.0,
            "no answer (the server speaks http, not https; change the base URL)",
            True,
        ),
        (OSError(0, "odd words"), 5.0, "no answer: odd words", False),
    ],
)
def test_what_no_retry_cures_is_final(error: Exception, timeout_s: float, words: str, final: bool):
    asked: Any = asking("http://h", timeout_s=timeout_s)
    failure = asked._network_error(error, False, "there")
    assert (failure.kind, str(failure), failure.final) == ("network", f"there: {words}", final)


class FullDisk(io.BytesIO):
    def write(self, *_: Any) -> int:
        raise OSError(28, "No space left on device")


async def test_a_file_that_cannot_be_written_is_no_failure_of_the_network():
    async with listening(http(200, b"rows")) as listener:
        asked = asking(listener.url)
        try:
            with pytest.raises(StorageError) as raised:
                await asked.exchange("GET", "/files", into=FullDisk())
        finally:
            await asked.close()
    assert str(raised.value) == (
        "4 bytes of an answer could not be written (No space left on device); make room, then run the same command again"
    )


@pytest.mark.parametrize("status", [200, 404])
async def test_a_file_takes_longer_answers_and_no_refusal(status: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(endpoints, "MAX_RESPONSE_FILE_BYTES", 6000)
    received = io.BytesIO()
    async with listening(http(status, b"x" * 6000)) as listener:
        asked = asking(listener.url, max_body_bytes=5000)
        try:
            if status == 200:
                await asked.exchange("GET", "/files", into=received)
                listener.answer = http(200, b"x" * 6001)
            with pytest.raises(CallError, match=rf"^{listener.url}/files: ") as raised:
                await asked.exchange("GET", "/files", into=io.BytesIO() if status == 200 else received)
        finally:
            await asked.close()
    assert str(raised.value).endswith(f"longer than {6000 if status == 200 else 5000} bytes")
    assert received.getvalue() == (b"x" * 6000 if status == 200 else b"")


async def test_a_proxy_of_the_environment_is_asked_for_other_machines(monkeypatch: pytest.MonkeyPatch):
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with listening() as listener:
        monkeypatch.setenv("http_proxy", listener.url)
        asked = asking("http://model.invalid/v1")
        try:
            await asked.post(BODY)
        finally:
            await asked.close()
    assert [each.partition("\r")[0] for each in listener.heads] == [
        "POST http://model.invalid/v1/chat HTTP/1.1"
    ]
