"""Writes runs in forms that others read: their logs, tables, training data, dataset pages, and bundles of ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from wildtool.outputs import check_file, check_folder, is_dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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
class Format:
    """A form in which a run can be written."""

    about: str
    suffix: str
    """What its file name ends with; of a folder too."""
    part: str
    """The module of this package whose `export(wanted, target)` writes it."""
    takes: tuple[str, ...] = ()
    """Options of `Wanted` that it knows, besides run and data."""
    folder: bool = False
    """Whether it is a folder rather than a file."""


FORMATS: Mapping[str, Format] = {
    "inspect": Format("a log that Inspect's viewer opens", ".eval", "inspect_log", ("profile",)),
    "parquet": Format("the verdicts, a row for each unit", ".parquet", "parquet", ("profile",)),
    "csv": Format("the verdicts, for spreadsheets", ".csv", "csv_table", ("profile",)),
    "openai": Format(
        "conversations in OpenAI's shape", ".openai.jsonl", "openai", ("profile", "only", "arguments")
    ),
    "sharegpt": Format(
        "conversations in ShareGPT's shape", ".sharegpt.jsonl", "sharegpt", ("profile", "only")
    ),
    "hf-card": Format(
        "a folder with a Hugging Face dataset", "-dataset", "hub_card", ("profile",), folder=True
    ),
    "bundle": Format("everything needed to score it again", ".bundle.zip", "bundle", ("with_data",)),
}


def check_target(form: str, target: Path, *, force: bool = False) -> None:
    """Raises UsageError where a target may not be written, or wildtool did not make what lies there (`force` allows
    the latter)."""
    if FORMATS[form].folder:
        check_folder(target, is_dataset, force=force)
    else:
        check_file(target, force=force)


def export(form: str, wanted: Wanted, target: Path, *, force: bool = False) -> None:
    """Writes a run to `target`, whole or not at all.

    Raises UsageError where an extra is missing or the target cannot be written (`check_target`), StorageError where
    there is no room, and what `score_run` raises.
    """
    check_target(form, target, force=force)
    import_module(f"{__name__}.{FORMATS[form].part}").export(wanted, target)
