"""Tools at the tool door: to the letter, but for types that JSON Schema does not have."""

from wildtool.agents.agent import Traits
from wildtool.agents.tool_server import mcp_tool


def test_types_of_data_sets_become_those_that_are_meant_also_in_parameters_named_like_keywords():
    properties = {
        "default": {"type": "float", "default": {"type": "float"}},
        "type": {"type": "dict", "properties": {"enum": {"type": "any"}}},
        "list": {"type": "array", "items": {"type": "tuple"}, "enum": ["float"]},
    }
    tool = {
        "type": "function",
        "function": {"name": "t", "parameters": {"type": "dict", "properties": properties}},
    }
    schema = mcp_tool(tool, Traits())["inputSchema"]
    assert schema == {
        "type": "object",
        "properties": {
            "default": {"type": "number", "default": {"type": "float"}},
            "type": {"type": "object", "properties": {"enum": {}}},
            "list": {"type": "array", "items": {"type": "array"}, "enum": ["float"]},
        },
    }
