"""The verbs of `wildtool data` for training files."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wildtool.cli.command import split_values
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import CappedMessages, ellipsize, print_err, print_out, print_wrapped, single_line
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError, match_name, unknown_name
from wildtool.steps import show_step, step_line

if TYPE_CHECKING:
    from wildtool.training.mix.store import Dedupe
    from wildtool.training.overlap.benchmark import BenchmarkItem
    from wildtool.training.overlap.search import OverlapSearch
    from wildtool.training.stats import FileStats

TRAINING = "training"
"""What `--benchmark` says for training files."""


def lint_training(
    file: Path,
    trainers: list[str] | None,
    tokenizer: Path | None,
    cutoff: int | None,
    duplicates: str | None,
    *,
    strict: bool,
) -> int:
    """Checks a training file and prints the findings; the exit status."""
    from wildtool.training.check.file import CUTOFF, FileCheck, check_training_file
    from wildtool.training.check.trainers import TRAINERS

    wanted = split_values(trainers)
    names = list(TRAINERS) if "all" in wanted else [match_name("trainer", n, TRAINERS) for n in wanted]
    check = FileCheck()
    counter = _counter(tokenizer)
    for found in check_training_file(file, check, trainers=names, cutoff=cutoff or CUTOFF, tokens=counter):
        where = " ".join(single_line(part) for part in (found.where, found.id, found.field) if part)
        print_out(f"{where}: {single_line(found.rule)}: {single_line(found.message, 1000)}")
    for one in _duplicates(file, duplicates):
        check.levels["warning"] += 1
        print_out(one)
    for name, effects in check.trainers.items():
        trainer = TRAINERS[name]
        counts = ", ".join(f"{effect} {count:,}" for effect, count in effects.items())
        print_err(
            f"{trainer.title} ({trainer.evidence}): {counts or 'nothing to say'} of {counted(check.records, 'record')}"
        )
    if check.unreadable:
        print_err(f"{check.unreadable:,} of {counted(check.rows, 'row')} could not be read")
    kinds = ", ".join(
        counted(count, level) for level, count in sorted(check.levels.items()) if level != "note"
    )
    print_err(f"{file}: {counted(check.records, 'record')}, {kinds or 'no findings'}")
    return int(check.levels["error"] > 0 or (strict and check.levels["warning"] > 0))


def _duplicates(file: Path, level: str | None) -> Iterator[str]:
    """A line for each record that repeats another one."""
    if level is not None:
        from wildtool.training.mix.listing import duplicates_in
        from wildtool.training.mix.store import DEDUPE_LEVELS

        if level not in DEDUPE_LEVELS:
            raise UsageError(unknown_name("kind of duplicates", level, DEDUPE_LEVELS))
        for found in duplicates_in(file, cast("Dedupe", level)):
            index = f" ({found.similarity:.2f})" if found.rule == "near" else ""
            yield f"{single_line(str(file))}:{found.row}: {found.rule} duplicate: of line {found.like}{index}"


def stats_training(file: Path, compare: Path | None, tokenizer: Path | None, *, as_json: bool) -> int:
    """Describes a training file, or two side by side."""
    from wildtool.cli.output.tables import print_grid, print_metrics
    from wildtool.engine.score.formatting import format_counts, format_value
    from wildtool.training.stats import training_stats

    counter = _counter(tokenizer)
    files = [file, *([compare] if compare else [])]
    found = {str(path): training_stats(path, counter) for path in files}
    if as_json:
        tables = {
            name: [asdict(m) for m in (*stats.metrics, *chain.from_iterable(stats.sets.values()))]
            for name, stats in found.items()
        }
        print(json.dumps(tables if compare else next(iter(tables.values())), indent=1))
    elif compare is None:
        print_metrics(found[str(file)].metrics)
        _print_sets("sets", found[str(file)])
    else:
        columns = [{(m.group, m.name): m for m in stats.metrics} for stats in found.values()]
        keys = list(dict.fromkeys(key for column in columns for key in column))
        for group in dict.fromkeys(group for group, _ in keys):
            rows = [
                (name, *(" ".join((format_value(m), format_counts(m))) if (m := c.get((group, name))) else "—"
                         for c in columns))
                for name in (name for other, name in keys if other == group)
            ]  # fmt: skip
            print_grid(group, ["", *(path.name for path in files)], rows)
        for path in files:
            _print_sets(f"sets of {path.name}", found[str(path)])
    unreadable = sum(stats.check.unreadable for stats in found.values())
    if unreadable:
        print_err(f"{counted(unreadable, 'row')} could not be read; see `wildtool data lint`")
    return int(unreadable > 0)


def _print_sets(title: str, stats: "FileStats") -> None:
    """A row for each set of a file, and one for all."""
    from wildtool.cli.output.tables import print_grid
    from wildtool.engine.score.formatting import format_counts, format_value

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


def _counter(tokenizer: Path | None) -> Callable[[str], int] | None:
    if tokenizer is None:
        return None
    from wildtool.training.check.lengths import token_counter

    return token_counter(tokenizer)


FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Training files.", show_default=False)
]
WithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="BENCH|FILE",
        help="Benchmark to compare with, or a file of one or of training data; repeatable (default: all benchmarks whose "
        "data are on this machine).",
    ),
]


def overlap(
    files: FilesArgument,
    benchmarks: WithOption = None,
    remove: Annotated[
        str | None,
        typer.Option(
            metavar="FLAGS", help="Leave out rows with these flags, such as exact,near,long; needs --out."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(*("--out", "-o"), metavar="FILE", help="File for the rows that stay."),
    ] = None,
    data_set: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Layout of the files; auto looks at their keys.")
    ] = "auto",
    as_json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> int:
    """Look for benchmark questions and gold calls in training files.

    \b
    Examples:
      wildtool data overlap train.jsonl --with wild-mini
      wildtool data overlap train.jsonl --with held-out.jsonl --json
      wildtool data overlap train.jsonl --remove exact,near,long -o clean.jsonl

    Compares by words, so a paraphrase or a translation stays unseen: questions with user, reply and system texts, calls
    with calls. With findings that were not removed, the exit status is 1.
    """
    from wildtool.training.files import check_readable
    from wildtool.training.overlap.clean import write_clean
    from wildtool.training.overlap.search import FLAGS, REMOVED_FLAGS, WORST_PAIRS

    flags = split_values([remove]) if remove is not None else ()
    for flag in flags:
        if flag not in FLAGS:
            raise UsageError(unknown_name("flag", flag, FLAGS))
    if bool(flags) != (out is not None):
        raise UsageError(
            f"--remove and --out go together, such as: --remove {','.join(REMOVED_FLAGS)} -o clean.jsonl"
        )
    check_readable(files)
    search = load_search(benchmarks, keep=inf if as_json else WORST_PAIRS)
    complain = CappedMessages()
    result = write_clean(files, search, flags, out, data_set=data_set, force=force, complain=complain)
    complain.close()
    if as_json:
        print(json.dumps(result.as_json(), indent=1, ensure_ascii=False))
    else:
        _print_overlap(result.search)
    if out is not None:
        print_err(f"{out}: {result.written:,} of {counted(result.rows, 'row')}; {result.removed:,} removed")
    if result.unreadable:
        print_err(f"{result.unreadable:,} of {counted(result.rows, 'row')} could not be read or compared")
    return int(result.left > 0 or result.unreadable > 0)


@step_line()
def load_search(names: list[str] | None, keep: float = 10) -> "OverlapSearch":
    """What `--with` names, or all benchmarks whose data are here, ready to be looked for.

    Args:
        keep: pairs of each to keep, the worst ones.
    """
    from wildtool.training.overlap.benchmark import benchmark_items, benchmarks_here
    from wildtool.training.overlap.search import OverlapSearch

    search = OverlapSearch(keep)
    if names is not None:
        for name, items in [_items_of(name) for name in dict.fromkeys(split_values(names))]:
            show_step(f"reading {name}")
            search.add(name, items)
        return search
    found, absent = benchmarks_here()
    if absent:
        print_err(f"not compared with, since their data are not on this machine: {', '.join(absent)}")
    for benchmark, source in found:
        show_step(f"reading {benchmark.name}")
        search.add(benchmark.name, benchmark_items(benchmark, source))
    return search


def _items_of(name: str) -> "tuple[str, Iterator[BenchmarkItem]]":
    """The items of a benchmark, of a file of one, or of a training file, and what they are called."""
    from wildtool.engine.detect import detect_benchmark
    from wildtool.engine.registry import benchmark_names, load_benchmark
    from wildtool.training.overlap.benchmark import benchmark_items, file_items

    if name in benchmark_names() or not Path(name).exists():
        if Path(name).suffix or "/" in name:
            raise DataError(f"{name}: there is no such file")
        benchmark = load_benchmark(name)
        return name, benchmark_items(benchmark, benchmark.locate(None))
    if file := training_file(name, None):
        return name, file_items(file, print_err)
    benchmark = detect_benchmark(None, name)
    return name, benchmark_items(benchmark, benchmark.locate(name))


def training_file(what: str, benchmark: str | None) -> Path | None:
    """The path of data that are training records; None for a benchmark's. Raises DataError for pipes and devices."""
    from wildtool.engine.detect import detect_benchmark
    from wildtool.engine.registry import benchmark_names
    from wildtool.training.check.rows import looks_like_training
    from wildtool.training.files import check_regular_file

    if what in benchmark_names():
        return None
    check_regular_file(Path(what))
    found = looks_like_training(Path(what)) if benchmark is None else benchmark == TRAINING
    if found is None:
        try:
            detect_benchmark(None, what)
        except UsageError:
            found = True
    return Path(what) if found else None


_PARTS = {"user": "a user text", "reply": "a reply", "system": "a system text"}


def _print_overlap(search: "OverlapSearch") -> None:
    from wildtool.cli.output.tables import print_grid
    from wildtool.training.overlap.search import FLAGS

    rows = [
        (
            result.benchmark,
            *(str(sum(flag == found for found in result.touched.values())) for flag in FLAGS),
            f"{len(result.touched)} of {result.items}",
            str(result.rows.total()),
            f"{len(result.seen_tools)} of {result.tools}",
        )
        for result in search.results
    ]
    print_grid("items found in training", ["", *FLAGS, "touched", "rows", "seen tools"], rows)
    for result in search.results:
        for pair in result.pairs():
            kind = "call" if pair.kind == "call" else f"user text in {_PARTS[pair.part]}"
            numbers = f"share8 {pair.share8:.2f}, jaccard5 {pair.jaccard5:.2f}"
            print_out()
            print_out(
                f"{pair.flag}: {single_line(pair.benchmark)} {single_line(pair.item)}, {kind} ({numbers})"
            )
            print_out(f"  {single_line(pair.benchmark_text, 2000)}")
            print_out(f"  {single_line(pair.place)}: {single_line(pair.training_text, 2000)}")
    short = sum(result.short for result in search.results)
    if short:
        print_wrapped(f"Not looked for: {counted(short, 'text')} of one or two words, such as “Yes”.")
    print_wrapped("Paraphrases, translations, and what a model saw before this training stay unseen.")
