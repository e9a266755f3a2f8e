"""Places runs among the models of papers where data, mode and rules are the same; says why where they are not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from wildtool.benchmark import OriginalPrompts, Published
from wildtool.engine.compare.leaderboard import located_data
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.trust import TrustRemark
from wildtool.errors import UsageError, match_name
from wildtool.evidence import Evidence
from wildtool.stats.metrics import best_first
from wildtool.types import Direction

MetricKey = tuple[str, str]
"""(group, name) of a metric."""
MEASURED_HERE = "measured here"
OWN_PROMPTS = "asked in wildtool's own words, the published models in the original's"


@dataclass(frozen=True, slots=True)
class RankingCell:
    """One number of one model."""

    value: float | None
    source: str
    """Paper and table, or the run."""
    low: float | None = None
    """Lower end of the 95 % interval; None where a paper gives none."""
    high: float | None = None
    evidence: Evidence | None = None
    """What it rests on; None where a paper does not say."""
    least: float | None = None
    """The smallest that units without a verdict could make it; None where it rests on none."""
    most: float | None = None


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One model of a ranking."""

    model: str
    kind: str
    """The paper's grouping of models, or that it was measured here and how."""
    cells: Mapping[MetricKey, RankingCell]
    run: str | None = None
    """Folder of the run; None for a published model."""
    incomplete: bool = False
    """Whether units of the run have no verdict, so that it has no rank."""
    trust: tuple[TrustRemark, ...] = ()
    """What came between the model and its numbers."""


@dataclass(frozen=True, slots=True)
class PublishedRanking:
    """Published models and runs in one order."""

    profile: str
    order: MetricKey
    """The metric they are sorted by, best first; those without a rank last."""
    keys: tuple[MetricKey, ...]
    """The metrics that are shown."""
    entries: tuple[RankingRow, ...]
    better: Mapping[MetricKey, Direction]
    """Which way of each metric is better. Where neither way of `order` is, models are not ranked but in the papers'
    order."""

    @property
    def is_ranked(self) -> bool:
        return self.better.get(self.order, "more") != ""

    @property
    def sources(self) -> list[str]:
        """Sources of the published numbers that are shown."""
        cells = (entry.cells.get(key) for entry in self.entries if not entry.run for key in self.keys)
        return list(dict.fromkeys(cell.source for cell in cells if cell))


def metric_groups(figures: Iterable[Published]) -> list[str]:
    """Groups of metrics that there are published numbers of."""
    return list(dict.fromkeys(group for row in figures for group, _ in row.values))


def ranking(
    figures: Sequence[Published],
    runs: Mapping[Path, ScoreResult],
    *,
    headline: MetricKey | None = None,
    group: str | None = None,
    every: bool = False,
) -> PublishedRanking:
    """Published models with runs among them.

    Args:
        figures: what papers say.
        headline: the number that is ranked by (`Benchmark.headline`); where no figure has it, the first number of the
            first row that has any.
        runs: those for which `why_not_comparable` is None, by folder.
        group: show this group of metrics; None for the first table's. Raises UsageError where it is unknown.
        every: show all metrics where no group is named.
    """
    if group is not None:
        group = match_name("group", group, metric_groups(figures))
    columns = dict.fromkeys(key for row in figures for key in row.values)
    # A paper may have measured nothing of the model in its first row.
    first = next((row.values for row in figures if row.values), dict[MetricKey, float]())
    if headline not in columns:
        headline = next(iter(first), ("", ""))
    column_keys = columns if every else dict.fromkeys((headline, *first))
    keys = tuple(key for key in (columns if group else column_keys) if key[0] == (group or key[0]))
    order = (group or headline[0], headline[1])
    order = order if order in columns else headline
    better: dict[MetricKey, Direction] = {key: way for row in figures for key, way in row.better.items()}
    better |= {(m.group, m.name): m.better for run in runs.values() for m in run.metrics}
    entries = [*published_rows(figures), *(_measured(folder, run) for folder, run in runs.items())]
    ranked = [entry for entry in entries if any(key in entry.cells for key in keys)]
    return PublishedRanking(
        profile=figures[0].profile,
        order=order,
        keys=keys,
        entries=tuple(sorted(ranked, key=lambda entry: _rank(entry, order, better.get(order, "more")))),
        better=better,
    )


def why_not_comparable(folder: Path, run: ScoreResult, figures: Sequence[Published]) -> str | None:
    """Why a run cannot be ranked among published figures, and what to do; None if it can."""
    return next(iter(reasons_not_to_rank(folder, run, figures)), None)


def reasons_not_to_rank(folder: Path, run: ScoreResult, figures: Sequence[Published]) -> Iterator[str]:
    """All that keeps a run from being ranked among published figures, and what to do."""
    data = figures[0].data
    theirs = None if run.data == data else located_data(run.benchmark, data, run.split)
    if run.data != data and (theirs is None or run.data_sha256 != theirs.sha256):
        own = located_data(run.benchmark, None, run.split)
        # The default data may have another name than the published ones.
        is_own = own is not None and own.sha256 == run.data_sha256
        if theirs is None and not is_own:
            pull = f"`wildtool data pull {run.benchmark}`"
            yield f"played on {run.data}, and the published figures' data ({data}) are not here to compare with: {pull}"
        else:
            yield f"played on {run.data}, another data set than the published figures' ({data})"
    if run.mode is not None:
        yield f"played in mode {run.mode}, the published figures in the benchmark's first"
    if run.part:
        yield f"played on a part of the data ({run.part}), the published figures on all of them"
    for disturbance in run.disturbances:
        yield f"played with {disturbance}, which the models of the published figures were not given"
    if run.profile != figures[0].profile:
        command = f"wildtool score {quote(str(folder))} --profile {figures[0].profile}"
        yield f"judged by profile {run.profile}, the published figures by {figures[0].profile}; do `{command}`"


def published_rows(figures: Iterable[Published]) -> list[RankingRow]:
    """One entry for each model of all tables."""
    kinds: dict[str, str] = {}
    cells: dict[str, dict[MetricKey, RankingCell]] = {}
    for row in figures:
        kinds[row.model] = kinds.get(row.model) or row.kind
        values = cells.setdefault(row.model, {})
        values.update((key, RankingCell(value, row.source)) for key, value in row.values.items())
    return [RankingRow(model, kinds[model], entries) for model, entries in cells.items()]


def _measured(folder: Path, run: ScoreResult) -> RankingRow:
    how = [] if run.played in (None, run.profile) else [run.profile_label]
    how += prompts_used(run)
    how += [f"{role} played by {model}" for role, model in run.roles.items()]
    cells = {
        (metric.group, metric.name): RankingCell(
            metric.value,
            MEASURED_HERE,
            metric.low,
            metric.high,
            metric.evidence or run.evidence,
            metric.least,
            metric.most,
        )
        for metric in run.metrics
    }
    kind = f"{MEASURED_HERE}, {run.items} items{''.join(f', {text}' for text in how)}"
    return RankingRow(run.model, kind, cells, str(folder), not run.evidence.complete, run.trust)


def prompts_used(run: ScoreResult) -> list[str]:
    """What a reader must know of a run among models that were asked with the original's prompts."""
    if run.prompts:
        return ["asked with the original's prompts"]
    try:
        has_original = isinstance(load_benchmark(run.benchmark), OriginalPrompts)
    except UsageError:
        return []
    return [OWN_PROMPTS] if has_original else []


def _rank(entry: RankingRow, order: MetricKey, better: Direction) -> tuple[bool, float]:
    cell = entry.cells.get(order)
    return entry.incomplete and bool(better), best_first(cell.value if cell else None, better)
