"""JSON that every reader accepts: no lone surrogates, no NaN, bounded depth."""

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
"""Characters that some readers of lines take for the end of a line, with their JSON escapes."""
MAX_JSON_DEPTH = 200
"""Levels of nesting; deeper values become `…`."""


def write_json_lines(target: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes JSON objects, one per line; the file is written as a whole or not at all."""
    with atomic_replace(target) as new, new.open("wb") as file:
        for row in rows:
            text = strict_json(row)
            for character, escape in _BREAKS.items():
                text = text.replace(character, escape)
            file.write(text + b"\n")


def strict_json(value: Any) -> bytes:
    """A value as UTF-8 JSON; what strict readers refuse is replaced as by `portable_value`."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(portable_value(value), ensure_ascii=False, separators=(",", ":")).encode()


def portable_value(value: Any, depth: int = 0) -> Any:
    """A JSON value with lone surrogates replaced by U+FFFD, NaN and infinities by null, too deep parts by `…`."""
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
