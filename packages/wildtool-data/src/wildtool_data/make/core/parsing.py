"""Parses replies of roles: JSON, calls and decisions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.types import Message

MAX_ROLE_REPLY_CHARACTERS = 40_000
"""Characters of a reply that are read; the rest is cut off."""
_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


class RefusedReplyError(Exception):
    """A reply of which nothing can be used."""

    def __init__(self, *faults: Finding) -> None:
        super().__init__(*faults)
        self.faults = list(faults)


@dataclass(frozen=True, slots=True)
class Action:
    """One call in a decision."""

    name: str
    arguments: dict[str, Any]
    derived: Mapping[str, str] = field(default_factory=dict[str, str])
    """Paths of values that were derived without a tool, with the reason."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the planner decides to do next."""

    thought: str
    plan: str
    actions: tuple[Action, ...]


def reply_text(message: Message) -> str:
    """The text of a reply, without leading thoughts and lone surrogates; empty if it has none."""
    content = message.get("content")
    if not isinstance(content, str):
        return ""
    clean = content[:MAX_ROLE_REPLY_CHARACTERS].encode("utf-8", "replace").decode()
    return (
        _THOUGHTS.sub("", clean, count=1).strip() if clean.lstrip().startswith("<think>") else clean.strip()
    )


def read_object(text: str, rule: str) -> dict[str, Any]:
    """The JSON object in a reply: the whole of it, in a fence, or between the outermost braces.

    Raises RefusedReplyError by the rule if there is none.
    """
    fenced = _FENCED.search(text)
    start, end = text.find("{"), text.rfind("}")
    candidates = [text, fenced[1] if fenced else "", text[start : end + 1] if 0 <= start < end else ""]
    problem = "there is none"
    for candidate in filter(None, candidates):
        try:
            value = read_bounded_json(candidate.strip())
        except (ArgumentsError, ValueError) as error:
            problem = str(error)
            continue
        if isinstance(value, dict):
            return as_object(value)
        problem = "it is not an object"
    raise RefusedReplyError(
        fault(rule, f"Give one JSON object and nothing else, without comments: {problem}.")
    )


def read_decision(text: str) -> Decision:
    """The decision in a planner's reply. Raises RefusedReplyError by the rules P1, P3 and P13."""
    reply = read_object(text, "P1")
    faults = [
        fault("P13", f"`{key}` must be a text.")
        for key in ("thought", "plan")
        if not isinstance(reply.get(key), str)
    ]
    entries = reply.get("actions")
    if not isinstance(entries, list):
        raise RefusedReplyError(*faults, fault("P13", "`actions` must be a list."))
    if not entries:
        message = "`actions` is empty; decide on a call, a question or the answer."
        raise RefusedReplyError(*faults, fault("P3", message))
    actions: list[Action] = []
    for k, entry in enumerate(as_list(entries)):
        if isinstance(entry, dict) and (action := read_action(as_object(entry))):
            actions.append(action)
        else:
            message = f"`actions[{k}]` must have a `name` (text) and `arguments` (object)."
            faults.append(fault("P13", message))
    if faults:
        raise RefusedReplyError(*faults)
    return Decision(reply["thought"], reply["plan"], tuple(actions))


def read_action(entry: Mapping[str, Any]) -> Action | None:
    """A call as roles write it: name, arguments, and reasons for derived values; None if it is none."""
    name, arguments, derived = entry.get("name"), entry.get("arguments"), entry.get("derived", {})
    if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(derived, dict):
        return None
    reasons = as_object(derived)
    if not all(isinstance(reason, str) and reason.strip() for reason in reasons.values()):
        return None
    return Action(name, as_object(arguments), reasons)


def read_parts(*parts: Callable[[], Any]) -> list[Any]:
    """What each part of a reply is read as. Raises RefusedReplyError with the faults of all that cannot be used."""
    values: list[Any] = []
    faults: list[Finding] = []
    for part in parts:
        try:
            values.append(part())
        except RefusedReplyError as refused:
            faults += refused.faults
    if faults:
        raise RefusedReplyError(*faults)
    return values


def strings_in(values: Any) -> list[str]:
    """The texts of a list; none of anything else."""
    return [value for value in as_list(values) if isinstance(value, str)]
