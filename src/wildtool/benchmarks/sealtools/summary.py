"""Seal-Tools' numbers: format accuracy, precision, recall and F1 of calls and parameters, and their pages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.benchmark import View
from wildtool.benchmarks.sealtools.data import IN_DOMAIN, OUT_DOMAIN, RECORD_FILES
from wildtool.benchmarks.sealtools.judge import ERRORS
from wildtool.stats.metrics import Rate, cost, coverage, mean_of_rates, rate_metrics
from wildtool.types import Metric

FORMAT, F1 = "format accuracy (AMOUNT)", "parameter F1 (F1_param)"
_PRED_API, _PRED_PARAM = "COALESCE(pred_api, 0)", "COALESCE(pred_param, 0)"
MEASURES: Mapping[str, tuple[str, str]] = {
    FORMAT: ("parsed", "1"),
    "API precision (P_api)": ("ok_api", "pred_api"),
    "API recall (R_api)": ("ok_api", "gold_api"),
    "API F1 (F1_api)": ("2 * ok_api", f"{_PRED_API} + gold_api"),
    "parameter precision (P_param)": ("ok_param", "pred_param"),
    "parameter recall (R_param)": ("ok_param", "gold_param"),
    F1: ("2 * ok_param", f"{_PRED_PARAM} + gold_param"),
}
"""Name to numerator and denominator in columns of verdicts, which are summed over a split: micro averages."""
EXACT = "exactly the gold calls"
MEAN = "mean of splits"
CUTS: Mapping[str, str] = {
    **{name: f"split = '{name}'" for name in RECORD_FILES},
    "test": f"split IN ('{IN_DOMAIN}', '{OUT_DOMAIN}')",
    "easy": "easy",
    "difficult": "NOT easy",
    **{name: f"shape = '{name}'" for name in ("single", "multiple", "nested")},
}
"""Table to which records it counts."""
PLATFORM_ERRORS = ERRORS[:5]
"""The errors that ToLeaP counts."""


def summarize(verdicts: Any) -> list[Metric]:
    """The seven numbers of each split and cut, what retrieval found, error classes, coverage and cost."""
    splits = [name for (name,) in verdicts.project("split").distinct().fetchall()]
    shown = [name for name in CUTS if name not in RECORD_FILES or name in splits]
    shown = [name for name in shown if name != "test" or {IN_DOMAIN, OUT_DOMAIN} <= set(splits)]
    main = (FORMAT, F1) if len({*splits} & {*RECORD_FILES}) > 1 else (F1,)
    rates = [
        # The first of these ranks models: parameter F1, with one split and with several.
        Rate(cut, measure, CUTS[cut], *terms, headline=cut in RECORD_FILES and measure in main)
        for cut in shown
        for measure, terms in MEASURES.items()
    ]
    exact = [Rate(cut, EXACT, CUTS[cut]) for cut in shown]
    found = rate_metrics(verdicts, [*rates, *exact])
    both = zip(found[: len(rates)], rates, strict=True)
    tables = [metric for metric, _ in both]
    for metric in found[len(rates) :]:
        tables.insert(1 + max(n for n, each in enumerate(tables) if each.group == metric.group), metric)
    ((raising,),) = verdicts.aggregate("COUNT(reference_error)").fetchall()
    return [
        *_mean(tables, splits),
        *tables,
        *_retrieval(verdicts, shown),
        *rate_metrics(verdicts, list(_errors())),
        *_counts(verdicts),
        *coverage(verdicts, raising, "record"),
        *cost(verdicts, "record"),
    ]


def _mean(tables: Sequence[Metric], splits: Sequence[str]) -> Iterator[Metric]:
    """The plain mean of parameter F1 over splits, as in ToLeaP's Figure 7."""
    parts = [metric for metric in tables if metric.group in splits and metric.name == F1]
    if len(parts) > 1 and all(metric.value is not None for metric in parts):
        yield mean_of_rates(MEAN, F1, parts, headline=True)


def _retrieval(verdicts: Any, cuts: Sequence[str]) -> list[Metric]:
    """recall@k of the gold APIs; none for a run without retrieval."""
    ((most,),) = verdicts.aggregate("MAX(retrieved)").fetchall()
    if not most:
        return []
    everything = [("all records", "TRUE"), *((cut, CUTS[cut]) for cut in cuts)]
    name = f"recall@{most}"
    return rate_metrics(
        verdicts,
        [
            Rate(f"retrieval: {name}", cut, where, "recalled", "recallable", headline=cut == "all records")
            for cut, where in everything
        ]
        + [
            Rate("retrieval: all APIs found", cut, where, "CAST(recalled = recallable AS INTEGER)")
            for cut, where in everything
        ],
    )


def _errors() -> Iterator[Rate]:
    for name in ERRORS:
        yield Rate("errors", name, "outcome = 'wrong'", f"CAST(COALESCE(error = '{name}', FALSE) AS INTEGER)")


def _counts(verdicts: Any) -> Iterator[Metric]:
    """ToLeaP's counts: unreadable replies, entries of lists, and parameters."""
    sums = [f"SUM({name})" for name in PLATFORM_ERRORS[1:]]
    bad, *counts, entries = verdicts.aggregate(
        f"COUNT(*) FILTER (outcome = 'wrong' AND parsed = 0), {', '.join(sums)}, SUM(pred_api)"
    ).fetchall()[0]
    for name, count in zip(PLATFORM_ERRORS, (bad, *counts), strict=True):
        yield Metric("errors as ToLeaP counts them", name, None, count or 0, entries or 0, kind="count")


VIEWS: Sequence[View] = (
    View(
        "splits",
        "Splits",
        "Format accuracy is the share of replies with a readable list of calls. Precision is the share of the calls that"
        " were made which gold has too, recall the share of gold's that were made, F1 their harmonic mean; likewise for"
        " parameters with their values. All are micro averages: counts are summed over the split first.",
        (*RECORD_FILES, "test"),
        note="Under toleap and original gold calls are not used up, so recall and F1 can exceed 100 % (Q1), and no reply"
        " with an apostrophe in a value is readable (Q4).",
    ),
    View(
        "kinds",
        "Kinds of requests",
        "single needs one call, multiple several, and in nested ones a call takes a result of another; easy and difficult"
        " are the data's own words.",
        ("single", "multiple", "nested", "easy", "difficult"),
    ),
    View(
        "retrieval",
        "Retrieval",
        "Of the APIs that gold calls, how many the retriever found in the pool of all tools. A model can hardly call what"
        " it is not shown, so recall bounds its API recall.",
        (*(f"retrieval: recall@{k}" for k in range(1, 101)), "retrieval: all APIs found"),
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
