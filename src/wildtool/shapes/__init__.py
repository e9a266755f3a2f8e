"""Every shape in which people have tools, calls, messages and results, read in one place for every door.

A shape is recognised for each record by its own keys. What looks like parameters, arguments or a call under a key that no
shape has is an error that names place and key; what OpenAI's shape has no place for is counted by name. Nothing is read
as empty.
"""

from wildtool.shapes.calls import read_call, read_calls
from wildtool.shapes.messages import read_messages
from wildtool.shapes.reading import BrokenError, Reading, ShapeError
from wildtool.shapes.records import (
    is_record,
    read_answer,
    read_record,
    received_answer,
)
from wildtool.shapes.tools import FoundTool, call_names, read_entry, read_tools, tool_name

__all__ = [
    "BrokenError",
    "FoundTool",
    "Reading",
    "ShapeError",
    "call_names",
    "is_record",
    "read_answer",
    "read_call",
    "read_calls",
    "read_entry",
    "read_messages",
    "read_record",
    "read_tools",
    "received_answer",
    "tool_name",
]
