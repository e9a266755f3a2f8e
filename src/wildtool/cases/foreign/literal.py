"""Calls and values of other forms in the words of ours."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool.cases.matching import holds_matcher
from wildtool.json_codec import as_list, as_object
from wildtool.shapes import Reading, read_calls

_NAMES = ("name", "tool_name", "toolName", "functionName", "tool", "function")
_ARGUMENTS = (
    "arguments",
    "args",
    "input_parameters",
    "inputParameters",
    "parameters",
    "input",
    "tool_input",
    "params",
)


class NoGoldError(ValueError):
    """A record that cannot be judged by rule; the message says why."""


ForeignCase = dict[str, Any] | NoGoldError
"""A case as our form writes it, or why there is none."""


def case_or_refusal(read: Callable[[], dict[str, Any]]) -> ForeignCase:
    """What a reader gives, or why it refuses."""
    try:
        return read()
    except NoGoldError as error:
        return error


def literal_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without matchers: what other forms write means itself."""
    return {key: {"$is": value} if holds_matcher(value) else value for key, value in arguments.items()}


def read_foreign_call(value: Any) -> dict[str, Any]:
    """A call of another form as `{name}` or `{name, arguments}`. Raises NoGoldError."""
    if isinstance(value, str) and value:
        return {"name": value}
    held = as_object(value)
    if isinstance(held.get("function"), dict):
        (call_found, *_) = read_calls([held], Reading()) or [None]
        if call_found is None:
            raise NoGoldError("a call without a name")
        call = call_found.message_call(0)["function"]
        return read_foreign_call({"name": call["name"], "arguments": _decoded(call["arguments"])})
    names = [key for key in _NAMES if isinstance(held.get(key), str) and held[key]]
    argument_keys = [key for key in _ARGUMENTS if isinstance(held.get(key), dict)]
    if len(names) != 1 or len(argument_keys) > 1:
        raise NoGoldError(
            f"a call with the keys {', '.join(held) or 'none'}: its name or arguments are not clear"
        )
    call = {"name": held[names[0]]}
    # Other forms write {} where they judge the name alone.
    return (
        {**call, "arguments": literal_arguments(as_object(held[argument_keys[0]]))}
        if argument_keys and held[argument_keys[0]]
        else call
    )


def read_foreign_calls(value: Any) -> list[dict[str, Any]]:
    """The calls of a list, or one call alone; null is none. Raises NoGoldError."""
    if value is None or value in ("", "none"):
        return []
    if isinstance(value, bool):
        raise NoGoldError(f"it says {str(value).lower()}: whether a tool is called, and not which")
    if isinstance(value, int | float):
        raise NoGoldError(f"it says {value}: how many calls, and not which")
    entries: Sequence[Any] = as_list(value) if isinstance(value, list) else [value]
    return [read_foreign_call(entry) for entry in entries]


def has_names_only(calls: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the arguments of no call are judged."""
    return bool(calls) and not any("arguments" in call for call in calls)


def _decoded(text: Any) -> Any:
    from wildtool.toolcall.arguments import ArgumentsError, read_arguments

    try:
        return read_arguments(text)
    except ArgumentsError as error:
        raise NoGoldError(f"the arguments of a call cannot be read: {error}") from error
