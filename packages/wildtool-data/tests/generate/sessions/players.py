"""Scripted models for the roles of a session: a library with rooms, played right, or wrong in one way."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

from generate.scripted import Scripted, Spoil
from wildtool.types import Reply
from wildtool_data.make.core.plan import Lang, session_plans
from wildtool_data.make.core.roles import RoleCoroutine
from wildtool_data.make.procedural.tool_sets import read_tool_sets
from wildtool_data.make.sessions.script import AcceptedSession, session_script
from wildtool_data.make.sessions.task import SessionJob


def _tool(name: str, about: str, required: dict[str, dict[str, Any]], **optional: dict[str, Any]) -> Any:
    properties = {
        key: {"description": f"The {key}.", **schema} for key, schema in (required | optional).items()
    }
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TEXT: dict[str, Any] = {"type": "string"}
TOOLS = [
    _tool("findBook", "Finds a book.", {"title": TEXT}),
    _tool("borrowBook", "Borrows a book.", {"book_id": TEXT, "days": {"type": "integer"}}),
    _tool("reserveRoom", "Reserves a room.", {"room": TEXT, "hour": TEXT}, quiet={"type": "boolean"}),
]


class Players(Scripted):
    """Plays all roles; what it says follows from the request alone."""

    def right(self, role: str, instruction: str, seen: dict[str, Any], draw: Random) -> Any:
        return _PLAYED[role.split()[0]](instruction, seen, draw)


def played(script: RoleCoroutine[Any], players: Scripted) -> Any:
    """What a script returns when the players answer."""
    try:
        request = next(script)
        while True:
            request = script.send(
                Reply({"content": players.said(request.role, list(request.messages), request)})
            )
    except StopIteration as stop:
        return stop.value


def session_of_players(
    folder: Path, groups: str = "", lang: Lang = "en", spoil: Spoil | None = None
) -> AcceptedSession:
    """The first session of two tasks of a drawn set, made by players.

    Args: groups: the types of its tasks, such as `Clarify Chat`; empty for any.
    """
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    plans = session_plans(64, 2, seed="1", langs=(lang,))
    plan = next(one for one in plans if " ".join(task.group for task in one.tasks).startswith(groups))
    job = SessionJob(plan, read_tool_sets(folder / "tools.json", lang, [].append))
    made = played(session_script(job), Players(spoil)).value
    assert made is not None
    return made


def _word(draw: Random) -> str:
    return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3)).capitalize()


def _chinese(instruction: str) -> bool:
    return "只用一个JSON对象回答" in instruction or "用中文写" in instruction


def _user(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    mark = "您好，" if _chinese(instruction) else ""
    if "wanted" in seen:
        wanted = seen["wanted"]
        rows = [
            {"text": mark + _task(wanted, draw, others=number), "difficulty": wanted["difficulty"]}
            for number in range(len(wanted["candidates"]))
        ]
        return {"candidates": rows}
    vague = "without giving any" in instruction or "不给出它要的任何" in instruction
    hour = f"{draw.randrange(10, 20)}:{draw.randrange(10, 59)}"
    reply = "Hm, I would like a bright one." if vague else f"The room {_word(draw)} then, at {hour}."
    return {"text": mark + reply}


def _task(wanted: dict[str, Any], draw: Random, *, others: int) -> str:
    """A message. Args: others: people that it names besides three, so that each is longer than the one before."""
    kind = wanted["kind"]
    room = f"reserve the room {_word(draw)} at {draw.randrange(10, 20)}:{draw.randrange(10, 59)}"
    book = f'find the book "{_word(draw)} {_word(draw)}"'
    loan = f"{book}; borrow it for {draw.randrange(20, 90)} days"
    other = f"reserve the room {_word(draw)} at {draw.randrange(10, 20)}:{draw.randrange(10, 59)}"
    said = {
        "single": room,
        "parallel": f"{room}; {other}",
        "sequential": loan,
        "mixed": f"{loan}; {room}",
        "clarify": "reserve a quiet room"
        if "leave_out" in wanted
        else f"reserve a room at {draw.randrange(10, 20)}:{draw.randrange(10, 59)}",
        "chat": "what makes a library a good place to read",
    }[kind]
    people = " and ".join(_word(draw) for _ in range(3 + others))
    return f"For {people} of {_word(draw)}: {said}, thanks!"


def _judge(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    return {"best": draw.randrange(len(seen["candidates"])), "reason": "it is clear"}


def _planner(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    entries = seen["conversation"]
    ends = [k for k, e in enumerate(entries) if "Which room" not in e.get("assistant", "Which room")]
    task = entries[ends[-1] + 1 if ends else 0 :]
    text = " ".join(entry.get("user", "") for entry in task)
    done = [call["name"] for entry in task for call in entry.get("calls", ())]
    results = [result for entry in task for result in entry.get("results", ())]
    return {"thought": "what is needed", "plan": "do it", "actions": _actions(text, done, results, task)}


def _actions(text: str, done: list[str], results: list[Any], task: list[Any]) -> list[dict[str, Any]]:
    rooms = re.findall(r"the room (\w+) at (\d\d:\d\d)", text)
    book = re.search(r'find the book "([^"]+)"', text)
    open_ = re.search(r"reserve a (?:quiet room|room at (\d\d:\d\d))", text)
    told = re.search(r"The room (\w+) then, at (\d\d:\d\d)", text)
    calls: list[dict[str, Any]] = []
    if book and "findBook" not in done:
        calls.append({"name": "findBook", "arguments": {"title": book[1]}})
    if "reserveRoom" not in done:
        if open_ and not told:
            names = ["room"] if open_[1] else ["room", "hour"]
            missing = {"tool_name": "reserveRoom", "missing_required_parameters": names}
            return [{"name": "ask_user_for_required_parameters", "arguments": missing}]
        wanted = [(told[1], open_[1] or told[2])] if open_ and told else rooms
        calls += [{"name": "reserveRoom", "arguments": {"room": r, "hour": h}} for r, h in wanted]
    if book and "findBook" in done and "borrowBook" not in done:
        found = next(result["book_id"] for result in results if "book_id" in result)
        days = re.search(r"for (\d+) days", text)
        assert days
        calls.append({"name": "borrowBook", "arguments": {"book_id": found, "days": int(days[1])}})
    kind = "tool" if done else "chat"
    return calls or [{"name": "prepare_to_answer", "arguments": {"answer_type": kind}}]


def _tool_result(name: str, arguments: dict[str, Any], draw: Random) -> Any:
    if name == "findBook":
        return {"book_id": f"bk_{draw.randrange(10_000, 99_999)}", "title": arguments["title"]}
    return {"confirmation": f"cf_{draw.randrange(10_000, 99_999)}", "state": "confirmed"}


def _tool_(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    results = [_tool_result(call["name"], call["arguments"], draw) for call in seen["calls"]]
    return {"observations": [{"status_code": 200, "response": result} for result in results]}


def _agent(instruction: str, seen: dict[str, Any], draw: Random) -> str:
    if _chinese(instruction):
        return "您想要哪个房间（Which room）？" if "missing" in seen else "都按您的意思办好了。"
    return "Which room would you like?" if "missing" in seen else "It is all arranged as you wished."


def _checker(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    return {"accepted": True, "reason": "", "quote": ""}


_PLAYED = {
    "user": _user, "judge": _judge, "planner": _planner, "tool": _tool_, "agent": _agent, "checker": _checker,
}  # fmt: skip
