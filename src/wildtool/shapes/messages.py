"""Reads messages in every shape people have, as messages in OpenAI's chat shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.calls import (
    FoundCall,
    check_no_hidden_call,
    is_call,
    is_page_call,
    looks_like_call,
    read_call,
    read_calls,
    united,
)
from wildtool.shapes.keys import (
    MEDIA_KEYS,
    MEDIA_PART_TYPES,
    ROLE_WORDS,
    ROLES_OF_CALLS,
    TEXT_TYPES,
    THOUGHT_TYPES,
)
from wildtool.shapes.reading import Reading, part_type
from wildtool.shapes.results import FoundResult, is_result, read_result, result_message
from wildtool.types import REASONING_DETAILS, REASONING_KEYS, Message

_ROLE_KEYS = ("role", "from")
CONTENT_KEYS = ("content", "parts", "value", "message", "text")
"""Keys of a message that hold what it says; the first that is there counts."""
_OF_LANGCHAIN: Mapping[str, str] = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "humanmessagechunk": "user",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "humanmessage": "user",
    "aimessage": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "toolmessagechunk": "tool",
}
"""Types of LangChain's messages, in lower case."""
_CALL_KEYS = ("tool_calls", "function_call", "function_calls")
"""Keys of a message that hold its calls."""
_LANGCHAIN_CALLS = ("additional_kwargs", "invalid_tool_calls")
"""Keys in which LangChain keeps calls as the API gave them, and calls whose arguments are no JSON."""
NOT_OPENAI = frozenset({*CONTENT_KEYS[1:], *_CALL_KEYS[1:], *_LANGCHAIN_CALLS, "type", "kind"})
"""Keys that tell that an answer does not have OpenAI's chat shape."""
_OF_OTHERS = ("functions", "function_calls", "tools", *_LANGCHAIN_CALLS)
"""Keys of calls and tools that OpenAI's messages do not have."""
_READ = frozenset(
    {
        *_ROLE_KEYS,
        *CONTENT_KEYS,
        *_CALL_KEYS,
        *_LANGCHAIN_CALLS,
        "functions",
        "tools",
        "id",
        "kind",
        "tool_call_id",
        "toolCallId",
        "type",
    }
)
"""Keys of a message that are read; others survive where they are OpenAI's, or are counted."""
_SURVIVE = frozenset({"name", "refusal", "weight", *REASONING_KEYS, REASONING_DETAILS})
"""Keys of OpenAI's messages that are kept as they are."""
SILENT_KEYS = frozenset(
    {
        "annotations",
        "created_at",
        "example",
        "finish_reason",
        "instructions",
        "lc_attributes",
        "metadata",
        "model",
        "model_name",
        "provider_name",
        "response_metadata",
        "run_id",
        "status",
        "stop_reason",
        "stop_sequence",
        "timestamp",
        "usage",
        "usage_metadata",
    }
)
"""Keys about a message that say nothing to a model."""
_SAID = frozenset({"content", "value", *_CALL_KEYS[:2]})
"""Keys of what a message says in OpenAI's chat shape and in ShareGPT's."""
_CHAT_PARTS = frozenset({"text", "image_url", "input_audio", "file"})
"""Types of parts in OpenAI's chat shape."""
_CODING_ITEMS = frozenset({"response_item"})
"""Types of lines in which Codex keeps an item of a conversation."""


@dataclass(slots=True)
class _Speech:
    """What one message says."""

    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[FoundCall] = field(default_factory=list[FoundCall])
    results: list[FoundResult] = field(default_factory=list[FoundResult])
    refusal: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)


def read_messages(values: Any, reading: Reading) -> list[Message]:
    """The messages in a list, whatever the shape of each: OpenAI chat, items of OpenAI's Responses, Anthropic, Gemini,
    Bedrock Converse, LangChain, the Vercel AI SDK, Pydantic AI, OTel, ShareGPT.

    Results get the ids of their calls; calls and results without ids are bound by name and order. A text alone is what a
    user says.

    Raises:
        ShapeError: something in it is no message, or holds calls under a key that no shape has.
    """
    if isinstance(values, str):
        return [{"role": "user", "content": values}]
    if not isinstance(values, list):
        reading.fail(f"expected a list of messages, found {str(values)[:80]!r}")
    history = _History()
    for number, value in enumerate(cast(list[Any], values), 1):
        history.add(value, reading.at(f"message {number}"))
    return history.messages


def is_chat_message(message: Mapping[str, Any]) -> bool:
    """Whether a message has OpenAI's chat shape, with calls of any shape, or ShareGPT's, and hides no call.

    Such a message need not be read here, where keys that OpenAI's shape does not know are left out.
    """
    if message.get("role") == "environment" or (
        "role" not in message and {"type", "kind", "lc"} & message.keys()
    ):
        return False
    if "parts" in message or any(message.get(key) for key in _OF_OTHERS):
        return False
    if message.get("tool_calls") and message.get("function_call"):
        return False
    if message.keys() - {"role"} and not message.keys() & _SAID:
        return False
    if any(looks_like_call(value) for key, value in message.items() if key not in _READ | SILENT_KEYS):
        return False
    if any(isinstance(call, str) for call in as_list(message.get("tool_calls"))):
        return False
    return all(part_type(part) in _CHAT_PARTS for part in as_objects(message.get("content")))


class _History:
    """Messages so far, and the calls that wait for their results."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._waiting: list[tuple[str, str]] = []
        """Id and name of each call without a result."""
        self._calls = 0
        self._open_id: object = None
        """Id of the reply that the next part may belong to; None where none is open."""
        self._instructions: str | None = None
        """What Pydantic AI's first request with instructions says there."""

    def add(self, value: Any, reading: Reading) -> None:
        """Adds what one entry of a list holds. Raises ShapeError."""
        if isinstance(value, str):
            reading.fail(f"expected a message with a role, found the text {value[:60]!r}")
        if not isinstance(value, dict):
            reading.fail(f"expected an object, found {str(value)[:80]!r}")
        message = _unwrapped(cast(Mapping[str, Any], value))
        if _is_item(message):
            self._add_item(message, reading)
            return
        for role, speech in _spoken(message, reading):
            self._add(role, speech, message, reading)
        if message.get("kind") == "request" and isinstance(message.get("instructions"), str):
            self._add_instructions(message["instructions"], reading)

    def _add_instructions(self, text: str, reading: Reading) -> None:
        """Adds what Pydantic AI puts behind the system text of each request."""
        if self._instructions is None:
            self._instructions = text
            first = self.messages[0] if self.messages else {}
            if first.get("role") == "system":
                first["content"] += f"\n\n{text}"
            else:
                self.messages.insert(0, {"role": "system", "content": text})
        elif text != self._instructions:
            reading.lose("other instructions of a later request")

    def _add(self, role: str, speech: _Speech, message: Mapping[str, Any], reading: Reading) -> None:
        if role == "assistant" and speech.calls:
            self._add_reply(speech, message, reading)
            self._add_results(speech)
            return
        self._add_results(speech)
        if role == "tool":
            if not speech.results:
                self._add_result(_own_result(message, reading))
            return
        has_words = bool(speech.texts or speech.thoughts or speech.refusal)
        if speech.results and not has_words and not speech.calls:
            return
        if role != "assistant":
            if speech.calls:
                reading.broken(f"a message of the role {role} makes a call; expected the role assistant")
            self._open_id = None
            self.messages.append({"role": role, "content": speech.text, **_kept(message, reading)})
            return
        self._add_reply(speech, message, reading)

    def _add_reply(self, speech: _Speech, message: Mapping[str, Any], reading: Reading) -> None:
        calls = [self._next_call(call) for call in speech.calls]
        # Claude Code writes the parts of one reply as separate lines that share its id.
        id_ = message.get("id") if self._open_id is not None else None
        last = self.messages[-1] if self.messages else {}
        # Items of a response, too, are one reply up to the next result.
        is_further = message.get("type") == "message" and last.get("role") == "assistant"
        if is_further or (id_ is not None and id_ == self._open_id):
            last["content"] = f"{last['content'] or ''}{speech.text}" or None
            if calls:
                last["tool_calls"] = [*last.get("tool_calls", ()), *calls]
            if speech.refusal is not None:
                last["refusal"] = speech.refusal
            _add_thoughts(last, speech)
            _add_kept(last, message, reading)
            return
        reply: Message = {"role": "assistant", "content": speech.text if speech.texts or not calls else None}
        if calls:
            reply["tool_calls"] = calls
        if speech.refusal is not None:
            reply["refusal"] = speech.refusal
        _add_thoughts(reply, speech)
        _add_kept(reply, message, reading)
        self.messages.append(reply)
        self._open_id = message.get("id") if isinstance(message.get("id"), str) else None

    def _add_results(self, speech: _Speech) -> None:
        for result in speech.results:
            self._add_result(result)

    def _next_call(self, call: FoundCall) -> dict[str, Any]:
        written = call.message_call(self._calls)
        self._calls += 1
        self._waiting.append((written["id"], call.name))
        return written

    def _add_result(self, result: FoundResult) -> None:
        """Adds a result, bound to its call: by id, else by name, else to the first that waits."""
        waiting = self._waiting
        fitting = [entry for entry in waiting if result.id == entry[0]] if result.id else []
        if not result.id:
            fitting = [entry for entry in waiting if result.name in (None, entry[1])]
        if fitting:
            waiting.remove(fitting[0])
        self._open_id = None
        self.messages.append(result_message(result, result.id or (fitting[0][0] if fitting else None)))

    def _add_item(self, item: Mapping[str, Any], reading: Reading) -> None:
        """Adds an item of OpenAI's Responses: calls, texts and thoughts between two results are one reply."""
        speech = _Speech()
        if is_result(item):
            self._add_result(read_result(item, reading))
            return
        if is_call(item):
            speech.calls.append(read_call(item, reading))
        elif item.get("type") == "reasoning":
            parts = [*as_objects(item.get("summary")), *as_objects(item.get("content"))]
            speech.thoughts += [part["text"] for part in parts if isinstance(part.get("text"), str)]
            if item.get("encrypted_content"):
                reading.lose("encrypted reasoning")
        else:
            reading.lose(f"item of type {item.get('type')}")
            return
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "assistant":
            self._add_reply(speech, {}, reading)
            return
        if speech.calls:
            last["tool_calls"] = [*last.get("tool_calls", ()), *map(self._next_call, speech.calls)]
            last["content"] = last["content"] or None
        _add_thoughts(last, speech)


def _unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message without what LangChain, Claude Code and Codex put around it."""
    kwargs = value.get("kwargs")
    if value.get("lc") is not None and isinstance(kwargs, dict):
        name = str((as_list(value.get("id")) or [""])[-1])
        around = {
            key: part for key, part in value.items() if key not in ("lc", "id", "kwargs", "graph", "name")
        }
        return {**around, "type": name, **as_object(kwargs)}
    if isinstance(value.get("data"), dict) and str(value.get("type")).lower() in _OF_LANGCHAIN:
        around = {key: part for key, part in value.items() if key != "data"}
        return {**around, **as_object(value["data"]), "type": value["type"]}
    if part_type(value) in _CODING_ITEMS and isinstance(value.get("payload"), dict):
        around = {key: part for key, part in value.items() if key not in ("type", "payload", "timestamp")}
        return {**around, **as_object(value["payload"])}
    inner = as_object(value.get("message"))
    return inner if isinstance(inner.get("role"), str) and "role" not in value else value


def _is_item(message: Mapping[str, Any]) -> bool:
    """Whether this is an item of OpenAI's Responses that has no role."""
    kind = part_type(message)
    if not kind or kind.lower() in _OF_LANGCHAIN or any(key in message for key in _ROLE_KEYS):
        return False
    return (
        is_call(message) or is_result(message) or kind == "reasoning" or kind.endswith(("_call", "_output"))
    )


def _spoken(message: Mapping[str, Any], reading: Reading) -> Iterator[tuple[str, _Speech]]:
    """Role and content of a message; of Pydantic AI's requests one for each part."""
    kind = message.get("kind")
    if kind in ("request", "response") and "parts" in message:
        if kind == "response":
            yield "assistant", _content_of(message["parts"], reading)
            return
        if not isinstance(message["parts"], list):
            reading.fail(f"`parts` must be a list, found {str(message['parts'])[:80]!r}")
        for part in as_list(message["parts"]):
            own = {"system-prompt": "system", "user-prompt": "user"}.get(part_type(as_object(part)))
            yield own or "tool", _content_of([part], reading)
        return
    if str(message.get("role", message.get("from"))).lower() in ROLES_OF_CALLS:
        calls = read_calls(message.get("content", message.get("value")), reading)
        yield "assistant", _Speech(calls=calls)
        return
    role = _role(message, reading)
    key = _content_key(message, reading)
    if role == "tool" and not _has_results(message, key):
        yield role, _Speech()
        return
    own_calls = _own_calls(message, reading)
    *before, speech = _steps_of(message[key] if key else None, reading, apart=not own_calls)
    if own_calls and speech.results:  # those of earlier calls
        before.append(_Speech(results=speech.results))
        speech.results = []
    speech.calls = united(speech.calls, own_calls, reading)
    if not message.keys() & {*CONTENT_KEYS, *_CALL_KEYS, *_SURVIVE - {"name", "weight"}}:
        # A message of nothing may be what a model gave; one with other keys is of a shape that is not known.
        refuse = reading.fail if message.keys() - _READ - SILENT_KEYS else reading.broken
        refuse(f"a message without `content` and `tool_calls`; it has {', '.join(list(message)[:12])}")
    for step in (*before, speech):
        yield role, step


def _steps_of(content: Any, reading: Reading, *, apart: bool) -> list[_Speech]:
    """What one message says; where it also holds results of its calls, one for each step of the model."""
    parts = cast(list[Any], content) if apart and isinstance(content, list) else []
    steps = [_Speech()] if parts else [_content_of(content, reading)]
    for number, part in enumerate(parts, 1):
        if steps[-1].results and not _holds_result(as_object(part)):
            steps.append(_Speech())
        _add_part(steps[-1], part, reading.at(f"part {number}"))
    return steps


def _holds_result(part: Mapping[str, Any]) -> bool:
    """Whether a part is a result, or a call of the Vercel AI SDK's pages, which holds its own."""
    return is_result(part) or is_page_call(part)


def _content_key(message: Mapping[str, Any], reading: Reading) -> str | None:
    """The key of what a message says; of several that say the same one with parts, which may hold calls.

    Raises:
        ShapeError: several keys say something else each.
    """
    given = [key for key in CONTENT_KEYS if message.get(key) is not None]
    said = [key for key in given if message[key] and isinstance(message[key], str | list | dict)]
    with_parts = [key for key in said if isinstance(message[key], list)]
    if not given:
        return None
    first = (with_parts or said or given)[0]
    for key in said:
        is_same = message[key] == message[first]
        if not is_same and message[key] != _content_of(message[first], Reading(reading.place)).text:
            reading.fail(f"both `{first}` and `{key}` say something, and they differ; keep one of them")
    return first


def _role(message: Mapping[str, Any], reading: Reading) -> str:
    word = next((message[key] for key in _ROLE_KEYS if isinstance(message.get(key), str)), None)
    if word is None and isinstance(message.get("type"), str):
        word = _OF_LANGCHAIN.get(message["type"].lower(), message["type"])
    if word is None:
        keys = ", ".join(list(message)[:12]) or "nothing"
        reading.fail(f"no message: it has no `role`; it has {keys}")
    role = ROLE_WORDS.get(word.lower())
    if role is None:
        reading.fail(f"the role {word[:40]!r}; expected one of {', '.join(sorted(set(ROLE_WORDS.values())))}")
    return role


def _has_results(message: Mapping[str, Any], key: str | None) -> bool:
    return key is not None and any(map(is_result, as_list(message[key]) or [message[key]]))


def _own_result(message: Mapping[str, Any], reading: Reading) -> FoundResult:
    """The result that a message of the role tool is."""
    held = dict(message)
    if held.get("content") in (None, []) and "parts" in held:
        held["content"] = held["parts"]
    result = read_result(held, reading)
    # The message has an id of its own.
    return replace(result, id=None) if result.id == message.get("id") else result


def _own_calls(message: Mapping[str, Any], reading: Reading) -> list[FoundCall]:
    """The calls that a message holds beside its content."""
    own = message.get("tool_calls")
    if isinstance(own, str) and own.lstrip()[:1] not in ("", "[", "{"):
        reading.broken(f"`tool_calls` is the text {own[:60]!r}; expected a list of calls")
    calls = [
        *read_calls(own or None, reading),
        *read_calls(message.get("invalid_tool_calls") or None, reading),
    ]
    further = [message.get(key) for key in _CALL_KEYS[1:]]
    further += [as_object(message.get("additional_kwargs")).get(key) for key in _CALL_KEYS]
    for value in further:
        calls = united(calls, read_calls(value or None, reading), reading)
    check_no_hidden_call(message, _READ | SILENT_KEYS, reading)
    return calls


def _content_of(content: Any, reading: Reading) -> _Speech:
    speech = _Speech()
    if isinstance(content, str):
        speech.texts.append(content)
    elif isinstance(content, list):
        for number, part in enumerate(cast(list[Any], content), 1):
            _add_part(speech, part, reading.at(f"part {number}"))
    elif isinstance(content, dict):
        _add_part(speech, content, reading)
    elif content is not None:
        reading.broken(f"`content` must be a text or a list of parts, found {str(content)[:80]!r}")
    return speech


def _add_part(speech: _Speech, part: Any, reading: Reading) -> None:
    if isinstance(part, str):
        speech.texts.append(part)
        return
    if not isinstance(part, dict):
        reading.broken(f"expected a part with a type, found {str(part)[:80]!r}")
    held = cast(Mapping[str, Any], part)
    kind = part_type(held)
    if is_call(held):
        speech.calls.append(read_call(held, reading))
        if is_page_call(held) and held.keys() & {"output", "errorText"}:
            speech.results.append(read_result(held, reading))
    elif is_result(held):
        speech.results.append(read_result(held, reading))
    elif kind in THOUGHT_TYPES or held.get("thought") is True or "reasoningContent" in held:
        _add_thought(speech, held, reading)
    elif kind in TEXT_TYPES or (not kind and isinstance(held.get("text"), str)):
        text = next((held[key] for key in ("text", "content") if isinstance(held.get(key), str)), None)
        if text is None:
            reading.fail("a part of type text has no text")
        speech.texts.append(text)
    elif kind == "refusal":
        speech.refusal = str(held.get("refusal", ""))
    elif kind in MEDIA_PART_TYPES or any(key in held for key in MEDIA_KEYS):
        reading.lose(f"part {kind or next(iter(held))}")
    elif kind.startswith(("server_tool", "web_search", "code_execution", "data-")):
        reading.lose(f"part {kind}")
    else:
        named = f"of type {kind!r}" if kind else f"with the keys {', '.join(list(held)[:8])}"
        reading.fail(f"a part {named}, which no shape has")


def _add_thought(speech: _Speech, part: Mapping[str, Any], reading: Reading) -> None:
    inner = as_object(as_object(part.get("reasoningContent")).get("reasoningText")) or part
    text = next(
        (
            inner[key]
            for key in ("thinking", "text", "content", "reasoning")
            if isinstance(inner.get(key), str)
        ),
        None,
    )
    if text:
        speech.thoughts.append(text)
    for key in ("signature", "thoughtSignature", "thought_signature", "data", "encrypted_content"):
        if inner.get(key):
            reading.lose("signature of reasoning")


def _add_thoughts(message: Message, speech: _Speech) -> None:
    if speech.thoughts:
        before = message.get(REASONING_KEYS[0])
        message[REASONING_KEYS[0]] = "".join([before] if isinstance(before, str) else []) + "".join(
            speech.thoughts
        )


def _add_kept(reply: Message, message: Mapping[str, Any], reading: Reading) -> None:
    """Adds the keys that survive to a reply; what it has under them already stays."""
    for key, value in _kept(message, reading).items():
        if reply.setdefault(key, value) != value:
            reading.lose(f"key {key} of a message")


def _kept(message: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """Keys of OpenAI's messages that survive; nulls only fill a table."""
    kept: dict[str, Any] = {}
    for key, value in message.items():
        if value is None or key in _READ or key in SILENT_KEYS:
            continue
        if key in _SURVIVE:
            kept[key] = value
        else:
            reading.lose(f"key {key} of a message")
    return kept
