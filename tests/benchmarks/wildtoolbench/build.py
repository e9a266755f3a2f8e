"""Builds the smallest sessions, replies and verdicts that a statement about WildToolBench needs."""

import json
from collections.abc import Sequence
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import Session, read_session
from wildtool.types import Episode, Item, Message, Reply, Transcript, Verdict

ASK = "ask_user_for_required_parameters"
ANSWER = "prepare_to_answer"


def tool(name: str, *required: str, **types: str) -> dict[str, Any]:
    """A tool; its parameters are given as name=type, the required ones by name."""
    properties = {parameter: {"type": kind} for parameter, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool(name, n="integer", text="string", x="float") for name in ("a", "b", "c", "d")]


def node(name: str, *needs: int, observation: Any = None, **arguments: Any) -> dict[str, Any]:
    """A gold call; it returns `<name> done` unless told otherwise."""
    return {
        "action": {"name": name, "arguments": arguments},
        "observation": f"{name} done" if observation is None else observation,
        "dependency_list": list(needs),
    }


def ask(*needs: int) -> dict[str, Any]:
    return node(ASK, *needs, observation="Which one?") | {"user_input": "The red one."}


def answer(*needs: int) -> dict[str, Any]:
    return node(ANSWER, *needs, observation="Here you are.")


Nodes = Sequence[dict[str, Any]]


def record(*tasks: Nodes, **changes: Any) -> dict[str, Any]:
    """A session record of these gold tasks in English."""
    return {
        "id": "s",
        "english_env_info": "2025-03-14 09:26:00 Friday",
        "english_tools": TOOLS,
        "english_tasks": [f"wish {i}" for i in range(len(tasks))],
        "english_answer_list": [list(task) for task in tasks],
        "english_task_types": ["Mixed Multi-Tool"] * len(tasks),
        "english_turn_subtypes": ["Partial Information"] * (len(tasks) - 1),
        **changes,
    }


def session(*tasks: Nodes, **changes: Any) -> Session:
    return read_session(record(*tasks, **changes), "test")


def item(*tasks: Nodes, **changes: Any) -> Item:
    data = session(*tasks, **changes)
    return Item(data.id, tuple(str(i) for i in range(len(data.tasks))), data)


def call(name: Any, id_: Any = "id", **arguments: Any) -> dict[str, Any]:
    return raw_call(name, json.dumps(arguments), id_)


def raw_call(name: Any, arguments: Any, id_: Any = "id") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Any) -> Message:
    """A reply that makes calls; a text stands for a call of that name without arguments."""
    listed = [call(made_, f"id{i}") if isinstance(made_, str) else made_ for i, made_ in enumerate(made)]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def says(text: Any) -> Message:
    return {"role": "assistant", "content": text}


DONE = says("Done.")


def transcript(*replies: Message, **more: Any) -> Transcript:
    return Transcript(tuple(Reply(reply) for reply in replies), **more)


def told(episode: Episode, *replies: Message) -> None:
    """Tells a walk replies while it asks for any."""
    for reply in replies:
        if episode.request() is not None:
            episode.advance(reply)


def verdict(profile: str, task: Nodes, *replies: Message, **changes: Any) -> Verdict:
    """The verdict on a session of one task."""
    made = item(task, **changes)
    return WILDTOOLBENCH.judge(made, {"0": transcript(*replies, scripted=True)}, profile)[0]


def error(profile: str, task: Nodes, *replies: Message, **changes: Any) -> str | None:
    """The error class of a task that must be wrong."""
    found = verdict(profile, task, *replies, **changes)
    assert found.outcome == "wrong", found.reason
    return found.error


def outcome(profile: str, task: Nodes, *replies: Message, **changes: Any) -> str:
    return verdict(profile, task, *replies, **changes).outcome


def shown(episode: Episode) -> list[Message]:
    """The messages the model sees next."""
    request = episode.request()
    assert request is not None
    return list(request.messages)
