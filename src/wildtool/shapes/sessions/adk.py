"""Sessions of Google's ADK, with keys as JSON or as Python has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.reading import Reading
from wildtool.shapes.sessions.base import FAILED_CALL, MESSAGES, TAKEN_BACK


def is_adk_session(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("events"), list) and bool(row.keys() & {"appName", "app_name"})


def adk_session(row: Mapping[str, Any], reading: Reading) -> Iterator[Mapping[str, Any]]:
    events = _kept_events(as_objects(row["events"]), reading)
    messages: list[Mapping[str, Any]] = []
    for event in events:
        content = _event_content(event)
        if content.keys() - {"role"} and not event.get("partial"):
            messages.append({"role": "user" if event.get("author") == "user" else "model", **content})
        elif _either(event, "errorCode", "error_code"):
            reading.lose(FAILED_CALL)
        elif not event:
            reading.lose("event that is no object")
    yield {MESSAGES: messages, "created": events[0].get("timestamp") if events else None}


def _event_content(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an event says; where that is not under `content`, what looks like it under its own key."""
    if event.get("content") is not None and not isinstance(event["content"], dict):
        return {"content": event["content"]}
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
