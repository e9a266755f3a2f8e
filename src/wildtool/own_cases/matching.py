"""Whether a value is the one that a case expects: plain values by the rules of `fixed`, and matchers.

A value that does not fit gives the reason in words; an empty text says that it fits.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from wildtool.json_codec import as_list, as_object, canonical_json
from wildtool.toolcall.assignment import max_weight_matching
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.patterns import pattern_occurs
from wildtool.toolcall.schema import as_schema, required_names, without_reference

_ABSENT = object()
"""In place of a value that is not given."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Use:
    """What a value is for."""

    name: str
    """Path of the parameter, such as `filter.price`."""
    schema: Mapping[str, Any]
    root: Mapping[str, Any]
    """Schema of all parameters, in which references are paths."""

    def member(self, key: str) -> "Use":
        """What a member of the value is for."""
        schema = without_reference(self.schema, self.root)
        below = as_schema(as_schema(schema.get("properties")).get(key))
        return Use(f"{self.name}.{key}" if self.name else key, without_reference(below, self.root), self.root)

    def entry(self, place: int) -> "Use":
        """What an entry of the list is for."""
        schema = without_reference(self.schema, self.root)
        below = {"description": schema.get("description"), **as_schema(schema.get("items"))}
        return Use(f"{self.name}[{place}]", below, self.root)


def is_matcher(value: Any) -> bool:
    """Whether an expected value is a matcher and no plain one."""
    return any(key.startswith("$") for key in as_object(value))


def holds_matcher(value: Any) -> bool:
    """Whether there is a matcher in an expected value."""
    if is_matcher(value):
        return True
    return any(map(holds_matcher, as_list(value) or as_object(value).values()))


def misfit(gold: Any, actual: Any, use: Use) -> str:
    """Why a value is not the expected one. Args: actual: decoded; `_ABSENT` or None where it is not given."""
    if is_matcher(gold):
        return _matcher_misfit(as_object(gold), actual, use)
    if _is_absent(actual) or gold is None:
        if gold is None:
            return "" if _is_absent(actual) else f"{use.name}: {show(actual)} was not asked for"
        return f"{use.name}: is not given; expected {show(gold)}"
    if not holds_matcher(gold):
        return _plain_misfit(gold, actual, use)
    if isinstance(gold, list):
        entries, values = as_list(gold), as_list(actual)
        if not isinstance(actual, list) or len(entries) != len(values):
            return f"{use.name}: {show(actual)} is no list of {len(entries)}"
        pairs = enumerate(zip(entries, values, strict=True))
        return next(filter(None, (misfit(first, second, use.entry(at)) for at, (first, second) in pairs)), "")
    if not isinstance(actual, dict):
        return f"{use.name}: {show(actual)} is no object"
    return misfit_of_members(as_object(gold), as_object(actual), use)


def misfit_of_members(
    gold: Mapping[str, Any],
    actual: Mapping[str, Any],
    use: Use,
    ignore: tuple[str, ...] = (),
    *,
    extra: bool = False,
) -> str:
    """Why an object is not the expected one.

    Args:
        ignore: names that do not count, with `*` for any characters.
        extra: whether names that are not expected do not count.
    """

    def counts(key: str) -> bool:
        return not any(fnmatchcase(key, pattern) for pattern in ignore)

    matchers = {key: value for key, value in gold.items() if holds_matcher(value) and counts(key)}
    plain = {
        key: value for key, value in gold.items() if key not in matchers and value is not None and counts(key)
    }
    rest = {
        key: value
        for key, value in actual.items()
        if key not in matchers and value is not None and counts(key) and (not extra or key in gold)
    }
    if plain or rest:
        differences = compare_arguments(plain, rest, _with_definitions(use, {*matchers, *ignore}))
        if differences:
            prefix = f"{use.name}." if use.name else ""
            return prefix + differences[0].message
    needed = required_names(without_reference(use.schema, use.root))
    for key, value in matchers.items():
        if "$not" in as_object(value) and key in needed and _is_absent(actual.get(key)):
            return f"{use.member(key).name}: is required, and not given"
    reasons = (misfit(value, actual.get(key, _ABSENT), use.member(key)) for key, value in matchers.items())
    return next(filter(None, reasons), "")


def _with_definitions(use: Use, elsewhere: set[str]) -> Mapping[str, Any]:
    """The schema of an object with the definitions that it refers to, and without names that are judged elsewhere."""
    schema = without_reference(use.schema, use.root)
    definitions = {key: use.root[key] for key in ("$defs", "definitions") if key in use.root}
    required = [name for name in required_names(schema) if name not in elsewhere]
    return {**definitions, **schema, "required": required}


def _plain_misfit(gold: Any, actual: Any, use: Use) -> str:
    """As `fixed` compares a value, under the name and the schema of its parameter."""
    name = use.name.rpartition(".")[2]
    schema = {**use.root, "properties": {name: use.schema}, "required": [name]}
    differences = compare_arguments({name: gold}, {name: actual}, schema)
    return f"{use.name.removesuffix(name)}{differences[0].message}" if differences else ""


def show(value: Any) -> str:
    """A value for messages, cut and safe to print."""
    if value is _ABSENT:
        return "nothing"
    text = _json_text(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def _is_absent(actual: Any) -> bool:
    return actual is _ABSENT or actual is None


# Matchers ------------------------------------------------------------------------------------------------------------


def _is(operand: Any, actual: Any, use: Use) -> str:
    if operand is None:
        return "" if _is_absent(actual) else f"{use.name}: {show(actual)} is not null ($is)"
    if _is_absent(actual):
        return f"{use.name}: is not given; expected {show(operand)} ($is)"
    return _plain_misfit(operand, actual, use)


def _maybe(operand: Any, actual: Any, use: Use) -> str:
    return "" if _is_absent(actual) else misfit(operand, actual, use)


def _contains(operand: Any, actual: Any, use: Use) -> str:
    parts = as_list(operand) or [operand]
    lacking = [part for part in parts if not _holds(actual, part, use)]
    return f"{use.name}: {show(actual)} does not contain {show(lacking[0])} ($contains)" if lacking else ""


def _holds(actual: Any, part: Any, use: Use) -> bool:
    if isinstance(actual, str):
        return isinstance(part, str) and part.casefold() in actual.casefold()
    return any(not misfit(part, entry, use.entry(at)) for at, entry in enumerate(as_list(actual)))


def _has(operand: Any, actual: Any, use: Use) -> str:
    if not isinstance(actual, dict):
        return f"{use.name}: {show(actual)} is no object ($has)"
    members = as_object(actual)
    pairs = as_object(operand).items()
    reasons = (misfit(value, members.get(key, _ABSENT), use.member(key)) for key, value in pairs)
    return next(filter(None, reasons), "")


def _any(operand: Any, actual: Any, use: Use) -> str:
    return f"{use.name}: is not given ($any)" if _is_absent(actual) else ""


def _absent(operand: Any, actual: Any, use: Use) -> str:
    return "" if _is_absent(actual) else f"{use.name}: {show(actual)} is given; expected none ($absent)"


_REASONS: Mapping[str, Callable[[Any, Any, Use], str]] = {
    "$is": _is,
    "$any": _any,
    "$absent": _absent,
    "$maybe": _maybe,
    "$contains": _contains,
    "$has": _has,
}
"""Matchers that say themselves why a value does not fit. Args: the operand, the value, what it is for."""


def _one_of(operand: Any, actual: Any, use: Use) -> bool:
    return any(not misfit(value, actual, use) for value in as_list(operand))


def _pattern(operand: Any, actual: Any, use: Use) -> bool:
    text = actual if isinstance(actual, str) else _json_text(actual)
    return not _is_absent(actual) and pattern_occurs(operand, text)


def _unordered(operand: Any, actual: Any, use: Use) -> bool:
    members, entries = as_list(operand), as_list(actual)
    if not isinstance(actual, list) or len(members) != len(entries):
        return False
    pairs = {
        (place, entry): 1.0
        for place, member in enumerate(members)
        for entry, value in enumerate(entries)
        if not misfit(member, value, use.entry(entry))
    }
    return len(max_weight_matching(pairs)) == len(members)


def _bounded(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Use], bool]:
    """The fit of a bound: numbers are compared with numbers, and texts with texts."""

    def fits(operand: Any, actual: Any, use: Use) -> bool:
        are_numbers = is_number(operand) and is_number(actual)
        are_texts = isinstance(operand, str) and isinstance(actual, str)
        return (are_numbers or are_texts) and holds(actual, operand)

    return fits


def _date(operand: Any, actual: Any, use: Use) -> bool:
    return isinstance(actual, str) and (actual[:10] == operand or not _plain_misfit(operand, actual, use))


_FITS: Mapping[str, tuple[Callable[[Any, Any, Use], bool], str]] = {
    "$exact": (
        lambda operand, actual, use: (
            actual is not _ABSENT and canonical_json(operand) == canonical_json(actual)
        ),
        "is not exactly",
    ),
    "$one_of": (_one_of, "is none of"),
    "$not": (lambda operand, actual, use: bool(misfit(operand, actual, use)), "must not be"),
    "$pattern": (_pattern, "does not fit"),
    "$unordered": (_unordered, "has not the entries"),
    "$gt": (_bounded(lambda actual, bound: actual > bound), "is not more than"),
    "$gte": (_bounded(lambda actual, bound: actual >= bound), "is not at least"),
    "$lt": (_bounded(lambda actual, bound: actual < bound), "is not less than"),
    "$lte": (_bounded(lambda actual, bound: actual <= bound), "is not at most"),
    "$date": (_date, "is not"),
}
"""Whether a value fits, by operand, value and what it is for; and what is said between value and operand if not."""


def _matcher_misfit(matchers: Mapping[str, Any], actual: Any, use: Use) -> str:
    """Why a value does not fit matchers. `$from` is none of them: a reader puts the value of the result in its place."""
    for key, operand in matchers.items():
        if key in _REASONS:
            if reason := _REASONS[key](operand, actual, use):
                return reason
        elif key == "$near":
            within = matchers["$within"]
            if not _is_near(operand, actual, within):
                return f"{use.name}: {show(actual)} is not within {within} of {operand} ($near)"
        elif key != "$within":
            fits, words = _FITS[key]
            if not fits(operand, actual, use):
                return f"{use.name}: {show(actual)} {words} {show(operand)} ({key})"
    return ""


def _is_near(operand: float, actual: Any, within: float) -> bool:
    if not is_number(actual):
        return False
    try:
        distance = abs(operand - actual)
    except OverflowError:
        return False  # a whole number larger than any float
    return distance <= within or math.isclose(distance, within, rel_tol=1e-9)


def is_number(value: Any) -> bool:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def text_fits(expected: Any, text: str) -> bool:
    """Whether an answer says what is wanted: a text that it contains, or one of the matchers of texts."""
    if isinstance(expected, str):
        return expected.casefold() in text.casefold()
    ((key, operand),) = as_object(expected).items()
    match key:
        case "$is":
            return str(operand).strip().casefold() == text.strip().casefold()
        case "$pattern":
            return pattern_occurs(operand, text)
        case "$contains":
            return all(text_fits(part, text) for part in as_list(operand) or [operand])
        case _:
            return any(text_fits(part, text) for part in as_list(operand))
