"""What a request holds that the protocol allows and some endpoints refuse."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from wildtool.check.defects import DefectKind
from wildtool.episode import reasoning_fields
from wildtool.json_codec import as_list, as_objects, dumps
from wildtool.models.thought_signatures import are_signed
from wildtool.types import REASONING_KEYS, Message

_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_KILOBYTE = 1_000


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that a request may hold."""

    kind: DefectKind
    """Of the defect that its refusal is."""
    words: str
    """What it is, for a finding."""
    is_in: Callable[[Mapping[str, Any]], bool]
    """Whether the fields of a body have it."""


def _messages(body: Mapping[str, Any]) -> list[Message]:
    return as_objects(body.get("messages"))


def _with_calls(body: Mapping[str, Any]) -> list[Message]:
    return [message for message in _messages(body) if message.get("tool_calls")]


def _texts(body: Mapping[str, Any]) -> list[Message]:
    """Replies without calls."""
    return [m for m in _messages(body) if m.get("role") == "assistant" and not m.get("tool_calls")]


def _kinds(body: Mapping[str, Any]) -> list[str]:
    """The role of each message; `calls` for a reply with calls."""
    return ["calls" if message.get("tool_calls") else str(message.get("role")) for message in _messages(body)]


def _follows(first: str, second: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a message of one kind stands right before one of another."""

    def stands(body: Mapping[str, Any]) -> bool:
        kinds = _kinds(body)
        return (first, second) in pairwise(kinds)

    return stands


def _beside_calls(holds: Callable[[Any], bool]) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: any(holds(message.get("content")) for message in _with_calls(body))


def _ids(body: Mapping[str, Any]) -> list[str]:
    return [
        str(call.get("id")) for message in _with_calls(body) for call in as_objects(message["tool_calls"])
    ]


def _lacks(
    key: str, among: Callable[[Mapping[str, Any]], list[Message]]
) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: any(key not in message for message in among(body))


def _carries(key: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: any(message.get(key) is not None for message in _messages(body))


def _result_is(holds: Callable[[str], bool]) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: any(
        holds(str(message.get("content"))) for message in _messages(body) if message.get("role") == "tool"
    )


def _keyword(word: str) -> Feature:
    """A keyword of JSON Schema, in any tool."""
    return Feature(
        DefectKind.SCHEMA_PARTS_DROPPED,
        f"{word}: refused",
        lambda body: f'"{word}":'.encode() in dumps(body.get("tools")),
    )


WITHOUT_LIMIT = Feature(
    DefectKind.RUN_REQUEST_REFUSED,
    "a request without `max_tokens`",
    lambda body: not {"max_tokens", "max_completion_tokens"} & body.keys(),
)
"""What only requests of a run are."""
FEATURES = (
    *map(_keyword, ("oneOf", "anyOf", "$ref", "enum", "pattern")),
    Feature(DefectKind.RESULTS_IN_HISTORY, "an empty result is refused", _result_is(lambda text: not text)),
    Feature(
        DefectKind.RESULTS_IN_HISTORY,
        "a result that is JSON is refused",
        _result_is(lambda text: text[:1] in ("{", "[")),
    ),
    Feature(DefectKind.RUN_REQUEST_REFUSED, "a streamed request", lambda body: body.get("stream") is True),
    WITHOUT_LIMIT,
    Feature(DefectKind.HISTORY_REFUSED, "a system message", lambda body: "system" in _kinds(body)),
    Feature(
        DefectKind.HISTORY_REFUSED, "a reply of the assistant in the history", lambda body: bool(_texts(body))
    ),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "calls and their results in the history",
        lambda body: bool(_with_calls(body)),
    ),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "a system message after another one",
        lambda body: "system" in _kinds(body)[1:],
    ),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "a tool result as the last message",
        lambda body: _kinds(body)[-1:] == ["tool"],
    ),
    Feature(
        DefectKind.HISTORY_REFUSED, "a user's message right after a tool result", _follows("tool", "user")
    ),
    Feature(
        DefectKind.HISTORY_REFUSED, "a reply in text right after a tool result", _follows("tool", "assistant")
    ),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "two calls in one message",
        lambda body: any(len(as_list(message["tool_calls"])) > 1 for message in _with_calls(body)),
    ),
    Feature(DefectKind.HISTORY_REFUSED, "two tool results in a row", _follows("tool", "tool")),
    Feature(DefectKind.HISTORY_REFUSED, "calls right after a tool result", _follows("tool", "calls")),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "`content: null` beside calls",
        _beside_calls(lambda content: content is None),
    ),
    Feature(
        DefectKind.HISTORY_REFUSED, "an empty text beside calls", _beside_calls(lambda content: content == "")
    ),
    Feature(DefectKind.HISTORY_REFUSED, "a text beside calls", _beside_calls(bool)),
    Feature(
        DefectKind.HISTORY_REFUSED,
        "call ids other than nine letters and digits",
        lambda body: any(not _NINE.fullmatch(id_) for id_ in _ids(body)),
    ),
    *(
        Feature(
            DefectKind.REASONING_IN_HISTORY, f"calls in the history without `{key}`", _lacks(key, _with_calls)
        )
        for key in REASONING_KEYS
    ),
    *(
        Feature(
            DefectKind.REASONING_IN_HISTORY, f"replies in the history without `{key}`", _lacks(key, _texts)
        )
        for key in REASONING_KEYS
    ),
    Feature(
        DefectKind.REASONING_IN_HISTORY,
        "calls in the history without a `thought_signature`",
        lambda body: any(not are_signed(as_list(message["tool_calls"])) for message in _with_calls(body)),
    ),
)
"""Where several explain the same refusals, the first is named: what has a probe of its own, then the plainest."""


def features_of(body: Mapping[str, Any]) -> Iterator[Feature]:
    """What a body holds of the list, and each key of reasoning in its history."""
    yield from (feature for feature in FEATURES if feature.is_in(body))
    keys = dict.fromkeys(key for message in _messages(body) for key in reasoning_fields(message))
    yield from map(reasoning_goes_back, keys)


@cache
def reasoning_goes_back(key: str) -> Feature:
    """A key of reasoning that goes back."""
    return Feature(
        DefectKind.REASONING_IN_HISTORY, f"`{key}` in the history, as the endpoint gave it", _carries(key)
    )


def tool_count(body: Mapping[str, Any]) -> int:
    """How many tools a body offers."""
    return len(as_list(body.get("tools")))


def tool_kilobytes(body: Mapping[str, Any]) -> int:
    """Size of all tools of a body as JSON, in kB, rounded up."""
    tools = as_list(body.get("tools"))
    return -(-len(dumps(tools)) // _KILOBYTE) if tools else 0
