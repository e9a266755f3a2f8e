"""Glaive's numbers, and the pages that show them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.benchmark import View
from wildtool.benchmarks.glaive.judge import ERRORS
from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metrics
from wildtool.types import Metric

MEASURES: Mapping[str, str] = {
    "argument values": "values_ok",
    "argument names": "names_ok",
    "function": "function_ok",
}
"""Name of each accuracy to its column, that of correct records first."""
PLATFORM_COUNTS: Mapping[str, str] = {
    "total_samples": "counted",
    "function_correct": "function_ok",
    "argument_name_correct": "names_ok",
    "argument_value_correct": "values_ok",
    "invalid_ground_truth": "invalid_gold",
    "invalid_predictions": "invalid_prediction",
}
"""ToLeaP's names of its counts to columns."""


def summarize(verdicts: Any) -> list[Metric]:
    """The three accuracies, failure classes, ToLeaP's counts, coverage and cost."""
    rates = [
        Rate("accuracy", name, "TRUE", f"COALESCE({column}, 0)", "COALESCE(counted, 1)", headline=True)
        for name, column in MEASURES.items()
    ]
    return [
        *rate_metrics(verdicts, [*rates, *error_rates("errors", ERRORS)]),
        *_counts(verdicts),
        *coverage(verdicts, 0, "record"),
        *cost(verdicts, "record"),
    ]


def _counts(verdicts: Any) -> Iterator[Metric]:
    sums = ", ".join(f"COALESCE(SUM({column}), 0)" for column in PLATFORM_COUNTS.values())
    records, *found = verdicts.aggregate(f"COUNT(*), {sums}").fetchall()[0]
    for name, count in zip(PLATFORM_COUNTS, found, strict=True):
        yield Metric("counts as ToLeaP reports them", name, None, count, records, kind="count")


VIEWS: Sequence[View] = (
    View(
        "accuracy",
        "Accuracy",
        "function is the share of records whose reply calls the gold function, argument names of those also with exactly"
        " its arguments, argument values also with their values; so each is at most the one before it.",
        ("accuracy",),
        note="Under toleap a reply that is no call in the asked format counts as two records (Q1).",
    ),
    View(
        "errors",
        "Errors",
        "The first thing that is wrong, as shares of the wrong records.",
        ("errors",),
        "stacked",
    ),
    View("cost", "Cost", "The average per record: tokens as the endpoint reports them.", ("cost",)),
)
"""The pages, in order; the same for every profile."""
