"""The tool `run_code` as a model is offered it, and its calls."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wildtool.alter.expose.code.refusals import NOT_IN_SANDBOX
from wildtool.alter.expose.code.signatures import Detail, ToolFunctions, stub
from wildtool.json_codec import as_object, as_objects
from wildtool.shapes import tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Message, Tool

RUN_CODE = "run_code"
_SHOWN = "These functions can be called, with keyword arguments and without import"
_NAMES_ONLY = "; only their names are known"
_DESCRIPTION = (
    "Runs a Python script in a sandbox and gives what it printed, and the value of its last line. Variables stay for the "
    "next script. Not available: {refused}.\n\n{shown}\n\n{stubs}"
)
_UNANSWERED = (
    "Runs a Python script in a sandbox. Functions{others} return nothing here: write all calls that the request needs "
    "into one script, with arguments that do not use what a call returns. Not available: {refused}.\n\n{shown}\n\n{stubs}"
)


def run_code_tool(functions: ToolFunctions, detail: Detail, answered: Collection[str]) -> Tool:
    """The tool with the functions that scripts can call. Args: answered: names of those that return results."""
    is_short = detail is Detail.names
    between = ", " if is_short else "\n\n"
    stubs = between.join(stub(function, detail) for function in functions)
    shown = f"{_SHOWN}{_NAMES_ONLY if is_short else ''}:"
    template = _DESCRIPTION if all(each.name in answered for each in functions) else _UNANSWERED
    others = f" other than {', '.join(answered)}" if answered else ""
    description = template.format(refused=NOT_IN_SANDBOX, shown=shown, stubs=stubs, others=others)
    code = {"type": "string", "description": "the script"}
    parameters = {"type": "object", "properties": {"code": code}, "required": ["code"]}
    return {
        "type": "function",
        "function": {"name": RUN_CODE, "description": description, "parameters": parameters},
    }


def written_functions(detail: Detail, offered: Sequence[Tool], tools: Sequence[Tool]) -> str:
    """What a search in a script returns: found tools as the functions that they are from then on.

    Args:
        offered: all tools that are functions then.
        tools: those that it found.
    """
    functions = ToolFunctions(offered)
    functions_found = [
        function for tool in tools if (function := functions.of_tool(tool_name(tool))) is not None
    ]
    definitions = [{"name": each.name, "definition": stub(each, detail)} for each in functions_found]
    return json.dumps(definitions, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class RunCode:
    """One call of a reply that holds a script."""

    id: str
    code: str = ""
    fault: str = ""
    """Why there is no script in it, for the model; empty where there is."""


def run_code_calls(reply: Message, unit_place: str) -> list[RunCode]:
    """The calls of a reply with at least one script; empty for any other reply.

    Args:
        unit_place: what ids begin with of calls that came without one.
    """
    calls = as_objects(reply.get("tool_calls"))
    if RUN_CODE not in map(tool_name, calls):
        return []
    return [_read(call, f"{unit_place}_{number}") for number, call in enumerate(calls)]


def _read(call: Message, else_id: str) -> RunCode:
    given = call.get("id")
    id_ = given if isinstance(given, str) and given else else_id
    if tool_name(call) != RUN_CODE:
        return RunCode(
            id_, fault=f"Error: there is no tool {tool_name(call)!r}; call functions inside of {RUN_CODE}"
        )
    try:
        code = read_arguments(as_object(call.get("function")).get("arguments")).get("code")
    except ArgumentsError:
        code = None
    if not isinstance(code, str):
        return RunCode(id_, fault='Error: no script; give {"code": "…"}')
    return RunCode(id_, code)


def run_code_message(code: str, id_: str) -> Message:
    """A reply that runs one script."""
    arguments = json.dumps({"code": code}, ensure_ascii=False)
    call = {"id": id_, "type": "function", "function": {"name": RUN_CODE, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def sent_calls(reply: Message, scripts: Sequence[RunCode]) -> list[Message]:
    """The calls of a reply as every endpoint takes them back: with ids, and arguments that are a JSON object."""
    sent: list[Message] = []
    for call, script in zip(as_objects(reply.get("tool_calls")), scripts, strict=True):
        function = as_object(call.get("function"))
        if script.fault:
            try:
                read_arguments(function.get("arguments"))
            except ArgumentsError:
                function = {**function, "arguments": "{}"}
        sent.append({**call, "id": script.id, "function": function})
    return sent
