"""Calls written as Python text, read without evaluating anything: `f(a='x', b=[1, 2])` as a name and values.

The text is hostile. It is parsed to a syntax tree, of which only the node kinds listed here become values;
sizes, depths and numbers are limited, and expressions over literals are computed within a budget of work.
"""

import ast
import re
import warnings
from collections.abc import Callable
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
]

MAX_CALL_CHARACTERS = 16_000
"""Longest text that is parsed; several times what the longest gold answers need, and parsed within 50 ms."""
_MAY_WARN = re.compile(r"\\|[\d.][A-Za-z_]")
"""What the parser may warn about stands in it: escapes, and numbers that run into a word."""


@dataclass(frozen=True, slots=True)
class CallExpression:
    """One call: positional arguments are lost, `**value` is kept under the key None, the last of equal names counts."""

    name: str
    """Dotted name; empty where the callee is neither a name nor an attribute."""
    arguments: dict[str | None, PythonValue]


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one Python expression.

    Raises:
        CallSyntaxError: the text is longer than `MAX_CALL_CHARACTERS`, nested too deeply, or no expression.
    """
    if len(text) > MAX_CALL_CHARACTERS:
        raise CallSyntaxError(f"longer than {MAX_CALL_CHARACTERS} characters")
    try:
        if not _MAY_WARN.search(text):
            return ast.parse(text, mode="eval").body
        with warnings.catch_warnings():
            # Odd escapes and numbers are the model's business, not the user's.
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise CallSyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise CallSyntaxError("nested too deeply") from error


def dotted_name(callee: ast.expr) -> str:
    """`a.b.f` as text; of a chain that starts with anything but a name, the attributes."""
    parts: list[str] = []
    while isinstance(callee, ast.Attribute):
        parts.append(callee.attr)
        callee = callee.value
    if isinstance(callee, ast.Name):
        parts.append(callee.id)
    return ".".join(reversed(parts))


class CallReader:
    """Reads the calls of one text; the budget of work is shared by all of them.

    Every method raises CallSyntaxError for what is no value.
    """

    def __init__(self) -> None:
        self._arithmetic = Expressions()
        self._depth = 0

    def call(self, node: ast.Call) -> CallExpression:
        """A call with its keyword arguments as values."""
        arguments = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        return CallExpression(dotted_name(node.func), arguments)

    def value(self, node: ast.expr) -> PythonValue:
        """The value a node stands for; a bare name stands for its text."""
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
    """The text of a subscript in Python's own spelling."""
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
