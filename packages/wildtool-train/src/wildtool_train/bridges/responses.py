"""Messages and tools of chats in the form of the Responses API, and back."""

from collections.abc import Iterator
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes import BrokenError, Reading, read_answer
from wildtool.shapes.reading import part_type
from wildtool.shapes.results import is_result
from wildtool.types import Message, Tool


def messages_of(output: Any, reading: Reading) -> list[Message]:
    """The policy's messages in the output of a response; results of tools divide them. A message that is broken in every
    shape has its items as calls, for the judge.

    Raises:
        ShapeError: an item has no known shape.
    """
    groups: list[list[Any]] = [[]]
    for item in as_list(output):
        if is_result(item):
            groups.append([])
        else:
            is_role_missing = isinstance(item, dict) and part_type(as_object(item)) == "message"
            groups[-1].append({"role": "assistant", **item} if is_role_missing else item)
    return [_message_of(group, reading) for group in groups if group]


def _message_of(items: list[Any], reading: Reading) -> Message:
    try:
        return read_answer(items, reading)
    except BrokenError:
        return {"role": "assistant", "content": None, "tool_calls": items}


def response_tool(tool: Tool) -> dict[str, Any]:
    """A tool of a chat as one of a Responses request."""
    function = tool["function"]
    entries = {key: function.get(key) for key in ("name", "description", "parameters")}
    return {"type": "function", **entries, "strict": False}


def response_items(message: Message) -> Iterator[dict[str, Any]]:
    """A message of a chat as items of a Responses request."""
    if message["role"] == "tool":
        id_ = message.get("tool_call_id")
        yield {"type": "function_call_output", "call_id": id_, "output": message.get("content")}
        return
    if message.get("content"):
        yield {"role": message["role"], "content": message["content"]}
    for call in as_list(message.get("tool_calls")):
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}
