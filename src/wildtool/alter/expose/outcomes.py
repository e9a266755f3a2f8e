"""What an exposure keeps of one unit: the facts that the split of losses needs, as cells of verdict columns.

Each exposure makes one `ExposedUnit` of what it saw and gives its `cells`. The split of losses reads them back. The
benchmark's requests to the model under test are numbered from 0 within a unit, each once, however often other
alterations ask the model for it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, cast, get_args

from wildtool.errors import RecordError
from wildtool.json_codec import loads
from wildtool.types import FieldValue

FaultKind = Literal[
    "unread",
    "guessed",
    "search failed",
    "sandbox refused",
    "result misused",
    "script error",
]
"""What may go wrong between model and benchmark: a call of the exposure's own tools that cannot be read; a tool called by
a name that was not found before; a search that could not be carried out; a script that the sandbox refuses though Python
runs it; one that ends in an error at a value which a call returned; one that ends in any other error."""
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class ExposureFault:
    """One thing that went wrong between the model and the benchmark."""

    request: int
    """Number of the benchmark's request that it happened in."""
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class ComputedCall:
    """A call of a script with an argument that follows from what another call returned."""

    request: int
    """Number of the benchmark's request that it answers."""
    tool: str
    """The benchmark's name of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedUnit:
    """What an exposure did in one unit."""

    searches: int | None = None
    """Searches of the model; None where there is nothing to search with."""
    found: tuple[str, ...] | None = None
    """The benchmark's names of the tools that could be called at the end, in the order of finding; None for all."""
    scripts: int | None = None
    """Scripts of the model; None where it writes none."""
    faults: tuple[ExposureFault, ...] = ()
    """In order."""
    computed: tuple[ComputedCall, ...] = ()
    """In order."""
    cut: str = ""
    """The limit of the exposure that ended the unit, in words, such as `20 scripts`; empty for none."""

    def cells(self) -> Mapping[str, FieldValue]:
        """Its cells of `EXPOSURE_COLUMNS`."""
        return {
            "exposure_searches": self.searches,
            "exposure_found": None if self.found is None else _text(list(self.found)),
            "exposure_scripts": self.scripts,
            "exposure_faults": _text([[each.request, each.kind] for each in self.faults]),
            "exposure_computed": _text([[each.request, each.tool] for each in self.computed]),
            "exposure_cut": self.cut,
        }

    @classmethod
    def read(cls, cells: Mapping[str, FieldValue]) -> Self:
        """The unit with these cells. Raises RecordError naming the column that is damaged."""
        found = cells["exposure_found"]
        return cls(
            searches=_count(cells, "exposure_searches"),
            found=None if found is None else tuple(str(name) for name in _list(cells, "exposure_found")),
            scripts=_count(cells, "exposure_scripts"),
            faults=tuple(
                ExposureFault(place, _kind(kind)) for place, kind in _pairs(cells, "exposure_faults")
            ),
            computed=tuple(ComputedCall(place, tool) for place, tool in _pairs(cells, "exposure_computed")),
            cut=str(cells["exposure_cut"]),
        )


EXPOSURE_COLUMNS: Mapping[str, str] = {
    "exposure_searches": "INTEGER",
    "exposure_found": "VARCHAR",
    "exposure_scripts": "INTEGER",
    "exposure_faults": "VARCHAR",
    "exposure_computed": "VARCHAR",
    "exposure_cut": "VARCHAR",
}
"""The verdict columns of every exposure, with their DuckDB types; the lists are JSON texts."""


def _text(values: list[object]) -> str:
    return json.dumps(values, ensure_ascii=False)


def _count(cells: Mapping[str, FieldValue], column: str) -> int | None:
    value = cells[column]
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _damaged(column, value)


def _list(cells: Mapping[str, FieldValue], column: str) -> list[object]:
    value = cells[column]
    try:
        entries = loads(value) if isinstance(value, str) else None
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise _damaged(column, value)
    return cast(list[object], entries)


def _pairs(cells: Mapping[str, FieldValue], column: str) -> list[tuple[int, str]]:
    pairs: list[tuple[int, str]] = []
    for entry in _list(cells, column):
        match entry:
            case [int(place), str(name)]:
                pairs.append((place, name))
            case _:
                raise _damaged(column, cells[column])
    return pairs


def _kind(name: str) -> FaultKind:
    for kind in FAULT_KINDS:
        if kind == name:
            return kind
    raise RecordError(f"verdict column exposure_faults: {name!r} is none of {', '.join(FAULT_KINDS)}")


def _damaged(column: str, value: object) -> RecordError:
    return RecordError(
        f"verdict column {column} holds {value!r}, which no exposure writes; score the run again"
    )
