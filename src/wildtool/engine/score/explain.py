"""What a number is: its formula in words, and each unit behind it with the reason for its verdict."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import played_benchmark
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError, unknown_name
from wildtool.stats.metrics import CORRECT_SQL, FORMULAS, SAMPLE_WEIGHT, Rate, counted_rate, default_rates
from wildtool.stats.tables import Table
from wildtool.types import Metric


@dataclass(frozen=True, slots=True)
class CountedUnit:
    """A unit behind a number."""

    item: str
    repeat: int
    unit: str
    outcome: str
    error: str | None
    reason: str
    numerator: float
    """What it adds to the number's numerator."""
    denominator: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A number of a run, explained."""

    result: ScoreResult
    metric: Metric
    about: str
    """What the benchmark says of its table; may be empty."""
    formula: str
    by_unit: bool
    """Whether the number is the sum over its units; otherwise `units` are all that were judged."""
    units: Sequence[CountedUnit]
    """Those first that a reader looks for: the ones that cost points, or that have the property that is counted."""


def metric_named(metrics: Sequence[Metric], name: str, others: Sequence[str] = ()) -> Metric:
    """The metric of a name, or of `group: name`. Raises UsageError where there is none, or several.

    Args: others: words that are known beside numbers, for the message.
    """
    by_name = {f"{metric.group}: {metric.name}": metric for metric in metrics}
    matches = [full for full, metric in by_name.items() if name in (full, metric.name)]
    if len(matches) > 1:
        raise UsageError(f"several numbers are called {name!r}: {', '.join(matches)}")
    if not matches:
        raise UsageError(unknown_name("number", name, [*others, *by_name]))
    return by_name[matches[0]]


def explain(folder: Path, name: str, profile: str | None = None) -> Explanation:
    """Explains a number of a run. Raises UsageError for an unknown one, and as `open_results`.

    Args:
        name: as of `metric_named`.
        profile: rules to judge by; None for those it was played under.
    """
    with open_results(folder, profile) as (result, table):
        metric = metric_named(result.metrics, name)
        rows = relation([table])
        numbers = DeclaredNumbers(played_benchmark(folder, read_run(folder), result.benchmark), rows, result)
        return Explanation(
            result,
            metric,
            numbers.about(metric),
            numbers.formula(metric),
            numbers.rate(metric) is not None,
            _units(rows, metric, numbers.rate(metric)),
        )


class DeclaredNumbers:
    """How each number of a run was declared: its table, and its rate where it is one."""

    def __init__(self, owner: Benchmark, rows: Any, result: ScoreResult) -> None:
        """Args:
        owner: the benchmark of the run.
        rows: DuckDB relation of its verdict rows.
        """
        self._tables = [
            table for table in owner.tables if not table.profiles or result.profile in table.profiles
        ]
        self.rates: list[Rate] = []
        """Those that the benchmark declares, or that every benchmark has by its groups."""
        self._of_key: dict[tuple[str, str], tuple[Table | None, Rate | None]] = {}
        for rate in (rate for each in result.alterations for rate in each.rates(rows)):
            self._of_key.setdefault(_key(rate), (None, rate))
        for table in self._tables:
            for number in table.declared(rows, result.profile):
                if isinstance(number, Rate | Metric):
                    rate = number if isinstance(number, Rate) else None
                    self._of_key.setdefault(_key(number), (table, rate))
                    self.rates += [rate] if rate else []
        if not owner.tables:
            self.rates = default_rates(rows, owner.groups)
            for rate in self.rates:
                self._of_key.setdefault(_key(rate), (None, rate))
        self._weighted = SAMPLE_WEIGHT in rows.columns

    def rate(self, metric: Metric) -> Rate | None:
        """The rate that a number is; None for one that is no sum over units."""
        return self._of_key.get(_key(metric), (None, None))[1] or counted_rate(metric)

    def about(self, metric: Metric) -> str:
        """What the benchmark says of its table; may be empty."""
        table = self._table(metric)
        return table.about if table else ""

    def formula(self, metric: Metric) -> str:
        """How it is computed, in words."""
        table, rate = self._table(metric), self._of_key.get(_key(metric), (None, None))[1]
        return _formula(metric, rate, table.formulas if table else {}, weighted=self._weighted)

    def _table(self, metric: Metric) -> Table | None:
        if (found := self._of_key.get(_key(metric))) is not None:
            return found[0]
        return next((table for table in self._tables if metric.group in table.groups), None)


def _key(number: Rate | Metric) -> tuple[str, str]:
    return number.group, number.name


def _formula(metric: Metric, rate: Rate | None, formulas: Mapping[str, str], *, weighted: bool) -> str:
    """How a number is computed, in words."""
    if rate is None:
        names = [f"{metric.group}: {metric.name}", metric.group]
        matches = (text[each] for each in names for text in (formulas, FORMULAS) if each in text)
        return next(matches, "computed by the benchmark from other numbers or from several units at once")
    units = "all units" if rate.where == "TRUE" else f"units with {_words(rate.where)}"
    part, divisor = rate.numerator, rate.denominator
    if part == CORRECT_SQL and divisor == "1":
        words = f"correct units divided by {units}"
    elif divisor == "1" and (condition := re.fullmatch(r"CAST\((.+) AS INTEGER\)", part)):
        words = f"{units} that also have {_words(condition[1])}, divided by {units}"
    elif divisor == "1":
        words = f"sum of {_words(part)} over {units}, divided by their number"
    else:
        words = f"sum of {_words(part)} divided by sum of {_words(divisor)}, over {units}"
    if rate.weight or weighted:
        words += "; each unit weighted, so that the number estimates that of all items"
    return words


_REWRITES = (
    (r"^COALESCE\((.*), FALSE\)$", r"\1"),
    (r"CAST\((\S+|'[^']*'|\"[^\"]*\") AS \w+\)", r"\1"),
    (r"\"(\w+)\"", r"\1"),
    (r"COALESCE\(([^(),]+), (?:0|FALSE)\)", r"\1"),
    (r"COALESCE\(([^(),]+), TRUE\)", r"(\1 or unknown)"),
    (r" AND TRUE\b", ""),
    (r"\bIS NOT NULL\b", "is known"),
    (r"\bIS NULL\b", "is unknown"),
    (r"\bNOT\b", "not"),
    (r"<>", "≠"),
    (r"\bAND\b", "and"),
    (r"\bOR\b", "or"),
    (r"\bIN\b", "in"),
)


def _words(sql: str) -> str:
    """A condition or an amount without the parts of SQL that only a database needs."""
    for pattern, replacement in _REWRITES:
        sql = re.sub(pattern, replacement, sql)
    return sql


def loses_points(metric: Metric) -> bool:
    """Whether readers of a number look for units that lose points, rather than for those that have what it counts."""
    return metric.better == "more" and metric.kind != "count"


def _units(rows: Any, metric: Metric, rate: Rate | None) -> list[CountedUnit]:
    part, divisor, where = (
        (rate.numerator, rate.denominator, rate.where) if rate else (CORRECT_SQL, "1", "TRUE")
    )
    columns = "item, repeat, unit, outcome, error, coalesce(reason, '')"
    amounts = f"coalesce({part}, 0)::DOUBLE, coalesce({divisor}, 0)::DOUBLE"
    units = [
        CountedUnit(*row) for row in rows.filter(where).project(f"{columns}, {amounts}").fetchall() if row[-1]
    ]
    if loses_points(metric):
        return sorted(units, key=lambda unit: unit.numerator >= unit.denominator)
    return sorted(units, key=lambda unit: not unit.numerator)
