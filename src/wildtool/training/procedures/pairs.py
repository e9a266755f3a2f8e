"""Preference pairs from a model's own failures: the record's turn is chosen, the model's first wrong try rejected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.toolcall.text.unseen import is_unseen
from wildtool.training.procedures.agreement import UNREADABLE_CALL, agreement
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.record import AssistantTurn, TrainingCall, TrainingRecord, says_the_same
from wildtool.types import Message, Reply

LENGTH_RATIO = 1.5
"""Ratio of the mean lengths of both sides beyond which training may learn length instead."""
CUT_OFF = "cut off"
"""Why a reply is broken that ends at the length limit."""


class NoPair(StrEnum):
    """Why a turn gives no pair."""

    right_at_once = "right at once"
    equal = "equal to the record"
    blank = "blank"
    broken = "broken"
    never_solved = "never solved"
    not_judged = "not judged"


@dataclass(frozen=True, slots=True)
class Try:
    """One reply of a model to a supervised turn."""

    reply: AssistantTurn
    right: bool
    error: str | None = None
    """How it disagrees with the record (`agreement.DISAGREEMENTS`), or `critic`; None for a right one."""
    why: str = ""
    """The rule that decided, or what the critic says."""
    broken: str = ""
    """Why it is no reply to learn from: cut off, or a call that cannot be read; empty for a whole one."""


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A prompt with a better and a worse reply."""

    turn: SupervisedTurn
    chosen: AssistantTurn
    rejected: AssistantTurn
    tries: int
    """How many were made."""
    solved: bool
    """Whether any of them is right."""

    @property
    def meta(self) -> dict[str, int | bool]:
        """What a file says of it beside the replies."""
        return {"turn": self.turn.place, "tries": self.tries, "solved": self.solved}

    @property
    def lengths(self) -> tuple[int, int]:
        """Characters of the chosen and of the rejected reply."""
        return _length(self.chosen), _length(self.rejected)

    @property
    def record(self) -> TrainingRecord:
        """The pair as a preference record."""
        source = self.turn.record
        return replace(
            source,
            kind="preference",
            turns=tuple(self.turn.prompt),
            chosen=self.chosen,
            rejected=self.rejected,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRules:
    """What becomes a pair."""

    own_chosen: bool = False
    """Whether the first right try is chosen where there is one."""
    solved_only: bool = False
    """Whether turns that were never solved are left out."""
    keep_broken: bool = False
    """Whether broken replies may be rejected."""


def judged_try(reply: Reply, turn: SupervisedTurn) -> Try:
    """A reply judged by the rules of `agreement`."""
    outcome = agreement(reply.message, turn)
    broken = UNREADABLE_CALL if outcome.error == UNREADABLE_CALL else ""
    broken = CUT_OFF if reply.finish_reason == "length" else broken
    return Try(reply_turn(reply.message), outcome.right, outcome.error, outcome.reason, broken)


def reply_turn(message: Message) -> AssistantTurn:
    """A reply as a turn of a record; arguments that cannot be read stay texts."""
    calls: list[TrainingCall] = []
    for call in as_objects(message.get("tool_calls")):
        function = as_object(call.get("function"))
        name, text = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not isinstance(text, str):
            continue
        try:
            arguments = read_bounded_json(text)
        except ArgumentsError:
            arguments = text
        own_id = call.get("id")
        number = f"call_{len(calls) + 1}"
        calls.append(TrainingCall(name, arguments, own_id if isinstance(own_id, str) and own_id else number))
    return AssistantTurn(written_text(message), tuple(calls))


def pair_of(
    turn: SupervisedTurn, tries: Sequence[Try], rules: PairRules = PairRules()
) -> TrainingPair | NoPair:
    """The pair of a supervised turn, at most one, or why there is none.

    Args:
        tries: in order, each judged.
    """
    if not tries:
        return NoPair.not_judged
    if tries[0].right:
        return NoPair.right_at_once
    usable = (attempt for attempt in tries if not attempt.right and (rules.keep_broken or not attempt.broken))
    rejected = next(usable, None)
    if rejected is None:
        return NoPair.broken
    if says_the_same(rejected.reply, turn.gold):
        return NoPair.equal
    if not rejected.reply.calls and is_unseen(rejected.reply.text or ""):
        return NoPair.blank
    own = next((attempt.reply for attempt in tries if attempt.right), None)
    if own is None and rules.solved_only:
        return NoPair.never_solved
    chosen = own if own is not None and rules.own_chosen else turn.gold
    return TrainingPair(turn, chosen, rejected.reply, len(tries), own is not None)


@dataclass(frozen=True, slots=True)
class SideLengths:
    """Mean lengths of both sides of pairs, in characters."""

    chosen: float
    rejected: float

    @property
    def biased(self) -> bool:
        """Whether they differ so much that training may learn length."""
        low, high = sorted((self.chosen, self.rejected))
        return high > LENGTH_RATIO * low


def side_lengths_of(lengths: Sequence[tuple[int, int]]) -> SideLengths | None:
    """Mean lengths of both sides, from those of each pair; None without pairs."""
    if not lengths:
        return None
    count = len(lengths)
    return SideLengths(sum(first for first, _ in lengths) / count, sum(two for _, two in lengths) / count)


def _length(reply: AssistantTurn) -> int:
    calls = sum(len(call.name) + len(call.arguments_text) for call in reply.calls)
    return calls + len(reply.text or "")
