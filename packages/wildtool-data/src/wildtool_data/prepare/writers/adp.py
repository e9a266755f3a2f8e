"""Writes trajectories of the agent data protocol: a list of actions and observations.

The fields are those of the protocol's own schema (neulab/agent-data-protocol, `schema/`, as of 2026). A call with a
result has an id that its result repeats; the system text and the tools, for which the schema has no field, are in
`details`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from wildtool.training.record import (
    AssistantTurn,
    ResultTurn,
    RowError,
    TrainingCall,
    TrainingRecord,
    UserTurn,
)
from wildtool.training.writers.options import WriteOptions


def adp_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a trajectory.

    Raises:
        RowError: calls in its middle have no results, or arguments are no object, which a trajectory cannot express.
    """
    details: dict[str, Any] = {}
    if record.system is not None:
        details["system"] = record.system
    if record.tools:
        details["tools"] = list(record.tools)
    return {
        "id": record.id or f"{record.row}",
        "content": list(_content(record)),
        "details": details,
    }


def _content(record: TrainingRecord) -> Iterator[dict[str, Any]]:
    calls: Sequence[TrainingCall] = ()
    for place, turn in enumerate(record.turns):
        match turn:
            case UserTurn():
                yield _observation(turn.text, "user")
            case ResultTurn():
                for call, result in zip(calls, turn.results, strict=True):
                    yield {**_observation(result.text, "environment"), "tool_call_id": call.id}
            case AssistantTurn():
                calls = turn.calls
                after = record.turns[place + 1] if place + 1 < len(record.turns) else None
                yield from _actions(turn, answered=isinstance(after, ResultTurn), last=after is None)


def _observation(text: str, source: str) -> dict[str, Any]:
    return {"class_": "text_observation", "content": text, "source": source}


def _actions(turn: AssistantTurn, *, answered: bool, last: bool) -> Iterator[dict[str, Any]]:
    if not turn.calls:
        yield {"class_": "message_action", "content": turn.text or ""}
        return
    if not answered and not last:
        raise RowError("call-without-result", "calls are followed by the user, and have no results")
    description = "\n".join(filter(None, (turn.reasoning, turn.text))) or None
    for call in turn.calls:
        arguments: Any = call.arguments
        if not isinstance(arguments, dict):
            raise RowError("unreadable-call", f"the arguments of {call.name} are no object"[:200])
        action: dict[str, Any] = {
            "class_": "api_action",
            "function": call.name,
            "kwargs": cast(Any, arguments),
            "description": description,
        }
        yield {**action, "tool_call_id": call.id} if answered else action
        description = None
