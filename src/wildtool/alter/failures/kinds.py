"""The ways in which a call fails: what the model is shown, and what helps."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wildtool.alter.failures.shortcuts import with_notice, with_shown
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json

WAITS = (2, 5, 10, 30, 60)
"""Seconds that a rate limit asks to wait."""
STALE_HOURS = 72
_DEEPEST = 20
"""Levels of a result in which numbers are aged."""
_NAMING_KEY = re.compile(r"(?:^|_)(?:id|no|number|code|year|zip|phone)$|Id$")
"""Keys of numbers that name something, so that age does not change them."""


class Remedy(StrEnum):
    """What is right after a failure."""

    retry = "retry"
    """The same call again."""
    carry_on = "carry on"
    """Nothing: the call was carried out, and its result can be used or is not needed."""
    tell = "tell"
    """To tell the user: no further call helps."""


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """One way in which the tool of a call fails."""

    remedy: Remedy
    """What is right after a call that reads."""
    message: str = ""
    """Of the error in place of a result, with `{tool}` and `{wait}`; the call is not carried out. Empty where a result
    comes and is damaged."""
    status: int | None = None
    """Of HTTP, which the error names."""
    damage: Callable[[Any, str, Mapping[bytes, Any]], str] | None = None
    """Makes the damaged result from the value of the true one, its text, and what is shown in place of which values
    (`alter.failures.shortcuts`); the call was carried out."""

    def remedy_of(self, *, writes: bool) -> Remedy:
        """What is right after a call. Args: writes: whether its tool changes something."""
        return Remedy.carry_on if writes and self.damage else self.remedy


def error_text(kind: ToolFailure, tool: str, wait: int) -> str:
    """What the model is shown in place of a result. Args: wait: seconds."""
    error: dict[str, Any] = {"message": kind.message.format(tool=tool, wait=wait)}
    if kind.status is not None:
        error["status"] = kind.status
    if "{wait}" in kind.message:
        error["retry_after_seconds"] = wait
    return _text({"error": error})


def damaged(kind: ToolFailure, result: str, shown: Mapping[bytes, Any] | None = None) -> str:
    """A result as the model is shown it; the same text where there is nothing to damage.

    Args:
        shown: what is shown in place of which values, for the kinds of `SHORTCUT_KINDS`.
    """
    assert kind.damage is not None
    try:
        value: Any = read_bounded_json(result)
    except (ArgumentsError, RecursionError):
        value = result
    return kind.damage(value, result, shown or {})


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _empty(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    return "[]" if isinstance(value, list) else "{}" if isinstance(value, dict) else ""


def _partial(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    return f"{text[: len(text) // 2]}… [truncated]" if len(text) > 1 else text


def _stale(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    return _text({"stale": True, "age_hours": STALE_HOURS, "data": _aged(value, 0)})


def _aged(value: Any, depth: int) -> Any:
    """A value with lower numbers, except those that name something."""
    if isinstance(value, bool) or depth > _DEEPEST:
        return value
    if isinstance(value, int):
        return value - max(1, abs(value) // 10)
    if isinstance(value, float):
        return round(value * 0.9, 2)
    if isinstance(value, list):
        return [_aged(member, depth + 1) for member in as_list(value)]
    if isinstance(value, dict):
        return {
            key: inner if _NAMING_KEY.search(key) else _aged(inner, depth + 1)
            for key, inner in as_object(value).items()
        }
    return value


def _wrong_type(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return str(len(as_list(value)))
    return "null" if isinstance(value, str) else "NaN"


def _schema_changed(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    """All of the result, in another shape."""
    if isinstance(value, dict):
        fields = [{"field": key, "value": inner} for key, inner in as_object(value).items()]
        return _text({"api_version": 2, "payload": {"fields": fields}})
    return _text({"api_version": 2, "payload": {"items" if isinstance(value, list) else "value": value}})


def _wrong_id(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    return _text(with_notice(with_shown(value, shown), "wrong-id")) if shown else text


def _unit(value: Any, text: str, shown: Mapping[bytes, Any]) -> str:
    return _text(with_notice(with_shown(value, shown), "unit")) if shown else text


DOWN = "down"
PERMISSION = "permission"
FAILURE_KINDS: Mapping[str, ToolFailure] = {
    "timeout": ToolFailure(
        Remedy.retry, "The call of {tool} timed out before it reached the server. Nothing was changed."
    ),
    "server-error": ToolFailure(
        Remedy.retry, "Internal server error. The call of {tool} was not carried out.", 500
    ),
    "rate-limit": ToolFailure(
        Remedy.retry,
        "Too many requests. The call of {tool} was not carried out. Try again in {wait} seconds.",
        429,
    ),
    "empty": ToolFailure(Remedy.retry, damage=_empty),
    "partial": ToolFailure(Remedy.retry, damage=_partial),
    "stale": ToolFailure(Remedy.retry, damage=_stale),
    "wrong-type": ToolFailure(Remedy.retry, damage=_wrong_type),
    # Also when asked again, as a new version of an interface would be.
    "schema-changed": ToolFailure(Remedy.carry_on, damage=_schema_changed),
    # For the tool until the end of the unit.
    PERMISSION: ToolFailure(
        Remedy.tell, "This account is not allowed to use {tool}. Trying again does not change that.", 403
    ),
}
"""Kinds of failures that a schedule may choose from."""
RECOVERABLE = tuple(name for name in FAILURE_KINDS if name != PERMISSION)
"""Those that a schedule without kinds draws from."""
SHORTCUT_KINDS = ("wrong-id", "empty", "unit")
"""Those of results that later calls take values from; no other schedule draws the first and the last."""
KIND_OF: Mapping[str, ToolFailure] = {
    **FAILURE_KINDS,
    "wrong-id": ToolFailure(Remedy.retry, damage=_wrong_id),
    "unit": ToolFailure(Remedy.retry, damage=_unit),
    DOWN: ToolFailure(
        Remedy.tell, "All tools are down for maintenance, no end is known. Trying again will not help.", 503
    ),
}
"""All kinds, by name."""
