"""Prints runs beside what papers say of their models."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from wildtool.cli.output.results import print_run_notes
from wildtool.engine.compare.leaderboard import EVIDENCE_COLUMNS, INCOMPLETE, evidence_cells, trust_line
from wildtool.engine.compare.reproduction import MODELS_NEEDED, Reproduction, is_reproduced, reproduction
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.formatting import ENDS_HEAD, format_points, format_rate_ends
from wildtool.engine.score.results import open_results, run_folders
from wildtool.errors import UsageError
from wildtool.terminal import print_rows, print_wrapped, single_line
from wildtool.terminal.tables import print_grid

_NUMBERS = (
    "group",
    "name",
    "published",
    "value",
    "low",
    "high",
    "difference",
    "error",
    "band",
    "source",
)
CSV_COLUMNS = (
    "run",
    "benchmark",
    "profile",
    "model",
    "published_model",
    *_NUMBERS,
    *EVIDENCE_COLUMNS,
    "least",
    "most",
)


def print_reproductions(
    paths: Iterable[Path],
    profile: str | None,
    model: str | None,
    *,
    absolute: bool,
    as_json: bool,
    as_csv: bool,
) -> int:
    """Prints each run beside the published numbers of its model. Gives the exit status. Raises UsageError.

    Args:
        model: name in the paper; None for the run's.
        absolute: bands by points instead of percent of the published number.
    """
    folders = [folder for path in paths for folder in run_folders(path)]
    if not folders:
        raise UsageError("name a run, such as `wildtool compare runs/BENCH/MODEL --published`")
    reproductions: list[Reproduction] = []
    faulty = False
    for folder in folders:
        with open_results(folder, profile) as (result, _):
            print_run_notes(folder, result)
            faulty = faulty or bool(result.faults)
            figures = load_benchmark(result.benchmark).published()
            identity = read_run(folder)["identity"]
            reproductions.append(
                reproduction(folder, result, identity, figures, model=model, absolute=absolute)
            )
    if as_json:
        print(json.dumps([_as_json(each) for each in reproductions], indent=1))
    elif as_csv:
        print_rows(CSV_COLUMNS, [row for each in reproductions for row in _rows(each)])
    else:
        for each in reproductions:
            _print(each, absolute)
        _print_rule(reproductions)
    return 1 if faulty else 0


def _print(result: Reproduction, absolute: bool) -> None:
    run = result.run
    rows = [
        [
            f"{each.group}: {each.name}",
            f"{100 * each.published:.1f}",
            "–" if each.value is None else f"{100 * each.value:.1f}",
            format_rate_ends(each),
            "" if each.difference is None else format_points(each.difference),
            each.band + (" (within)" if each.within_interval and each.band != "blue" else ""),
        ]
        for each in result.numbers
    ]
    mark = "" if run.evidence.complete else INCOMPLETE
    names = f"{single_line(run.model, 60)}{mark} beside {single_line(result.model, 60)}"
    title = f"{names} ({run.benchmark}, {run.profile_label})"
    print_grid(title, ["%", "published", "here", ENDS_HEAD, "difference", ""], rows, sentences=(5,))
    counts = ", ".join(f"{number} {band}" for band, number in result.bands.items())
    how = "points" if absolute else "percent of the published number"
    print_wrapped(
        f"{counts}. blue: less than 5 {how} apart; yellow: up to 10; red: more; grey: no number here, or units "
        "without a verdict. (within): the published number is in the interval, so chance alone may explain the "
        "difference.\n"
    )
    if line := trust_line(run.model, run):
        print_wrapped(f"{line}\n")
    if result.bands["yellow"] or result.bands["red"]:
        print_wrapped("Possible causes:")
        for cause in result.causes:
            print_wrapped(f"  - {single_line(cause, 300)}")
        print_wrapped("")


def _print_rule(reproductions: Sequence[Reproduction]) -> None:
    """By ToLeaP's rule, for each benchmark of which several models were run."""
    by_benchmark: dict[str, list[Reproduction]] = {}
    for each in reproductions:
        by_benchmark.setdefault(each.run.benchmark, []).append(each)
    for name, its in by_benchmark.items():
        if len({each.model for each in its}) >= MODELS_NEEDED:
            is_so = "is" if is_reproduced(its) else "is not"
            print_wrapped(f"{name} {is_so} reproduced: {MODELS_NEEDED} models must be blue throughout.")


def _as_json(result: Reproduction) -> dict[str, object]:
    return {
        "run": result.run.run,
        "benchmark": result.run.benchmark,
        "profile": result.run.profile,
        "model": result.run.model,
        "published_model": result.model,
        "bands": result.bands,
        "causes": list(result.causes),
        "evidence": asdict(result.run.evidence),
        "trust": [asdict(remark) for remark in result.run.trust],
        "numbers": [asdict(each) | {"within_interval": each.within_interval} for each in result.numbers],
    }


def _rows(result: Reproduction) -> Iterable[Sequence[object]]:
    run = result.run
    for each in result.numbers:
        yield [
            run.run,
            run.benchmark,
            run.profile,
            run.model,
            result.model,
            *(getattr(each, name) for name in _NUMBERS),
            *evidence_cells(each.evidence),
            each.least,
            each.most,
        ]
