"""Reads messages in OpenAI's shape, for fine-tuning and preferences, and TRL's (arguments as objects, `prompt`)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from wildtool.json_codec import as_list, as_object
from wildtool.shapes.keys import ROLES_OF_CALLS
from wildtool.training.calls import arguments_from, call_from, calls_from
from wildtool.training.conversation import ConversationBuilder, check_not_blank
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.sharegpt import (
    REPLY_ROLES,
    RESULT_ROLES,
    USER_ROLES,
    system_text,
)
from wildtool.training.readers.turns import plain_text
from wildtool.training.record import (
    AssistantTurn,
    RowError,
    TrainingCall,
    TrainingRecord,
    observed_text,
)
from wildtool.training.tools import tools_from

_PROMPTS = (
    ("input", "preferred_output", "non_preferred_output"),
    ("prompt", "chosen", "rejected"),
    ("messages", "chosen", "rejected"),
)
"""The columns of a preference record: prompt, better and worse reply."""
_SYSTEM_ROLES = frozenset({"system", "developer"})
_OPENAI_ROLES = {
    **dict.fromkeys(_SYSTEM_ROLES, "system"),
    "user": "user",
    "assistant": "assistant",
    "tool": "result",
    "function": "result",
}
_GENERAL_ROLES = {
    **dict.fromkeys(_SYSTEM_ROLES, "system"),
    **dict.fromkeys(USER_ROLES, "user"),
    **dict.fromkeys(REPLY_ROLES, "assistant"),
    **dict.fromkeys(ROLES_OF_CALLS, "calls"),
    **dict.fromkeys(RESULT_ROLES, "result"),
}
_OWN_KEYS = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "weight", "function_call", "from", "value"}
)


def read_openai(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A record of messages, or a preference record of OpenAI's or TRL's form."""
    return read_messages(row, _OPENAI_ROLES, strict=False)


def read_pandora(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """Messages with the general words for roles; the layout of the set is assumed."""
    if "messages" not in row and "conversations" not in row:
        keys = ", ".join(list(row)[:12])
        raise RowError(
            "no-user",
            f"expected a column messages or conversations, found {keys}; the layout of this set is not known to us:"
            " please report these names",
        )
    return read_messages(row, _GENERAL_ROLES, strict=True)


def read_messages(row: Mapping[str, Any], roles: Mapping[str, str], *, strict: bool) -> TrainingRecord:
    """A record of messages.

    Args:
        roles: what each word for a role means: `system`, `user`, `assistant`, `calls` or `result`.
        strict: whether arguments must be objects.
    """
    holder, prompt, chosen, rejected = _columns(row)
    tools = tools_from(holder.get("tools", row.get("tools")))
    reader = _MessageReader(roles, strict=strict)
    reader.read(prompt)
    builder = reader.builder
    sides = {"chosen": chosen, "rejected": rejected}
    system = builder.system if builder.system is not None else system_text(row.get("system"))
    return builder.record(
        tools,
        replies=None if chosen is None else lambda name: reader.reply(sides[name], name),
        system=system or None,
        system_extras=builder.system_extras,
    )


def _columns(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Any], Any, Any]:
    """What holds the tools, the messages, and the two replies of a preference record."""
    for prompt, chosen, rejected in _PROMPTS:
        if prompt in row and chosen in row and rejected in row:
            inner = row[prompt]
            if isinstance(inner, dict):
                held = cast(Mapping[str, Any], inner)
                return held, as_list(held.get("messages")), row[chosen], row[rejected]
            return row, as_list(inner), row[chosen], row[rejected]
    messages = row["messages"] if "messages" in row else row.get("conversations")
    if "prompt" in row and "completion" in row and "messages" not in row:
        # Trainers learn the completion alone.
        context = ({"weight": 0, **as_object(message)} for message in as_list(row["prompt"]))
        messages = [*context, *as_list(row["completion"])]
    return row, as_list(messages), None, None


def is_prompt_completion(row: Mapping[str, Any]) -> bool:
    """Whether a row is messages and the reply to learn, as `--to text` and `--to trl --prompt-completion` write it."""
    return as_list(row.get("prompt")) != [] and any(
        as_object(message).get("role") == "assistant" for message in as_list(row.get("completion"))
    )


class _MessageReader:
    """Reads messages one by one into a builder."""

    def __init__(self, roles: Mapping[str, str], *, strict: bool) -> None:
        self.builder = ConversationBuilder()
        self._roles = roles
        self._strict = strict

    def read(self, messages: Sequence[Any]) -> None:
        """Adds messages to the builder."""
        for message in messages:
            self._add(as_object(message))

    def reply(self, messages: Any, name: str) -> AssistantTurn:
        """The one reply of a side of a pair."""
        entries = as_list(messages) or [messages]
        message = as_object(entries[0])
        role = self._roles.get(str(message.get("role", message.get("from"))))
        if len(entries) != 1 or role not in ("assistant", "calls"):
            raise RowError("unknown-role", f"{name} must be one assistant message")
        reply = self._reply(message, role)
        check_not_blank(reply, name)
        return reply

    def _add(self, message: Mapping[str, Any]) -> None:
        word = message.get("role", message.get("from"))
        role = self._roles.get(word) if isinstance(word, str) else None
        content = _content(message)
        if role == "system":
            self.builder.add_system(plain_text(content), _extras(message))
        elif role == "user":
            self.builder.add_user(plain_text(content), _extras(message))
        elif role == "result":
            own_id = message.get("tool_call_id")
            text = plain_text(content) if isinstance(content, str | list | None) else observed_text(content)
            self.builder.add_result(text, _extras(message), own_id if isinstance(own_id, str) else None)
        elif role is None:
            raise RowError("unknown-role", f"the role {word!r}"[:100])
        else:
            turn = self._reply(message, role)
            self.builder.add_reply(turn.text, turn.calls, learned=turn.learned, extras=turn.extras)

    def _reply(self, message: Mapping[str, Any], role: str) -> AssistantTurn:
        content, extras = _content(message), _extras(message)
        weight = message.get("weight")
        learned = isinstance(weight, bool) or weight != 0
        if role == "calls":
            return AssistantTurn(
                None, tuple(calls_from(content, self.builder, strict=self._strict)), learned, extras
            )
        written_calls = message.get("tool_calls")
        if written_calls is not None and not isinstance(written_calls, list):
            raise RowError("unreadable-call", f"tool_calls must be a list, found {written_calls!r}"[:200])
        old = message.get("function_call")
        calls = tuple(map(self._call, as_list(written_calls) or ([old] if old is not None else [])))
        text = None if content is None and calls else plain_text(content)
        return AssistantTurn(text, calls, learned, extras)

    def _call(self, entry: Any) -> TrainingCall:
        call = call_from(entry, self.builder.next_call_id, strict=self._strict)
        held = as_object(entry)
        arguments = as_object(held.get("function", held)).get("arguments")
        if not isinstance(arguments, str):
            return call
        return TrainingCall(
            call.name, arguments_from(arguments, strict=self._strict), call.id, spelling=arguments
        )


def _content(message: Mapping[str, Any]) -> Any:
    return message["content"] if "content" in message else message.get("value")


def _extras(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in message.items() if key not in _OWN_KEYS}
