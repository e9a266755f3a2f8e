"""Limits, weights and defaults: each number that the program has a name for.

Verdicts, requests and messages follow from them, and no test can try each of a thousand limits at its edge. So all are
written down once, and a change of one is seen for what it is.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import wildtool
from golden_files import same_as_golden

TIMES = {"_LOADED_NS"}
"""When a module was loaded."""
LONGEST = 300
"""Characters of a value that is written down; longer ones are tables that have tests of their own."""


OTHERS = ("wildtool.environments.bridges.", "wildtool.__main__")
"""Modules that need packages of others, or that run."""


def modules() -> Iterator[ModuleType]:
    for place in pkgutil.walk_packages(wildtool.__path__, "wildtool."):
        if not place.name.startswith(OTHERS):
            yield importlib.import_module(place.name)


def numbers_in(value: object) -> bool:
    """Whether a value is a number, or a small collection that has some."""
    if isinstance(value, Mapping):
        return any(numbers_in(entry) for pair in value.items() for entry in pair)
    if isinstance(value, tuple | list):
        return any(map(numbers_in, value))
    return type(value) in (int, float, bool)


def named_numbers(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What a module defines, by name, with the attributes of its classes and the defaults of their fields."""
    source = inspect.getsource(module)
    for name, value in list(vars(module).items()):
        if name.isupper() and name not in TIMES:
            # What is imported stands with the module that it is from.
            if re.search(rf"^[A-Z\d_, ]*\b{name}\b[^=\n]*=", source, re.MULTILINE):
                yield name, value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            fields = getattr(value, "__dataclass_fields__", {})
            annotated = vars(value).get("__annotations__", {})
            # Parts of a benchmark are there once a test has asked for them.
            others = set(re.findall(r"^    (\w+) = part\(", source, re.MULTILINE))
            own = {key: vars(value)[key] for key in vars(value) if key not in others and key[0] != "_"}
            own |= {key: fields[key].default for key in annotated if key in fields}
            yield from ((f"{name}.{key}", default) for key, default in own.items())


def test_numbers_are_as_they_were() -> None:
    lines = [
        f"{module.__name__.removeprefix('wildtool.')} {name} = {value!r}\n"
        for module in modules()
        for name, value in named_numbers(module)
        if numbers_in(value) and len(repr(value)) <= LONGEST and " at 0x" not in repr(value)
    ]
    same_as_golden("numbers.txt", "".join(sorted(lines)))
