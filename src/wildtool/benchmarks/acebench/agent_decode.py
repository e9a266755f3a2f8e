"""An agent's message as calls (section 8.3 of the specification): which texts are calls, each written again."""

import ast
from typing import Any, cast

from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, Value, parse_expression


def calls_to_run(text: str) -> list[str] | None:
    """The calls of a multi-turn reply that goes to the sandbox; None for one that goes to the user.

    It goes to the sandbox if some line has a bracket that opens and one behind it that closes, and it can be read.
    """
    calls = decode_message(text)
    bracketed = calls is not None and any("]" in line.partition("[")[2] for line in text.split("\n"))
    return calls if bracketed else None


def starts_bracketed(text: str) -> bool:
    """Whether a text starts with a bracketed span on its first line."""
    return text.startswith("[") and "]" in text.partition("\n")[0]


def decode_message(text: str) -> list[str] | None:
    """The calls of a message, each written again as `name(key=value, ...)`; None where it cannot be read as calls.

    A text that is one expression but neither a call nor a tuple of calls is no call at all, which is readable (Q62).
    """
    text = text.removeprefix(" ")
    if not text:
        return None
    # The original adds missing brackets before it strips brackets and quotes from both ends (Q63), to no effect.
    try:
        root = parse_expression(text.strip("[]'"))
        reader = _AgentReader()
        return [_written(reader, element) for element in _elements(root)]
    except CallSyntaxError:
        return None


class _AgentReader(CallReader):
    """Reads values like the Normal decoder, but for a nested call without keywords, which stays text."""

    def bare_call(self, node: ast.Call) -> Value:
        try:
            return ast.unparse(node)
        except (RecursionError, ValueError) as error:
            raise CallSyntaxError("no source text for a nested call") from error


def _elements(root: ast.expr) -> list[ast.expr]:
    match root:
        case ast.Call():
            return [root]
        case ast.List() | ast.Tuple():
            return root.elts
        case _:
            return []


def _written(reader: CallReader, element: ast.expr) -> str:
    if not isinstance(element, ast.Call):
        raise CallSyntaxError(f"not a call but {type(element).__name__}")
    call = reader.call(element)
    return _call_text(call.name, call.arguments)


def _call_text(name: Any, arguments: dict[Any, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_value_text(value)}' for key, value in arguments.items())})"


def _value_text(value: Any) -> str:
    """Python's text of a value; an object is taken for a nested call, so an ordinary one cannot be passed (Q61)."""
    if not isinstance(value, dict):
        try:
            return repr(value)
        except (ValueError, RecursionError) as error:
            raise CallSyntaxError("a value cannot be written") from error
    entries = cast(dict[Any, Any], value)
    if not entries:
        raise CallSyntaxError("an empty object")
    name, arguments = next(iter(entries.items()))
    if not isinstance(arguments, dict):
        raise CallSyntaxError("an object that is no call")
    return _call_text(name, cast(dict[Any, Any], arguments))
