"""Reads training records from a file, whatever its layout."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from wildtool.errors import DataError, UsageError, WildtoolError, unknown_name
from wildtool.json_codec import as_list, as_object
from wildtool.shapes.record_files import log_reader, session_reader
from wildtool.training.files import FileRow, read_rows
from wildtool.training.readers.any_shape import ReadShape, in_openai_shape
from wildtool.training.readers.data_sets import DATA_SETS, REFUSED, PublicSet, fitting_sets
from wildtool.training.readers.options import DEFAULT_OPTIONS, ReadOptions
from wildtool.training.record import TOO_DEEP, RejectedRow, RowError, TrainingRecord, place_record

DETECT = "auto"
"""Name for a set that is recognised by the keys of the first rows."""
_SAMPLE = 20
Row = TypeVar("Row")


def training_records(
    path: Path, data_set: str = DETECT, options: ReadOptions = DEFAULT_OPTIONS
) -> Iterator[TrainingRecord | RejectedRow]:
    """The records of a file in order, one at a time; a row that cannot become one is a `RejectedRow`.

    Args:
        data_set: a name of `DATA_SETS`, or `auto`.

    Raises:
        DataError: the file cannot be opened, holds no row, or `auto` cannot tell its set.
        UsageError: there is no such set.
    """
    return (record for _, record in rows_with_records(path, data_set, options))


def rows_with_records(
    path: Path, data_set: str = DETECT, options: ReadOptions = DEFAULT_OPTIONS
) -> Iterator[tuple[FileRow, TrainingRecord | RejectedRow]]:
    """The rows of a file, each with what its reader makes of it. Arguments and errors as `training_records`."""
    sample, rows = sampled_rows(path, read_rows(path))
    layout = chosen_set(path, data_set, sample)
    for row in rows:
        yield row, read_row(row, layout, str(path), options)


def sampled_rows(path: Path, rows: Iterator[Row]) -> tuple[list[Row], Iterator[Row]]:
    """The first rows of a file, which tell its set, and all of them. Raises DataError where there are none."""
    sample = list(islice(rows, _SAMPLE))
    if not sample:
        raise DataError(f"{path}: holds no row")
    return sample, chain(sample, rows)


def chosen_set(path: Path, name: str, sample: list[FileRow]) -> PublicSet:
    """The set of a name; for `auto` the only one that fits the first rows. Raises DataError, UsageError."""
    if name in REFUSED:
        raise UsageError(REFUSED[name])
    if name != DETECT:
        if name not in DATA_SETS:
            raise UsageError(unknown_name("set", name, [DETECT, *DATA_SETS]))
        return DATA_SETS[name]
    if reader := next(filter(None, (session_reader(row.value) for row in sample)), ""):
        raise DataError(f"{path}: {reader}")
    names = fitting_sets([row.value for row in sample if row.value is not None])
    if len(names) == 1:
        return DATA_SETS[names[0]]
    if all(row.value is None for row in sample):
        first = sample[0]
        raise DataError(f"{path}:{first.number}: {first.problem}; expected training records")
    reader = next(filter(None, (log_reader(row.value) for row in sample)), "")
    if not names and reader:
        raise DataError(f"{path}: {reader}")
    keys = next((list[str](row.value)[:12] for row in sample if row.value), list[str]())
    if not names and (benchmark := _benchmark_of(path)):
        run = f"wildtool run {benchmark} --data {path} --model baseline/gold --out gold"
        problem = f"holds items of {benchmark}, not training records; run their gold answers (`{run}`)"
        raise DataError(f"{path}: {problem} and give the folder of that run")
    fit = f"fits {', '.join(names)}" if names else f"fits no set (keys: {', '.join(keys) or 'none'})"
    raise DataError(f"{path}: {fit}; name the set with --from ({', '.join(DATA_SETS)})")


def _benchmark_of(path: Path) -> str:
    """The name of the benchmark whose items a file holds; empty where it holds none."""
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import detect_benchmark

    try:
        owner = detect_benchmark(None, str(path))
        return owner.name if any(True for _ in owner.load(data_of(owner).locate(str(path)))) else ""
    except WildtoolError:
        return ""


def read_row(
    row: FileRow, data_set: PublicSet, source: str, options: ReadOptions
) -> TrainingRecord | RejectedRow:
    """One row as a record, or why it is none."""
    if row.value is None:
        return RowError("unreadable-line", row.problem).rejected(source, row.number, None)
    shape: ReadShape | None = None
    try:
        shape = in_openai_shape(row.value) if data_set.has_any_shape else None
        record = data_set.read(shape.row if shape else row.value, options)
    except RowError as error:
        return error.rejected(source, row.number, row.value)
    except (RecursionError, ValueError):
        # ValueError: a whole number of more digits than Python turns into text.
        return RowError("unreadable-line", TOO_DEEP).rejected(source, row.number, row.value)
    known = shape.columns if shape else data_set.columns
    further = {name: value for name, value in row.value.items() if name not in known}
    if shape is not None:
        record = replace(record, lost=shape.lost)
    return place_record(record, source, row.number, further)


def looks_like_training(path: Path) -> bool | None:
    """Whether a file holds training records by its keys; None where its first rows could also be a benchmark's."""
    if not path.is_file():
        return False
    try:
        row = as_object(next((row.value for row in islice(read_rows(path), _SAMPLE) if row.value), None))
    except DataError:
        return False
    if "messages" in row or {"prompt", "chosen", "rejected"} <= row.keys() or "preferred_output" in row:
        return True
    if "conversations" not in row:
        return None if row and fitting_sets([row]) else False
    turns = [as_object(turn) for turn in as_list(row["conversations"])]
    if "tools" in row or "chosen" in row or any(turn.get("from") == "function_call" for turn in turns):
        return True
    return None
