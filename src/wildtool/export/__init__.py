"""Writes runs in forms that others read: their logs, tables, training data, dataset pages, and bundles of ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from wildtool.outputs import check_file, check_folder, is_dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """Which run is exported, and what of it."""

    folder: Path
    profile: str | None = None
    """Rules to judge by; None for those it was played under, in tables for all it was judged by."""
    data: str | None = None
    """Where the data are now; None for where the run found them."""
    only: str | None = None
    """Of conversations only those of units with this outcome."""
    arguments: str = "text"
    """How arguments of calls are written in conversations: `text` (JSON, as received) or `object`."""
    with_data: bool = False
    """Whether a bundle holds the data too."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A form in which a run can be written."""

    about: str
    suffix: str
    """What its file name ends with; of a folder too."""
    module: str
    """The module of this package whose `export(wanted, target)` writes it."""
    options: tuple[str, ...] = ()
    """Options of `Wanted` that it knows, besides run and data."""
    folder: bool = False
    """Whether it is a folder rather than a file."""


EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "inspect": ExportFormat("a log that Inspect's viewer opens", ".eval", "inspect_log", ("profile",)),
    "parquet": ExportFormat("the verdicts, a row for each unit", ".parquet", "parquet", ("profile",)),
    "csv": ExportFormat("the verdicts, for spreadsheets", ".csv", "csv_table", ("profile",)),
    "openai": ExportFormat(
        "conversations in OpenAI's shape", ".openai.jsonl", "openai", ("profile", "only", "arguments")
    ),
    "sharegpt": ExportFormat(
        "conversations in ShareGPT's shape", ".sharegpt.jsonl", "sharegpt", ("profile", "only")
    ),
    "hf-card": ExportFormat(
        "a folder with a Hugging Face dataset", "-dataset", "hub_card", ("profile",), folder=True
    ),
    "bundle": ExportFormat("everything needed to score it again", ".bundle.zip", "bundle", ("with_data",)),
}


def check_target(form: str, target: Path, *, force: bool = False) -> None:
    """Raises UsageError where a target may not be written, or wildtool did not make what lies there (`force` allows
    the latter)."""
    if EXPORT_FORMATS[form].folder:
        check_folder(target, is_dataset, force=force)
    else:
        check_file(target, force=force)


def export(form: str, wanted: ExportRequest, target: Path, *, force: bool = False) -> None:
    """Writes a run to `target`, whole or not at all.

    Raises UsageError where an extra is missing or the target cannot be written (`check_target`), StorageError where
    there is no room, and what `score_run` raises.
    """
    check_target(form, target, force=force)
    import_module(f"{__name__}.{EXPORT_FORMATS[form].module}").export(wanted, target)
