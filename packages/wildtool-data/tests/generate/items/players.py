"""Scripted models for the roles of items: a sports club, played right, or wrong in one way."""

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

from generate.scripted import Scripted
from wildtool.tools.schema.definitions import call_problems


def _tool(name: str, about: str, required: dict[str, Any], **optional: dict[str, Any]) -> dict[str, Any]:
    properties = {
        key: {"description": f"The {key}.", **schema} for key, schema in (required | optional).items()
    }
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    described = {key: {"description": f"The {key}.", **schema} for key, schema in properties.items()}
    return {"type": "object", "properties": described, "required": list(properties)}


TEXT: dict[str, Any] = {"type": "string"}
COURT: dict[str, Any] = {"type": "string", "pattern": "^[A-Z]\\d{2}$"}
DATE: dict[str, Any] = {"type": "string", "format": "date"}
TOOLS = [
    _tool(
        "bookCourt", "Books a court of the club.", {"court": COURT, "date": DATE}, light={"type": "boolean"}
    ),
    _tool(
        "rateCourt",
        "Rates a court of the club.",
        {"court": COURT, "stars": {"type": "integer", "minimum": 1, "maximum": 5}},
    ),
    _tool(
        "bookLesson",
        "Books a lesson with a trainer.",
        {"trainer": TEXT, "level": {"type": "string", "enum": ["first", "middle", "top"]}},
    ),
    _tool(
        "buildTeam",
        "Builds a team for the league.",
        {"members": {"type": "array", "items": {"type": "string", "description": "One."}}, "captain": TEXT},
    ),
    _tool("planTrip", "Plans a trip to a match.", {"when": _object(date=DATE, hour=TEXT), "place": TEXT}),
    _tool(
        "orderKit",
        "Orders a kit for a player.",
        {
            "kit": _object(size=_object(width={"type": "integer"}, height={"type": "integer"}), colour=TEXT),
            "public": {"type": "boolean"},
        },
    ),
]


class ItemPlayers(Scripted):
    """Plays all roles; what it says follows from the request alone."""

    def right(self, role: str, instruction: str, seen: dict[str, Any], draw: Random) -> Any:
        return _PLAYED[re.split("[ -]", role)[0]](seen, draw, "只用一个JSON对象回答" in instruction)


def _word(draw: Random) -> str:
    return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(4)).capitalize()


def _value(schema: dict[str, Any], draw: Random) -> Any:
    kind = schema["type"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "pattern" in schema:
        return f"{draw.choice('ABCDEFGH')}{draw.randrange(10, 100)}"
    if "format" in schema:
        return f"2025-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    if kind == "integer":
        return draw.randrange(schema.get("minimum", 20), schema.get("maximum", 90) + 1)
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "array":
        return [_value(schema["items"], draw) for _ in range(2)]
    if kind == "object":
        return {key: _value(child, draw) for key, child in schema["properties"].items()}
    return _word(draw)


def _arguments(tool: dict[str, Any], draw: Random, also: str = "") -> dict[str, Any]:
    parameters = tool["parameters"]
    required: list[str] = parameters["required"]
    names = required if not also or also in required else [*required, also]
    return {name: _value(parameters["properties"][name], draw) for name in names}


def _say(tool: dict[str, Any] | None, values: Mapping[str, Any], draw: Random, chinese: bool) -> str:
    """A request that names a tool by its description, and values as `name is value`."""
    told = "".join(f" {key} is {json.dumps(value, ensure_ascii=False)};" for key, value in values.items())
    people = " and ".join(_word(draw) for _ in range(3))
    begin = f"您好，{people}。" if chinese else f"For {people} of {_word(draw)}."
    return f"{begin} {tool['description'] if tool else ''}{told}"


def _named(seen: dict[str, Any], name: str) -> dict[str, Any]:
    return next(tool for tool in seen["tools"] if tool["name"] == name)


def _writer(seen: dict[str, Any], draw: Random, chinese: bool) -> Any:
    wanted = seen["wanted"]
    tool = _named(seen, wanted["tool"])
    calls = [_arguments(tool, draw, wanted.get("parameter", ""))]
    if wanted["kind"] == "parallel":
        calls.append(_arguments(tool, draw))
    said = dict(calls[0])
    written: dict[str, Any] = {}
    if wanted["kind"] == "preference":
        name = next(
            key
            for key, value in said.items()
            if isinstance(value, str) and "enum" not in tool["parameters"]["properties"][key]
        )
        written["profile"] = {
            "basic_features": {"User": said.pop(name)},
            "user_history": {"club": [_word(draw)]},
        }
    text = " ".join(_say(tool, values, draw, chinese) for values in (said, *calls[1:]))
    written["messages"] = [{"user": text}]
    written["calls"] = [{"name": tool["name"], "arguments": arguments} for arguments in calls]
    return written


def _user(seen: dict[str, Any], draw: Random, chinese: bool) -> Any:
    if "wanted" not in seen:
        return {"text": _say(None, _replied(seen, draw), draw, chinese)}
    wanted = seen["wanted"]
    tool = _named(seen, wanted["tool"])
    values = _arguments(tool, draw, wanted.get("parameter", ""))
    if wanted["kind"] == "incomplete":
        del values[wanted["parameter"]]
    if wanted["kind"] == "error":
        schema = tool["parameters"]["properties"][wanted["parameter"]]
        values[wanted["parameter"]] = 99 if schema["type"] == "integer" else f"{_word(draw)}#"
    if wanted["kind"] == "adjust" and seen["conversation"]:
        name = draw.choice(list(values))
        return {"text": _say(None, {name: values[name]}, draw, chinese)}
    return {"text": _say(tool, values, draw, chinese)}


def _replied(seen: dict[str, Any], draw: Random) -> dict[str, Any]:
    """Values for what the assistant has asked for."""
    tool = _tool_meant(seen)
    asked = re.findall(r"\w+", seen["conversation"][-1]["assistant"])
    properties = tool["parameters"]["properties"]
    return {name: _value(schema, draw) for name, schema in properties.items() if name in asked}


def _tool_meant(seen: dict[str, Any]) -> dict[str, Any]:
    """The tool whose description was said last, or any."""
    texts = [entry["user"] for entry in seen["conversation"] if "user" in entry]
    for text in reversed(texts):
        for tool in seen["tools"]:
            if tool["description"] in text:
                return tool
    return seen["tools"][0]


def _agent(seen: dict[str, Any], draw: Random, chinese: bool) -> Any:
    if "calls" in seen["conversation"][-1]:
        return {"text": "都办好了。" if chinese else "It is all arranged as you wished."}
    tool = _tool_meant(seen)
    values: dict[str, Any] = {}
    for entry in seen["conversation"]:
        text = entry.get("user", "")
        if tool["description"] in text:
            values = {}
        values |= {key: json.loads(value) for key, value in re.findall(r" (\w+) is (.*?);", text)}
    parameters = tool["parameters"]
    if missing := [name for name in parameters["required"] if name not in values]:
        text = f"{'请告诉我' if chinese else 'Please tell me'}: {', '.join(missing)}."
        return {"action": "missing", "tool": tool["name"], "thought": "|".join(missing), "text": text}
    for name, value in values.items():
        if call_problems(value, parameters["properties"][name]):
            text = f"{'请更正' if chinese else 'Please correct'}: {name}."
            return {
                "action": "wrong",
                "tool": tool["name"],
                "parameter": name,
                "thought": value,
                "text": text,
            }
    return {"action": "call", "calls": [{"name": tool["name"], "arguments": values}]}


def _result(seen: dict[str, Any], draw: Random, chinese: bool) -> Any:
    body = {"state": "confirmed", "desk": draw.randrange(100, 999)}
    return {"observations": [{"status_code": 200, "response": body} for _ in seen["calls"]]}


def _judge(seen: dict[str, Any], draw: Random, chinese: bool) -> Any:
    return {"valid": True, "where": "", "reason": ""}


_PLAYED = {"writer": _writer, "user": _user, "agent": _agent, "tool": _result, "judge": _judge}
