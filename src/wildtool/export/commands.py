"""`wildtool export`: runs in formats that other tools read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError, unknown_name
from wildtool.export import EXPORT_FORMATS

WITH_PASSPORT = ("parquet", "csv", "hf-card", "hf-results", "eee")
"""Formats of numbers, beside which a passport is written."""
_FORMS = "; ".join(f"{name}: {form.about}" for name, form in EXPORT_FORMATS.items())


def _formats(incomplete: str) -> list[str]:
    return [name for name in EXPORT_FORMATS if name.startswith(incomplete)]


def export(
    runs: list[Path] | None = options.RUNS_ARGUMENT,
    to: str = opt("--format -f --to NAME", f"What to write. {_FORMS}.", default="", complete=_formats),
    out: Path | None = opt(
        "-o PATH", "File or folder to write; a folder for several runs (default: this folder)."
    ),
    profile: str | None = options.PROFILE_OPTION,
    data: str | None = options.DATA_OPTION,
    only: str | None = opt("OUTCOME", "Conversations only: export units with this outcome, such as correct."),
    arguments: Literal["text", "object"] | None = opt(
        "openai: arguments of calls as JSON text, as received (default), or as objects (docs/export.md)."
    ),
    lossless: bool = opt("sharegpt: keep ids and texts beside calls in a field of each turn."),
    with_data: bool = opt("Bundles only: include the data (check their licence)."),
    hub_dataset: str | None = opt(
        "OWNER/NAME[:TASK]", "hf-results: the benchmark's dataset on the Hugging Face Hub, and its task."
    ),
    allow_benchmark_data: bool = opt(
        "Pairs only: use a benchmark's own data, on which scores mean nothing afterwards; every line says so."
    ),
    force: bool = options.FORCE_OPTION,
) -> int:
    """Convert runs to logs, tables, training data or bundles.

    \b
    Examples:
      wildtool export runs/wild-mini --format csv -o tables
      wildtool export runs/wild-mini/baseline--gold --format openai --only correct
      wildtool export runs/wild-mini/baseline--gold --format bundle

    A bundle is one file that other commands accept in place of a run folder.
    """
    values: dict[str, Any] = {"profile": profile, "only": only, "arguments": arguments, "lossless": lossless}
    values |= {
        "with_data": with_data,
        "allow_benchmark_data": allow_benchmark_data,
        "hub_dataset": hub_dataset,
    }
    form = _form(to, values)
    if only is not None:
        _check_outcome(only)
    if not runs:
        raise UsageError("nothing to export: give run folders, such as `wildtool export runs --format csv`")
    from wildtool.export import ExportRequest, check_target
    from wildtool.export import export as write
    from wildtool.terminal import print_err, print_out

    targets = _targets(runs, out, form)
    for target in targets.values():
        check_target(form, target, force=force)
    settings: dict[str, Any] = {**values, "data": data, "arguments": arguments or "text"}
    status = 0
    for folder, target in targets.items():
        request = ExportRequest(folder=folder, **settings)
        write(form, request, target, force=force)
        if target.is_file() and not target.stat().st_size:
            target.unlink()
            which = f" whose outcome is {only}" if only else ""
            print_err(f"{folder}: nothing to export: the run has no unit{which} that gives a line of {form}")
            status = 1
        else:
            print_out(str(target))
            if form in WITH_PASSPORT:
                from wildtool.board.passport import write_beside

                print_out(str(write_beside(request, target)))
    return status


def _form(name: str, values: Mapping[str, object]) -> str:
    if name not in EXPORT_FORMATS:
        raise UsageError(
            unknown_name("format", name, EXPORT_FORMATS)
            if name
            else f"give a format: --format {'|'.join(EXPORT_FORMATS)}"
        )
    for option, value in values.items():
        if value and option not in EXPORT_FORMATS[name].options:
            takers = ", ".join(
                form for form, export_format in EXPORT_FORMATS.items() if option in export_format.options
            )
            raise UsageError(
                f"--{option.replace('_', '-')} cannot be used with --format {name}; it is for: {takers}"
            )
    return name


def _check_outcome(only: str) -> None:
    from typing import get_args

    from wildtool.types import Outcome

    if only not in get_args(Outcome):
        raise UsageError(unknown_name("outcome", only, get_args(Outcome)))


def _targets(paths: list[Path], out: Path | None, form: str) -> dict[Path, Path]:
    """Each run folder with its output. Raises UsageError if two would be the same, or one would damage a
    run."""
    from wildtool.engine.score.results import run_folders

    names: dict[Path, str] = {}
    for path in paths:
        for folder in run_folders(path):
            inner = folder.relative_to(path).parts if folder.is_relative_to(path) else ()
            names[folder] = "--".join((path.resolve().name, *inner)) if inner else folder.resolve().name
    if out is not None and len(names) == 1 and (not out.is_dir() or _is_its_own(form, out)):
        targets = dict.fromkeys(names, out)
    else:
        place, suffix = out or Path(), EXPORT_FORMATS[form].suffix
        targets = {folder: place / f"{name}{suffix}" for folder, name in names.items()}
    if len(set(targets.values())) < len(targets):
        raise UsageError(
            "two of these runs have the same name; export them one by one, each with its own --out"
        )
    for target in targets.values():
        if (target.parent / "run.json").exists() or (target / "run.json").exists():
            raise UsageError(f"{target}: that is inside a run folder; name another place with --out")
    return targets


def _is_its_own(form: str, folder: Path) -> bool:
    """Whether an existing folder is the export itself, rather than the folder to put it into."""
    from wildtool.outputs import is_dataset

    return EXPORT_FORMATS[form].folder and is_dataset(folder)
