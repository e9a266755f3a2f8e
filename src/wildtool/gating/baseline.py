"""A baseline in one small JSON file, to be kept with the code: the verdicts of runs, without what models said."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.alter.kinds import recorded_alterations
from wildtool.data.files import read_json
from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.compare.runs import ComparedRun, UnitResults
from wildtool.engine.compare.suites import SuiteRuns
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import RecordError, UsageError
from wildtool.evidence import Evidence
from wildtool.gating.units import CASE_COLUMNS
from wildtool.json_codec import as_object, checked
from wildtool.outputs import check_file, write_file

BASELINE_SUFFIX = ".json"
_FORMAT = 1
_WRITE_AGAIN = "delete it, and write it again with --update-baseline"
_TEXTS = ("run", "model", "benchmark", "profile", "data", "data_sha256", "benchmark_file", "prompts", "part")
_TEXTS_OR_NONE = ("played", "split", "mode")
"""Fields of a result that tell whether runs compare."""


def is_baseline(path: Path) -> bool:
    """Whether a path is that of a baseline in one file, there already or not."""
    return path.suffix.casefold() == BASELINE_SUFFIX and not path.is_dir()


def check_baseline(path: Path | None) -> None:
    """Raises UsageError where a baseline cannot be written to a path."""
    if path is None or not is_baseline(path):
        raise UsageError("--update-baseline writes one file: give --against FILE.json")
    check_file(path)


def write_baseline(path: Path, suites: Sequence[SuiteRuns]) -> None:
    """Writes runs as a baseline. Raises as `write_file`."""
    heads: list[str] = []
    for suite in suites:
        for name, run in suite.runs.items():
            units = ",\n".join(_line(unit) for unit in _units(run))
            heads.append(f'{_line(_head(name, run))[:-1]},\n "units": [\n{units}]}}')
    start = f'{{"wildtool": "{__version__}",\n "baseline": {_FORMAT},\n "runs": ['
    write_file(path, f"{start}\n{','.join(heads)}]}}\n".encode())


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _head(name: str, run: ComparedRun) -> dict[str, Any]:
    fields = {each: getattr(run.result, each) for each in (*_TEXTS, *_TEXTS_OR_NONE)}
    return {"name": name, "result": fields, "identity": run.identity, "weights": run.weights}


def _units(run: ComparedRun) -> list[dict[str, Any]]:
    return [
        {
            "item": item,
            "unit": unit,
            "right": cell.right,
            "played": cell.played,
            "open": cell.open,
            "tries": cell.tries,
            "error": cell.error,
            "langs": cell.langs,
            "kinds": {column: cell.kinds[column] for column in CASE_COLUMNS if column in cell.kinds},
        }
        for (item, unit), cell in run.cells.items()
    ]


def read_baseline(path: Path) -> list[SuiteRuns]:
    """The runs of a baseline, by model. Raises RecordError for a file that is none, UsageError where there is none."""
    if not path.exists():
        raise UsageError(f"{path}: there is no baseline yet; --update-baseline writes it from the new runs")
    document = as_object(read_json(path))
    if "baseline" not in document:
        raise RecordError(
            f"{path}: no baseline of wildtool gate, which --update-baseline writes; name another file"
        )
    if document["baseline"] != _FORMAT:
        raise RecordError(
            f"{path}: a baseline of format {document['baseline']}, written by wildtool {document.get('wildtool')}; this "
            f"version reads format {_FORMAT}: use that one, or {_WRITE_AGAIN}"
        )
    suites: dict[str, dict[str, ComparedRun]] = {}
    entries = checked(document.get("runs"), list, f"{path}: runs")
    if not entries:
        raise RecordError(f"{path}: holds no run; {_WRITE_AGAIN}")
    for number, entry in enumerate(entries):
        where = f"{path}: runs[{number}]"
        run, name = _run(as_object(entry), path, where), checked(as_object(entry).get("name"), str, where)
        runs = suites.setdefault(run.result.model, {})
        if name in runs:
            raise RecordError(f"{where}: a second run of {run.result.model} on {name}; {_WRITE_AGAIN}")
        runs[name] = run
    return [SuiteRuns(model, f"{model} ({path})", runs) for model, runs in suites.items()]


def _run(entry: Mapping[str, Any], path: Path, where: str) -> ComparedRun:
    fields, identity = as_object(entry.get("result")), as_object(entry.get("identity"))
    told: dict[str, Any] = {name: checked(fields.get(name), str, f"{where} {name}") for name in _TEXTS}
    for name in _TEXTS_OR_NONE:
        told[name] = fields.get(name) and checked(fields[name], str, f"{where} {name}")
    cells = _cells(checked(entry.get("units"), list, f"{where} units"), where)
    failed = sum(cell.played < cell.tries for cell in cells.values())
    for role, model in as_object(identity.get("models")).items():
        checked(as_object(model).get("name"), str, f"{where} identity models {role} name")
    if "agent" not in as_object(identity.get("models")) or not cells:
        raise RecordError(f"{where}: names no model or no unit; {_WRITE_AGAIN}")
    items = len({item for item, _ in cells})
    result = ScoreResult(
        **told,
        alterations=recorded_alterations(identity),
        roles={},
        items=items,
        items_md5="",
        counts=OutcomeCounts(),
        planned=len(cells),
        planned_items=items,
        incomplete=False,
        failed=(),
        evidence=Evidence(len(cells), failed=failed),
        metrics=(),
        folder=path,
    )
    weights = {
        item: float(checked(weight, float, f"{where} weights"))
        for item, weight in checked(entry.get("weights"), dict, f"{where} weights").items()
    }
    return ComparedRun(f"{told['model']} ({path})", result, identity, cells, {}, weights)


def _cells(units: Sequence[Any], where: str) -> dict[UnitKey, UnitResults]:
    cells: dict[UnitKey, UnitResults] = {}
    for place, each in enumerate(units):
        unit, at = as_object(each), f"{where} units[{place}]"
        key = checked(unit.get("item"), str, f"{at} item"), checked(unit.get("unit"), str, f"{at} unit")
        if key in cells:
            raise RecordError(f"{at}: {key[0]} {key[1]} is there twice; {_WRITE_AGAIN}")
        cells[key] = _cell(unit, at)
    return cells


def _cell(unit: Mapping[str, Any], where: str) -> UnitResults:
    right, played, possible, tries = (
        checked(unit.get(name), int, f"{where} {name}") for name in ("right", "played", "open", "tries")
    )
    if not 0 <= right <= played <= tries or not 0 <= possible <= tries - right or not tries:
        raise RecordError(f"{where}: {right} of {played} right, of {tries} tries, cannot be")
    error = unit.get("error")
    return UnitResults(
        right,
        played,
        possible,
        tries,
        error and checked(error, str, f"{where} error"),
        checked(unit.get("langs"), str, f"{where} langs"),
        _kinds(checked(unit.get("kinds"), dict, f"{where} kinds"), where),
    )


_KINDS: Mapping[str, type] = dict(zip(CASE_COLUMNS, (str, int, bool, float, str, int), strict=True))


def _kinds(held: Mapping[str, Any], where: str) -> dict[str, Any]:
    return {
        column: None if held[column] is None else checked(held[column], kind, f"{where} {column}")
        for column, kind in _KINDS.items()
        if column in held
    }
