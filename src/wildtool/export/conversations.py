"""The conversations of the model under test, each up to its last reply.

If every request of a unit continues the one before, as with native tool calls, the unit is one conversation. If the
benchmark writes a new prompt for each step, it has several.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool import json_codec
from wildtool.engine.record.reader import LoggedReply
from wildtool.episode import said_alone, written_text
from wildtool.export import ExportRequest
from wildtool.export.trajectory import RecordedRun, RecordedStep, RecordedUnit
from wildtool.json_codec import as_object, as_objects
from wildtool.types import REASONING_DETAILS, REASONING_KEYS, Message, Tool


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """Messages as the model saw them, ending with its reply."""

    messages: Sequence[Message]
    tools: Sequence[Tool]
    replies: tuple[int, ...]
    """Positions of the model's own replies in this unit; other assistant messages come from the benchmark."""


def conversations(unit: RecordedUnit, *, reasoning: bool = False) -> list[ExportedConversation]:
    """The conversations of a unit, in the order of its steps.

    Args:
        reasoning: whether a request also continues the one before only if it shows the reply's reasoning.
    """
    parts: list[ExportedConversation] = []
    for step in unit.steps:
        if step.role != "agent" or not isinstance(step.result, LoggedReply):
            continue
        replies: tuple[int, ...] = ()
        if parts and _goes_on(parts[-1], step, reasoning=reasoning):
            replies = parts.pop().replies
        said = said_alone(step.result.reply.message)
        messages = [*step.messages, {"role": "assistant", **said}]
        parts.append(ExportedConversation(messages, step.tools, (*replies, len(step.messages))))
    return parts


def _goes_on(before: ExportedConversation, step: RecordedStep, *, reasoning: bool) -> bool:
    """Whether a request starts with the conversation before it, the reply included."""
    *earlier, reply = before.messages
    size = len(earlier)
    return (
        len(step.messages) > size
        and list(step.messages[:size]) == earlier
        and message_meaning(step.messages[size], reasoning=reasoning)
        == message_meaning(reply, reasoning=reasoning)
        and list(step.tools) == list(before.tools)
    )


def message_meaning(message: Message, *, reasoning: bool) -> Any:
    """What a message says, to compare with others: without ids of calls and the spelling of their arguments.

    No text and an empty text are the same.

    Args:
        reasoning: whether a reply with its reasoning differs from the same one without.
    """
    role = message.get("role")
    if role != "assistant":
        return [role, message.get("name"), message.get("content")]
    calls = message.get("tool_calls")
    if (readable := readable_calls(calls)) is not None:
        functions = [call["function"] for call in readable]
        calls = [[function["name"], parsed_arguments(function["arguments"])] for function in functions]
    thoughts = [message.get(key) or "" for key in (*REASONING_KEYS, REASONING_DETAILS)] if reasoning else []
    return [role, written_text(message) or "", calls or [], thoughts]


ConversationRow = tuple[Mapping[str, Any], ExportedConversation]
"""A conversation with its columns."""


def conversation_rows(request: ExportRequest, *, reasoning: bool = False) -> Iterator[ConversationRow]:
    """Each conversation of a run with its columns: run, model, place, verdict. Arguments as of `conversations`."""
    recorded = RecordedRun(request)
    player = recorded.run.run_info
    for unit in recorded.units():
        verdict = unit.verdict
        if request.only not in (None, verdict.outcome):
            continue
        for part, conversation in enumerate(conversations(unit, reasoning=reasoning)):
            fields = {
                "run": player.run,
                "model": player.model,
                "benchmark": player.benchmark,
                "split": unit.item.split,
                "lang": unit.item.lang,
                "item": unit.item.id,
                "repeat": unit.repeat,
                "unit": verdict.unit,
                "part": part,
                "profile": player.profile,
                "outcome": verdict.outcome,
                # Always a float: loaders infer the type of a column from the first rows.
                "score": float(verdict.score),
                "error": verdict.error or "",
            }
            yield fields, conversation


def readable_calls(calls: Any) -> list[dict[str, Any]] | None:
    """The calls of a message if each has a name and an argument text, and nothing else; else None."""
    if not isinstance(calls, list) or not calls:
        return None
    functions = [as_object(call.get("function")) for call in as_objects(calls)]
    usual = all(
        its.keys() == {"name", "arguments"} and all(isinstance(text, str) for text in its.values())
        for its in functions
    )
    return cast(list[dict[str, Any]], calls) if usual else None


def parsed_arguments(arguments: Any) -> Any:
    """Arguments of a call as an object if they are one or their text is; else unchanged."""
    try:
        value = json_codec.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
    return cast(dict[str, Any], value) if isinstance(value, dict) else arguments
