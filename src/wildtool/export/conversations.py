"""The conversations of the model under test, each up to its last reply.

If every request of a unit continues the one before, as with native tool calls, the unit is one conversation. If the
benchmark writes a new prompt for each step, it has several.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool import json_codec
from wildtool.engine.record.reader import RecordedReply
from wildtool.export import ExportRequest
from wildtool.export.trajectory import RecordedRun, RecordedStep, RecordedUnit
from wildtool.json_codec import as_object, as_objects
from wildtool.types import Message, Tool


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """Messages as the model saw them, ending with its reply."""

    messages: Sequence[Message]
    tools: Sequence[Tool]
    replies: tuple[int, ...]
    """Positions of the model's own replies in this unit; other assistant messages come from the benchmark."""


def conversations(unit: RecordedUnit) -> list[ExportedConversation]:
    """The conversations of a unit, in the order of its steps."""
    found: list[ExportedConversation] = []
    before: RecordedStep | None = None
    for step in unit.steps:
        if step.role != "agent" or not isinstance(step.result, RecordedReply):
            continue
        replies: tuple[int, ...] = ()
        if before is not None and _goes_on(before, step):
            replies = found.pop().replies
        messages = [*step.messages, {"role": "assistant", **step.result.reply.message}]
        found.append(ExportedConversation(messages, step.tools, (*replies, len(step.messages))))
        before = step
    return found


def _goes_on(before: RecordedStep, step: RecordedStep) -> bool:
    """Whether a request starts with the one before and the reply to it."""
    size = len(before.messages)
    return (
        len(step.messages) > size
        and step.messages[size].get("role") == "assistant"
        and list(step.messages[:size]) == list(before.messages)
        and list(step.tools) == list(before.tools)
    )


def conversation_rows(wanted: ExportRequest) -> Iterator[tuple[Mapping[str, Any], ExportedConversation]]:
    """Each conversation of a run with its columns: run, model, place, verdict."""
    played = RecordedRun(wanted)
    player = played.run.run_info
    for unit in played.units():
        verdict = unit.verdict
        if wanted.only not in (None, verdict.outcome):
            continue
        for part, conversation in enumerate(conversations(unit)):
            about = {
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
            yield about, conversation


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
