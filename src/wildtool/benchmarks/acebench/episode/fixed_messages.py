"""Reads and writes an agent's message in its two spellings: one bracketed list of calls, or native tool calls."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.native import native_tools
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.own import AgentLines, AgentPrompt, prompt_texts, scenario_rules
from wildtool.benchmarks.acebench.sandbox.edition import Lang
from wildtool.episode import fields_with_calls
from wildtool.json_codec import as_object
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError, write_calls
from wildtool.types import Message, ResultsInText, Tool

MAX_MESSAGE_CALLS = 100
"""Calls of one message that are read."""
_THOUGHT_END = "</think>"


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call as the agent made it."""

    name: str
    arguments: dict[str, Any]
    fault: str = ""
    """Why it cannot be read; empty where it can."""
    id: str = ""
    """The native call's id."""


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """An agent's message: calls, prose, or calls that cannot be read."""

    text: str
    """Its prose; of a bracketed list the list itself."""
    calls: tuple[AgentCall, ...] = ()
    fault: str = ""
    """Why a bracketed text is no list of calls; empty for anything else."""
    as_sent: Message | None = None
    """Of native calls the message as the next request repeats it."""

    @property
    def is_for_sandbox(self) -> bool:
        """Whether the sandbox answers it, not a user."""
        return bool(self.calls or self.fault)

    def as_text(self) -> str:
        """The message as text: as received, or native calls as a bracketed list."""
        if self.as_sent is None:
            return self.text
        return write_calls([CallExpression(call.name, {**call.arguments}) for call in self.calls])


def message_text(reply: Mapping[str, Any]) -> str:
    """The text of a message, content parts joined, without what was thought aloud before."""
    content: object = reply.get("content")
    if isinstance(content, list):
        content = "".join(_part(part) for part in cast(list[object], content))
    return content.rpartition(_THOUGHT_END)[2] if isinstance(content, str) else ""


def read_text_message(reply: Mapping[str, Any]) -> AgentMessage:
    """A message in the bracketed spelling: it is calls or prose as a whole, never both."""
    text = message_text(reply)
    try:
        calls = parse_reply_calls(text)
    except CallSyntaxError as error:
        stripped = text.strip()
        bracketed = stripped.startswith("[") and stripped.endswith("]")
        return AgentMessage(text, fault=str(error) if bracketed else "")
    if not calls:
        return AgentMessage(text, fault="no call")
    return AgentMessage(
        text,
        tuple(
            AgentCall(call.name, {str(key): value for key, value in call.arguments.items()})
            for call in calls[:MAX_MESSAGE_CALLS]
        ),
    )


def read_native_message(reply: Mapping[str, Any]) -> AgentMessage:
    """A message with native tool calls, or prose; what is malformed becomes a call with a fault, never an exception."""
    text = message_text(reply)
    received: object = reply.get("tool_calls")
    if not isinstance(received, list) or not received:
        return AgentMessage(text)
    entries = cast(list[object], received)[:MAX_MESSAGE_CALLS]
    calls: list[AgentCall] = []
    readable_calls: list[Message] = []
    for position, entry in enumerate(entries):
        expression, readable = _native_call(entry, position)
        calls.append(expression)
        readable_calls.append(readable)
    content = reply.get("content")
    echo: Message = {
        "role": "assistant",
        "content": content if isinstance(content, str | list) else None,
        "tool_calls": readable_calls,
        **fields_with_calls(dict(reply)),
    }
    return AgentMessage(text, tuple(calls), as_sent=echo)


def _native_call(entry: object, position: int) -> tuple[AgentCall, Message]:
    """A native call, and how the next request repeats it: as received, or made whole where parts are missing."""
    received = as_object(entry)
    function = as_object(received.get("function"))
    name, arguments, id_ = function.get("name"), function.get("arguments"), received.get("id")
    is_complete = isinstance(name, str) and isinstance(arguments, str) and isinstance(id_, str) and id_ != ""
    name_text = name if isinstance(name, str) else ""
    id_text = id_ if isinstance(id_, str) and id_ else f"call_{position}"
    readable_entry: Message = (
        received
        if is_complete
        else {
            "id": id_text,
            "type": "function",
            "function": {
                "name": name_text or "unknown",
                "arguments": arguments if isinstance(arguments, str) else "{}",
            },
        }
    )
    if not name_text:
        return AgentCall("", {}, "no name of a tool", id_text), readable_entry
    try:
        return AgentCall(name_text, read_arguments(arguments, empty_ok=True), "", id_text), readable_entry
    except ArgumentsError as error:
        return AgentCall(name_text, {}, str(error), id_text), readable_entry


def _part(part: object) -> str:
    text = as_object(part).get("text")
    return text if isinstance(text, str) else ""


MessagesAndTools = tuple[Sequence[Message], Sequence[Tool]]


class TextTranscript:
    """The agent reads one growing transcript and writes bracketed calls; no tools parameter is used."""

    def __init__(
        self, lang: Lang, record: AgentRecord, *, multi_turn: bool, originals: Originals | None = None
    ) -> None:
        self._prompt = AgentPrompt(
            lang, record.involved_classes, record.functions, multi_turn=multi_turn, originals=originals
        )
        self._lines = AgentLines()

    def messages_and_tools(self) -> MessagesAndTools:
        return self._prompt.messages(self._lines.lines), ()

    def in_text(self) -> ResultsInText | None:
        return self._lines.in_text(self._prompt)

    def read(self, reply: Message) -> AgentMessage:
        return read_text_message(reply)

    def add_user(self, text: str) -> None:
        self._lines.add("user", text)

    def add_agent(self, message: AgentMessage) -> None:
        self._lines.add("agent", message.text)

    def add_results(self, _message: AgentMessage, answers: Sequence[Any]) -> None:
        self._lines.add_result("execution", _json(list(answers)))

    def add_note(self, note: str) -> None:
        self._lines.add("execution", note)


class NativeTranscript:
    """The agent reads a chat and makes native calls, each answered under its id."""

    def __init__(
        self, lang: Lang, record: AgentRecord, *, multi_turn: bool, originals: Originals | None = None
    ) -> None:
        """Args: originals: not used, since the original makes no native calls."""
        self._lang: Lang = lang
        self._record = record
        self._multi_turn = multi_turn
        self._chat: list[Message] = []

    def messages_and_tools(self) -> MessagesAndTools:
        return ({"role": "system", "content": self._system}, *self._chat), self._tools

    def in_text(self) -> ResultsInText | None:
        return None

    def read(self, reply: Message) -> AgentMessage:
        return read_native_message(reply)

    def add_user(self, text: str) -> None:
        self._chat.append({"role": "user", "content": text})

    def add_agent(self, message: AgentMessage) -> None:
        self._chat.append(message.as_sent or {"role": "assistant", "content": message.text})

    def add_results(self, message: AgentMessage, answers: Sequence[Any]) -> None:
        for call, answer in zip(message.calls, answers, strict=True):
            content = answer if isinstance(answer, str) else _json(answer)
            self._chat.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def add_note(self, note: str) -> None:
        self._chat.append({"role": "user", "content": note})

    @cached_property
    def _system(self) -> str:
        texts = prompt_texts(self._lang)
        if not self._multi_turn:
            return texts["native_multi_step"]
        return "\n\n".join(
            [texts["native_multi_turn"], *scenario_rules(self._lang, self._record.involved_classes)]
        )

    @cached_property
    def _tools(self) -> Sequence[Tool]:
        return native_tools(self._record.functions)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
