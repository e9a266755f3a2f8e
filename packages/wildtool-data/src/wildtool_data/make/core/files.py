"""Files of a generated set: their names, and how they are written."""

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wildtool.engine.registry import ATTRITION_FILE
from wildtool.outputs import atomic_replace, check_absent, check_regular, note_written, write_error
from wildtool.temporary import temporary_folder
from wildtool.types import Metric

RECORD_FOLDER = "record"
"""The run folder with every call; everything else follows from it."""
SESSIONS_FILE = "sessions.jsonl"
ITEMS_FOLDER = "items"
DOUBTFUL_FILE = "doubtful.jsonl"
PROVENANCE_FILE = "provenance.jsonl"
LOSSES_FILE = "losses.jsonl"
YIELD_FILE = ATTRITION_FILE
"""Where attempts were lost; it marks the folder as a generated set."""


def json_line(value: Any) -> str:
    """A record, or a list of them, as a line of a file."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def write_whole_file(path: Path, lines: Iterable[str]) -> None:
    """Writes a file that appears only when it is complete. Raises OSError."""
    check_regular(path)
    with temporary_folder(path.parent) as place:
        new = place / path.name
        with new.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(lines)
        note_written(path, new)
        new.replace(path)


def write_attrition(out: Path, losses: Iterable[Mapping[str, Any]], yields: Iterable[Metric]) -> None:
    """Writes the losses with reasons, and the yield table. Raises OSError."""
    write_whole_file(out / LOSSES_FILE, map(json_line, losses))
    write_metrics(out / YIELD_FILE, yields)


def write_metrics(path: Path, metrics: Iterable[Metric]) -> None:
    """Writes numbers as a JSON list. Raises OSError."""
    write_whole_file(path, [json.dumps([asdict(metric) for metric in metrics], indent=1) + "\n"])


@contextmanager
def storage_errors(out: Path) -> Generator[None, None, None]:
    """Raises StorageError if there is no room for what is written inside, UsageError if it may not be written."""
    try:
        yield
    except OSError as error:
        raise write_error(out, error) from error


def write_sessions(records: Iterable[Mapping[str, Any]], out: Path, *, force: bool = False) -> int:
    """Writes sessions as JSON lines; gives their number. An interrupted write leaves no file.

    Args: force: replace an existing file.

    Raises:
        UsageError: if the file exists, or may not be written.
        StorageError: if there is no room.
    """
    check_absent(out, force=force)
    count = 0
    # A lone surrogate has no form in UTF-8; backslashreplace writes it as JSON does.
    with atomic_replace(out) as new, new.open("w", encoding="utf-8", errors="backslashreplace") as file:
        for record in records:
            file.write(json_line(record))
            count += 1
    return count
