"""Tables of a benchmark's numbers as declarations: what is measured, of which rows, and how a report shows it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metrics
from wildtool.types import Metric

Computed = Mapping[tuple[str, str], Metric]
"""By group and name every rate of a summary."""
TableNumber = Rate | Metric | Callable[[Computed], Iterable[Metric]]
"""A rate, a metric as it is, or metrics that follow from all the rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Numbers of a summary that belong together. One with a title is a page of a report, too."""

    title: str = ""
    slug: str = ""
    """The page's file name: lower-case letters, digits and `-`; empty for the title's words."""
    about: str = ""
    """A paragraph for the reader: what is shown, and how to read it."""
    measures: Mapping[str, str | tuple[str, str]] = field(default_factory=dict[str, str | tuple[str, str]])
    """Name of each rate of a row to its numerator in SQL, or to numerator and denominator."""
    cuts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of each part of the rows to its condition in SQL. There is a rate for each measure and cut, whose group is
    the measure and whose name is the cut."""
    headline: bool = False
    """Whether those rates belong in a table of models."""
    numbers: Callable[[Any, str], Iterable[TableNumber]] | None = None
    """More numbers of a relation of verdict rows under a profile, in order."""
    formulas: Mapping[str, str] = field(default_factory=dict[str, str])
    """By `group: name`, or by group, the formulas in words of numbers that are no rates of units."""
    groups: tuple[str, ...] = ()
    """Groups of metrics on the page, in order, where they are others than the names of `measures`."""
    profiles: tuple[str, ...] = ()
    """Profiles that have it; empty for all."""
    chart: Literal["bars", "lines", "stacked"] = "bars"
    """`lines` where names of metrics are points along an axis, `stacked` where they are shares of one whole."""
    axis: str = ""
    """What the names of the metrics are, such as `instruction transitions`."""
    note: str = ""
    """A remark that is always shown with its numbers, such as why a perfect run does not reach 100 %."""
    step_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Groups of its metrics that rest on which calls were made in one reply, each with the profiles of which that holds,
    or with none for all. They have no value in a run of which nobody knows that."""
    matrices: tuple[tuple[str, str], ...] = ()
    """Pairs of groups of rates whose matrix the page shows, rows first."""

    def declared(self, verdicts: Any, profile: str) -> list[TableNumber]:
        """Its numbers, not yet computed."""
        rates = [
            Rate(
                measure, cut, where, *((terms,) if isinstance(terms, str) else terms), headline=self.headline
            )
            for measure, terms in self.measures.items()
            for cut, where in self.cuts.items()
        ]
        return [*rates, *(self.numbers(verdicts, profile) if self.numbers else ())]


def summary_of(tables: Sequence[Table], verdicts: Any, profile: str) -> list[Metric]:
    """All numbers of a run under a profile, in the order of their tables; the rates in one pass over the rows.

    Args:
        verdicts: DuckDB relation of verdict rows.
    """
    declared = _declared(tables, verdicts, profile)
    rates = [number for number in declared if isinstance(number, Rate)]
    metrics = rate_metrics(verdicts, rates)
    computed = {(metric.group, metric.name): metric for metric in metrics}
    following = iter(zip(rates, metrics, strict=True))
    summary: list[Metric] = []
    for number in declared:
        if isinstance(number, Rate):
            rate, metric = next(following)
            summary += [metric] if metric.denominator or not rate.only_if_any else []
        elif isinstance(number, Metric):
            summary.append(number)
        else:
            summary += number(computed)
    return summary


def declared_rates(tables: Sequence[Table], verdicts: Any, profile: str) -> list[Rate]:
    """The rates among the numbers of a profile, not yet computed."""
    return [number for number in _declared(tables, verdicts, profile) if isinstance(number, Rate)]


def _declared(tables: Sequence[Table], verdicts: Any, profile: str) -> list[TableNumber]:
    return [
        number
        for table in tables
        if not table.profiles or profile in table.profiles
        for number in table.declared(verdicts, profile)
    ]


def error_table(
    names: Iterable[Any], about: str = "", where: str = "outcome = 'wrong'", profiles: tuple[str, ...] = ()
) -> Table:
    """The page of error classes, as shares of the wrong rows."""
    rates = error_rates("errors", names, where=where)
    return Table(
        title="Errors",
        about=about or "The first thing that is wrong, as shares of the wrong records.",
        numbers=lambda verdicts, profile: rates,
        groups=("errors",),
        chart="stacked",
        profiles=profiles,
    )


def usual_tables(
    unit: str, about: str, not_scorable: Callable[[Any], int] | None = None
) -> tuple[Table, Table]:
    """Coverage, and the page of cost: what every summary ends with.

    Args:
        unit: what the benchmark calls a unit.
        about: of the page.
        not_scorable: counts the rows that the original could not have scored; by default those with a text in the column
            `reference_error`.
    """
    count = not_scorable or _raising
    return (
        Table(numbers=lambda verdicts, profile: coverage(verdicts, count(verdicts), unit)),
        Table(
            title="Cost",
            about=about,
            numbers=lambda verdicts, profile: cost(verdicts, unit),
            groups=("cost",),
        ),
    )


def _raising(verdicts: Any) -> int:
    """Rows on which the original raises, as the column `reference_error` says where there is one."""
    if "reference_error" not in verdicts.columns:
        return 0
    ((raising,),) = verdicts.aggregate("COUNT(reference_error)").fetchall()
    return raising
