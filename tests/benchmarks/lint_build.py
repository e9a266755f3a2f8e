"""Sessions for tests of the lint, sound but for what a test changes, and what the lint finds in them."""

import copy
from typing import Any

from wildtool.benchmark import Finding
from wildtool.benchmarks.wildtoolbench.lint import lint_records

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of one city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city."}},
            "required": ["city"],
        },
    },
}
NOTE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add_note",
        "description": "Stores a note.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "Words of the note."}},
            "required": ["text"],
        },
    },
}


def call(name: str, arguments: dict[str, Any], needs: list[int], result: Any = "done") -> dict[str, Any]:
    return {
        "action": {"name": name, "arguments": arguments},
        "observation": result,
        "dependency_list": needs,
    }


def weather(city: str, *needs: int) -> dict[str, Any]:
    return call("get_weather", {"city": city}, list(needs), {"sky": "clear"})


def ask(*needs: int, reply: str = "in Oslo") -> dict[str, Any]:
    arguments = {"tool_name": "get_weather", "missing_required_parameters": ["city"]}
    node = call("ask_user_for_required_parameters", arguments, list(needs), "Where?")
    return node | {"user_input": reply}


def answer(*needs: int, kind: str = "tool") -> dict[str, Any]:
    return call("prepare_to_answer", {"answer_type": kind}, list(needs), "Here you are.")


def task(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"idx": position} | node for position, node in enumerate(nodes)]


def session() -> dict[str, Any]:
    """A sound record: one call, two independent calls, a question, small talk."""
    return {
        "id": "s_0",
        "english_env_info": "2025-03-14 09:26:00 Friday",
        "english_tools": copy.deepcopy([WEATHER, NOTE]),
        "english_tasks": ["weather in Rome?", "and for Bonn and Lima", "what about home", "thanks a lot!"],
        "english_answer_list": [
            task(weather("Rome"), answer(0)),
            task(weather("Bonn"), weather("Lima"), answer(0, 1)),
            task(ask(), weather("Oslo", 0), answer(1)),
            task(answer(kind="chat")),
        ],
        "english_task_types": ["Single-Tool", "Parallel Multi-Tool", "Clarify", "Chat"],
        "english_turn_subtypes": ["Partial Information", "Long-Range Dependency", "Coreferential Reference"],
    }


def findings(*records: dict[str, Any], **options: Any) -> list[Finding]:
    return list(lint_records(enumerate(records, 1), "x.jsonl", **options))


def found(record: dict[str, Any], **options: Any) -> list[tuple[str, str]]:
    """Field and rule of each finding."""
    return [(f.where.split(" ", 2)[2], f.rule) for f in findings(record, **options)]


def with_task(*nodes: dict[str, Any], text: str, type_: str) -> dict[str, Any]:
    """The sound record with another first task."""
    record = session()
    record["english_answer_list"][0] = task(*nodes)
    record["english_tasks"][0] = text
    record["english_task_types"][0] = type_
    return record


def with_parameter(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The sound record whose unused tool has another parameter `x`."""
    record = session()
    parameters = record["english_tools"][1]["function"]["parameters"]
    parameters["properties"]["x"] = {"description": "Something."} | schema
    parameters.update(more)
    return record


PARAMETER = "english_tools[1].function.parameters"
