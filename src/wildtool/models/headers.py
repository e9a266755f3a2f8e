"""Headers that a user adds to requests: `NAME=VALUE`, and `NAME=env:VARIABLE` for a value that is secret.

A header is recorded and shown by its name alone. Values of variables are removed from whatever a server repeats.
"""

import os
import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.errors import UsageError
from wildtool.models.secrets import VARIABLE_NAME, is_authorization
from wildtool.redact import is_unmistakable, looks_like_key, register_login, register_secrets
from wildtool.secret_places import FROM_VARIABLE, is_foreign_key_name, register_foreign

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Names that HTTP allows."""
_VALUE = re.compile(r"[\t\x20-\x7e]+")
_SECRET_NAME = re.compile("key|token|secret|passw|credential|auth|cookie|jwt|signature", re.IGNORECASE)
"""Parts of the names of headers that hold a secret."""
_NO_SECRET_NAME = re.compile("portkey", re.IGNORECASE)
"""Names of products that have such a part."""
_CARRIAGE = frozenset(
    (
        "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "accept-encoding",
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect",
    )
)  # fmt: skip
"""Headers that say how a request is carried, in lower case; they follow from what is sent."""
_LONGEST_SHOWN = 40
"""Characters of a name that is none, in a message."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header as the user gave it."""

    name: str
    """As it is sent; names that differ in case alone are the same."""
    value: str = field(repr=False)
    """Its value, or `env:` and the name of the environment variable that holds it."""

    @property
    def variable(self) -> str | None:
        """The variable that holds its value; None for a value that was given itself."""
        return self.value.removeprefix(FROM_VARIABLE) if self.value.startswith(FROM_VARIABLE) else None


def parse_headers(texts: Sequence[str] | None, option: str = "--header") -> tuple[Header, ...]:
    """The headers of an option. Raises UsageError for one that cannot be sent; no message repeats a value.

    Args:
        texts: each `NAME=VALUE` or `NAME=env:VARIABLE`.
        option: what messages call it.
    """
    pairs: list[tuple[str, str]] = []
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(
                f"{option} takes NAME=VALUE, such as {option} X-Team=evals, and a secret as NAME=env:VARIABLE"
            )
        pairs.append((name, value))
    return make_headers(pairs, f"{option} ")


def make_headers(pairs: Iterable[tuple[str, str]], lead: str = "") -> tuple[Header, ...]:
    """The headers of names with their values. Raises UsageError as `parse_headers`.

    Args:
        lead: how messages begin, before the name.
    """
    headers: list[Header] = []
    for name, text in pairs:
        header = Header(name, text.strip(" \t"))
        problem = _problem(header)
        if name.lower() in {each.name.lower() for each in headers}:
            problem = "is given twice; give it once"
        if problem:
            raise UsageError(f"{lead}{_shown(name)}: {problem}")
        headers.append(header)
    return tuple(headers)


def headers_in_table(table: Any) -> tuple[Header, ...]:
    """The headers of a table of names and values, as files give them. Raises UsageError as `parse_headers`."""
    if not isinstance(table, dict):
        raise UsageError('must be a table, such as {X-Team = "evals"}')
    values = cast(dict[str, Any], table)
    for name, value in values.items():
        if not isinstance(value, str):
            raise UsageError(f"{_shown(name)}: must be a text")
    return make_headers(values.items())


def _problem(header: Header) -> str:
    """Why a header cannot be sent, and what to do; empty if it can."""
    name, value = header.name, header.value
    if not _NAME.fullmatch(name):
        return (
            "is no name of a header, which has letters, digits and - alone; write NAME=VALUE, not NAME: VALUE"
        )
    if name.lower() in _CARRIAGE:
        return "follows from the request, and wildtool sets it; leave it out"
    if header.variable is not None:
        if VARIABLE_NAME.fullmatch(header.variable):
            return ""
        return (
            f"{FROM_VARIABLE} is not followed by the name of an environment variable; if it is the value itself, put it "
            "into one and name that"
        )
    advice = f"put it into an environment variable and give {name}={FROM_VARIABLE}VARIABLE"
    if is_secret_name(name):
        return f"may hold a secret, which no command line and no file should hold; {advice}"
    if looks_like_key(value) or is_authorization(value):
        return f"its value looks like a key; {advice}"
    return value_problem(value)


def is_secret_name(name: str) -> bool:
    """Whether the value of a header of this name may be a secret."""
    return bool(_SECRET_NAME.search(_NO_SECRET_NAME.sub("", name))) or is_foreign_key_name(name)


def value_problem(value: str) -> str:
    """Why a value cannot be sent; empty if it can."""
    if not value:
        return "is empty; give a value, or leave it out"
    if not _VALUE.fullmatch(value):
        return "its value has line breaks, control or non-ASCII characters in it, which no header can hold"
    return ""


def _shown(name: str) -> str:
    """A name for a message. One that is none is cut, since what follows may be a secret."""
    if _NAME.fullmatch(name):
        return name
    match = _NAME.match(name)
    start = match[0][:_LONGEST_SHOWN] if match else ""
    return "…" if looks_like_key(start) else f"{start}…"


def refuse_own(headers: Iterable[Header], own: Collection[str], whose: str) -> None:
    """Raises UsageError for a header that wildtool sets itself for an endpoint.

    Args:
        own: names that it sets, in lower case.
        whose: what sets it, in a message.
    """
    for header in headers:
        if header.name.lower() in own:
            raise UsageError(f"the header {header.name} is set by {whose}; leave it out")


def read_headers(headers: Iterable[Header]) -> dict[str, str]:
    """The values by their names. Those of variables are registered as secrets.

    Raises UsageError where a variable is not set, or holds what no header can.
    """
    return {header.name: _read(header) for header in headers}


def _read(header: Header) -> str:
    variable = header.variable
    if variable is None:
        return header.value
    value = os.environ.get(variable, "").strip()
    # A key that was given in place of the name is not repeated.
    place = "its environment variable" if looks_like_key(variable) else f"the environment variable {variable}"
    if not value:
        raise UsageError(
            f"the header {header.name}: {place} is not set, or empty; set it, or leave the header out"
        )
    if problem := value_problem(value):
        raise UsageError(f"the header {header.name}, from {place}: {problem}")
    _register(header.name, value)
    return value


def _register(name: str, value: str) -> None:
    """Registers a value and its parts as secrets; a part that may be an ordinary word only with the header's name."""
    register_foreign(f"{name}: {value}")
    register_secrets(f"{name}: {value}", value if is_secret_name(name) else None)
    register_secrets(*filter(is_unmistakable, secret_parts(value)))
    scheme, _, login = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            register_login(b64decode(login, validate=True).decode())
        except ValueError:
            return  # no login, whatever the server makes of it


def secret_parts(value: str) -> list[str]:
    """What of a value may be a secret by itself: all of it, a token after its scheme, each cookie."""
    words = re.split(r"[\s,;]+", value)
    parts = (*words, *(word.partition("=")[2] for word in words))
    return [value, value.partition(" ")[2], *filter(is_unmistakable, parts)]


def secrets_of(headers: Iterable[Header], values: Mapping[str, str]) -> list[str]:
    """The secret values of headers, and their parts. Args: values: as of `read_headers`."""
    return [
        part
        for header in headers
        if header.variable is not None
        for part in secret_parts(values[header.name])
    ]
