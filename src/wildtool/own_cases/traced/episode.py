"""The episode of a turn that an agent played with its own tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.episode import CaseEpisode
from wildtool.own_cases.judging import call_misfit
from wildtool.own_cases.records import CaseUnit, Expectation, Slot
from wildtool.own_cases.values import ValueOfResult, value_below
from wildtool.shapes.reading import of_json
from wildtool.toolcall.arguments import ArgumentsError, read_calls
from wildtool.types import AROUND_IN_TRACE, Message, Transcript

TRACES = "traces"
"""The mode of a run that was not played: its replies are those of an agent's traces. Each reply has under
`AROUND_IN_TRACE` what the model saw `before` the first one of a turn, the `results` of its calls, and whether it `ends`
the turn."""


class TracedEpisode(CaseEpisode):
    """A turn until the agent answers without a call, or the trace has no more of it. All that it called is judged,
    also after results that the case does not record."""

    most_replies = inf

    def __init__(self, unit: CaseUnit, transcript: Transcript, earlier: Iterable[CaseUnit] = ()) -> None:
        """Args: earlier: the turns of the case before this one."""
        replies = [reply.message for reply in transcript.replies]
        before = as_objects(_around(replies[0]).get("before")) if replies else []
        results = _results_of_calls(before, replies)
        super().__init__(_with_results(unit, results, [*earlier, unit]))
        self.before = before or unit.messages

    def _shown_results(self, reply: Message, sent: Sequence[Message], first: int) -> list[Message] | None:
        around = _around(reply)
        results = as_objects(around.get("results"))
        if around.get("ends"):
            expects_results = any(slot.returns for slot in self.unit.expectation.slots)
            self.unrecorded = self.calls[first][0] if expects_results and not results else ""
            return None
        return results


def _around(reply: Message) -> dict[str, Any]:
    return as_object(reply.get(AROUND_IN_TRACE))


_Result = tuple[str, Mapping[str, Any], Any]
"""Name and arguments of a call, and what the agent's tool gave for it."""


def _results_of_calls(before: Sequence[Message], replies: Sequence[Message]) -> list[_Result]:
    """The calls of a conversation that have a result, in order."""
    messages = list(before)
    for reply in replies:
        messages += [{"role": "assistant", **reply}, *as_objects(_around(reply).get("results"))]
    contents = {
        each.get("tool_call_id"): each.get("content") for each in messages if each.get("role") == "tool"
    }
    results: list[_Result] = []
    for message in messages:
        if message.get("role") != "assistant":
            continue
        try:
            calls = read_calls(message)
        except ArgumentsError:
            continue  # such a call has no result that others could use
        ids = [entry.get("id") for entry in as_objects(message.get("tool_calls"))]
        results += [
            (*call, of_json(contents[id_])) for id_, call in zip(ids, calls, strict=False) if id_ in contents
        ]
    return results


def _with_results(unit: CaseUnit, results: Sequence[_Result], turns: Sequence[CaseUnit]) -> CaseUnit:
    """A turn that expects, where it takes a value of an earlier result, the value of what the agent's tool gave."""
    by_label: dict[str, Any] = {}
    for turn in turns:
        for slot in turn.expectation.slots:
            if slot.label and (result := _result_of(slot, turn, results, by_label)) is not None:
                by_label[slot.label] = result
    return replace(unit, expectation=_put_in(unit.expectation, by_label)) if by_label else unit


def _result_of(slot: Slot, turn: CaseUnit, results: Sequence[_Result], by_label: Mapping[str, Any]) -> Any:
    """The result of the first call that fits a slot; None where none does."""
    patterns = [replace(each, arguments=_replaced(each.arguments, by_label)) for each in slot.patterns]
    return next(
        (
            result
            for name, arguments, result in results
            if any(not call_misfit(pattern, name, arguments, turn.parameters) for pattern in patterns)
        ),
        None,
    )


def _put_in(expectation: Expectation, by_label: Mapping[str, Any]) -> Expectation:
    alternatives = expectation.alternatives
    if alternatives is None:
        return expectation
    replaced = tuple(
        tuple(
            replace(
                slot,
                patterns=tuple(
                    replace(each, arguments=_replaced(each.arguments, by_label)) for each in slot.patterns
                ),
            )
            for slot in slots
        )
        for slots in alternatives
    )
    return replace(expectation, alternatives=replaced)


def _replaced(value: Any, by_label: Mapping[str, Any]) -> Any:
    """A value with what the agent's tools gave in place of recorded results."""
    if isinstance(value, ValueOfResult):
        label, *keys = value.place.split(".")
        result = value_below(by_label.get(label), keys)
        return value if result is None else ValueOfResult(value.place, {**value, "$is": result})
    if isinstance(value, dict):
        return {key: _replaced(each, by_label) for key, each in as_object(value).items()}
    if isinstance(value, list):
        return [_replaced(each, by_label) for each in as_list(value)]
    return value
