"""Syntax trees of Python text, also where several threads make some at once."""

import ast
from contextlib import suppress
from typing import Any, Literal


def python_tree(text: str, mode: Literal["exec", "eval"], file: str = "<unknown>") -> Any:
    """The tree of statements (`ast.Module`) or of one expression (`ast.Expression`).

    Args:
        file: what errors of syntax name as its file.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as `ast.parse` does.
    """
    for _ in range(100):
        # Python before 3.11.8 counts the depth of all trees that threads make at one time in one number, and may say
        # afterwards that it does not fit (python/cpython#106905). The text is not at fault, so it is read again.
        with suppress(SystemError):
            return ast.parse(text, file, mode)
    raise RecursionError("Python could not count how deeply the text is nested")
