"""Parameters that belong together, such as the currencies of a conversion and the ends of a period."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wildtool_data.make.procedural.described_values import ISO_DAY
from wildtool_data.make.procedural.tool_sets import ParameterSlot

_FIRST = frozenset([
    "from", "start", "begin", "beginning", "since", "min", "minimum", "lowest", "source", "base", "origin", "after",
    "old",
])  # fmt: skip
_LAST = frozenset([
    "to", "end", "ending", "until", "till", "max", "maximum", "highest", "target", "quote", "destination", "before",
    "new",
])  # fmt: skip
_ORDERED = frozenset([
    "date", "moment", "time", "integer", "count", "minutes", "stars", "percent", "year", "number", "amount", "price",
    "km", "celsius",
])  # fmt: skip
"""Kinds of which the first is not above the last; of other kinds the two differ."""


def agrees(slot: ParameterSlot, value: Any, beside: Mapping[ParameterSlot, Any]) -> bool:
    """Whether a value makes sense beside those of the slot's counterparts: the ends of a period in order, two currencies
    that differ."""
    for other, its in beside.items():
        is_first = _is_first(slot, other)
        if is_first is not None:
            first, last = (value, its) if is_first else (its, value)
            if not _in_order(slot, first, last):
                return False
    return True


def counterpart(slot: ParameterSlot, beside: Mapping[ParameterSlot, Any]) -> Any:
    """The value of the slot's counterpart where both may be equal; None where there is none."""
    if slot.kind not in _ORDERED:
        return None
    return next((its for other, its in beside.items() if _is_first(slot, other) is not None), None)


def _is_first(slot: ParameterSlot, other: ParameterSlot) -> bool | None:
    """Whether a slot is the first of a pair with another; None where they are none."""
    if other is slot or slot.kind != other.kind or slot.path[:-1] != other.path[:-1]:
        return None
    mine, its = _words(slot), _words(other)
    for first, last, is_first in ((mine, its, True), (its, mine, False)):
        if first & _FIRST and last & _LAST and first - _FIRST == last - _LAST:
            return is_first
    return None


def _words(slot: ParameterSlot) -> frozenset[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", str(slot.path[-1]))
    return frozenset(re.findall(r"[a-z0-9]+", spaced.casefold()))


def _in_order(slot: ParameterSlot, first: Any, last: Any) -> bool:
    if slot.kind not in _ORDERED:
        return first != last
    form = ISO_DAY if slot.days is None else slot.days.form
    if slot.kind == "date" and form != ISO_DAY:
        first, last = (datetime.strptime(day, form) for day in (first, last))
    return first <= last
