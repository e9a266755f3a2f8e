"""Writes a file whole or not at all, and values as strict JSON that every reader takes."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from wildtool.outputs import atomic_replace

_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029", "\x85".encode(): b"\\u0085"}
"""What is no end of a line in JSON but for some readers of lines is one."""
MAX_JSON_DEPTH = 200
"""Deeper values are cut."""


def write_json_lines(target: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes JSON objects, one a line."""
    with atomic_replace(target) as new, new.open("wb") as file:
        for row in rows:
            text = strict_json(row)
            for character, escape in _BREAKS.items():
                text = text.replace(character, escape)
            file.write(text + b"\n")


def strict_json(value: Any) -> bytes:
    """UTF-8 JSON; what strict readers refuse is replaced as `plain` does."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(portable_value(value), ensure_ascii=False, separators=(",", ":")).encode()


def portable_value(value: Any, depth: int = 0) -> Any:
    """A JSON value without lone surrogates (U+FFFD instead), NaN and infinities (null), and what lies too deep (`…`)."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bool | int | None):
        return value
    if depth > MAX_JSON_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        entries = cast(Mapping[Any, Any], value)
        return {portable_value(str(key)): portable_value(inner, depth + 1) for key, inner in entries.items()}
    if isinstance(value, list | tuple):
        return [portable_value(inner, depth + 1) for inner in cast(Sequence[Any], value)]
    return portable_value(str(value))
