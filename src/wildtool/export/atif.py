"""A run as agent trajectories (ATIF 1.7): a file for each conversation of the model under test.

Messages that the benchmark wrote in the model's name are marked as copied context. Arguments that are no JSON object
cannot be said in this format: the call then has none, its text is in `extra`, and the notes count them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.engine.record.reader import LoggedReply
from wildtool.episode import written_reasoning
from wildtool.export import FOLDER_MARK, ExportRequest
from wildtool.export.conversations import ExportedConversation, conversations, parsed_arguments
from wildtool.export.eee import text_or_json
from wildtool.export.files import portable_value, strict_json, write_whole
from wildtool.export.trajectory import RecordedRun, RecordedUnit
from wildtool.json_codec import as_object, as_objects
from wildtool.models.resolve import folder_name
from wildtool.models.token_usage import whole_usage
from wildtool.types import Message, Reply

VERSION_TAG = "ATIF-v1.7"
_TimedReply = tuple[Reply, float]
"""A reply, and when it was recorded, in seconds since 1970; 0 if unknown."""


def export(request: ExportRequest, target: Path) -> None:
    """Writes a file for each conversation, named by its place in the run and its item."""
    recorded = RecordedRun(request)
    for earlier in target.glob("[0-9][0-9][0-9][0-9][0-9][0-9]-*.json"):
        earlier.unlink()
    number = 0
    for unit in recorded.units():
        if request.only not in (None, unit.verdict.outcome):
            continue
        replies = (
            (step.result.reply, step.time)
            for step in unit.steps
            if step.role == "agent" and isinstance(step.result, LoggedReply)
        )
        for talk in conversations(unit):
            number += 1
            own = [next(replies) for _ in talk.replies]
            document = _trajectory(recorded, unit, talk, own, f"{recorded.name}-{number}")
            name = folder_name(f"{unit.item.id}-{unit.verdict.unit}-{unit.repeat}")
            write_whole(target / f"{number:06d}-{name}.json", strict_json(portable_value(document)))
    write_whole(target / "README.md", f"{FOLDER_MARK}\n# Agent trajectories, {VERSION_TAG}\n".encode())


def _trajectory(
    recorded: RecordedRun, unit: RecordedUnit, talk: ExportedConversation, own: list[_TimedReply], name: str
) -> dict[str, Any]:
    player, verdict = recorded.run.run_info, unit.verdict
    by_place = dict(zip(talk.replies, own, strict=True))
    steps = list(_steps(talk, by_place))
    unsayable = sum("arguments" in call.get("extra", ()) for s in steps for call in s.get("tool_calls", ()))
    tools = {"tool_definitions": list(talk.tools)} if talk.tools else {}
    return {
        "schema_version": VERSION_TAG,
        "session_id": name,
        "agent": {"name": "wildtool", "version": __version__, "model_name": player.model, **tools},
        "steps": [{"step_id": place, **step} for place, step in enumerate(steps, 1)],
        "notes": f"{unsayable} calls have arguments that are no JSON object; they are in `extra`.",
        "final_metrics": {
            **_counts([reply.usage for reply, _ in own], "total_"),
            "total_steps": len(steps),
        },
        "extra": {
            "run": player.run,
            "benchmark": player.benchmark,
            "profile": player.profile,
            "item": unit.item.id,
            "unit": verdict.unit,
            "repeat": unit.repeat,
            "outcome": verdict.outcome,
            "score": verdict.score,
            "error": verdict.error,
            "reason": verdict.reason,
        },
    }


def _steps(talk: ExportedConversation, own: dict[int, _TimedReply]) -> Iterator[dict[str, Any]]:
    """The messages as steps; a tool's result belongs to the agent's step before it."""
    waiting: dict[str, Any] | None = None
    for place, message in enumerate(talk.messages):
        role = message.get("role")
        if role == "tool":
            answered = message.get("tool_call_id")
            ids = [call["tool_call_id"] for call in (waiting or {}).get("tool_calls", ())]
            source = {"source_call_id": answered} if answered in ids else {}
            result = {**source, "content": text_or_json(message.get("content", ""))}
            if waiting is None:
                waiting = {"source": "system", "message": "", "observation": {"results": []}}
            waiting.setdefault("observation", {"results": []})["results"].append(result)
            continue
        if waiting is not None:
            yield waiting
        waiting = _agent_step(place, message, own.get(place)) if role == "assistant" else _other_step(message)
    if waiting is not None:
        yield waiting


def _other_step(message: Message) -> dict[str, Any]:
    source = "user" if message.get("role") == "user" else "system"
    return {"source": source, "message": text_or_json(message.get("content") or "")}


def _agent_step(place: int, message: Message, recorded: _TimedReply | None) -> dict[str, Any]:
    """Args: recorded: the reply that it is; None for what the benchmark wrote."""
    step: dict[str, Any] = {"source": "agent", "message": text_or_json(message.get("content") or "")}
    thoughts = written_reasoning(message)
    if thoughts is not None:
        step["reasoning_content"] = text_or_json(thoughts)
    calls = [_call(call, f"call_{place}_{n}") for n, call in enumerate(as_objects(message.get("tool_calls")))]
    if calls:
        step["tool_calls"] = calls
    if recorded is None:
        return {**step, "is_copied_context": True}
    reply, time = recorded
    step["metrics"] = {**_counts([reply.usage]), "extra": {"latency_s": reply.latency_s}}
    if time:
        step["timestamp"] = datetime.fromtimestamp(time, UTC).isoformat()
    return step


def _counts(usages: Sequence[Mapping[str, Any]], prefix: str = "") -> dict[str, int]:
    """The tokens of replies; nothing where the endpoint did not count those of each."""
    total = whole_usage(usages)
    if total is None:
        return {}
    return {
        f"{prefix}prompt_tokens": total.prompt,
        f"{prefix}completion_tokens": total.completion,
        f"{prefix}cached_tokens": total.cached,
    }


def _call(call: Message, name: str) -> dict[str, Any]:
    function = as_object(call.get("function"))
    arguments = parsed_arguments(function.get("arguments"))
    fields: dict[str, Any] = {
        "tool_call_id": str(call.get("id") or name),
        "function_name": str(function.get("name") or ""),
        "arguments": as_object(arguments),
    }
    if not isinstance(arguments, dict):
        fields["extra"] = {"arguments": function.get("arguments")}
    return fields
