"""What a schema says of values beyond their types, and whether a value keeps to it: patterns, formats, bounds, counts."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import chain
from operator import gt, lt
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import argument_parts, as_schema, member_schemas, path_text
from wildtool.toolcall.schema_check import shorten
from wildtool.tools.schema.patterns import PatternError, check_pattern, follows, sample

Remark = tuple[str, str]
"""Where inside the checked value, and what is wrong there."""

_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
FORMAT_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "date": re.compile(_DATE, re.ASCII),
    "time": re.compile(_TIME + r".*", re.ASCII),
    "date-time": re.compile(_DATE + r"[T ]" + _TIME + r".*", re.ASCII),
    "email": re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+"),
    "ipv4": re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}", re.ASCII),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "uri": re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"),
}
"""Formats of texts that are checked; others say nothing."""
FORMAT_EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "date": ("2025-03-14", "2026-12-31"),
    "time": ("09:30", "17:05:00", "09:30:00Z"),
    "date-time": (
        "2025-03-14T09:30:00",
        "2025-03-14T09:30:00Z",
        "2025-03-14 09:30",
        "2025-03-14T09:30:00+01:00",
    ),
    "email": ("anna.berg@example.org",),
    "ipv4": ("192.0.2.7",),
    "uuid": ("3f2b8c1e-7d4a-4c1b-9f30-5a6e2d8b7c90",),
    "uri": ("https://example.org/a", "http://example.org"),
}
"""Texts of each format, for patterns that say the same: few texts drawn by such a pattern are of the format too."""
_DEEPEST = 5
_LOWEST = (("minimum", False), ("exclusiveMinimum", True))
_HIGHEST = (("maximum", False), ("exclusiveMaximum", True))


def constraint_faults(value: Any, schema: Mapping[str, Any]) -> Iterator[Remark]:
    """Where a value breaks a pattern, format, bound or count, at every depth.

    A pattern that cannot be read (`pattern_problem` says why) is not held against a value.
    """
    for path, part, inner in chain([((), value, schema)], argument_parts(value, schema)):
        for problem in _broken(part, inner):
            yield path_text(path), f"{shorten(part)} {problem}"


def pattern_problem(schema: Mapping[str, Any]) -> str:
    """Why the pattern of a schema cannot be checked; empty if it can, or there is none."""
    if "pattern" not in schema:
        return ""
    pattern = schema["pattern"]
    if not isinstance(pattern, str):
        return f"it must be a text, not {shorten(pattern)}"
    try:
        check_pattern(pattern)
    except PatternError as error:
        return str(error)
    return ""


def unchecked_pattern(schema: Mapping[str, Any]) -> str:
    """Why nothing can be said about a schema's pattern: it cannot be checked, or no text is known that follows it."""
    if problem := pattern_problem(schema):
        return problem
    if "pattern" in schema and "enum" not in schema and not sample(schema["pattern"], seeded_draw(1)):
        return "no text was found that follows it"
    return ""


def unchecked_patterns(schema: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[Remark]:
    """Where a schema has such a pattern, and why it cannot be checked."""
    if problem := unchecked_pattern(schema):
        yield path, problem
    if depth < _DEEPEST:
        for name, child in member_schemas(schema).items():
            yield from unchecked_patterns(child, f"{path}.{name}" if path else name, depth + 1)
        if "items" in schema:
            yield from unchecked_patterns(as_schema(schema["items"]), f"{path}[]", depth + 1)


def numeric_bound(schema: Mapping[str, Any], name: str) -> float | None:
    """The number that a keyword gives; None if it gives none."""
    value = schema.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def value_bounds(schema: Mapping[str, Any]) -> tuple[float, float] | None:
    """The least and the largest number that a schema admits, of which the one it does not say is made up."""
    step = 1 if schema.get("type") == "integer" else 0.01
    lows = [low + step * excluded for name, excluded in _LOWEST if (low := _finite(schema, name)) is not None]
    highs = [
        high - step * excluded for name, excluded in _HIGHEST if (high := _finite(schema, name)) is not None
    ]
    if not lows and not highs:
        return None
    low = max(lows) if lows else min(1, min(highs) - 100)
    return low, min(highs) if highs else low + max(100, abs(low))


def _finite(schema: Mapping[str, Any], name: str) -> float | None:
    value = numeric_bound(schema, name)
    return value if value is not None and abs(value) < 1e300 else None


def _broken(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text(value, schema)
        yield from _count(len(value), schema, "Length", "characters")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema)
    elif isinstance(value, list):
        members = as_list(value)
        yield from _count(len(members), schema, "Items", "elements")
        if schema.get("uniqueItems") is True and any(m in members[:k] for k, m in enumerate(members[:200])):
            yield "has an element twice"


def _text(value: str, schema: Mapping[str, Any]) -> Iterator[str]:
    form = schema.get("format")
    if isinstance(form, str) and form in FORMAT_PATTERNS and not _is_form(value, form):
        yield f"is no {form}"
    if "pattern" in schema and not pattern_problem(schema) and not follows(value, schema["pattern"]):
        yield f"does not follow the pattern {shorten(schema['pattern'])}"


def _is_form(value: str, form: str) -> bool:
    if len(value) > 2_000 or FORMAT_PATTERNS[form].fullmatch(value) is None:
        return False
    if not form.startswith("date"):
        return True
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _number(value: float, schema: Mapping[str, Any]) -> Iterator[str]:
    for bounds, outside, inside, exceeds in (
        (_LOWEST, "below", "above", lt),
        (_HIGHEST, "above", "below", gt),
    ):
        for name, excluded in bounds:
            bound = numeric_bound(schema, name)
            if bound is not None and exceeds(value, bound):
                yield f"is {outside} {bound}"
            elif excluded and value == bound:
                yield f"must be {inside} {bound}"


def _count(length: int, schema: Mapping[str, Any], keyword: str, noun: str) -> Iterator[str]:
    lowest, most = numeric_bound(schema, f"min{keyword}"), numeric_bound(schema, f"max{keyword}")
    if lowest is not None and length < lowest:
        yield f"has {length} {noun}; at least {lowest:g}"
    if most is not None and length > most:
        yield f"has {length} {noun}; at most {most:g}"
