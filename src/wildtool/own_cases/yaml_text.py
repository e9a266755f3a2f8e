"""YAML of version 1.2 with the line of each value and the text of each plain scalar.

`no`, `10:30`, `2026-03-30` and `007` are texts. Only texts, numbers, booleans, null, lists and objects are made.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import yaml

from wildtool.json_codec import JsonLimits
from wildtool.toolcall.schema import ValuePath

YAML_LIMITS = JsonLimits(bytes=16 * 1024 * 1024, depth=100, values=500_000)
"""Of one file: 500,000 values are 30,000 cases."""
_LOADER: Any = type(
    "Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}}
)
_PARSE: Any = getattr(yaml, "parse")  # noqa: B009 - its types are not known
_COMPOSE: Any = getattr(yaml, "compose")  # noqa: B009
_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile("true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    (re.compile("|~|null|Null|NULL"), lambda text: None),
    (re.compile(r"[-+]?(?:0|[1-9][0-9]{0,300})"), int),
    (re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?"), float),
)
"""What a scalar without quotes is unless it is a text. A number that begins with 0 is a text, as a postcode is."""
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")


class YamlError(ValueError):
    """A text that is no YAML, or beyond the limits."""

    def __init__(self, line: int, message: str) -> None:
        """Args: line: from 1."""
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlText:
    """What a text holds."""

    value: Any
    lines: dict[ValuePath, int]
    sources: dict[ValuePath, str]
    repeated: list[tuple[int, ValuePath]]
    """Line and path of each key that an object has had before."""


def read_yaml_text(text: str) -> YamlText:
    """The value of a YAML text; of a key that occurs twice the first. Raises YamlError."""
    if len(text) > YAML_LIMITS.bytes:
        raise YamlError(1, f"longer than {YAML_LIMITS.bytes >> 20} MiB; make several files of it")
    try:
        _check_nesting(text)
        node: Any = _COMPOSE(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error).replace("\n", " ")
        hint = "; a text with ': ' or ' #' in it needs quotes" if "mapping values" in problem else ""
        raise YamlError(mark.line + 1 if mark else 1, f"not YAML: {problem}{hint}") from error
    read = YamlText(None, {}, {}, [])
    return replace(read, value=None if node is None else _Reader(read).value(node, ()))


def _check_nesting(text: str) -> None:
    """Raises YamlError where a tree cannot be made of the text: PyYAML makes it by recursion in C, which a text of
    brackets alone brings down."""
    depth = documents = 0
    for event in _PARSE(text, Loader=_LOADER):
        line = event.start_mark.line + 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > YAML_LIMITS.depth:
            raise YamlError(line, f"nested deeper than {YAML_LIMITS.depth} levels")
        if documents > 1:
            raise YamlError(line, "a second document (---); make a file of it")
        if getattr(event, "tag", None) not in (None, "!"):
            raise YamlError(line, f"the tag {event.tag} is not read; leave it out")


@dataclass(slots=True)
class _Reader:
    read: YamlText
    count: int = 0
    """Values so far, each alias counted as what it means."""

    def value(self, node: Any, path: ValuePath) -> Any:
        """The value of a node; what an alias means is read again, at its own place."""
        line = node.start_mark.line + 1
        self.count += 1
        if self.count > YAML_LIMITS.values:
            raise YamlError(line, f"more than {YAML_LIMITS.values:,} values; make several files of it")
        if len(path) > YAML_LIMITS.depth:
            raise YamlError(
                line, f"nested deeper than {YAML_LIMITS.depth} levels, or an alias inside of itself"
            )
        self.read.lines.setdefault(path, line)
        if isinstance(node, yaml.MappingNode):
            return self._object(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(entry, (*path, at)) for at, entry in enumerate(node.value)]
        return self._scalar(node, path)

    def _object(self, node: Any, path: ValuePath) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, value in node.value:
            line = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise YamlError(line, "a key is a list or an object; expected a text")
            key = str(name.value)
            if key == "<<" and not name.style:
                raise YamlError(line, "merge keys (<<) are not read; use defaults")
            place = (*path, key)
            if key in members:
                self.read.repeated.append((line, place))
                continue
            self.read.lines[place] = line
            members[key] = self.value(value, place)
        return members

    def _scalar(self, node: Any, path: ValuePath) -> Any:
        text: str = node.value
        if node.style:
            return text
        self.read.sources[path] = text
        if _LEADING_ZERO.match(text):
            return text
        return next((convert(text) for pattern, convert in _SCALARS if pattern.fullmatch(text)), text)
