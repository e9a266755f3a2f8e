"""Who gets an answer from a server that speaks ASGI."""

from typing import Any

import pytest

from wildtool.report.server.access import AccessPolicy
from wildtool_train.bridges.asgi_guard import AccessGuard

OWN = {"Host": "127.0.0.1:8000"}


async def asked(kind: str, method: str = "POST", **headers: str) -> list[dict[str, Any]]:
    """What is sent for a request; an application that answers sends `answered`."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "answered"})

    async def receive() -> Any:
        raise AssertionError("nothing is read of what is refused")

    async def send(message: Any) -> None:
        sent.append(message)

    guard = AccessGuard(app, AccessPolicy("gym.example", remote=False, writes=True, programs=True))
    scope: dict[str, Any] = {"type": kind}
    if kind != "lifespan":
        scope["headers"] = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    if kind == "http":
        scope["method"] = method
    await guard(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "evil.example"},
        {"Host": "192.0.2.1"},
        {**OWN, "Origin": "http://evil.example"},
        {**OWN, "Origin": "null"},
        {**OWN, "Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_host_and_a_web_page_get_nothing(headers: dict[str, str]):
    (start, body) = await asked("http", **headers)
    assert (start["status"], body["body"] != b"") == (403, True)
    (close,) = await asked("websocket", **headers)
    assert close["type"] == "websocket.close"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "gym.example"])
async def test_a_trainer_names_no_origin_and_is_answered(host: str):
    for kind in ("http", "websocket"):
        assert await asked(kind, Host=host) == [{"type": "answered"}]


async def test_a_page_cannot_ask_beforehand_whether_it_may():
    (start, _) = await asked("http", "OPTIONS", **OWN)
    assert start["status"] == 405


async def test_what_is_no_request_is_passed_on():
    assert await asked("lifespan") == [{"type": "answered"}]
