"""Reads sets of a layout of their own: of Glaive, BitAgent, ToolGen and Roborovski, and those with a column per part."""

import re
from collections.abc import Mapping
from typing import Any, cast

from wildtool.json_codec import as_list
from wildtool.training.calls import call_from
from wildtool.training.conversation import ConversationBuilder, check_not_blank
from wildtool.training.readers.options import ReadOptions
from wildtool.training.readers.turns import (
    TurnAction,
    add_calls,
    add_reply,
    add_result,
    add_system,
    add_user,
    conversation_turns,
    plain_text,
    read_turns,
)
from wildtool.training.record import AssistantTurn, RowError, TrainingCall, TrainingRecord, observed_text
from wildtool.training.texts import UnreadableTextError, parse_json, parse_or_reject, parse_value
from wildtool.training.tools import FoundTools, tools_from
from wildtool.types import Tool

_GLAIVE: Mapping[str, TurnAction] = {
    "system": lambda builder, content: None,
    "human": add_user,
    "gpt": add_reply,
    "function-call": add_calls,
    "function-response": add_result,
}
_BITAGENT: Mapping[str, TurnAction] = {
    "system": add_system,
    "user": add_user,
    "assistant": add_reply,
    "tool call": add_calls,
    "tool response": add_result,
}
SPECIAL_TOKENS = "special-tokens"
"""Note: the set teaches tokens that a model must be given first."""


def read_glaive_chatml(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A dialogue; system turns repeat the columns `system_message` and `function_description`."""
    tools = tools_from(row.get("function_description"))
    builder = ConversationBuilder()
    turns = conversation_turns(row, "conversations", "from", "value")
    read_turns(builder, turns, _GLAIVE)
    system = plain_text(row.get("system_message")).strip()
    if not system and turns and turns[0][0] == "system":
        system = plain_text(turns[0][1]).partition("{")[0].strip()
    system = system.removesuffix("-").rstrip()
    only_introduces = bool(tools.tools) and not options.keep_system
    return builder.record(tools, system=None if only_introduces else system or None)


def read_bitagent(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A conversation and tools, both as JSON text."""
    tools = tools_from(row.get("tools"))
    held = row.get("conversation")
    if isinstance(held, str):
        held = parse_or_reject(held, "unreadable-line", "conversation: ")[0]
    builder = ConversationBuilder()
    turns = conversation_turns({"conversation": held}, "conversation", "role", "content")
    read_turns(builder, turns, _BITAGENT)
    return builder.record(tools, system=builder.system or None)


def read_toolgen(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A chat in which tools are tokens; `loss: false` marks what is not learned."""
    builder = ConversationBuilder()
    turns = row.get("conversations")
    entries = cast(list[Any], turns) if isinstance(turns, list) else []
    for (role, value), turn in zip(
        conversation_turns(row, "conversations", "role", "content"), entries, strict=True
    ):
        match role:
            case "system":
                builder.add_system(plain_text(value))
            case "user":
                builder.add_user(plain_text(value))
            case "assistant":
                builder.add_reply(plain_text(value), learned=turn.get("loss") is not False)
            case _:
                raise RowError("unknown-role", f"the role {role!r}"[:100])
    return builder.record(system=builder.system or None, notes=(SPECIAL_TOKENS,))


def read_roborovski_dpo(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A question with a better and a worse call of one tool; every column is a Python literal.

    With `--kind sft` the better call with its result and answer.
    """
    tools = tools_from(row.get("tool"))
    if not tools.tools:
        raise RowError("bad-tools", "no tool")
    name = tools.tools[0]["function"]["name"]
    arguments = _arguments(row.get("tool_call_accepted"))
    if arguments is None:
        raise RowError("unreadable-call", f"tool_call_accepted: {row.get('tool_call_accepted')!r}"[:200])
    builder = ConversationBuilder()
    builder.add_user(plain_text(row.get("question")))
    good = AssistantTurn(None, (TrainingCall(name, arguments, builder.next_call_id()),))
    if options.kind != "sft":
        worse = _arguments(row.get("tool_call_rejected"))
        if worse is None:
            bad = AssistantTurn(plain_text(row.get("tool_call_rejected")))
            check_not_blank(bad, "tool_call_rejected")
        else:
            bad = AssistantTurn(None, (TrainingCall(name, worse, good.calls[0].id),))
        return builder.record(tools, replies=lambda side: good if side == "chosen" else bad)
    builder.add_reply(None, good.calls)
    if (result := row.get("call_result_accepted")) is not None:
        builder.add_result(_text(result))
    if (answer := row.get("agent_output_accepted")) is not None:
        builder.add_reply(plain_text(answer))
    return builder.record(tools)


def _arguments(value: Any) -> dict[str, Any] | None:
    """The object in a column; None if there is none."""
    if isinstance(value, str):
        try:
            value = parse_value(value)[0]
        except UnreadableTextError:
            return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    """A result without the quotes of its literal."""
    try:
        held = parse_value(value)[0] if isinstance(value, str) else value
    except UnreadableTextError:
        held = value
    return observed_text(held if isinstance(held, str) else value)


# A column for each part -----------------------------------------------------------------------------

_BINARY = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "log",
    "choose",
    "permutate",
    "gcd",
    "lcm",
    "remainder",
)
_OPERATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_BINARY, ("a", "b")),
    **dict.fromkeys(("sqrt", "ln"), ("a",)),
}
"""The operations of gsm8k-toolcalls with the names that their numbers get."""
_STEP = re.compile(r"\s*<T>\s*(?P<name>\w+)\((?P<inside>[^()]*)\)\s*=(?P<result>.*)", re.DOTALL)
_MARK = re.compile(r"<T>\s*\w+\([^()]*\)\s*=")


def read_xlam(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A question with its calls; `answers` and `tools` are JSON texts."""
    tools = tools_from(row.get("tools"))
    answers = row.get("answers")
    builder = ConversationBuilder()
    if answers and isinstance(answers, str):
        answers, repair = parse_or_reject(answers, "unreadable-call")
        if repair:
            builder.note_repair(repair)
    if not answers:
        raise RowError("no-answer", "answers is empty")
    builder.add_user(plain_text(row.get("query")))
    add_calls(builder, answers)
    return builder.record(tools)


def read_glaive_code(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A question with its answer, without tools."""
    builder = ConversationBuilder()
    builder.add_user(plain_text(row.get("question")))
    builder.add_reply(plain_text(row.get("answer")))
    return builder.record()


def read_python_tools(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A list of tools without a conversation."""
    tools = tools_from(row.get("tools"))
    if not tools.tools:
        raise RowError("bad-tools", "no tools")
    return TrainingRecord(
        kind="tools",
        turns=(),
        tools=tools.tools,
        given_tools=tools.given,
        unknown_types=tools.unknown_types,
    )


def read_gsm8k_toolcalls(row: Mapping[str, Any], options: ReadOptions) -> TrainingRecord:
    """A question of arithmetic with the steps of its answer.

    How the marks end inside the answer is not known: everything up to `=` is taken out.
    """
    builder = ConversationBuilder()
    builder.add_user(plain_text(row.get("question")))
    steps = _steps(row.get("toolcalls"))
    if not steps:
        raise RowError("no-call", "toolcalls is empty")
    used: dict[str, Tool] = {}
    for step in steps:
        name, arguments, result = _step(step)
        used.setdefault(name, _operation(name))
        entry = {"name": name, "arguments": arguments}
        builder.add_reply(None, [call_from(entry, builder.next_call_id, strict=True)])
        builder.add_result(result)
    builder.add_reply(_MARK.sub("", plain_text(row.get("answer"))))
    return builder.record(FoundTools(tuple(used.values()), None, ()))


def _steps(value: Any) -> list[Any]:
    if isinstance(value, str):
        value = parse_or_reject(value, "unreadable-call")[0] if value.strip() else []
    return as_list(value)


def _step(entry: Any) -> tuple[str, dict[str, Any], str]:
    """Operation, numbers and result of a step, which is a text or the first entry of a list."""
    text = next(iter(as_list(entry)), entry)
    match = _STEP.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise RowError("unreadable-call", f"expected <T>operation(…)=result, found {text!r}"[:200])
    name = match["name"]
    numbers = [_number(part) for part in match["inside"].split(",")]
    names = _OPERATIONS.get(name)
    if names is None or len(names) != len(numbers):
        raise RowError("unreadable-call", f"no operation {name} of {len(numbers)} numbers"[:200])
    return name, dict(zip(names, numbers, strict=True)), match["result"].strip()


def _number(text: str) -> int | float:
    try:
        number = parse_json(text.strip())
    except UnreadableTextError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise RowError("unreadable-call", f"{text.strip()!r} is no number"[:200])
    return number


def _operation(name: str) -> Tool:
    names = _OPERATIONS[name]
    properties = {parameter: {"type": "number"} for parameter in names}
    parameters = {"type": "object", "properties": properties, "required": list(names)}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}
