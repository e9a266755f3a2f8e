"""The sandbox of one episode: one instance of each involved class, and their tools."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MethodType
from typing import Any

from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition
from wildtool.benchmarks.acebench.sandbox.finance import Finance
from wildtool.benchmarks.acebench.sandbox.phone import BaseApi, FoodPlatform, MessageApi, ReminderApi
from wildtool.benchmarks.acebench.sandbox.travel import Travel
from wildtool.errors import DataError
from wildtool.toolcall.refusals import missing_arguments

SandboxApi = BaseApi | Travel | Finance
SANDBOX_CLASSES: Mapping[str, Callable[[Edition, Mapping[str, Any]], SandboxApi]] = {
    "BaseApi": BaseApi,
    "MessageApi": MessageApi,
    "ReminderApi": ReminderApi,
    "FoodPlatform": FoodPlatform,
    "Travel": Travel,
    "Finance": Finance,
}
"""By name the classes that a record may involve."""
SAVED_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "BaseApi": ("wifi", "logged_in"),
    "MessageApi": ("inbox",),
    "ReminderApi": ("reminder_list",),
    "FoodPlatform": ("users", "logged_in_users", "orders"),
    "Travel": ("users", "reservations"),
    "Finance": ("logged_in", "balances", "loans", "posted"),
}
"""Attributes that make up the end state of an episode."""
TOOL_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    NameError,
    ArithmeticError,
    SyntaxError,
    RecursionError,
    MemoryError,
)
"""Exceptions that a tool may raise for arbitrary arguments, as part of its behaviour."""


class Sandbox:
    """The instances of an episode; a tool runs on every instance that has it."""

    def __init__(self, edition: Edition, classes: Sequence[str], config: Mapping[str, Any]) -> None:
        """Creates instances of the classes. Raises DataError if a class does not exist.

        Args:
            config: the record's `initial_config`. For the original's classes only the `BaseApi` part counts: it is
                loaded into every class after the class's own part (Q68). wildtool's own class uses its own part.
        """
        phone: Mapping[str, Any] = config.get("BaseApi", {})
        self._instances: dict[str, SandboxApi] = {}
        for name in classes:
            if name not in SANDBOX_CLASSES:
                raise DataError(f"involved class {name!r}: expected one of {', '.join(SANDBOX_CLASSES)}")
            part = config.get(name, {}) if SANDBOX_CLASSES[name] is Finance else phone
            self._instances[name] = SANDBOX_CLASSES[name](edition, part)
        self._tools: dict[str, list[MethodType]] = {}
        for instance in self._instances.values():
            for name in _public_methods(type(instance)):
                if name not in edition.absent_tools:
                    self._tools.setdefault(name, []).append(getattr(instance, name))

    def tools(self, name: str) -> list[MethodType]:
        """Every public method of this name, in order of the involved classes."""
        return self._tools.get(name, [])

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Calls a known tool on all its instances; returns the last result (Q75). Raises `TOOL_ERRORS`."""
        value: Any = None
        for tool in self.tools(name):
            _check_arguments(tool, arguments)
            value = tool(**arguments)
        return value

    def state(self, name: str) -> ClassState:
        """All attributes of an instance."""
        instance = self._instances[name]
        return {key: value for key, value in vars(instance).items() if not key.startswith("_")}

    def saved(self) -> list[ClassState]:
        """The end state: for each class in order its saved attributes, as JSON stores them."""
        return [
            {name: as_json(attributes)}
            for entry in self.instances_state()
            for name, attributes in entry.items()
        ]

    def instances_state(self) -> list[ClassState]:
        """The end state itself, not a copy."""
        return [
            {name: {attribute: getattr(instance, attribute) for attribute in SAVED_ATTRIBUTES[name]}}
            for name, instance in self._instances.items()
        ]


def _check_arguments(tool: MethodType, arguments: Mapping[str, Any]) -> None:
    """Raises TypeError with the message of Python 3.11, which later versions extend."""
    name = tool.__qualname__
    parameters = _parameters(type(tool.__self__), tool.__name__)
    for argument in arguments:
        if argument not in parameters:
            raise TypeError(f"{name}() got an unexpected keyword argument {argument!r}")
    missing = [key for key, required in parameters.items() if required and key not in arguments]
    if missing:
        raise TypeError(missing_arguments(name, missing))


@cache
def _public_methods(owner: type[SandboxApi]) -> tuple[str, ...]:
    """Names of the methods that a class offers as tools."""
    methods = inspect.getmembers(owner, inspect.isfunction)
    return tuple(name for name, _ in methods if not name.startswith("_"))


@cache
def _parameters(owner: type[SandboxApi], tool: str) -> Mapping[str, bool]:
    """Names of a tool's parameters, each with whether it is required."""
    parameters = inspect.signature(getattr(owner, tool)).parameters.values()
    return {p.name: p.default is inspect.Parameter.empty for p in parameters if p.name != "self"}


def as_json(value: Any) -> Any:
    """A copy as JSON stores it: keys as texts, tuples as lists, other types as their `repr`."""
    match value:
        case dict():
            return {_key(key): as_json(element) for key, element in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list() | tuple():
            return [as_json(element) for element in value]  # pyright: ignore[reportUnknownVariableType]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return repr(value)


def _key(key: Any) -> str:
    match key:
        case str():
            return key
        case None | bool():
            return {None: "null", True: "true", False: "false"}[key]
        case _:
            return repr(key)
