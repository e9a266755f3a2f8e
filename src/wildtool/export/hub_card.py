"""A folder with a Hugging Face dataset: tables of verdicts and a dataset card."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.engine.compare.leaderboard import INCOMPLETE
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import as_recorded, load_benchmark
from wildtool.engine.score.formatting import ENDS_HEAD, format_open
from wildtool.engine.score.results import ScoreResult
from wildtool.export import FOLDER_MARK, ExportRequest
from wildtool.export.files import portable_value
from wildtool.export.tables import join_as_parquet, verdict_tables
from wildtool.outputs import atomic_replace
from wildtool.table import ends_of
from wildtool.types import Metric

_PAGE_NAME = "README.md"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$])")
_LONGEST = 200


def export(request: ExportRequest, target: Path) -> None:
    """Writes the folder: the tables first, the page last."""
    page = target / _PAGE_NAME
    run_json = read_run(request.folder)
    with verdict_tables(request) as tables:
        for table, result in tables.items():
            join_as_parquet([table], target / _file(result))
        text = _page(run_json, list(tables.values()))
        with atomic_replace(page) as new:
            new.write_bytes(text.encode())


def _page(run_json: Mapping[str, Any], results: list[ScoreResult]) -> str:
    """The dataset card: metadata for the Hub, then text for people."""
    first = results[0]
    benchmark = load_benchmark(first.benchmark)
    head = {
        "pretty_name": _clean(f"{first.model} on {benchmark.title}"),
        "license": "unknown",
        "tags": ["wildtool", "tool-use", "function-calling", "benchmark", "evaluation-results"],
        "configs": [
            {"config_name": r.profile, "data_files": [{"split": "test", "path": _file(r)}]} for r in results
        ],
    }
    # JSON values are YAML values as well.
    front = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
    return "\n".join(["---", front, "---", FOLDER_MARK, "", *_body(benchmark.title, run_json, results), ""])


def _body(title: str, run_json: Mapping[str, Any], results: list[ScoreResult]) -> Iterable[str]:
    first = results[0]
    identity = run_json["identity"]
    yield f"# {_cell(first.model)} on {_cell(title)}"
    yield ""
    yield (
        f"Verdicts of a run of the benchmark {_cell(first.benchmark)} by wildtool {__version__}: one row for each unit, "
        "one table for each set of rules (profile). The texts of the benchmark and the replies are not in them, only "
        "how each unit was judged. Mind the licence of the benchmark's data."
    )
    yield ""
    yield from _table(
        ("", ""),
        [
            ("model", first.model),
            ("data", f"{Path(first.data).name}, SHA-256 {first.data_sha256}"),
            ("split", identity["split"] or "all"),
            ("mode", identity["mode"] or "the benchmark's first"),
            ("played under", first.played or "unknown rules"),
            *(("disturbed by", disturbance) for disturbance in first.disturbances),
            *((f"played by {role}", name) for role, name in first.roles.items()),
            ("seed", "none" if identity["seed"] is None else identity["seed"]),
            ("repeats", run_json["scope"]["repeats"]),
        ],
    )
    for result in results:
        mark = "" if result.evidence.complete else INCOMPLETE
        yield from (
            "",
            f"## Profile {_cell(result.profile)}{mark}",
            "",
            f"{_cell(result.profile_label)}.",
            "",
        )
        yield from _table(
            ("group", "metric", "value", ENDS_HEAD, "count"),
            [
                (m.group, m.name, _number(m.value), _ends(m), f"{m.numerator:g}/{m.denominator:g}")
                for m in result.metrics
            ],
        )
        counts = result.counts
        yield ""
        yield (
            f"{counts.units} units: {counts.correct} correct, {counts.wrong} wrong, {counts.infra_error} ended by failed "
            f"calls, {counts.unplayed} not played. The last two count as not correct."
        )
        for remark in result.trust:
            yield from ("", _cell(remark))
    yield from ("", "## Columns", "")
    yield from _table(("column", "type"), [*_columns(first.benchmark, identity).items()])


def _ends(metric: Metric) -> str:
    """The interval of a number, or the range that units without a verdict leave open of it; empty for neither."""
    low, high = ends_of(metric)
    if low is None or high is None:
        return ""
    possible = "" if format_open(metric) is None else "possible: "
    return f"{possible}{_number(low)} to {_number(high)}"


def _columns(benchmark: str, identity: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a run's tables with their DuckDB types."""
    recorded = as_recorded(load_benchmark(benchmark), identity)
    return {**VERDICT_COLUMNS, **recorded.columns, "detail": "VARCHAR"}


def _file(result: ScoreResult) -> str:
    return f"verdicts-{result.profile}.parquet"


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterable[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _clean(value: object) -> str:
    """A text on one line, without characters that are not allowed in YAML or Markdown."""
    text = _CONTROL.sub("\ufffd", portable_value(str(value)))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _cell(value: object) -> str:
    """A text that Markdown shows unchanged."""
    return _SPECIAL.sub(r"\\\1", _clean(value))
