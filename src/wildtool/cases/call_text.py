"""Reads a call that is written as text, such as `get_order(order_id="A-1")`. Nothing is run."""

import ast
import re
from math import isfinite
from typing import Any

_MOST_CHARACTERS = 20_000
_CALL = re.compile(r"([A-Za-z_*][\w.:/*-]*)(?:\((.*)\))?", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}


def read_call_text(text: str) -> tuple[str, dict[str, Any] | None]:
    """Name and arguments of a call; None for the arguments of a name alone. Raises ValueError saying what is wrong."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"is longer than {_MOST_CHARACTERS:,} characters; write {{name, arguments}}")
    matched = _CALL.fullmatch(text.strip())
    if matched is None:
        raise ValueError("a call is NAME or NAME(argument=value)")
    name, inner = matched.groups()
    if inner is None:
        return name, None
    try:
        tree = ast.parse(f"f({inner})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError("a call is NAME(argument=value), with texts in quotes") from error
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError("a call is NAME(argument=value), with texts in quotes")
    if tree.args or any(keyword.arg is None for keyword in tree.keywords):
        raise ValueError("arguments by name: NAME(argument=value)")
    if len({keyword.arg for keyword in tree.keywords}) < len(tree.keywords):
        raise ValueError("an argument occurs twice")
    try:
        return name, {str(keyword.arg): _value(keyword.value) for keyword in tree.keywords}
    except RecursionError as error:
        raise ValueError("is nested too deep") from error


def _value(node: ast.expr) -> Any:
    """A literal of JSON's types. Raises ValueError."""
    match node:
        case ast.Constant(value=bool() | int() | str() | None):
            return node.value
        case ast.Constant(value=float() as number) if isfinite(number):
            return number
        case ast.Name(id=word) if word in _WORDS:
            return _WORDS[word]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if not (
            isinstance(number, bool)
        ):
            return -number
        case ast.List() | ast.Tuple():
            return [_value(entry) for entry in node.elts]
        case ast.Dict(keys=keys) if all(isinstance(key, ast.Constant) for key in keys):
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            return {str(name): _value(each) for name, each in zip(names, node.values, strict=True)}
        case _:
            raise ValueError("an argument is no value; put texts in quotes")
