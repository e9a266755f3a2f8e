"""Reads a training file for checks: each row unchanged, and as the record that its reader makes of it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, as_objects, dumps, loads
from wildtool.training.files import FileRow, RawRow, parse_row, raw_rows
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import DETECT, chosen_set, read_row, sampled_rows
from wildtool.training.record import RejectedRow, TrainingRecord
from wildtool_data.prepare.check.rules import check_record, record_kind

RowForm = Literal["sharegpt", "messages"]
"""Shapes that trainers read: turns with `from` and `value`, or messages as in OpenAI's and TRL's."""
_SAMPLE = 20
_WRITTEN_QUOTE = b"\\u0022"
_OF_MESSAGES = frozenset({"openai", "pandora"})


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """One row of a training file."""

    number: int
    """From 1; of JSON lines the line."""
    value: Any
    """The row unchanged; None where it cannot be read."""
    record: TrainingRecord | RejectedRow
    """What its reader makes of it."""
    text: bytes = b""
    """Its JSON text; empty where it is none."""

    @property
    def id(self) -> str:
        """The record's `id`, or its number."""
        own_id = as_object(self.value).get("id")
        return str(own_id) if isinstance(own_id, str | int) else f"record {self.number}"


def row_form(path: Path, rows: list[FileRow]) -> RowForm | None:
    """The shape of a file, by its first rows; None for a set that is still to be converted. Raises DataError."""
    values = [row.value for row in rows if row.value is not None]
    if any(_has_turns(value) for value in values):
        return "sharegpt"
    layout = chosen_set(path, DETECT, rows)
    return "messages" if layout.name in _OF_MESSAGES else None


def _has_turns(row: Any) -> bool:
    """Whether a row has ShareGPT's turns, be their roles right or wrong."""
    turns = as_object(row).get("conversations")
    return isinstance(turns, list) and (
        not turns or any("from" in as_object(turn) or "value" in as_object(turn) for turn in as_list(turns))
    )


def is_parquet(path: Path) -> bool:
    """Whether a file is a Parquet file."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def checked_rows(path: Path) -> tuple[RowForm, Iterator[CheckedRow]]:
    """The shape of a file and its rows. Raises DataError where it holds nothing or is of neither shape."""
    sample, rows = sampled_rows(path, raw_rows(path))
    form = row_form(path, list(map(parse_row, sample)))
    if form is None:
        raise DataError(
            f"{path}: is a published set in its own layout; convert it first: `wildtool data convert {path.name}`"
        )
    return form, _records(path, form, rows)


def _records(path: Path, form: RowForm, rows: Iterator[RawRow]) -> Iterator[CheckedRow]:
    data_set = DATA_SETS["sharegpt" if form == "sharegpt" else "openai"]
    for raw in rows:
        row = parse_row(raw)
        record = read_row(row, data_set, str(path), DEFAULT_OPTIONS)
        text = b"" if isinstance(raw, FileRow) else raw[1]
        text = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        yield CheckedRow(row.number, row.value, record, text)


def repeated_keys(text: bytes, read: bytes) -> list[str]:
    """Keys that an object in a JSON text has more than once.

    Args:
        text: empty for none.
        read: its value, written as JSON again: with every key once.
    """
    # A dropped key takes its quotes with it, so most texts need not be read a second time.
    if text.count(b'"') == read.count(b'"') and _WRITTEN_QUOTE not in text:
        return []
    keys: dict[str, None] = {}

    def take(pairs: list[tuple[str, Any]]) -> None:
        keys.update((key, None) for key, count in Counter(key for key, _ in pairs).items() if count > 1)

    try:
        json.loads(text, object_pairs_hook=take)
    except (ValueError, RecursionError):
        return []  # longer numbers, or deeper objects, than this reader takes
    return list(keys)


def keys_repeated_inside(row: Any) -> list[str]:
    """Keys that an object has more than once in the texts of a row that are JSON themselves: calls, arguments, tools."""
    keys: dict[str, None] = {}
    for text in _json_texts(as_object(row)):
        try:
            read = dumps(loads(text))
        except ValueError:
            continue
        keys.update(dict.fromkeys(repeated_keys(text.encode("utf-8", "surrogatepass"), read)))
    return list(keys)


def _json_texts(row: Mapping[str, Any]) -> Iterator[str]:
    turns = [row.get("chosen"), row.get("rejected")]
    for name in ("conversations", "messages", "prompt", "chosen", "rejected"):
        turns += as_list(row.get(name))
    texts = [row.get("tools")]
    for turn in map(as_object, turns):
        if turn.get("from") == "function_call":
            texts.append(turn.get("value"))
        for call in as_objects(turn.get("tool_calls")):
            texts.append(as_object(call.get("function")).get("arguments"))
    return (text for text in texts if isinstance(text, str))


def sound_record(row: CheckedRow, form: RowForm) -> TrainingRecord | RejectedRow:
    """What a row is trained on, or the first rule that it breaks and so must not be trained on."""
    if form == "sharegpt" and not (isinstance(row.record, RejectedRow) and row.value is None):
        for finding in check_record(row.value, record_kind(row.value)):
            if finding.level == "error":
                return RejectedRow(
                    source=row.record.source, row=row.number, reason=finding.rule, detail=finding.message
                )
    return row.record
