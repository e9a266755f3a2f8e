"""One HTTP endpoint: address and key, pooled connections, limited bodies, named errors, and no secret in any message."""

import asyncio
import re
import time
import urllib.request
from base64 import b64encode
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from math import inf
from typing import IO
from urllib.parse import quote, unquote

import aiohttp
from yarl import URL

from wildtool import __version__, redact
from wildtool.errors import BLOCKED_PROMPT, CallError, StorageError, UsageError
from wildtool.models.headers import Header, read_headers, refuse_own, secrets_of
from wildtool.models.http import hints
from wildtool.models.http.failures import (
    QUOTA_USED_UP,
    ProviderFailure,
    refusal_in,
    retry_delay_s,
    retry_wait_s,
)
from wildtool.models.settings import without_trailing_slash
from wildtool.secret_places import (
    PUBLIC_KEYS,
    SECRET_PARAMETER,
    SHORTEST_SECRET,
    register_foreign,
)

PLACEHOLDER_KEYS = PUBLIC_KEYS | {"llama.cpp", "lm-studio", "ollama", "sglang", "vllm"}
"""Keys for local servers that accept any key; public words, so not secrets."""


def parse_base_url(base_url: str) -> URL:
    """The URL of an endpoint. Raises UsageError if it is not one."""
    try:
        url = URL(base_url)
        usable = url.scheme in ("http", "https") and bool((url.host or "").encode("idna"))
    except ValueError:
        usable = False
        url = URL()
    if not usable:
        # The text is not repeated, since it may hold a password.
        raise UsageError("the base URL is not usable; expected one like http://127.0.0.1:8000/v1")
    return url


def redacted_path(url: URL) -> str:
    """The address without its query, and with `…` for each part of its path that looks like a key."""
    text = str(url.with_query(None))
    for part in url.raw_path.split("/"):
        if redact.looks_like_key(unquote(part)):
            text = text.replace(part, "…")
    return text


def redacted_query(url: URL) -> str:
    """The query with `…` for each value, and for each name that may be a key: without a value, or like one."""
    values = [
        f"{quote(name)}=…" if value.strip("=") and not redact.looks_like_key(name) else "…"
        for name, value in url.query.items()
    ]
    return "?" + "&".join(values) if values else ""


def secrets_in(url: URL, base_url: str) -> list[str]:
    """The parts of a base URL that may be keys (login, parts of the path, names and values of the query), as typed and
    as sent."""
    secrets = [url.password, url.raw_password, *_login(base_url)]
    if url.user and (url.password is None or redact.looks_like_key(url.user)):
        secrets += [url.user, url.raw_user]
    parts = {*url.raw_path.split("/"), *re.split(r"[/?#]", base_url.partition("://")[2])[1:]}
    secrets += [
        text for part in parts if redact.looks_like_key(unquote(part)) for text in (part, unquote(part))
    ]
    pairs = [*url.query.items(), *_pairs(base_url), *_pairs(str(url))]
    for name, value in pairs:
        # A name without a value may be the key itself.
        if not value.strip("=") or redact.looks_like_key(name):
            secrets.append(name)
        if SECRET_PARAMETER.search(name) or redact.looks_like_key(value):
            secrets.append(value)
    return [text for text in secrets if text and text not in PLACEHOLDER_KEYS]


def _login(base_url: str) -> list[str]:
    """Login and password as typed, which may contain characters that an address cannot."""
    authority = re.split(r"[/?#]", base_url.partition("://")[2])[0]
    login, sign, _ = authority.rpartition("@")
    return [login, login.partition(":")[2]] if sign else []


def _pairs(address: str) -> list[tuple[str, str]]:
    """Names and values of a query, as written."""
    query = address.partition("?")[2].partition("#")[0]
    pairs = (part.partition("=") for part in query.split("&") if part)
    return [(name, value) for name, _, value in pairs]


def credentials_of(url: URL, api_key: str | None) -> tuple[str, str] | None:
    """Scheme and text of the Authorization header. Raises UsageError if they are given twice or cannot be sent."""
    if api_key is None:
        if url.user is None:
            return None
        return "Basic", b64encode(f"{url.user}:{url.password or ''}".encode()).decode()
    if url.user is not None:
        raise UsageError("the base URL holds user:password@ and a key is given too; give only one of them")
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise UsageError("the API key is empty or has blanks, control or non-ASCII characters in it")
    return "Bearer", api_key


def authorization(credentials: tuple[str, str] | None, key_header: str) -> dict[str, str]:
    """The header with the credentials."""
    if credentials is None:
        return {}
    scheme, text = credentials
    if scheme == "Bearer" and key_header != "Authorization":
        return {key_header: text}
    return {"Authorization": f"{scheme} {text}"}


def secret_forms(*secrets: str) -> tuple[str, ...]:
    """The secrets in the forms that a server's text may repeat, longest first."""
    long = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
    forms = {form for secret in long - PLACEHOLDER_KEYS for form in redact.encoded_forms(secret)}
    return tuple(sorted(forms, key=len, reverse=True))


def _user_agent(extra: Mapping[str, str]) -> dict[str, str]:
    """wildtool's own name, unless the user's headers give another."""
    is_given = any(name.lower() == "user-agent" for name in extra)
    return {} if is_given else {"User-Agent": f"wildtool/{__version__}"}


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is this machine by its very name, whatever a name server says."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_of(url: URL) -> str | None:
    """The environment's proxy for this URL; None for this machine, which a proxy cannot reach.

    Read once, since aiohttp's own `trust_env` reads the environment and ~/.netrc at every call.
    """
    host = url.host or ""
    if is_loopback(host) or urllib.request.proxy_bypass(f"{host}:{url.port}"):
        return None
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        name = f"{url.scheme}_proxy"
        raise UsageError(f"the environment's {name} is not an http(s) URL; set it to one or unset it")
    register_foreign(proxy)
    return proxy


def repeated_path_problem(base_path: str, path: str) -> str | None:
    """The message for a base URL that already ends in the path; None for any other.

    Args:
        base_path: of the base URL.
        path: what is appended, such as `/chat/completions`.
    """
    if not base_path.rstrip("/").endswith(path):
        return None
    return f"the base URL ends in {path}, which is added to it automatically; leave it out, as in http://127.0.0.1:8000/v1"


CONNECT_TIMEOUT_S = 10.0
"""Seconds to connect, name lookup and TLS included."""
MAX_QUOTE = 300
"""Characters of a server's text that a message quotes."""
MAX_RESPONSE_FILE_BYTES = 8 * 1024**3
"""Size limit of an answer that is written to a file."""
COST_HEADER = "x-litellm-response-cost"
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
        extra_headers: Sequence[Header] = (),
    ) -> None:
        """Checks the address, the key and the headers; nothing is opened before the first call.

        Args:
            base_url: such as `http://127.0.0.1:8000/v1`; `user:password@` in it becomes basic authentication.
            path: appended to the base URL's path.
            key_header: the header of the key; in `Authorization` it is a bearer token.
            headers, query: what else the protocol sends; never a secret.
            extra_headers: those of the user, sent with every request; they replace none but `User-Agent`.
            timeout_s: seconds for one whole call, connecting included.
            max_body_bytes: size limit of an answer.

        Raises:
            UsageError: not an http(s) URL, a key that an HTTP header cannot hold, a header that is set already, or one
                whose variable is not set.
        """
        url = parse_base_url(without_trailing_slash(base_url))
        if wrong := repeated_path_problem(url.path, path):
            raise UsageError(wrong)
        plain = url.with_user(None).with_fragment(None)
        self._shown_base = redacted_path(plain)
        self.redacted_url = self._shown_base + redacted_query(url)
        """The base URL for records and messages: without credentials, and of a query only the names."""
        address = str(url.with_fragment(None))
        self.private_url = address if address != self.redacted_url else None
        """The base URL as given, if `redacted_url` hides a part of it; else None."""
        self._plain, self._query = plain, url.query
        target = self._target(path)
        self._url = target.with_query(url.query).update_query(query or {})
        self._shown_target = self.redacted_url_at(path)
        credentials = credentials_of(url, api_key)
        keys = authorization(credentials, key_header)
        refuse_own(extra_headers, {name.lower() for name in headers or {}}, "the protocol of this endpoint")
        refuse_own(extra_headers, {name.lower() for name in keys}, "the key or the login that is given, too")
        extra = read_headers(extra_headers)
        self._keyless = credentials is None and all(each.variable is None for each in extra_headers)
        self._headers = {
            **_user_agent(extra),
            "Content-Type": "application/json",
            **(headers or {}),
            **keys,
            **extra,
        }
        password = credentials[1] if credentials else ""
        secrets = ["" if password in PLACEHOLDER_KEYS else password, *secrets_in(url, base_url)]
        redact.register_secrets(*secrets)
        secrets += secrets_of(extra_headers, extra)
        register_foreign(base_url, str(url))
        # Short secrets are left in good answers, where they may be ordinary words.
        self._secrets = secret_forms(*secrets, *url.query.values())
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, connect=CONNECT_TIMEOUT_S)
        self._max_body_bytes = max_body_bytes
        self._proxy = proxy_of(url)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes) -> tuple[bytes, float, float | None]:
        """Sends one request. Returns the answer's bytes, the seconds it took, and what it cost in USD as a header has it
        (None for no such header).

        Raises:
            CallError: a status other than 2xx, no answer, or a part of one.
        """
        started = time.perf_counter()
        answer, fields = await self._exchange(
            "POST", self._url, self._headers, body, None, self._shown_target
        )
        return redact.redacted(answer), time.perf_counter() - started, _cost_in(fields)

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
            into: receives the answer unchanged, up to `MAX_RESPONSE_FILE_BYTES`; it may hold keys.

        Raises:
            CallError: a status other than 2xx, no answer, or a part of one.
            StorageError: the file cannot be written.
        """
        target = self._target(path)
        url = target.with_query(self._query).update_query(query or {})
        headers = {**self._headers, "Content-Type": kind}
        answer, _ = await self._exchange(method, url, headers, body, into, self.redacted_url_at(path))
        return answer if into else redact.redacted(answer)

    def redacted_url_at(self, path: str) -> str:
        """The address of a path for messages: without credentials and query."""
        return self._shown_base + path

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
        text = " ".join(quote.split())[:MAX_QUOTE]
        quoted = f": {text}" if text else ""
        return CallError(kind, f"{where or self._shown_target}: {message}{quoted}", final=final)

    def status_error(
        self,
        status: int,
        quote: str,
        *,
        retry_after_s: float | None = None,
        where: str | None = None,
        inside: bool = False,
    ) -> CallError:
        """The CallError of an HTTP status; final if the same request can only fail again.

        Args: inside: whether an answer with HTTP 200 names the status.
        """
        hint, lasting = hints.for_status(status, self._plain.path, quote, keyless=self._keyless)
        final = lasting or (300 <= status < 500 and status not in RETRYABLE_STATUSES)
        said = f"HTTP 200 with the error {status}" if inside else f"HTTP {status}"
        failure = self.error(f"http {status}", said + hint, quote, final=final, where=where)
        failure.retry_after_s = retry_after_s
        failure.advised = bool(hint)
        return failure

    def failure_error(
        self, failure: ProviderFailure, *, where: str | None = None, inside: bool = False
    ) -> CallError:
        """The CallError of a failure in an answer; final by its status, for blocked prompts and for empty accounts.

        Args: inside: whether the answer came with HTTP 200.
        """
        if failure.blocked:
            blocked = "the provider blocked the prompt"
            return self.error(BLOCKED_PROMPT, blocked, failure.message, final=True, where=where)
        if failure.no_quota:
            empty = "the account has no quota left"
            return self.error(QUOTA_USED_UP, empty, failure.message, final=True, where=where)
        if failure.status is not None:
            return self.status_error(failure.status, failure.message, where=where, inside=inside)
        return self.error("wrong shape", "an error came with HTTP 200", failure.message, where=where)

    def use_port(self, port: int) -> None:
        """Sends all later requests to this port, if the base URL has port 0; messages and records keep that."""
        if self._url.port == 0:
            self._url, self._plain = self._url.with_port(port), self._plain.with_port(port)

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
    ) -> tuple[bytes, Mapping[str, str]]:
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
                return answer, fields
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
            return self.error(
                "truncated body", "the answer broke off", hints.network_words(error), where=where
            )
        # A retry does not cure a bad certificate, nor the wrong protocol.
        lasting = isinstance(error, aiohttp.ClientConnectorCertificateError) or hints.speaks_http(error)
        hint = hints.for_network(error)
        return self.error(
            "network", f"no answer{hint}", hints.network_words(error), final=lasting, where=where
        )

    def _refusal_error(self, status: int, headers: Mapping[str, str], answer: bytes, where: str) -> CallError:
        failure = refusal_in(answer, status)
        quote = failure.message
        if 300 <= status < 400:
            quote = f"redirects to {headers.get('Location', 'nowhere')}; give the base URL of that address"
        if failure.blocked or failure.no_quota:
            return self.failure_error(failure, where=where)
        wait = retry_wait_s(headers)
        wait = retry_delay_s(answer) if wait is None else wait
        return self.status_error(status, quote, retry_after_s=wait, where=where)


def _cost_in(headers: Mapping[str, str]) -> float | None:
    """What LiteLLM's proxy says that a whole reply cost; in a stream its usage says so."""
    try:
        cost = float(headers.get(COST_HEADER, ""))
    except ValueError:
        return None
    return cost if 0 <= cost < inf else None


class _BodyTooLargeError(aiohttp.ClientError):
    """The answer is longer than the limit."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
