"""What the tools of an agent gave, in place of the results that a case records."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.judging import call_misfit
from wildtool.own_cases.records import CallPattern, CaseUnit, Slot
from wildtool.own_cases.values import ValueOfResult, value_below
from wildtool.shapes.reading import of_json
from wildtool.toolcall.arguments import ArgumentsError, read_calls
from wildtool.types import Message

_REDACTED = re.compile(
    r"\s*([_*<\[({#]+\s*(redacted|scrubbed|masked|filtered|hidden|removed)(?![a-z])[^\n]{0,80}|redacted|[*•█]{4,})\s*",
    re.IGNORECASE,
)
"""What libraries write in place of a value that they must not record."""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """A call of the agent with what its tool gave."""

    name: str
    arguments: Mapping[str, Any]
    value: Any
    gap: str = ""
    """Why the value is not known; empty where it is."""


Labelled = Mapping[str, AgentResult]
"""By label of a slot the call that fits it."""


def is_redacted(text: str) -> bool:
    """Whether a text takes the place of one that a library must not record."""
    return bool(_REDACTED.fullmatch(text))


def is_cut_off(text: str) -> bool:
    """Whether a text is the beginning of a JSON object or list, and not all of it."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        return not rest or error.msg.startswith("Unterminated") or rest.strip(".… ") == ""
    except RecursionError:
        return False  # nobody can say where so deep a text ends; judging refuses it
    return False


def results_of_calls(messages: Sequence[Message]) -> Iterator[AgentResult]:
    """The calls of a conversation in order, without those that it ends with before their results."""
    contents = {each.get("tool_call_id"): each for each in messages if each.get("role") == "tool"}
    replies = [message for message in messages if message.get("role") == "assistant"]
    for reply in replies:
        try:
            calls = read_calls(reply)
        except ArgumentsError:
            continue  # such a call has no result that others could use
        ids = [entry.get("id") for entry in as_objects(reply.get("tool_calls"))]
        for id_, (name, arguments) in zip(ids, calls, strict=False):
            if id_ in contents:
                text = written_text(contents[id_]) or ""
                gap = "is redacted" if is_redacted(text) else "was cut off" if is_cut_off(text) else ""
                yield AgentResult(name, arguments, of_json(text or contents[id_].get("content")), gap)
            elif reply is not replies[-1]:
                yield AgentResult(name, arguments, None, "is not recorded")


def with_own_results(
    unit: CaseUnit, earlier: Iterable[CaseUnit], results: Sequence[AgentResult], *, has_earlier: bool = True
) -> tuple[CaseUnit, list[str]]:
    """A turn that expects, where it takes a value of a result, the value of what the agent's tool gave; and which results
    with such a value are not known, and why.

    Args:
        earlier: the turns of the case before this one.
        has_earlier: whether the conversation has these turns.
    """
    before: dict[str, AgentResult] = {}
    for turn in earlier:
        slots = turn.expectation.slots
        if not has_earlier:
            gap = "is of a turn that its trace does not have"
            before |= {slot.label: AgentResult(slot.title, {}, None, gap) for slot in slots if slot.label}
        before |= _labelled(turn, slots, results, before)
    gaps: dict[str, None] = {}
    alternatives: list[tuple[Slot, ...]] = []
    for slots in unit.expectation.alternatives or ():
        labelled = {**before, **_labelled(unit, slots, results, before)}
        alternatives.append(
            tuple(
                replace(slot, patterns=tuple(_own_pattern(each, labelled, gaps) for each in slot.patterns))
                for slot in slots
            )
        )
    expectation = replace(
        unit.expectation,
        alternatives=None if unit.expectation.alternatives is None else tuple(alternatives),
        never=tuple(_own_pattern(pattern, before, gaps) for pattern in unit.expectation.never),
    )
    return replace(unit, expectation=expectation), [*gaps]


def _labelled(
    turn: CaseUnit, slots: Iterable[Slot], results: Sequence[AgentResult], before: Labelled
) -> dict[str, AgentResult]:
    """By label of slots the first call that fits."""
    found: dict[str, AgentResult] = {}
    for slot in slots:
        if not slot.label:
            continue
        patterns = [_own_pattern(pattern, {**before, **found}, {}) for pattern in slot.patterns]
        for result in results:
            if any(
                not call_misfit(each, result.name, result.arguments, turn.parameters) for each in patterns
            ):
                found[slot.label] = result
                break
    return found


def _own_pattern(pattern: CallPattern, labelled: Labelled, gaps: dict[str, None]) -> CallPattern:
    return replace(pattern, arguments=_own_value(pattern.arguments, labelled, gaps))


def _own_value(value: Any, labelled: Labelled, gaps: dict[str, None]) -> Any:
    """A value with what the agent's tools gave in place of recorded results.

    Args: gaps: gets why one is not known.
    """
    if isinstance(value, ValueOfResult):
        label, *keys = value.place.split(".")
        result = labelled.get(label)
        if result is None:
            return value
        if result.gap:
            gaps[f"the result of {result.name}, of which {value.place} is taken, {result.gap}"] = None
        own = value_below(result.value, keys)
        return value if own is None else ValueOfResult(value.place, {**value, "$is": own})
    if isinstance(value, dict):
        return {key: _own_value(each, labelled, gaps) for key, each in as_object(value).items()}
    if isinstance(value, list):
        return [_own_value(each, labelled, gaps) for each in as_list(value)]
    return value
