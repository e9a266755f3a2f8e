"""A conversation as a draft session: its calls as gold, the graph inferred from values, and what is missing named."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, Session, read_session
from wildtool.episode import written_text
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes import ShapeError
from wildtool.toolcall.arguments import ArgumentsError, read_arguments, read_bounded_json
from wildtool.traces.forms import safe_json
from wildtool.types import Message
from wildtool_data.conversations.reading import ToolConversation, read_conversations
from wildtool_data.formats.gaps import gap, with_gaps
from wildtool_data.formats.sessions import derived_type
from wildtool_data.make.graph.infer import dependency_lists, infer_edges
from wildtool_data.make.refresh.entities import UnclearError
from wildtool_data.make.refresh.refresh import UnchangedSession, refresh_session
from wildtool_data.pointers import content_digest, pointer

_HAN = re.compile("[\u4e00-\u9fff]")
_QUESTION = re.compile(r"[?？][\s\"'”’)）*_]*$")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNKNOWN_DATE = "unknown"


@dataclass(slots=True)
class _Task:
    text: str
    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    steps: list[int] = field(default_factory=list[int])
    """For each node the number of the assistant's message that it is from."""
    ids: dict[str, int] = field(default_factory=dict[str, int])
    """Call ids that wait for a result, with the place of their node."""
    gaps: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Kind, field below the task's list of nodes, and message."""
    reply: str = ""
    """The assistant's last text, which may be the answer."""

    def add(self, name: str, arguments: dict[str, Any], observation: Any, step: int) -> dict[str, Any]:
        node: dict[str, Any] = {
            "idx": len(self.nodes),
            "action": {"name": name, "arguments": arguments},
            "observation": observation,
            "dependency_list": [],
        }
        self.nodes.append(node)
        self.steps.append(step)
        return node


def draft_sessions(
    paths: Iterable[Path],
    layout: str,
    refused: list[UnchangedSession],
    *,
    seed: str = "1",
    keep_names: bool = False,
    skip_unclear: bool = False,
    lost: Counter[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """The conversations of files as draft sessions; one that occurs again is left out.

    Args:
        layout: `openai`, `inspect` or `otel`.
        refused: gets the conversations that are left out, with the reason.
        keep_names: leave all texts as they are.
        skip_unclear: leave out conversations that have no known shape, or a value whose role is unclear, in place of an
            error.
        lost: counts by name what is left out of conversations, since OpenAI's shape has no place for it.

    Raises DataError for files that cannot be read, for a conversation of no known shape, or for a value whose role is
    unclear.
    """

    def refuse(error: ShapeError) -> None:
        if not skip_unclear:
            raise DataError(f"{error}; leave such conversations out with --skip-unclear") from error
        refused.append(UnchangedSession("a conversation", str(error)))

    digests: set[str] = set()
    for path in paths:
        for number, conversation in enumerate(read_conversations(path, layout, lost, refuse), 1):
            where = f"{path.name}, conversation {number}"
            name = "draft_" + content_digest(conversation.messages)[:12]
            if name in digests:
                refused.append(UnchangedSession(where, "occurs twice"))
                continue
            digests.add(name)
            record, gaps = draft(conversation, name, layout)
            if record is None:
                refused.append(UnchangedSession(where, "the user says nothing in it"))
                continue
            try:
                record = record if keep_names else pseudonymised(record, seed)
            except UnclearError as unclear:
                if not skip_unclear:
                    raise DataError(
                        f"{where}: {unclear}; leave such conversations out with --skip-unclear, or keep all texts as "
                        "they are with --keep-names"
                    ) from unclear
                refused.append(UnchangedSession(where, str(unclear)))
                continue
            yield with_gaps(record, gaps)


def gap_counts(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many gaps of each kind drafts have."""
    makings = (as_object(record.get("made_by")) for record in records)
    return Counter(str(row.get("kind")) for making in makings for row in as_objects(making.get("gaps")))


def pseudonymised(record: Mapping[str, Any], seed: str) -> dict[str, Any]:
    """A draft with other names, ids, places, amounts and e-mail addresses, by the rules of `data refresh`.

    Raises UnclearError for a value whose role is unclear.
    """
    try:
        refreshed = refresh_session(record, seed)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ArithmeticError) as error:
        # Real tools return anything; what cannot be rewritten is not shown.
        raise UnclearError("the conversation", "", f"cannot be rewritten ({type(error).__name__})") from error
    # Addresses in free text, which no argument and no result has as a value.
    people: dict[str, str] = {}

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return _ADDRESS.sub(
                lambda match: people.setdefault(match[0].casefold(), f"person{len(people) + 1}@example.com"),
                value,
            )
        if isinstance(value, dict):
            return {key: replaced(each) for key, each in as_object(value).items()}
        return [replaced(each) for each in as_list(value)] if isinstance(value, list) else value

    return {key: value if key.endswith("_tools") else replaced(value) for key, value in refreshed.items()}


def draft(
    conversation: ToolConversation, name: str, source: str
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """A conversation as a session, and its gaps; None if the user says nothing. Never raises."""
    tasks, left_out = _tasks(conversation.messages)
    if not tasks:
        return None, []
    text = "".join(task.text for task in tasks)
    prefix = "chinese" if 5 * len(_HAN.findall(text)) > len(text) else "english"
    when = conversation.when
    date = f"{when:%Y-%m-%d %H:%M:%S} {_WEEKDAYS[when.weekday()]}" if when else _UNKNOWN_DATE
    tools = [tool for tool in conversation.tools if tool["function"]["name"] not in ("", *VIRTUAL)]
    record: dict[str, Any] = {
        "id": name,
        f"{prefix}_env_info": date,
        f"{prefix}_tools": tools,
        f"{prefix}_tasks": [task.text for task in tasks],
        f"{prefix}_answer_list": [task.nodes for task in tasks],
        f"{prefix}_task_types": ["" for _ in tasks],
        f"{prefix}_turn_subtypes": ["" for _ in tasks[1:]],
        "made_by": {"from": source},
    }
    gaps: list[dict[str, Any]] = []
    if when is None:
        gaps.append(gap("missing date", pointer(f"{prefix}_env_info"), "nothing says when it was"))
    gaps += (gap("left out", pointer(f"{prefix}_env_info"), message) for message in left_out)
    for t, task in enumerate(tasks):
        place = pointer(f"{prefix}_answer_list", t)
        gaps += (gap(kind, place + below, message) for kind, below, message in task.gaps)
        if t:
            field_ = pointer(f"{prefix}_turn_subtypes", t - 1)
            gaps.append(gap("missing subtype", field_, "choose what the user leaves unsaid in this task"))
    names = {tool["function"]["name"] for tool in tools}
    names_of_calls = dict.fromkeys(node["action"]["name"] for task in tasks for node in task.nodes)
    for unknown in [name for name in names_of_calls if name not in names and name not in VIRTUAL]:
        message = f"{unknown} is called, and the conversation does not define it"
        gaps.append(gap("unknown tool", pointer(f"{prefix}_tools"), message))
    _link(record, prefix, tasks)
    return record, gaps


def _link(record: dict[str, Any], prefix: str, tasks: list[_Task]) -> None:
    """Writes the inferred dependencies and the types that follow from them into a draft."""
    for t, task in enumerate(tasks):
        needs = None
        if (session := _read(record)) is not None:
            with suppress(ValueError, RecursionError):
                needs = dependency_lists(infer_edges(session, t, steps=task.steps), len(task.nodes))
        # One after the other is safe where nothing can be inferred.
        for i, node in enumerate(task.nodes):
            node["dependency_list"] = list(needs[i]) if needs is not None else list(range(i))[-1:]
    session = _read(record)
    if session is not None:
        record[f"{prefix}_task_types"] = [derived_type(task) for task in session.tasks]


def _read(record: Mapping[str, Any]) -> Session | None:
    try:
        return read_session(record, "draft")
    except (DataError, RecursionError):
        return None


def _tasks(messages: list[Message]) -> tuple[list[_Task], list[str]]:
    """What the user asks one after the other, and what has no place in a session."""
    tasks: list[_Task] = []
    left_out: list[str] = []
    for step, message in enumerate(messages):
        role = message.get("role")
        text = (written_text(message) or "").strip()
        if role in ("system", "developer"):
            left_out += [f"a system text of {len(text):,} characters: sessions have none"] if text else []
        elif role == "user":
            _add_user(tasks, text, step, messages)
        elif not tasks:
            left_out.append(f"message {step + 1}, which comes before the user says anything")
        elif role == "assistant":
            _add_reply(tasks[-1], message, text, step)
        elif role in ("tool", "function"):
            _add_result(tasks[-1], message)
    for task in tasks:
        _finish(task, len(messages))
    return tasks, left_out


def _add_user(tasks: list[_Task], text: str, step: int, messages: list[Message]) -> None:
    """A user's text: a new task, or the reply to a question that a task began with."""
    if not text:
        return
    last = tasks[-1] if tasks else None
    if last is not None and not last.nodes:
        if not last.reply:
            last.text = f"{last.text}\n{text}"
            return
        calls = as_list(messages[step + 1].get("tool_calls")) if step + 1 < len(messages) else []
        if calls and _QUESTION.search(last.reply):
            function = as_object(as_object(calls[0]).get("function"))
            arguments, _ = _arguments(function.get("arguments"))
            missing = [key for key, value in arguments.items() if str(value).casefold() in text.casefold()]
            question = {"tool_name": str(function.get("name")), "missing_required_parameters": missing}
            last.add(ASK, question, last.reply, step)["user_input"] = text
            last.reply = ""
            message = "taken for a question for parameters: check which"
            last.gaps.append(("question", pointer(0, "action", "arguments"), message))
            return
    tasks.append(_Task(text))


def _add_reply(task: _Task, message: Message, text: str, step: int) -> None:
    calls = as_list(message.get("tool_calls"))
    if not calls:
        task.reply = f"{task.reply}\n{text}".strip()
        return
    if task.reply:
        message_ = "the assistant said something before this call, which is left out"
        task.gaps.append(("left out", pointer(len(task.nodes)), message_))
        task.reply = ""
    for call in as_objects(calls):
        function = as_object(call.get("function"))
        name = function.get("name")
        arguments, fault = _arguments(function.get("arguments"))
        place = pointer(len(task.nodes))
        if fault:
            task.gaps.append(("unreadable call", f"{place}/action/arguments", fault))
        id_ = str(name if call.get("id") is None else call["id"])
        task.ids[id_ if id_ not in task.ids else f"{id_} {len(task.nodes)}"] = len(task.nodes)
        tool = name if isinstance(name, str) and name and name not in VIRTUAL else "unnamed"
        task.add(tool, arguments, None, step)


def _arguments(value: Any) -> tuple[dict[str, Any], str]:
    """The arguments of a call, and why they cannot be read."""
    if isinstance(value, dict):
        return as_object(value), ""
    try:
        # Texts inside may be escaped, so that they are not what they were in the file.
        return safe_json(read_arguments(value, empty_ok=True)), ""
    except ArgumentsError as error:
        return {}, safe_json(str(error))


def _add_result(task: _Task, message: Message) -> None:
    reference = message.get("tool_call_id") or message.get("name")
    # Without a name it is of the first call that waits.
    key = str(reference) if reference else next(iter(task.ids), "")
    waiting = task.ids.pop(key, None)
    content = message.get("content")
    if waiting is None:
        if task.nodes:
            field_ = pointer(len(task.nodes) - 1)
            task.gaps.append(("left out", field_, "a result that belongs to no call is left out"))
        return
    text = written_text(message)
    if text is not None:
        content = text
        if text.lstrip()[:1] in ("{", "["):
            with suppress(ArgumentsError):
                content = safe_json(read_bounded_json(text))
    task.nodes[waiting]["observation"] = content


def _finish(task: _Task, step: int) -> None:
    """Closes a task with its answer, and names results that are missing."""
    for i in task.ids.values():
        task.gaps.append(("missing result", f"{pointer(i)}/observation", "the tool's result is not recorded"))
    if not task.reply:
        task.gaps.append(("missing answer", f"{pointer(len(task.nodes))}/observation", "there is no answer"))
    kind = "tool" if any(node["action"]["name"] not in VIRTUAL for node in task.nodes) else "chat"
    task.add(ANSWER, {"answer_type": kind}, task.reply, step)
