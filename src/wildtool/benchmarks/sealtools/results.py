"""Reads result files of Seal-Tools: the authors' `raw_…DATASET.jsonl` and `pred_…DATASET.jsonl`, one `{"id", …}` a line,
and ToLeaP's `raw_pred_data/MODEL/DATASET.json`, a list of texts in the order of the data.

A `raw_` file has the replies as they were, a `pred_` file only the calls that the original read in them.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmarks.result_files import files_named, one_reply, rows_in_order
from wildtool.benchmarks.sealtools.data import RECORD_FILES
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.errors import DataError
from wildtool.json_codec import as_list, dumps, read_json_lines, required_field
from wildtool.types import Item

_LINES = re.compile(r"(?:raw|(?:new_)?pred)_.+\.jsonl")
_LIST = re.compile(rf"({'|'.join(RECORD_FILES)})\.json")
_NOT_REPLIES = ("pred_data", "eval_result")
"""Folders that ToLeaP writes beside the replies."""
_UNREADABLE = -1
"""What the original writes in place of calls that it could not read."""


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The replies of a file or folder; the model is the folder that a file is in. Calls are not read where a file with
    the replies lies beside them."""
    lines = [file for file, _ in files_named(path, _LINES)]
    with_replies = {file.parent for file in lines if file.name.startswith("raw_")}
    lists = [
        (file, match[1])
        for file, match in files_named(path, _LIST)
        if as_named(file).parent.parent.name not in _NOT_REPLIES
    ]
    lines = [file for file in lines if file.parent not in with_replies or file.name.startswith("raw_")]
    return Results(_rows(lines, lists, items)) if lines or lists else None


def _rows(lines: list[Path], lists: list[tuple[Path, str]], items: Mapping[str, Item]) -> Iterator[ResultRow]:
    for file in lines:
        model = as_named(file).parent.name
        for place, line in read_json_lines(file):
            item = required_field(line, "id", str, place)
            where = f"{place} (id {item!r})"
            yield ResultRow(where, model, item, {"0": one_reply(_text_of(line, where), where)})
    for file, split in lists:
        units = [(item.id, "0") for item in items.values() if item.split == split]
        yield from rows_in_order(file, as_named(file).parent.name, units)


def _text_of(line: dict[str, Any], where: str) -> Any:
    """The reply of a line. Raises DataError."""
    field = "text" if "text" in line else "predict"
    replies = as_list(line.get(field))
    if len(replies) != 1:
        raise DataError(f"{where}: field {field}: expected a list of one reply")
    if field == "text":
        return replies[0]
    return "" if replies[0] == _UNREADABLE else dumps(replies[0]).decode()
