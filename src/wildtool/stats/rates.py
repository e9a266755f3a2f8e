"""Rates as SQL over verdict rows, with intervals clustered by item: what the summaries of benchmarks are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.stats.intervals import clustered_rate
from wildtool.types import Metric

RIGHT = "CAST(correct AS INTEGER)"


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate as SQL over verdict rows."""

    group: str
    name: str
    where: str
    """Which rows count."""
    numerator: str = RIGHT
    denominator: str = "1"
    headline: bool = False
    note: str = ""
    """What a reader must know wherever the rate is shown."""


def measure(verdicts: Any, wanted: Sequence[Rate]) -> list[Metric]:
    """The rates of a DuckDB relation over verdict rows, in one pass."""
    sums = ", ".join(
        f"COALESCE(SUM({rate.numerator}) FILTER ({rate.where}), 0)::DOUBLE,"
        f" COALESCE(SUM({rate.denominator}) FILTER ({rate.where}), 0)::DOUBLE"
        for rate in wanted
    )
    rows = verdicts.aggregate(f"item, {sums}", "item").fetchall()
    return [
        rate_metric(rate, [(row[1 + 2 * i], row[2 + 2 * i]) for row in rows]) for i, rate in enumerate(wanted)
    ]


def rate_metric(rate: Rate, clusters: Sequence[tuple[float, float]]) -> Metric:
    """A rate from the numerator and denominator of each item."""
    right, total = sum(x for x, _ in clusters), sum(n for _, n in clusters)
    # By the rules of a benchmark a rate may exceed 1; it has no interval then.
    found = clustered_rate(clusters) if right <= total else None
    value, low, high = found or (right / total if total else None, None, None)
    return Metric(
        rate.group, rate.name, value, right, total, low, high, headline=rate.headline, note=rate.note
    )
