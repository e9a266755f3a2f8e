"""Whether a reply agrees with a supervised turn: by rule, calls in any order, their arguments by meaning."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.episode import written_text
from wildtool.json_codec import as_object
from wildtool.toolcall.arguments import ArgumentsError, read_calls
from wildtool.toolcall.assignment import max_weight_matching
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.text.unseen import is_unseen
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.record import TrainingCall
from wildtool.types import Message

BLANK_REPLY = "blank reply"
TEXT_FOR_CALL = "no call"
CALL_NOT_DUE = "call not due"
UNREADABLE_CALL = "unreadable call"
OTHER_TOOLS = "other tools"
OTHER_NUMBER = "other number of calls"
OTHER_ARGUMENTS = "other arguments"
DISAGREEMENTS: Mapping[str, str] = {
    BLANK_REPLY: "neither text nor call",
    TEXT_FOR_CALL: "answered in text; a call was expected",
    CALL_NOT_DUE: "called a tool; text was expected",
    UNREADABLE_CALL: "a call whose arguments cannot be read",
    OTHER_TOOLS: "called other tools than the record",
    OTHER_NUMBER: "called the right tools another number of times",
    OTHER_ARGUMENTS: "called the right tools with other arguments",
}
"""Every way in which a reply disagrees with its turn."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the rules say of a reply."""

    right: bool
    error: str | None
    """One of `DISAGREEMENTS`; None for a right reply."""
    reason: str
    """The rule that decided, in words."""


def agreement(reply: Message, turn: SupervisedTurn) -> Agreement:
    """Whether a reply says what a supervised turn does. Never raises.

    A turn with calls needs the same calls in any order, with arguments that mean the same under the tool's schema
    (`toolcall.compare`). A turn with text needs a text that is not blank and no call; the text itself is not judged.
    """
    try:
        calls = read_calls(reply)
    except ArgumentsError as error:
        return Agreement(False, UNREADABLE_CALL, str(error))
    blank = is_unseen(written_text(reply) or "")
    if not turn.gold.calls:
        if calls:
            return Agreement(False, CALL_NOT_DUE, f"{calls[0][0]} is called; text was expected")
        return Agreement(False, BLANK_REPLY, "no text") if blank else Agreement(True, None, "a text, no call")
    if not calls:
        names = ", ".join(call.name for call in turn.gold.calls)
        kind = BLANK_REPLY if blank else TEXT_FOR_CALL
        return Agreement(False, kind, f"expected a call of {names}")
    return _calls_agree(calls, turn)


def _calls_agree(calls: Sequence[tuple[str, dict[str, Any]]], turn: SupervisedTurn) -> Agreement:
    gold = turn.gold.calls
    expected_names, reply_names = Counter(call.name for call in gold), Counter(name for name, _ in calls)
    if expected_names != reply_names:
        kind = OTHER_NUMBER if expected_names.keys() == reply_names.keys() else OTHER_TOOLS
        return Agreement(False, kind, f"expected {_counted(expected_names)}, found {_counted(reply_names)}")
    schemas = {function["name"]: as_object(function.get("parameters")) for function in turn.record.functions}
    faults = {
        (place, right): fault
        for place, expected in enumerate(gold)
        for right, (name, arguments) in enumerate(calls)
        if expected.name == name
        for fault in [_argument_fault(expected, arguments, schemas.get(name, {}))]
    }
    matched = max_weight_matching({pair: 1.0 for pair, fault in faults.items() if not fault})
    if len(matched) == len(gold):
        return Agreement(True, None, "the calls of the record")
    unmatched = next(number for number in range(len(gold)) if number not in matched)
    taken_replies = set(matched.values())
    fault = next(
        (
            text
            for (place, other), text in faults.items()
            if place == unmatched and other not in taken_replies
        ),
        "another call has these arguments",
    )
    return Agreement(False, OTHER_ARGUMENTS, f"{gold[unmatched].name}: {fault}")


def _argument_fault(expected: TrainingCall, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Why arguments do not mean the expected ones; empty if they do."""
    gold: Any = expected.arguments
    if not isinstance(gold, dict):
        return "the record's arguments are no object, which no call can repeat"
    differences = compare_arguments(cast(dict[str, Any], gold), arguments, schema)
    return differences[0].message if differences else ""


def _counted(names: Mapping[str, int]) -> str:
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in names.items())
