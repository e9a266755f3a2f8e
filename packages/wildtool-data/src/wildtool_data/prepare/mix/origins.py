"""Which set each record of a mixture is from."""

import csv
import json
from array import array
from collections.abc import Callable
from pathlib import Path

from wildtool.data.files import file_sha256
from wildtool.json_codec import as_object
from wildtool.training.record import TrainingRecord

MIX_FILE = "mix.json"
NOT_NAMED = "not named"
"""What the set of a record is called that does not say it."""
_COLUMNS = ("source", "dataset")
"""Columns in which published sets say where a record is from."""


def origins_file(split: Path) -> Path:
    """The table beside a split of a mixture: set and row in the set's file of each of its lines."""
    return split.with_name(f"{split.stem}.origins.csv")


def origin_of(path: Path) -> Callable[[TrainingRecord], str]:
    """Gives the set of each record of a file: as the mixture lists it that the file is of, else as its column `source` or
    `dataset` says; `not named` where nothing does."""
    names, numbers = _origins(path) or ([], array("L"))

    def origin(record: TrainingRecord) -> str:
        if record.row <= len(numbers):
            return names[numbers[record.row - 1]]
        values = (record.columns.get(column) for column in _COLUMNS)
        return next((name for name in values if isinstance(name, str) and name.strip()), NOT_NAMED)

    return origin


def _origins(path: Path) -> "tuple[list[str], array[int]] | None":
    """Names of sets, and the number of each line's; None for a file that is no split of a mixture, or no longer."""
    try:
        manifest = as_object(json.loads(path.with_name(MIX_FILE).read_bytes()))
        digest = as_object(as_object(manifest.get("files")).get(path.name)).get("sha256")
        if digest is None:
            return None
        if file_sha256(path) != digest:
            return None
        names: dict[str, int] = {}
        numbers = array("L")
        with origins_file(path).open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                numbers.append(names.setdefault(row["set"], len(names)))
    except (OSError, ValueError, KeyError, RecursionError, csv.Error):
        return None
    return list(names), numbers
