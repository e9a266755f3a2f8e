"""What a base URL and a key say: the address to ask, the header of the key, the texts that must be kept secret."""

import re
import urllib.request
from base64 import b64encode
from urllib.parse import quote

from yarl import URL

from wildtool.errors import UsageError

SHORTEST_SECRET = 4
"""Anything shorter is a placeholder; taking it out would only garble messages."""
PLACEHOLDERS = frozenset(
    (
        *("EMPTY", "empty", "NONE", "none", "None", "null", "dummy", "dummy-key", "sk-dummy", "fake-key"),
        *("no-key", "no-key-required", "sk-no-key-required", "not-needed", "not-required", "placeholder"),
        *("token-abc123", "ollama", "vllm", "sglang", "llama.cpp", "lm-studio", "localhost"),
    )
)
"""What local servers are given where they want any key at all; public words, so they are no secrets."""
SECRET_PARAMETER = re.compile("key|token|secret|pass|sig|auth|cred", re.IGNORECASE)
"""Names of URL parameters that hold a key; other values, such as a version's date, are ordinary words."""


def checked(base_url: str) -> URL:
    """The URL of an endpoint. Raises UsageError where it is none."""
    try:
        url = URL(base_url)
        usable = url.scheme in ("http", "https") and bool((url.host or "").encode("idna"))
    except ValueError:
        usable = False
        url = URL()
    if not usable:
        # The text is not repeated: it may hold a password.
        raise UsageError("the base URL is not usable; expected one like http://127.0.0.1:8000/v1")
    return url


def shown_query(url: URL) -> str:
    """The query with `…` for each value, and for each parameter that has none, as that may be a key itself.

    Neither is a digest shown: a weak key could be guessed from it. So two addresses that differ only in such
    values are one to a run that goes on.
    """
    shown = [f"{quote(name)}=…" if value.strip("=") else "…" for name, value in url.query.items()]
    return "?" + "&".join(shown) if shown else ""


def credentials_of(url: URL, api_key: str | None) -> tuple[str, str] | None:
    """Scheme and text of the Authorization header. Raises UsageError where they cannot stand there, or are said twice."""
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
    """The header that carries the credentials."""
    if credentials is None:
        return {}
    scheme, text = credentials
    if scheme == "Bearer" and key_header != "Authorization":
        return {key_header: text}
    return {"Authorization": f"{scheme} {text}"}


def forms(*secrets: str | None) -> tuple[str, ...]:
    """The secrets as they may turn up in a server's text, longest first."""
    long = {secret for secret in secrets if secret and len(secret) >= SHORTEST_SECRET}
    plain = long - PLACEHOLDERS
    escaped = {secret.replace("/", "\\/") for secret in plain}
    return tuple(sorted(plain | escaped, key=len, reverse=True))


def proxy_of(url: URL) -> str | None:
    """The proxy of the environment for this URL; none for this machine itself, which a proxy cannot reach.

    Asked once, since aiohttp's own `trust_env` reads the environment and ~/.netrc anew at every call.
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
