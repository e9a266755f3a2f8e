"""Parses replies of roles: JSON, and decisions. What is wrong is returned as faults, not raised."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.types import Message

MAX_ROLE_REPLY_CHARACTERS = 40_000
"""Characters of a reply that are read; the rest is cut off."""
_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RuleFault:
    """A rule that a reply breaks."""

    rule: str
    """Its id, such as `P7`."""
    message: str
    """What is wrong and what to do, as the role reads it."""
    warning: bool = False
    """True if it is only counted; the reply is used."""


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


def read_object(text: str, rule: str) -> tuple[dict[str, Any], list[RuleFault]]:
    """The JSON object in a reply: the whole of it, in a fence, or between the outermost braces."""
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
            return cast(dict[str, Any], value), []
        problem = "it is not an object"
    return {}, [RuleFault(rule, f"Give one JSON object and nothing else, without comments: {problem}.")]


def read_decision(text: str) -> tuple[Decision | None, list[RuleFault]]:
    """The decision in a planner's reply (rules P1, P3 and P13)."""
    written, faults = read_object(text, "P1")
    if faults:
        return None, faults
    for key in ("thought", "plan"):
        if not isinstance(written.get(key), str):
            faults.append(RuleFault("P13", f"`{key}` must be a text."))
    listed = written.get("actions")
    if not isinstance(listed, list):
        return None, [*faults, RuleFault("P13", "`actions` must be a list.")]
    if not listed:
        return None, [
            *faults,
            RuleFault("P3", "`actions` is empty; decide on a call, a question or the answer."),
        ]
    actions: list[Action] = []
    for k, entry in enumerate(cast(list[Any], listed)):
        action = _action(entry)
        if action is None:
            message = f"`actions[{k}]` must have a `name` (text) and `arguments` (object)."
            faults.append(RuleFault("P13", message))
        else:
            actions.append(action)
    if faults:
        return None, faults
    return Decision(written["thought"], written["plan"], tuple(actions)), []


def _action(entry: Any) -> Action | None:
    if not isinstance(entry, dict):
        return None
    written = cast(dict[str, Any], entry)
    name, arguments, derived = written.get("name"), written.get("arguments"), written.get("derived", {})
    if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(derived, dict):
        return None
    reasons = cast(dict[str, Any], derived)
    if not all(isinstance(reason, str) and reason.strip() for reason in reasons.values()):
        return None
    return Action(name, cast(dict[str, Any], arguments), reasons)


def strings_in(values: Any) -> Sequence[str]:
    """The texts of a list; none of anything else."""
    return (
        [value for value in cast(list[Any], values) if isinstance(value, str)]
        if isinstance(values, list)
        else ()
    )
