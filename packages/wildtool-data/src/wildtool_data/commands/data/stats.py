"""`wildtool data stats`: describes benchmark data and training files."""

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.data.commands.files import (
    BENCHMARK_OR_TRAINING,
    TOKENIZER_OPTION,
    check_not_empty,
    refuse_options,
    resolve_data,
    training_file,
)
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.terminal import ellipsize, print_err

if TYPE_CHECKING:
    from wildtool.types import Metric
    from wildtool_data.prepare.stats import FileStats


def stats(
    data: list[str] = arg(
        "FILE|BENCH…",
        "Data file, or a benchmark for its own data; several of them are compared in one table.",
    ),
    benchmark: str | None = BENCHMARK_OR_TRAINING,
    compare: Path | None = opt("FILE", "Training files: a second file to show beside the first."),
    tokenizer: Path | None = TOKENIZER_OPTION,
    out: Path | None = opt(
        "-o FOLDER", "With several data: folder for the table as CSV and the shares as a picture."
    ),
    force: bool = options.FORCE_OPTION,
    as_json: bool = options.JSON_OPTION,
) -> int:
    """Describe data: how many items, and of which kinds.

    Tools are also sorted into domains by the words of their names and descriptions. Several benchmarks are put beside
    each other: turns, tools, calls in parallel or in sequence, and what depends on earlier turns, as their gold answers
    have it.

    \b
    Examples:
      wildtool data stats wild-mini
      wildtool data stats sessions.jsonl --json
      wildtool data stats train.jsonl --compare other.jsonl
      wildtool data stats wild-mini ledger -o comparison
    """
    first, *others = data
    if others:
        from wildtool_data.commands.data.comparison import compare_data

        for name in data:
            refuse_options({"compare": compare, "tokenizer": tokenizer}, name)
        return compare_data(data, benchmark, out, force=force, as_json=as_json)
    if out is not None:
        raise UsageError("-o is for the comparison of several data; name another file or benchmark, too")
    training = training_file(first, benchmark)
    if training is not None:
        return stats_training(training, compare, tokenizer, as_json=as_json)
    refuse_options({"compare": compare, "tokenizer": tokenizer}, first)
    from wildtool.declared import describe
    from wildtool.terminal.tables import print_metrics
    from wildtool_data.prepare.tool_domains import domain_metrics
    from wildtool_data.prepare.traits import tools_of

    owner, source = resolve_data(first, benchmark)
    check_not_empty(owner, source)
    metrics = [*describe(owner, source), *domain_metrics(tools_of(owner, source))]
    if as_json:
        print(json.dumps([_row(metric) for metric in metrics], indent=1))
    else:
        print_metrics(metrics)
    return 0


def _row(metric: "Metric") -> dict[str, Any]:
    """A number for programs; if it has a target, also the distance from it."""
    away = None if metric.value is None or metric.target is None else metric.value - metric.target
    return {**asdict(metric), "deviation": away}


def stats_training(file: Path, compare: Path | None, tokenizer: Path | None, *, as_json: bool) -> int:
    """Describes a training file, or two side by side."""
    from wildtool.engine.score.formatting import format_counts, format_value
    from wildtool.terminal.tables import print_grid, print_metrics
    from wildtool_data.prepare.check.file import token_counter
    from wildtool_data.prepare.stats import training_stats

    counter = None if tokenizer is None else token_counter(tokenizer)
    files = [file, *([compare] if compare else [])]
    by_file = {str(path): training_stats(path, counter) for path in files}
    if as_json:
        tables = {
            name: [asdict(m) for m in (*stats.metrics, *chain.from_iterable(stats.sets.values()))]
            for name, stats in by_file.items()
        }
        print(json.dumps(tables if compare else next(iter(tables.values())), indent=1))
    elif compare is None:
        print_metrics(by_file[str(file)].metrics)
        _print_sets("sets", by_file[str(file)])
    else:
        columns = [{(m.group, m.name): m for m in stats.metrics} for stats in by_file.values()]
        keys = list(dict.fromkeys(key for column in columns for key in column))
        for group in dict.fromkeys(group for group, _ in keys):
            rows = [
                (name, *(" ".join((format_value(m), format_counts(m))) if (m := c.get((group, name))) else "—"
                         for c in columns))
                for name in (name for other, name in keys if other == group)
            ]  # fmt: skip
            print_grid(group, ["", *(path.name for path in files)], rows)
        for path in files:
            _print_sets(f"sets of {path.name}", by_file[str(path)])
    unreadable = sum(stats.check.unreadable for stats in by_file.values())
    if unreadable:
        print_err(f"{counted(unreadable, 'row')} could not be read; see `wildtool data lint`")
    return int(unreadable > 0)


def _print_sets(title: str, stats: "FileStats") -> None:
    """A row for each set of a file, and one for all."""
    from wildtool.engine.score.formatting import format_counts, format_value
    from wildtool.terminal.tables import print_grid

    if stats.sets:
        heads = ["", *(metric.name for metric in next(iter(stats.sets.values())))]
        rows = [
            (
                ellipsize(name.removeprefix("set "), 40),
                *(
                    " ".join((format_value(m), format_counts(m))) if m.kind == "rate" else format_value(m)
                    for m in row
                ),
            )
            for name, row in stats.sets.items()
        ]
        print_grid(title, heads, rows)
