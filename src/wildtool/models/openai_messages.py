"""Shared by conversions of OpenAI-shaped chats into other protocols: texts, arguments, call ids, tool names."""

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from wildtool.json_codec import dumps
from wildtool.reply_ends import End, reason_end
from wildtool.types import PROVIDER_CONTENT, Message, Request

Changes = dict[str, None]
"""Names of changes, each once, in order of occurrence."""
MESSAGE_KEYS = ("role", "content")
ARGUMENTS_WRAPPER = "malformed_arguments"
"""Key of the object in which arguments are sent that are none."""


class UnsendableError(ValueError):
    """A request contains what the protocol cannot express."""


@dataclass(frozen=True, slots=True)
class HistoryCall:
    """A call of an earlier assistant message."""

    id: Any
    name: str
    arguments: Any
    """As received: a text, or another value."""


def content_text(content: Any) -> str:
    """The text of a message; empty for None. Raises UnsendableError for images and other parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_part_text, cast(list[Any], content)))
    raise UnsendableError(f"a message's content is {type(content).__name__}, neither text nor parts")


def _part_text(part: Any) -> str:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": str() as text}:
            return text
        case {"type": kind}:
            raise UnsendableError(f"a message has a part of type {kind!r}; only texts are translated")
        case _:
            raise UnsendableError("a message has a part without a type")


def arguments_object(arguments: Any, changes: Changes) -> dict[str, Any]:
    """Arguments as the object that a protocol demands; anything else is wrapped, and that is recorded."""
    if isinstance(arguments, dict):
        return cast(dict[str, Any], arguments)
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        changes["empty-arguments-as-object"] = None
        return {}
    if isinstance(arguments, str):
        read = _strict_object(arguments)
        if read is not None:
            return read
    changes["malformed-arguments-wrapped"] = None
    return {ARGUMENTS_WRAPPER: arguments}


def _strict_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text, if nothing of the text is lost by parsing it; else None."""
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse)
        if not isinstance(value, dict):
            return None
        # What cannot be written again, such as a value nested too deep, stays a text.
        dumps(value)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def history_calls(message: Message, changes: Changes) -> Iterator[HistoryCall]:
    """The calls of an assistant message. Raises UnsendableError for malformed ones."""
    calls = message.get("tool_calls")
    if not calls:
        return
    if not isinstance(calls, list):
        raise UnsendableError("tool_calls of a message is no list")
    for call in cast(list[Any], calls):
        match call:
            case {"function": {"name": str() as name} as function}:
                entry, details = cast(dict[str, Any], call), cast(dict[str, Any], function)
                record_dropped("call-key-dropped", entry, ("id", "type", "function", "index"), changes)
                record_dropped("call-key-dropped", details, ("name", "arguments"), changes)
                yield HistoryCall(entry.get("id"), name, details.get("arguments"))
            case _:
                raise UnsendableError("a call in the history has no name")


def functions_of(request: Request) -> Iterator[dict[str, Any]]:
    """The function of each tool. Raises UnsendableError for tools of other types."""
    for tool in request.tools:
        match tool:
            case {"function": {"name": str()} as function}:
                yield cast(dict[str, Any], function)
            case _:
                raise UnsendableError("a tool is no function with a name")


def record_dropped(change: str, fields: Mapping[str, Any], names: Iterable[str], changes: Changes) -> None:
    """Records each key that is left out because the protocol has no place for it."""
    for key, value in fields.items():
        if key not in names and value is not None:
            changes[f"{change}:{key}"] = None


def provider_content_of(provider: str, message: Message) -> list[Any] | None:
    """What this provider wants back of its own reply; None for other messages."""
    match message.get(PROVIDER_CONTENT):
        case {**entry} if isinstance(entry.get(provider), list):
            return cast(list[Any], entry[provider])
        case _:
            return None


def wire_names(
    request: Request, changes: Changes, allowed: str, longest: int, first: str = ""
) -> dict[str, str]:
    """The name to send for each tool, and for each call in the history; a name that differs is a change.

    Args:
        allowed: characters of a name, as the inside of a regular expression's class.
        longest: maximum length; a name that must be cut or is taken ends in a digest of 9 characters.
        first: characters that a name may begin with, if these are fewer.
    """
    names = [function["name"] for function in functions_of(request)]
    names += [call.name for message in request.messages for call in history_calls(message, {})]
    right = re.compile(f"(?=[{first or allowed}])[{allowed}]{{1,{longest}}}")
    good = {name for name in names if right.fullmatch(name)}
    sent = {name: name for name in good}
    for name in names:
        if name in sent:
            continue
        new = re.sub(f"[^{allowed}]", "_", name)
        new = new if re.match(f"[{first or allowed}]", new) else f"_{new}"
        if len(new) > longest or new in sent.values():
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            new = f"{new[: longest - 9]}_{digest}"
        sent[name] = new
        changes["tool-name-mapped"] = None
    return sent


class CallIds:
    """Pairs calls with their results, and gives each call a unique id that the protocol accepts."""

    def __init__(self, allowed: str, longest: int = 64, *, exactly: int | None = None) -> None:
        """Args: allowed: characters of an id, as the inside of a regular expression's class; exactly: how many."""
        self._valid = re.compile(f"[{allowed}]{{{exactly or 1},{exactly or longest}}}")
        self._exactly = exactly
        self._used: set[str] = set()
        self._pending: dict[str, deque[tuple[str | None, str]]] = {}

    def for_call(self, id_: Any, name: str, changes: Changes) -> str:
        """The id to send for a call of the history."""
        sent = id_ if isinstance(id_, str) else ""
        if sent in self._used or not self._valid.fullmatch(sent):
            changes["call-id-replaced"] = None
            sent = self._new_id(_key(id_))
        self.register(id_, sent, name)
        return sent

    def register(self, id_: Any, sent: str | None, name: str) -> None:
        """Registers a call that is sent back as the provider wrote it."""
        if sent is not None:
            self._used.add(sent)
        self._pending.setdefault(_key(id_), deque()).append((sent, name))

    def for_result(self, id_: Any, changes: Changes) -> tuple[str | None, str]:
        """Id and tool name of the call that a result belongs to; of calls with one id, the first without a result."""
        waiting = self._pending.get(_key(id_))
        if waiting:
            return waiting.popleft()
        changes["result-without-call"] = None
        return self._new_id(_key(id_)) if self._exactly else _key(id_), "unknown"

    def _new_id(self, key: str) -> str:
        """An unused id; if a length is demanded, it depends on the key alone, so that it stays the same."""
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        if self._exactly is None:
            return f"call_{digest[:16]}_{len(self._used)}"
        for start in range(len(digest)):
            if (candidate := (digest[start:] + digest[:start])[: self._exactly]) not in self._used:
                return candidate
        # Beyond 64 calls with the same id: hexadecimal numbers.
        return f"{len(self._used):0{self._exactly}x}"


def _key(id_: Any) -> str:
    return id_ if isinstance(id_, str) else repr(id_)


def openai_call(id_: str, name: str, arguments: Any) -> dict[str, Any]:
    """A call in OpenAI's shape; arguments that are not text are written as JSON."""
    text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def assistant_message(
    provider: str,
    texts: Sequence[str],
    calls: Sequence[dict[str, Any]],
    thoughts: Sequence[str],
    own_parts: list[Any] | None,
    refusal: str = "",
) -> Message:
    """A reply in OpenAI's shape.

    Args:
        own_parts: the provider's own parts, kept where they hold more than the message; else None.
    """
    message: Message = {"role": "assistant", "content": "".join(texts) if texts or not calls else None}
    if refusal:
        message["refusal"] = refusal
    if calls:
        message["tool_calls"] = list(calls)
    if thoughts:
        message["reasoning_content"] = "\n".join(thoughts)
    if own_parts is not None:
        message[PROVIDER_CONTENT] = {provider: own_parts}
    return message


def chat_finish_reason(reason: Any, message: Message) -> str | None:
    """The usual name of a reason in chat completions; the reason itself where they have no such end."""
    if not isinstance(reason, str):
        return None
    match reason_end(reason):
        case End.COMPLETE:
            return "tool_calls" if message.get("tool_calls") else "stop"
        case End.CALLS:
            return "tool_calls"
        case End.CUT:
            return "length"
        case End.FILTERED | End.REFUSED:
            return "content_filter"
        case _:
            return reason


def same_calls(message: Message, calls: Sequence[dict[str, Any]]) -> bool:
    """Whether a message still has exactly these calls, so that its provider content still fits."""
    return (message.get("tool_calls") or []) == list(calls)


def usage_with_totals(usage: Any, prompt: Sequence[str], completion: Sequence[str]) -> dict[str, Any]:
    """The provider's counts, and the sums of some of them under the names of chat completions.

    Args: prompt, completion: the counts that each sum consists of.
    """
    if not isinstance(usage, dict):
        return {}
    counts = cast(dict[str, Any], usage)
    totals = {
        total: sum(count for name in names if isinstance(count := counts.get(name), int))
        for total, names in (("prompt_tokens", prompt), ("completion_tokens", completion))
    }
    return {**totals, **counts}
