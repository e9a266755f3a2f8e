"""Puts turns in order while a set is read: pairs results with calls, repairs the order, and rejects what stays wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.training.record import (
    NO_KEYS,
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    RowError,
    TrainingCall,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
    observed_text,
    says_the_same,
)
from wildtool.training.texts import UnreadableTextError, parse_json
from wildtool.training.tools import NO_TOOLS, FoundTools

ROW_REPAIRS: Mapping[str, str] = {
    "leading-assistant": "assistant turns before the first user turn dropped",
    "merge-user": "two user turns in a row joined",
    "merge-assistant": "two assistant texts in a row joined, or a text put beside the calls that follow it",
    "merge-calls": "two call turns in a row joined",
    "text-after-call": "text after calls without results dropped",
    "trailing-turns": "user turns and results at the end dropped",
    "missing-close-tag": "a tag that is not closed read to the end of the text",
    "shared-result": "one result for several calls given to the first",
    "quoted-arguments": "arguments in single quotes read",
    "python-literal": "a Python literal read as JSON",
}
"""Every repair, and what it does."""
REJECT_REASONS: Mapping[str, str] = {
    "unreadable-line": "a line that is no JSON object",
    "bad-tools": "tools that cannot be read, or one without a name",
    "no-answer": "no answer",
    "no-call": "no call",
    "unreadable-call": "a call that cannot be read",
    "orphan-result": "a result without a call directly before it",
    "result-count": "another number of results than of calls",
    "unknown-role": "a role that the set does not have",
    "unknown-shape": "a conversation, a call or a tool in a shape that nobody writes",
    "not-text": "something else than text in a message",
    "late-system": "a system turn after the first turn",
    "no-user": "no user turn",
    "nothing-to-learn": "no assistant turn",
    "empty-user": "a blank user turn",
    "empty-reply": "a blank assistant turn without calls",
    "prompt-end": "the prompt of a pair ends with a reply",
    "gave-up": "the recorded agent gave up",
    "same-pair": "chosen and rejected are equal",
    "other-kind": "a pair among conversations, or the reverse",
    "call-without-result": "calls without results inside a trajectory, which has no place for them",
    "weight-0": "a reply of weight 0, for a trainer that learns every reply",
    "prefix": "contained in a longer record",
    "near": "no argument that was last said as far back as --distance asks",
}
"""Every reason why a row is left out."""


class ConversationBuilder:
    """Collects the turns of one record in the order of the file."""

    def __init__(self, *, splits_results: bool = False) -> None:
        """
        Args:
            splits_results: whether one result text may hold the results of several calls, as in ShareGPT's shape.
        """
        self.system: str | None = None
        self.system_extras: Mapping[str, Any] = NO_KEYS
        self._turns: list[TrainingTurn] = []
        self._results: list[tuple[ObservedResult, str | None]] = []
        self._repairs: set[str] = set()
        self.numbered = 0
        """How many calls were read; set back where two replies to one prompt are read."""
        self._splits_results = splits_results

    @property
    def repairs(self) -> tuple[str, ...]:
        """Names of the repairs made so far, sorted."""
        return tuple(sorted(self._repairs))

    @property
    def open_calls(self) -> int:
        """How many calls the next results belong to."""
        return len(_last_calls(self._turns))

    def note_repair(self, name: str) -> None:
        """Notes a repair that the reader made."""
        self._repairs.add(name)

    def add_system(self, text: str, extras: Mapping[str, Any] = NO_KEYS) -> None:
        """A system turn. Raises RowError if it is not the first turn."""
        if self._turns or self._results or self.system is not None:
            raise RowError("late-system", f"turn {len(self._turns) + 1} is a system turn")
        self.system, self.system_extras = text, extras

    def add_user(self, text: str, extras: Mapping[str, Any] = NO_KEYS) -> None:
        """A user turn."""
        self._close_results()
        self._turns.append(UserTurn(text, extras))

    def add_reply(
        self,
        text: str | None,
        calls: Iterable[TrainingCall] = (),
        *,
        learned: bool = True,
        extras: Mapping[str, Any] = NO_KEYS,
    ) -> None:
        """An assistant turn."""
        self._close_results()
        self._turns.append(AssistantTurn(text, tuple(calls), learned, extras))

    def add_result(self, text: str, extras: Mapping[str, Any] = NO_KEYS, call_id: str | None = None) -> None:
        """One result. Raises RowError if no call is directly before it."""
        last = self._turns[-1] if self._turns else None
        if not isinstance(last, AssistantTurn) or not last.calls:
            raise RowError(
                "orphan-result", f"turn {len(self._turns) + 1} is a result without a call before it"
            )
        self._results.append((ObservedResult(text, extras), call_id))

    def next_call_id(self) -> str:
        """The number of the next call in the order of reading."""
        self.numbered += 1
        return f"call_{self.numbered}"

    def finish(self, *, prompt: bool = False) -> tuple[TrainingTurn, ...]:
        """The turns, repaired and checked.

        Args:
            prompt: whether they are the prompt of a pair, which ends before a reply.

        Raises:
            RowError: what is left cannot be learned from.
        """
        self._close_results()
        turns = self._without_leading(self._turns)
        turns = self._joined(turns)
        if not prompt:
            turns = self._without_trailing(turns)
        _check(turns, prompt=prompt)
        return tuple(turns)

    def record(
        self,
        tools: FoundTools = NO_TOOLS,
        *,
        replies: Callable[[str], AssistantTurn] | None = None,
        **further: Any,
    ) -> TrainingRecord:
        """The record of what was read.

        Args:
            replies: of a pair reads the reply `chosen` or `rejected`.
            further: other fields of the record.

        Raises:
            RowError: as `finish`; or both replies of a pair say the same.
        """
        turns = self.finish(prompt=replies is not None)
        chosen = rejected = None
        if replies is not None:
            numbered = self.numbered
            chosen = replies("chosen")
            self.numbered = numbered
            rejected = replies("rejected")
            if says_the_same(chosen, rejected):
                raise RowError("same-pair", "chosen and rejected are equal")
        return TrainingRecord(
            kind="sft" if replies is None else "preference",
            turns=turns,
            chosen=chosen,
            rejected=rejected,
            tools=tools.tools,
            given_tools=tools.given,
            unknown_types=tools.unknown_types,
            repairs=self.repairs,
            **further,
        )

    def _close_results(self) -> None:
        if not self._results:
            return
        calls = list(_last_calls(self._turns))
        pending, self._results = self._results, []
        results = self._ordered(pending, calls)
        self._turns.append(ResultTurn(tuple(results)))

    def _ordered(
        self, pairs: Sequence[tuple[ObservedResult, str | None]], calls: Sequence[TrainingCall]
    ) -> list[ObservedResult]:
        results = [result for result, _ in pairs]
        if self._splits_results and len(pairs) == 1 and len(calls) > 1:
            return self._split(results[0], len(calls))
        if len(pairs) != len(calls):
            raise RowError("result-count", f"{len(pairs)} results for {len(calls)} calls")
        ids = [call_id for _, call_id in pairs]
        if len(calls) > 1 and all(ids):
            by_id = {call_id: result for result, call_id in pairs}
            call_ids = [call.id for call in calls]
            if len(set(call_ids)) == len(call_ids):
                if by_id.keys() != set(call_ids):
                    raise RowError(
                        "orphan-result", "a result names a call that was not made directly before it"
                    )
                return [by_id[name] for name in call_ids]
        if len(calls) == 1 and ids[0] and ids[0] != calls[0].id:
            raise RowError("orphan-result", "a result names a call that was not made directly before it")
        return results

    def _split(self, shared: ObservedResult, count: int) -> list[ObservedResult]:
        """The results of several calls in one text."""
        try:
            parts = parse_json(shared.text)
        except UnreadableTextError:
            parts = None
        if isinstance(parts, list) and len(cast(list[Any], parts)) == count:
            return [ObservedResult(observed_text(part)) for part in cast(list[Any], parts)]
        self._repairs.add("shared-result")
        return [shared, *[ObservedResult("")] * (count - 1)]

    def _without_leading(self, turns: list[TrainingTurn]) -> list[TrainingTurn]:
        first = next((place for place, turn in enumerate(turns) if isinstance(turn, UserTurn)), len(turns))
        if first:
            self._repairs.add("leading-assistant")
        return turns[first:]

    def _joined(self, turns: list[TrainingTurn]) -> list[TrainingTurn]:
        joined: list[TrainingTurn] = []
        for turn in turns:
            before = joined[-1] if joined else None
            if isinstance(turn, UserTurn) and isinstance(before, UserTurn):
                self._repairs.add("merge-user")
                joined[-1] = UserTurn(f"{before.text}\n\n{turn.text}", {**before.extras, **turn.extras})
            elif isinstance(turn, AssistantTurn) and isinstance(before, AssistantTurn):
                if before.calls and not turn.calls:
                    self._repairs.add("text-after-call")
                    continue
                self._repairs.add("merge-calls" if before.calls else "merge-assistant")
                joined[-1] = _join_replies(before, turn)
            else:
                joined.append(turn)
        return joined

    def _without_trailing(self, turns: list[TrainingTurn]) -> list[TrainingTurn]:
        last = next(
            (place for place in range(len(turns), 0, -1) if isinstance(turns[place - 1], AssistantTurn)), None
        )
        if last is None or last == len(turns):
            return turns
        self._repairs.add("trailing-turns")
        return turns[:last]


def _last_calls(turns: Sequence[TrainingTurn]) -> list[TrainingCall]:
    """The calls at the end, also those of several call turns in a row."""
    calls: list[TrainingCall] = []
    for turn in reversed(turns):
        if not isinstance(turn, AssistantTurn) or not turn.calls:
            break
        calls[:0] = turn.calls
    return calls


def _join_replies(first: AssistantTurn, second: AssistantTurn) -> AssistantTurn:
    texts = [turn.text for turn in (first, second) if turn.text is not None]
    return replace(
        second,
        text="\n\n".join(texts) if texts else None,
        calls=(*first.calls, *second.calls),
        learned=first.learned or second.learned,
        extras={**first.extras, **second.extras},
    )


def _check(turns: Sequence[TrainingTurn], *, prompt: bool) -> None:
    kinds = {type(turn) for turn in turns}
    if UserTurn not in kinds:
        raise RowError("no-user", "no user turn")
    if not prompt and AssistantTurn not in kinds:
        raise RowError("nothing-to-learn", "no assistant turn is left")
    for place, turn in enumerate(turns, 1):
        if isinstance(turn, UserTurn):
            if not turn.text.strip():
                raise RowError("empty-user", f"turn {place} is blank")
        elif isinstance(turn, AssistantTurn):
            check_not_blank(turn, f"turn {place}")
    if prompt and isinstance(turns[-1], AssistantTurn):
        raise RowError("prompt-end", "the prompt of a pair must end with the user or with results")


def check_not_blank(turn: AssistantTurn, where: str) -> None:
    """Raises RowError if a reply says nothing."""
    if not turn.calls and not (turn.text or "").strip():
        raise RowError("empty-reply", f"{where} is blank")
