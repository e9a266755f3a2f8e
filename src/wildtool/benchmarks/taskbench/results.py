"""Reads result files of TaskBench: the authors' `data_DOMAIN/predictions…/MODEL.json`, one `{"id", "result"}` a line with
the plan as JSON, and ToLeaP's `MODEL_DOMAIN_results.json`, a list of texts in the order of the labels.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from wildtool.benchmarks.result_files import files_named, one_reply, rows_in_order
from wildtool.benchmarks.taskbench.data import DOMAINS
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.errors import DataError
from wildtool.json_codec import dumps, read_json_lines, required_field
from wildtool.types import Item

_LIST = re.compile(rf"(.+)_({'|'.join(DOMAINS)})_results\.json")
_LINES = re.compile(r"(.+)\.json")
_FOLDER = re.compile(rf"data_({'|'.join(DOMAINS)})")


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The plans of a file or folder; the model is in the name of the file."""
    lists = [(file, match[1], match[2]) for file, match in files_named(path, _LIST)]
    lines = [
        (file, match[1], _FOLDER.fullmatch(as_named(file).parent.parent.name))
        for file, match in files_named(path, _LINES)
        if as_named(file).parent.name.startswith("predictions")
    ]
    return Results(_rows(lists, lines, items)) if lists or lines else None


def _rows(
    lists: list[tuple[Path, str, str]],
    lines: list[tuple[Path, str, re.Match[str] | None]],
    items: Mapping[str, Item],
) -> Iterator[ResultRow]:
    for file, model, domain in lists:
        units = [(item.id, "0") for item in items.values() if item.split == domain]
        yield from rows_in_order(file, model, units)
    for file, model, folder in lines:
        if folder is None:
            raise DataError(f"{file}: which domain is it of? Put it into data_DOMAIN/{file.parent.name}")
        for place, line in read_json_lines(file):
            where = f"{place} (id {required_field(line, 'id', str, place)!r})"
            plan = line.get("result")
            if not isinstance(plan, str | dict | list):
                raise DataError(f"{where}: field result: expected a plan, as JSON or as text")
            text = plan if isinstance(plan, str) else dumps(plan).decode()
            yield ResultRow(where, model, f"{folder[1]}/{line['id']}", {"0": one_reply(text, where)})
