"""Reads calls written as Python, `f(a='x', b=[1, 2])`, without evaluating the text.

The text is untrusted. It is parsed to a syntax tree, and only the kinds of nodes listed here become values; sizes,
depths and numbers are limited, and expressions over literals are computed within a budget of work.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wildtool.toolcall.expressions import (
    MAX_BITS,
    MAX_EXPRESSION_DEPTH,
    MAX_WORK,
    CallSyntaxError,
    Expressions,
    PythonValue,
    constant,
)
from wildtool.toolcall.python_trees import python_tree

__all__ = [
    "MAX_BITS",
    "MAX_CALL_CHARACTERS",
    "MAX_EXPRESSION_DEPTH",
    "MAX_WORK",
    "CallExpression",
    "CallReader",
    "CallSyntaxError",
    "PythonValue",
    "dotted_name",
    "parse_expression",
    "write_calls",
]

MAX_CALL_CHARACTERS = 16_000
"""Longest text that is parsed; several times what the longest gold answers need, and parsed within 50 ms."""
_MAY_WARN = re.compile(r"[0-9]\.?[A-Za-z_]")
"""Finds what the parser may warn about, beside escapes: numbers directly before a word."""


@dataclass(frozen=True, slots=True)
class CallExpression:
    """One call; positional arguments are dropped, `**value` has the key None, the last of equal names counts."""

    name: str
    """Dotted name; empty if the callee is neither a name nor an attribute."""
    arguments: dict[str | None, PythonValue]


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one Python expression.

    Raises:
        CallSyntaxError: the text is longer than `MAX_CALL_CHARACTERS`, nested too deeply, or no expression.
    """
    if len(text) > MAX_CALL_CHARACTERS:
        raise CallSyntaxError(f"longer than {MAX_CALL_CHARACTERS} characters")
    try:
        if "\\" not in text and not _MAY_WARN.search(text):
            return python_tree(text, "eval").body
        with warnings.catch_warnings():
            # Warnings about the model's text are of no use to the user.
            warnings.simplefilter("ignore")
            return python_tree(text, "eval").body
    except (SyntaxError, ValueError) as error:
        raise CallSyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise CallSyntaxError("nested too deeply") from error


def dotted_name(callee: ast.expr) -> str:
    """`a.b.f` as text; only the attributes if the chain does not start with a name."""
    if isinstance(callee, ast.Name):
        return callee.id
    parts: list[str] = []
    while isinstance(callee, ast.Attribute):
        parts.append(callee.attr)
        callee = callee.value
    if isinstance(callee, ast.Name):
        parts.append(callee.id)
    return ".".join(reversed(parts))


def write_calls(calls: Iterable[CallExpression]) -> str:
    """Calls written plainly as one bracketed list: `[f(a='x'), g()]`."""
    entries = (
        f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})"
        for call in calls
    )
    return f"[{', '.join(entries)}]"


class CallReader:
    """Reads the calls of one text; the budget of work is shared by all of them.

    Every method raises CallSyntaxError for anything that is not a value.
    """

    def __init__(self) -> None:
        self._arithmetic = Expressions()
        self._depth = 0

    def call(self, node: ast.Call) -> CallExpression:
        """A call with its keyword arguments as values."""
        arguments = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        return CallExpression(dotted_name(node.func), arguments)

    def value(self, node: ast.expr) -> PythonValue:
        """The value of a node; a bare name is its text."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value  # as most are
        if self._depth == MAX_EXPRESSION_DEPTH:
            raise CallSyntaxError("nested too deeply")
        self._depth += 1
        try:
            return self._value(node)
        finally:
            self._depth -= 1

    def bare_call(self, node: ast.Call) -> PythonValue:
        """A nested call without keywords."""
        return {dotted_name(node.func): {}}

    def _value(self, node: ast.expr) -> PythonValue:
        match node:
            case ast.Constant():
                value = constant(node)
                return "..." if value is ... else value
            case ast.UnaryOp(operand=ast.Constant() as operand):
                return _negated(constant(operand))
            case ast.BinOp():
                return self._arithmetic.value(node)
            case ast.List():
                return [self.value(element) for element in node.elts]
            case ast.Tuple():
                return tuple(self.value(element) for element in node.elts)
            case ast.Dict():
                return _paired(node, self.value)
            case ast.Name():
                return node.id
            case ast.Call(keywords=[]):
                return self.bare_call(node)
            case ast.Call():
                call = self.call(node)
                return {call.name: call.arguments}
            case ast.Subscript():
                return _source(node)
            case _:
                raise CallSyntaxError(f"unsupported syntax: {type(node).__name__}")


def _negated(value: PythonValue) -> PythonValue:
    # The decoders this follows negate whatever the operator is: +5 and ~5 are -5.
    if not isinstance(value, int | float | complex):
        raise CallSyntaxError("a sign before something that is no number")
    return -value


def _source(node: ast.Subscript) -> str:
    """A subscript as Python source."""
    try:
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    except (RecursionError, ValueError) as error:
        raise CallSyntaxError("no source text for a subscript") from error


def _paired(node: ast.Dict, value: Callable[[ast.expr], PythonValue]) -> dict[PythonValue, PythonValue]:
    pairs: dict[PythonValue, PythonValue] = {}
    for key, element in zip(node.keys, node.values, strict=True):
        if key is None:
            raise CallSyntaxError("unpacking inside an object")
        try:
            pairs[value(key)] = value(element)
        except TypeError as error:
            raise CallSyntaxError(str(error)) from error
    return pairs
