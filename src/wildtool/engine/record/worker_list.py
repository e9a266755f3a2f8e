"""The list of workers in the folder of a run that several share: written with each copy of its record."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wildtool.json_codec import as_objects
from wildtool.redact import redacted_json

WORKERS_FILE = "workers.json"
_MOST = 1e18
"""Beyond all counts, prices and times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWorker:
    """What one worker last said."""

    name: str
    last_sign: float
    """When it said so, in seconds on the clock of the store."""
    ended: bool
    items: int
    calls: int
    shares: list[int]
    """Those that it holds, from 0."""
    last_words: str
    """Why it ended; empty if it did not, or nothing was left to do."""


def workers_as_json(workers: Iterable[ListedWorker]) -> bytes:
    """The content of the file."""
    # An earlier version, or a machine without the key in its environment, wrote what workers said as it was.
    return json.dumps(redacted_json([asdict(worker) for worker in workers]), indent=1).encode()


def read_workers(folder: Path) -> list[ListedWorker]:
    """The workers of a run; none where it has no such file, or a damaged one."""
    try:
        rows = as_objects(json.loads((folder / WORKERS_FILE).read_bytes()))
        workers = [ListedWorker(**row) for row in rows]
        return workers if all(map(_is_sound, rows)) else []
    except (OSError, ValueError, TypeError):
        return []


def _is_sound(row: Mapping[str, Any]) -> bool:
    amounts = (row["last_sign"], row["items"], row["calls"], *row["shares"])
    return all(map(is_amount, amounts)) and all(isinstance(row[name], str) for name in ("name", "last_words"))


def is_amount(value: Any) -> bool:
    """Whether a value of JSON is a number that can be a count, a price or a time."""
    return isinstance(value, int | float) and 0 <= value < _MOST
