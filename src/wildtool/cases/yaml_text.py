"""YAML of version 1.2 with the line of each value and the text of each plain scalar.

`no`, `10:30`, `2026-03-30` and `007` are texts. Only texts, numbers, booleans, null, lists and objects are made.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from wildtool.json_codec import JsonLimits, as_list, as_object
from wildtool.toolcall.schema import ValuePath

YAML_LIMITS = JsonLimits(bytes=16 * 1024 * 1024, depth=100, values=500_000)
"""Of one file: 500,000 values are 30,000 cases."""
_LOADER: Any = type(
    "Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}}
)
_PARSE: Any = getattr(yaml, "parse")  # noqa: B009 - its types are not known
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
    # Events, since PyYAML's trees are made by recursion in C, which a text of brackets alone brings down.
    reader = _Reader(_PARSE(text, Loader=_LOADER))
    try:
        value = reader.document()
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error).replace("\n", " ")
        hint = "; a text with ': ' or ' #' in it needs quotes" if "mapping values" in problem else ""
        raise YamlError(mark.line + 1 if mark else 1, f"not YAML: {problem}{hint}") from error
    return YamlText(value, reader.lines, reader.sources, reader.repeated)


@dataclass(slots=True)
class _Reader:
    events: Iterator[Any]
    lines: dict[ValuePath, int] = field(default_factory=dict[ValuePath, int])
    sources: dict[ValuePath, str] = field(default_factory=dict[ValuePath, str])
    repeated: list[tuple[int, ValuePath]] = field(default_factory=list[tuple[int, ValuePath]])
    anchors: dict[str, ValuePath] = field(default_factory=dict[str, ValuePath])
    """By anchor where its value is."""
    values: dict[ValuePath, Any] = field(default_factory=dict[ValuePath, Any])
    """The values of anchors, by their places."""
    count: int = 0
    """Values so far, each alias counted as what it stands for."""

    def document(self) -> Any:
        """The value of the only document; None for an empty text."""
        value, documents = None, 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise YamlError(event.start_mark.line + 1, "a second document (---); make a file of it")
                value = self.value(next(self.events), ())
        return value

    def value(self, event: Any, path: ValuePath) -> Any:
        """The value that begins with an event."""
        line = event.start_mark.line + 1
        self._count(line, path)
        self.lines.setdefault(path, line)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), line, path)
        if event.tag not in (None, "!"):
            raise YamlError(line, f"the tag {event.tag} is not read; leave it out")
        if isinstance(event, yaml.MappingStartEvent):
            value = self._object(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(path)
        else:
            value = self._scalar(event, path)
        if event.anchor:
            self.anchors[event.anchor] = path
            self.values[path] = value
        return value

    def _count(self, line: int, path: ValuePath) -> None:
        self.count += 1
        if self.count > YAML_LIMITS.values:
            raise YamlError(line, f"more than {YAML_LIMITS.values:,} values; make several files of it")
        if len(path) > YAML_LIMITS.depth:
            raise YamlError(line, f"nested deeper than {YAML_LIMITS.depth} levels")

    def _list(self, path: ValuePath) -> list[Any]:
        entries: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            entries.append(self.value(event, (*path, len(entries))))
        return entries

    def _object(self, path: ValuePath) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlError(line, "a key is a list, an object or an alias; expected a text")
            key = str(event.value)
            if key == "<<" and not event.style:
                raise YamlError(line, "merge keys (<<) are not read; use defaults")
            place = (*path, key)
            if key in members:
                self.repeated.append((line, place))
                self.value(next(self.events), place)
                continue
            self.lines[place] = line
            members[key] = self.value(next(self.events), place)
        return members

    def _alias(self, anchor: str, line: int, path: ValuePath) -> Any:
        if anchor not in self.anchors:
            raise YamlError(line, f"the alias *{anchor} is inside of what it means")
        origin = self.anchors[anchor]
        return self._copied(self.values[origin], origin, path, line)

    def _copied(self, value: Any, origin: ValuePath, path: ValuePath, line: int) -> Any:
        """A value at another place, with its texts as they were typed."""
        self._count(line, path)
        if origin in self.sources:
            self.sources[path] = self.sources[origin]
        if isinstance(value, list):
            entries = enumerate(as_list(value))
            return [self._copied(each, (*origin, at), (*path, at), line) for at, each in entries]
        if isinstance(value, dict):
            members = as_object(value).items()
            return {key: self._copied(each, (*origin, key), (*path, key), line) for key, each in members}
        return value

    def _scalar(self, event: Any, path: ValuePath) -> Any:
        text: str = event.value
        if event.style:
            return text
        self.sources[path] = text
        if _LEADING_ZERO.match(text):
            return text
        return next((convert(text) for pattern, convert in _SCALARS if pattern.fullmatch(text)), text)
