"""Reads base URL and key: the address, the header of the key, and the texts that must stay secret."""

import re
import urllib.request
from base64 import b64encode
from urllib.parse import quote, unquote

from yarl import URL

from wildtool import redact
from wildtool.errors import UsageError

SHORTEST_SECRET = 4
"""Characters; shorter texts are placeholders, and removing them would only garble messages."""
PLACEHOLDER_KEYS = frozenset(
    (
        *("EMPTY", "empty", "NONE", "none", "None", "null", "dummy", "dummy-key", "sk-dummy", "fake-key"),
        *("no-key", "no-key-required", "sk-no-key-required", "not-needed", "not-required", "placeholder"),
        *("token-abc123", "ollama", "vllm", "sglang", "llama.cpp", "lm-studio", "localhost"),
    )
)
"""Keys for local servers that accept any key; public words, so not secrets."""
SECRET_PARAMETER = re.compile("key|token|secret|pass|sig|auth|cred", re.IGNORECASE)
"""Names of URL parameters that hold a key; other values, such as a version, are ordinary words."""


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
    shown = str(url.with_query(None))
    for part in url.raw_path.split("/"):
        if redact.looks_like_key(unquote(part)):
            shown = shown.replace(part, "…")
    return shown


def redacted_query(url: URL) -> str:
    """The query with `…` for each value, and for each name that may be a key: without a value, or like one."""
    shown = [
        f"{quote(name)}=…" if value.strip("=") and not redact.looks_like_key(name) else "…"
        for name, value in url.query.items()
    ]
    return "?" + "&".join(shown) if shown else ""


def secrets_in(url: URL, base_url: str) -> list[str]:
    """The parts of a base URL that may be keys (login, parts of the path, names and values of the query), as typed and
    as sent."""
    found = [url.password or "", url.raw_password or "", *_login(base_url)]
    if url.user and (url.password is None or redact.looks_like_key(url.user)):
        found += [url.user, url.raw_user or ""]
    parts = {*url.raw_path.split("/"), *re.split(r"[/?#]", base_url.partition("://")[2])[1:]}
    found += [
        text for part in parts if redact.looks_like_key(unquote(part)) for text in (part, unquote(part))
    ]
    pairs = [*url.query.items(), *_pairs(base_url), *_pairs(str(url))]
    for name, value in pairs:
        # A name without a value may be the key itself.
        if not value.strip("=") or redact.looks_like_key(name):
            found.append(name)
        if SECRET_PARAMETER.search(name) or redact.looks_like_key(value):
            found.append(value)
    return [text for text in found if text and text not in PLACEHOLDER_KEYS]


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


def secret_forms(*secrets: str | None) -> tuple[str, ...]:
    """The secrets in the forms that a server's text may repeat, longest first."""
    long = {secret for secret in secrets if secret and len(secret) >= SHORTEST_SECRET}
    found = {form for secret in long - PLACEHOLDER_KEYS for form in redact.encoded_forms(secret)}
    return tuple(sorted(found, key=len, reverse=True))


def proxy_of(url: URL) -> str | None:
    """The environment's proxy for this URL; None for this machine, which a proxy cannot reach.

    Read once, since aiohttp's own `trust_env` reads the environment and ~/.netrc at every call.
    """
    host = url.host or ""
    loopback = host in ("localhost", "::1") or host.startswith("127.")
    if loopback or urllib.request.proxy_bypass(f"{host}:{url.port}"):
        return None
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        name = f"{url.scheme}_proxy"
        raise UsageError(f"the environment's {name} is not an http(s) URL; set it to one or unset it")
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
