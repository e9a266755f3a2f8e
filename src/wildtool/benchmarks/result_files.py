"""What readers of the originals' result files share: files by name, replies in text, replies in the order of the data."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from wildtool.data.data_set import ResultRow
from wildtool.data.files import files_under, read_json
from wildtool.errors import DataError
from wildtool.json_codec import checked, json_type
from wildtool.types import Reply, Transcript


def files_named(path: Path, pattern: re.Pattern[str]) -> list[tuple[Path, re.Match[str]]]:
    """The files in a folder and below it whose whole names match, or the one file, with the matches."""
    matches = ((file, pattern.fullmatch(file.name)) for file in files_under(path) if file.is_file())
    return [(file, match) for file, match in matches if match]


def one_reply(text: Any, where: str) -> Transcript:
    """A unit's only reply; null where the model gave none. Raises DataError for anything but text and null."""
    if text is not None and not isinstance(text, str):
        raise DataError(f"{where}: expected the text of a reply, or null, found {json_type(text)}")
    return Transcript((Reply({"role": "assistant", "content": text}),))


def rows_in_order(
    file: Path,
    model: str,
    units: Sequence[tuple[str, str]],
    text_of: Callable[[Any, str], Any] = lambda entry, where: entry,
) -> Iterator[ResultRow]:
    """A row for each entry of a JSON list that has no ids, only the order of the data.

    Args:
        units: item and unit of each record of the data that the file is about, in their order.
        text_of: the reply in an entry, whose place is given for messages.

    Raises DataError where there are more entries than records, or fewer: nothing says which are missing.
    """
    entries = checked(read_json(file), list, str(file), "a list of replies")
    if len(entries) != len(units):
        raise DataError(
            f"{file}: {len(entries)} replies for {len(units)} records; the original writes one for each record, in the"
            " order of the data. Name the data and the split that the file was made from with --data and --split"
        )
    for number, ((item, unit), entry) in enumerate(zip(units, entries, strict=True)):
        where = f"{file}: reply {number} ({item})"
        yield ResultRow(where, model, item, {unit: one_reply(text_of(entry, where), where)})
