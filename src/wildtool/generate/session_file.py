"""Writes session files: a line a session, each as soon as it is there; the file appears when it is whole."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wildtool.errors import UsageError
from wildtool.outputs import check_regular, replacing


def write_sessions(records: Iterable[Mapping[str, Any]], out: Path, *, force: bool = False) -> int:
    """Writes sessions as JSON lines; gives their number. What breaks off leaves no file.

    Args: force: replace what lies there.

    Raises:
        UsageError: where something lies there already, or nothing may be written.
        StorageError: where there is no room.
    """
    check_regular(out)
    if not force and out.exists() and out.stat().st_size:
        raise UsageError(
            f"{out} is there already; name another file, remove it, or add --force to replace it"
        )
    count = 0
    with replacing(out) as new, new.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    return count
