"""Reads whole records: a conversation with its tools, from a row or a log of any shape people have."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.calls import (
    check_no_hidden_call,
    is_call,
    is_openai_call,
    looks_like_call,
    message_call,
)
from wildtool.shapes.keys import (
    FUNCTION,
    MESSAGES_KEYS,
    NAME_KEYS,
    ROLE_WORDS,
    SYSTEM_KEYS,
    TEXT_TYPES,
    THOUGHT_TYPES,
    TOOLS_KEYS,
)
from wildtool.shapes.messages import NOT_OPENAI, SILENT_KEYS, read_messages
from wildtool.shapes.padding import without_padding
from wildtool.shapes.reading import BrokenError, Reading, did_you_mean, of_json, part_type, resembles
from wildtool.shapes.tools import FoundTool, looks_like_tools, read_tools
from wildtool.types import PROVIDER_CONTENT, REASONING_DETAILS, REASONING_KEYS, Message, Tool

_AROUND = ("responses_create_params", "request", "body", "inputs", "kwargs")
"""Keys of a log around what was asked."""
_ANSWERS = ("response", "output", "outputs", "completion", "reply")
"""Keys of a log that hold what was answered."""
_KNOWN = frozenset(
    {
        *MESSAGES_KEYS,
        *TOOLS_KEYS,
        *SYSTEM_KEYS,
        *_AROUND,
        *_ANSWERS,
        "choices",
        "info",
        "input",
        "metadata",
        "prompt",
        "toolChoice",
        "tool_choice",
    }
)
"""Keys of a record that are read, or say how tools are to be used."""
_COLUMNS = frozenset(
    {
        "chosen",
        "expected_output",
        "gold",
        "ground_truth",
        "instruction",
        "label",
        "reference",
        "reference_answer",
        "rejected",
        "target",
    }
)
"""Columns of data sets that say something about a conversation, and are none of its messages."""
_EXPECTED = "`messages`, `contents`, `input` or `prompt` with `completion`"
_OPENAI_KEYS = frozenset(
    {
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        PROVIDER_CONTENT,
        REASONING_DETAILS,
        *REASONING_KEYS,
    }
)
"""Keys of an answer in OpenAI's chat shape that may hold anything."""
_ANSWER_KEYS = ("content", "tool_calls")


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation in OpenAI's chat shape, whatever it was read from."""

    messages: list[Message]
    tools: list[Tool] = field(default_factory=list[Tool])
    returns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """By name of a tool the schema of its results, where its definition has one."""


def read_record(value: Any, reading: Reading) -> FoundConversation:
    """The conversation of one record: a list of messages, a row of training data, a request with or without its answer.

    Raises:
        ShapeError: it holds no conversation, or one that no shape has.
    """
    if not isinstance(value, list | dict):
        reading.fail(f"expected an object with {_EXPECTED}, found {str(value)[:80]!r}")
    row = {MESSAGES_KEYS[0]: as_list(value)} if isinstance(value, list) else as_object(value)
    record = _request_of(row)
    found = _tools(record, row, reading)
    messages = read_messages(_message_values(record, row, reading), reading)
    system = _system(record, row, reading)
    if messages[: len(system)] != system:
        messages = [*system, *messages]
    for place in _places(record, row):
        check_nothing_is_hidden(place, bool(found), messages, reading)
    tools = [entry.tool for entry in found]
    returns = {entry.tool[FUNCTION]["name"]: entry.returns for entry in found if entry.returns}
    messages, tools = without_padding(messages, tools, reading)
    return FoundConversation(messages, tools, returns)


def check_nothing_is_hidden(
    row: Mapping[str, Any], has_tools: bool, messages: Sequence[Mapping[str, Any]], reading: Reading
) -> None:
    """Raises ShapeError for a record without tools, without an answer or without a system text that holds what looks like
    them under a key that no shape has. What a column of data sets holds of them is counted.

    Args:
        messages: of the record, as they are read.
    """
    roles = [message.get("role") for message in messages]
    missing: list[tuple[Sequence[str], Callable[[Any, bool], bool]]] = []
    if not has_tools:
        missing.append((TOOLS_KEYS, _looks_like_tools))
    if not roles or roles[-1] != "assistant":
        missing.append((_ANSWERS, _looks_like_answer))
    if roles and "system" not in roles:
        missing.append((SYSTEM_KEYS, _looks_like_system))
    has_calls = any(message.get("tool_calls") for message in messages)
    contents = [message.get("content") for message in messages]
    for key, value in row.items():
        if key in _KNOWN or not value or value in contents:
            continue
        meant = next((keys for keys, looks_so in missing if looks_so(value, resembles(key, keys))), None)
        if key in _COLUMNS:
            if meant is not None:
                reading.lose(f"key {key} of a record")
        elif meant is not None:
            reading.fail(f"`{key}` of a record, which no shape has; {did_you_mean(key, meant)}")
        elif not has_calls and looks_like_call(value):
            reading.fail(f"`{key}` of a record holds calls, and its messages hold none; expected them there")


def _looks_like_tools(value: Any, is_named_so: bool) -> bool:
    entries = as_list(of_json(value)) or list(as_object(of_json(value)).values())
    has_named = any(as_object(entry).keys() & {FUNCTION, *NAME_KEYS} for entry in entries)
    return looks_like_tools(value) or (is_named_so and has_named and not looks_like_call(value))


def _looks_like_answer(value: Any, is_named_so: bool) -> bool:
    held = of_json(value)
    return (
        (is_named_so and isinstance(value, str | list | dict))
        or looks_like_call(held)
        or _holds_messages(held)
    )


def _looks_like_system(value: Any, is_named_so: bool) -> bool:
    return is_named_so and isinstance(value, str | list | dict)


def _holds_messages(value: Any) -> bool:
    """Whether an object or a list holds messages with a role, as they are or as an API answers them."""
    if isinstance(value, str):
        return False
    return any(
        str(as_object(entry).get(key)).lower() in ROLE_WORDS
        for entry in _answered(value, Reading())
        for key in ("role", "from")
    )


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether a row looks like a record of a conversation; `read_record` says whether it is one."""
    record = _request_of(value)
    if any(isinstance(record.get(key), list) for key in MESSAGES_KEYS):
        return True
    asked = [record.get(key) for key in ("input", "prompt")]
    return any(as_object(entry).keys() & {"role", "type"} for part in asked for entry in as_list(part))


def read_answer(value: Any, reading: Reading) -> Message:
    """The one assistant message that a model gave: a text, a message of any shape, or a whole answer around it (a chat
    completion, a response, candidates).

    Raises:
        ShapeError: it is something else, or several messages.
    """
    if _is_openai(value):
        message = {"role": "assistant", "content": None, **as_object(value)}
        _check_no_slip(message, reading)
        calls: Sequence[Any] = message.get("tool_calls") or ()
        if calls:
            message["tool_calls"] = [
                message_call(call, number, reading.at(f"call {number + 1}"))
                for number, call in enumerate(calls)
            ]
        return message
    entries = _entries_of_answer(value, reading)
    if not entries and value != "":
        refuse = reading.broken if value == {} else reading.fail
        refuse(f"expected a text or a message, found {str(value)[:80]!r}")
    if len(entries) == 1 and entries[0] is not value:
        return read_answer(entries[0], reading)
    messages = read_messages(entries, reading) or [{"role": "assistant", "content": ""}]
    if len(messages) != 1 or messages[0]["role"] != "assistant":
        roles = ", ".join(message["role"] for message in messages)
        reading.fail(f"expected one assistant message, found {roles}")
    return messages[0]


def _check_no_slip(message: Mapping[str, Any], reading: Reading) -> None:
    """Raises ShapeError for an answer in OpenAI's shape, of which every key survives, that has its text or its calls
    under one that nothing reads."""
    check_no_hidden_call(message, _OPENAI_KEYS | SILENT_KEYS, reading)
    if message["content"] or message.get("tool_calls"):
        return
    for key, value in message.items():
        if value and key not in _OPENAI_KEYS and resembles(key, _ANSWER_KEYS):
            reading.fail(f"`{key}` here; {did_you_mean(key, _ANSWER_KEYS)}")


def received_answer(message: Message, reading: Reading) -> Message:
    """As `read_answer`, but a message that is broken in every shape stays as it is: a model may have written it, and the
    judge says what is wrong. Raises ShapeError for what stands under a key that no shape has."""
    try:
        read = read_answer(message, reading)
    except BrokenError:
        return message
    is_plain = _is_openai(message) and all(map(is_openai_call, message.get("tool_calls") or ()))
    return message if is_plain else read


def _is_openai(value: Any) -> bool:
    """Whether a message has OpenAI's chat shape, of which every other key survives."""
    held = as_object(value)
    return (
        held.get("role", "assistant") == "assistant"
        and bool(held.keys() & {"content", "tool_calls"})
        and not held.keys() & NOT_OPENAI
        and isinstance(held.get("content"), str | None)
        and isinstance(held.get("tool_calls"), list | tuple | None)
    )


def _entries_of_answer(value: Any, reading: Reading) -> list[Any]:
    if isinstance(value, list):
        entries = as_list(value)
        if not all(isinstance(entry, dict) for entry in entries):
            return []
        is_content = bool(entries) and all(map(_is_part, entries))
        return [{"role": "assistant", "content": entries}] if is_content else entries
    held = as_object(value)
    if not held:
        return _answered(value, reading)
    if held.keys() & {"role", "type", "kind", "lc"}:
        return [held]
    if held.keys() & {"content", "tool_calls", "function_call", "parts"}:
        return [{"role": "assistant", **held}]
    return _answered(held, reading) or [held]


def _is_part(entry: Any) -> bool:
    """Whether an entry of a list is a part of a message, and no message."""
    part = as_object(entry)
    return "role" not in part and (is_call(part) or part_type(part) in TEXT_TYPES | THOUGHT_TYPES)


def _request_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What holds messages and tools: the record, or what a log keeps as the request."""
    for _ in range(2):
        if any(value.get(key) is not None for key in MESSAGES_KEYS):
            return value
        requests = [_object_or_request(value.get(key)) for key in (*_AROUND, "input", "prompt")]
        inner = next(filter(None, requests), None)
        if inner is None:
            return value
        value = inner
    return value


def _places(record: Mapping[str, Any], row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """A record and the row that it is in, each once."""
    return (row,) if record is row else (record, row)


def _object_or_request(value: Any) -> Mapping[str, Any]:
    """An object, or the request whose JSON text this is; a text that is something else is what a user says."""
    held = as_object(of_json(value))
    is_request = not isinstance(value, str) or any(key in held for key in MESSAGES_KEYS)
    return held if is_request else {}


def _message_values(record: Mapping[str, Any], row: Mapping[str, Any], reading: Reading) -> list[Any]:
    """The messages of a record, with what was answered."""
    keys = [key for key in (*MESSAGES_KEYS, "input", "prompt") if record.get(key) is not None]
    if not keys:
        names = ", ".join(list(row)[:12]) or "nothing"
        reading.fail(f"no conversation: expected {_EXPECTED}; it has {names}")
    key = keys[0]
    for other in keys[1:]:
        if other in MESSAGES_KEYS and record[other] and record[other] != record[key]:
            reading.lose(f"key {other} of a record")
    if key == "input" and isinstance(record.get("instruction"), str):
        reading.fail(f"no conversation: expected {_EXPECTED}; it has `instruction` with `input`")
    values = _parsed(record[key], key, reading)
    is_answered = bool(values) and _is_reply(values[-1])
    reply: list[Any] = []
    unread: dict[str, Any] = {}
    for name, value in _answers(record, row):
        answer = _answered(value, Reading() if reply else reading)
        is_repeated = bool(answer) and (answer == reply or values[-len(answer) :] == answer)
        # Beside a conversation that is answered, a column of texts is a note on it.
        is_note = is_answered and _is_text(value)
        if answer and not reply and (is_repeated or not is_note):
            reply = answer
        elif not is_repeated:
            unread[name] = value
    if not reply and not is_answered:
        for name, value in unread.items():
            if not _is_text(value):
                reading.fail(f"`{name}` holds no answer; it has {', '.join(as_object(value)) or 'a list'}")
    for name in unread:
        reading.lose(f"key {name} of a record")
    return values if values[-len(reply) :] == reply else [*values, *reply]


def _answers(record: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What may be the answer of a record, by key."""
    for place in _places(record, row):
        yield from ((name, place[name]) for name in (*_ANSWERS, "choices") if place.get(name))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or not any(map(as_object, as_list(value) or [value]))


def _is_reply(value: Any) -> bool:
    role = as_object(value).get("role", as_object(value).get("from"))
    return ROLE_WORDS.get(str(role).lower()) == "assistant"


def _parsed(value: Any, key: str, reading: Reading) -> list[Any]:
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = of_json(value)
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list):
        reading.fail(f"`{key}` must be a list of messages, found {str(value)[:80]!r}")
    return cast(list[Any], value)


def _answered(value: Any, reading: Reading) -> list[Any]:
    """The messages of an answer: a message, a list of them, a chat completion, a response, or candidates."""
    if isinstance(value, str) and value:
        held = of_json(value)
        return (
            _answered(held, reading) if _holds_messages(held) else [{"role": "assistant", "content": value}]
        )
    if isinstance(value, list):
        entries = as_list(value)
        choices = [as_object(entry) for entry in entries]
        if choices and all("message" in choice for choice in choices):
            for _ in choices[1:]:
                reading.lose("further choice of an answer")
            check_no_hidden_call(choices[0], {"message", "logprobs"}, reading)
            return [choices[0]["message"]]
        return entries if any(isinstance(entry, str | dict) for entry in entries) else []
    held = as_object(value)
    if any(key in held for key in ("role", "tool_calls", "kwargs")):
        return [held]
    for key in ("choices", "output", "messages", "content", "candidates", "message"):
        if key in held:
            if key == "candidates":
                contents = [as_object(entry).get("content") for entry in as_list(held[key])]
                for _ in contents[1:]:
                    reading.lose("further choice of an answer")
                return contents[:1]
            return (
                _answered(held[key], reading)
                if key != "content"
                else [{"role": "assistant", "content": held[key]}]
            )
    return []


def _tools(record: Mapping[str, Any], row: Mapping[str, Any], reading: Reading) -> list[FoundTool]:
    """The tools of a record, and those that its messages carry, each name once."""
    definitions: list[FoundTool] = []
    for place in (record, row, *tool_holders(row)):
        if not definitions:
            for key in TOOLS_KEYS:
                definitions += read_tools(place.get(key), reading.at(f"`{key}`"))
    if not definitions:
        key = next((key for key in MESSAGES_KEYS if record.get(key)), "")
        for message in as_objects(record.get(key)):
            for key in ("functions", "tools"):
                if message.get(key):
                    definitions += read_tools(message[key], reading.at(f"`{key}` of a message"))
    by_name: dict[str, FoundTool] = {}
    for entry in definitions:
        if by_name.setdefault(entry.tool[FUNCTION]["name"], entry) != entry:
            reading.lose("second definition of a tool")
    return list(by_name.values())


def tool_holders(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What is within a record and holds its tools, such as the request of a log, or metadata; a list of names is none."""
    for key in (*_AROUND, "input", "prompt", "info", "metadata"):
        held = _object_or_request(row.get(key))
        if any(looks_like_tools(held[name]) for name in TOOLS_KEYS if name in held):
            yield held


def _system(record: Mapping[str, Any], row: Mapping[str, Any], reading: Reading) -> list[Message]:
    """The system text that stands beside the messages, as a message."""
    texts = [(key, place[key]) for place in _places(record, row) for key in SYSTEM_KEYS if place.get(key)]
    if not texts:
        return []
    value = texts[0][1]
    for key, other in texts:
        if other != value:
            reading.lose(f"key {key} of a record")
    held = as_object(value)
    content = next((held[key] for key in ("parts", "content") if key in held), value)
    return read_messages([{"role": "system", "content": content}], reading.at("system text"))
