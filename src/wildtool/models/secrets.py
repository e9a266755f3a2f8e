"""Detects API keys by the names of fields, in config tables and request fields; tells addresses with keys apart by a
digest that gives nothing of them away."""

import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from wildtool.redact import looks_like_key
from wildtool.secret_places import is_key_name
from wildtool.temporary import temporary_folder

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""Names of environment variables; keys rarely look like one."""
_AUTHORIZATION_VALUE = re.compile(r"(?:Bearer|Basic|Token)\s+\S{8,}", re.IGNORECASE)
"""Values of an authorization header."""


def find_key(value: Any, name: str = "") -> str | None:
    """The name of the first field that holds a key as text, at any depth; None if there is none.

    Lists are searched too, and pairs of a name and a value, as headers are often given.
    """
    if isinstance(value, str):
        return name or "a text" if _is_key(value, name) else None
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        key = fields.get("name", fields.get("key"))
        if isinstance(key, str) and find_key(fields.get("value"), key):
            return key
        return next((secret for inner in fields if (secret := find_key(fields[inner], inner))), None)
    if isinstance(value, list | tuple):
        entries = list(cast(Sequence[Any], value))
        for inner in entries:
            match inner:
                case [str() as label, str() as text] if is_key_name(label) and text.strip():
                    return label
                case _:
                    pass
        return next((inner_secret for inner in entries if (inner_secret := find_key(inner, name))), None)
    return None


def _is_key(value: str, name: str) -> bool:
    return bool(value.strip()) and (is_key_name(name) or is_authorization(value))


def is_authorization(value: str) -> bool:
    """Whether a text is the value of an authorization header, whatever its field's name."""
    return _AUTHORIZATION_VALUE.fullmatch(value.strip()) is not None


def describe_variable(name: str) -> str:
    """An environment variable's name for a message; hidden if it may be a key given by mistake."""
    usual = re.fullmatch(r"[A-Z_][A-Z0-9_]{0,60}", name) and not looks_like_key(name)
    return f"the environment variable {name}" if usual else "the environment variable named by --api-key-env"


_KEY_BYTES = 32


def keyed_digest(secret: str) -> str:
    """A digest of a secret, after an id of the key that it was made with; it tells secrets apart without storing them.

    The key is random, made once, and kept in the user's data folder, readable by nobody else. If it cannot be stored,
    each process has its own key, and its digests cannot be compared with others.
    """
    key = _key()
    return (
        f"{sha256(b'name' + key).hexdigest()[:8]}.{hmac.new(key, secret.encode(), sha256).hexdigest()[:32]}"
    )


def comparable(digest: object, other: object) -> bool:
    """Whether two digests were made with the same key, so that different digests mean different secrets."""
    if not isinstance(digest, str) or not isinstance(other, str):
        return False
    return digest.partition(".")[0] == other.partition(".")[0]


@cache
def _key() -> bytes:
    from platformdirs import user_data_path  # loaded only if an address contains a secret

    file = user_data_path("wildtool") / "digest.key"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return _stored_key(file)
    except OSError:
        return secrets.token_bytes(_KEY_BYTES)


def _stored_key(file: Path) -> bytes:
    with temporary_folder(file.parent) as place:
        new = place / file.name
        with open(new, "wb", opener=lambda path, flags: os.open(path, flags | os.O_EXCL, 0o600)) as key_file:
            key_file.write(secrets.token_bytes(_KEY_BYTES))
        # If several processes start at once, all use the key of the first.
        with suppress(FileExistsError):
            os.link(new, file)
    key = file.read_bytes()
    if len(key) != _KEY_BYTES:
        raise OSError(f"{file} is no key")
    return key
