"""What a model is sent: messages and native tools, or a system message that says how calls are written."""

from collections.abc import Callable, Sequence

from wildtool.benchmarks.bfcl.data import BfclEntry
from wildtool.benchmarks.bfcl.gold import PlainCall, fc_message, first_accepted_calls
from wildtool.benchmarks.bfcl.tools import hinted, openai_tools
from wildtool.types import Message, Request


def with_system(messages: Sequence[Message], text: str) -> list[Message]:
    """Messages with a text before their system message, or as a new one."""
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{text}\n\n{messages[0]['content']}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def fc_request(record: BfclEntry) -> Request:
    """The messages as they are, with native tools."""
    tools = openai_tools(hinted(record.functions, record.language))
    return Request(
        list(record.messages),
        tools,
        gold=lambda _style: fc_message(first_accepted_calls(record, native=True)),
    )


def prompt_request(
    record: BfclEntry, system_prompt: str, message: Callable[[Sequence[PlainCall]], Message]
) -> Request:
    """The messages with a system prompt that holds the functions.

    Args:
        system_prompt: complete.
        message: makes a reply of calls.
    """
    return Request(
        with_system(record.messages, system_prompt),
        gold=lambda _style: message(first_accepted_calls(record, native=False)),
    )
