"""What the traces of all benchmarks share: who saw what before each reply, and where two JSON values differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any, cast

from wildtool.episode import EMPTY_REPLY
from wildtool.types import Episode, GoldDifference, Message, Transcript

MAX_TRACE_DIFFERENCES = 20
"""A value with thousands of differences is as wrong after the first twenty."""
MAX_TRACE_DEPTH = 64
"""Deeper values are shown as one."""
_ABSENT = object()


def replay_steps(episode: Episode, transcript: Transcript) -> Iterator[tuple[str, list[Message], Message]]:
    """Replays a transcript: role, messages new to it, and its reply, each given after the walk was told the reply.

    A role's own reply that comes back to it in the next request is not new.
    """
    shown: dict[str, Sequence[Message]] = {}
    last: dict[str, Message] = {}
    for reply in _replies(transcript):
        request = episode.request()
        if request is None:
            return
        new = _new(shown.get(request.role, ()), request.messages)
        if new and request.role in last and _echoes(new[0], last[request.role]):
            new = new[1:]
        shown[request.role], last[request.role] = request.messages, reply
        episode.advance(reply)
        yield request.role, new, reply


def _replies(transcript: Transcript) -> Iterator[Message]:
    yield from (reply.message for reply in transcript.replies)
    # As judging does: a script says nothing past its end, and each walk ends at some number of empty replies.
    while transcript.scripted:
        yield EMPTY_REPLY


def _new(before: Sequence[Message], now: Sequence[Message]) -> list[Message]:
    """The messages from the first one on that was not there before."""
    same = 0
    while same < min(len(before), len(now)) and _equal(before[same], now[same]):
        same += 1
    return list(now[same:])


def _equal(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except RecursionError:
        return False


def _echoes(message: Message, reply: Message) -> bool:
    """Whether a message is nothing but a reply as its sender sees it afterwards."""
    keys = ("content", "tool_calls")
    return message.get("role") == "assistant" and all(
        _equal(message.get(key) or None, reply.get(key) or None) for key in keys
    )


def find_differences(expected: Any, found: Any, where: str, rule: str) -> list[GoldDifference]:
    """The places where two JSON values differ in any way, each under the same rule.

    Args:
        where: path of the values themselves.
    """
    return list(islice(_differing(expected, found, where, rule, 0), MAX_TRACE_DIFFERENCES))


def mark_decisive(
    found: Sequence[GoldDifference], decided: Callable[[GoldDifference], bool]
) -> list[GoldDifference]:
    """The differences, those that did not decide called so."""
    return [d if decided(d) else replace(d, rule="differs too, but is not what decided") for d in found]


def _differing(expected: Any, found: Any, where: str, rule: str, depth: int) -> Iterator[GoldDifference]:
    if expected is _ABSENT or found is _ABSENT:
        wanted = None if expected is _ABSENT else expected
        yield GoldDifference(where, wanted, None if found is _ABSENT else found, rule)
    elif depth < MAX_TRACE_DEPTH and isinstance(expected, Mapping) and isinstance(found, Mapping):
        left, right = cast(Mapping[Any, Any], expected), cast(Mapping[Any, Any], found)
        for key in (*left, *(key for key in right if key not in left)):
            below = left.get(key, _ABSENT), right.get(key, _ABSENT)
            yield from _differing(*below, f"{where}.{key}", rule, depth + 1)
    elif depth < MAX_TRACE_DEPTH and isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        lists = cast(Sequence[Any], expected), cast(Sequence[Any], found)
        for position, (wanted, given) in enumerate(zip_longest(*lists, fillvalue=_ABSENT)):
            yield from _differing(wanted, given, f"{where}[{position}]", rule, depth + 1)
    elif type(cast(Any, expected)) is not type(found) or not _equal(expected, found):
        yield GoldDifference(where, expected, found, rule)
