"""Reads result files of T-Eval and of ToLeaP: `work_dirs/MODEL/SET_MODEL.json`, the records by key with the reply as
`prediction`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmarks.result_files import files_named, one_reply
from wildtool.benchmarks.teval.data import SETS
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named, read_json
from wildtool.errors import DataError
from wildtool.json_codec import as_objects, checked
from wildtool.types import Item

_JOINED = "reason_retrieve_understand_json"
_FILE = re.compile(rf"({'|'.join(SETS)}|{_JOINED})_(zh_)?.+\.json")


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The replies of a file or folder in the language of the items; the model is the folder that a file is in."""
    files = files_named(path, _FILE)
    lang = next((item.lang for item in items.values()), "en")
    chosen = [(file, match[1]) for file, match in files if (lang == "zh") == bool(match[2])]
    left_out = [
        f"{file} is left out: it is of another language; choose one with --lang"
        for file, _ in files
        if file not in {file for file, _ in chosen}
    ]
    return Results(_rows(chosen, items, "zh/" if lang == "zh" else ""), left_out) if files else None


def _rows(files: list[tuple[Path, str]], items: Mapping[str, Item], prefix: str) -> Iterator[ResultRow]:
    for file, named in files:
        name = "rru_json" if named == _JOINED else named
        for key, record in checked(read_json(file), dict, str(file), "an object of records").items():
            where = f"{file}: record {key!r}"
            fields = checked(record, dict, where)
            if "prediction" not in fields:
                raise DataError(f"{where}: field prediction is missing; expected the text of the reply")
            item = f"{prefix}{name}/{key}"
            _check_prompt(fields.get("origin_prompt"), items.get(item), where)
            reply = one_reply(fields["prediction"], f"{where}: field prediction")
            yield ResultRow(where, as_named(file).parent.name, item, {"0": reply})


def _check_prompt(prompt: Any, item: Item | None, where: str) -> None:
    """Raises DataError where a reply answers another version of the record, whose keys may be the same."""
    asked = [message.get("content") for message in as_objects(prompt)]
    if item is not None and asked and asked != [message["content"] for message in item.data.messages]:
        raise DataError(
            f"{where}: its origin_prompt is not that of the data; name the version and language that it was made from"
            " with --data and --lang"
        )
