"""TaskBench's numbers from verdict rows: six scores of each domain, by structure, and their means over the domains."""

from collections.abc import Iterator, Sequence
from typing import Any

from wildtool.benchmarks.taskbench.data import DOMAINS, STRUCTURES
from wildtool.benchmarks.taskbench.rules import PLAN_ERRORS
from wildtool.stats.metrics import Rate, cost, coverage, mean_of_rates, rate_metrics
from wildtool.types import Metric

DOMAIN_MEAN = "mean of domains"
SCORES = {
    "ROUGE-1": "rouge_1",
    "ROUGE-2": "rouge_2",
    "Node F1": "node",
    "Edge F1": "edge",
    "Parameter Name F1": "name",
    "Parameter Name & Value F1": "value",
}
"""Names of the scores, as ToLeaP's table has them, to their columns."""
ORDER = "tool order (1 - edit distance)"


def summarize(verdicts: Any, profile: str) -> list[Metric]:
    """All metrics of one run under one profile.

    Args:
        verdicts: DuckDB relation of verdict rows (the engine's and TaskBench's columns).
    """
    micro = profile == "original"
    played = {split for (split,) in verdicts.project("split").distinct().fetchall()}
    domains: list[list[Metric]] = []
    structures: list[Metric] = []
    for domain in DOMAINS:
        if domain not in played:
            continue
        rows = verdicts.filter(f"split = '{domain}'")
        domains.append(rate_metrics(rows, list(_scores(domain, "TRUE", micro))))
        for shape in STRUCTURES:
            alike = rows.filter(f"structure = '{shape}'")
            found = rate_metrics(alike, list(_scores(f"{domain} ({shape})", "TRUE", micro)))
            structures += [metric for metric in found if metric.denominator]
    wrong = "outcome = 'wrong'"
    shares = [Rate("errors", name, wrong, f"CAST(error = '{name}' AS INTEGER)") for name in PLAN_ERRORS]
    plans = Rate("accuracy", "plan", "TRUE")
    return [
        *(_mean_of_domains(metrics) for metrics in zip(*domains, strict=True)),
        *rate_metrics(verdicts, [plans]),
        *(metric for metrics in domains for metric in metrics),
        *structures,
        *rate_metrics(verdicts, shares),
        *coverage(verdicts, _count(verdicts, "reference_error IS NOT NULL"), "plan"),
        *_left_out(verdicts, micro),
        *cost(verdicts, "plan"),
    ]


def _scores(group: str, where: str, micro: bool) -> Iterator[Rate]:
    """Means over all samples, or micro averages over those that the original counts."""
    for name, column in SCORES.items():
        rouge = column.startswith("rouge")
        if not micro:
            value = column if rouge else f"{column}_f1"
            yield Rate(group, name, where, f"COALESCE({value}, 0)")
            continue
        counted = f"{where} AND {'counts_steps' if rouge else 'counts_nodes'}"
        sums = (column, "1") if rouge else (f"2 * {column}_hits", f"{column}_sizes")
        yield Rate(group, name, counted, *sums)
    if micro:
        yield Rate(group, ORDER, f"{where} AND counts_nodes", "similarity")


def _mean_of_domains(metrics: Sequence[Metric]) -> Metric:
    name = metrics[0].name
    return mean_of_rates(DOMAIN_MEAN, name, metrics, headline=name != ORDER)


def _left_out(verdicts: Any, micro: bool) -> list[Metric]:
    """Samples that the original leaves out of its averages (Q12)."""
    if not micro:
        return []
    total = _count(verdicts, "TRUE")
    return [
        Metric(
            "coverage", f"left out of {what}", None, _count(verdicts, f"NOT {column}"), total, kind="count"
        )
        for what, column in (("steps", "counts_steps"), ("nodes and links", "counts_nodes"))
    ]


def _count(verdicts: Any, where: str) -> int:
    ((count,),) = verdicts.aggregate(f"COUNT(*) FILTER ({where})").fetchall()
    return int(count)
