"""Addresses on the trajectories page: the units behind a number, a cell, an error class or a difference of two runs.

Each function gives a query; `Site.link(TRAJECTORIES, query)` makes the address of it. `trajectories.js` reads the same
names, and writes them when a reader changes a filter.
"""

from typing import Literal
from urllib.parse import urlencode

from wildtool.engine.compare.published import MetricKey

TRAJECTORIES = "trajectories"
"""The page that numbers link to."""
Differ = Literal["any", "gained", "lost"]
"""How a run differs from another on a unit: in any way, right more often, or less often."""


def units_of_number(run: int, number: MetricKey) -> str:
    """The units behind a number of a run. The page shows those first that a reader looks for: the ones that lose points,
    or that have what the number counts.

    Args:
        number: group and name of the metric.
    """
    return _query(run, number=number_name(number))


def units_of_cell(run: int, row: MetricKey, column: MetricKey) -> str:
    """The units behind a cell of a matrix: those that count for the number of its row and for that of its column."""
    return _query(run, number=number_name(row), cross=number_name(column))


def units_that_differ(run: int, against: int, differ: Differ = "any") -> str:
    """The units that two runs on the same items did not get right equally often.

    Args:
        run: the one whose units are listed.
        against: the baseline.
        differ: `gained` for those that `run` got right more often than the baseline.
    """
    return _query(run, against=str(against), differ=differ)


def number_name(number: MetricKey) -> str:
    """A number by name, as `wildtool show --why` takes it."""
    return ": ".join(number)


def _query(run: int, **filters: str) -> str:
    return urlencode({"run": run, **{name: value for name, value in filters.items() if value}})
