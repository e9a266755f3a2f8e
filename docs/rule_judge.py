"""A judge of a dozen lines, as teams write one first: known tools, what they require, and a turn that says something."""

import json
from typing import Any


def judge(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> bool:
    """Whether a conversation looks right."""
    schemas = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    turns = [message for message in messages if message["role"] == "assistant"]
    for call in (call["function"] for message in turns for call in message.get("tool_calls") or ()):
        schema, arguments = schemas.get(call["name"]), json.loads(call["arguments"])
        if schema is None or not set(schema.get("required", ())) <= set(arguments) <= set(
            schema.get("properties", {})
        ):
            return False
        options = {
            name: its.get("enum") or [arguments.get(name)]
            for name, its in schema.get("properties", {}).items()
        }
        if any(value not in options[name] for name, value in arguments.items()):
            return False
    return bool(turns) and bool(turns[-1].get("tool_calls") or turns[-1].get("content"))
