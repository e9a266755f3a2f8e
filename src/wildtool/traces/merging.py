"""Calls of a model as conversations: each call repeats the history, so those that another one continues are merged."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wildtool.json_codec import as_object, as_objects, canonical_json
from wildtool.shapes import Reading
from wildtool.traces.spans import TraceSpan, read_json_text
from wildtool.types import Message

BOUND_BY_ORDER = "id of a result that is of no call (bound to its call by their order)"
JOINED = "reply written in several messages (joined)"


@dataclass(slots=True)
class ModelCall:
    """A call of a model: what it was sent, and what it answered."""

    span: TraceSpan
    convention: str
    messages: list[Message]
    tools: list[Any] = field(default_factory=list[Any])
    """Definitions as the span has them."""
    session: str = ""
    """What the span says that it belongs to: a conversation, or its trace."""
    response: str = ""
    previous: str = ""
    """Ids of the response, and of the one that it continues; empty where nothing says them."""
    unknown: list[str] = field(default_factory=list[str])
    """Fields of its messages that are not read."""
    merged: "list[ModelCall]" = field(default_factory=lambda: list[ModelCall]())
    """Those that this one continues or repeats."""

    @property
    def system(self) -> str:
        return "\n".join(
            str(message.get("content") or "") for message in self.messages if message["role"] == "system"
        ).strip()

    @property
    def turns(self) -> list[Message]:
        """What was said, without the system text."""
        return [message for message in self.messages if message["role"] != "system"]


def tidied(messages: Sequence[Message], reading: Reading) -> list[Message]:
    """Messages with each reply in one, and results bound to their calls.

    Responses are written item by item, and some libraries give calls another id than their results.
    """
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else {}
        if message["role"] == "assistant" and last.get("role") == "assistant":
            reading.lose(JOINED)
            joined[-1] = _united(last, message)
        else:
            joined.append(dict(message))
    for at, message in enumerate(joined):
        if message.get("tool_calls"):
            _bind(message, _results_after(joined, at), reading)
    return joined


def _united(first: Message, second: Message) -> Message:
    texts = [each["content"] for each in (first, second) if each.get("content")]
    calls = [*(first.get("tool_calls") or ()), *(second.get("tool_calls") or ())]
    united: Message = {**first, **second, "content": "\n".join(map(str, texts)) or None}
    return {**united, "tool_calls": calls} if calls else united


def _results_after(messages: Sequence[Message], at: int) -> list[Message]:
    results: list[Message] = []
    for message in messages[at + 1 :]:
        if message["role"] != "tool":
            break
        results.append(message)
    return results


def _bind(reply: Message, results: Sequence[Message], reading: Reading) -> None:
    """Gives results the ids of the calls before them where none of them has one, and all calls have a result."""
    ids = [call.get("id") for call in as_objects(reply["tool_calls"])]
    if len(results) == len(ids) and not any(result.get("tool_call_id") in ids for result in results):
        reading.lose(BOUND_BY_ORDER)
        for id_, result in zip(ids, results, strict=True):
            result["tool_call_id"] = id_


def continued(exchanges: Sequence[ModelCall]) -> list[ModelCall]:
    """Exchanges with the history that the server kept, and their spans did not repeat: by the id of the response that
    they continue, or by the call whose result they begin with."""
    responses = {each.response: each for each in exchanges if each.response}
    calls = {
        (each.session, str(call.get("id"))): each
        for each in exchanges
        for call in as_objects((each.messages or [{}])[-1].get("tool_calls"))
    }
    before: dict[int, ModelCall] = {}
    for exchange in exchanges:
        first = (exchange.turns or [{}])[0]
        earlier = responses.get(exchange.previous)
        if earlier is None and first.get("role") == "tool":
            earlier = calls.get((exchange.session, str(first.get("tool_call_id"))))
        if earlier is not None:
            before[id(exchange)] = earlier
    whole: dict[int, ModelCall] = {}
    for exchange in exchanges:
        # A chain of responses may be as long as a conversation, so no function calls itself for it.
        chain: dict[int, ModelCall] = {}
        each: ModelCall | None = exchange
        while each is not None and id(each) not in whole and id(each) not in chain:
            chain[id(each)] = each
            each = before.get(id(each))
        for number, later in reversed(chain.items()):
            history = whole.get(id(before[number])) if number in before else None
            whole[number] = _after(history, later) if history else later
    return [whole[id(exchange)] for exchange in exchanges]


def _after(history: ModelCall, exchange: ModelCall) -> ModelCall:
    """A call with what was said before it."""
    system = [message for message in exchange.messages if message["role"] == "system"]
    earlier = history.turns if system else history.messages
    return replace(exchange, messages=[*system, *earlier, *exchange.turns])


def merge(exchanges: Iterable[ModelCall]) -> list[ModelCall]:
    """The exchanges that no other one continues or repeats, in their order; the others are merged into them.

    One continues another where it begins with all that was said there, with the same system text or none; where the
    text differs, as with a time of day in it, both must be of one session and the other must have more.
    """
    said: dict[int, bytes] = {}
    keyed = [(_beginnings(each.turns, said), number, each) for number, each in enumerate(exchanges)]
    beginnings: dict[bytes, list[ModelCall]] = {}
    kept: list[tuple[int, ModelCall]] = []
    for keys, number, exchange in sorted(keyed, key=lambda entry: (-len(entry[0]), entry[1])):
        owner = next((each for each in beginnings.get(keys[-1], ()) if _continues(each, exchange)), None)
        if owner is not None:
            owner.merged.append(exchange)
            continue
        kept.append((number, exchange))
        for key in keys:
            beginnings.setdefault(key, []).append(exchange)
    return [exchange for _, exchange in sorted(kept, key=lambda entry: entry[0])]


def merge_within_traces(exchanges: Sequence[ModelCall]) -> list[ModelCall]:
    """As `merge`, but calls of two traces that say the same stay apart: they are two tries. A trace that begins where
    another one ended, with all that was said there, continues it, as where each turn of a conversation is a trace."""
    by_trace: dict[str, list[ModelCall]] = {}
    for exchange in exchanges:
        by_trace.setdefault(exchange.span.trace, []).append(exchange)
    whole = [each for calls in by_trace.values() for each in merge(calls)]
    followed: dict[bytes, list[ModelCall]] = {}
    for each in whole:
        followed.setdefault(_beginnings(each.turns)[-1], []).append(each)
    for later in sorted(whole, key=lambda each: len(each.turns)):
        first = min(len(each.turns) for each in (later, *later.merged))
        # The longest conversation that was over before this one began.
        for key in reversed(_beginnings(later.turns)[: max(0, first - 1)]):
            ended = [each for each in followed.get(key, ()) if _is_followed(each, later)]
            if ended:
                followed[key].remove(ended[0])
                later.merged += [ended[0], *ended[0].merged]
                break
    merged = {id(each) for later in whole for each in later.merged}
    return [each for each in whole if id(each) not in merged]


def _is_followed(earlier: ModelCall, later: ModelCall) -> bool:
    """Whether a conversation of another trace goes on from where this one ended, with what the user says next."""
    if earlier.span.trace == later.span.trace or not earlier.span.trace:
        return False
    next_turn = later.turns[len(earlier.turns)]
    return earlier.turns[-1]["role"] == "assistant" and next_turn["role"] == "user"


def _continues(later: ModelCall, earlier: ModelCall) -> bool:
    is_alike = later.system == earlier.system or not earlier.system or not later.system
    has_more = len(later.turns) > len(earlier.turns) and earlier.turns[-1]["role"] == "assistant"
    return is_alike or (has_more and bool(later.session) and later.session == earlier.session)


def _beginnings(messages: Sequence[Message], said: dict[int, bytes] | None = None) -> list[bytes]:
    """For each message a digest of all up to it: of texts and calls, without ids, spaces around and spelling.

    Args:
        said: keeps what each message says, by its `id`: exchanges whose history the server kept share its messages. All
            must live as long as it.
    """
    said = {} if said is None else said
    state = hashlib.sha256()
    digests: list[bytes] = []
    for message in messages:
        if id(message) not in said:
            said[id(message)] = canonical_json(_said(message))
        state.update(said[id(message)])
        digests.append(state.digest())
    return digests


def _said(message: Mapping[str, Any]) -> list[Any]:
    calls = [as_object(call.get("function")) for call in as_objects(message.get("tool_calls"))]
    content = message.get("content")
    text = content.strip() if isinstance(content, str) else content
    named = [[call.get("name"), _arguments(call.get("arguments"))] for call in calls]
    return [message["role"], text or "", named]


def _arguments(value: Any) -> Any:
    held = read_json_text(value)
    return value if held is None else held or {}
