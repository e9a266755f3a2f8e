"""JSON Schema of types as data sets write them: `int`, `List[str], optional`, `Union[int, None]`, `array<string>`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wildtool.training.texts import UnreadableTextError, parse_value

_WORDS: Mapping[str, str | None] = {
    **dict.fromkeys(("str", "string", "text"), "string"),
    **dict.fromkeys(("int", "integer", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "number"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("list", "array", "tuple", "set", "sequence"), "array"),
    **dict.fromkeys(("dict", "object", "map", "dictionary"), "object"),
    **dict.fromkeys(("any", "none", "null", "callable", "empty", ""), None),
}
_ARRAYS = frozenset({"list", "set", "sequence", "tuple", "iterable", "frozenset", "array"})
_OBJECTS = frozenset({"dict", "mapping", "map"})
_OPTIONAL = re.compile(r"\s*(?:,\s*optional|\(optional\))\s*$", re.IGNORECASE)
_GENERIC = re.compile(r"(?s)(?P<name>[\w.]+)\s*(?:\[(?P<square>.*)\]|<(?P<angle>.*)>)")
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class TypeText:
    """What a type says."""

    schema: Mapping[str, Any]
    """Its JSON Schema; empty if any value is allowed."""
    optional: bool
    unknown: tuple[str, ...] = ()
    """Words in it that no rule knows."""


@lru_cache(maxsize=4096)
def read_type(text: str) -> TypeText:
    """The schema of a type, and whether it says that a value may be left out."""
    bare = _OPTIONAL.sub("", text)
    found = _read(bare.strip(), 0)
    return TypeText(found.schema, found.optional or bare != text, found.unknown)


def _read(text: str, depth: int) -> TypeText:
    text = text.strip().removeprefix("typing.")
    word = text.lower()
    if word in _WORDS:
        name = _WORDS[word]
        return TypeText({"type": name} if name else {}, False)
    parts = _split(text, "|")
    if len(parts) > 1 and all(parts) and depth < _MAX_DEPTH:
        return _union(parts, depth)
    found = _GENERIC.fullmatch(text)
    if found is None or depth >= _MAX_DEPTH:
        return TypeText({}, False, (text[:60],))
    name, inside = found["name"].lower(), found["square"] if found["square"] is not None else found["angle"]
    if name in _ARRAYS:
        return _array(inside, depth)
    if name in _OBJECTS:
        return TypeText({"type": "object"}, False)
    if name == "callable":
        return TypeText({}, False)
    if name == "literal":
        return _literal(inside)
    if name == "optional":
        inner = _read(inside, depth + 1)
        return TypeText(inner.schema, True, inner.unknown)
    if name == "union":
        return _union(_split(inside, ","), depth)
    return TypeText({}, False, (text[:60],))


def _array(inside: str, depth: int) -> TypeText:
    parts = [_read(part, depth + 1) for part in _split(inside, ",") if part != "..."]
    items = _common([part.schema for part in parts])
    unknown = tuple(word for part in parts for word in part.unknown)
    return TypeText({"type": "array", "items": items} if items else {"type": "array"}, False, unknown)


def _union(parts: Sequence[str], depth: int) -> TypeText:
    kept = [part for part in parts if part.lower() not in ("none", "null")]
    read = [_read(part, depth + 1) for part in kept]
    unknown = tuple(word for part in read for word in part.unknown)
    optional = len(kept) < len(parts) or any(part.optional for part in read)
    return TypeText(_common([part.schema for part in read]), optional, unknown)


def _literal(inside: str) -> TypeText:
    try:
        values = parse_value(f"[{inside}]")[0]
    except UnreadableTextError:
        return TypeText({}, False, (f"Literal[{inside}]"[:60],))
    return TypeText({"enum": values}, False)


def _common(schemas: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The schema that all have; a number where some are whole; empty for different ones."""
    if not schemas:
        return {}
    if all(schema == schemas[0] for schema in schemas):
        return schemas[0]
    numbers = all(schema in ({"type": "integer"}, {"type": "number"}) for schema in schemas)
    return {"type": "number"} if numbers else {}


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are in no bracket and no quote."""
    parts: list[str] = []
    depth = start = 0
    quote = ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[<(":
            depth += 1
        elif character in "]>)":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return parts
