"""`wildtool data overlap`: looks for benchmark items in training files."""

import json
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.api.values import split_values
from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.data.commands.files import training_file
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.steps import show_step, step_line
from wildtool.terminal import CappedMessages, print_err, print_out, print_wrapped, single_line

if TYPE_CHECKING:
    from wildtool_data.prepare.overlap.benchmark import BenchmarkItem
    from wildtool_data.prepare.overlap.search import OverlapSearch


FILES_ARGUMENT = arg("FILE…", "Training files.", show_default=False)
WITH_OPTION = opt(
    "--with BENCH|FILE",
    "Benchmark to compare with, or a file of one or of training data; repeatable (default: all benchmarks whose "
    "data are on this machine).",
)


def overlap(
    files: list[Path] = FILES_ARGUMENT,
    benchmarks: list[str] | None = WITH_OPTION,
    remove: str | None = opt(
        "FLAGS", "Leave out rows with these flags, such as exact,near,long; needs --out."
    ),
    out: Path | None = opt("-o FILE", "File for the rows that stay."),
    data_set: str = opt("--from NAME", "Layout of the files; auto looks at their keys.", default="auto"),
    runs: list[Path] | None = opt(
        "RUN",
        "Show the score of this run on tools of the files, near ones and others, and nothing else; repeatable.",
    ),
    profile: str | None = options.PROFILE_OPTION,
    as_json: bool = options.JSON_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Look for benchmark questions and gold calls in training files.

    \b
    Examples:
      wildtool data overlap train.jsonl --with wild-mini
      wildtool data overlap train.jsonl --with held-out.jsonl --json
      wildtool data overlap train.jsonl --remove exact,near,long -o clean.jsonl
      wildtool data overlap train.jsonl --runs runs/wild-mini

    Compares by words, so a paraphrase or a translation stays unseen: questions with user, reply and system texts, calls
    with calls. With findings that were not removed, the exit status is 1.
    """
    from wildtool.engine.registry import names_benchmark
    from wildtool.training.files import check_readable
    from wildtool_data.prepare.overlap.clean import write_clean
    from wildtool_data.prepare.overlap.search import FLAGS, REMOVED_FLAGS, WORST_PAIRS

    flags = split_values([remove]) if remove is not None else ()
    for flag in flags:
        if flag not in FLAGS:
            raise UsageError(unknown_name("flag", flag, FLAGS))
    if bool(flags) != (out is not None):
        raise UsageError(
            f"--remove and --out go together, such as: --remove {','.join(REMOVED_FLAGS)} -o clean.jsonl"
        )
    for name in map(str, files):
        if names_benchmark(name):
            raise UsageError(f"{name} is a benchmark and no training file; to compare with it: --with {name}")
    check_readable(files)
    if runs:
        if benchmarks or flags:
            raise UsageError(
                "--runs shows scores by tools, and takes neither --with nor --remove; leave these out"
            )
        return _print_scores_by_tools(files, runs, data_set, profile, as_json=as_json)
    if profile is not None:
        raise UsageError("--profile is about the scores of --runs; give runs, or leave it out")
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


def _print_scores_by_tools(
    files: list[Path], runs: list[Path], data_set: str, profile: str | None, *, as_json: bool
) -> int:
    from dataclasses import asdict

    from wildtool.engine.score.results import run_folders
    from wildtool.steps import with_steps
    from wildtool.terminal.tables import print_metrics
    from wildtool.training.reading import rows_with_records
    from wildtool.training.record import RejectedRow
    from wildtool_data.prepare.overlap.tool_scores import UNKNOWN, TrainedTools, scores_by_tools

    trained, unreadable = TrainedTools(), 0
    for path in files:
        rows = rows_with_records(path, data_set)
        for _, record in with_steps(f"reading {path}", rows, lambda pair: pair[0].number):
            if isinstance(record, RejectedRow):
                unreadable += 1
            else:
                trained.add(record)
    metrics = [
        metric
        for place in runs
        for folder in run_folders(place)
        for metric in scores_by_tools(folder, trained, profile)
    ]
    if as_json:
        print(json.dumps([asdict(metric) for metric in metrics], indent=1))
    else:
        print_metrics(metrics)
        print_wrapped(f"{counted(len(trained.signatures), 'tool')} in training. {_CLASSES}")
    if any(metric.name == UNKNOWN for metric in metrics):
        print_err(f"{UNKNOWN}: in these units no request defines the tools of the gold calls")
    if unreadable:
        print_err(f"{counted(unreadable, 'row')} could not be read")
    return int(unreadable > 0)


_CLASSES = (
    "Seen: the same name and parameters; near: the same words in the name, or nearly the same description. A unit counts "
    "where its least known tool does. The units of the rows differ, and perhaps their difficulty: "
    "run a model without this training on them, too."
)


@step_line()
def load_search(names: list[str] | None, keep: float = 10) -> "OverlapSearch":
    """What `--with` names, or all benchmarks whose data are here, ready to be looked for.

    Args:
        keep: pairs of each to keep, the worst ones.
    """
    from wildtool_data.prepare.overlap.benchmark import benchmark_items, benchmarks_here
    from wildtool_data.prepare.overlap.search import OverlapSearch

    search = OverlapSearch(keep)
    if names is not None:
        for name, items in [_items_of(name) for name in dict.fromkeys(split_values(names))]:
            show_step(f"reading {name}")
            search.add(name, items)
        return search
    present, absent = benchmarks_here()
    if absent:
        print_err(f"not compared with, since their data are not on this machine: {', '.join(absent)}")
    for benchmark, source in present:
        show_step(f"reading {benchmark.name}")
        search.add(benchmark.name, benchmark_items(benchmark, source))
    return search


def _items_of(name: str) -> "tuple[str, Iterator[BenchmarkItem]]":
    """The items of a benchmark, of a file of one, or of a training file, and what they are called."""
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import detect_benchmark, load_benchmark, names_benchmark
    from wildtool_data.prepare.overlap.benchmark import benchmark_items, file_items

    if names_benchmark(name) or not Path(name).exists():
        if not names_benchmark(name) and (Path(name).suffix or "/" in name):
            raise DataError(f"{name}: there is no such file")
        benchmark = load_benchmark(name)
        return name, benchmark_items(benchmark, data_of(benchmark).locate(None))
    if file := training_file(name, None):
        return name, file_items(file, print_err)
    benchmark = detect_benchmark(None, name)
    return name, benchmark_items(benchmark, data_of(benchmark).locate(name))


_PARTS = {"user": "a user text", "reply": "a reply", "system": "a system text"}


def _print_overlap(search: "OverlapSearch") -> None:
    from wildtool.terminal.tables import print_grid
    from wildtool_data.prepare.overlap.search import FLAGS

    rows = [
        (
            result.benchmark,
            *(str(sum(flag == worst for worst in result.touched.values())) for flag in FLAGS),
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
