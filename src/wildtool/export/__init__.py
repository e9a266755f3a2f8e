"""Exports runs: as tables, training data, Inspect logs, Hugging Face datasets, and bundles."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from wildtool.installed import own_offer
from wildtool.outputs import atomic_replace, check_file, check_folder, is_dataset, is_wildtool_file

ENTRY_POINT_OF_EXPORTS = "wildtool.exports"
"""Entry points of our packages that write formats: `FORMAT = module:function`, a `function(request, target)`."""
FOLDER_MARK = "<!-- written by wildtool export -->"
"""In the `README.md` of exported folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """Which run is exported, and what of it."""

    folder: Path
    profile: str | None = None
    """Profile of the verdicts; None for the one the run was made under, and in tables for all that were scored."""
    data: str | None = None
    """Where the data are now; None if they have not moved."""
    only: str | None = None
    """Outcome of the units whose conversations are exported; None for all."""
    arguments: str = "text"
    """How call arguments are written in conversations: `text` (JSON, as received) or `object`."""
    lossless: bool = False
    """Whether turns of ShareGPT's shape keep what trainers do not read."""
    with_data: bool = False
    """Whether a bundle contains the data."""
    hub_dataset: str | None = None
    """The benchmark's dataset on the Hugging Face Hub, `OWNER/NAME` or `OWNER/NAME:TASK`."""
    allow_benchmark_data: bool = False
    """Whether pairs may be made of a benchmark's own data."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format in which a run can be exported."""

    about: str
    """One line for the help."""
    suffix: str
    """End of the name of its file or folder."""
    module: str
    """The module below `wildtool` that writes it; empty where an extra does."""
    options: tuple[str, ...] = ()
    """The fields of `ExportRequest` that it uses, apart from run and data."""
    folder: bool = False
    """Whether it is a folder rather than a file."""
    function: str = "export"
    """The function of the module: `function(request, target)`."""
    extra: str = ""
    """The extra whose package writes it, by an entry point of the group `wildtool.exports`; empty for none."""


EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "inspect": ExportFormat("a log that Inspect's viewer opens", ".eval", "export.inspect_log", ("profile",)),
    "parquet": ExportFormat(
        "the verdicts, a row for each unit",
        ".parquet",
        "export.tables",
        ("profile",),
        function="export_parquet",
    ),
    "csv": ExportFormat(
        "the verdicts, for spreadsheets", ".csv", "export.tables", ("profile",), function="export_csv"
    ),
    "openai": ExportFormat(
        "conversations in OpenAI's shape", ".openai.jsonl", "export.openai", ("profile", "only", "arguments")
    ),
    "sharegpt": ExportFormat(
        "conversations in ShareGPT's shape",
        ".sharegpt.jsonl",
        "export.sharegpt",
        ("profile", "only", "lossless"),
    ),
    "pairs": ExportFormat(
        "preference pairs from wrong units; not for benchmark data",
        ".pairs.jsonl",
        "",
        ("profile", "allow_benchmark_data"),
        extra="data",
    ),
    "hf-card": ExportFormat(
        "a folder with a Hugging Face dataset", "-dataset", "export.hub_card", ("profile",), folder=True
    ),
    "hf-results": ExportFormat(
        "the headline for a model's repository on the Hugging Face Hub",
        ".eval-results.yaml",
        "export.hub_results",
        ("profile", "hub_dataset"),
    ),
    "eee": ExportFormat(
        "a folder with records of Every Eval Ever", "-eee", "export.eee", ("profile",), folder=True
    ),
    "atif": ExportFormat(
        "a folder with agent trajectories", "-atif", "export.atif", ("profile", "only"), folder=True
    ),
    "passport": ExportFormat(
        "what the numbers rest on: data, rules, settings, endpoint",
        ".passport.json",
        "board.passport",
        ("profile",),
    ),
    "bundle": ExportFormat(
        "everything needed to score it again", ".bundle.zip", "export.bundle", ("with_data",)
    ),
}


def check_target(form: str, target: Path, *, force: bool = False) -> None:
    """Raises UsageError if a target cannot be written, or exists and was not made by wildtool (`force` allows the
    latter)."""
    if EXPORT_FORMATS[form].folder:
        check_folder(target, is_dataset, force=force)
    else:
        check_file(target, force=force)


def _mark(page: Path) -> None:
    """Lets a later export recognise the folder even if this one is killed; the whole page comes last."""
    if not is_wildtool_file(page):
        with atomic_replace(page) as new:
            new.write_text(f"{FOLDER_MARK}\nThis export is not finished.\n")


def export(form: str, request: ExportRequest, target: Path, *, force: bool = False) -> None:
    """Writes a run to `target`, whole or not at all.

    Raises:
        UsageError: an extra is missing, or the target cannot be written (`check_target`).
        StorageError: the disk is full.
        Others: those of `score_run`.
    """
    check_target(form, target, force=force)
    export_format = EXPORT_FORMATS[form]
    write = _writer(form, export_format)
    if export_format.folder:
        _mark(target / "README.md")
    write(request, target)


def _writer(form: str, export_format: ExportFormat) -> Callable[[ExportRequest, Path], None]:
    if export_format.extra:
        return own_offer(ENTRY_POINT_OF_EXPORTS, form, export_format.extra, f"The export format {form}")
    return getattr(import_module(f"wildtool.{export_format.module}"), export_format.function)
