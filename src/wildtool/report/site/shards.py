"""Data of pages in files that their scripts load on demand, as JSON that is safe inside a script."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from wildtool.json_codec import portable
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
            text = _beginning(name) + text + b");\n"
        write_file(self.path(name), text)

    def renamed(self, content: bytes, name: str, new: str) -> bytes:
        """What a shard of a folder holds, under another name."""
        return _beginning(new) + content.removeprefix(_beginning(name))


def _beginning(name: str) -> bytes:
    return b'wildtool.put("%s",' % name.encode()


def script_json(data: Any) -> bytes:
    """Data as JSON that is safe inside a script: no text in it can end the script or a line."""
    try:
        text = orjson.dumps(data)
    except TypeError:
        text = orjson.dumps(
            portable(
                data,
                text=lambda text: text.encode("utf-8", "replace").decode(),
                number=_readable,
                max_depth=100,
            )
        )
    for harmful, escape in _SCRIPT_ESCAPES:
        text = text.replace(harmful, escape)
    return text


def _readable(number: int | float) -> int | float | str:
    """A number as scripts can read it: a huge integer as text."""
    if isinstance(number, float) or -(2**63) <= number < 2**63:
        return number
    return str(number) if abs(number) < 10**1000 else "…"
