"""RoTBench's numbers, the pages that show them, and what ToLeaP's paper says of models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from wildtool.benchmark import Published, View
from wildtool.benchmarks.rotbench.data import ENVIRONMENTS, FIRST, SCENARIOS, THIRD
from wildtool.benchmarks.rotbench.judge import ERRORS, LEVELS, NO_OUTPUT, PARSING
from wildtool.published import as_metrics
from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metrics
from wildtool.types import Metric

MEASURES: Mapping[str, tuple[str, int]] = {
    "content filling (CF)": ("content_filling", 3),
    "parameter identification (PI)": ("parameter_identification", 2),
    "tool selection (TS)": ("tool_selection", 1),
}
"""Table to the paper's name of its column, and the level from which a unit counts."""
MEAN = "mean of environments"
_TURN_GROUPS = {FIRST: "", THIRD: "third turn: "}


def summarize(verdicts: Any) -> list[Metric]:
    """TS, PI and CF by environment, by scenario and by what carries noise; failure classes, coverage, cost."""
    rows = verdicts.aggregate("turn, environment, COUNT(*)", "turn, environment").fetchall()
    metrics: list[Metric] = []
    for turn, prefix in _TURN_GROUPS.items():
        sizes = {environment: count for its, environment, count in rows if its == turn}
        if sizes:
            rates = [replace(rate, group=prefix + rate.group) for rate in _rates(sizes)]
            found = rate_metrics(verdicts.filter(f"turn = '{turn}'"), rates)
            metrics += (
                _with_plain_counts(metric, found) if metric.name == MEAN else metric for metric in found
            )
    ((raising,),) = verdicts.aggregate("COUNT(reference_error)").fetchall()
    return [
        *metrics,
        *rate_metrics(verdicts, error_rates("errors", ERRORS)),
        *_cumulative(verdicts),
        *coverage(verdicts, raising, "record"),
        *cost(verdicts, "record"),
    ]


def _rates(sizes: Mapping[str, int]) -> Iterator[Rate]:
    """Args: sizes: environment to its number of units."""
    known = [name for name in dict.fromkeys((*ENVIRONMENTS, *sizes)) if name in sizes]
    for measure, (_, level) in MEASURES.items():
        right, main = f"CAST(COALESCE(level, 0) >= {level} AS INTEGER)", level == len(LEVELS)
        if len(known) > 1:
            # Each environment weighs the same; the weights sum to the number of units.
            each = sum(sizes.values()) / len(sizes)
            whens = " ".join(f"WHEN {_text(name)} THEN {each / size}" for name, size in sizes.items())
            weight = f"CASE environment {whens} END"
            yield Rate(measure, MEAN, "TRUE", f"{right} * {weight}", weight, headline=True)
        for name in known:
            yield Rate(measure, name, f"environment = {_text(name)}", right, headline=main or len(known) == 1)
    for measure, (_, level) in MEASURES.items():
        right = f"CAST(COALESCE(level, 0) >= {level} AS INTEGER)"
        for scenario in SCENARIOS:
            yield Rate(f"scenario: {measure}", scenario, f"scenario = '{scenario}'", right)
        for noise in ("tools", "parameters"):
            yield Rate(f"noise on: {measure}", noise, f"noise = '{noise}'", right)


def _with_plain_counts(mean: Metric, metrics: Sequence[Metric]) -> Metric:
    """A mean with the units of its environments in place of weighted ones."""
    parts = [each for each in metrics if each.group == mean.group and each.name != MEAN]
    right, units = (sum(getattr(part, name) for part in parts) for name in ("numerator", "denominator"))
    return replace(mean, numerator=right, denominator=units)


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _cumulative(verdicts: Any) -> Iterator[Metric]:
    """The platform's counts: a wrong tool counts in all three classes, an unreadable reply only as such."""
    units, *counts = verdicts.aggregate(
        f"COUNT(*), {', '.join(f'COUNT(*) FILTER ({_counted(name)})' for name in ERRORS)}"
    ).fetchall()[0]
    for name, count in zip(ERRORS, counts, strict=True):
        yield Metric("errors as ToLeaP counts them", name, None, count, units, kind="count")


def _counted(name: str) -> str:
    if name in (NO_OUTPUT, PARSING):
        return f"error = '{name}'"
    return f"outcome = 'wrong' AND error IN {LEVELS} AND level <= {LEVELS.index(name)}"


@cache
def published() -> tuple[Published, ...]:
    """ToLeaP's Table 3, and the mean of its five shares of filled contents."""
    columns = {
        f"{environment}_{column}": (measure, environment)
        for measure, (column, _) in MEASURES.items()
        for environment in ENVIRONMENTS
    }
    shares = [f"{environment}_{next(iter(MEASURES.values()))[0]}" for environment in ENVIRONMENTS]
    return tuple(
        as_metrics("toleap_rotbench", columns, "toleap", mean=(next(iter(MEASURES)), MEAN), mean_of=shares)
    )


VIEWS: Sequence[View] = (
    View(
        "robustness",
        "Robustness",
        "How far calls go right as noise grows. Tool selection (TS) is the share of records with an accepted tool,"
        " parameter identification (PI) of those also with exactly its parameters, content filling (CF) also with its"
        " values; so CF is at most PI, and PI at most TS. clean has no noise; slight edits characters of names; medium"
        " replaces them or writes them backwards; heavy exchanges names or adds a required parameter; union has noise"
        " on tools and parameters at once. Read a line from left to right: a fall is what noise in names costs.",
        tuple(MEASURES),
        "lines",
        "noise",
        note="Under toleap and original no output can reach 100 %: accepted answers without parameters are refused (Q1).",
    ),
    View(
        "third-turn",
        "Third turn",
        "The same for the third call of a dialogue, after two calls with their results.",
        tuple(f"third turn: {measure}" for measure in MEASURES),
        "lines",
        "noise",
    ),
    View(
        "scenarios",
        "Scenarios",
        "TS, PI and CF over all environments: text generation (TG), real-time search (RS), data understanding (DU),"
        " personal life (PL), application manipulation (AM), information retrieval (IR), financial transactions (FT);"
        " and by whether names of tools or of parameters carry noise.",
        (
            *(f"scenario: {measure}" for measure in MEASURES),
            *(f"noise on: {measure}" for measure in MEASURES),
        ),
    ),
    View(
        "errors",
        "Errors",
        "The first thing that is wrong, as shares of the wrong records.",
        ("errors",),
        "stacked",
    ),
    View(
        "cost",
        "Cost",
        "The average per record: tokens as the endpoint reports them, seconds as measured.",
        ("cost",),
    ),
)
"""The pages, in order; the same for every profile."""
