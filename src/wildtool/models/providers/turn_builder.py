"""Chats in the shape of Anthropic and Google: instructions, then turns of user and model, each a list of parts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from wildtool.models.openai_messages import (
    MESSAGE_KEYS,
    CallIds,
    Changes,
    HistoryCall,
    UnsendableError,
    arguments_object,
    content_text,
    history_calls,
    provider_content_of,
    record_dropped,
)
from wildtool.types import Message, Request

TurnPart = dict[str, Any]


class TurnBuilder(ABC):
    """Converts one chat into instructions and turns. A subclass makes the protocol's parts."""

    provider: ClassVar[str]
    """The key of its own parts in `provider_content`."""
    model_role: ClassVar[str]
    parts_key: ClassVar[str]
    id_characters: ClassVar[str]
    late_instructions = False
    """Whether instructions may stand between turns."""

    def __init__(self, names: Mapping[str, str], changes: Changes) -> None:
        """Args: names: the name to send for each tool's name; changes: collects the names of forced changes."""
        self._names = names
        self._original = {sent: name for name, sent in names.items()}
        self._changes = changes
        self._ids = CallIds(self.id_characters)
        self._instructions: list[TurnPart] = []
        self._turns: list[dict[str, Any]] = []

    @abstractmethod
    def is_empty(self, text: str) -> bool:
        """Whether the protocol refuses a part with this text."""

    @abstractmethod
    def text_part(self, text: str) -> TurnPart:
        """A part with a text."""

    @abstractmethod
    def call_part(self, id_: str, name: str, arguments: dict[str, Any]) -> TurnPart:
        """A part with a call, under the name that is sent."""

    @abstractmethod
    def result_part(self, id_: str | None, name: str, text: str) -> TurnPart:
        """A part with the result of a call; an id of None is not sent."""

    @abstractmethod
    def is_result(self, part: TurnPart) -> bool:
        """Whether a part is a result."""

    @abstractmethod
    def parse_message(self, parts: list[Any], names: Mapping[str, str]) -> Message:
        """The assistant message in the parts of a reply."""

    @abstractmethod
    def call_ids(self, parts: list[Any]) -> list[str | None]:
        """The id of each call in the parts of a reply; None for a call without one."""

    @abstractmethod
    def part_to_send(self, part: Any) -> Any:
        """A part of a reply as it can be sent back; None if it cannot."""

    def build(self, request: Request) -> tuple[list[TurnPart], list[dict[str, Any]]]:
        """Instructions and turns. Raises UnsendableError for what the protocol cannot express."""
        for number, message in enumerate(request.messages):
            match message.get("role"):
                case "system" | "developer":
                    self._instruct(message, _role_after(request.messages[number + 1 :]))
                case "user":
                    self._append("user", self._texts(message, MESSAGE_KEYS))
                case "assistant":
                    self._append(self.model_role, self._assistant(message))
                case "tool":
                    self._add_result(message)
                case role:
                    raise UnsendableError(f"there is no role {role!r} in this protocol")
        return self._instructions, self._turns

    def _instruct(self, message: Message, role_after: Any) -> None:
        """Adds instructions at the top, or in place if the protocol accepts that: after a user turn, and either at the
        end or before a turn of the model."""
        parts = self._texts(message, MESSAGE_KEYS)
        last = self._turns[-1] if self._turns else {}
        if self.late_instructions and role_after in (None, "assistant") and parts:
            if last.get("role") == "system":
                last[self.parts_key] += parts
                return
            if last.get("role") == "user":
                self._append("system", parts)
                return
        where = "late-system-to-top-level" if self._turns else "system-to-top-level"
        self._changes[where] = None
        self._instructions += parts

    def _append(self, role: str, parts: list[Any]) -> None:
        if parts:
            self._turns.append({"role": role, self.parts_key: parts})
        else:
            self._changes["empty-message-dropped"] = None

    def _texts(self, message: Message, keys: tuple[str, ...]) -> list[TurnPart]:
        record_dropped("message-key-dropped", message, keys, self._changes)
        text = content_text(message.get("content"))
        if not self.is_empty(text):
            return [self.text_part(text)]
        if message.get("content") is not None:
            self._changes["empty-content-dropped"] = None
        return []

    def _assistant(self, message: Message) -> list[Any]:
        parts = provider_content_of(self.provider, message)
        if parts is not None and self._matches(message, parts):
            return [sent for part in parts if (sent := self.part_to_send(part)) is not None]
        turn_parts = self._texts(message, (*MESSAGE_KEYS, "tool_calls"))
        for call in history_calls(message, self._changes):
            id_ = self._ids.for_call(call.id, call.name, self._changes)
            arguments = arguments_object(call.arguments, self._changes)
            turn_parts.append(self.call_part(id_, self._names[call.name], arguments))
        return turn_parts

    def _matches(self, message: Message, parts: list[Any]) -> bool:
        """Whether parts and message have the same content; if so, their calls are registered."""
        own = self.parse_message(parts, self._original)
        mine, theirs, ids = (
            list(history_calls(message, {})),
            list(history_calls(own, {})),
            self.call_ids(parts),
        )
        same = (
            content_text(own["content"]) == content_text(message.get("content"))
            and len(mine) == len(theirs)
            and all(map(_is_same_call, mine, theirs, ids))
        )
        if same:
            for call, id_ in zip(mine, ids, strict=True):
                self._ids.register(call.id, id_, call.name)
        return same

    def _add_result(self, message: Message) -> None:
        """Adds a result; results of one step share a turn, as both protocols demand."""
        record_dropped("message-key-dropped", message, (*MESSAGE_KEYS, "tool_call_id", "name"), self._changes)
        id_, name = self._ids.for_result(message.get("tool_call_id"), self._changes)
        part = self.result_part(id_, self._names.get(name, name), content_text(message.get("content")))
        before: list[Any] = self._turns[-1][self.parts_key] if self._turns else []
        # Only user turns hold results.
        if before and isinstance(before[0], dict) and self.is_result(cast(TurnPart, before[0])):
            before.append(part)
        else:
            self._append("user", [part])


def _role_after(messages: Sequence[Message]) -> Any:
    """The role of the first message that is not an instruction; None if there is none."""
    roles = (message.get("role") for message in messages)
    return next((role for role in roles if role not in ("system", "developer")), None)


def _is_same_call(mine: HistoryCall, theirs: HistoryCall, id_: str | None) -> bool:
    return (mine.name, mine.arguments) == (theirs.name, theirs.arguments) and id_ in (None, mine.id)
