"""Reads YAML as JSON's values, within limits: no aliases that multiply, no dates, no `no` that becomes false."""

import json
import re
from collections.abc import Hashable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from wildtool.errors import DataError, UsageError
from wildtool.json_codec import JsonLimits

_SCALARS: Mapping[str, tuple[str, list[str]]] = {
    "bool": (r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    "int": (r"[-+]?(?:0|[1-9][0-9]{0,300})", [*"-+0123456789"]),
    "float": (
        r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)",
        [*"-+0123456789."],
    ),
    "null": (r"~|null|Null|NULL|", [*"~nN", ""]),
    "merge": (r"<<", ["<"]),
}
"""What a plain scalar must be to be no text, as in YAML 1.2, with its first characters."""


def read_yaml(path: Path, text: str, limits: JsonLimits) -> Any:
    """The value of a YAML text.

    Raises:
        DataError: for a text that is not YAML, or beyond the limits once its aliases stand for what they mean.
        UsageError: if PyYAML is missing.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise UsageError(
            f"{path}: reading YAML takes PyYAML (pip install pyyaml); or give it as JSON"
        ) from error
    try:
        _check_size(path, yaml.parse(text, Loader=_loader(yaml)), limits)
        return _plain(yaml.load(text, Loader=_loader(yaml)))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise DataError(f"{path}: not YAML: {error}") from error


def _loader(yaml: Any) -> Any:
    """A safe loader whose plain scalars are those of YAML 1.2: `no`, `12:30` and `2024-05-01` are texts."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    for name, (pattern, first) in _SCALARS.items():
        resolver = re.compile(rf"(?:{pattern})\Z", re.ASCII)
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", resolver, first)
    return loader


def _check_size(path: Path, events: Any, limits: JsonLimits) -> None:
    """Raises DataError for a text that holds too much once each alias is what it stands for."""
    sizes: dict[str, int] = {}
    """Values below each anchor that is closed."""
    open_: list[tuple[str | None, int]] = []
    """Anchors of the lists and objects around, with the values before each."""
    values = 0
    for event in events:
        kind = type(event).__name__
        place = f"{path}:{event.start_mark.line + 1}"
        if kind == "AliasEvent":
            if event.anchor not in sizes:
                raise DataError(f"{place}: the alias *{event.anchor} stands inside of what it means")
            values += sizes[event.anchor]
        elif kind == "ScalarEvent":
            values += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            if event.anchor:
                sizes.pop(event.anchor, None)
            open_.append((event.anchor, values))
            values += 1
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            anchor, before = open_.pop()
            if anchor:
                sizes[anchor] = values - before
        if values > limits.values:
            raise DataError(
                f"{place}: more than {limits.values:,} values, each alias counted as what it stands for; "
                "give fewer tools"
            )
        if len(open_) > limits.depth:
            raise DataError(f"{place}: nested deeper than {limits.depth} levels; give flatter tools")


def _plain(value: Any) -> Any:
    """The value as JSON has it: keys are texts, and so is what JSON does not know."""
    if isinstance(value, dict):
        return {_key(key): _plain(child) for key, child in cast(dict[Hashable, Any], value).items()}
    if isinstance(value, list):
        return [_plain(child) for child in cast(list[Any], value)]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _key(key: Hashable) -> str:
    return json.dumps(key) if key is None or isinstance(key, bool) else str(key)
