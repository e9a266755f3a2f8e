"""Files of a folder in which something is made: their names, and how they are written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wildtool.engine.registry import MADE

RECORD = "record"
"""The run folder with every call; what is made follows from it."""
LOSSES = "losses.jsonl"
YIELD = MADE
"""Where attempts were lost; by it the record is told from runs of benchmarks."""


def line(row: Mapping[str, Any]) -> str:
    """A record as a line of a file."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a file that appears when it is whole. Raises OSError."""
    new = path.with_name(path.name + ".part")
    try:
        with new.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(lines)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
