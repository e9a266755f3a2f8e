"""Two versions of tools on the same cases: which is better by the whole calls, arguments included."""

from collections.abc import Collection, Sequence
from pathlib import Path

from wildtool.api.plans import plan
from wildtool.api.results import Run
from wildtool.api.settings import Settings
from wildtool.cli.command import worst_status
from wildtool.cli.commands.run import execute_runs
from wildtool.cli.options.run import settings_values
from wildtool.config.config_file import read_config
from wildtool.engine.compare.pairs import UnitKey, UnitScores, pair_units
from wildtool.errors import UsageError
from wildtool.json_codec import as_object, dumps
from wildtool.outputs import make_folder, write_file
from wildtool.own_cases.case_files import TOOLS_FILE
from wildtool.own_cases.reading import read_case_document, read_case_text
from wildtool.report.model import read_runs
from wildtool.shapes.tools import tool_name
from wildtool.terminal import print_err, print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.tools.commands.choice_output import MOST_ROWS, VERSION_HEADS, version_row
from wildtool.tools.commands.options import TryOptions
from wildtool.tools.commands.play import VERSIONS
from wildtool.tools.sources.named import ToolSource
from wildtool.tools.versions import VersionPart
from wildtool.types import Tool


def compare_tools(sources: Sequence[ToolSource], case_file: Path, its: TryOptions, explicit: set[str]) -> int:
    """Runs the cases with each version of the tools, and prints what the new one changes. Gives the exit status.

    Raises UsageError where the cases name no file of tools that could be replaced, or no model is given.
    """
    if not its.model:
        raise UsageError("the cases are put to models: give --model NAME")
    tools_path = _tools_path(case_file)
    out = its.out or Path("runs", "catalogue")
    tools = [source.first_of_each_name() for source in sources]
    of_tools = {"out", "mcp_env", "mcp_header"}
    values = {name: value for name, value in settings_values(its).items() if name not in of_tools}
    statuses: list[int] = []
    folders: list[list[Path]] = []
    for version, its_tools in zip(VERSIONS, tools, strict=True):
        place = out / version / case_file.name
        make_folder(place.parent)
        write_file(place, case_file.read_bytes())
        write_file(place.parent / tools_path, dumps(list(its_tools)))
        settings = Settings.of(str(place), its.model, values, explicit)
        runs = plan(settings, read_config(None).models, report=print_err, parent=out / "runs" / version)
        statuses.append(execute_runs(runs, settings, tables=False))
        folders.append([run.folder for run in runs])
    status = worst_status(statuses)
    if not its.dry_run and status in (0, 3):
        for old, new in zip(*folders, strict=True):
            _print_difference(old, new, _edited(*tools))
    return status


def _tools_path(case_file: Path) -> str:
    """The path of the tools, beside the cases. Raises UsageError where that is no file which all cases share."""
    document = read_case_document(case_file, read_case_text(case_file))
    held = as_object(document.defaults.value) if document.defaults else {"tools": TOOLS_FILE}
    path = held.get("tools")
    own = any("tools" in as_object(record.value) for record in document.records)
    if own or not isinstance(path, str) or Path(path).is_absolute() or ".." in Path(path).parts:
        raise UsageError(
            f"{case_file}: both versions take the place of one file of tools; write defaults: {{tools: {TOOLS_FILE}}}"
        )
    return path


def _edited(old: Sequence[Tool], new: Sequence[Tool]) -> set[str]:
    """Names of the tools that differ, or that only one version has."""
    sides = [{tool_name(tool): tool for tool in tools} for tools in (old, new)]
    return {name for name in {*sides[0], *sides[1]} if sides[0].get(name) != sides[1].get(name)}


def _print_difference(old: Path, new: Path, edited: Collection[str]) -> None:
    before, after = read_runs([old, new])
    rows = [
        {(row["item"], row["unit"]): row for row in Run(folder).verdicts().rows()} for folder in (old, new)
    ]
    expecting = {
        key
        for side in rows
        for key, row in side.items()
        if {*(row["expected"] or "").split(", ")} & {*edited}
    }
    keys = {*before.scores.shares} | {*after.scores.shares}
    parts = [("all cases", keys), ("for changed tools", expecting), ("for the others", keys - expecting)]
    lines = [
        version_row(part)
        for name, its in parts
        if (part := _part(name, before.scores, after.scores, its)) is not None
    ]
    print_wrapped(f"{before.result.model}: tools that differ: {', '.join(sorted(edited)) or 'none'}.")
    print_grid("New against old", ["", "cases", *VERSION_HEADS], lines)
    changed = [
        key
        for key in sorted(keys)
        if rows[0].get(key, {}).get("correct") != rows[1].get(key, {}).get("correct")
    ]
    for key in changed[:MOST_ROWS]:
        first, second = (side.get(key, {}) for side in rows)
        verb, wrong = ("lost", second) if first.get("correct") else ("gained", first)
        print_wrapped(f"{verb}: {' '.join(key)}: {wrong.get('reason') or wrong.get('outcome')}")


def _part(name: str, old: UnitScores, new: UnitScores, keys: Collection[UnitKey]) -> VersionPart | None:
    sides = [
        UnitScores(
            {key: value for key, value in side.shares.items() if key in keys},
            {key: value for key, value in side.missing.items() if key in keys},
        )
        for side in (old, new)
    ]
    pairs = pair_units(*sides)
    if pairs is None:
        return None
    before, after = (float(sum(side.shares.values())) / len(side.shares) for side in sides)
    drop, p = pairs.difference, pairs.test()[0]
    change = (before, after, drop.value, drop.low, drop.high, p)
    return VersionPart(name, pairs.units, *change, pairs.gained, pairs.lost, pairs.missing)
