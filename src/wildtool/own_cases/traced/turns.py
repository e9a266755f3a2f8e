"""Turns of traced conversations as the replies that a run would have recorded."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.episode import said_alone, written_text
from wildtool.json_codec import as_list, as_object, as_objects, values_inside
from wildtool.own_cases.records import CaseUnit
from wildtool.own_cases.traced.results import is_cut_off, is_redacted, results_of_calls, with_own_results
from wildtool.shapes.calls import UNRECORDED_ARGUMENTS
from wildtool.traces import TracedConversation
from wildtool.types import AROUND_IN_TRACE, Message, Reply, Request, Transcript

_NO_ANSWER = "the answer is not recorded"


@dataclass(frozen=True, slots=True)
class TracedTurn:
    """What a trace has of one turn."""

    replies: tuple[Reply, ...] = ()
    requests: tuple[Request, ...] = ()
    """What each reply answered."""
    failure: str = ""
    """What the call of the model says that failed behind the replies; empty where none did."""
    gap: str = ""
    """What is not recorded, so that the turn cannot be judged; empty where all is."""

    @property
    def transcript(self) -> Transcript | None:
        """As a run records it; None where nothing can be recorded."""
        if not self.replies and not self.failure:
            return None
        return Transcript(self.replies, infra_error=self.failure or None)


@dataclass(slots=True)
class _Step:
    """A reply with what the tools gave for its calls."""

    message: Message
    results: list[Message] = field(default_factory=list[Message])


def places_of_user(messages: Sequence[Message]) -> list[int]:
    """The places of what the user says."""
    return [place for place, message in enumerate(messages) if message["role"] == "user"]


def words_of_user(messages: Sequence[Message]) -> tuple[str, ...]:
    """What the user says in each turn, with single spaces."""
    messages_of_user = (messages[place] for place in places_of_user(messages))
    return tuple(" ".join((written_text(message) or "").split()) for message in messages_of_user)


def traced_turn(
    unit: CaseUnit, earlier: Iterable[CaseUnit], conversation: TracedConversation, turn: int
) -> TracedTurn:
    """A turn of a conversation, judged as the one of a case.

    Args:
        earlier: the turns of the case before it.
        turn: its number in the conversation, from 0.
    """
    messages = conversation.messages
    places = places_of_user(messages)
    begin = places[turn] + 1
    is_last = turn + 1 == len(places)
    end = len(messages) if is_last else places[turn + 1]
    steps, gap = _steps(messages[begin:end], unit)
    waits = not steps or bool(steps[-1].message.get("tool_calls") and steps[-1].results)
    failure = conversation.failure if is_last and waits and not gap else ""
    if is_last and waits and not failure:
        gap = gap or _NO_ANSWER
    if not steps and not is_last:
        gap = gap or _NO_ANSWER
    if not gap and not failure:
        results = list(results_of_calls(messages[:end]))
        has_earlier = turn + 1 >= len(places_of_user(unit.messages))
        _, gaps = with_own_results(unit, earlier, results, has_earlier=has_earlier)
        if gaps:
            steps, gap = steps[:-1], gaps[0]
    shown_messages = list(messages[:begin])
    tools = conversation.tools or unit.tools
    replies: list[Reply] = []
    requests: list[Request] = []
    for number, step in enumerate(steps):
        requests.append(Request(list(shown_messages), tools))
        around: dict[str, Any] = {} if number else {"before": list(shown_messages)}
        if step.results:
            around["results"] = step.results
        if number + 1 == len(steps) and not gap and not failure:
            around["ends"] = True
        replies.append(Reply({**step.message, AROUND_IN_TRACE: around}))
        shown_messages += [step.message, *step.results]
    return TracedTurn(tuple(replies), tuple(requests), failure, gap)


def _steps(messages: Sequence[Message], unit: CaseUnit) -> tuple[list[_Step], str]:
    """The steps of a turn up to the first one with a gap, and what that is; empty where all is recorded."""
    steps: list[_Step] = []
    for message in messages:
        if message["role"] == "tool" and steps:
            steps[-1].results.append(message)
        elif message["role"] == "assistant":
            steps.append(_Step(said_alone(message)))
    for number, step in enumerate(steps):
        gap = next(_gaps_of_calls(step, unit), "")
        if not gap and number + 1 == len(steps):
            gap = _gap_of_text(step.message, unit)
        if gap:
            return steps[:number], gap
    return steps, ""


def _gaps_of_calls(step: _Step, unit: CaseUnit) -> Iterator[str]:
    """What is not recorded of the calls of a reply; those of tools without parameters get their empty arguments."""
    answered = {result.get("tool_call_id") for result in step.results}
    for call in as_objects(step.message.get("tool_calls")):
        function: dict[str, Any] = as_object(call.get("function"))
        name, text = str(function.get("name")), str(function.get("arguments"))
        if text == UNRECORDED_ARGUMENTS:
            if _has_parameters(unit.parameters.get(name)):
                yield f"the arguments of {name} are not recorded"
            function["arguments"] = "{}"
        elif is_redacted(text) or _holds_redacted(text):
            yield f"the arguments of {name} are redacted"
        elif call.get("id") in answered and is_cut_off(text):
            yield f"the arguments of {name} were cut off when they were recorded"


def _has_parameters(schema: Mapping[str, Any] | None) -> bool:
    """Whether a tool may take arguments; so may one that the case does not show."""
    return schema is None or bool(as_object(schema.get("properties"))) or "$ref" in schema


def _holds_redacted(text: str) -> bool:
    try:
        return any(isinstance(each, str) and is_redacted(each) for each in values_inside(json.loads(text)))
    except (ValueError, RecursionError):
        return False


def _gap_of_text(message: Message, unit: CaseUnit) -> str:
    """Whether the text that a case judges is redacted."""
    is_judged = bool(unit.expectation.says or unit.expectation.not_says)
    texts = [written_text(message) or "", *(str(each) for each in as_list(message.get("content")))]
    return "the answer is redacted" if is_judged and any(map(is_redacted, texts)) else ""
