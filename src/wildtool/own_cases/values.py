"""Reads the values that a case expects, matchers among them, and notes what is wrong with them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.dates import is_relative_date, resolved_date
from wildtool.own_cases.form import MATCHERS, TEXT_MATCHERS, meant_key, nearest_name
from wildtool.own_cases.matching import Use, is_matcher, is_number, show
from wildtool.own_cases.places import CasePlace
from wildtool.toolcall.patterns import compiled_pattern
from wildtool.toolcall.schema import allows, as_schema, enum_of, schema_types, without_reference

_TEXT, _TRUTH, _NULL = frozenset({"string"}), frozenset({"boolean"}), frozenset({"null"})
_NUMERIC = frozenset({"integer", "number"})
_MOST_BRANCHINGS = 4
"""Branches within branches at most that are followed."""
_RESULT_PATH = re.compile(r"[\w-]+(?:\.[\w-]+)+")


class ValueOfResult(dict[str, Any]):
    """Matchers of which `$is` has a value of a recorded result, with the place that it was taken from."""

    def __init__(self, place: str, matchers: Mapping[str, Any]) -> None:
        """Args: place: such as `first.id`, the label of a call and the keys in its result."""
        super().__init__(matchers)
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueOfResult, (self.place, dict(self))


@dataclass(frozen=True, slots=True)
class Context:
    """What the values of a case are read with."""

    parameters: Mapping[str, Mapping[str, Any]] | None = None
    """By name of a tool that is shown the schema of its parameters; None where the tools are not known."""
    today: datetime | None = None
    """The day of the case; None where it has none."""
    ignore: tuple[str, ...] = ()
    """Arguments that do not count in any call."""
    results: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By label of a call its recorded result."""


def read_value(place: CasePlace, use: Use, context: Context) -> Any:
    """The value at a place as it is judged: with dates and references to results put in, and with the text of what YAML
    would read as a number where the tool takes a text."""
    value = place.value
    if isinstance(value, list):
        return [read_value(each, use.entry(at), context) for at, each in enumerate(place.entries)]
    if is_matcher(value):
        return _read_matcher(place, use, context)
    if isinstance(value, dict):
        return {key: read_value(place.at(key), use.member(key), context) for key in as_object(value)}
    return _read_plain(place, use)


def _read_plain(place: CasePlace, use: Use) -> Any:
    value = place.value
    forms = list(_forms(use.schema, use.root))
    types = frozenset(name for form in forms for name in schema_types(form))
    if not all(map(schema_types, forms)):
        types = frozenset[str]()
    if types == _TEXT and place.source is not None and value is not None:
        value = place.source
    members = [member for form in forms for member in enum_of(form)] if all(map(enum_of, forms)) else []
    if value is None or not use.schema:
        return value
    if members and value not in members:
        place.fail(f"{show(value)} is not one of {show(members)}; {_nearest_member(value, members)}")
    elif types == _TEXT and isinstance(value, int | float):
        text = json.dumps(value)
        place.warn(f"the tool takes a text: read as {show(text)}")
        return text
    elif types and types <= _NUMERIC and isinstance(value, str | bool):
        place.fail(f"the tool takes a number, not {show(value)}")
    elif types == _TRUTH and not isinstance(value, bool):
        place.fail(f"the tool takes true or false, not {show(value)}")
    elif len(forms) > 1 and types and not any(allows(value, form) for form in forms):
        kinds = [
            show(enum_of(form)) if enum_of(form) else "/".join(sorted(schema_types(form))) for form in forms
        ]
        place.fail(f"the tool takes {' or '.join(kinds)}, not {show(value)}")
    return value


def _forms(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The schemas of which a value may fit any, for a value that is not null."""
    whole = without_reference(schema, root)
    branches = as_list(whole.get("anyOf") or whole.get("oneOf"))
    if branches and depth < _MOST_BRANCHINGS:
        for branch in branches:
            yield from _forms(as_schema(branch), root, depth + 1)
    elif (types := schema_types(whole)) != _NULL:
        yield {**whole, "type": sorted(types - _NULL)} if types & _NULL else whole


def _nearest_member(value: Any, members: list[Any]) -> str:
    return nearest_name(str(value), [str(member) for member in members])


def _read_matcher(place: CasePlace, use: Use, context: Context) -> Any:
    held = as_object(place.value)
    if plain := [key for key in held if not key.startswith("$")]:
        first = next(key for key in held if key.startswith("$"))
        place.at(plain[0]).fail(
            f"a matcher has only keys with $; a value that has {first!r} itself is written {{$is: …}}"
        )
        return {"$any": True}
    matchers: dict[str, Any] = {}
    for key, operand in held.items():
        if key not in MATCHERS:
            meant = meant_key(key, MATCHERS)
            hint = f"did you mean {meant!r}?" if meant else f"known: {' '.join(sorted(MATCHERS))}."
            place.at(key).fail(
                f"{key!r} is no matcher; {hint} A value that has this key itself is written {{$is: …}}"
            )
            continue
        if problem := _problem(key, operand, held):
            place.at(key).fail(problem)
            continue
        matchers |= _read_operand(place.at(key), key, use, context)
    for key in ("$absent", "$maybe"):
        if key in matchers and len(held) > 1:
            place.fail(f"{key} is alone: put the other matchers inside of $maybe, or leave {key} out")
    if "$from" in held and "$is" in matchers:
        return ValueOfResult(str(held["$from"]), matchers)
    return matchers or {"$any": True}


def _read_operand(place: CasePlace, key: str, use: Use, context: Context) -> dict[str, Any]:
    """A matcher with its operand as it is judged."""
    operand = place.value
    if key in ("$is", "$exact"):
        return {key: _read_plain(place, use) if not isinstance(operand, list | dict) else operand}
    if key in ("$maybe", "$not"):
        return {key: read_value(place, use, context)}
    if key == "$one_of":
        return {key: [read_value(each, use, context) for each in place.entries]}
    if key == "$unordered":
        return {key: [read_value(each, use.entry(at), context) for at, each in enumerate(place.entries)]}
    if key == "$has":
        return {key: {name: read_value(place.at(name), use.member(name), context) for name in operand}}
    if key == "$contains":
        parts = [read_value(each, Use(use.name, {}, {}), context) for each in place.entries]
        return {key: parts if isinstance(operand, list) else operand}
    if key == "$date":
        return {key: _read_date(place, context)}
    if key == "$from":
        return {"$is": _read_result(place, context)}
    return {key: operand}


def _read_date(place: CasePlace, context: Context) -> str:
    if context.today is None:
        place.fail("is relative to the day of the case: give it a 'date', such as 2026-03-30")
        return ""
    try:
        return resolved_date(place.value, context.today)
    except ValueError as error:
        place.fail(str(error))
        return ""


def _read_result(place: CasePlace, context: Context) -> Any:
    """The value of a recorded result, such as that of `first.id`."""
    label, *keys = str(place.value).split(".")
    if label not in context.results:
        labels = nearest_name(label, context.results)
        place.fail(f"no call before has 'as: {label}' and 'returns'; {labels}")
        return None
    value = context.results[label]
    for number in range(len(keys)):
        value = value_below(value, keys[number : number + 1])
        if value is None:
            place.fail(f"the result of {label!r} has no {keys[number]!r}")
            return None
    return value


def value_below(value: Any, keys: Sequence[str]) -> Any:
    """What a result holds under keys, one below the other; None where it holds nothing there."""
    for key in keys:
        inner: Any = as_object(value).get(key)
        if isinstance(value, list) and key.isdecimal() and int(key) < len(as_list(value)):
            inner = as_list(value)[int(key)]
        value = inner
    return value


# What a matcher takes -------------------------------------------------------------------------------------------------


_Check = tuple[Callable[[Any], Any], str]
"""Whether a matcher takes an operand, and what it takes."""
_BOUND: _Check = (lambda operand: is_number(operand) or isinstance(operand, str), "takes a number or a text")
_TRUE: _Check = (lambda operand: operand is True, "takes true only; for 'not given' write {$absent: true}")
_NUMBER: _Check = (is_number, "takes a number")
_CHECKS: Mapping[str, _Check] = {
    "$any": _TRUE,
    "$absent": _TRUE,
    "$pattern": (lambda operand: operand and isinstance(operand, str), "takes a regular expression"),
    "$one_of": (lambda operand: operand and isinstance(operand, list), "takes a list of accepted values"),
    "$unordered": (lambda operand: isinstance(operand, list), "takes a list"),
    "$has": (lambda operand: isinstance(operand, dict), "takes an object"),
    "$contains": (
        lambda operand: not any(part in ("", None, [], {}) for part in as_list(operand) or [operand]),
        "takes what could be missing; this could never fail",
    ),
    **dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), _BOUND),
    "$near": _NUMBER,
    "$within": _NUMBER,
    "$date": (
        lambda operand: isinstance(operand, str) and is_relative_date(operand),
        "is today or now, with +1d, -2w, +1mo, +1y, +3h or +30min",
    ),
    "$from": (
        lambda operand: isinstance(operand, str) and _RESULT_PATH.fullmatch(operand),
        "is LABEL.KEY of a result above, such as first.id",
    ),
}


def _problem(key: str, operand: Any, beside: Mapping[str, Any]) -> str:
    """What is wrong with the operand of a matcher; empty for nothing."""
    fits, takes = _CHECKS.get(key, (lambda operand: True, ""))
    if not fits(operand):
        return f"{takes}, not {show(operand)}"
    if key == "$pattern":
        try:
            compiled_pattern(operand)
        except ValueError as error:
            return f"not a regular expression of RE2: {error}"
    partner = {"$near": "$within", "$within": "$near"}.get(key, key)
    return "" if partner in beside else f"needs {partner}, as in {{$near: 12.5, $within: 0.1}}"


def read_says(place: CasePlace) -> tuple[Any, ...]:
    """What an answer must say or must not say."""
    parts = place.entries
    if not parts:
        place.fail("is empty and could never fail")
    return tuple(part.value for part in parts if _is_text(part))


def _is_text(place: CasePlace) -> bool:
    value = place.value
    if isinstance(value, dict) and len(as_object(value)) == 1:
        ((key, operand),) = as_object(value).items()
        if key not in TEXT_MATCHERS:
            meant = meant_key(key, TEXT_MATCHERS)
            hint = f"did you mean {meant!r}?" if meant else f"known: {' '.join(sorted(TEXT_MATCHERS))}"
            place.at(key).fail(f"{key!r} is no matcher of texts; {hint}")
            return False
        texts = as_list(operand) or [operand]
        problem = _problem(key, operand, as_object(value))
        if not problem and not all(isinstance(text, str) and text for text in texts):
            problem = "takes texts"
        if problem:
            place.at(key).fail(problem)
        return not problem
    if value in ("", None):
        place.fail("is empty and could never fail")
        return False
    if not isinstance(value, str):
        place.fail(f"takes texts, not {show(value)}")
    return isinstance(value, str)


def parameters_use(name: str, context: Context) -> Use:
    """What the arguments of a tool are for."""
    schema = (context.parameters or {}).get(name, {})
    return Use("", without_reference(schema, schema), schema)
