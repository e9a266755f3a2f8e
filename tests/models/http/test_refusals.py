"""What a failure says in any provider's shape, the advice beside it, and how an endpoint names it."""

import socket
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from wildtool.models.http import hints

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
