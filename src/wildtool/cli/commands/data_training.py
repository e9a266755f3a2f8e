"""The verbs of `wildtool data` for training files."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wildtool.cli.command import split_values
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import CappedMessages, ellipsize, print_err, print_out, print_wrapped, single_line
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, match_name, unknown_name
from wildtool.steps import show_step, step_line

if TYPE_CHECKING:
    from wildtool.training.mix.mix import MixPlan, MixSet
    from wildtool.training.overlap.search import OverlapSearch
    from wildtool.training.stats import FileStats

TRAINING = "training"
"""What `--benchmark` says for training files."""
"""Rows after which progress is shown."""


def is_training(what: str, benchmark: str | None) -> bool | None:
    """Whether data are a training file; None where only a benchmark's reader can tell."""
    if benchmark is not None:
        return benchmark == TRAINING
    from wildtool.training.check.rows import looks_like_training

    return looks_like_training(Path(what))


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
        where = " ".join(single_line(part) for part in (found.place, found.id, found.field) if part)
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
        for found in duplicates_in(file, level):
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
        metavar="BENCH",
        help="Benchmark to compare with; repeatable (default: all whose data are on this machine).",
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
      wildtool data overlap train.jsonl --remove exact,near,long -o clean.jsonl

    Compares user texts and calls by their words, so a paraphrase or a translation stays unseen. With findings that were
    not removed, the exit status is 1.
    """
    from wildtool.training.files import check_readable
    from wildtool.training.overlap.clean import write_clean
    from wildtool.training.overlap.search import FLAGS, REMOVED_FLAGS

    flags = split_values([remove]) if remove is not None else ()
    for flag in flags:
        if flag not in FLAGS:
            raise UsageError(unknown_name("flag", flag, FLAGS))
    if bool(flags) != (out is not None):
        raise UsageError(
            f"--remove and --out go together, such as: --remove {','.join(REMOVED_FLAGS)} -o clean.jsonl"
        )
    check_readable(files)
    search = load_search(benchmarks)
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
def load_search(names: list[str] | None) -> "OverlapSearch":
    """The benchmarks of `--with`, or all whose data are here, ready to be looked for."""
    from wildtool.engine.registry import load_benchmark
    from wildtool.training.overlap.benchmark import benchmark_items, benchmarks_here
    from wildtool.training.overlap.search import OverlapSearch

    chosen = [load_benchmark(name) for name in split_values(names)]
    if names is None:
        found, absent = benchmarks_here()
        if absent:
            print_err(f"not compared with, since their data are not on this machine: {', '.join(absent)}")
    else:
        found = [(benchmark, benchmark.locate(None)) for benchmark in chosen]
    search = OverlapSearch()
    for benchmark, source in found:
        show_step(f"reading {benchmark.name}")
        search.add(benchmark.name, benchmark_items(benchmark, source))
    return search


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
            kind = "user text" if pair.kind == "user" else "call"
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


def mix(
    sets: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=FILE[:WEIGHT]…", help="Sets to mix, each with its name.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder to write.")
    ] = None,
    total: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows in all splits together (default: all).")
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="NAME", help="Shares of the sets: size, sqrt, temperature=T or weights."),
    ] = "size",
    cap: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="Maximum rows of a set; N alone: of every set; repeatable."),
    ] = None,
    dedupe: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="Remove duplicates: exact, prompt (first request and tools) or near."
        ),
    ] = None,
    similar: Annotated[
        float,
        typer.Option(min=0.5, max=1.0, metavar="X", help="Least similarity of near duplicates."),
    ] = 0.8,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a line for each duplicate that was removed.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=SHARE,…", help="Splits, such as train=0.9,val=0.1 (default: train alone)."
        ),
    ] = None,
    group_by: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What stays in one split: near duplicates (near), or equal tools (tools)."
        ),
    ] = "near",
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same bytes.")] = "1",
    repeat: Annotated[
        bool, typer.Option("--repeat", help="Repeat sets that have too few rows, at most four times.")
    ] = False,
    benchmarks: WithOption = None,
    no_overlap_check: Annotated[
        bool, typer.Option("--no-overlap-check", help="Do not look for benchmark items in the sets.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 if any row was rejected.")] = False,
    force: options.ForceOption = False,
) -> int:
    """Mix training files into splits, without benchmark items.

    \b
    Examples:
      wildtool data mix a=a.jsonl b=b.jsonl --dedupe near -o mix
      wildtool data mix a=a.jsonl b=b.jsonl --by sqrt --total 20000 -o mix
      wildtool data mix a=a.jsonl b=b.jsonl --split train=0.95,val=0.05 -o mix
      wildtool data mix a=a.jsonl:3 b=b.jsonl:1 --by weights --total 1000 -o mix

    Leaves out faulty rows, benchmark items and, with --dedupe, duplicates; then splits, draws and shuffles. Writes a file
    per split, mix.json with the counts and digests, and rejects.jsonl. A smaller --total gives a part of a larger one
    with the same seed.
    """
    from wildtool.training.families import shared_families
    from wildtool.training.files import check_readable
    from wildtool.training.mix.mix import write_mix

    if out is None:
        raise UsageError("give the folder to write: --out mix")
    scheme, temperature = _scheme(by)
    plan = _plan(
        sets=_sets(sets, split_values(cap)),
        total=total,
        by=scheme,
        temperature=temperature,
        dedupe=dedupe,
        similar=similar,
        splits=_splits(split),
        group_by=group_by,
        seed=seed,
        repeat=repeat,
    )
    families = shared_families(word for one in plan.sets for word in (one.name, one.path.name))
    for family, members in families.items():
        if dedupe is None:
            print_err(f"{' and '.join(members)} are partly the same data ({family}); add --dedupe near")
    check_readable(one.path for one in plan.sets)
    search = None if no_overlap_check else load_search(benchmarks)
    result = write_mix(plan, out, search=search, audit=audit, force=force)
    _print_mix(result.counts)
    for note in result.notes:
        print_err(note)
    for name, count in result.files.items():
        print_out(f"{out / name}: {counted(count, 'row')}")
    rejected = sum(found.rejected.total() for found in result.counts.values())
    if rejected:
        rows = sum(found.rows for found in result.counts.values())
        print_err(f"left out: {rejected:,} of {counted(rows, 'row')}: see {out / 'rejects.jsonl'}")
    return int(strict and rejected > 0)


def _scheme(text: str) -> tuple[str, float]:
    """The name of a scheme of shares, and its temperature."""
    name, equals, number = text.partition("=")
    if name == "temperature":
        return name, _number(number, "--by temperature=2")
    return name + equals + number, 2.0 if name == "sqrt" else 1.0


def _plan(**given: Any) -> "MixPlan":
    from typing import get_args

    from wildtool.training.mix.mix import MixPlan, Scheme
    from wildtool.training.mix.store import Dedupe, GroupBy

    for name, kind in (("by", Scheme), ("dedupe", Dedupe), ("group_by", GroupBy)):
        known = get_args(kind)
        if given[name] is not None and given[name] not in known:
            raise UsageError(unknown_name(f"value of --{name.replace('_', '-')}", given[name], known))
    return MixPlan(**given)


def _sets(texts: list[str], caps: tuple[str, ...]) -> "tuple[MixSet, ...]":
    from wildtool.training.mix.mix import MixSet

    limits: dict[str, int] = {}
    for text in caps:
        name, _, number = text.rpartition("=")
        limits[name] = int(_number(number, "--cap xlam=5000"))
    found: list[MixSet] = []
    for text in texts:
        name, equals, place = text.partition("=")
        if not equals or not name or not place:
            raise UsageError(f"{text}: give each set as NAME=FILE, such as xlam={text}")
        path, colon, weight = place.rpartition(":")
        if colon and not Path(place).exists():
            found.append(
                MixSet(
                    name, Path(path), _number(weight, "xlam=xlam.jsonl:2"), limits.get(name, limits.get(""))
                )
            )
        else:
            found.append(MixSet(name, Path(place), 1.0, limits.get(name, limits.get(""))))
    names = [one.name for one in found]
    for name in limits:
        if name and name not in names:
            raise UsageError(unknown_name("set", name, names))
    return tuple(found)


def _splits(text: str | None) -> tuple[tuple[str, float], ...]:
    if text is None:
        return (("train", 1.0),)
    found: list[tuple[str, float]] = []
    for part in split_values([text]):
        name, _, share = part.partition("=")
        if not name.replace("_", "").replace("-", "").isalnum():
            raise UsageError(f"--split: {name!r} cannot be the name of a file; use letters, digits, - and _")
        found.append((name, _number(share, "--split train=0.95,val=0.05")))
    return tuple(found)


def _number(text: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number; example: {example}") from None


def _print_mix(counts: Any) -> None:
    from wildtool.cli.output.tables import print_grid

    heads = ["", "rows", "rejected", "overlap", "duplicates", "left", "drawn"]
    rows = [
        (
            name,
            *(str(n) for n in (found.rows, found.rejected.total(), found.overlap.total())),
            *(str(n) for n in (found.duplicates.total(), found.available, found.drawn)),
        )
        for name, found in counts.items()
    ]
    print_grid("sets", heads, rows)
