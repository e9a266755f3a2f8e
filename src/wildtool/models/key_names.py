"""How keys are told by what they are called: in tables of the user's, in further fields of a request."""

import re
from collections.abc import Mapping
from typing import Any, cast

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""Names of environment variables; a key rarely looks like one."""
_SECRET = re.compile(r"(?:x-)?(?:api-?)?key|token|secret|password|authorization|bearer")


def names_a_key(name: str) -> bool:
    """Whether what is called so is a key wherever it stands."""
    return _SECRET.fullmatch(name.lower().replace("_", "-")) is not None


def key_in(body: Mapping[str, Any]) -> str | None:
    """The name of the first field that holds a key as text, however deep; None where there is none."""
    for name, value in body.items():
        if isinstance(value, str) and names_a_key(name):
            return name
        inner = key_in(cast(Mapping[str, Any], value)) if isinstance(value, Mapping) else None
        if inner is not None:
            return inner
    return None
