"""The numbers of a summary as short lines of text, one for each table, so that a test can compare all of them at once."""

from collections.abc import Iterable
from itertools import groupby

from wildtool.types import Metric


def number_lines(metrics: Iterable[Metric], *, named: bool = True) -> list[str]:
    """`group: name 1/2*, name 7/2 s mean, name 3 of 4`: both terms, and the value where it is not their ratio.

    `*` marks the headline. Without names only the numbers, for tables whose rows have the same ones.
    """
    return [
        f"{group}: " + ", ".join(f"{metric.name} {_number(metric)}" if named else _number(metric) for metric in own)
        for group, own in groupby(metrics, lambda metric: metric.group)
    ]  # fmt: skip


def _number(metric: Metric) -> str:
    if metric.kind == "count" and metric.value == metric.numerator:
        return f"{metric.numerator:g} of {metric.denominator:g}"
    share = metric.numerator / metric.denominator if metric.denominator and metric.kind != "count" else None
    value = None if metric.value is None else round(metric.value, 4)
    own = "" if metric.value == share else f" = {value}"
    kind = {"rate": "", "mean": f" {metric.unit}".rstrip() + " mean"}.get(metric.kind, " count")
    return f"{metric.numerator:g}/{metric.denominator:g}{own}{kind}{'*' if metric.headline else ''}"
