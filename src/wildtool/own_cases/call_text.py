"""Reads a call that is written as text, such as `get_order(order_id="A-1")`. Nothing is run."""

import ast
import json
import re
from typing import Any

from wildtool.toolcall.python_trees import python_tree

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
        tree = python_tree(f"f({inner})", "eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        tree = None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError("a call is NAME(argument=value), with texts in quotes")
    if tree.args or any(keyword.arg is None for keyword in tree.keywords):
        raise ValueError("arguments by name: NAME(argument=value)")
    names = [str(keyword.arg) for keyword in tree.keywords]
    if len({*names}) < len(names):
        raise ValueError("an argument occurs twice")
    return name, {key: _value(keyword.value) for key, keyword in zip(names, tree.keywords, strict=True)}


class _WithWords(ast.NodeTransformer):
    """Takes `true`, `false` and `null` for values, as JSON writes them."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_WORDS[node.id]) if node.id in _WORDS else node


def _value(node: ast.expr) -> Any:
    """A literal of JSON's types. Raises ValueError."""
    try:
        return json.loads(json.dumps(ast.literal_eval(_WithWords().visit(node)), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("an argument is no value; put texts in quotes") from error
