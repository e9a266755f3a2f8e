"""Finds secrets in foreign commands and addresses by their places, and gives the form of both that may be recorded.

What wildtool did not write (a server to start, the address of one, the words of its own command line) may hold a key: in
a login or a query, after `--token`, in `password=…`, in a header. `register_foreign` registers it, so that it is removed
from everything that is written or shown; `recordable` hides it by its place alone, however short it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from wildtool.redact import (
    KEY_PREFIXES,
    KEY_STARTS,
    REMOVED,
    is_unmistakable,
    looks_like_key,
    redacted_text,
    register_login,
    register_secrets,
)

SHORTEST_SECRET = 4
"""Characters; shorter texts are placeholders, and removing them would only garble messages."""
PUBLIC_KEYS = frozenset(
    (
        "EMPTY",
        "empty",
        "NONE",
        "none",
        "None",
        "null",
        "dummy",
        "dummy-key",
        "sk-dummy",
        "fake-key",
        "no-key",
        "no-key-required",
        "sk-no-key-required",
        "not-needed",
        "not-required",
        "placeholder",
        "token-abc123",
        "localhost",
    )
)
"""Keys that servers without a key are given; public words, so not secrets."""
SECRET_PARAMETER = re.compile("key|token|secret|pass|sig|auth|cred", re.IGNORECASE)
"""Names of URL parameters that hold a key; other values, such as a version, are ordinary words."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(
    (
        "secret",
        "secrets",
        "password",
        "passwords",
        "passwd",
        "pwd",
        "passphrase",
        "authorization",
        "bearer",
        "credential",
        "credentials",
        "apikey",
        "apikeys",
        "apitoken",
        "accesstoken",
        "authtoken",
    )
)
"""Words that name a key anywhere in a name."""
_KEY_WORDS = frozenset({"key", "keys", "token"})
"""Words that name a key as the last word after one of `_KEY_QUALIFIERS`, or after none."""
_KEY_QUALIFIERS = frozenset(
    (
        "api",
        "access",
        "account",
        "admin",
        "auth",
        "client",
        "encryption",
        "function",
        "functions",
        "id",
        "master",
        "oauth",
        "private",
        "provider",
        "refresh",
        "secret",
        "security",
        "service",
        "session",
        "signing",
        "subscription",
        "user",
        "x",
        "",
    )
)
_FOREIGN_WORDS = frozenset(("cookie", "pass", "passcode", "pat", "pgpassword", "pw", "sig", "signature"))
"""Last words of names that hold a key in foreign commands, beside those of fields."""
_FOREIGN_NAME = re.compile(r"(?:[A-Z][A-Z0-9]*_)+(?:KEY|TOKEN)")
"""Variables such as `GITHUB_TOKEN`, whose first words may be anything."""
_NAMES_ONLY = frozenset(("dir", "env", "file", "files", "folder", "name", "path", "variable"))
"""Last words of names that say where a key is, and hold none."""
FROM_VARIABLE = "env:"
"""Before the name of the environment variable that holds a value."""
_NO_SECRET = re.compile(
    rf"\$\{{?\w+\}}?|\{{\w*\}}|<[^<>]*>|%\(\w+\)s|\*+|…|{FROM_VARIABLE}\w+|" + re.escape(REMOVED)
)
"""References to variables, and what stands for a secret that was removed."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
"""A part of many addresses of public files."""
_ADDRESS = re.compile(
    r"""(?<![\w+.-])(?P<scheme>[A-Za-z][\w+.-]*)://(?P<rest>(?:[^/?#@:\s]*:(?!\d+(?:[\s/?#]|$))[^/?#@]*@)?[^\s"'<>`]*)"""
)
"""Blanks and quotes end it, except in a password."""
_LOGIN = re.compile(r"[^/?#]*@|[^/?#@:]*:(?!\d+(?:[/?#]|$))\S*@")
"""Up to the last @ before the path; beyond it, if what follows the first colon is no port."""
_PARAMETER = re.compile(r"[?&#;](?P<name>[^=&#;]*)(?P<sign>=?)(?P<value>[^&#;]*)")
_QUOTED = r""""(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.|'')*)'"""
_ASSIGNED = re.compile(
    rf"""(?<![\w.-])-{{0,2}}(?P<name>[A-Za-z_][\w.-]*)\s*=\s*(?=(?P<value>{_QUOTED}|\S+))"""
)
_OPTION = re.compile(
    rf"""(?<![^\s"'])(?P<name>--?[A-Za-z][\w.-]*)["']?\s+(?=(?P<value>{_QUOTED}|(?!--)\S+))"""
)
_HEADER = re.compile(
    r"""(?:^|(?P<quote>["'])|(?:-H|--headers?)[\s=]*)(?P<name>[A-Za-z][\w-]*):\s*"""
    r"""(?:(?:Bearer|Basic|Token)\s+)?(?=(?P<value>(?(quote)[^"'\n]+|[^\s"']+)))""",
    re.IGNORECASE,
)
_HEADER_OPTION = re.compile(r"--(?:[a-z]+-)*header")
"""Options of wildtool that give a header."""
_GIVEN_HEADER = re.compile(rf"{_HEADER_OPTION.pattern}=[^=]*=?(?P<value>.*)", re.DOTALL)
_HIDDEN = "…"
_FIELD = re.compile(
    r"""\\?["'](?P<name>[A-Za-z_][\w.-]*)\\?["']\s*:\s*\\?["'](?P<value>(?:[^"'\\]|\\[^"'])+)"""
)
_BEARER = re.compile(r"\b(?:Bearer|Basic)\s+(?P<value>(?=\S*\d)[\w.~+/=-]{8,})", re.IGNORECASE)
_KNOWN = re.compile(rf"(?<![\w/.:=-])(?P<value>(?=\S*\d)(?:(?:{KEY_PREFIXES})[-_]|{KEY_STARTS})[\w-]{{12,}})")
"""Keys of well-known providers among the words of a command."""


def is_key_name(name: str) -> bool:
    """Whether a field of this name holds a key; `max_tokens`, `prompt_cache_key` and `eos_token` do not."""
    words = ["", *(word.lower() for word in _WORDS.findall(name))]
    return not _SECRET_WORDS.isdisjoint(words) or (words[-1] in _KEY_WORDS and words[-2] in _KEY_QUALIFIERS)


def is_foreign_key_name(name: str) -> bool:
    """Whether an option, a variable or a header of this name holds a key in a foreign command."""
    last = (_WORDS.findall(name.lower()) or [""])[-1]
    if last in _NAMES_ONLY:
        return False
    return is_key_name(name) or last in _FOREIGN_WORDS or _FOREIGN_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """A secret in a text."""

    start: int
    end: int
    """Of the secret itself."""
    lead: int
    tail: int
    """Of the secret with what proves that it is one: the name before it, the host behind it."""


def find_secrets(text: str) -> list[SecretPlace]:
    """The places of all secrets in a foreign command or address; references to variables are none."""
    addresses = list(_ADDRESS.finditer(text))
    places = [place for address in addresses for place in _in_address(address)]
    for place in _named(text):
        if not any(its.start("rest") <= place.start < its.end() for its in addresses):
            places.append(place)
    for pattern in (_BEARER, _KNOWN) if " " in text else ():
        places += [_of(match) for match in pattern.finditer(text)]
    return [its for its in places if not _is_public(text[its.start : its.end])]


def recordable(text: str) -> str:
    """A foreign command or address with `[key]` for each secret."""
    text = redacted_text(text)
    shown, at = "", 0
    for place in sorted(find_secrets(text), key=lambda its: its.start):
        if place.start >= at:
            shown += text[at : place.start] + REMOVED
        # One that begins inside the one before may end behind it.
        at = max(at, place.end)
    return shown + text[at:]


def recordable_words(words: Sequence[str]) -> list[str]:
    """The words of a command line of wildtool with `[key]` for each secret, and of headers only their names."""
    secrets = set(_after_own_options(words))
    without_values = [_without_value(word, before) for before, word in pairwise(["", *words])]
    return [REMOVED if word in secrets else recordable(word) for word in without_values]


def _without_value(word: str, before: str) -> str:
    """A word of a command line; where it gives a header, that without its value. Args: before: the word before it."""
    match = _GIVEN_HEADER.fullmatch(word if not _HEADER_OPTION.fullmatch(before) else f"{before}={word}")
    if match is None or _NO_SECRET.fullmatch(match["value"]):
        return word
    return word[: len(word) - len(match["value"])] + _HIDDEN


def register_foreign(*texts: str | None) -> None:
    """Registers the secrets of foreign commands and addresses.

    One that is short, or an ordinary word, is removed only where it occurs with its name: elsewhere it may be a part of a
    reply.
    """
    for text in filter(None, texts):
        for place in find_secrets(text):
            secret = text[place.start : place.end]
            if is_unmistakable(secret):
                register_secrets(secret, unquote(secret), _unescaped(secret))
            if len(secret) >= SHORTEST_SECRET:
                register_secrets(text[place.lead : place.tail])
        for address in _ADDRESS.finditer(text):
            register_login(_login_of(address["rest"]))


def register_words(words: Sequence[str]) -> None:
    """Registers the secrets in the words of a command line of wildtool."""
    register_foreign(*words)
    register_secrets(*_after_own_options(words))


def _is_public(secret: str) -> bool:
    return not secret or secret in PUBLIC_KEYS or _NO_SECRET.fullmatch(secret) is not None


def _unescaped(secret: str) -> str:
    return re.sub(r"\\(.)", r"\1", secret).replace("''", "'")


def _of(match: re.Match[str], group: str = "value", tail: int | None = None) -> SecretPlace:
    end = match.end(group)
    return SecretPlace(match.start(group), end, match.start(), end if tail is None else tail)


def _login_of(rest: str) -> str:
    """The login of an address, without its scheme."""
    match = _LOGIN.match(rest)
    return match[0][:-1] if match else ""


def _in_address(address: re.Match[str]) -> Iterator[SecretPlace]:
    """Login, parameters, and parts of the path of an address."""
    text, at, rest = address.string, address.start("rest"), address["rest"]
    login = _login_of(rest)
    if login:
        user, _, password = login.partition(":")
        end = at + len(login)
        host = end + 1 + len(re.split(r"[:/?#]", text[end + 1 : address.end()])[0])
        is_web = address["scheme"].lower() in ("http", "https")
        if looks_like_key(user) or (is_web and not password):
            yield SecretPlace(at, at + len(user), address.start(), end + 1)
        if password:
            yield SecretPlace(end - len(password), end, address.start(), end + 1)
            yield SecretPlace(end - len(password), end, end - len(password), host)
        at = end + 1
    path, *_ = re.split(r"[?#]", text[at : address.end()], maxsplit=1)
    if address["scheme"].lower() in ("http", "https"):
        for part in re.finditer(r"(?<=/)[^/]+", path):
            if looks_like_key(unquote(part[0])) and not _COMMIT.fullmatch(part[0]):
                yield SecretPlace(at + part.start(), at + part.end(), at + part.start(), at + part.end())
    for parameter in _PARAMETER.finditer(text, at + len(path), address.end()):
        name, value = parameter["name"], parameter["value"]
        is_alone = not value.strip("=") and parameter[0][0] != "#"
        if name and (is_alone or looks_like_key(unquote(name))):
            yield _of(parameter, "name")
        if value and (SECRET_PARAMETER.search(name) or looks_like_key(unquote(value))):
            yield _of(parameter)


def _named(text: str) -> Iterator[SecretPlace]:
    """Values behind the name of a key: assigned, given to an option, of a header or a field."""
    for pattern in (_ASSIGNED, _OPTION):
        for match in pattern.finditer(text):
            if is_foreign_key_name(match["name"].lstrip("-")):
                yield _value_of(match)
    for pattern in (_HEADER, _FIELD):
        for match in pattern.finditer(text):
            if is_foreign_key_name(match["name"]):
                yield _of(match)


def _value_of(match: re.Match[str]) -> SecretPlace:
    """A value without its quotes, or without those that close an outer one."""
    for group in ("double", "single"):
        if match[group] is not None:
            return _of(match, group)
    start, value = match.start("value"), match["value"].rstrip("\"'`;,)")
    return SecretPlace(start, start + len(value), match.start(), start + len(value))


def _after_own_options(words: Sequence[str]) -> list[str]:
    """Keys behind options of the command line, which take names of keys and never keys: told by their look."""
    return [
        value
        for option, value in pairwise(words)
        if option.startswith("-") and is_foreign_key_name(option.lstrip("-")) and looks_like_key(value)
    ]
