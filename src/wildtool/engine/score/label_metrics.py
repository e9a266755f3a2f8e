"""How often readers gave each label to failures of a run, as numbers of the run."""

from collections import defaultdict
from pathlib import Path

from wildtool.engine.record.case_labels import CaseKey, LabelledCases, labels_of_run
from wildtool.stats.intervals import clustered_rate
from wildtool.types import Metric

LABELS_GROUP = "bad cases"
"""The table of the shares of labels."""
NO_LABEL = "no label fits"


def label_metrics(folder: Path, profile: str) -> list[Metric]:
    """Shares of the labels among the failures that were read; none where nobody read failures under these rules.

    Raises DataError where the labels cannot be read.
    """
    cases = labels_of_run(folder)
    return label_shares(cases) if cases is not None and cases.profile == profile else []


def label_shares(cases: LabelledCases) -> list[Metric]:
    """For each label its share of the cases that were read, clustered by item. A case of several readers counts by the
    share of them who gave the label."""
    by_case = cases.by_case
    if not by_case:
        return []
    note = f"{len(by_case):,} of {len(cases.proposals):,} cases read, drawn from {cases.failures:,} failures"
    metrics: list[Metric] = []
    for name in (*cases.labels, NO_LABEL):
        clusters: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for case, readings in by_case.items():
            given = [name in each.labels if each.labels else name == NO_LABEL for each in readings.values()]
            clusters[case.item][0] += sum(given) / len(given)
            clusters[case.item][1] += 1
        columns = [(part, of) for part, of in clusters.values()]
        rate = clustered_rate(columns)
        assert rate is not None
        count = sum(part for part, _ in columns)
        value, low, high = rate
        metrics.append(
            Metric(LABELS_GROUP, name, value, count, len(by_case), low, high, better="", note=note)
        )
    return metrics


def labels_by_case(cases: LabelledCases) -> dict[CaseKey, str]:
    """By case that was read all labels that readers gave it, in words."""
    return {
        case: ", ".join(sorted({name for each in said.values() for name in each.labels})) or NO_LABEL
        for case, said in cases.by_case.items()
    }
