"""The units of a run as a gate reads them: all tries of a unit together, with what its case asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.engine.compare.runs import ComparedRun, UnitResults

CASE_HASH, TURN, MUST, AT_LEAST, TAGS, LINE = "case_hash", "turn", "must", "at_least", "tags", "line"
"""Columns of verdicts that benchmarks of cases have."""
CASE_COLUMNS = (CASE_HASH, TURN, MUST, AT_LEAST, TAGS, LINE)
ROUNDING = 1e-9
"""How far a number may miss a limit by rounding alone."""
TriedKey = tuple[str, str]
"""Item and unit; in a benchmark of cases the case and its turn."""


@dataclass(frozen=True, slots=True)
class TriedUnit:
    """One unit with all its tries: the repeats of a run, and those of a case's `repeat`."""

    item: str
    unit: str
    cells: tuple[tuple[str, UnitResults], ...]
    """By name of the unit in the run its results."""

    @property
    def right(self) -> int:
        return sum(cell.right for _, cell in self.cells)

    @property
    def judged(self) -> int:
        """Tries with a verdict."""
        return sum(cell.played for _, cell in self.cells)

    @property
    def failed(self) -> int:
        """Tries without a verdict, which are no wrong answers."""
        return sum(cell.tries - cell.played for _, cell in self.cells)

    @property
    def share_asked(self) -> float:
        """The share of tries that must be right."""
        share = self.kind(AT_LEAST)
        return 0.5 if share is None else float(share)

    @property
    def passes(self) -> bool:
        """Whether enough of its tries are right; false where none has a verdict."""
        return self.judged > 0 and self.right >= self.share_asked * self.judged - ROUNDING

    @property
    def is_flaky(self) -> bool:
        """Whether its tries disagree."""
        return 0 < self.right < self.judged

    @property
    def is_of_case(self) -> bool:
        """Whether its benchmark is one of cases."""
        return AT_LEAST in self.cells[0][1].kinds

    @property
    def must(self) -> bool:
        return self.kind(MUST) is True

    @property
    def tags(self) -> list[str]:
        return [tag for tag in str(self.kind(TAGS) or "").split(", ") if tag]

    def kind(self, column: str) -> Any:
        """A value that all its tries have; None where there is none."""
        return self.cells[0][1].kinds.get(column)


def tried_units(run: ComparedRun) -> dict[TriedKey, TriedUnit]:
    """The units of a run, in its order; tries of one turn of a case are one unit."""
    cells: dict[TriedKey, list[tuple[str, UnitResults]]] = {}
    for (item, unit), cell in run.cells.items():
        turn = cell.kinds.get(TURN) if CASE_HASH in cell.kinds else None
        cells.setdefault((item, unit if turn is None else str(turn)), []).append((unit, cell))
    return {key: TriedUnit(*key, tuple(its)) for key, its in cells.items()}


def names_of_units(units: Iterable[TriedUnit]) -> dict[TriedKey, str]:
    """What each unit is called: its item where that has only one unit, else with its turn or its own name."""
    every = list(units)
    alone: dict[str, int] = {}
    for unit in every:
        alone[unit.item] = alone.get(unit.item, 0) + 1
    return {
        (unit.item, unit.unit): unit.item
        if alone[unit.item] == 1
        else f"{unit.item}, {'turn ' * (unit.kind(TURN) is not None)}{unit.unit}"
        for unit in every
    }


def failing_cases(units: Mapping[TriedKey, TriedUnit]) -> set[str]:
    """The items with fewer right tries than their case asks for; those without a verdict are left out."""
    sums: dict[str, tuple[float, int, int]] = {}
    for unit in units.values():
        share, right, judged = sums.get(unit.item, (unit.share_asked, 0, 0))
        sums[unit.item] = share, right + unit.right, judged + unit.judged
    return {
        item for item, (share, right, judged) in sums.items() if judged and right < share * judged - ROUNDING
    }
