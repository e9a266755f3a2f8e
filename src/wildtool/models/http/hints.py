"""What to tell users when an endpoint fails: a wrong address, no server, a web page, no key."""

import os
import re
import socket
import ssl

import aiohttp

_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)")
_WEB_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)


def for_status(status: int, base_path: str, text: str, *, keyless: bool) -> str:
    """Advice for a refusal, in brackets; empty if its own words say enough.

    Args:
        base_path: of the base URL.
        text: the server's own words.
        keyless: whether no key was sent.
    """
    if status in (401, 403) and keyless:
        return " (no key was sent; name its variable with --api-key-env)"
    if status in (404, 405) and not _VERSION.search(base_path):
        return " (most base URLs end in a version, such as http://127.0.0.1:8000/v1)"
    return for_text(text)


def for_text(text: str) -> str:
    """Advice for an answer that is a web page, in brackets; empty for any other text."""
    if not _WEB_PAGE.match(text):
        return ""
    return " (this is a web page; check the base URL, which must be that of an API, such as http://127.0.0.1:8000/v1)"


def for_network(error: Exception) -> str:
    """Advice if no server answered, in brackets; empty if the error says enough."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return " (check host and port of the base URL, and whether a firewall lies between)"
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, socket.gaierror):
        return " (check the host's name in the base URL)"
    if isinstance(cause, ConnectionRefusedError):
        return " (no server listens there; start it, or check host and port of the base URL)"
    return ""


def network_words(error: Exception) -> str:
    """What went wrong, in the operating system's words if there are any, else in the library's."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered HTTP {error.status}"
    via = "at the proxy: " if isinstance(error, aiohttp.ClientProxyConnectionError) else ""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, OSError) and cause.strerror:
        # asyncio replaces the system's text; TLS and name errors have their own numbers.
        foreign = isinstance(cause, (ssl.SSLError, socket.gaierror)) or not cause.errno
        return via + (cause.strerror if foreign else os.strerror(cause.errno or 0))
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"this is no HTTP answer ({error.message})"
    return str(error) or type(error).__name__
