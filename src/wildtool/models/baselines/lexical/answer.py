"""Decides, step by step, between calls, a question and a text, from the messages and tools of a request alone."""

from collections.abc import Sequence
from typing import Any

from wildtool.json_codec import dumps
from wildtool.models.baselines.lexical.conversation import Conversation, read_conversation
from wildtool.models.baselines.lexical.fill import fill
from wildtool.models.baselines.lexical.rank import ToolIndex, wishes
from wildtool.models.baselines.lexical.reading import OfferedTool, Parameter, is_plain, offered_tools, records
from wildtool.models.baselines.lexical.words import has_cjk
from wildtool.types import Message, Request

MOST_FACTS = 8
"""Values of the observations that an answer repeats."""


def answer(request: Request) -> Message:
    """The next assistant message; never raises, whatever the messages and tools."""
    talk = read_conversation(request.messages)
    tools = offered_tools(request.tools)
    calls, missing = next_calls(talk, ToolIndex(tools)) if tools else ([], [])
    if calls:
        return assistant_calls(calls, f"lexical_{len(request.messages)}")
    return {"role": "assistant", "content": _text(talk, missing)}


def assistant_calls(calls: Sequence[tuple[str, dict[str, Any]]], prefix: str) -> Message:
    """An assistant message that calls tools by name with arguments; ids are the prefix and a number."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"{prefix}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": dumps(arguments).decode()},
            }
            for number, (name, arguments) in enumerate(calls)
        ],
    }


def next_calls(
    talk: Conversation, index: ToolIndex
) -> tuple[list[tuple[str, dict[str, Any]]], list[Parameter]]:
    """The calls that are due now, and the parameters to ask for if there are none."""
    # What a call brought once is still known.
    known = [(call.name, call.arguments) for call in talk.calls()]
    made = {call.name for call in talk.current.calls}
    planned = [wish for wish in wishes(index, talk.current.text) if wish.tool.name not in made]
    calls: list[tuple[str, dict[str, Any]]] = []
    unknown: list[Parameter] = []
    for wish in planned:
        if any(
            _gives(other.tool, p)
            for other in planned
            if other.tool is not wish.tool
            for p in wish.tool.parameters
        ):
            # An older value would be wrong: the call waits for the one that brings the new value.
            continue
        filled = fill(talk, wish.text, wish.tool)
        call = (wish.tool.name, filled.arguments)
        if filled.missing:
            call = _source_of(filled.missing, talk, index.tools, made)
            unknown = unknown or filled.missing
        if call and call not in known:
            known.append(call)
            calls.append(call)
    return calls, unknown


def _source_of(
    missing: Sequence[Parameter], talk: Conversation, tools: Sequence[OfferedTool], made: set[str]
) -> tuple[str, dict[str, Any]] | None:
    """A call that may bring a missing value, of a tool that was not called yet."""
    for tool in tools:
        if tool.name not in made and any(_gives(tool, parameter) for parameter in missing):
            filled = fill(talk, talk.current.text, tool)
            if not filled.missing:
                return tool.name, filled.arguments
    return None


def _gives(tool: OfferedTool, parameter: Parameter) -> bool:
    """Whether a tool brings the values of a parameter, as the parameter's description says by naming it."""
    return tool.name in parameter.description


def _text(talk: Conversation, missing: Sequence[Parameter]) -> str:
    """A question for what is missing, else an answer from what the calls brought."""
    chinese = has_cjk(talk.current.text)
    if missing:
        wanted = ", ".join(parameter.name.replace("_", " ") for parameter in missing)
        return f"请问 {wanted} 是什么？" if chinese else f"What should I use as {wanted}?"
    facts = [
        f"{key.replace('_', ' ')} {str(value)[:80]}"
        for call in talk.current.calls
        for _, record in records(call.result)
        for key, value in record.items()
        if is_plain(value)
    ]
    if facts:
        return ("查到：" if chinese else "Here is what I found: ") + "; ".join(facts[:MOST_FACTS])
    return "好的。" if chinese else "All right."
