"""Reads the predictions that API-Bank's `evaluator_by_json.py` takes: one `{"file", "id", "pred"}` a line, with the file
of the dialogue and the number of the sample. ToLeaP prints its scores and writes no replies.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from wildtool.benchmarks.result_files import files_named, one_reply
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.errors import DataError
from wildtool.json_codec import read_json_lines, required_field
from wildtool.types import Item

_FILE = re.compile(r".+\.jsonl?")


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The replies of a file or folder; the model is the folder that a file is in."""
    files = [file for file, _ in files_named(path, _FILE) if _has_predictions(file)]
    return Results(_rows(files, items)) if files else None


def _has_predictions(file: Path) -> bool:
    try:
        return {"file", "id", "pred"} <= next(read_json_lines(file), ("", dict[str, object]()))[1].keys()
    except DataError:
        return False  # another format, whose own reader says what is wrong with it


def _rows(files: list[Path], items: Mapping[str, Item]) -> Iterator[ResultRow]:
    dialogues: dict[str, list[str]] = {}
    for item in items.values():
        dialogues.setdefault(item.data.file, []).append(item.id)
    for file in files:
        for place, line in read_json_lines(file):
            name = required_field(line, "file", str, place)
            unit = str(required_field(line, "id", int, place))
            where = f"{place} (file {name!r}, id {unit})"
            ids = dialogues.get(name, [name])
            if len(ids) > 1:
                raise DataError(f"{where}: {' and '.join(ids)} have this file; choose one with --split")
            reply = one_reply(line.get("pred"), f"{where}: field pred")
            yield ResultRow(where, as_named(file).parent.name, ids[0], {unit: reply})
