"""Conversations that took place, as drafts of own cases: gold is what the agent did, and what a person should look at is
named."""

import json
import re
from calendar import month_name
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects, canonical_json
from wildtool.own_cases.case_file import faults_of_case, made_id
from wildtool.own_cases.form import CALL_KEYS
from wildtool.own_cases.history import result_content
from wildtool.own_cases.places import CaseFault
from wildtool.own_cases.unread_calls import unread_call
from wildtool.toolcall.arguments import ArgumentsError, read_arguments, read_bounded_json
from wildtool.types import Message, Tool

_LEAST_TELLING = 3
"""Characters of a value that is taken to come from a result where it occurs there; shorter ones occur by chance."""
_MONTHS = tuple(name.lower() for name in month_name[1:])
_DAY = re.compile(
    r"(?:today(?:'s date)?(?: is|:)|current date(?: is|:)|(?:the )?date(?: is|:)|今天是?|当前日期[是:：]|今日[是:：])"
    r"\s*(?:\w+day,?\s+)?"
    r"(?:(?P<y>\d{4})[-/年](?P<m>\d{1,2})[-/月](?P<d>\d{1,2})"
    r"|(?P<name>[A-Za-z]{3,9})\.? (?P<d2>\d{1,2})(?:st|nd|rd|th)?,? (?P<y2>\d{4})"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th)? (?P<name3>[A-Za-z]{3,9})\.?,? (?P<y3>\d{4}))",
    re.IGNORECASE,
)
"""How prompts name the day."""
_ERROR_TEXT = re.compile(r"\s*(?:error|exception|traceback|错误)\b", re.IGNORECASE)


@dataclass(slots=True)
class DraftCase:
    """A case as it is proposed, and what to look at."""

    case: dict[str, Any]
    findings: list[str] = field(default_factory=list[str])
    """What a person should look at; the case can be run."""
    problems: list[str] = field(default_factory=list[str])
    """What must be put right first; the case is skipped until then."""


@dataclass(slots=True)
class _Turn:
    """What follows one request."""

    text: str
    steps: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    """The calls of each reply: id, name, arguments, and their result once it is known."""
    answer: str = ""


def draft_case(messages: Sequence[Message], tools: Sequence[Tool]) -> DraftCase | None:
    """A draft of a conversation; None where no user says anything in it.

    Args:
        messages: in OpenAI's shape.
        tools: that the model was offered; without any, calls are not compared with definitions.
    """
    draft = DraftCase({})
    turns, system = _turns(messages, draft)
    if not turns:
        return None
    if system:
        # A text that begins so would be the name of a file.
        draft.case["system"] = f" {system}" if system.startswith("@") else system
        if day := day_of(system):
            draft.case["date"] = day
    if tools:
        draft.case["tools"] = [_plain_tool(tool) for tool in tools]
    draft.case["turns"] = [_written(turn, number, turns, draft) for number, turn in enumerate(turns, 1)]
    _check_tools(turns, tools, draft)
    _check_texts(turns, tools, draft)
    named = made_id({"turns": draft.case["turns"]}).rpartition("-")[0]
    digest = sha256(canonical_json([draft.case])).hexdigest()[:6]
    draft.case = {"id": f"{named}-{digest}".strip("-"), **draft.case}
    return _checked(draft)


def day_of(text: str) -> str:
    """The day that a prompt says it is, such as `2026-03-30`; empty where it names none."""
    match = _DAY.search(text)
    if match is None:
        return ""
    named = match["name"] or match["name3"]
    month = int(match["m"]) if match["m"] else _month(named)
    year, day = match["y"] or match["y2"] or match["y3"], match["d"] or match["d2"] or match["d3"]
    try:
        return date(int(year), month, int(day)).isoformat()
    except ValueError:
        return ""  # no day of the calendar, such as 31 February


def _month(name: str) -> int:
    """The number of a month; 0 for a word that is none."""
    return next((number for number, each in enumerate(_MONTHS, 1) if each.startswith(name.lower())), 0)


def _plain_tool(tool: Tool) -> dict[str, Any]:
    """A definition without what is around it, as people write it."""
    function = as_object(tool["function"])
    plain = {"name": function.get("name"), "description": function.get("description") or ""}
    return {**plain, "parameters": function.get("parameters") or {"type": "object", "properties": {}}}


def _turns(messages: Sequence[Message], draft: DraftCase) -> tuple[list[_Turn], str]:
    """The requests with what followed each, and the system text."""
    turns: list[_Turn] = []
    system: list[str] = []
    for number, message in enumerate(messages, 1):
        role = message["role"]
        text = message.get("content") or ""
        if role == "system":
            system.append(str(text))
        elif role == "user":
            if turns and not turns[-1].steps and not turns[-1].answer:
                turns[-1].text += f"\n{text}"
            elif str(text).strip():
                turns.append(_Turn(str(text)))
        elif not turns:
            draft.findings.append(f"message {number} comes before the user says anything, and is left out")
        elif role == "tool":
            _add_result(turns[-1], message, draft)
        else:
            _add_reply(turns[-1], message, str(text), len(turns), draft)
    return turns, "\n\n".join(system).strip()


def _add_reply(turn: _Turn, message: Message, text: str, number: int, draft: DraftCase) -> None:
    calls = as_objects(message.get("tool_calls"))
    if not calls:
        turn.answer = f"{turn.answer}\n{text}".strip()
        return
    turn.answer = ""
    step: list[dict[str, Any]] = []
    for call in calls:
        function = as_object(call.get("function"))
        name = str(function.get("name") or "")
        try:
            arguments: Any = read_arguments(function.get("arguments"), empty_ok=True)
        except ArgumentsError as error:
            draft.problems.append(f"turn {number}: the arguments of {name} cannot be read: {error}")
            arguments = {}
        step.append({"id": call.get("id"), "name": name, "arguments": arguments})
    turn.steps.append(step)


def _add_result(turn: _Turn, message: Message, draft: DraftCase) -> None:
    """Adds a result to its call: by id, else to the first that waits."""
    waiting = [call for step in turn.steps for call in step if "returns" not in call]
    id_ = message.get("tool_call_id")
    fitting = [call for call in waiting if call["id"] == id_] if id_ else waiting
    if fitting:
        fitting[0]["returns"] = _result(message.get("content"))
    elif turn.steps:
        draft.findings.append("a result that belongs to no call is left out")
    else:
        draft.problems.append(
            f"a result ({str(message.get('content'))[:40]!r}) comes without any call before it"
        )


def _result(content: Any) -> Any:
    """A result as it was, or what its JSON text holds where that is shown as the same text again."""
    if not isinstance(content, str) or content.lstrip()[:1] not in ("{", "["):
        return content or ""
    try:
        held = read_bounded_json(content)
    except ArgumentsError:
        return content  # a text that only begins like JSON
    compact = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    return held if content in (result_content(held), compact, json.dumps(held)) else content


def _written(turn: _Turn, number: int, turns: Sequence[_Turn], draft: DraftCase) -> dict[str, Any]:
    """A turn in the form of own cases."""
    written: dict[str, Any] = {"input": turn.text}
    calls = [call for step in turn.steps for call in step]
    needs = _needs(turn)
    labels = {needed: f"call_{needed + 1}" for needed in sorted({each for each, _ in needs})}
    expected: list[Any] = []
    for at, call in enumerate(calls):
        options: dict[str, Any] = {}
        if at in labels:
            options["as"] = labels[at]
        if after := [labels[needed] for needed, later in needs if later == at]:
            options["after"] = after
        if "returns" in call:
            options["returns"] = call["returns"]
            if _is_error(call["returns"]):
                draft.findings.append(
                    f"turn {number}: the result of {call['name']} is an error: is this call expected?"
                )
        elif number < len(turns) or turn.answer or call not in turn.steps[-1]:
            draft.findings.append(f"turn {number}: the result of {call['name']} is not recorded")
        expected.append(_call(call, options))
    written["expect"] = expected or "none"
    if turn.answer:
        written["answer"] = turn.answer
    elif not calls:
        draft.problems.append(f"turn {number}: there is neither a call nor an answer")
    elif number < len(turns):
        draft.findings.append(f"turn {number}: there is no answer")
    return written


def _call(call: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = str(call["name"]), as_object(call["arguments"])
    values = {key: {"$is": value} if _has_dollar(value) else value for key, value in arguments.items()}
    if name in CALL_KEYS or name in ("name", "arguments", "one_of"):
        return {"name": name, "arguments": values, **options}
    return {name: values, **options}


def _has_dollar(value: Any) -> bool:
    """Whether a value would be taken for a matcher."""
    members = as_object(value)
    inner = [*members.values(), *as_list(value)]
    return any(key.startswith("$") for key in members) or any(map(_has_dollar, inner))


def _needs(turn: _Turn) -> list[tuple[int, int]]:
    """Pairs of calls of which the second takes a value from the result of the first, in a later step."""
    steps = [(number, call) for number, step in enumerate(turn.steps) for call in step]
    given = [set(_leaves(call.get("returns"))) for _, call in steps]
    found: list[tuple[int, int]] = []
    for at, (step, call) in enumerate(steps):
        taken = {value for value in _leaves(call["arguments"]) if value not in turn.text}
        found += [
            (earlier, at) for earlier in range(at) if steps[earlier][0] < step and taken & given[earlier]
        ]
    return found


def _leaves(value: Any) -> list[str]:
    """Texts and numbers in a value that are long enough to tell where they come from."""
    if isinstance(value, dict | list):
        inner = as_object(value).values() or as_list(value)
        return [leaf for each in inner for leaf in _leaves(each)]
    text = str(value)
    return [text] if len(text) >= _LEAST_TELLING and not isinstance(value, bool | None) else []


def _is_error(result: Any) -> bool:
    held = as_object(result)
    is_marked = any(held.get(key) for key in ("error", "errors")) or held.get("isError") is True
    return is_marked or (isinstance(result, str) and _ERROR_TEXT.match(result) is not None)


def _check_tools(turns: Sequence[_Turn], tools: Sequence[Tool], draft: DraftCase) -> None:
    known = {tool["function"]["name"] for tool in tools}
    called = dict.fromkeys(call["name"] for turn in turns for step in turn.steps for call in step)
    if called and not tools:
        draft.problems.append("no tool definitions are recorded: add 'tools', or give them with --tools FILE")
    for name in called:
        if tools and name not in known:
            draft.problems.append(
                f"{name or 'a tool without a name'} is called, and 'tools' does not define it"
            )


def _check_texts(turns: Sequence[_Turn], tools: Sequence[Tool], draft: DraftCase) -> None:
    """Calls that nothing read must not become an answer without a call."""
    for number, turn in enumerate(turns, 1):
        written = unread_call(turn.answer, tools)
        if written:
            draft.problems.append(f"turn {number}: the answer has {written}")


def _checked(draft: DraftCase) -> DraftCase:
    """A draft that can stand in a file: with problems it is skipped, and what breaks a rule of the form is beside it."""
    faults = _faults(draft.case)
    new = [fault for fault in faults if not draft.problems]
    draft.problems += [f"{fault.field}: {fault.message}" for fault in new]
    if faults:
        turns = draft.case.pop("turns")
        draft.case |= {"input": str(turns[0]["input"]), "expect": "none", "meta": {"proposed": turns}}
        if "tools" in draft.case and _faults(draft.case):
            draft.case["meta"]["tools"] = draft.case.pop("tools")
    if draft.problems:
        draft.case["skip"] = "; ".join(draft.problems)
    if draft.findings:
        draft.case["note"] = "; ".join(draft.findings)
    return draft


def _faults(case: dict[str, Any]) -> list[CaseFault]:
    return [fault for fault in faults_of_case(case) if fault.level == "error"]
