"""Accuracy against the number of tools, from runs that differ in nothing else; and from which number on an exposure pays
beside the same runs with shown tools."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.expose.exposure import Exposure
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
from wildtool.models.token_usage import Price
from wildtool.stats.tests import holm
from wildtool.tools.break_even import BreakEven, break_even
from wildtool.tools.breaks import Break, find_break
from wildtool.types import Metric

ItemSums = Mapping[str, tuple[float, float]]
"""By item an amount, summed over its units, and the number of units."""


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
    """Of `tries`, those whose calls failed or that were not run; they count as wrong."""
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
    right: ItemSums
    """By item the units that are right, and all units."""
    most_right: ItemSums
    """The same with those that have no verdict as right."""
    tokens: ItemSums
    """By item the tokens of prompts and replies, and the units that have any."""


@dataclass(frozen=True, slots=True)
class SizeSeries:
    """One model under one setting, with the sizes in rising order."""

    title: str
    label: str
    """Model and setting alone, for legends."""
    points: tuple[SizePoint, ...]
    place: Break
    exposure: str = ""
    """How the model reached the tools; empty where they were shown."""
    beside: tuple[str, ...] = ()
    """What series have in common that differ in nothing but the exposure."""


@dataclass(frozen=True, slots=True)
class ExposureGain:
    """From how many tools on one exposure pays beside shown tools."""

    title: str
    """Of its series."""
    exposure: str
    accuracy: BreakEven
    """Its interval holds whatever units without a verdict would be."""
    tokens: BreakEven


def size_series(
    paths: Sequence[Path], profile: str | None = None, prices: Path | None = None
) -> list[SizeSeries]:
    """The series among some runs, in the order of their first.

    Raises UsageError where none has tools among others, a number is there twice, or runs of a series are incomplete or of
    other data; RecordError for a damaged run.
    """
    groups: dict[tuple[str, str, str], list[_SizedRun]] = defaultdict(list)
    price_list = read_prices(prices)
    for folder in dict.fromkeys(folder for path in paths for folder in run_folders(path)):
        run = _sized_run(folder, profile, price_list)
        if run is not None:
            setting = _setting(run)
            settings = json.dumps(agent_settings(run.side.identity), sort_keys=True)
            groups[_title(run, setting), f"{run.side.result.model} ({setting}", settings].append(run)
    if not groups:
        raise UsageError(
            f"{', '.join(map(str, paths))}: no run with tools among others; `wildtool run … --among 10,50` makes some"
        )
    marks = [_differing(key, groups) for key in groups]
    series: list[SizeSeries] = []
    for mark, ((title, label, settings), runs) in zip(marks, groups.items(), strict=True):
        by_size = sorted(runs, key=lambda run: run.distractors.size)
        result = runs[0].side.result
        exposures = [each.label for each in result.alterations if isinstance(each, Exposure)]
        plain = _title(runs[0], _setting(runs[0], exposed=False))
        one = _series(title + mark, label + mark, by_size)
        beside = plain, settings, result.data_sha256, str(result.split)
        series.append(replace(one, exposure=", ".join(exposures), beside=beside))
    return series


@dataclass(frozen=True, slots=True)
class _SizedRun:
    """One run of a series."""

    distractors: Distractors
    side: ComparedRun
    used: UnitUsage
    tokens: ItemSums


def _title(run: _SizedRun, setting: str) -> str:
    result = run.side.result
    return f"{result.model} on {result.benchmark}, profile {result.profile}, distractors ({setting}"


def _setting(run: _SizedRun, *, exposed: bool = True) -> str:
    """What runs of a series have in common: the label of the distractors without the size, and other alterations.

    Args: exposed: whether the exposure is among these.
    """
    others = [
        each
        for each in run.side.result.alterations
        if each is not run.distractors and (exposed or not isinstance(each, Exposure))
    ]
    return "; ".join([run.distractors.label.partition("(")[2], *(each.described for each in others)])


def _sized_run(folder: Path, profile: str | None, prices: Mapping[str, Price]) -> _SizedRun | None:
    """A run with tools among others; None for another one."""
    with open_results(folder, profile) as (result, table):
        distractors = next((each for each in result.alterations if isinstance(each, Distractors)), None)
        if distractors is None:
            return None
        identity, rows = read_run(folder)["identity"], relation([table])
        side = load_compared_run(f"{distractors.size} tools", result, identity, rows, "unit")
        complete = rows.filter("prompt_tokens + completion_tokens IS NOT NULL")
        counted = complete.aggregate(
            "item, sum(prompt_tokens), sum(completion_tokens), count(*)", "item"
        ).fetchall()
    prompt, reply, units = (sum(row[place] for row in counted) for place in (1, 2, 3))
    agent = identity["models"]["agent"]
    price = price_of((result.model, str(agent.get("settings", {}).get("sent_as"))), prices)
    usage = {"prompt_tokens": prompt, "completion_tokens": reply}
    tokens = (prompt + reply) / units if units else None
    cost = None if price is None or tokens is None or distractors.roles else price.cost(usage) / units
    by_item_tokens = {row[0]: (float(row[1] + row[2]), float(row[3])) for row in counted}
    return _SizedRun(distractors, side, UnitUsage(units, tokens, cost), by_item_tokens)


def exposure_gains(series: Sequence[SizeSeries]) -> Iterator[ExposureGain]:
    """From how many tools on each exposure pays, where the series with shown tools is among these."""
    shown = {each.beside: each for each in series if not each.exposure}
    for each in series:
        direct = shown.get(each.beside) if each.exposure else None
        if direct is not None:
            pairs = [
                (theirs, mine) for theirs in direct.points for mine in each.points if mine.size == theirs.size
            ]
            sizes = [mine.size for _, mine in pairs]
            tokens = _gains([(theirs.tokens, mine.tokens) for theirs, mine in pairs])
            yield ExposureGain(
                each.title, each.exposure, _accuracy_gain(pairs, sizes), break_even(tokens, sizes)
            )


def _accuracy_gain(pairs: Sequence[tuple[SizePoint, SizePoint]], sizes: Sequence[int]) -> BreakEven:
    """From how many tools on accuracy is higher, in an interval that holds whatever units without a verdict would be.

    Args: pairs: the points with shown tools and under the exposure, by size.
    """
    place = break_even(_gains([(mine.right, theirs.right) for theirs, mine in pairs]), sizes)
    if not any(point.without_verdict for pair in pairs for point in pair):
        return place
    least = break_even(_gains([(mine.right, theirs.most_right) for theirs, mine in pairs]), sizes)
    most = break_even(_gains([(mine.most_right, theirs.right) for theirs, mine in pairs]), sizes)
    return replace(place, low=most.low, high=least.high)


def _gains(pairs: Sequence[tuple[ItemSums, ItemSums]]) -> dict[str, list[tuple[float, float]]]:
    """By item at each size how much more its units have of the first amount than of the second; without items that lack
    one."""
    gains: dict[str, list[tuple[float, float]]] = {}
    whole = [set(amount) for pair in pairs for amount in pair]
    for item in sorted(set[str].intersection(*whole)) if whole else ():
        row: list[tuple[float, float]] = []
        for more, less in pairs:
            (value, units), (other, others) = more[item], less[item]
            row.append((value - units * other / others, units))
        gains[item] = row
    return gains


def _differing(key: tuple[str, str, str], keys: Iterable[tuple[str, str, str]]) -> str:
    """The settings of a model that tell a series from others of the same title."""
    title, _, settings = key
    others = [json.loads(other) for name, _, other in keys if name == title]
    differing = {
        name: value for other in others for name, value, _ in setting_diffs(json.loads(settings), other)
    }
    return "".join(f"; {name} {value}" for name, value in differing.items())


def _series(title: str, label: str, runs: Sequence[_SizedRun]) -> SizeSeries:
    sizes, sides = [run.distractors.size for run in runs], [run.side for run in runs]
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
    for number, run in enumerate(runs):
        distractors, side = run.distractors, run.side
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
                used=run.used,
                tries=side.tries,
                trust=trust_line(f"{distractors.size:,} tools", side.result),
                right=_item_sums(side),
                most_right=_item_sums(side, missing=1),
                tokens=run.tokens,
            )
        )
    return SizeSeries(
        title, label, tuple(points), find_break(_sums(sides), sizes, tests[-1] if tests else 1.0)
    )


def _sums(sides: Sequence[ComparedRun]) -> dict[str, list[tuple[float, float]]]:
    """By item right units and units in each run."""
    by_run = [_item_sums(side) for side in sides]
    items = dict.fromkeys(item for sums in by_run for item in sums)
    return {item: [sums.get(item, (0.0, 0.0)) for sums in by_run] for item in items}


def _item_sums(side: ComparedRun, missing: int = 0) -> dict[str, tuple[float, float]]:
    """By item right units and units. Args: missing: 1 to count tries without a verdict as right."""
    sums: dict[str, tuple[float, float]] = {}
    for (item, _), cell in side.cells.items():
        right, units = sums.get(item, (0.0, 0.0))
        weight = side.weights.get(item, 1)
        share = (cell.right + missing * cell.open) / cell.tries
        sums[item] = right + weight * share, units + weight
    return sums
