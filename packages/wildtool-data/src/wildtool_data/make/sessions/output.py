"""A set of sessions, kept and lost; its folder, and the formats of the reference generator: raw, streamlined, calls.

Texts carry the markers of their roles, as there; what the reference lacks (plan, candidates) is in additional fields.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from wildtool import __version__
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import LogReader
from wildtool.types import Item, Metric
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.files import (
    RECORD_FOLDER,
    SESSIONS_FILE,
    json_line,
    storage_errors,
    write_attrition,
    write_whole_file,
)
from wildtool_data.make.core.maker import recorded_transcript
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec
from wildtool_data.make.core.prompts import SESSION_ROLES, prompts_digest, retry_messages
from wildtool_data.make.core.roles import AttemptFailedError, RoleReply, ScriptResult, replay_script
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.material import MAX_EXAMPLE_OVERLAP
from wildtool_data.make.sessions.rules.decisions import DECISION_RULES
from wildtool_data.make.sessions.script import AcceptedSession

_TEXT_RULES = [f"{group}{k}" for group, count in (("T", 9), ("A", 11), ("C", 5)) for k in range(1, count + 1)]


@dataclass(frozen=True, slots=True)
class GeneratedSessions(GeneratedSet[dict[str, Any]]):
    """The outcome of all planned sessions; each is a record of the benchmark, with `made_by`."""

    noun: ClassVar[str] = "sessions"
    key: ClassVar[str] = "session"
    roles: ClassVar[Mapping[str, str]] = SESSION_ROLES

    def attrition(self) -> list[Metric]:
        """Where attempts, and tasks of kept sessions, are lost."""
        other_metrics = [
            Metric("tasks", event, None, count, 0, kind="count")
            for event, count in sorted(self.counters.items())
            if event.startswith(("task lost", "relabelled"))
        ]
        return [*GeneratedSet[dict[str, Any]].attrition(self), *other_metrics, *self._overlap()]

    def _overlap(self) -> list[Metric]:
        """How much wording sessions have in common with the examples that they were made with; empty without any."""
        shares = [
            100 * session["made_by"]["examples"]["overlap"]
            for session in self.kept
            if "examples" in session["made_by"]
        ]
        if not shares:
            return []
        bound = f"above {100 * MAX_EXAMPLE_OVERLAP:.0f} % a message is refused"
        group = f"overlap with examples: 5-word sequences of a kept message that they have, too ({bound})"
        numbers = {"highest of a message": max(shares), "highest of a session, on average": fmean(shares)}
        return [
            Metric(group, name, value, value, len(shares), kind="mean", unit="%", better="less")
            for name, value in numbers.items()
        ]


def collect_sessions(
    spec: SessionGenerationSpec,
    results: Iterable[tuple[Item, ScriptResult[AcceptedSession] | None]],
    models: Mapping[str, str],
    own_prompts: str = "",
) -> GeneratedSessions:
    """Puts the sessions of a set together: adds provenance, drops near duplicates of earlier ones.

    Args:
        results: in order of the plans, replacements last.
        models: name of the model in each role.
        own_prompts: digest of the texts that roles have in place of the shipped ones; empty for none.
    """
    texts = Deduplicator()

    def keep(item: Item, session: AcceptedSession, result: ScriptResult[AcceptedSession]) -> dict[str, Any]:
        tasks = next(value for key, value in session.record.items() if key.endswith("_tasks"))
        near = [text for text in tasks if not texts.accepts(item.data.plan.lang, text)]
        if near:
            raise AttemptFailedError("near duplicate", f"{near[0]!r} is nearly a text of an earlier session")
        origin = {
            "models": dict(models),
            "votes": dict(spec.vote_counts),
            "version": __version__,
            "prompts": "+".join(filter(None, (prompts_digest(), own_prompts))),
            "seed": spec.seed,
            "session": item.data.plan.index,
            "checks": [
                "P1",
                "P3",
                "P13",
                *DECISION_RULES.rules,
                *_TEXT_RULES,
                *(["C6"] if spec.examples else []),
                "lint",
                "gold official",
                "gold fixed",
            ],
            "calls": result.counters["requests"],
            "reviewed": False,
        }
        return {**session.record, "made_by": {**origin, **session.record["made_by"]}}

    return GeneratedSessions.collect(results, lambda item: {"session": item.id}, keep)


_MARKERS: Mapping[Lang, Mapping[str, str]] = {
    "en": {"user": "User:", "planner": "Planner:", "tool": "Tool:", "agent": "Agent:"},
    "zh": {"user": "用户：", "planner": "Planner：", "tool": "Tool：", "agent": "Agent助手："},
}
_VERDICTS = {"planner": "Checker_Planner：", "tool": "Checker_Tool："}
_TASKS: Mapping[str, str] = {
    "single": "user_single_tool",
    "sequential": "user_multi_tool",
    "parallel": "user_multi_tool_parallel",
    "mixed": "user_multi_tool_serial_parallel",
    "clarify": "user_ask",
    "clarify some": "user_ask",
    "chat": "user_chat",
    "reply": "user_answer_ask",
    "vague reply": "user_vague_answer_ask",
}
"""What the reference calls a request to the user, by the block of its instruction; a chat is not called an ask."""
_AGENT = {"ask": "agent_ask", "answer": "agent_answer", "chat": "agent_answer_chat"}
FormatLines = Iterator[dict[str, Any]]


def raw_lines(session: AcceptedSession, lang: Lang) -> FormatLines:
    """Everything in order, including what was refused and why."""
    messages: list[dict[str, str]] = []
    for event in session.replies:
        messages += _messages(event, lang)
        role = event.role
        if role in _VERDICTS:
            verdict = "yes" if not event.faults else retry_messages("", event.faults, lang)[1]["content"]
            messages.append({"role": "user", "content": f"{_VERDICTS[role]}\n{verdict}"})
    yield {**_session_fields(session), "messages": messages}


def streamlined_lines(session: AcceptedSession, lang: Lang) -> FormatLines:
    """What the session uses, without verdicts and refused replies."""
    messages = [message for event in session.replies if event.accepted for message in _messages(event, lang)]
    yield {**_session_fields(session), "messages": messages}


def call_lines(session: AcceptedSession, lang: Lang) -> FormatLines:
    """A line for each accepted reply: the exact prompt, and the raw answer."""
    head = _session_fields(session)
    for event in session.replies:
        if event.accepted:
            sent = list(event.request.messages)
            yield {"task": _task(event), **head, "messages": sent, "answer": event.text}


REFERENCE_FORMATS: Mapping[str, Callable[[AcceptedSession, Lang], FormatLines]] = {
    "raw": raw_lines,
    "streamlined": streamlined_lines,
    "calls": call_lines,
}


def _session_fields(session: AcceptedSession) -> dict[str, Any]:
    tools = next(value for key, value in session.record.items() if key.endswith("_tools"))
    date = next(value for key, value in session.record.items() if key.endswith("_env_info"))
    return {
        "id": session.record["id"],
        "tools": tools,
        "env_info": date,
        "plan": session.record["made_by"]["plan"],
    }


def _messages(event: RoleReply, lang: Lang) -> list[dict[str, str]]:
    """A reply as a message of the conversation; none of what only judges."""
    role = event.role
    if role not in _MARKERS[lang]:
        return []
    first = role == "user" and "task" in event.blocks and "later" not in event.blocks
    content = event.text if role == "agent" else f"```json\n{event.text}\n```"
    if event.spoken_text:
        content = event.spoken_text
    chat_role = "user" if role == "tool" or first else "assistant"
    return [{"role": chat_role, "content": f"{_MARKERS[lang][role]}\n{content}"}]


def _task(event: RoleReply) -> str:
    role = event.role
    if role == "user":
        if "later" in event.blocks:
            return "user_continue_question"
        return next(_TASKS[block] for block in event.blocks if block in _TASKS)
    if role == "agent":
        return _AGENT[event.blocks[0]]
    if "results" in event.blocks:
        return "llm_tool_checker"
    return "llm_parallel_checker" if role == "checker" else role


def write_session_set(
    maker: SessionMaker, plan: Plan, out: Path, formats: Iterable[str] = ()
) -> GeneratedSessions:
    """Writes what follows from the record in a folder: sessions, losses with their reasons, and the yield.

    Args: formats: keys of REFERENCE_FORMATS, each written beside them.

    Raises StorageError if there is no room.
    """
    models = {role: model.name for role, model in plan.models.items()}
    with LogReader(out / RECORD_FOLDER) as reader, storage_errors(out):
        generated = collect_sessions(
            maker.spec, maker.recorded(plan.selection.items(), reader), models, maker.own_digest
        )
        seeds = {session["made_by"]["plan"]["seed"] for session in generated.kept}
        for form in formats:
            items = (item for item in plan.selection.items() if item.data.plan.seed in seeds)
            write_whole_file(out / f"{form}.jsonl", map(json_line, _converted(maker, items, reader, form)))
        write_whole_file(out / SESSIONS_FILE, map(json_line, generated.kept))
        write_attrition(out, generated.losses, generated.attrition())
    return generated


def sessions_run_command(out: Path) -> str:
    """The command that runs models on the sessions."""
    return f"wildtool run wildtoolbench --data {shlex.quote(str(out / SESSIONS_FILE))} --model NAME"


def _converted(
    maker: SessionMaker, items: Iterable[Item], reader: LogReader, form: str
) -> Iterator[dict[str, Any]]:
    """Kept sessions in a format, from their scripts, since the maker does not remember replies."""
    for item in items:
        result: Any = replay_script(maker.script(item), recorded_transcript(reader, item, maker.unit))
        yield from REFERENCE_FORMATS[form](result.value, item.data.plan.lang)
