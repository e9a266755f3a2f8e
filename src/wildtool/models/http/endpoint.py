"""One HTTP endpoint: pooled connections, limited bodies, named errors, and no secret in any message."""

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import IO

import aiohttp
from yarl import URL

from wildtool import __version__, redact
from wildtool.errors import CallError, StorageError, UsageError
from wildtool.json_codec import REPLY_LIMITS, loads_within
from wildtool.models.http import hints
from wildtool.models.http.address import (
    PLACEHOLDER_KEYS,
    authorization,
    credentials_of,
    parse_base_url,
    proxy_of,
    redacted_path,
    redacted_query,
    repeated_path_problem,
    secret_forms,
    secrets_in,
)
from wildtool.models.http.failures import (
    BLOCKED_PROMPT,
    ProviderFailure,
    failure_in_answer,
    is_blocked_refusal,
)

CONNECT_TIMEOUT_S = 10.0
"""Seconds to connect, name lookup and TLS included."""
MAX_QUOTE = 300
"""Characters of a server's text that a message quotes."""
MAX_RESPONSE_FILE_BYTES = 8 * 1024**3
"""Size limit of an answer that is written to a file."""
RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})
"""The 4xx statuses that a retry may cure."""

_sessions: dict[tuple[asyncio.AbstractEventLoop, str], tuple[aiohttp.ClientSession, set["Endpoint"]]] = {}
"""Open connection pools by event loop and origin, each with the endpoints that use it."""


class Endpoint:
    """Where one model's requests are sent. Returns the answer's bytes or raises CallError."""

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        api_key: str | None,
        timeout_s: float,
        max_body_bytes: int,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        """Checks the address and the key; nothing is opened before the first call.

        Args:
            base_url: such as `http://127.0.0.1:8000/v1`; `user:password@` in it becomes basic authentication.
            path: appended to the base URL's path.
            key_header: the header of the key; in `Authorization` it is a bearer token.
            headers, query: what else the protocol sends; never a secret.
            timeout_s: seconds for one whole call, connecting included.
            max_body_bytes: size limit of an answer.

        Raises:
            UsageError: not an http(s) URL, or a key that an HTTP header cannot hold.
        """
        url = parse_base_url(base_url)
        if wrong := repeated_path_problem(url.path, path):
            raise UsageError(wrong)
        plain = url.with_user(None).with_fragment(None)
        self._shown_base = redacted_path(plain)
        self.redacted_url = self._shown_base + redacted_query(url)
        """The base URL for records and messages: without credentials, and of a query only the names."""
        whole = str(url.with_fragment(None))
        self.private_url = whole if whole != self.redacted_url else None
        """The base URL as given, if `redacted_url` hides a part of it; else None."""
        self._plain, self._query = plain, url.query
        target = self._target(path)
        self._url = target.with_query(url.query).update_query(query or {})
        self._shown_target = self.redacted_url_at(path)
        credentials = credentials_of(url, api_key)
        self._keyless = credentials is None
        self._headers = {
            "User-Agent": f"wildtool/{__version__}",
            "Content-Type": "application/json",
            **(headers or {}),
            **authorization(credentials, key_header),
        }
        given = credentials[1] if credentials else ""
        secrets = ["" if given in PLACEHOLDER_KEYS else given, *secrets_in(url, base_url)]
        redact.register_secrets(*secrets)
        # Short secrets are left in good answers, where they may be ordinary words.
        self._secrets = secret_forms(*secrets, *(value or name for name, value in url.query.items()))
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, connect=CONNECT_TIMEOUT_S)
        self._max_body_bytes = max_body_bytes
        self._proxy = proxy_of(url)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes) -> tuple[bytes, float]:
        """Sends one request. Returns the answer's bytes and the seconds it took.

        Raises:
            CallError: a status other than 2xx, no answer, or a part of one.
        """
        started = time.perf_counter()
        answer = await self._exchange("POST", self._url, self._headers, body, None, self._shown_target)
        return self.without_keys(answer), time.perf_counter() - started

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        body: bytes | IO[bytes] | None = None,
        kind: str = "application/json",
        query: Mapping[str, str] | None = None,
        into: IO[bytes] | None = None,
    ) -> bytes:
        """Sends another request below the base URL. Returns the answer's bytes, or writes them to a file.

        Args:
            path: appended to the base URL's path; parts that a server named must be quoted.
            body: bytes, or a file, which is sent to its end and may be closed then.
            kind: the body's content type.
            into: receives the answer unchanged, up to `MAX_RESPONSE_FILE_BYTES`; see `without_keys`.

        Raises:
            CallError: a status other than 2xx, no answer, or a part of one.
            StorageError: the file cannot be written.
        """
        target = self._target(path)
        url = target.with_query(self._query).update_query(query or {})
        headers = {**self._headers, "Content-Type": kind}
        answer = await self._exchange(method, url, headers, body, into, self.redacted_url_at(path))
        return answer if into else self.without_keys(answer)

    def redacted_url_at(self, path: str) -> str:
        """The address of a path for messages: without credentials and query."""
        return self._shown_base.rstrip("/") + path

    def without_keys(self, answer: bytes) -> bytes:
        """An answer without the keys that a server may repeat in it."""
        return redact.redacted(answer)

    async def close(self) -> None:
        """Releases the connections; the last user of an origin closes them."""
        for key, (session, users) in list(_sessions.items()):
            if self not in users:
                # Another endpoint's, which may be closed by now.
                continue
            users.discard(self)
            if not users:
                del _sessions[key]
                await session.close()
        self._session = None

    def error(
        self, kind: str, message: str, quote: str = "", *, final: bool = False, where: str | None = None
    ) -> CallError:
        """A CallError that names the endpoint and quotes the server's text, shortened and without secrets.

        Args: where: the address of the request, if not that of `post`.
        """
        for secret in self._secrets:
            quote = quote.replace(secret, redact.REMOVED)
        text = " ".join(quote[: 2 * MAX_QUOTE].split())[:MAX_QUOTE]
        quoted = f": {text}" if text else ""
        return CallError(kind, f"{where or self._shown_target}: {message}{quoted}", final=final)

    def status_error(
        self, status: int, quote: str, *, retry_after_s: float | None = None, where: str | None = None
    ) -> CallError:
        """The CallError of an HTTP status; final if the same request can only fail again."""
        final = 300 <= status < 500 and status not in RETRYABLE_STATUSES
        hint = hints.for_status(status, self._plain.path, quote, keyless=self._keyless)
        failure = self.error(f"http {status}", f"HTTP {status}{hint}", quote, final=final, where=where)
        failure.retry_after_s = retry_after_s
        return failure

    def failure_error(self, failure: ProviderFailure, *, where: str | None = None) -> CallError:
        """The CallError of a failure in an answer; final according to its status, and for blocked prompts."""
        if failure.blocked:
            blocked = "the provider blocked the prompt"
            return self.error(BLOCKED_PROMPT, blocked, failure.message, final=True, where=where)
        if failure.status is not None:
            return self.status_error(failure.status, failure.message, where=where)
        return self.error("wrong shape", "an error came with HTTP 200", failure.message, where=where)

    def send_header(self, name: str, value: str) -> None:
        """Sends a header with every later call."""
        self._headers = {**self._headers, name: value}

    def _open(self) -> aiohttp.ClientSession:
        key = (asyncio.get_running_loop(), str(self._url.origin()))
        if key not in _sessions:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("Accept", "Accept-Encoding"),
                read_bufsize=1 << 20,
            )
            _sessions[key] = (session, set())
        self._session, users = _sessions[key]
        users.add(self)
        return self._session

    def _target(self, path: str) -> URL:
        return self._plain.with_path(self._plain.raw_path.rstrip("/") + path, encoded=True)

    async def _exchange(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | IO[bytes] | None,
        into: IO[bytes] | None,
        where: str,
    ) -> bytes:
        session = self._session or self._open()
        headers_came = False
        try:
            async with session.request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=self._timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                headers_came = True
                status, fields = response.status, response.headers
                good = 200 <= status < 300
                answer = await self._read(response, into if good else None)
        except (aiohttp.ClientError, OSError) as error:
            failure = self._network_error(error, headers_came, where)
        else:
            if good:
                return answer
            failure = self._refusal_error(status, fields, answer, where)
        # Raised here, because the library's exception holds the request's headers and must not be attached.
        raise failure

    async def _read(self, response: aiohttp.ClientResponse, into: IO[bytes] | None) -> bytes:
        chunks: list[bytes] = []
        length, most = 0, MAX_RESPONSE_FILE_BYTES if into else self._max_body_bytes
        async for chunk in response.content.iter_any():
            length += len(chunk)
            if length > most:
                raise _BodyTooLargeError(most)
            if into is None:
                chunks.append(chunk)
                continue
            try:
                into.write(chunk)
            except OSError as error:
                # Not a network error, which the caller would take an OSError for.
                raise StorageError(
                    f"{len(chunk):,} bytes of an answer could not be written ({error.strerror}); make room, then run "
                    "the same command again"
                ) from error
        return b"".join(chunks)

    def _network_error(self, error: Exception, headers_came: bool, where: str) -> CallError:
        if isinstance(error, _BodyTooLargeError):
            return self.error("body too large", f"the answer is longer than {error.most} bytes", where=where)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            within = (
                f"no connection within {min(CONNECT_TIMEOUT_S, self._timeout.total or CONNECT_TIMEOUT_S):g} s"
            )
            hint = hints.for_network(error)
            return self.error("network", f"{within}{hint}", where=where)
        if isinstance(error, TimeoutError):
            return self.error("timeout", f"no complete answer within {self._timeout.total:g} s", where=where)
        if headers_came:
            return self.error("truncated body", "the answer broke off", _words(error), where=where)
        # A retry does not cure a bad certificate.
        certificate = isinstance(error, aiohttp.ClientConnectorCertificateError)
        hint = hints.for_network(error)
        return self.error("network", f"no answer{hint}", _words(error), final=certificate, where=where)

    def _refusal_error(self, status: int, headers: Mapping[str, str], answer: bytes, where: str) -> CallError:
        quote = error_text(answer)
        if 300 <= status < 400:
            quote = f"redirects to {headers.get('Location', 'nowhere')}; give that address as base URL"
        if 400 <= status < 500 and is_blocked_refusal(answer):
            return self.failure_error(ProviderFailure(quote, status, blocked=True), where=where)
        wait = retry_after_s(headers.get("Retry-After"))
        wait = _delay_s(answer) if wait is None else wait
        return self.status_error(status, quote, retry_after_s=wait, where=where)


class _BodyTooLargeError(aiohttp.ClientError):
    """The answer is longer than the limit."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most


def error_text(answer: bytes) -> str:
    """A server's words about a refusal: the message of a JSON error, else the whole text."""
    text = answer.decode("utf-8", "replace")
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        failure = failure_in_answer(loads_within(answer, REPLY_LIMITS))
    except ValueError:
        return text
    return text if failure is None else failure.message


def retry_after_s(value: str | None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3), without a limit; None if unreadable."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,300}(\.\d{1,300})?\s*", value, re.ASCII):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _delay_s(answer: bytes) -> float | None:
    """Seconds of Google's `RetryInfo` in the body, such as `"retryDelay": "34.1s"`."""
    found = re.search(rb'"retryDelay"\s*:\s*"(\d{1,300}(?:\.\d{1,300})?)s"', answer)
    return float(found[1]) if found else None


def _words(error: Exception) -> str:
    """The operating system's words, if there are any, else the library's."""
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
