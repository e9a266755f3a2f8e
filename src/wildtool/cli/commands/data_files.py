"""`wildtool data pull`, `lint`, `stats` and `refresh`."""

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wildtool.cli.commands.data_training import lint_training, stats_training, training_file
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import print_err, print_out, single_line
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wildtool.benchmark import Benchmark
    from wildtool.findings import Finding
    from wildtool.types import Metric, Source

FileOrBenchmark = Annotated[
    str, typer.Argument(metavar="FILE|BENCH", help="Data file, or a benchmark for its own data.")
]

BenchmarkOrTraining = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="NAME",
        help="Benchmark of the data, if it cannot be detected; training for training files.",
        autocompletion=completion.benchmarks,
    ),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Training files: tokenizer.json or a model's folder, to count tokens (default: characters / 3.5).",
    ),
]


def pull(
    benchmark: options.BenchmarkArgument,
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Use this file or folder instead of downloading."),
    ] = None,
    mirror: Annotated[
        str | None, typer.Option(metavar="URL", help="Download from this address instead.")
    ] = None,
) -> None:
    """Download a benchmark's official data and verify them.

    \b
    Examples:
      wildtool data pull wildtoolbench
      wildtool data pull wildtoolbench --from Wild-Tool-Bench.jsonl
    """
    from wildtool.engine.registry import load_benchmark

    print_out(str(load_benchmark(benchmark).pull(file=file, mirror=mirror, report=print_err)))


def lint(
    what: FileOrBenchmark,
    benchmark: BenchmarkOrTraining = None,
    trainer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Training files: also say what this trainer drops or changes: llama-factory, trl, verl, axolotl or all.",
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    cutoff: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Training files: maximum tokens per record (default: 2048)."),
    ] = None,
    duplicates: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Training files: also list duplicates: exact, prompt or near."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Training files: exit status 1 for warnings too.")
    ] = False,
) -> int:
    """Check data for mistakes.

    \b
    Examples:
      wildtool data lint wild-mini
      wildtool data lint sessions.jsonl
      wildtool data lint train.jsonl --trainer llama-factory

    Prints one line per finding. With findings, the exit status is 1; warnings leave it 0.
    """
    if training := training_file(what, benchmark):
        return lint_training(training, trainer, tokenizer, cutoff, duplicates, strict=strict)
    given = {"trainer": trainer, "tokenizer": tokenizer, "cutoff": cutoff, "duplicates": duplicates}
    _refuse({**given, "strict": strict}, what)
    owner, source = _resolve_data(what, benchmark)
    count = errors = 0
    for finding in chain(owner.lint(source), _custom_findings(what, benchmark)):
        count += 1
        errors += finding.level == "error"
        print_out(
            f"{single_line(finding.where)}: {single_line(finding.rule)}: {single_line(finding.message, 1000)}"
        )
    if not count:
        _check_not_empty(owner, source)
    print_err(f"{source.path}: {counted(count, 'finding')}" if count else f"{source.path}: no findings")
    return 1 if errors else 0


def _custom_findings(what: str, benchmark: str | None) -> "Iterator[Finding]":
    """What rules of installed packages find; why they cannot look, on stderr."""
    from wildtool.findings import any_custom_rules

    if any_custom_rules():
        from wildtool.review.formats import custom_findings_in

        try:
            yield from custom_findings_in(what, benchmark)
        except DataError as error:
            print_err(f"Rules of installed packages have not looked at this: {error}")


def stats(
    what: FileOrBenchmark,
    benchmark: BenchmarkOrTraining = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Training files: a second file to show beside the first."),
    ] = None,
    tokenizer: TokenizerOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Describe data: how many items, and of which kinds.

    \b
    Examples:
      wildtool data stats wild-mini
      wildtool data stats sessions.jsonl --json
      wildtool data stats train.jsonl --compare other.jsonl
    """
    if training := training_file(what, benchmark):
        return stats_training(training, compare, tokenizer, as_json=as_json)
    _refuse({"compare": compare, "tokenizer": tokenizer}, what)
    from wildtool.cli.output.tables import print_metrics

    owner, source = _resolve_data(what, benchmark)
    _check_not_empty(owner, source)
    metrics = owner.stats(source)
    if as_json:
        print(json.dumps([_row(metric) for metric in metrics], indent=1))
    else:
        print_metrics(metrics)
    return 0


def _row(metric: "Metric") -> dict[str, Any]:
    """A number for programs; if it has a target, also the distance from it."""
    away = None if metric.value is None or metric.target is None else metric.value - metric.target
    return {**asdict(metric), "deviation": away}


def refresh(
    what: FileOrBenchmark,
    out: Annotated[
        Path | None, typer.Option(*("--out", "-o"), metavar="FILE", help="JSON Lines file to write.")
    ] = None,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same values.")] = "1",
    skip_unclear: Annotated[
        bool,
        typer.Option("--skip-unclear", help="Leave out sessions with a value whose role is unclear."),
    ] = False,
    benchmark: options.BenchmarkOption = None,
    force: options.ForceOption = False,
) -> None:
    """Replace names, dates and amounts, so that memorised answers fail.

    \b
    Examples:
      wildtool data refresh sessions.jsonl --seed 7 --skip-unclear -o fresh.jsonl

    Requests, gold answers and tool results change consistently; structure and scoring stay the same.
    """
    from wildtool.generate.core.files import write_sessions
    from wildtool.generate.refresh.refresh import UnchangedSession, refresh_file

    if out is None:
        raise UsageError("give the file to write: --out fresh.jsonl")
    _, source = _resolve_data(what, benchmark)
    refused: list[UnchangedSession] = []
    made = refresh_file(source.path, seed, refused, skip_unclear=skip_unclear)
    count = write_sessions(made, out, force=force)
    for one in refused:
        print_err(f"left out {single_line(one.item)}: {single_line(one.reason, 300)}")
    print_out(f"{out}: {counted(count, 'session')}, {len(refused)} left out")


def _refuse(given: dict[str, Any], what: str) -> None:
    """Raises UsageError for an option that only training files take."""
    for name, value in given.items():
        if value and not Path(what).exists() and Path(what).suffix:
            raise UsageError(f"{what}: there is no such file")
        if value:
            raise UsageError(
                f"--{name} is for training files, and {what} is none; add --benchmark training if it is"
            )


def _check_not_empty(owner: "Benchmark", source: "Source") -> None:
    """Raises DataError if the data contain no item."""
    try:
        empty = next(iter(owner.load(source)), None) is None
    except DataError:
        # Data that cannot be run are not empty; they can still be checked and described.
        return
    if empty:
        raise DataError(f"{source.path}: contains no items")


def _resolve_data(what: str, benchmark: str | None) -> "tuple[Benchmark, Source]":
    """The benchmark of the data, and where they are."""
    from wildtool.engine.detect import detect_benchmark
    from wildtool.engine.registry import benchmark_names, load_benchmark
    from wildtool.training.files import check_regular_file

    if what in benchmark_names():
        owner = load_benchmark(what)
        return owner, owner.locate(None)
    check_regular_file(Path(what))
    owner = detect_benchmark(benchmark, what)
    return owner, owner.locate(what)
