"""Data of pages in files that their scripts load on demand, as JSON that is safe inside a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson

from wildtool.outputs import make_subfolder, write_file

_SCRIPT_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


@dataclass(frozen=True, slots=True)
class Shards:
    """Where a site keeps its data; several processes may write to it."""

    folder: Path
    single: bool
    """Whether they become parts of one file."""

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.{'json' if self.single else 'js'}"

    def write(self, name: str, data: Any) -> None:
        """Writes data that a page's script loads with `wildtool.load(name)`. Name: letters, digits and
        `-`."""
        text = script_json(data)
        make_subfolder(self.folder)
        if not self.single:
            text = b'wildtool.put("%s",' % name.encode() + text + b");\n"
        write_file(self.path(name), text)


def script_json(data: Any) -> bytes:
    """Data as JSON that is safe inside a script: no text in it can end the script or a line."""
    try:
        text = orjson.dumps(data)
    except TypeError:
        text = orjson.dumps(_plain(data))
    for harmful, escape in _SCRIPT_ESCAPES:
        text = text.replace(harmful, escape)
    return text


def _plain(data: Any, depth: int = 0) -> Any:
    """Data that every JSON reader accepts: no lone surrogates, huge integers or deep nesting."""
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode()
    if isinstance(data, bool | float | None):
        return data
    if isinstance(data, int):
        return data if -(2**63) <= data < 2**63 else str(data) if abs(data) < 10**1000 else "…"
    if depth > 100:
        return "…"
    if isinstance(data, Mapping):
        entries = cast(Mapping[Any, Any], data)
        return {_plain(str(key)): _plain(value, depth + 1) for key, value in entries.items()}
    if isinstance(data, list | tuple):
        return [_plain(value, depth + 1) for value in cast(Sequence[Any], data)]
    return _plain(str(data))
