"""Addresses of PostgreSQL databases, which may hold a password that nobody should see."""

import re
from urllib.parse import unquote

from wildtool.errors import UsageError

_SIGN = r"(?:[^@/%\s]|%[0-9A-Fa-f]{2})"
_ADDRESS = re.compile(
    rf"(?P<scheme>postgres(?:ql)?://)(?:(?P<user>{_SIGN}*?)(?P<secret>:{_SIGN}*)?@)?"
    r"(?P<place>(?:(?:[\w.%-]+|\[[0-9A-Fa-f:.%]+\])?(?::\d+)?,?)*(?:/[\w.%~-]*)?)(?P<options>\?\S*)?"
)
_PORT = re.compile(r":\d+(?=[,/]|$)")
_SECRET_OPTION = re.compile(r"(?<=[?&])((?:ssl)?password)=([^&]*)&?")


def is_address(name: str) -> bool:
    """Whether the name of a review is an address, not a file."""
    return "://" in name


def shown_name(name: str) -> str:
    """The name of a review as people may see it: an address without login, ports and options."""
    if not is_address(name):
        return name
    match = _ADDRESS.fullmatch(name)
    # A number behind a name may be a password whose @ was forgotten.
    return match["scheme"] + _PORT.sub("", match["place"]) if match else f"{name.partition('://')[0]}://…"


def split_password(address: str) -> tuple[str, str]:
    """An address without its password, and the password; empty if it has none.

    Raises UsageError for what libpq would read in another way, and then repeat in its messages.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise UsageError(
            f"{shown_name(address)}: expected an address like postgresql://USER@HOST/DATABASE. In a password write @ as "
            "%40, / as %2F, : as %3A, % as %25; or leave it out, and set PGPASSWORD or use ~/.pgpass"
        )
    options = match["options"] or ""
    hidden = [unquote(option[2]) for option in _SECRET_OPTION.finditer(options)]
    user = f"{match['user']}@" if match["user"] is not None else ""
    rest = _SECRET_OPTION.sub("", options).rstrip("?&")
    password = unquote((match["secret"] or "")[1:]) or next(iter(hidden), "")
    return match["scheme"] + user + match["place"] + rest, password
