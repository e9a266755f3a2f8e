"""Messages and tools of chats in the form of the Responses API, and back."""

from collections.abc import Iterator
from typing import Any

from wildtool.json_codec import as_list, as_objects
from wildtool.types import Message, Tool


def messages_of(output: Any) -> list[Message]:
    """The policy's messages in the output of a response; results of tools divide them."""
    messages: list[Message] = []
    is_open = False
    for item in as_objects(output):
        if item.get("type") == "function_call_output":
            is_open = False
            continue
        if not is_open:
            messages.append({"role": "assistant", "content": None})
            is_open = True
        message = messages[-1]
        if item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            message["tool_calls"] = [*message.get("tool_calls", ()), call]
        elif item.get("type") == "message":
            content = item.get("content")
            parts = [{"text": content}] if isinstance(content, str) else as_objects(content)
            texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
            message["content"] = (message["content"] or "") + "".join(texts)
            for part in parts:
                if part.get("refusal"):
                    message["refusal"] = part["refusal"]
    return messages


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
