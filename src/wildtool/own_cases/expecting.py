"""Reads what a case expects: calls in each of their spellings, alternatives, texts; and notes what is wrong."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.assigning import MOST_STATES, number_of_states
from wildtool.own_cases.call_text import read_call_text
from wildtool.own_cases.form import (
    ARGUMENT_SPELLINGS,
    CALL_KEYS,
    JUDGED_KEYS,
    NAME_SPELLINGS,
    SLOT_KEYS,
    nearest_name,
)
from wildtool.own_cases.matching import show
from wildtool.own_cases.places import CasePlace, CaseReadError
from wildtool.own_cases.records import UNLIMITED, CallPattern, Expectation, Slot
from wildtool.own_cases.values import Context, parameters_use, read_says, read_value
from wildtool.toolcall.schema import as_schema, required_names

NO_CALLS = "none"
"""What `expect` says for no call."""
ANY_CALLS = "any"
"""What `also` says for all tools."""
_TIMES = re.compile(r"(\d{1,4})(\+|-(\d{1,4}))?")
_LABEL = re.compile(r"[A-Za-z_][\w-]*")


def read_expectation(place: CasePlace, context: Context, around: Callable[[str], CasePlace]) -> Expectation:
    """What is right in a case or a turn.

    Args:
        around: the place of a key that the case or turn does not have itself: in the case of a turn, or in the defaults.
    """
    held = as_object(place.value)

    def setting(key: str) -> CasePlace:
        return place.at(key) if key in held else around(key)

    if "expect" in held and "expect_any" in held:
        place.at("expect_any").fail("'expect' and 'expect_any' exclude each other")
    expectation = Expectation(
        alternatives=_read_alternatives(place, context),
        also=_read_also(setting("also")),
        never=_read_forbidden(setting("never"), context),
        in_order=_read_order(setting("order")),
        says=read_says(place.at("says")) if "says" in held else (),
        not_says=read_says(place.at("not_says")) if "not_says" in held else (),
    )
    _check_contradiction(place, expectation)
    return expectation


def is_judged(value: Any) -> bool:
    """Whether a case or turn says what is right in it."""
    return any(key in as_object(value) for key in JUDGED_KEYS)


def _read_alternatives(place: CasePlace, context: Context) -> tuple[tuple[Slot, ...], ...] | None:
    held = as_object(place.value)
    if "expect" in held:
        return (_read_slots(place.at("expect"), context),)
    if "expect_any" not in held:
        return None
    inner = place.at("expect_any")
    if len(as_list(inner.value)) < 2:
        inner.fail("is a list of two or more alternatives; for one write 'expect'")
    for each in inner.entries:
        if any(isinstance(entry, list) for entry in as_list(each.value)):
            each.fail("lists three deep: an alternative is one call or one list of calls")
            return ()
    return tuple(_read_slots(each, context) for each in inner.entries)


def _read_slots(place: CasePlace, context: Context) -> tuple[Slot, ...]:
    value = place.value
    if value == NO_CALLS:
        return ()
    if value is None:
        place.fail("is empty: write [] for no call, or leave the key out if calls are not judged")
        return ()
    slots: list[Slot] = []
    results: dict[str, Any] = {}
    for each in place.entries:
        try:
            slot = _read_slot(each, replace(context, results={**context.results, **results}))
        except CaseReadError:
            continue  # why is among the faults
        slots.append(slot)
        if slot.label in results:
            each.fail(f"another call is called {slot.label!r}, too")
        if slot.label and slot.returns:
            results[slot.label] = slot.returns[0]
    _check_order(place, slots)
    return tuple(slots)


def _check_order(place: CasePlace, slots: list[Slot]) -> None:
    """Notes labels of `after` that no call has, and orders that cannot be judged in reasonable time."""
    labels = [slot.label for slot in slots if slot.label]
    for slot in slots:
        for label in slot.after:
            if label not in labels or label == slot.label:
                place.fail(f"after: no other call has 'as: {label}'; {nearest_name(label, labels)}")
    if any(slot.after for slot in slots) and number_of_states(slots) > MOST_STATES:
        place.fail("too many calls for 'after' (about 13); write order: listed, or make several cases of it")


def _read_slot(place: CasePlace, context: Context) -> Slot:
    """One call with its options. Raises CaseReadError."""
    if isinstance(place.value, list):
        place.refuse("a list inside of a list of calls: alternatives are written {one_of: […]} or expect_any")
    held = as_object(place.value)
    if "one_of" not in held:
        return _with_options(place, (_read_pattern(place, context),))
    place.check_keys({*CALL_KEYS, "one_of"})
    if len(as_list(held["one_of"])) < 2:
        place.at("one_of").refuse("takes two or more calls")
    members = place.at("one_of").entries
    for member in members:
        _refuse_slot_options(member, "inside of one_of; write it beside one_of")
    ignore, extra = read_name_list(place.at("ignore")), _flag(place, "extra")
    patterns = [_read_pattern(member, context) for member in members]
    return _with_options(
        place,
        tuple(
            replace(pattern, ignore=(*pattern.ignore, *ignore), extra=pattern.extra or extra)
            for pattern in patterns
        ),
    )


def _refuse_slot_options(place: CasePlace, where: str) -> None:
    """Notes options that say how often and when a call is expected, where they would not be read."""
    for key in as_object(place.value):
        if key in SLOT_KEYS:
            place.at(key).fail(f"{key!r} has no meaning {where}")


def _read_pattern(place: CasePlace, context: Context, *, forbidden: bool = False) -> CallPattern:
    """A call in any of its spellings, without what concerns its slot. Raises CaseReadError.

    Args:
        forbidden: whether it must not be made: then arguments that are not named do not save it.
    """
    held = as_object(place.value)
    ignore = () if forbidden else context.ignore
    arguments_place: CasePlace | None = None
    if isinstance(place.value, str):
        try:
            name, arguments = read_call_text(place.value)
        except ValueError as error:
            place.refuse(f"{show(place.value)}: {error}")
    else:
        name, arguments_place = _named_arguments(place)
        arguments = _read_arguments(arguments_place, name, context) if arguments_place else None
        ignore = (*ignore, *read_name_list(place.at("ignore")))
    extra = _flag(place, "extra") if "extra" in held else forbidden and bool(arguments)
    pattern = CallPattern(name, arguments, ignore, extra)
    _check_against_tool(arguments_place or place, pattern, context, forbidden=forbidden)
    return pattern


def _read_arguments(place: CasePlace, name: str, context: Context) -> dict[str, Any]:
    use = parameters_use(name, context)
    return {key: read_value(place.at(key), use.member(key), context) for key in as_object(place.value)}


def _named_arguments(place: CasePlace) -> tuple[str, CasePlace | None]:
    """The name of a call and the place of its arguments; None where they are not judged. Raises CaseReadError."""
    value: Any = place.value
    if value is None:
        place.refuse("is empty; expected a call")
    if not isinstance(value, dict):
        place.refuse(f"a call is a name or an object, not {show(value)}")
    held = as_object(value)
    if "arguments" in held or any(isinstance(held.get(key), str) for key in ("name", *NAME_SPELLINGS)):
        return _of_long_form(place, held)
    names = [key for key in held if key not in CALL_KEYS]
    if not names:
        place.refuse("names no tool")
    if len(names) > 1:
        hint = ""
        if not isinstance(held[names[1]], dict):
            hint = f"; or is {names[1]!r} an argument of {names[0]}? Then indent it"
        place.refuse(f"two tools in one item ({', '.join(names)}): one call a list item{hint}")
    (name,) = names
    if held[name] is None:
        place.at(name).refuse(f"is empty: {name}: {{}} means no arguments, - {name} means any")
    if not isinstance(held[name], dict):
        place.at(name).refuse(f"the arguments of a call are an object, not {show(held[name])}")
    return name, place.at(name)


def _of_long_form(place: CasePlace, held: Mapping[str, Any]) -> tuple[str, CasePlace | None]:
    for key in NAME_SPELLINGS:
        if isinstance(held.get(key), str) and not isinstance(held.get("name"), str):
            place.at(key).refuse(f"{key!r} here; did you mean 'name'?")
    if not isinstance(held.get("name"), str):
        place.refuse("a call without 'name'")
    for key in ARGUMENT_SPELLINGS:
        if key in held:
            place.at(key).refuse(f"{key!r} here; did you mean 'arguments'?")
    place.check_keys({*CALL_KEYS, "name", "arguments"})
    if "arguments" not in held:
        return held["name"], None
    inner = place.at("arguments")
    if isinstance(held["arguments"], str):
        inner.refuse("is a text: write the object itself")
    if not isinstance(held["arguments"], dict):
        inner.refuse(f"is an object, not {show(held['arguments'])}; leave it out if arguments are not judged")
    return held["name"], inner


def _check_against_tool(place: CasePlace, pattern: CallPattern, context: Context, *, forbidden: bool) -> None:
    """Notes tools and parameters that there are not, and required parameters that are missing."""
    if context.parameters is None or "*" in pattern.name:
        return
    if pattern.name not in context.parameters:
        place.fail(f"no tool {pattern.name!r}; {nearest_name(pattern.name, context.parameters)}")
        return
    schema = as_schema(context.parameters[pattern.name])
    properties = as_schema(schema.get("properties"))
    if pattern.arguments is None:
        return
    for key in pattern.arguments:
        if key not in properties and not schema.get("additionalProperties"):
            inner = place.at(key) if as_object(place.value) else place
            inner.fail(f"{pattern.name} has no parameter {key!r}; {nearest_name(key, properties)}")
    for name in required_names(schema):
        ignored = any(fnmatchcase(str(name), each.rpartition(".")[2]) for each in pattern.ignore)
        if name not in pattern.arguments and not (pattern.extra or ignored or forbidden):
            place.fail(
                f"the required parameter {name!r} is missing, so no valid call could fit; write extra: true, or "
                f"{name}: {{$any: true}}"
            )


def _with_options(place: CasePlace, patterns: tuple[CallPattern, ...]) -> Slot:
    held = as_object(place.value)
    lowest, most = _read_times(place.at("times")) if "times" in held else (1, 1.0)
    if _flag(place, "optional"):
        if lowest == most and "times" in held:
            place.at("times").fail(f"'optional' and a fixed number exclude each other; write 0-{lowest}")
        lowest = 0
    label = held.get("as", "")
    if not isinstance(label, str) or (label and not _LABEL.fullmatch(label)):
        place.at("as").fail(f"is a name such as first, not {show(label)}")
        label = ""
    returns = (held["returns"],) if "returns" in held else ()
    return Slot(patterns, lowest, most, label, read_name_list(place.at("after")), returns)


def _read_times(place: CasePlace) -> tuple[int, float]:
    value = place.value
    matched = _TIMES.fullmatch(str(value)) if isinstance(value, int | str) and value is not True else None
    if matched is None:
        place.fail(f"is 3, 1+ or 1-3, not {show(value)}")
        return 1, 1
    lowest = int(matched[1])
    most = UNLIMITED if matched[2] == "+" else int(matched[3] or lowest)
    if most < max(lowest, 1):
        place.fail(f"is 3, 1+ or 1-3, not {show(value)}")
    return lowest, most


def _flag(place: CasePlace, key: str) -> bool:
    value = as_object(place.value).get(key, False)
    if not isinstance(value, bool):
        place.at(key).fail(f"takes true or false, not {show(value)}")
    return value is True


def read_name_list(place: CasePlace) -> tuple[str, ...]:
    """The names at a place: a list of them, or one alone; none where there is nothing."""
    value = place.value
    if value is None:
        return ()
    names = [value] if isinstance(value, str) else as_list(value)
    if not names or not all(isinstance(name, str) and name for name in names):
        place.fail(f"takes a list of names, not {show(value)}")
    return tuple(name for name in names if isinstance(name, str))


def _read_also(place: CasePlace) -> tuple[str, ...]:
    return ("*",) if place.value == ANY_CALLS else read_name_list(place)


def _read_forbidden(place: CasePlace, context: Context) -> tuple[CallPattern, ...]:
    """The calls that must not be made; none where there is no such key."""
    if place.value == []:
        place.fail("is empty and could never fail; leave it out")
    patterns: list[CallPattern] = []
    for each in place.entries if place.value is not None else ():
        _refuse_slot_options(each, "in a call that must not be made")
        try:
            patterns.append(_read_pattern(each, context, forbidden=True))
        except CaseReadError:
            continue  # why is among the faults
    return tuple(patterns)


def _read_order(place: CasePlace) -> bool:
    order = place.value
    if order not in (None, "any", "listed"):
        place.fail(f"is 'any' or 'listed', not {show(order)}")
    return order == "listed"


def _check_contradiction(place: CasePlace, expectation: Expectation) -> None:
    """Notes a tool that each alternative needs and that must never be called."""
    for pattern in expectation.never:
        if pattern.arguments is not None or not expectation.alternatives:
            continue
        if all(
            any(slot.least and _all_forbidden(slot, pattern) for slot in slots)
            for slots in expectation.alternatives
        ):
            place.at("never").fail(f"{pattern.name!r} is expected, too: this case cannot pass")


def _all_forbidden(slot: Slot, forbidden: CallPattern) -> bool:
    return all(fnmatchcase(pattern.name, forbidden.name) for pattern in slot.patterns)
