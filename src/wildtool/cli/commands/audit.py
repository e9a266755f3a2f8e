"""`wildtool audit`: the score of the gold answers, whether a profile catches mistakes in them, and hints made of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from wildtool.blame.commands import BlameOptions, blame
from wildtool.cli.command import arg, declared, opt
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.asking import AskOptions, check_untyped
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import DataError, UsageError
from wildtool.installed import own_offer
from wildtool.judges.commands.options import JudgeOptions
from wildtool.terminal import print_err, print_wrapped, single_line

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.engine.score.audit import Audit
    from wildtool.table import Cell
    from wildtool.types import Source

TOTAL = "all kinds"
MAX_GOLD_LINES = 200
"""Maximum number of rejected gold answers that are listed."""
MAX_SINGLE_LINES = 5
"""Rejected gold answers that are listed one by one if one known fault is behind them; more share a line."""


@declared
class AuditOptions:
    """What to audit, and how."""

    benchmark: str = arg(
        "BENCH|RUN",
        "Benchmark, see `wildtool list`; or a Python file that defines one. With --blame: a run.",
        complete=completion.benchmarks,
    )
    data: str | None = options.DATA_OPTION
    mode: str | None = options.MODE_OPTION
    profile: str | None = options.PROFILE_OPTION
    lang: str | None = options.LANG_OPTION
    split: str | None = options.SPLIT_OPTION
    every: bool = opt("--all -a", "Show all numbers, not only the main ones.")
    reward: bool = opt(
        "Audit what training gets instead: each component of the reward, and policies without the ability."
    )
    hints: Literal["gold"] | None = opt(
        "Make hints for `run --hints` instead: facts of earlier turns that the gold answers need."
    )
    out: Path | None = opt(
        "-o PATH",
        "With --hints: file for the hints. With --judge: folder for cases and runs. With --blame: folder for the plays.",
    )
    force: bool = opt("With --out: replace or write into what wildtool did not make.")
    as_json: bool = options.JSON_OPTION
    strict: bool = opt("Exit status 1 unless all gold answers pass and every mistake is caught.")


def audit(
    chosen_options: AuditOptions,
    judge_options: JudgeOptions,
    blame_options: BlameOptions,
    ask_options: AskOptions,
    context: typer.Context,
) -> int:
    """Check the scorer: score gold answers, with and without mistakes.

    \b
    Examples:
      wildtool audit wild-mini
      wildtool audit wild-mini --profile fixed --strict
      wildtool audit wild-mini --reward --profile fixed
      wildtool audit wild-mini --hints gold -o hints.jsonl
      wildtool audit wild-mini --judge gpt-4o --style score --require tn:0.9
      wildtool audit acebench --judge gpt-4o --prompt judge.txt --reference
      wildtool audit wild-mini --judge my_judge.py:judge --passed 360/500
      wildtool audit runs/acebench/gpt-4o --blame --dry-run

    The gold ceiling is the best score a model can reach under a profile. The kill rate is the share of corrupted gold
    answers that the profile catches. Without --profile, all profiles are audited.

    How far hints lead: make them from the gold answers, then run with and without them, and compare.

    With --judge, a judge is audited instead: it is asked about right and wrong trajectories whose labels are known, and
    the table says how often it is right, by kind of mistake, and what a score of it means (docs/judges.md).
    --blame says whose fault the failed units of a run were: the model's, or its user's, its tools', its endpoint's, or
    the gold answers'. It plays them again with one party replaced by what is known to be right.
    """
    if not blame_options.blame and not judge_options.judge:
        check_untyped(context, AskOptions, "--judge or --blame: nobody else is asked anything")
    if not judge_options.judge:
        check_untyped(context, JudgeOptions, "--judge")
    if blame_options.blame:
        _check_alone(chosen_options, ask_options, judge_options)
        return blame(
            chosen_options.benchmark,
            blame_options,
            ask_options,
            out=chosen_options.out,
            data=chosen_options.data,
            profile=chosen_options.profile,
            as_json=chosen_options.as_json,
            force=chosen_options.force,
        )
    from wildtool.cli.output.results import print_faults
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import load_benchmark
    from wildtool.engine.score.audit import audit_profile as audited

    benchmark = load_benchmark(chosen_options.benchmark, chosen_options.mode)
    source = data_of(benchmark).locate(chosen_options.data, chosen_options.split)
    if chosen_options.reward and chosen_options.hints is not None:
        raise UsageError("--reward audits and --hints writes a file: give one of them")
    if judge_options.judge:
        return _audit_judges(benchmark, source, chosen_options, judge_options, ask_options, context)
    if chosen_options.hints is not None:
        return _write_hints(benchmark, source, chosen_options)
    if chosen_options.out is not None or chosen_options.force:
        raise UsageError(
            "--out and --force need --hints gold, --judge NAME or --blame: the audit of a scorer writes nothing"
        )
    profiles = [chosen_options.profile] if chosen_options.profile else list(benchmark.profiles)
    if chosen_options.reward:
        is_sound = own_offer("wildtool.audits", "reward", "train", "`wildtool audit --reward`")(
            benchmark,
            source,
            profiles,
            split=chosen_options.split,
            lang=chosen_options.lang,
            as_json=chosen_options.as_json,
            every=chosen_options.every,
        )
        return 1 if chosen_options.strict and not is_sound else 0
    audits = [
        audited(benchmark, source, rules, split=chosen_options.split, lang=chosen_options.lang)
        for rules in profiles
    ]
    if chosen_options.as_json:
        print(json.dumps([asdict(result) for result in audits], indent=1))
    else:
        _print(audits, every=chosen_options.every)
    faults = [fault for result in audits for fault in result.faults]
    print_faults("", faults)
    return 1 if faults or (chosen_options.strict and not all(result.passed for result in audits)) else 0


def _audit_judges(
    benchmark: "Benchmark",
    source: "Source",
    chosen_options: AuditOptions,
    judge_options: JudgeOptions,
    ask_options: AskOptions,
    context: typer.Context,
) -> int:
    """Asks judges about cases of a benchmark. Gives the exit status."""
    from wildtool.judges.commands.play import audit_judges

    if chosen_options.hints is not None or chosen_options.reward or chosen_options.strict:
        raise UsageError("--judge audits a judge; leave out --hints, --reward and --strict")
    return audit_judges(
        benchmark,
        source,
        judge_options,
        ask_options,
        explicit_options(context),
        split=chosen_options.split,
        lang=chosen_options.lang,
        profile=chosen_options.profile,
        out=chosen_options.out,
        force=chosen_options.force,
        as_json=chosen_options.as_json,
        every=chosen_options.every,
    )


def _check_alone(its: AuditOptions, asked: AskOptions, of_judges: JudgeOptions) -> None:
    """Raises UsageError for what an audit of a run cannot have: what it plays again is what the run says."""
    of_benchmarks = {
        "--judge": of_judges.judge,
        "--temperature": asked.temperature,
        "--max-tokens": asked.max_tokens,
        "--mode": its.mode,
        "--lang": its.lang,
        "--split": its.split,
        "--all": its.every,
        "--reward": its.reward,
        "--hints": its.hints,
        "--strict": its.strict,
    }
    for option, value in of_benchmarks.items():
        if value is not None and value is not False:
            raise UsageError(
                f"give --blame or {option}, not both: the run says what it was and --sample what is tried"
            )


def _write_hints(benchmark: "Benchmark", source: "Source", chosen_options: AuditOptions) -> int:
    """Writes hints made from the gold answers, and says how many units need any."""
    from wildtool.alter.hints.gold_hints import gold_hints, hint_line
    from wildtool.engine.plan import Selection, check_profile
    from wildtool.engine.score.formatting import counted
    from wildtool.json_codec import dumps
    from wildtool.outputs import atomic_replace, check_absent

    out = chosen_options.out
    if out is None:
        raise UsageError("name the file for the hints: --out hints.jsonl")
    rules = chosen_options.profile or next(iter(benchmark.profiles))
    check_profile(benchmark, rules)
    check_absent(out, force=chosen_options.force)
    split, lang = chosen_options.split, chosen_options.lang
    items = Selection(benchmark=benchmark, source=source, split=split, lang=lang).read()
    hints = [hint for item in items for hint in gold_hints(benchmark, item, rules)]
    if not hints:
        raise DataError(
            f"{benchmark.name}: in mode {benchmark.mode} (of {', '.join(benchmark.modes)}) no gold answer needs a fact of"
            " an earlier turn, so there is nothing to hint at"
        )
    with atomic_replace(out) as new:
        new.write_bytes(b"".join(dumps(hint_line(hint)) + b"\n" for hint in hints))
    hinted = {(hint.item, hint.unit) for hint in hints}
    kinds = {kind: sum(hint.kind == kind for hint in hints) for kind in sorted({h.kind for h in hints})}
    units = items.units
    if chosen_options.as_json:
        counts = {"hints": len(hints), "kinds": kinds, "units_with_hints": len(hinted), "units": units}
        print(json.dumps({"out": str(out), **counts}, indent=1))
        return 0
    totals = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
    print_wrapped(
        f"{out}: {counted(len(hints), 'hint')} ({totals}) for {len(hinted):,} of {counted(units, 'unit')}"
    )
    print_err(
        f"Next: `wildtool run {benchmark.name} --hints {out}` beside a run without, then `wildtool compare`; with"
        f" `--hints shuffled:{out}` as the control."
    )
    return 0


def _print(audits: "Sequence[Audit]", *, every: bool) -> None:
    _print_ceilings(audits, every=every)
    _print_wrong_gold(audits)
    _print_kills(audits, every=every)
    for result in audits:
        for group in result.survivors:
            place = f"{single_line(group.item)}, unit {single_line(group.unit)}"
            example = f"{group.kind} in {place}: {single_line(group.note)}"
            reason = single_line(group.why, 500) or "no explanation"
            print_wrapped(f"{result.profile} misses {group.count}: {reason}; for example {example}")


def _print_ceilings(audits: "Sequence[Audit]", *, every: bool) -> None:
    from wildtool.table import cell_of
    from wildtool.terminal.tables import print_grid, shared_sample_size

    columns = [(result.profile, ceiling) for result in audits for ceiling in result.ceilings]
    main = {m.name for _, ceiling in columns for m in ceiling.metrics if m.headline}
    # A part of the data where gold falls short is shown too: the mean of all hides how far.
    short = {
        (m.group, m.name)
        for _, ceiling in columns
        for m in ceiling.metrics
        if m.name in main and m.value is not None and m.value < 1
    }
    rates = [
        {
            (m.group, m.name): cell_of(m)
            for m in ceiling.metrics
            if m.kind == "rate"
            and m.denominator
            and (m.headline or every or not main or (m.group, m.name) in short)
        }
        for _, ceiling in columns
    ]
    rows: list[list[str]] = []
    for key in dict.fromkeys(key for shares in rates for key in shares):
        cells = [shares.get(key) for shares in rates]
        size = shared_sample_size(cells) if len(columns) > 1 else ""
        rows.append([f"{key[0]}: {key[1]}", size, *(_ceiling(cell, counts=not size) for cell in cells)])
    heads = ["", "", *(f"{profile}\n{ceiling.style}" for profile, ceiling in columns)]
    print_grid("gold ceiling", heads, rows, sentences=[0], keys=2)


def _ceiling(cell: "Cell | None", *, counts: bool) -> str:
    if cell is None:
        return ""
    return f"{cell.value}  {cell.counts}" if counts else cell.value


def _print_wrong_gold(audits: "Sequence[Audit]") -> None:
    groups: dict[tuple[str, str, str], dict[str, str]] = {}
    for result in audits:
        for gold in result.wrong_gold:
            place = f"{single_line(gold.item)} unit {single_line(gold.unit)}"
            # A known fault behind many answers is stated once; other answers each have their reason.
            group = groups.setdefault((result.profile, gold.error or "not correct", gold.why or place), {})
            group.setdefault(place, single_line(gold.why or gold.reason, 500))
    lines: list[str] = []
    for (profile, error, _), places in groups.items():
        scored = f"scored {single_line(error)}: {next(iter(places.values()))}"
        if len(places) > MAX_SINGLE_LINES:
            lines.append(
                f"{profile}: {len(places)} gold answers, the first of {next(iter(places))}, are {scored}"
            )
        else:
            lines += (f"{profile}: gold answer of {place} is {scored}" for place in places)
    for line in islice(lines, MAX_GOLD_LINES):
        print_wrapped(line)
    if len(lines) > MAX_GOLD_LINES:
        print_wrapped(f"… and {len(lines) - MAX_GOLD_LINES} more; --json lists all")


def _print_kills(audits: "Sequence[Audit]", *, every: bool) -> None:
    from wildtool.engine.score.formatting import counted
    from wildtool.terminal.tables import print_grid

    caught = [{kills.kind: (kills.killed, kills.mutants) for kills in result.kills} for result in audits]
    kinds = list(dict.fromkeys(kind for counts in caught for kind in counts))
    for counts in caught:
        counts[TOTAL] = (sum(n for n, _ in counts.values()), sum(n for _, n in counts.values()))
    cells = [
        kind
        for kind in kinds
        if every or any(n < of for n, of in (its[kind] for its in caught if kind in its))
    ]
    rows: list[list[str]] = []
    for kind in (TOTAL, *cells):
        shares = [counts.get(kind, (0, 0)) for counts in caught]
        sizes = {of for _, of in shares}
        size = f"n = {sizes.pop():,}" if len(sizes) == 1 < len(audits) else ""
        rows.append([kind, size, *(_share(*share, counts=not size) for share in shares)])
    heads = ["mistake", "", *(result.profile for result in audits)]
    print_grid("corrupted gold answers caught (kill rate)", heads, rows, keys=2)
    if len(cells) < len(kinds):
        print_wrapped(
            f"Always caught: {counted(len(kinds) - len(cells), 'kind')} of mistakes; list them with --all."
        )


def _share(caught: int, mutants: int, *, counts: bool) -> str:
    if not mutants:
        return ""
    return f"{100 * caught / mutants:.1f} %" + (f"  {caught:,}/{mutants:,}" if counts else "")
