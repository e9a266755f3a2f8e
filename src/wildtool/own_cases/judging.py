"""Whether the calls and the text of a turn are what its case expects.

A turn is right if nothing of `never` was called and each call can be given to a slot that it fits, or is free, so that
each slot gets between its least and its most, and with `order: listed` the numbers of the slots do not decrease. What is
forbidden is so in a spelling, too, that only a strict tool refuses.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from wildtool.own_cases.assigning import are_assigned, best_pairs
from wildtool.own_cases.matching import Use, misfit_of_members, show, text_fits
from wildtool.own_cases.records import CallPattern, Expectation, Slot
from wildtool.toolcall.schema import as_schema

_WILDCARD = re.compile(r"[*?\[]")
MOST_CALLS = 500
"""A turn with more calls is wrong."""
MadeCall = tuple[str, dict[str, Any]]
"""Name and decoded arguments of a call."""


class TurnMistake(StrEnum):
    """What is wrong with a turn: its error class."""

    blank = "blank reply"
    unreadable = "unreadable call"
    forbidden = "forbidden call"
    no_call = "no call"
    needless = "needless call"
    other_tool = "other tool"
    other_arguments = "other arguments"
    missing = "missing call"
    extra = "extra call"
    other_order = "other order"
    wrong_text = "wrong text"


ERRORS: Mapping[TurnMistake, str] = {
    TurnMistake.blank: "neither text nor call",
    TurnMistake.unreadable: "a call whose arguments cannot be read",
    TurnMistake.forbidden: "called what must never be called",
    TurnMistake.no_call: "answered in text; a call was expected",
    TurnMistake.needless: "called a tool; no call was expected",
    TurnMistake.other_tool: "called another tool than the expected one",
    TurnMistake.other_arguments: "called the expected tool with other arguments",
    TurnMistake.missing: "left out one of several expected calls",
    TurnMistake.extra: "made more calls than are expected",
    TurnMistake.other_order: "made the expected calls in another order",
    TurnMistake.wrong_text: "the text lacks what it must say, or says what it must not",
}
"""Every way in which a turn is wrong."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say of a turn."""

    error: TurnMistake | None = None
    """None for a right turn."""
    reason: str = ""
    """The value and the rule that decided, in words."""
    expected_tools: tuple[str, ...] = ()
    """Names of the tools that should have been called, by the alternative that is nearest to what was called."""
    called_tools: tuple[str, ...] = ()
    """Names of the tools that were called, without free and optional calls."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The calls of a turn beside one alternative."""

    slots: Sequence[Slot]
    misfits: Sequence[Sequence[str]]
    """By slot and call why the call does not fit; empty where it does."""
    free: Sequence[bool]
    pairs: Mapping[int, int]
    """By call the slot that it is given to."""

    @property
    def fits(self) -> list[list[bool]]:
        return [[not reason for reason in row] for row in self.misfits]

    @property
    def unfilled(self) -> list[Slot]:
        counts = Counter(self.pairs.values())
        return [slot for number, slot in enumerate(self.slots) if counts[number] < slot.least]

    @property
    def unmatched(self) -> list[int]:
        """Calls that are neither given to a slot nor free."""
        return [call for call, is_free in enumerate(self.free) if call not in self.pairs and not is_free]


def judge_turn(
    expectation: Expectation,
    calls: Sequence[MadeCall],
    text: str,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Judgement:
    """Whether a turn is right, and the first reason why it is not. Pure; never raises.

    Args:
        calls: those of all its replies, in order.
        text: of its last reply.
        parameters: by name of a tool the schema of its parameters.
    """
    schemas = parameters or {}
    if len(calls) > MOST_CALLS:
        return Judgement(TurnMistake.extra, f"{len(calls):,} calls; at most {MOST_CALLS} are judged")
    for name, arguments in calls:
        if _is_forbidden(expectation.never, name, arguments, schemas):
            judgement = _of_calls(expectation, calls, schemas)
            reason = f"{name} must never be called so"
            return replace(judgement, error=TurnMistake.forbidden, reason=reason)
    judgement = _of_calls(expectation, calls, schemas)
    if judgement.error is not None:
        return judgement
    lacking = [words for words in expectation.says if not text_fits(words, text)]
    unwanted = [words for words in expectation.not_says if text_fits(words, text)]
    if lacking:
        reason = f"the text does not say {show(lacking[0])}: {show(text)}"
    elif unwanted:
        reason = f"the text says {show(unwanted[0])}: {show(text)}"
    else:
        return judgement
    return replace(judgement, error=TurnMistake.wrong_text, reason=reason)


def _is_forbidden(
    never: Sequence[CallPattern],
    name: str,
    arguments: Mapping[str, Any],
    schemas: Mapping[str, Mapping[str, Any]],
) -> bool:
    """Whether a call must not be made, as it is or as a tool that is not strict would take it."""
    if not never:
        return False
    # A parameter that is not given is another value, too, than one that must not be given.
    schemas = {tool: {**schema, "required": []} for tool, schema in schemas.items()}
    names = {*schemas, *(pattern.name for pattern in never if not _WILDCARD.search(pattern.name))}
    taken_as = _same_letters(name, names) or _same_letters(re.split(r"[./:]", name)[-1], names) or name
    properties = as_schema(schemas.get(taken_as, {}).get("properties"))
    values: dict[str, Any] = {}
    for key, value in arguments.items():
        parameter = _same_letters(key, properties) or key
        values[parameter] = _as_number(value, as_schema(properties.get(parameter)))
    return any(
        not call_misfit(pattern, *call, schemas)
        for pattern in never
        for call in ((name, arguments), (taken_as, values))
    )


def _same_letters(name: str, names: Collection[str]) -> str:
    """The one of some names that is the same but for case and separators; empty where there is none, or several."""

    def letters(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    matches = [each for each in names if letters(each) == letters(name)]
    return name if name in names else matches[0] if len(matches) == 1 else ""


def _as_number(value: Any, schema: Mapping[str, Any]) -> Any:
    """A number that is written as a text where the parameter takes a number; all else as it is."""
    if not isinstance(value, str) or schema.get("type") not in ("number", "integer"):
        return value
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def call_misfit(
    pattern: CallPattern, name: str, arguments: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]]
) -> str:
    """Why a call is not the one of a pattern; empty if it is."""
    if not fnmatchcase(name, pattern.name):
        return f"{name} is called; expected {pattern.name}"
    if pattern.arguments is None:
        return ""
    schema = parameters.get(name, {})
    ignored = tuple(
        each.rpartition(".")[2]
        for each in pattern.ignore
        if "." not in each or fnmatchcase(name, each.rpartition(".")[0])
    )
    return misfit_of_members(
        pattern.arguments, arguments, Use("", schema, schema), ignored, extra=pattern.extra
    )


def is_free(expectation: Expectation, name: str) -> bool:
    """Whether a tool may be called besides what is expected."""
    return any(fnmatchcase(name, pattern) for pattern in expectation.also)


def compared_slots(
    slots: Sequence[Slot], calls: Sequence[MadeCall], schemas: Mapping[str, Mapping[str, Any]]
) -> list[list[str]]:
    """By slot and call why the call does not fit it; empty where it does."""

    def misfit_of(slot: Slot, name: str, arguments: Mapping[str, Any]) -> str:
        reasons = [call_misfit(pattern, name, arguments, schemas) for pattern in slot.patterns]
        own = [
            reason
            for reason, pattern in zip(reasons, slot.patterns, strict=True)
            if fnmatchcase(name, pattern.name)
        ]
        return "" if "" in reasons else (own or reasons)[0]

    return [[misfit_of(slot, *call) for call in calls] for slot in slots]


def _compared(
    expectation: Expectation,
    slots: Sequence[Slot],
    calls: Sequence[MadeCall],
    schemas: Mapping[str, Mapping[str, Any]],
) -> _Comparison:
    misfits = compared_slots(slots, calls, schemas)
    free = [is_free(expectation, name) for name, _ in calls]
    fits = [[not reason for reason in row] for row in misfits]
    return _Comparison(slots, misfits, free, best_pairs(slots, fits, len(calls)))


def _of_calls(
    expectation: Expectation, calls: Sequence[MadeCall], schemas: Mapping[str, Mapping[str, Any]]
) -> Judgement:
    if expectation.alternatives is None:
        return Judgement(reason="nothing forbidden was called" if expectation.never else "the text fits")
    compared = [_compared(expectation, slots, calls, schemas) for slots in expectation.alternatives]
    for each in compared:
        if are_assigned(each.slots, each.fits, each.free, in_order=expectation.in_order):
            reason = "the expected calls" if calls else "no call, as expected"
            return _described(each, calls, None, reason)
    nearest = min(compared, key=lambda each: len(each.unfilled) + len(each.unmatched))
    return _described(nearest, calls, *_explained(nearest, calls, in_order=expectation.in_order))


def _described(
    comparison: _Comparison, calls: Sequence[MadeCall], error: TurnMistake | None, reason: str
) -> Judgement:
    expected_tools: list[str] = []
    called_tools: list[str] = []
    for number, slot in enumerate(comparison.slots):
        names = [calls[call][0] for call, place in comparison.pairs.items() if place == number]
        needed = slot.least
        expected_tools += [*names[:needed], *[slot.title] * (needed - len(names))]
        called_tools += names[:needed]
    called_tools += [calls[call][0] for call in comparison.unmatched]
    return Judgement(error, reason, tuple(dict.fromkeys(expected_tools)), tuple(dict.fromkeys(called_tools)))


def _explained(
    comparison: _Comparison, calls: Sequence[MadeCall], *, in_order: bool
) -> tuple[TurnMistake, str]:
    """The class of a turn that is wrong, and the reason in words."""
    unfilled, unmatched = comparison.unfilled, comparison.unmatched
    if not calls:
        return TurnMistake.no_call, f"answered in text; expected {_titles(unfilled)}"
    if unmatched and not comparison.slots:
        return TurnMistake.needless, f"{calls[unmatched[0]][0]} is called; expected no call"
    for call in unmatched:
        if reason := _reason_of_arguments(comparison, calls[call][0], call):
            return TurnMistake.other_arguments, f"{calls[call][0]}: {reason}"
    if unfilled and unmatched:
        return TurnMistake.other_tool, f"{calls[unmatched[0]][0]} is called; expected {_titles(unfilled)}"
    if unfilled:
        return TurnMistake.missing, f"expected {_titles(unfilled)}, too"
    if unmatched:
        return TurnMistake.extra, f"{calls[unmatched[0]][0]} is called once more than expected"
    names = ", ".join(name for name, _ in calls)
    order = "in this order" if in_order else "after what they need"
    return TurnMistake.other_order, f"called {names}; expected {_titles(comparison.slots)}, {order}"


def _reason_of_arguments(comparison: _Comparison, name: str, call: int) -> str:
    """Why a call does not fit a slot of its tool that has room for it; empty where there is none."""
    counts = Counter(comparison.pairs.values())
    for number, slot in enumerate(comparison.slots):
        is_of_tool = any(fnmatchcase(name, pattern.name) for pattern in slot.patterns)
        if is_of_tool and counts[number] < slot.most and comparison.misfits[number][call]:
            return comparison.misfits[number][call]
    return ""


def _titles(slots: Sequence[Slot]) -> str:
    return ", ".join(slot.title for slot in slots) or "no call"
