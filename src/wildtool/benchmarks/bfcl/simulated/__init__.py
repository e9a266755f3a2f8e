"""The simulated classes of one multi-turn entry, and the calls that run on them.

Nothing of a call reaches an interpreter: it is parsed, its arguments are literals or calls of known tools, and the
tool is looked up in a table.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, ApiTool, SimulatedApi, SimulatedTables, failed
from wildtool.benchmarks.bfcl.simulated.calculator import MathAPI
from wildtool.benchmarks.bfcl.simulated.files import GorillaFileSystem
from wildtool.benchmarks.bfcl.simulated.messages import MessageAPI
from wildtool.benchmarks.bfcl.simulated.posts import TwitterAPI
from wildtool.benchmarks.bfcl.simulated.tickets import TicketAPI
from wildtool.benchmarks.bfcl.simulated.trading import TradingBot
from wildtool.benchmarks.bfcl.simulated.travel import TravelAPI
from wildtool.benchmarks.bfcl.simulated.vehicle import VehicleControlAPI
from wildtool.errors import DataError
from wildtool.json_codec import object_text
from wildtool.toolcall.call_syntax import dotted_name, parse_expression
from wildtool.toolcall.refusals import RefusedCallError

SIMULATED_CLASSES: Mapping[str, type[SimulatedApi]] = {
    owner.NAME: owner
    for owner in (
        GorillaFileSystem,
        MathAPI,
        MessageAPI,
        TwitterAPI,
        TicketAPI,
        TradingBot,
        TravelAPI,
        VehicleControlAPI,
    )
}
"""By name the classes that an entry may involve, as version 4 has them."""
EXECUTION_ERROR = "Error during execution: "
"""How the text begins that a model sees of a call that raised."""
CALL_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
"""Exceptions that a call may raise for arbitrary arguments; their text is what the model sees."""


def classes_of(version: str) -> Mapping[str, type[SimulatedApi]]:
    """The classes by name, as a version of the data needs them."""
    if version == "v4":
        return SIMULATED_CLASSES
    from wildtool.benchmarks.bfcl.simulated.v3 import V3_CLASSES

    return {**SIMULATED_CLASSES, **V3_CLASSES}


class SimulatedApis:
    """The instances of an entry. Two of them in the same state have equal `states()`."""

    def __init__(
        self,
        tables: SimulatedTables,
        classes: Sequence[str],
        config: Mapping[str, Mapping[str, Any]],
        *,
        long_context: bool = False,
        owners: Mapping[str, type[SimulatedApi]] = SIMULATED_CLASSES,
        steady: bool = False,
    ) -> None:
        """Creates fresh instances. Raises DataError if a class does not exist or its scenario cannot be loaded.

        Args:
            classes: the entry's `involved_classes`; of two that share a tool the later one has it.
            config: the entry's `initial_config`: class to scenario.
            owners: the classes by name.
            steady: whether a reading leaves the random numbers of later calls as they are.
        """
        self._instances: dict[str, SimulatedApi] = {}
        self._tools: dict[str, ApiTool] = {}
        for name in classes:
            if name not in owners:
                raise DataError(f"involved class {name!r}: expected one of {', '.join(owners)}")
            try:
                instance = owners[name](tables, config.get(name, {}), long_context=long_context)
            except CALL_ERRORS as error:
                raise DataError(f"initial_config of {name}: cannot be loaded ({error!r})") from error
            instance.steady = steady
            self._instances[name] = instance
            self._tools |= instance.tools()

    def instances(self) -> Sequence[SimulatedApi]:
        """The instances, in the order of their classes."""
        return list(self._instances.values())

    def execute(self, call: str) -> str:
        """Runs one call, such as `cd(folder='a')`, and returns the text that the model sees. Never raises."""
        try:
            tree = parse_expression(call.strip())
            if not isinstance(tree, ast.Call):
                raise ValueError("expected a call of a tool")
            return object_text(self._value(tree))
        except CALL_ERRORS as error:
            return f"{EXECUTION_ERROR}{error}"

    def states(self) -> Mapping[str, ApiState]:
        """By class the attributes that are compared; the state itself, not a copy."""
        return {name: instance.state for name, instance in self._instances.items()}

    def hidden_states(self) -> Mapping[str, ApiState]:
        """By class what the published rules do not compare."""
        return {name: instance.hidden() for name, instance in self._instances.items()}

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=(int() | float()) as value)):
                return -value
            case ast.List(elts=elements):
                return [self._value(element) for element in elements]
            case ast.Tuple(elts=elements):
                return tuple(self._value(element) for element in elements)
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {
                    self._value(key): self._value(value)
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                }
            case ast.Call(func=func, args=args, keywords=keywords):
                name = dotted_name(func)
                if name not in self._tools:
                    raise ValueError(f"no tool has the name {name!r}")
                positional = [self._value(argument) for argument in args]
                named = {keyword.arg: self._value(keyword.value) for keyword in keywords if keyword.arg}
                if len(named) < len(keywords):
                    raise ValueError("arguments must be written one by one")
                try:
                    return self._tools[name](*positional, **named)
                except RefusedCallError as refusal:
                    return {**refusal.also, **failed(str(refusal))}
            case _:
                raise ValueError(f"expected a value or a call of a tool, found {type(node).__name__}")
