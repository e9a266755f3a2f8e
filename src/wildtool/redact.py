"""Removes the keys and logins that this process knows from everything that is written or shown.

Code that reads a secret calls `register_secrets`. All output to files and to the screen passes through `redacted` or
`redacted_text`, so a secret is removed wherever it comes from: an endpoint that repeats it, a library's error message,
the command line.
"""

import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from html import escape
from typing import Any, cast
from urllib.parse import quote, quote_plus, unquote

REMOVED = "[key]"
"""Replaces a secret."""
MIN_SECRET_LENGTH = 8
"""Characters; shorter texts are placeholders or ordinary words, whose removal would change replies."""
KEY_PREFIXES = "sk|pk|rk|gsk|hf|ghp|gho|ghs|github_pat|glpat|xai|nvapi|xox[abpr]"
"""First words of well-known providers' keys, as a pattern."""
KEY_STARTS = "AIza|AKIA|ya29|eyJ"
"""First characters of further keys and tokens, as a pattern."""
_PREFIX = re.compile(rf"(?:{KEY_PREFIXES}|{KEY_STARTS}|key|token)[-_.A-Za-z0-9]{{8,}}")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
"""Longer than in any name of a model or a place, if it has both letters and digits."""
_VARIABLE = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT)$", re.IGNORECASE
)
"""Names of environment variables that hold keys."""
_PROXY = re.compile(r"_proxy$", re.IGNORECASE)
"""Names of environment variables that hold the address of a proxy."""

_texts: tuple[str, ...] = ()
"""All forms of all secrets, longest first."""
_bytes: tuple[bytes, ...] = ()
_environment_read = False


def looks_like_key(text: str) -> bool:
    """Whether a text looks like a key: a well-known prefix, or a long mixture of letters and digits."""
    if any(has_digit_and_letter(run[0]) for run in _RUN.finditer(text)):
        return True
    return _PREFIX.match(text) is not None and any(character.isdigit() for character in text)


def has_digit_and_letter(text: str) -> bool:
    return any(character.isdigit() for character in text) and any(character.isalpha() for character in text)


def register_secrets(*secrets: str | None) -> None:
    """Registers secrets, in every form in which they may occur. Short texts are ignored."""
    global _texts, _bytes
    forms = {form for secret in secrets if secret for form in _removable_forms(secret)} - set(_texts)
    if forms:
        _texts = tuple(sorted({*_texts, *forms}, key=len, reverse=True))
        _bytes = tuple(text.encode("utf-8", "surrogatepass") for text in _texts)


def register_login(login: str) -> None:
    """Registers `USER:PASSWORD`, and what is sent in its place: base64.

    A password that may be an ordinary word is removed only in these.
    """
    user, _, password = login.partition(":")
    for text in {login, unquote(login)} if password else ():
        encoded = b64encode(text.encode("utf-8", "surrogatepass")).decode()
        register_secrets(text, encoded.rstrip("="), f"Basic {encoded}")
    if password and is_unmistakable(password):
        register_secrets(password, unquote(password))
    if not password and looks_like_key(user):
        register_secrets(user, unquote(user))


def is_unmistakable(secret: str) -> bool:
    """Whether a secret can be removed wherever it occurs; one that is short, or a word of letters, may be a part of a
    reply."""
    return len(secret) >= MIN_SECRET_LENGTH and not (secret.isalpha() and len(secret) < 2 * MIN_SECRET_LENGTH)


def encoded_forms(secret: str) -> set[str]:
    """A secret as it may occur in URLs, JSON and HTML."""
    raw = secret.encode("utf-8", "surrogatepass")
    lower = re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), quote(raw, safe=""))
    in_json = (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    return {
        secret,
        quote(raw, safe=""),
        quote(raw),
        quote_plus(raw),
        lower,
        *(
            text.replace("/", mark)
            for text in (secret, *in_json)
            for mark in ("/", "\\/", "\\u002f", "\\u002F")
        ),
        escape(secret),
        escape(secret, quote=False),
    }


def redacted(data: bytes) -> bytes:
    """Bytes without any secret; the same object if there is none."""
    _read_environment()
    for secret in _bytes:
        if secret in data:
            data = data.replace(secret, REMOVED.encode())
    return data


def redacted_text(text: str) -> str:
    """A text without any secret."""
    _read_environment()
    for secret in _texts:
        if secret in text:
            text = text.replace(secret, REMOVED)
    return text


def redacted_json(value: Any) -> Any:
    """A JSON value without any secret in its texts and names; the same object if there is none."""
    _read_environment()
    return _redact_value(value) if _texts else value


def _redact_value(value: Any) -> Any:
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, dict):
        old = cast(dict[str, Any], value)
        new: Any = {redacted_text(name): _redact_value(inner) for name, inner in old.items()}
        pairs = zip((*new, *new.values()), (*old, *old.values()), strict=False)
        same = len(new) == len(old) and all(a is b for a, b in pairs)
        return old if same else new
    if isinstance(value, list):
        entries = cast(list[Any], value)
        new = [_redact_value(inner) for inner in entries]
        return entries if all(a is b for a, b in zip(new, entries, strict=True)) else new
    return value


def _removable_forms(secret: str) -> set[str]:
    if len(secret) < MIN_SECRET_LENGTH:
        return set()
    forms = encoded_forms(secret) | _base64_forms(secret.encode("utf-8", "surrogatepass"))
    return {form for form in forms if len(form) >= MIN_SECRET_LENGTH}


def _base64_forms(raw: bytes) -> set[str]:
    """A secret in base64: by itself, and the characters of it alone where other bytes are before and behind it."""
    forms = set[str]()
    for encode in (b64encode, urlsafe_b64encode):
        forms.add(encode(raw).decode().rstrip("="))
        for before in range(3):
            first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
            forms.add(encode(bytes(before) + raw).decode()[first:last])
    return forms


def _read_environment() -> None:
    """Registers the keys in the environment, and the logins of proxies. Values that do not look like keys are ignored: a
    password that is a word would be removed from replies too."""
    global _environment_read
    if not _environment_read:
        _environment_read = True
        for name, value in os.environ.items():
            if _VARIABLE.search(name) and looks_like_key(value.strip()):
                register_secrets(value.strip())
            elif _PROXY.search(name) and "@" in value:
                register_login(value.rpartition("@")[0].rpartition("://")[2])
