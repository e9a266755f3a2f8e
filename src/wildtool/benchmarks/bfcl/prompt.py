"""What a model is sent: messages and native tools, or a system message that says how calls are written."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.bfcl.data import BfclEntry
from wildtool.benchmarks.bfcl.gold import fc_message, first_accepted_calls, written_message
from wildtool.benchmarks.bfcl.tools import hinted, openai_tools
from wildtool.types import Message, Request

_RULES = (
    "You turn requests into function calls.",
    "Read the conversation and the functions below, and choose the call or calls that do what the user asks for. If no"
    " function fits, or a value that a function requires is missing, say so instead of calling.",
    "Write calls in this form and add nothing else: [function_1(parameter_1=value_1, parameter_2=value_2), function_2()]",
    "Within one turn, go on calling functions until the request is fulfilled as far as you can. A reply without calls"
    " ends the turn.",
)


def own_system_prompt(documents: Sequence[Mapping[str, Any]]) -> str:
    """Our wording of role, task, form of calls and turns, then the functions."""
    return "\n\n".join((*_RULES, f"Functions, in JSON:\n{functions_text(documents)}"))


def functions_text(documents: Sequence[Mapping[str, Any]]) -> str:
    """Function documents as the prompt lists them."""
    return json.dumps(documents, indent=4, ensure_ascii=False)


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


def prompt_request(record: BfclEntry, system_prompt: str) -> Request:
    """The messages with a system prompt that holds the functions. Args: system_prompt: complete."""
    return Request(
        with_system(record.messages, system_prompt),
        gold=lambda _style: written_message(first_accepted_calls(record, native=False), record.language),
    )
