"""Writes what a conversion gives: a file, or a folder for LLaMA-Factory, and beside it the rows that were left out.

A file appears only when it is complete; a second process that writes the same one is refused.
"""

import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from wildtool import json_codec
from wildtool.data.files import json_of_file, read_whole
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError
from wildtool.outputs import (
    atomic_replace,
    check_absent,
    check_not_input,
    check_regular,
    put_in_place,
    sole_writer,
    write_error,
)
from wildtool.temporary import temporary_folder
from wildtool.training.parquet import lines_to_parquet
from wildtool.training.record import RejectedRow
from wildtool_data.prepare.convert import Conversion, ConversionSummary, Converter

INFO_FILE = "dataset_info.json"
"""Where LLaMA-Factory looks up data sets by name."""
_TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN = 3


def write_stream(conversion: Conversion, target: IO[bytes]) -> ConversionSummary:
    """Writes the lines to an open file. Raises as `Converter.lines`, DataError if there are none, and UsageError for a
    form that has no lines."""
    if conversion.form.columns:
        raise UsageError("this form is a Parquet file: name it, such as --out train.parquet")
    converter = Converter(conversion, lambda row: None)
    target.writelines(converter.lines())
    _check_written(converter.summary, None)
    return converter.summary


def write_conversion(
    conversion: Conversion, out: Path, *, force: bool = False, keep_rejects: bool = False
) -> ConversionSummary:
    """Writes one file, and the rows left out to `rejects_file(out)`.

    Args:
        force: whether an existing file is replaced.
        keep_rejects: whether the rows themselves are written too.

    Raises:
        UsageError: the file exists, is one of those converted, may not be written, or another process is writing it; or
            as `Converter.lines`.
        DataError: nothing could be converted; or as `Converter.lines`.
        StorageError: the disk is full; an existing file stays as it was.
    """
    _check_not_input(out, conversion)
    check_absent(out, force=force)
    with sole_writer(out), _rejects(out, keep_rejects=keep_rejects) as rejects:
        converter = Converter(conversion, rejects.add)
        with atomic_replace(out) as new:
            with new.open("wb") as file:
                file.writelines(converter.lines())
            rejects.close()
            _check_written(converter.summary, rejects)
            if conversion.form.columns:
                lines_to_parquet(new, conversion.form.columns)
    return converter.summary


def write_llamafactory(
    conversion: Conversion,
    folder: Path,
    *,
    force: bool = False,
    keep_rejects: bool = False,
    replace: bool = False,
) -> tuple[ConversionSummary, str]:
    """Writes a data file into a folder and its entry into `dataset_info.json`; gives the name of the entry too.

    Args:
        replace: whether an entry of the same name that differs is replaced.

    Raises:
        UsageError: as `write_conversion`; the entry differs; or messages with weight 0 would be learned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries = read_info(folder)
    stem = set_name(conversion.files[0])
    # Whether the name ends with _sft or _dpo follows from the rows.
    with sole_writer(folder / INFO_FILE), _rejects(folder / stem, keep_rejects=keep_rejects) as rejects:
        converter = Converter(conversion, rejects.add)
        new = rejects.folder / stem
        with new.open("wb") as file:
            file.writelines(converter.lines())
        summary = converter.summary
        ranking = summary.kind == "preference"
        name = f"{stem}_{'dpo' if ranking else 'sft'}"
        target = folder / f"{name}.jsonl"
        _check_not_input(target, conversion)
        rejects.path = rejects_file(target)
        rejects.close()
        _check_written(summary, rejects)
        if summary.unlearned and not conversion.writing.drop_weights:
            raise UsageError(
                f"{conversion.files[0]}: has {counted(summary.unlearned, 'assistant message')} of weight 0; "
                "LLaMA-Factory trains on all turns or on the last one only: give --drop-weights, or --to openai, "
                "which `wildtool data recipe` trains on with mask_history"
            )
        entry = info_entry(target.name, ranking=ranking, flat=conversion.writing.flat)
        if not replace and entries.get(name, entry) != entry:
            raise UsageError(f"{folder / INFO_FILE}: has another entry {name}; add --replace to overwrite it")
        check_absent(target, force=force)
        put_in_place(new, target)
        write_info(folder, {**entries, name: entry})
    return summary, name


def set_name(path: Path) -> str:
    """The name that a data set in LLaMA-Factory has after its file, without the ending that says its kind."""
    return _NO_NAME.sub("_", path.name.split(".")[0]).strip("_") or "data"


def info_entry(file_name: str, *, ranking: bool, flat: bool = False) -> dict[str, Any]:
    """An entry of `dataset_info.json`. It names every column and tag, since LLaMA-Factory switches off what is not
    named once one is."""
    pair = {"chosen": "chosen", "rejected": "rejected"} if ranking else {}
    tools = {} if flat else {"tools": "tools"}
    return {
        "file_name": file_name,
        "formatting": "sharegpt",
        **({"ranking": True} if ranking else {}),
        "columns": {"messages": "conversations", **pair, "system": "system", **tools},
        "tags": _TAGS,
    }


def read_info(folder: Path) -> dict[str, Any]:
    """The entries of `dataset_info.json` in a folder; none if it has no such file. Raises DataError."""
    path = folder / INFO_FILE
    if not path.exists():
        return {}
    entries: Any = json_of_file(path, read_whole(path))
    if not isinstance(entries, dict):
        raise DataError(f"{path}: expected an object with an entry for each data set")
    return cast(dict[str, Any], entries)


def write_info(folder: Path, entries: Mapping[str, Any]) -> None:
    """Writes `dataset_info.json`. Raises as `atomic_replace`."""
    with atomic_replace(folder / INFO_FILE) as new:
        new.write_text(f"{json.dumps(entries, ensure_ascii=False, indent=2)}\n", encoding="utf-8")


def rejects_file(out: Path) -> Path:
    """Where the rows are listed that were left out."""
    return out.with_name(f"{out.name}.rejects.jsonl")


class _Rejects:
    """Collects the rows left out, in a file that appears beside the output if there are any."""

    def __init__(self, path: Path, folder: Path, file: IO[bytes], *, keep: bool) -> None:
        self.path = path
        self.folder = folder
        """For what is not complete yet."""
        self.count = 0
        self.first = ""
        """The first of them, with its place and what was found."""
        self._file = file
        self._keep = keep

    def add(self, row: RejectedRow) -> None:
        """Writes a row that was left out."""
        self.count += 1
        self.first = self.first or f"{row.source}, row {row.row}: {row.detail}"
        entry: dict[str, Any] = {
            "file": row.source,
            "row": row.row,
            "reason": row.reason,
            "detail": row.detail,
        }
        if self._keep:
            entry["record"] = row.raw
        self._file.write(json_codec.dumps(entry) + b"\n")

    def close(self) -> None:
        """Puts the list in its place; without rows, removes one of an earlier conversion."""
        self._file.close()
        check_regular(self.path)
        if self.count:
            Path(self._file.name).replace(self.path)
        else:
            self.path.unlink(missing_ok=True)


@contextmanager
def _rejects(out: Path, *, keep_rejects: bool) -> Generator[_Rejects]:
    path = rejects_file(out)
    check_regular(path)
    try:
        with temporary_folder(path.parent) as folder, (folder / "rejects").open("wb") as file:
            yield _Rejects(path, folder, file, keep=keep_rejects)
    except OSError as error:
        raise write_error(path, error) from error


def _check_not_input(out: Path, conversion: Conversion) -> None:
    for path in (out, rejects_file(out)):
        check_not_input(path, conversion.files)


def _check_written(summary: ConversionSummary, rejects: _Rejects | None) -> None:
    if summary.written:
        return
    reasons = ", ".join(f"{reason} {count}" for reason, count in summary.rejected.most_common(_SHOWN))
    where = f"; {rejects.first}; see {rejects.path}" if rejects is not None and rejects.count else ""
    raise DataError(f"no row could be converted ({reasons}){where}")
