"""The score of a training that was repeated with several seeds: what its uncertainty owes to items and to trainings."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wildtool.stats.intervals import t_quantile, wilson


class TrainedScore(NamedTuple):
    """The mean score of the models that were trained alike, with its 95 % interval."""

    value: float
    low: float
    high: float
    item_error: float
    """Standard error from the items: another set of such items would give another score."""
    seed_error: float | None
    """Standard error from the trainings: other seeds would give other models. None with one seed."""


def trained_score(seeds: Sequence[Mapping[str, tuple[float, float]]]) -> TrainedScore | None:
    """The score of a point of a learning curve; None without units.

    Items are common to all seeds, so their part follows from each item's mean over the seeds, clustered; the trainings'
    part is the variance of the seeds' scores divided by their number. Both variances are added. The interval takes
    Student's quantile with the degrees of freedom of the items, or of the seeds where there are fewer and they cause more
    than half of the variance. With one seed, or where neither items nor seeds differ, it is Wilson's for clustered items,
    as everywhere else.

    Args:
        seeds: at least one; for each, by item the right units and the units, at the same items.
    """
    means = {
        item: (sum(seed[item][0] for seed in seeds) / len(seeds), seeds[0][item][1])
        for item in seeds[0]
        if all(item in seed for seed in seeds)
    }
    units = sum(n for _, n in means.values())
    if not units:
        return None
    value = sum(x for x, _ in means.values()) / units
    count = len(means)
    spread = sum((x - value * n) ** 2 for x, n in means.values())
    items = spread * count / (count - 1) / units**2 if count > 1 else value * (1 - value)
    scores = [sum(seed[item][0] for item in means) / units for seed in seeds]
    trainings = sum((score - value) ** 2 for score in scores) / max(1, len(seeds) - 1) / len(seeds)
    if len(seeds) == 1 or not (items or trainings):
        size = max(1.0, min(units, value * (1 - value) / items)) if items else float(count)
        return TrainedScore(value, *wilson(value, size), math.sqrt(items), None if len(seeds) == 1 else 0.0)
    freedom = max(1, count - 1)
    if trainings > items:
        freedom = min(freedom, len(seeds) - 1)
    half = t_quantile(0.975, freedom) * math.sqrt(items + trainings)
    return TrainedScore(
        value, max(0.0, value - half), min(1.0, value + half), math.sqrt(items), math.sqrt(trainings)
    )
