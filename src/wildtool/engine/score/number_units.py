"""Which units are behind each number of a run, all numbers at once: what pages filter their lists by."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.engine.score.explain import DeclaredNumbers, loses_points
from wildtool.engine.score.results import ScoreResult
from wildtool.stats.metrics import CORRECT_SQL
from wildtool.types import Metric

_DIGITS = b"01" + bytes(254)
UnitAddress = tuple[str, int, str]
"""Item, repeat and unit."""


@dataclass(frozen=True, slots=True)
class NumberUnits:
    """The units behind one number. A set of units is an integer: bit n is set if unit n is in it."""

    name: str
    """Group and name, as `metric_named` takes it."""
    formula: str
    """How it is computed, in words."""
    by_unit: bool
    """Whether it is the sum over its units; otherwise `counted` are all that were judged."""
    lost_first: bool
    """Whether a reader looks for the units that lose points, rather than for those that add to it."""
    counted: int
    """What it is about."""
    adding: int
    """What adds to it, if it counts."""
    losing: int
    """What adds less to it than it could, if it counts."""


@dataclass(frozen=True, slots=True)
class UnitsOfNumbers:
    """The units behind all numbers of a run."""

    units: Sequence[UnitAddress] = ()
    """Where each is, by its number in the sets."""
    numbers: Sequence[NumberUnits] = ()


def units_of_numbers(declared: DeclaredNumbers, rows: Any, result: ScoreResult) -> UnitsOfNumbers:
    """The units behind all numbers of a run.

    Args:
        declared: how its numbers were declared.
        rows: DuckDB relation of its verdict rows.
    """
    terms = {metric: _terms(declared, metric) for metric in result.metrics}
    columns = list(dict.fromkeys(column for its in terms.values() for column in its))
    found = rows.project(", ".join(["item", "repeat", "unit", *columns])).fetchall()
    # A run has a hundred columns of thousands of units.
    sets = dict(zip(columns, map(_bits, list(zip(*found, strict=True))[3:]), strict=False))
    numbers = [
        NumberUnits(
            f"{metric.group}: {metric.name}",
            declared.formula(metric),
            declared.rate(metric) is not None,
            loses_points(metric),
            *(sets.get(column, 0) for column in its),
        )
        for metric, its in terms.items()
    ]
    return UnitsOfNumbers([(item, repeat, unit) for item, repeat, unit, *_ in found], numbers)


def _terms(declared: DeclaredNumbers, metric: Metric) -> tuple[str, str, str]:
    """Which units a number is about, which add to it, and which add less than they could, as conditions in SQL."""
    rate = declared.rate(metric)
    where, part, whole = (
        ("TRUE", CORRECT_SQL, "1") if rate is None else (rate.where, rate.numerator, rate.denominator)
    )
    return (
        f"coalesce(({where}) AND ({whole}) <> 0, FALSE)",
        f"coalesce(({part}) > 0, FALSE)",
        f"coalesce(({part}), 0) < ({whole})",
    )


def _bits(values: Iterable[bool | None]) -> int:
    """The set of the places that are true."""
    return int(bytes(map(bool, values)).translate(_DIGITS)[::-1] or b"0", 2)
