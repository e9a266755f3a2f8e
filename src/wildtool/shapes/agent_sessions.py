"""Whole sessions that agents keep: trajectories in the interchange format ATIF, sessions of Google's ADK, chats of Gemini
CLI. Each becomes a record of a conversation, for `read_record`.

What a session holds under a key that its form does not have goes into the record as it is, so that `read_record` refuses
or counts it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.keys import MESSAGES_KEYS, RESULT_WRAPPERS
from wildtool.shapes.reading import Reading, part_type
from wildtool.types import REASONING_KEYS

_MESSAGES = MESSAGES_KEYS[0]
_RESULT = RESULT_WRAPPERS[0]
_CALL = "functionCall"
TAKEN_BACK = "message that the user took back"
FAILED_CALL = "failed call of a model"


class SessionForm(NamedTuple):
    """A form in which programs keep a session as one document."""

    name: str
    """What such a document is."""
    fits: Callable[[Mapping[str, Any]], bool]
    records: Callable[[Mapping[str, Any], Reading], Iterable[Mapping[str, Any]]]
    """The conversations of one document as records."""


def session_form(row: Mapping[str, Any]) -> SessionForm | None:
    """The form of a document; None if it is no session of an agent."""
    return next((form for form in _FORMS if form.fits(row)), None)


def _others(row: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """What stands under keys that a form does not have."""
    return {key: value for key, value in row.items() if key not in known}


# ATIF --------------------------------------------------------------------------------------------------

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


def _is_trajectory(row: Mapping[str, Any]) -> bool:
    return str(row.get("schema_version")).startswith("ATIF-") and isinstance(row.get("steps"), list)


def _trajectories(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The conversation of a trajectory, and of each one of a sub-agent that is within it."""
    agent = as_object(row.get("agent"))
    yield {
        **_others(row, _TRAJECTORY_KEYS),
        **_others(agent, _AGENT_KEYS),
        _MESSAGES: [message for step in as_list(row["steps"]) for message in _step_messages(step, reading)],
        "tools": agent.get("tool_definitions"),
    }
    for inner in as_objects(row.get("subagent_trajectories")):
        if isinstance(inner.get("steps"), list):
            yield from _trajectories(inner, reading)
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
    message = {**_others(step, _STEP_KEYS), "role": role, "content": text, "timestamp": step.get("timestamp")}
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
            yield _observed(as_object(result), reading)


def _observed(result: Mapping[str, Any], reading: Reading) -> Mapping[str, Any]:
    unknown = _others(result, _OBSERVED_KEYS)
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
        **_others(held, _STEP_CALL_KEYS),
        "id": held.get("tool_call_id"),
        "name": held.get("function_name"),
    }
    if "arguments" in held:
        # Our own exports keep beside a call what the format cannot say: arguments that are no object.
        message_call["arguments"] = as_object(held.get("extra")).get("arguments", held["arguments"])
    return message_call


# Google ADK --------------------------------------------------------------------------------------------


def _is_adk_session(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("events"), list) and bool(row.keys() & {"appName", "app_name"})


def _adk_session(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    events = _kept_events(as_objects(row["events"]), reading)
    messages: list[Mapping[str, Any]] = []
    for event in events:
        content = _event_content(event)
        if content.keys() - {"role"} and not event.get("partial"):
            messages.append({"role": "user" if event.get("author") == "user" else "model", **content})
        elif _either(event, "errorCode", "error_code"):
            reading.lose(FAILED_CALL)
    yield {_MESSAGES: messages, "created": events[0].get("timestamp") if events else None}


def _event_content(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an event says; where that is not under `content`, what looks like it under its own key."""
    content = {key: value for key, value in as_object(event.get("content")).items() if value is not None}
    if isinstance(content.get("parts"), list):
        parts = as_list(content["parts"])
        return {**content, "parts": [_filled(part) if isinstance(part, dict) else part for part in parts]}
    return content | {
        key: value for key, value in event.items() if key == "parts" or "parts" in as_object(value)
    }


def _filled(part: Any) -> Mapping[str, Any]:
    """A part without the keys that Python writes as null."""
    return {key: value for key, value in as_object(part).items() if value is not None}


def _kept_events(events: Sequence[Mapping[str, Any]], reading: Reading) -> list[Mapping[str, Any]]:
    """The events of a session without those that were rewound."""
    rest: list[Mapping[str, Any]] = []
    for event in events:
        rest.append(event)
        actions = as_object(event.get("actions"))
        first = _either(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")
        if first is None:
            continue
        runs = [_either(each, "invocationId", "invocation_id") for each in rest]
        reading.lose(TAKEN_BACK)
        del rest[runs.index(first) if first in runs else -1 :]
    return rest


def _either(row: Mapping[str, Any], camel: str, snake: str) -> Any:
    """What stands under a key, as it is written in JSON or in Python."""
    return row.get(camel) if row.get(camel) is not None else row.get(snake)


# Gemini CLI --------------------------------------------------------------------------------------------

_CHAT_KEYS = frozenset(
    {
        "id",
        "timestamp",
        "type",
        "content",
        "displayContent",
        "thoughts",
        "tokens",
        "model",
        "toolCalls",
    }
)
_BESIDE_CALL = frozenset(
    {
        "result",
        "status",
        "timestamp",
        "resultDisplay",
        "description",
        "displayName",
        "renderOutputAsMarkdown",
        "agentId",
    }
)
"""Keys of a call that hold its result, or what is shown to the user."""
_CONTEXT = "<session_context>"
"""How the first message begins, in which no user speaks."""


def is_chat_head(row: Mapping[str, Any]) -> bool:
    """Whether a row begins a chat of Gemini CLI, or is a whole one."""
    return {"sessionId", "projectHash"} <= row.keys()


def _is_chat(row: Mapping[str, Any]) -> bool:
    return is_chat_head(row) and isinstance(row.get(_MESSAGES), list)


def _chat_of(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    return chats_of([row], reading)


def chats_of(rows: Iterable[Mapping[str, Any]], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The chats in the lines of a file, or in one document.

    A line is a message, replaces all of them, or takes some back; of several with one id the last counts.
    """
    chats: dict[str, dict[str, Mapping[str, Any]]] = {}
    messages: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        changes = as_object(row.get("$set"))
        if is_chat_head(row):
            messages = chats.setdefault(str(row["sessionId"]), {})
            messages |= _by_id(row.get(_MESSAGES))
        elif isinstance(changes.get(_MESSAGES), list):
            messages.clear()
            messages |= _by_id(changes[_MESSAGES])
        elif isinstance(row.get("$rewindTo"), str):
            _take_back(messages, row["$rewindTo"], reading)
        elif isinstance(row.get("id"), str):
            messages[row["id"]] = row
        elif _MESSAGES in changes or not changes:
            reading.lose("line of another type")
    yield from ({_MESSAGES: list(_chat(chat.values(), reading))} for chat in chats.values())


def _take_back(messages: dict[str, Mapping[str, Any]], first: str, reading: Reading) -> None:
    """Removes a message and all after it; without a message of that id all, as the program does."""
    ids = list(messages)
    for id_ in ids[ids.index(first) if first in messages else 0 :]:
        reading.lose(TAKEN_BACK)
        del messages[id_]


def _by_id(messages: Any) -> dict[str, Mapping[str, Any]]:
    return {str(message.get("id", number)): message for number, message in enumerate(as_objects(messages))}


def _chat(messages: Iterable[Mapping[str, Any]], reading: Reading) -> Iterator[Mapping[str, Any]]:
    """The messages of a chat in Gemini's shape. A result stands with its call, in a message after it, or in both."""
    answered: set[str] = set()
    for message in messages:
        kind = part_type(message)
        if kind not in ("user", "gemini"):
            reading.lose(f"message of type {kind or 'none'}")
            continue
        around = {**_others(message, _CHAT_KEYS), "timestamp": message.get("timestamp")}
        parts = _parts(message.get("content"))
        if kind == "gemini":
            calls = as_objects(message.get("toolCalls"))
            if message.get("toolCalls") and not calls:
                around["tool_calls"] = message["toolCalls"]
            parts = [*_thoughts(message), *parts, *_missing_calls(calls, parts)]
            yield {**around, "role": "model", "parts": parts}
            results = [part for call in calls for part in _results(call, reading)]
        elif parts and str(as_object(parts[0]).get("text")).startswith(_CONTEXT):
            yield {**around, "role": "system", "parts": parts}
            continue
        else:
            results = [part for part in parts if _RESULT in as_object(part)]
            words = [part for part in parts if _RESULT not in as_object(part)]
            if words or not results:
                yield {**around, "role": "user", "parts": words}
        new = [part for part in results if _id_of(part) not in answered]
        answered |= {id_ for part in new if (id_ := _id_of(part))}
        if new:
            yield {"role": "user", "parts": new}


def _id_of(result: Mapping[str, Any]) -> str:
    return str(as_object(result[_RESULT]).get("id") or "")


def _parts(content: Any) -> list[Any]:
    """The parts of what is a text, a part, or a list of both."""
    several = as_list(content) if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else part for part in several if part is not None]


def _thoughts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    texts = [str(each.get("description") or "") for each in as_objects(message.get("thoughts"))]
    return [{"text": text, "thought": True} for text in texts if text]


def _missing_calls(calls: Sequence[Mapping[str, Any]], parts: Sequence[Any]) -> list[Mapping[str, Any]]:
    """The calls of a message that are not among its parts, too."""
    ids = [as_object(as_object(part).get(_CALL)).get("id") for part in parts]
    return [
        {_CALL: _others(call, _BESIDE_CALL)}
        for call in calls
        if call.get("id") is None or call["id"] not in ids
    ]


def _results(call: Mapping[str, Any], reading: Reading) -> list[Any]:
    """The results that stand with a call."""
    if call.get("result") is None:
        reading.lose("call without a result beside it")
        return []
    parts = _parts(call["result"])
    if parts and all(isinstance(as_object(part).get(_RESULT), dict) for part in parts):
        return parts
    are_texts = all(as_object(part).keys() == {"text"} for part in parts)
    output = "".join(str(part["text"]) for part in parts) if are_texts else call["result"]
    return [{_RESULT: {"id": call.get("id"), "name": call.get("name"), "response": {"output": output}}}]


_FORMS = (
    SessionForm("a trajectory (ATIF)", _is_trajectory, _trajectories),
    SessionForm("a session of Google's ADK", _is_adk_session, _adk_session),
    SessionForm("a chat of Gemini CLI", _is_chat, _chat_of),
)
