"""Parses one expression of Java or JavaScript, as far as calls are written in it; nothing is run.

The grammar is that of expressions; blocks and bodies of classes and functions are only checked for balanced brackets.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from wildtool.benchmarks.bfcl.decode import DecodeError
from wildtool.toolcall.arguments import MAX_DIGITS
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

MAX_SOURCE_DEPTH = 60
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = re.compile(
    r"0[xX][\da-fA-F_]+[lLn]?|0[bB][01_]+[lLn]?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?[fFdDlLn]?"
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\.)*'")
_ASSIGN = re.compile(r"(?:>>>|<<|>>|\*\*|&&|\|\||\?\?|[-+*/%&|^])?=(?![=>])")
_BINARY = re.compile(
    r"===|!==|==|!=|<=|>=|&&|\|\||\?\?|<<|>>>|>>|\*\*|(?:instanceof|in)(?![\w$])|[-+*/%&|^<>](?!=)"
)
_PREFIX = re.compile(r"\+\+|--|[-+!~]")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}

_T = TypeVar("_T")


@dataclass(slots=True)
class Node:
    """A part of the syntax tree; `start` and `end` are places in the text."""

    kind: str
    start: int
    end: int
    parts: list["Node"] = field(default_factory=list["Node"])

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, the outer and earlier ones first."""
        yield self
        for part in self.parts:
            yield from part.walk()


class Parser(ABC):
    """What both languages share; a subclass adds `operand`, `prefix_words` and what else is its own."""

    prefix_words: frozenset[str] = frozenset()
    arrow = "->"
    """Sign between the parameters of an anonymous function and its body."""

    def __init__(self, text: str) -> None:
        """Raises DecodeError for a text that is too long."""
        if len(text) > MAX_CALL_CHARACTERS:
            raise DecodeError(f"longer than {MAX_CALL_CHARACTERS} characters")
        self.text, self.place, self._depth = text, 0, 0
        self.skip()

    # Reading ----------------------------------------------------------------------------------------

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.place)
        self.place = found.end() if found else self.place

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.text)

    def sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self.place)

    def take(self, pattern: re.Pattern[str], kind: str) -> Node | None:
        """The next token, if it is of this form."""
        found = pattern.match(self.text, self.place)
        if found is None or found.end() == self.place:
            return None
        start, self.place = self.place, found.end()
        self.skip()
        return Node(kind, start, found.end())

    def sign(self, sign: str) -> Node | None:
        if not self.sees(sign):
            return None
        start = self.place
        self.place += len(sign)
        self.skip()
        return Node("sign", start, start + len(sign))

    def expect(self, sign: str) -> Node:
        node = self.sign(sign)
        if node is None:
            raise self.error(f"expected {sign}")
        return node

    def word(self) -> str:
        """The name that comes next; empty if none does."""
        found = _NAME.match(self.text, self.place)
        return found[0] if found else ""

    def name(self) -> Node:
        node = self.take(_NAME, "name")
        if node is None:
            raise self.error("expected a name")
        return node

    def error(self, expected: str) -> DecodeError:
        return DecodeError(f"{expected} at character {self.place}")

    def source(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def group(self, kind: str, *parts: Node | None) -> Node:
        found = [part for part in parts if part is not None]
        return Node(kind, found[0].start, found[-1].end, found)

    # Grammar ----------------------------------------------------------------------------------------

    def nested(self, read: Callable[[], _T]) -> _T:
        if self._depth == MAX_SOURCE_DEPTH:
            raise DecodeError("nested too deeply")
        self._depth += 1
        try:
            return read()
        finally:
            self._depth -= 1

    def expression(self) -> Node:
        return self.nested(self._expression)

    def _expression(self) -> Node:
        function = self.anonymous_function()
        if function is not None:
            return function
        left = self._conditional()
        sign = self.take(_ASSIGN, "sign")
        if sign is None:
            return left
        if left.kind not in ("name", "member", "index"):
            raise self.error("expected something that can be assigned to")
        return self.group(self.assignment_kind(sign), left, sign, self.expression())

    def assignment_kind(self, sign: Node) -> str:
        return "assignment"

    def _conditional(self) -> Node:
        left = self._binary()
        if self.sees("??") or self.sees("?.") or not self.sees("?"):
            return left
        return self.group(
            "group", left, self.sign("?"), self.expression(), self.expect(":"), self.expression()
        )

    def _binary(self) -> Node:
        parts = [self._unary()]
        while _ASSIGN.match(self.text, self.place) is None and (sign := self.take(_BINARY, "sign")):
            parts += [sign, self._unary()]
        return parts[0] if len(parts) == 1 else self.group("group", *parts)

    def _unary(self) -> Node:
        return self.nested(self._prefixed)

    def _prefixed(self) -> Node:
        sign = self.take(_PREFIX, "sign")
        if sign is None and self.word() in self.prefix_words:
            sign = self.name()
        if sign is not None:
            return self.group("group", sign, self._unary())
        return self.cast() or self._postfix()

    def cast(self) -> Node | None:
        return None

    def _postfix(self) -> Node:
        node = self.operand()
        while True:
            if dot := self.sign("."):
                node = self.member(node, dot)
            elif self.sees("("):
                node = self.call(node)
            elif self.sees("["):
                node = self.group("index", node, self.sign("["), self.expression(), self.expect("]"))
            elif sign := self.sign("++") or self.sign("--"):
                return self.group("group", node, sign)
            else:
                further = self.further(node)
                if further is None:
                    return node
                node = further

    def further(self, node: Node) -> Node | None:
        """What else of the language may come directly behind an operand."""
        return None

    def member(self, node: Node, dot: Node) -> Node:
        return self.group("member", node, dot, self.name())

    def call(self, callee: Node) -> Node:
        return self.group("call", callee, self.arguments())

    def arguments(self) -> Node:
        return self.listed("arguments", "(", self.argument)

    def argument(self) -> Node:
        return self.expression()

    def listed(self, kind: str, opening: str, read: Callable[[], Node], *, last_comma: bool = False) -> Node:
        """Elements in brackets between commas."""
        parts = [self.expect(opening)]
        closing = _BRACKETS[opening]
        while not self.sees(closing):
            parts.append(read())
            comma = self.sign(",")
            if comma is None:
                break
            parts.append(comma)
            if self.sees(closing) and not last_comma:
                raise self.error("expected another element")
        return self.group(kind, *parts, self.expect(closing))

    def literal(self) -> Node | None:
        return (
            self.take(_STRING, "string") or self.take(_CHARACTER, "character") or self.take(_NUMBER, "number")
        )

    @abstractmethod
    def operand(self) -> Node:
        """A value on its own, before what may be attached to it."""

    def anonymous_function(self) -> Node | None:
        """`x -> …` or `(x, y) -> …`, if one comes next."""
        place = self.place
        if self.sees("("):
            head = self.balanced()
        elif self.word():
            head = self.name()
        else:
            return None
        arrow = self.sign(self.arrow)
        if arrow is None:
            self.place = place
            return None
        body = self.balanced() if self.sees("{") else self.expression()
        return self.group("function", head, arrow, body)

    def named_arguments(self, arguments: Node) -> dict[str | None, Any]:
        """The texts of the values of a call by name; one without a name has None, and other expressions are left out.

        Raises:
            DecodeError: an argument is given twice.
        """
        found: dict[str | None, Any] = {}
        for part in arguments.parts:
            if part.kind == "assignment":
                name, value = self.source(part.parts[0]), part.parts[2]
            elif part.kind in ("name", "class"):
                name, value = None, part
            else:
                continue
            if name in found:
                raise DecodeError(f"{name or 'a value without a name'} is given twice")
            found[name] = self.value_text(value)
        return found

    def value_text(self, node: Node) -> str:
        """A value as text, a string without its quotes."""
        text = self.source(node)
        return text[1:-1] if node.kind in ("string", "character") else text

    def balanced(self) -> Node:
        """Brackets with anything inside that has its own closed, as one node."""
        start, open_ones = self.place, list[str]()
        while True:
            if self.at_end:
                raise self.error("expected a closing bracket")
            if not (self.literal() or self.take(_NAME, "name")):
                sign = self.text[self.place]
                if sign in _BRACKETS:
                    open_ones.append(_BRACKETS[sign])
                elif sign in ")]}":
                    if open_ones.pop() != sign:
                        raise self.error("another closing bracket was expected")
                elif sign in "\"'":
                    raise self.error("expected the end of a text")
                end = self.place = self.place + 1
                self.skip()
                if not open_ones:
                    return Node("block", start, end)


# Values -----------------------------------------------------------------------------------------------

ReadValue = Callable[[str], Any]
"""The value of a text of one type; the text itself where it does not fit."""


def number_as(pattern: str, number: Callable[[str], Any]) -> ReadValue:
    """Reads numbers that are written in one form."""
    form = re.compile(pattern)
    return lambda text: number(text) if len(text) <= MAX_DIGITS and form.fullmatch(text) else text


def truth_value(text: str) -> Any:
    """Reads truth values."""
    return text == "true" if text in ("true", "false") else text


def guessed_value(text: str, quotes: str, numbers: Iterable[ReadValue]) -> Any:
    """The value of a text of no known type: a truth value, what is in quotes, the first number that it is, or itself."""
    if text in ("true", "false"):
        return text == "true"
    if is_quoted(text, quotes):
        return text[1:-1]
    return next((value for read in numbers if not isinstance(value := read(text), str)), text)


def is_quoted(text: str, quotes: str) -> bool:
    return len(text) >= 2 and text[0] == text[-1] and text[0] in quotes
