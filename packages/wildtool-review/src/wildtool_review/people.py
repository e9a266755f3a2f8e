"""The people of a review: roles, and personal tokens.

A token is 256 random bits. Nobody can try all of them, so its plain SHA-256 is kept: a slow hash such as scrypt protects
short passwords; here it would add nothing and cost time at every request. Hashes are in the store and in no log, so a log
can be shared.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from wildtool.errors import UsageError
from wildtool.json_codec import as_list
from wildtool_review.log import Entry

ReviewRole = Literal["reviewer", "adjudicator", "owner"]
ROLES: tuple[ReviewRole, ...] = get_args(ReviewRole)
"""Each may do what those before it may, except that a reviewer's decisions are made blind."""
COMMAND_LINE = "owner"
"""Who acts on the command line. Nobody else can have this name."""
_NAME = re.compile(r"[^\W_][\w.@ -]{0,63}")
_PREFIX = "wtr_"
"""Marks a token, so that scanners for secrets find one."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who takes part."""

    name: str
    role: ReviewRole
    active: bool = True
    """False once removed; what they did stays."""


def new_token() -> str:
    """A personal token; it is shown once and kept nowhere."""
    return _PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


def check_name(name: str) -> str:
    """The name, without blanks around it. Raises UsageError for one that cannot be a person's."""
    name = name.strip()
    if name == COMMAND_LINE:
        raise UsageError(f"{name!r} is the name of the command line here; take another one")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a name here; take letters, digits, blanks and . _ @ -, at most 64"
        )
    return name


def pseudonyms(entries: Iterable[Entry]) -> dict[str, str]:
    """For each person in a log, in order of appearance, a name that says nothing about them."""
    names: dict[str, str] = {}
    for entry in entries:
        for name in people_in(entry):
            names.setdefault(name, f"person {len(names) + 1}")
    return names


def people_in(entry: Entry) -> list[str]:
    """The people that an entry names."""
    names = [entry.branch] if entry.branch else []
    if entry.kind == "assign":
        names += [str(name) for name in as_list(entry.after)]
    if entry.kind == "person":
        names.append(entry.field)
    return [*names, *([entry.who] if entry.kind not in ("import", "check") else [])]
