"""What a failure says in any provider's shape, the advice beside it, and how an endpoint names it."""

import socket
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from wildtool.models.http import endpoint as endpoints
from wildtool.models.http import hints
from wildtool.models.http.endpoint import (
    Endpoint,
)

KEY = ConnectionKey("h", 1, False, True, None, None, None)


def tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "wrong version")
    error.reason = reason
    return error


def connecting(cause: OSError, kind: Any = aiohttp.ClientConnectorError) -> aiohttp.ClientConnectorError:
    return kind(KEY, cause)


@pytest.mark.parametrize(
    ("error", "advice", "words"),
    [
        (
            aiohttp.ConnectionTimeoutError(),
            " (check host and port of the base URL, and whether a firewall lies between)",
            "ConnectionTimeoutError",
        ),
        (
            connecting(socket.gaierror(-2, "Name unknown")),
            " (check the host's name in the base URL)",
            "Name unknown",
        ),
        (socket.gaierror(-2, "Name unknown"), " (check the host's name in the base URL)", "Name unknown"),
        (
            connecting(tls("WRONG_VERSION_NUMBER")),
            " (the server speaks http, not https; change the base URL)",
            "",
        ),
        (tls("HTTP_REQUEST"), " (the server speaks http, not https; change the base URL)", ""),
        (connecting(tls("CERTIFICATE_VERIFY_FAILED")), "", "wrong version"),
        (
            connecting(ConnectionRefusedError(111, "Connect call failed")),
            " (no server listens there; start it, or check host and port of the base URL)",
            "Connection refused",
        ),
        (
            connecting(ConnectionRefusedError(111, "x"), aiohttp.ClientProxyConnectionError),
            " (no server listens there; start it, or check host and port of the base URL)",
            "at the proxy: Connection refused",
        ),
        (
            connecting(tls("UNKNOWN_PROTOCOL"), aiohttp.ClientProxyConnectionError),
            " (the server speaks http, not https; change the base URL)",
            "at the proxy",
        ),
        (OSError(0, "odd words"), "", "odd words"),
        (OSError("plain words"), "", "plain words"),
        (aiohttp.ServerDisconnectedError(), "", "the server closed the connection"),
        (ValueError(), "", "ValueError"),
        (ValueError("said"), "", "said"),
    ],
)
def test_the_advice_where_no_server_answered(error: Exception, advice: str, words: str):
    assert (hints.for_network(error), hints.network_words(error)) == (advice, words)


def made(url: str = "http://h:1/v1/", api_key: str | None = None, **more: Any) -> Endpoint:
    return Endpoint(url, "/chat/completions", api_key=api_key, timeout_s=5.0, max_body_bytes=100, **more)


def test_an_endpoint_shows_its_address_without_secrets():
    plain = made()
    assert (plain.redacted_url, plain.private_url) == ("http://h:1/v1", None)
    assert plain.redacted_url_at("/x") == "http://h:1/v1/x"
    hidden = made("http://u:pw-of-mine@h/v1?version=2#frag")
    assert hidden.redacted_url == "http://h/v1?version=…"
    assert hidden.private_url == "http://u:pw-of-mine@h/v1?version=2"
    keyed: Any = made(api_key="key-of-mine", key_header="x-api-key", headers={"a": "b"})
    assert keyed._headers == {
        "User-Agent": f"wildtool/{endpoints.__version__}",
        "Content-Type": "application/json",
        "a": "b",
        "x-api-key": "key-of-mine",
    }
    asked: Any = made("http://h/a%20b?q=1", query={"k": "v"})
    assert str(asked._url) == "http://h/a%20b/chat/completions?q=1&k=v"
    bare: Any = made("http://h/v1?q=1")
    assert str(bare._url) == "http://h/v1/chat/completions?q=1"
    port: Any = made("http://h:0/v1")
    port.use_port(5)
    port.use_port(6)
    assert str(port._url) == "http://h:5/v1/chat/completions"
    port.send_header("b", "c")
    assert port._headers["b"] == "c"
    assert "User-Agent" in port._headers
