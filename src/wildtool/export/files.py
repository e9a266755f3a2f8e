"""JSON that every reader accepts: no lone surrogates, no NaN, bounded depth."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from wildtool.json_codec import one_line, portable, replace_surrogates
from wildtool.outputs import atomic_replace

MAX_JSON_DEPTH = 200
"""Levels of nesting; deeper values become `…`."""


def write_json_lines(target: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes JSON objects, one per line; the file is written as a whole or not at all."""
    with atomic_replace(target) as new, new.open("wb") as file:
        for row in rows:
            file.write(one_line(strict_json(row)) + b"\n")


def write_whole(target: Path, content: bytes) -> None:
    """Writes a file whole or not at all. Raises as `atomic_replace`."""
    with atomic_replace(target) as new:
        new.write_bytes(content)


def strict_json(value: Any) -> bytes:
    """A value as UTF-8 JSON; what strict readers refuse is replaced as by `portable_value`."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(portable_value(value), ensure_ascii=False, separators=(",", ":")).encode()


def portable_value(value: Any) -> Any:
    """A JSON value with lone surrogates replaced by U+FFFD, NaN and infinities by null, too deep parts by `…`."""
    return portable(value, text=replace_surrogates, number=_finite, max_depth=MAX_JSON_DEPTH)


def _finite(number: float) -> float | None:
    return number if isinstance(number, int) or math.isfinite(number) else None
