"""Trajectories of agents in the interchange format ATIF, versions 1.0 to 1.8."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.reading import Reading
from wildtool.shapes.sessions.base import MESSAGES, other_keys
from wildtool.types import REASONING_KEYS

_TRAJECTORY_KEYS = frozenset(
    {
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent",
        "steps",
        "notes",
        "final_metrics",
        "continued_trajectory_ref",
        "subagent_trajectories",
        "extra",
    }
)
_AGENT_KEYS = frozenset({"name", "version", "model_name", "tool_definitions", "extra"})
_STEP_KEYS = frozenset(
    {
        "step_id",
        "timestamp",
        "source",
        "model_name",
        "reasoning_effort",
        "message",
        "reasoning_content",
        "tool_calls",
        "observation",
        "metrics",
        "is_copied_context",
        "llm_call_count",
        "extra",
    }
)
_OBSERVED_KEYS = frozenset({"source_call_id", "content", "subagent_trajectory_ref", "extra"})
_STEP_CALL_KEYS = frozenset({"tool_call_id", "function_name", "arguments", "extra"})


def is_trajectory(row: Mapping[str, Any]) -> bool:
    return str(row.get("schema_version")).startswith("ATIF-") and isinstance(row.get("steps"), list)


def trajectories(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The conversation of a trajectory, and of each one of a sub-agent that is within it."""
    agent = as_object(row.get("agent"))
    yield {
        **other_keys(row, _TRAJECTORY_KEYS),
        **other_keys(agent, _AGENT_KEYS),
        MESSAGES: [message for step in as_list(row["steps"]) for message in _step_messages(step, reading)],
        "tools": agent.get("tool_definitions"),
    }
    inside = row.get("subagent_trajectories")
    if inside and not isinstance(inside, list):
        reading.lose("trajectories of sub-agents that are no list")
    for inner in as_objects(inside):
        if isinstance(inner.get("steps"), list):
            yield from trajectories(inner, reading)
        else:
            reading.lose("trajectory of a sub-agent without steps")


def _step_messages(value: Any, reading: Reading) -> Iterator[Any]:
    """The message that a step is, and the results that it observed."""
    if not isinstance(value, dict):
        yield value
        return
    step = cast(Mapping[str, Any], value)
    text, observation = step.get("message"), step.get("observation")
    # A source that the format does not have is refused as a role that no message has.
    role = "assistant" if step.get("source") == "agent" else step.get("source")
    message = {
        **other_keys(step, _STEP_KEYS),
        "role": role,
        "content": text,
        "timestamp": step.get("timestamp"),
    }
    if step.get("reasoning_content"):
        message[REASONING_KEYS[0]] = step["reasoning_content"]
    if step.get("tool_calls"):
        calls = step["tool_calls"]
        message["tool_calls"] = list(map(_step_call, as_list(calls))) if isinstance(calls, list) else calls
        # The format has a text in each step.
        message["content"] = text or None
    if text or not observation or role == "assistant":
        yield message
    if observation:
        results = as_object(observation).get("results")
        for result in as_list(results) if isinstance(results, list) else [observation]:
            yield _observed(cast(Mapping[str, Any], result), reading) if isinstance(result, dict) else result


def _observed(result: Mapping[str, Any], reading: Reading) -> Mapping[str, Any]:
    unknown = other_keys(result, _OBSERVED_KEYS)
    message = {**unknown, "role": "tool", "tool_call_id": result.get("source_call_id")}
    if result.get("content") is not None:
        message["content"] = result["content"]
    elif not unknown:
        message["content"] = ""
        if result.get("subagent_trajectory_ref"):
            reading.lose("what a sub-agent gave, kept elsewhere")
    return message


def _step_call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    held = cast(Mapping[str, Any], call)
    message_call = {
        **other_keys(held, _STEP_CALL_KEYS),
        "id": held.get("tool_call_id"),
        "name": held.get("function_name"),
    }
    if "arguments" in held:
        # Our own exports keep beside a call what the format cannot say: arguments that are no object.
        message_call["arguments"] = as_object(held.get("extra")).get("arguments", held["arguments"])
    return message_call
