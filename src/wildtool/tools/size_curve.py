"""Accuracy against the number of tools, from runs that differ in nothing else."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wildtool.alter.distractors.distractors import Distractors
from wildtool.engine.call.budget import price_of, read_prices
from wildtool.engine.compare.comparison import accuracy_of, paired_runs
from wildtool.engine.compare.leaderboard import trust_line
from wildtool.engine.compare.load import check_comparable
from wildtool.engine.compare.pairs import PairedUnits
from wildtool.engine.compare.runs import ComparedRun, agent_settings, load_compared_run
from wildtool.engine.compare.side_scores import Accuracy
from wildtool.engine.record.run_folder import read_run, setting_diffs
from wildtool.engine.score.results import open_results, run_folders
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError
from wildtool.stats.tests import holm
from wildtool.tools.breaks import Break, find_break
from wildtool.types import Metric


@dataclass(frozen=True, slots=True)
class UnitUsage:
    """What the model under test used for a unit, over the units that have tokens: a failed call has none."""

    units: int
    tokens: float | None
    """Of prompt and reply; None where none were reported."""
    cost: float | None
    """USD by list price; None where tokens or price are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePoint:
    """The run of one size."""

    size: int
    folder: Path
    accuracy: Accuracy
    units: int
    without_verdict: int
    """Units whose calls failed or that were not run; they count as wrong."""
    pairs: PairedUnits | None
    """Against the smallest size; None for that one."""
    p: float | None
    """Of that difference, after Holm's method over the sizes of the series."""
    distractors: Metric | None
    """Share of units that called a distractor."""
    recall: Metric | None
    """Of the retriever; None without one."""
    used: UnitUsage
    tries: int
    """Units with all their repeats."""
    trust: str
    """What came between the model and these numbers; empty for nothing."""


@dataclass(frozen=True, slots=True)
class SizeSeries:
    """One model under one setting, with the sizes in rising order."""

    title: str
    label: str
    """Model and setting alone, for legends."""
    points: tuple[SizePoint, ...]
    place: Break


def size_series(
    paths: Sequence[Path], profile: str | None = None, prices: Path | None = None
) -> list[SizeSeries]:
    """The series among some runs, in the order of their first.

    Raises UsageError where none has tools among others, a number is there twice, or runs of a series are incomplete or of
    other data; RecordError for a damaged run.
    """
    groups: dict[tuple[str, str, str], list[tuple[Distractors, ComparedRun, UnitUsage]]] = defaultdict(list)
    price_list = read_prices(prices)
    for folder in dict.fromkeys(folder for path in paths for folder in run_folders(path)):
        with open_results(folder, profile) as (result, table):
            distractors = next((each for each in result.alterations if isinstance(each, Distractors)), None)
            if distractors is None:
                continue
            identity, rows = read_run(folder)["identity"], relation([table])
            side = load_compared_run(f"{distractors.size} tools", result, identity, rows, "unit")
            prompt, reply, units = rows.aggregate(
                "sum(prompt_tokens), sum(completion_tokens), count(prompt_tokens)"
            ).fetchall()[0]
        rest = [each.described for each in result.alterations if each is not distractors]
        # The label without the size.
        setting = "; ".join([distractors.label.partition("(")[2], *rest])
        label = f"{result.model} ({setting}"
        title = f"{result.model} on {result.benchmark}, profile {result.profile}, distractors ({setting}"
        tokens = None if prompt is None else (prompt + (reply or 0)) / units
        agent = identity["models"]["agent"]
        price = price_of((result.model, str(agent.get("settings", {}).get("sent_as"))), price_list)
        usage = {"prompt_tokens": prompt, "completion_tokens": reply or 0}
        cost = None if price is None or tokens is None or distractors.roles else price.cost(usage) / units
        settings = json.dumps(agent_settings(identity), sort_keys=True)
        groups[title, label, settings].append((distractors, side, UnitUsage(units, tokens, cost)))
    if not groups:
        raise UsageError(
            f"{', '.join(map(str, paths))}: no run with tools among others; `wildtool run … --among 10,50` makes some"
        )
    marks = [_differing(key, groups) for key in groups]
    return [
        _series(title + mark, label + mark, sorted(runs, key=lambda run: run[0].size))
        for mark, ((title, label, _), runs) in zip(marks, groups.items(), strict=True)
    ]


def _differing(key: tuple[str, str, str], keys: Iterable[tuple[str, str, str]]) -> str:
    """The settings of a model that tell a series from others of the same title."""
    title, _, settings = key
    others = [json.loads(other) for name, _, other in keys if name == title]
    differing = {
        name: value for other in others for name, value, _ in setting_diffs(json.loads(settings), other)
    }
    return "".join(f"; {name} {value}" for name, value in differing.items())


def _series(title: str, label: str, runs: Sequence[tuple[Distractors, ComparedRun, UnitUsage]]) -> SizeSeries:
    sizes, sides = [run[0].size for run in runs], [run[1] for run in runs]
    if twice := sorted({size for size in sizes if sizes.count(size) > 1}):
        folders = " and ".join(
            str(side.result.folder) for size, side in zip(sizes, sides, strict=True) if size in twice
        )
        raise UsageError(f"{title}: {twice[0]} tools were run twice ({folders}); name one of them")
    check_comparable(sides)
    pairs = [paired_runs(sides[0], side) for side in sides[1:]]
    tests = [1.0 if each is None else each.test()[0] for each in pairs]
    adjusted = holm(tests)
    points: list[SizePoint] = []
    for number, (distractors, side, used) in enumerate(runs):
        accuracy = accuracy_of(side)
        assert accuracy is not None, "a run that can be read has units"
        metrics = {metric.name: metric for metric in side.result.metrics if metric.group == Distractors.kind}
        points.append(
            SizePoint(
                size=distractors.size,
                folder=side.result.folder,
                accuracy=accuracy,
                units=len(side.cells),
                without_verdict=side.without_verdict,
                pairs=pairs[number - 1] if number else None,
                p=adjusted[number - 1] if number else None,
                distractors=metrics.get("called a distractor"),
                recall=metrics.get("retriever recall"),
                used=used,
                tries=side.tries,
                trust=trust_line(f"{distractors.size:,} tools", side.result),
            )
        )
    return SizeSeries(
        title, label, tuple(points), find_break(_sums(sides), sizes, tests[-1] if tests else 1.0)
    )


def _sums(sides: Sequence[ComparedRun]) -> dict[str, list[tuple[float, float]]]:
    """By item right units and units in each run."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for number, side in enumerate(sides):
        for (item, _), cell in side.cells.items():
            row = sums.setdefault(item, [(0.0, 0.0)] * len(sides))
            right, units = row[number]
            weight = side.weights.get(item, 1)
            row[number] = right + weight * cell.right / cell.tries, units + weight
    return sums
