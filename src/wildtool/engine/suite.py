"""Several benchmarks as one: which they are, and what a model's numbers on all of them come to."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from wildtool import __version__
from wildtool.benchmarks import OURS, TOLEAP
from wildtool.engine.compare.leaderboard import headline
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.results import ScoreResult
from wildtool.errors import UsageError
from wildtool.stats.intervals import weighted_sum
from wildtool.types import Metric

DOCUMENT = "suite.json"
"""The document of a suite, in the folder above its runs."""
DOCUMENT_FORMAT = 1
OVERALL_CAVEAT = (
    "An overall hides what a model is good at: two models with the same overall can differ in every benchmark, and "
    "benchmarks without data count for nobody. ToLeaP's overall is mostly that of the benchmarks with the most samples "
    "and metrics; its paper speaks of 64 metrics and lists none. Decide by the benchmark that is like your use."
)


@dataclass(frozen=True, slots=True)
class ToleapOverall:
    """The overall of ToLeaP's paper (Figure 2): Σ n·m / Σ n over the metrics m of its tables, n being the samples behind
    each.

    The paper does not say how it counts attack success rates and cells without a value: here a metric of which less is
    better counts as 1 minus it, and one without a value as 0, so that the same cells are averaged for every model. No
    interval is given, since metrics share samples.
    """

    value: float
    metrics: int
    """Metrics of the tables of these benchmarks, the same for every model."""
    samples: int
    """The sum of the weights; a sample counts once for each of its metrics."""
    benchmarks: tuple[str, ...]
    """Those of ToLeaP's tables that all models have a whole run of."""


@dataclass(frozen=True, slots=True)
class Overall:
    """What the numbers of one model come to."""

    model: str
    benchmarks: tuple[str, ...]
    """Those that it has a whole run of; the same for all models."""
    mean: tuple[float, float, float] | None
    """Plain mean of the benchmarks' headlines with its 95 % interval; None where there are none."""
    mean_rank: float | None
    """Mean of its ranks in them, 1 being best and ties sharing the mean of their places; None for a single model."""
    toleap: ToleapOverall | None
    """ToLeaP's own overall; None where no benchmark of its tables was run."""


def suite_members(name: str) -> list[str]:
    """Names of a suite's benchmarks, in order."""
    return [each for each in TOLEAP if each in OURS] if name == "toleap" else list(OURS)


def suite_profile(name: str, profiles: Iterable[str]) -> str:
    """The profile that a benchmark is run under in a suite: ToLeaP's own in its set, else the benchmark's first."""
    choices = list(profiles)
    return name if name in choices else choices[0]


def suite_headline(result: ScoreResult, suite: str = "all") -> Metric | None:
    """The number that a benchmark takes in a suite: its headline, or what it names for this suite. None where the run
    does not have it, as a small sample without a part of it: what is left of it would be the number of something else."""
    if result.lacks:
        return None
    try:
        owner = load_benchmark(result.benchmark, result.mode)
    except UsageError:  # another package's, which is not installed here
        return headline(result)
    key = owner.headline.get(suite) or owner.headline.get(result.profile)
    if key is None:
        return headline(result)
    return next((metric for metric in result.metrics if (metric.group, metric.name) == key), None)


def overalls(results: Sequence[ScoreResult], suite: str = "all") -> list[Overall]:
    """What each model's numbers come to, over the benchmarks that all of them have a whole run and the same number of.

    Each benchmark counts the same, whatever its size, by the number that it takes in the suite; benchmarks are
    independent, so the interval of their mean follows from theirs.
    """
    by_model: dict[str, dict[str, Metric]] = {}
    covered: dict[str, set[str]] = {}
    for result in results:
        metric = suite_headline(result, suite)
        numbers = by_model.setdefault(result.model, {})
        if metric is not None and metric.value is not None and metric.better and result.evidence.complete:
            numbers[result.benchmark] = metric
            covered.setdefault(result.benchmark, set()).add(result.items_md5)
    benchmarks = [
        name
        for name in dict.fromkeys(result.benchmark for result in results)
        if _is_shared([numbers.get(name) for numbers in by_model.values()]) and len(covered[name]) == 1
    ]
    toleap = _toleap_overalls(results)
    ranks = {name: _ranks({model: by_model[model][name] for model in by_model}) for name in benchmarks}
    return [
        Overall(
            model,
            tuple(benchmarks),
            weighted_sum([(1 / len(benchmarks), _as_score(numbers[name])) for name in benchmarks])
            if benchmarks
            else None,
            sum(ranks[name][model] for name in benchmarks) / len(benchmarks)
            if benchmarks and len(by_model) > 1
            else None,
            toleap.get(model),
        )
        for model, numbers in by_model.items()
    ]


def _toleap_overalls(results: Sequence[ScoreResult]) -> dict[str, ToleapOverall]:
    """ToLeaP's overall of each model that has one."""
    complete = {(result.model, result.benchmark): result for result in results if result.evidence.complete}
    models = list(dict.fromkeys(result.model for result in results))
    overalls: dict[str, ToleapOverall] = {}
    shared: list[str] = []
    for name in _toleap_metrics():
        runs = [complete.get((model, name)) for model in models]
        if len({run and run.items_md5 for run in runs}) == 1 and None not in runs:
            shared.append(name)
    for model in models:
        parts = [part for name in shared for part in _weighted_scores(complete[model, name])]
        samples = sum(size for _, size in parts)
        if samples:
            value = sum(score * size for score, size in parts) / samples
            overalls[model] = ToleapOverall(value, len(parts), round(samples), tuple(shared))
    return overalls


def _weighted_scores(result: ScoreResult) -> Iterator[tuple[float, float]]:
    """The metrics of a result that are in ToLeaP's tables, the better the higher, each with its samples."""
    metrics = {(metric.group, metric.name): metric for metric in result.metrics}
    for (group, name), samples in _toleap_metrics()[result.benchmark].items():
        metric = metrics.get((group, name))
        if metric is not None:
            score = 0.0 if metric.value is None else _as_score(metric)[0]
            yield score, metrics[group, samples or name].denominator


def toleap_table_size() -> int:
    """Metrics that ToLeaP's tables have where all data are at hand."""
    return sum(len(metrics) for metrics in _toleap_metrics().values())


@cache
def _toleap_metrics() -> Mapping[str, Mapping[tuple[str, str], str]]:
    """By benchmark the metrics of ToLeaP's tables, as (group, name); for each the metric of its group that counts its
    samples, empty for itself."""
    text = files("wildtool.data").joinpath("toleap_metrics.csv").read_text("utf-8")
    metrics: dict[str, dict[tuple[str, str], str]] = {}
    for row in csv.DictReader(text.splitlines()):
        metrics.setdefault(row["benchmark"], {})[row["group"], row["name"]] = row["samples"]
    return metrics


def suite_document(name: str, results: Sequence[ScoreResult], left_out: Mapping[str, str]) -> dict[str, Any]:
    """Every metric of every benchmark, as JSON; `suite.schema.json` beside this module describes it.

    Args:
        left_out: benchmarks that were not run, with the reason.
    """
    return {
        "wildtool": __version__,
        "suite": name,
        "format": DOCUMENT_FORMAT,
        "runs": [_run(result) for result in results],
        "left_out": [{"benchmark": each, "reason": reason} for each, reason in left_out.items()],
        "overall": [
            {
                "model": each.model,
                "benchmarks": list(each.benchmarks),
                "mean": None
                if each.mean is None
                else dict(zip(("value", "low", "high"), each.mean, strict=True)),
                "mean_rank": each.mean_rank,
                "toleap": None if each.toleap is None else asdict(each.toleap),
            }
            for each in overalls(results, name)
        ],
        "caveat": OVERALL_CAVEAT,
    }


def _run(result: ScoreResult) -> dict[str, Any]:
    return {
        "benchmark": result.benchmark,
        "model": result.model,
        "profile": result.profile,
        "mode": result.mode,
        "data": result.data,
        "data_sha256": result.data_sha256,
        "part": result.part,
        "folder": str(result.folder),
        "items": result.items,
        "planned_items": result.planned_items,
        "complete": result.evidence.complete,
        "evidence": asdict(result.evidence),
        "trust": [asdict(remark) for remark in result.trust],
        "metrics": [
            {
                "group": metric.group,
                "name": metric.name,
                "kind": metric.kind,
                "unit": metric.unit or ("share" if metric.kind == "rate" else ""),
                "better": metric.better,
                "value": metric.value,
                "numerator": metric.numerator,
                "denominator": metric.denominator,
                "low": metric.low,
                "high": metric.high,
                "headline": metric.headline,
                "note": metric.note,
                "evidence": None if metric.evidence is None else asdict(metric.evidence),
            }
            for metric in result.metrics
        ],
    }


def _as_score(metric: Metric) -> tuple[float, float, float]:
    """Value and interval, turned round where less is better."""
    assert metric.value is not None, "metrics without a value are left out"
    value = metric.value
    low = value if metric.low is None else metric.low
    high = value if metric.high is None else metric.high
    return (1 - value, 1 - high, 1 - low) if metric.better == "less" else (value, low, high)


def _is_shared(metrics: Sequence[Metric | None]) -> bool:
    """Whether there is one number for each model, and the same one: its first may be another where less was run."""
    keys = {each and (each.group, each.name) for each in metrics}
    return len(keys) == 1 and None not in keys


def _ranks(metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Place of each model, the best first; models of one score share the mean of their places."""
    scores = {model: _as_score(metric)[0] for model, metric in metrics.items()}
    return {
        model: 1
        + sum(other > score for other in scores.values())
        + (list(scores.values()).count(score) - 1) / 2
        for model, score in scores.items()
    }
