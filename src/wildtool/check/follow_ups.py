"""Requests of `wildtool check` that depend on earlier answers: replies that go back as a run sends them, and what tells
causes of a refusal apart."""

from collections.abc import Iterator, Sequence

from wildtool.check.answers import Answers, RawAnswer
from wildtool.check.histories import (
    COLD,
    OSLO,
    ROME,
    SHORT,
    TWO_CALLS,
    WARM,
    WEATHER,
    answered_history,
    step,
    weather_calls,
)
from wildtool.check.probe import WHOLE, Probe
from wildtool.check.probes import FIRST
from wildtool.episode import fields_with_calls, reasoning_fields
from wildtool.json_codec import as_list
from wildtool.models.thought_signatures import with_placeholder
from wildtool.types import REASONING_KEYS, Message, Tool

OWN_CALLS = ("own call goes back, whole", "own call goes back, streamed")
"""Probes that end in the result of the model's own call."""
OTHER_REASONING = "reasoning goes back"
_SIGNED = f"{SHORT}, with a placeholder of a signature"
_THINKING = {key: f"{SHORT}, with `{key}`" for key in REASONING_KEYS}
"""By key of reasoning, the probe whose every reply has it."""
_ONE_RESULT = f"{TWO_CALLS}, one result"
DIAGNOSES = (*_THINKING.values(), _SIGNED, _ONE_RESULT)
"""Probes that an endpoint may well refuse: one that it takes shows what another lacked."""


def follow_ups(answers: Answers) -> list[Probe]:
    """What to send next. Args: answers: to all other probes."""
    return [*_own_calls(answers), *_other_reasoning(answers), *_diagnoses(answers)]


def _probe(name: str, messages: Sequence[Message], tools: Sequence[Tool] = (WEATHER,)) -> Probe:
    return Probe(name=name, messages=messages, tools=tools, forms=[WHOLE], repeats=1)


def _own_replies(answers: Answers) -> dict[str, RawAnswer]:
    """By name of the probe, the first reply of each form whose calls have ids that results can name."""
    replies: dict[str, RawAnswer] = {}
    for answer in answers[FIRST.name]:
        ids = [call.id for call in answer.calls]
        has_ids = all(isinstance(each, str) and each for each in ids) and len({*map(str, ids)}) == len(ids)
        if answer.complete and ids and has_ids:
            replies.setdefault(OWN_CALLS[answer.streamed], answer)
    return replies


def _own_calls(answers: Answers) -> Iterator[Probe]:
    for name, answer in _own_replies(answers).items():
        reply: Message = {
            "role": "assistant",
            "content": answer.message.get("content"),
            "tool_calls": answer.message["tool_calls"],
            **fields_with_calls(answer.message),
        }
        results: list[Message] = [
            {"role": "tool", "tool_call_id": call.id, "content": '{"done": true}'} for call in answer.calls
        ]
        yield _probe(name, [*FIRST.messages, reply, *results], FIRST.tools)


def _other_reasoning(answers: Answers) -> Iterator[Probe]:
    """Reasoning that came with no call of the simplest request: models think before some calls and not before others."""
    sent = {key for answer in _own_replies(answers).values() for key in reasoning_fields(answer.message)}
    for group in answers.values():
        for answer in group:
            fields = reasoning_fields(answer.message) if answer.complete else {}
            if fields and not fields.keys() <= sent:
                yield _probe(OTHER_REASONING, list(_thinking(fields)))
                return


def _thinking(fields: Message) -> Iterator[Message]:
    for message in answered_history(COLD):
        yield {**message, **fields} if message.get("tool_calls") else message


def _signed(message: Message) -> Message:
    calls = as_list(message.get("tool_calls"))
    return {**message, "tool_calls": list(map(with_placeholder, calls))} if calls else message


def _with_thought(message: Message, key: str) -> Message:
    return {**message, key: "I look it up."} if message["role"] == "assistant" else message


def _diagnoses(answers: Answers) -> Iterator[Probe]:
    if any(answer.unusable for answer in answers[SHORT]):
        for key, name in _THINKING.items():
            yield _probe(name, [_with_thought(message, key) for message in answered_history(COLD)])
        yield _probe(_SIGNED, [_signed(message) for message in answered_history(COLD)])
    elif any(answer.unusable for answer in answers[TWO_CALLS]):
        # Not sound, since a result is missing. If it is taken all the same, two calls are not what is refused.
        calls = [*weather_calls([OSLO]), *weather_calls([ROME], 1)]
        reply, cold, _ = step(calls, [COLD, WARM], "")
        first = answered_history(COLD, WARM)
        yield _probe(_ONE_RESULT, [first[0], reply, cold, *first[-2:]])
