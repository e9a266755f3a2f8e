"""What the simulated classes share: their state, their random numbers, and the tables that they read."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, ClassVar, cast

from wildtool.data.files import find_packed, read_json
from wildtool.errors import DataError
from wildtool.json_codec import checked

ApiState = dict[str, Any]
"""Attributes of one simulated class, or one entry of them."""
ApiTool = Callable[..., Any]
TABLES_FILE = "simulated_api_tables.json"
FILLER_FILE = "long_context_constants.json"


@dataclass(frozen=True, slots=True)
class SimulatedTables:
    """The benchmark's own tables, read from its data folder and not shipped."""

    defaults: Mapping[str, ApiState]
    """Class to the attributes of an instance whose scenario sets none, and its `random_seed`."""
    lookups: Mapping[str, Mapping[str, Any]]
    """Class to `method.table` to a list, or to a mapping whose keys may be tuples."""
    filler: Mapping[str, Any]
    """Constants that inflate state and results in the long-context variant."""


NO_TABLES = SimulatedTables({}, {}, {})
"""For classes that need none."""


def read_simulated_tables(folder: Path) -> SimulatedTables:
    """Reads the tables from the benchmark's data folder. Raises DataError naming the file."""
    path = folder / TABLES_FILE
    try:
        tables = _read(folder, TABLES_FILE)
        defaults = {name: table.get("default_state", {}) for name, table in tables.items()}
        lookups = {
            name: {key: _lookup(rows) for key, rows in table.get("lookup_tables", {}).items()}
            for name, table in tables.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not tables of simulated classes ({error}); get the data again") from error
    filler = {key: _with_ellipsis(value) for key, value in _read(folder, FILLER_FILE).items()}
    return SimulatedTables(defaults, lookups, filler)


def _read(folder: Path, name: str) -> dict[str, Any]:
    path = find_packed(folder, name)
    if path is None:
        raise DataError(f"{folder / name} is missing; get the data with `wildtool data pull bfcl`")
    return checked(read_json(path), dict, str(path))


def _lookup(rows: list[Any]) -> Any:
    """A list of texts as it is; a list of `[key, value]` as a mapping, with keys that are lists as tuples."""
    if any(isinstance(row, str) for row in rows):
        return rows
    return {tuple(key) if isinstance(key, list) else key: value for key, value in rows}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _with_ellipsis(value: Any) -> Any:
    """A constant; a list may hold Python's `...`, which JSON files write as an object."""
    if not isinstance(value, list):
        return value
    return [
        ... if element == {"__python_ellipsis__": True} else element for element in cast(list[Any], value)
    ]


class SimulatedApi:
    """One simulated class: its public methods are the tools, `state` is what the checker compares.

    A method that refuses a call raises RefusedCallError. For arguments of an unexpected kind it may raise `CALL_ERRORS`.
    """

    NAME: ClassVar[str]
    """Name of the class in the data."""
    DOCUMENTS: ClassVar[str]
    """Name of the file that documents its tools, without ending."""
    REMOVED: ClassVar[frozenset[str]] = frozenset()
    """Methods that are no tools of this class."""

    def __init__(
        self,
        tables: SimulatedTables = NO_TABLES,
        scenario: Mapping[str, Any] = MappingProxyType({}),
        *,
        long_context: bool = False,
    ) -> None:
        """Creates an instance.

        Args:
            scenario: the class's part of `initial_config`; each attribute that it lacks has its default.
            long_context: whether state and results are inflated.
        """
        defaults = tables.defaults.get(self.NAME, {})
        self._lookups = tables.lookups.get(self.NAME, {})
        self._filler = tables.filler
        self._long = long_context
        self._random = Random(scenario.get("random_seed", defaults.get("random_seed")))
        self.state: ApiState = {
            key: copied(scenario.get(key, default))
            for key, default in defaults.items()
            if key != "random_seed" and not key.startswith("_")
        }
        self._set_up(scenario)

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        """What else of a scenario a class keeps, and in which form."""

    steady = False
    """Whether a reading, such as of the speed, leaves the random numbers of later calls as they are."""

    def hidden(self) -> ApiState:
        """Attributes that the published rules do not compare, as far as `fixed` does."""
        return {}

    def facts(self) -> ApiState:
        """What holds now: the plain values of its state, such as a balance or who is logged in."""
        return {
            name: value
            for name, value in self.state.items()
            if isinstance(value, str | int | float) and name != "long_context"
        }

    def tools(self) -> Mapping[str, ApiTool]:
        """The tools by name."""
        return {name: getattr(self, name) for name in _tool_names(type(self))}


def copied(value: Any) -> Any:
    """A copy of a JSON value; `copy.deepcopy`, which also looks for shared parts, takes five times as long."""
    if isinstance(value, dict):
        return {key: copied(element) for key, element in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return [copied(element) for element in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def failed(text: str) -> ApiState:
    """What a refused call returns."""
    return {"error": text}


@cache
def _tool_names(owner: type[SimulatedApi]) -> tuple[str, ...]:
    methods = inspect.getmembers(owner, inspect.isfunction)
    hidden = owner.REMOVED | {"tools", "hidden", "facts"}
    return tuple(name for name, _ in methods if not name.startswith("_") and name not in hidden)
