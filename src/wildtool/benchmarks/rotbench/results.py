"""Reads result files of RoTBench, one for each environment: `clean.json` or `clean_results.json`, and so on.

ToLeaP's (`results/rotbench/MODEL/clean_results.json`) hold the texts; those that the authors' evaluator takes are the
records of the data with the reply as the last turn. Neither is matched by id: both follow the order of the data.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from wildtool.benchmarks.result_files import files_named, rows_in_order
from wildtool.benchmarks.rotbench.data import ENVIRONMENTS, RotRecord
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.json_codec import as_object, as_objects, required_field
from wildtool.types import Item

_FILE = re.compile(rf"({'|'.join(ENVIRONMENTS)})(_results)?\.json")


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The replies of a file or folder; the model is the folder that a file is in."""
    files = files_named(path, _FILE)
    return Results(_rows([(file, match[1]) for file, match in files], items)) if files else None


def _rows(files: list[tuple[Path, str]], items: Mapping[str, Item]) -> Iterator[ResultRow]:
    for file, environment in files:
        units = [
            (record.position, item.id, unit)
            for item in items.values()
            for unit, record in cast(Mapping[str, RotRecord], item.data).items()
            if record.environment == environment
        ]
        yield from rows_in_order(
            file, as_named(file).parent.name, [(item, unit) for _, item, unit in sorted(units)], _text_of
        )


def _text_of(entry: Any, where: str) -> Any:
    if not isinstance(entry, dict):
        return entry
    turns = as_objects(required_field(as_object(entry), "conversations", list, where))
    return turns[-1].get("value") if turns else None
