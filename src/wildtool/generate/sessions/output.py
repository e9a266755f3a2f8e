"""Made sessions as the reference's generator writes its own: raw, streamlined, and one line for each call of a role.

Section 5.1 of the generation specification. Texts carry the markers of their roles, as there; what the reference lacks
(plan, candidates) stands in further fields.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import RecordReader, transcripts
from wildtool.generate.core.files import RECORD, line, storing, write_lines, write_outcome
from wildtool.generate.core.plan import Lang
from wildtool.generate.core.prompts import again
from wildtool.generate.core.roles import Event
from wildtool.generate.sessions.collect import Harvest, harvest
from wildtool.generate.sessions.maker import UNIT, SessionMaker, assemble
from wildtool.generate.sessions.script import Loss, Made
from wildtool.types import Item, Transcript

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
    "chat": "user_chat",
    "reply": "user_answer_ask",
    "vague reply": "user_vague_answer_ask",
}
"""What the reference calls a request to the user, by the block of its instruction; a chat is not called an ask."""
_AGENT = {"ask": "agent_ask", "answer": "agent_answer", "chat": "agent_answer_chat"}
Lines = Iterator[dict[str, Any]]


def raw(made: Made, lang: Lang) -> Lines:
    """Everything in order, what was refused and why included."""
    messages: list[dict[str, str]] = []
    for event in made.events:
        messages += _messages(event, lang)
        role = event.request.role
        if role in _VERDICTS:
            said = "yes" if not event.faults else again("", event.faults, lang)[1]["content"]
            messages.append({"role": "user", "content": f"{_VERDICTS[role]}\n{said}"})
    yield {**_head(made), "messages": messages}


def streamlined(made: Made, lang: Lang) -> Lines:
    """What stands in the session, without verdicts and what they refused."""
    messages = [message for event in made.events if event.accepted for message in _messages(event, lang)]
    yield {**_head(made), "messages": messages}


def calls(made: Made, lang: Lang) -> Lines:
    """A line for each accepted reply: the exact prompt, and the raw answer."""
    head = _head(made)
    for event in made.events:
        if event.accepted:
            sent = list(event.request.messages)
            yield {"task": _task(event), **head, "messages": sent, "answer": event.text}


FORMATS: Mapping[str, Callable[[Made, Lang], Lines]] = {
    "raw": raw,
    "streamlined": streamlined,
    "calls": calls,
}


def _head(made: Made) -> dict[str, Any]:
    tools = next(value for key, value in made.record.items() if key.endswith("_tools"))
    date = next(value for key, value in made.record.items() if key.endswith("_env_info"))
    return {"id": made.record["id"], "tools": tools, "env_info": date, "plan": made.record["made_by"]["plan"]}


def _messages(event: Event, lang: Lang) -> list[dict[str, str]]:
    """A reply as a message of the conversation; none of what only judges."""
    role = event.request.role
    if role not in _MARKERS[lang]:
        return []
    first = role == "user" and "task" in event.blocks and "later" not in event.blocks
    content = event.text if role == "agent" else f"```json\n{event.text}\n```"
    if role == "user" and event.said:
        content = event.said
    chat_role = "user" if role == "tool" or first else "assistant"
    return [{"role": chat_role, "content": f"{_MARKERS[lang][role]}\n{content}"}]


def _task(event: Event) -> str:
    role = event.request.role
    if role == "user":
        kind = "later" if "later" in event.blocks else next(b for b in event.blocks if b != "task")
        return "user_continue_question" if kind == "later" else _TASKS[kind]
    if role == "agent":
        return _AGENT[event.blocks[0]]
    return (
        {"checker": "llm_parallel_checker"}.get(role, role)
        if "results" not in event.blocks
        else "llm_tool_checker"
    )


SESSIONS = "sessions.jsonl"
Assembling = Callable[[Item, Transcript], Made | Loss | None]


def write_set(maker: SessionMaker, plan: Plan, out: Path, formats: Iterable[str] = ()) -> Harvest:
    """Writes what follows from the record in a folder: sessions, losses with their reasons, and the yield.

    Args: formats: of `reference_formats.FORMATS`, each written beside them.

    Raises StorageError where there is no room.
    """
    models = {role: model.name for role, model in plan.models.items()}
    with RecordReader(out / RECORD) as reader:
        found = harvest(maker.order, _assembled(maker.result, plan.selection.items(), reader), models)
    kept = {session["made_by"]["plan"]["seed"] for session in found.sessions}
    with storing(out):
        for form in formats:
            with RecordReader(out / RECORD) as reader:
                made = _assembled(
                    assemble, (item for item in plan.selection.items() if item.data.plan.seed in kept), reader
                )
                write_lines(out / f"{form}.jsonl", map(line, _converted(made, form)))
        write_lines(out / SESSIONS, map(line, found.sessions))
        write_outcome(out, found.losses, found.yields())
    return found


def how_to_play(out: Path) -> str:
    """The command that plays a set."""
    return f"wildtool run wildtoolbench --data {shlex.quote(str(out / SESSIONS))} --model NAME"


def _assembled(
    assembling: Assembling, items: Iterable[Item], reader: RecordReader
) -> Iterator[tuple[Item, Made | Loss | None]]:
    for item in items:
        transcript = transcripts(reader.log(item.id, 0)).get(UNIT, Transcript(()))
        yield item, assembling(item, transcript)


def _converted(made: Iterable[tuple[Item, Made | Loss | None]], form: str) -> Iterator[dict[str, Any]]:
    for item, result in made:
        if isinstance(result, Made):
            yield from FORMATS[form](result, item.data.plan.lang)
