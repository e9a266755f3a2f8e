"""Whether a value is the one that a case expects: plain values by the rules of `fixed`, and matchers.

A value that does not fit gives the reason in words; an empty text says that it fits.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, canonical_json, replace_surrogates
from wildtool.toolcall.arguments import MAX_ARGUMENT_CHARACTERS
from wildtool.toolcall.assignment import max_weight_matching
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.schema import as_schema, required_names, without_reference

ABSENT = object()
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


def misfit(gold: Any, given: Any, use: Use) -> str:
    """Why a value is not the expected one. Args: given: decoded; `ABSENT` or None where it is not given."""
    if is_matcher(gold):
        matchers = as_object(gold)
        reasons = (_MATCHERS[key](operand, given, use, matchers) for key, operand in matchers.items())
        return next(filter(None, reasons), "")
    if _is_absent(given) or gold is None:
        if gold is None:
            return "" if _is_absent(given) else f"{use.name}: {show(given)} was not asked for"
        return f"{use.name}: is not given; expected {show(gold)}"
    if not holds_matcher(gold):
        return _plain_misfit(gold, given, use)
    if isinstance(gold, list):
        entries, others = as_list(gold), as_list(given)
        if not isinstance(given, list) or len(entries) != len(others):
            return f"{use.name}: {show(given)} is no list of {len(entries)}"
        pairs = enumerate(zip(entries, others, strict=True))
        return next(filter(None, (misfit(one, other, use.entry(at)) for at, (one, other) in pairs)), "")
    if not isinstance(given, dict):
        return f"{use.name}: {show(given)} is no object"
    return misfit_of_members(as_object(gold), as_object(given), use)


def misfit_of_members(
    gold: Mapping[str, Any],
    given: Mapping[str, Any],
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
        for key, value in given.items()
        if key not in matchers and value is not None and counts(key) and (not extra or key in gold)
    }
    if plain or rest:
        differences = compare_arguments(plain, rest, _with_definitions(use, {*matchers, *ignore}))
        if differences:
            prefix = f"{use.name}." if use.name else ""
            return prefix + differences[0].message
    reasons = (misfit(value, given.get(key, ABSENT), use.member(key)) for key, value in matchers.items())
    return next(filter(None, reasons), "")


def _with_definitions(use: Use, elsewhere: set[str]) -> Mapping[str, Any]:
    """The schema of an object with the definitions that it refers to, and without names that are judged elsewhere."""
    schema = without_reference(use.schema, use.root)
    definitions = {key: use.root[key] for key in ("$defs", "definitions") if key in use.root}
    required = [name for name in required_names(schema) if name not in elsewhere]
    return {**definitions, **schema, "required": required}


def _plain_misfit(gold: Any, given: Any, use: Use) -> str:
    """As `fixed` compares a value, under the name and the schema of its parameter."""
    name = use.name.rpartition(".")[2]
    schema = {**use.root, "properties": {name: use.schema}, "required": [name]}
    differences = compare_arguments({name: gold}, {name: given}, schema)
    return f"{use.name.removesuffix(name)}{differences[0].message}" if differences else ""


def show(value: Any) -> str:
    """A value for messages, cut and safe to print."""
    if value is ABSENT:
        return "nothing"
    text = _json_text(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def _is_absent(given: Any) -> bool:
    return given is ABSENT or given is None


# Matchers: the operand, the value, what it is for, and the matchers beside it --------------------------------------

_Matcher = Callable[[Any, Any, Use, Mapping[str, Any]], str]


def _is(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    if operand is None:
        return "" if _is_absent(given) else f"{use.name}: {show(given)} is not null ($is)"
    if _is_absent(given):
        return f"{use.name}: is not given; expected {show(operand)} ($is)"
    return _plain_misfit(operand, given, use)


def _exact(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    same = given is not ABSENT and canonical_json(operand) == canonical_json(given)
    return "" if same else f"{use.name}: {show(given)} is not exactly {show(operand)} ($exact)"


def _one_of(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    fits = any(not misfit(value, given, use) for value in as_list(operand))
    return "" if fits else f"{use.name}: {show(given)} is none of {show(operand)} ($one_of)"


def _any(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    return f"{use.name}: is not given ($any)" if _is_absent(given) else ""


def _absent(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    return "" if _is_absent(given) else f"{use.name}: {show(given)} is given; expected none ($absent)"


def _maybe(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    return "" if _is_absent(given) else misfit(operand, given, use)


def _not(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    return "" if misfit(operand, given, use) else f"{use.name}: {show(given)} is what it must not be ($not)"


def _pattern(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    text = given if isinstance(given, str) else _json_text(given)
    return (
        ""
        if not _is_absent(given) and _is_in(operand, text)
        else f"{use.name}: {show(given)} does not fit {show(operand)} ($pattern)"
    )


def _contains(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    wanted = as_list(operand) or [operand]
    lacking = [part for part in wanted if not _holds(given, part, use)]
    return f"{use.name}: {show(given)} does not contain {show(lacking[0])} ($contains)" if lacking else ""


def _holds(given: Any, part: Any, use: Use) -> bool:
    if isinstance(given, str):
        return isinstance(part, str) and part.casefold() in given.casefold()
    return any(not misfit(part, entry, use.entry(at)) for at, entry in enumerate(as_list(given)))


def _has(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    if not isinstance(given, dict):
        return f"{use.name}: {show(given)} is no object ($has)"
    members = as_object(given)
    pairs = as_object(operand).items()
    reasons = (misfit(value, members.get(key, ABSENT), use.member(key)) for key, value in pairs)
    return next(filter(None, reasons), "")


def _unordered(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    wanted, entries = as_list(operand), as_list(given)
    if isinstance(given, list) and len(wanted) == len(entries):
        pairs = {
            (left, right): 1.0
            for left, one in enumerate(wanted)
            for right, other in enumerate(entries)
            if not misfit(one, other, use.entry(right))
        }
        if len(max_weight_matching(pairs)) == len(wanted):
            return ""
    return f"{use.name}: {show(given)} has not the entries {show(operand)} ($unordered)"


def _comparison(key: str, words: str, holds: Callable[[Any, Any], bool]) -> _Matcher:
    def matcher(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
        alike = (_is_number(operand) and _is_number(given)) or (
            isinstance(operand, str) and isinstance(given, str)
        )
        return (
            ""
            if alike and holds(given, operand)
            else f"{use.name}: {show(given)} is not {words} {show(operand)} ({key})"
        )

    return matcher


def _near(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    within = beside["$within"]
    distance = _distance(operand, given) if _is_number(given) else math.inf
    near = distance <= within or math.isclose(distance, within, rel_tol=1e-9)
    return "" if near else f"{use.name}: {show(given)} is not within {within} of {operand} ($near)"


def _distance(one: float, other: float) -> float:
    try:
        return abs(one - other)
    except OverflowError:
        return math.inf


def _date(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    if isinstance(given, str) and (given[:10] == operand or not _plain_misfit(operand, given, use)):
        return ""
    return f"{use.name}: {show(given)} is not {operand} ($date)"


def _nothing(operand: Any, given: Any, use: Use, beside: Mapping[str, Any]) -> str:
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_MATCHERS: Mapping[str, _Matcher] = {
    "$is": _is,
    "$exact": _exact,
    "$one_of": _one_of,
    "$any": _any,
    "$absent": _absent,
    "$maybe": _maybe,
    "$not": _not,
    "$pattern": _pattern,
    "$contains": _contains,
    "$has": _has,
    "$unordered": _unordered,
    "$gt": _comparison("$gt", "more than", lambda given, bound: given > bound),
    "$gte": _comparison("$gte", "at least", lambda given, bound: given >= bound),
    "$lt": _comparison("$lt", "less than", lambda given, bound: given < bound),
    "$lte": _comparison("$lte", "at most", lambda given, bound: given <= bound),
    "$near": _near,
    "$within": _nothing,  # `$near` reads it
    "$date": _date,
}
"""All but `$from`, which is replaced by the value of the result when a case is read."""


@lru_cache(maxsize=1024)
def compiled_pattern(pattern: str) -> Any:
    """A pattern of RE2, whose search takes time in proportion to the text. Raises ValueError for one that is none."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(_decoded(error)) from error


def _is_in(pattern: str, text: str) -> bool:
    found = compiled_pattern(pattern).search(replace_surrogates(text[:MAX_ARGUMENT_CHARACTERS]))
    return found is not None


def _decoded(error: Exception) -> str:
    (message, *_) = cast(tuple[Any, ...], error.args) or (error,)
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


def text_fits(wanted: Any, text: str) -> bool:
    """Whether an answer says what is wanted: a text that it contains, or one of the matchers of texts."""
    if isinstance(wanted, str):
        return wanted.casefold() in text.casefold()
    ((key, operand),) = as_object(wanted).items()
    match key:
        case "$is":
            return str(operand).strip().casefold() == text.strip().casefold()
        case "$pattern":
            return _is_in(operand, text)
        case "$contains":
            return all(text_fits(part, text) for part in as_list(operand) or [operand])
        case _:
            return any(text_fits(part, text) for part in as_list(operand))
