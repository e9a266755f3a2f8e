"""What is recorded beside a reply of an agent: under the key `harness` of its message.

Runs come from elsewhere too, so any part may have any shape: what is not of the right type is left out, and a fate that
nobody knows is kept by its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects, object_text
from wildtool.types import HARNESS, Message

AS_SAID, ALTERED, ANSWERED = "as said", "altered", "answered by the agent"
NEVER_ARRIVED, DISCARDED = "never arrived", "discarded"
FATES = (AS_SAID, ALTERED, ANSWERED, NEVER_ARRIVED, DISCARDED)
"""What becomes of a call on its way to the tool door: executed as the model said it; with another tool or other
arguments; answered by the agent itself; neither executed nor answered; executed although its reply was thrown away."""
ANSWERED_TURN = "answer"
"""How a turn ends that the agent answers; any other word says why it did not."""


AGENT_FAILED, AGENT_DIFFERS = "agent failed", "agent differs"
"""Kinds of the failed calls of units in which the agent failed, or did not live through an earlier conversation as it
went."""


@dataclass(frozen=True, slots=True)
class CallFate:
    """What became of one call of an earlier reply."""

    id: str
    """As the benchmark's history has it, which may be another than in the reply."""
    name: str
    fate: str
    executions: int
    arguments: str | None
    """What was executed instead; None where it is what the model said."""
    result: str | None
    """What the model was shown; None where it is what the tool door answered."""

    @property
    def is_shown_otherwise(self) -> bool:
        """Whether the model was shown another result than the tool gave."""
        return self.result is not None and self.fate != ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTools:
    """How the agent offered the tools of the conversation to its model."""

    offered: int
    own: tuple[str, ...]
    """Names of those that the agent brought along."""
    renamed: Mapping[str, str]
    """By the name that the model saw that of the benchmark."""
    changed_schemas: int
    described_otherwise: int


@dataclass(frozen=True, slots=True)
class RecordedEnd:
    """How a turn ended."""

    kind: str
    said: str | None
    """What the model said; None where it is the text of the reply, which the user reads."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessRecord:
    """What the agent did between the request before and a reply."""

    prompt_chars: int | None
    """Of its system text; None where it is as before."""
    prompt: str | None
    tools: ShownTools | None
    """None where they are as before."""
    sampling: Mapping[str, Any] | None
    """What it sets of how the model samples; None where that is as before."""
    lost: Mapping[str, int]
    """By name how often something was lost in the translation to the model's protocol."""
    calls: tuple[CallFate, ...]
    own_steps: int
    """Replies of the model that only called the agent's own tools."""
    own_calls: tuple[str, ...]
    """Names of the tools of these."""
    side_requests: int
    """Requests beside the conversation, such as for a title, which no model was sent."""
    retries: int
    seconds: float
    """The agent's own, without those of the model."""
    own_tokens: int | None
    """Of steps of its own, and of replies that it threw away; None where the endpoint did not say."""
    end: RecordedEnd | None
    """None within a turn."""


def harness_record(message: Message) -> HarnessRecord | None:
    """The record beside a reply; None where there is none."""
    fields = message.get(HARNESS)
    if not isinstance(fields, dict):
        return None
    its, prompt = as_object(fields), as_object(as_object(fields).get("prompt"))
    sampling: Any = its.get("sampling")
    own_steps = _number(its.get("own_steps"))
    return HarnessRecord(
        prompt_chars=_number(prompt["chars"]) if "chars" in prompt else None,
        prompt=_text(prompt.get("text")),
        tools=_tools(its["tools"]) if isinstance(its.get("tools"), dict) else None,
        sampling=as_object(sampling) if isinstance(sampling, dict) else None,
        lost={name: count for name, each in as_object(its.get("lost")).items() if (count := _number(each))},
        calls=tuple(map(_fate, as_objects(its.get("calls")))),
        own_steps=own_steps,
        own_calls=_texts(its.get("own_calls")),
        side_requests=_number(its.get("side_requests")),
        retries=_number(its.get("retries")),
        seconds=_seconds(its.get("seconds")),
        own_tokens=None if own_steps and "own_tokens" not in its else _number(its.get("own_tokens")),
        end=_end(its["end"]) if isinstance(its.get("end"), dict) else None,
    )


def _tools(value: Any) -> ShownTools:
    fields = as_object(value)
    renamed = as_object(fields.get("renamed")).items()
    return ShownTools(
        offered=_number(fields.get("offered")),
        own=_texts(fields.get("own")),
        renamed={shown: name for shown, name in renamed if isinstance(name, str)},
        changed_schemas=_number(fields.get("changed_schemas")),
        described_otherwise=_number(fields.get("described_otherwise")),
    )


def _fate(fields: Mapping[str, Any]) -> CallFate:
    return CallFate(
        id=_text(fields.get("id")) or "",
        name=_text(fields.get("name")) or "",
        fate=_text(fields.get("fate")) or "",
        executions=_number(fields.get("executions")),
        arguments=_written(fields.get("arguments")),
        result=_written(fields.get("result")),
    )


def _end(value: Any) -> RecordedEnd:
    fields = as_object(value)
    return RecordedEnd(
        _text(fields.get("kind")) or "", _text(fields.get("said")), _text(fields.get("detail")) or ""
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _written(value: Any) -> str | None:
    """A text, or what is none as JSON."""
    return value if value is None or isinstance(value, str) else object_text(value)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in as_list(value) if isinstance(each, str))


_LARGEST = 10**12
"""No count and no time is larger, so that sums of them fit into a column."""


def _number(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    return value if is_count else 0


def _seconds(value: Any) -> float:
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    return float(value) if is_time else 0.0
