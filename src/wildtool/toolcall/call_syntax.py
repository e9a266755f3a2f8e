"""Calls written as Python text, read without evaluating anything: `f(a='x', b=[1, 2])` as a name and values.

The text is hostile. It is parsed to a syntax tree, of which only the node kinds listed here become values;
sizes, depths and numbers are limited, and arithmetic on literals is computed here, within a budget of work.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, cast

Value = Any
"""A Python literal: None, bool, int, float, complex, str, bytes, list, tuple, dict."""

MAX_CHARACTERS = 16_000
"""Longest text that is parsed; several times what the longest gold answers need, and parsed within 50 ms."""
MAX_DEPTH = 100
"""Deepest nesting of values and of arithmetic."""
MAX_BITS = 4096
"""Largest integer; far above any float, far below what takes time to print."""
MAX_WORK = 100_000
"""Characters, digits and elements that the arithmetic of one text may touch in all."""
_MAY_WARN = re.compile(r"\\|[\d.][A-Za-z_]")
"""What the parser may warn about stands in it: escapes, and numbers that run into a word."""


class CallSyntaxError(ValueError):
    """The text is not what it should be; the message says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: positional arguments are lost, `**value` is kept under the key None, the last of equal names counts."""

    name: str
    """Dotted name; empty where the callee is neither a name nor an attribute."""
    arguments: dict[str | None, Value]


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one Python expression.

    Raises:
        CallSyntaxError: the text is longer than `MAX_CHARACTERS`, nested too deeply, or no expression.
    """
    if len(text) > MAX_CHARACTERS:
        raise CallSyntaxError(f"longer than {MAX_CHARACTERS} characters")
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
        self._arithmetic = _Arithmetic()
        self._depth = 0

    def call(self, node: ast.Call) -> Call:
        """A call with its keyword arguments as values."""
        arguments = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        return Call(dotted_name(node.func), arguments)

    def value(self, node: ast.expr) -> Value:
        """The value a node stands for; a bare name stands for its text."""
        if self._depth == MAX_DEPTH:
            raise CallSyntaxError("nested too deeply")
        self._depth += 1
        try:
            return self._value(node)
        finally:
            self._depth -= 1

    def bare_call(self, node: ast.Call) -> Value:
        """A nested call without keywords."""
        return {dotted_name(node.func): {}}

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                value = _constant(node)
                return "..." if value is ... else value
            case ast.UnaryOp(operand=ast.Constant() as operand):
                return _negated(_constant(operand))
            case ast.BinOp():
                return self._arithmetic.value(node, MAX_DEPTH)
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


def _negated(value: Value) -> Value:
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


def _constant(node: ast.Constant) -> Value:
    if isinstance(node.value, int) and node.value.bit_length() > MAX_BITS:
        raise CallSyntaxError("a number is too large")
    return node.value


def _paired(node: ast.Dict, value: Callable[[ast.expr], Value]) -> dict[Value, Value]:
    pairs: dict[Value, Value] = {}
    for key, element in zip(node.keys, node.values, strict=True):
        if key is None:
            raise CallSyntaxError("unpacking inside an object")
        try:
            pairs[value(key)] = value(element)
        except TypeError as error:
            raise CallSyntaxError(str(error)) from error
    return pairs


class _Arithmetic:
    """Python's arithmetic on literals, with pure functions of one literal, and nothing else."""

    def __init__(self) -> None:
        self._work = 0

    def value(self, node: ast.expr, levels: int) -> Value:
        if levels == 0:
            raise CallSyntaxError("nested too deeply")
        try:
            value = self._compute(node, levels - 1)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise CallSyntaxError(str(error)) from error
        self._spend(_weight(value))
        return value

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise CallSyntaxError("too much arithmetic")

    def _compute(self, node: ast.expr, levels: int) -> Value:
        match node:
            case ast.Constant():
                return _constant(node)
            case ast.List():
                return [self.value(element, levels) for element in node.elts]
            case ast.Tuple():
                return tuple(self.value(element, levels) for element in node.elts)
            case ast.Dict():
                return _paired(node, lambda element: self.value(element, levels))
            case ast.UnaryOp():
                return _UNARY[type(node.op)](self.value(node.operand, levels))
            case ast.BinOp():
                left, right = self.value(node.left, levels), self.value(node.right, levels)
                self._limit(node.op, left, right)
                return _BINARY[type(node.op)](left, right)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _PURE:
                return _PURE[name](self.value(argument, levels))
            case _:
                raise CallSyntaxError(f"no arithmetic on {type(node).__name__}")

    def _limit(self, sign: ast.operator, left: Value, right: Value) -> None:
        """Refuses, before it is computed, what would be too large; formatting by `%` can be, whatever its operands."""
        if isinstance(sign, ast.Mod) and isinstance(left, str | bytes):
            raise CallSyntaxError("formatting is no arithmetic")
        if isinstance(left, int) and isinstance(right, int):
            if _bits(sign, left, right) > MAX_BITS:
                raise CallSyntaxError("a number is too large")
        elif isinstance(sign, ast.Mult):
            for times, repeated in ((left, right), (right, left)):
                if isinstance(times, int) and isinstance(repeated, Sized):
                    self._spend(max(times, 0) * _weight(repeated))


def _bits(sign: ast.operator, left: int, right: int) -> int:
    """At least the size of the result, for the operators that can make it much larger than its operands."""
    match sign:
        case ast.Pow():
            return left.bit_length() * max(right, 0)
        case ast.LShift():
            return left.bit_length() + right
        case ast.Mult():
            return left.bit_length() + right.bit_length()
        case _:
            return 0


def _weight(value: Value) -> int:
    """Characters, digits and elements of a value."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, int):
        return 1 + value.bit_length() // 4
    if isinstance(value, dict):
        return 1 + sum(_weight(k) + _weight(v) for k, v in cast(dict[Value, Value], value).items())
    if isinstance(value, list | tuple):
        return 1 + sum(map(_weight, cast(list[Value], value)))
    return 1


_UNARY: Mapping[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.UAdd: lambda x: +x,
    ast.USub: lambda x: -x,
    ast.Invert: lambda x: ~(x + 0),  # + 0: inverting a bool is deprecated
    ast.Not: lambda x: not x,
}
_BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
    ast.FloorDiv: lambda x, y: x // y,
    ast.Mod: lambda x, y: x % y,
    ast.Pow: lambda x, y: x**y,
    ast.LShift: lambda x, y: x << y,
    ast.RShift: lambda x, y: x >> y,
    ast.BitOr: lambda x, y: x | y,
    ast.BitXor: lambda x, y: x ^ y,
    ast.BitAnd: lambda x, y: x & y,
    ast.MatMult: lambda x, y: x @ y,
}
_PURE: Mapping[str, Callable[[Value], Value]] = {
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "len": len,
    "max": max,
    "min": min,
    "round": round,
    "str": str,
    "sum": sum,
}
"""Built-in functions of one value that take no more time and space than it."""
