"""The list of workers in the folder of a run that several share: written with each copy of its record."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

WORKERS_FILE = "workers.json"


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
    return json.dumps([asdict(worker) for worker in workers], indent=1).encode()


def read_workers(folder: Path) -> list[ListedWorker]:
    """The workers of a run; none where it has no such file, or a damaged one."""
    try:
        return [ListedWorker(**row) for row in json.loads((folder / WORKERS_FILE).read_bytes())]
    except (OSError, ValueError, TypeError):
        return []
