"""Whether a run reproduces what a paper says of the same model, number by number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wildtool.benchmark import Published
from wildtool.engine.compare.published import MetricKey, prompts_used, reasons_not_to_rank
from wildtool.engine.score.results import ScoreResult
from wildtool.errors import UsageError, match_name
from wildtool.evidence import Evidence

Band = Literal["blue", "yellow", "red", "grey"]
"""ToLeaP's colours: near, middling, far, nothing to compare."""
NEAR, FAR = 0.05, 0.10
"""Differences below NEAR are blue, above FAR red."""
MODELS_NEEDED = 2
"""Models that must be blue throughout before ToLeaP counts a benchmark as reproduced."""


@dataclass(frozen=True, slots=True)
class ReproducedNumber:
    """One published number beside ours."""

    group: str
    name: str
    published: float
    source: str
    value: float | None
    """Ours; None where the run has none."""
    low: float | None
    high: float | None
    least: float | None
    """The smallest that units without a verdict could make ours; None where it rests on none."""
    most: float | None
    difference: float | None
    """Ours minus the published number, in its unit; None without ours."""
    error: float | None
    """What the band goes by: the absolute difference, or its share of the published number."""
    band: Band
    """Grey also while units that the number is made of have no verdict."""
    evidence: Evidence | None
    """What our number rests on; None without one."""

    @property
    def within_interval(self) -> bool | None:
        """Whether the published number lies in our 95 % interval; None where there is none."""
        return None if self.low is None or self.high is None else self.low <= self.published <= self.high


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A run beside the published rows of its model."""

    model: str
    """As the paper has it."""
    run: ScoreResult
    numbers: tuple[ReproducedNumber, ...]
    causes: tuple[str, ...]
    """What differs from how the published numbers were made, as far as it is known."""

    @property
    def bands(self) -> dict[Band, int]:
        """How many numbers are in each band."""
        order: tuple[Band, ...] = ("blue", "yellow", "red", "grey")
        return {band: sum(each.band == band for each in self.numbers) for band in order}

    @property
    def is_blue(self) -> bool:
        """Whether every number that can be compared is near the published one."""
        bands = self.bands
        return self.run.evidence.complete and bands["blue"] > 0 and not bands["yellow"] and not bands["red"]


def reproduction(
    folder: Path,
    run: ScoreResult,
    identity: Mapping[str, Any],
    figures: Sequence[Published],
    *,
    model: str | None = None,
    absolute: bool = False,
) -> Reproduction:
    """Compares a run with the published numbers of its model under its profile.

    Args:
        identity: of the run, from `run.json`.
        figures: all published rows of its benchmark.
        model: the model's name in the paper; None for the run's, apart from case and `_`, `-` or blanks.
        absolute: bands by points (5 and 10) instead of shares of the published number.

    Raises UsageError where nothing is published of the benchmark, its profile or the model.
    """
    if not figures:
        raise UsageError(f"nothing is published of {run.benchmark} that its numbers could be compared with")
    mine = [row for row in figures if row.profile == run.profile]
    if not mine:
        profiles = ", ".join(dict.fromkeys(row.profile for row in figures))
        raise UsageError(
            f"{run.benchmark}: the published figures are of profile {profiles}, and this run was scored by "
            f"{run.profile}; add --profile {figures[0].profile}"
        )
    own = run.model.rpartition("/")[2]
    try:
        name = match_name("published model", model or own, dict.fromkeys(row.model for row in mine))
    except UsageError as error:
        raise (
            error if model else UsageError(f"{error}; say which it is with --published-model NAME")
        ) from None
    published: dict[MetricKey, tuple[float, str]] = {}
    for row in mine:
        if row.model == name:
            published.update({key: (value, row.source) for key, value in row.values.items()})
    ours = {(metric.group, metric.name): metric for metric in run.metrics}
    numbers: list[ReproducedNumber] = []
    for (group, figure), (value, source) in published.items():
        metric = ours.get((group, figure))
        here = None if metric is None else metric.value
        difference = None if here is None else here - value
        error = None if difference is None else abs(difference)
        if error is not None and value and not absolute:  # a share of nothing has no meaning
            error /= abs(value)
        evidence = None if metric is None else metric.evidence or run.evidence
        numbers.append(
            ReproducedNumber(
                group=group,
                name=figure,
                published=value,
                source=source,
                value=here,
                low=None if metric is None else metric.low,
                high=None if metric is None else metric.high,
                least=None if metric is None else metric.least,
                most=None if metric is None else metric.most,
                difference=difference,
                error=error,
                band=_band(error) if evidence is None or evidence.complete else "grey",
                evidence=evidence,
            )
        )
    rows = [row for row in mine if row.model == name]
    return Reproduction(name, run, tuple(numbers), tuple(_causes(folder, run, identity, rows)))


def is_reproduced(reproductions: Iterable[Reproduction]) -> bool:
    """ToLeaP's rule for a benchmark: two models or more are blue throughout."""
    return len({each.model for each in reproductions if each.is_blue}) >= MODELS_NEEDED


def _band(error: float | None) -> Band:
    if error is None:
        return "grey"
    return "blue" if error < NEAR else "yellow" if error <= FAR else "red"


def _causes(
    folder: Path, run: ScoreResult, identity: Mapping[str, Any], figures: Sequence[Published]
) -> Iterable[str]:
    """What may make the numbers differ, besides chance."""
    yield from reasons_not_to_rank(folder, run, figures)
    if run.items < run.planned_items:
        yield f"only {run.items} of {run.planned_items} items were run"
    elif run.split is not None:
        yield f"only split {run.split} was run"
    yield from prompts_used(run)
    if run.played not in (None, run.profile):
        yield f"run under profile {run.played}, scored by {run.profile}"
    settings = identity["models"]["agent"].get("settings", {})
    sampling = settings.get("temperature")
    if sampling is None:
        yield "sampled at the endpoint's own temperature"
    elif sampling:
        yield f"sampled at temperature {sampling:g}"
    if "format" in settings:
        yield f"tools were written as text in the format {settings['format']}"
    yield "the endpoint may serve another version of the model than the paper's"
