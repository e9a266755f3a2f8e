"""YAML of version 1.2 with the line of each value and the text of each plain scalar.

`no`, `10:30`, `2026-03-30` and `007` are texts. Only texts, numbers, booleans, null, lists and objects are made.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from wildtool.json_codec import JsonLimits
from wildtool.toolcall.schema import ValuePath

LIMITS = JsonLimits(bytes=16 * 1024 * 1024, depth=100, values=500_000)
"""Of one file: 500,000 values are 30,000 cases."""
_LOADER: Any = type(
    "Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}}
)
_COMPOSE: Any = getattr(yaml, "compose")  # noqa: B009 - its types are not known
_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
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
    if len(text) > LIMITS.bytes:
        raise YamlError(1, f"longer than {LIMITS.bytes >> 20} MiB; make several files of it")
    try:
        node: Any = _COMPOSE(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error).replace("\n", " ")
        hint = "; a text with ': ' or ' #' in it needs quotes" if "mapping values" in problem else ""
        raise YamlError(mark.line + 1 if mark else 1, f"not YAML: {problem}{hint}") from error
    except RecursionError as error:
        raise YamlError(1, f"nested deeper than {LIMITS.depth} levels") from error
    builder = _Builder()
    value = None if node is None else builder.value(node, ())
    return YamlText(value, builder.lines, builder.sources, builder.repeated)


@dataclass(slots=True)
class _Builder:
    lines: dict[ValuePath, int] = field(default_factory=dict[ValuePath, int])
    sources: dict[ValuePath, str] = field(default_factory=dict[ValuePath, str])
    repeated: list[tuple[int, ValuePath]] = field(default_factory=list[tuple[int, ValuePath]])
    count: int = 0
    """Values so far, each alias counted as what it stands for."""

    def value(self, node: Any, path: ValuePath) -> Any:
        line = node.start_mark.line + 1
        self.count += 1
        if self.count > LIMITS.values:
            raise YamlError(line, f"more than {LIMITS.values:,} values; make several files of it")
        if len(path) > LIMITS.depth:
            raise YamlError(line, f"nested deeper than {LIMITS.depth} levels")
        if node.tag not in _TAGS:
            raise YamlError(line, f"the tag {node.tag} is not read; leave it out")
        self.lines.setdefault(path, line)
        if isinstance(node, yaml.MappingNode):
            return self._object(node, path)
        if isinstance(node, yaml.SequenceNode):
            entries: list[Any] = node.value
            return [self.value(entry, (*path, place)) for place, entry in enumerate(entries)]
        return self._scalar(node, path)

    def _object(self, node: Any, path: ValuePath) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError(line, "a key is a list or an object; expected a text")
            key: str = key_node.value
            if key == "<<" and not key_node.style:
                raise YamlError(line, "merge keys (<<) are not read; use defaults")
            place = (*path, key)
            if key in members:
                self.repeated.append((line, place))
                continue
            self.lines[place] = line
            members[key] = self.value(value_node, place)
        return members

    def _scalar(self, node: Any, path: ValuePath) -> Any:
        text: str = node.value
        if node.style:
            return text
        self.sources[path] = text
        if _LEADING_ZERO.match(text):
            return text
        return next((convert(text) for pattern, convert in _SCALARS if pattern.fullmatch(text)), text)
