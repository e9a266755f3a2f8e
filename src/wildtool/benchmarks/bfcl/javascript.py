"""JavaScript in BFCL's replies: the call that is written, and values from the text of theirs (spec sections 4 and 6)."""

import re
from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.decode import DecodedCall, bracketed
from wildtool.benchmarks.bfcl.source_code import (
    MAX_SOURCE_DEPTH,
    Node,
    Parser,
    ReadValue,
    guessed_value,
    is_quoted,
    number_as,
    truth_value,
)

JAVASCRIPT_TYPES: Mapping[str, type] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}
_TEMPLATE = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*+(?![\w$])")
_OPTIONAL = re.compile(r"\?\.(?!\d)")


def decode_javascript(text: str) -> list[DecodedCall] | None:
    """The first top-level call of a text such as `[f(x=1)]`, values as text; None where there is none.

    Raises:
        DecodeError: no JavaScript expressions, or an argument is given twice.
    """
    parser = _JavaScriptParser(bracketed(text)[1:-1])
    for statement in parser.statements():
        if statement.kind == "call":
            return [{parser.source(statement.parts[0]): parser.named_arguments(statement.parts[1])}]
    return None


class _JavaScriptParser(Parser):
    prefix_words = frozenset({"typeof", "void", "delete", "await", "yield"})
    arrow = "=>"

    def statements(self) -> list[Node]:
        found: list[Node] = []
        while not self.at_end:
            if self.sign(";"):
                continue
            found.append(self._sequence())
            if not self.at_end and not self.sees(";") and "\n" not in self.text[found[-1].end : self.place]:
                raise self.error("expected ; or a new line")
        return found

    def _sequence(self) -> Node:
        parts: list[Node | None] = [self.expression()]
        while comma := self.sign(","):
            parts += [comma, self.expression()]
        return parts[0] if len(parts) == 1 and parts[0] else self.group("sequence", *parts)

    def assignment_kind(self, sign: Node) -> str:
        return "assignment" if self.source(sign) == "=" else "group"

    def argument(self) -> Node:
        if dots := self.sign("..."):
            return self.group("spread", dots, self.expression())
        return self.expression()

    def arguments(self) -> Node:
        return self.listed("arguments", "(", self.argument, last_comma=True)

    def operand(self) -> Node:
        found = self.literal() or self.take(_TEMPLATE, "template") or self.take(_REGEX, "regex")
        if found is not None:
            return found
        if self.sees("("):
            return self.group("group", self.sign("("), self._sequence(), self.expect(")"))
        if self.sees("["):
            return self.listed("array", "[", self._element, last_comma=True)
        if self.sees("{"):
            return self.listed("object", "{", self._member, last_comma=True)
        match self.word():
            case "function" | "async" | "class":
                return self._definition()
            case "new":
                return self._new()
            case _:
                return self.name()

    def further(self, node: Node) -> Node | None:
        if dots := self.take(_OPTIONAL, "sign"):
            if self.sees("("):
                return self.call(node)
            if self.sees("["):
                return self.group("index", node, self.sign("["), self.expression(), self.expect("]"))
            return self.group("member", node, dots, self.name())
        if template := self.take(_TEMPLATE, "template"):
            return self.group("call", node, template)
        return None

    def _element(self) -> Node:
        if self.sees(","):  # a hole
            return Node("sign", self.place, self.place)
        return self.argument()

    def _member(self) -> Node:
        if dots := self.sign("..."):
            return self.group("spread", dots, self.expression())
        if self.sees("["):
            key = self.group("key", self.sign("["), self.expression(), self.expect("]"))
        else:
            key = self.literal() or self.name()
        if self.sees("("):
            return self.group("method", key, self.balanced(), self.balanced() if self.sees("{") else None)
        if colon := self.sign(":"):
            return self.group("pair", key, colon, self.expression())
        if key.kind != "name":
            raise self.error("expected :")
        return key

    def _definition(self) -> Node:
        start = self.name()
        parts: list[Node | None] = [start]
        if self.source(start) == "async" and self.word() != "function":
            function = self.anonymous_function()
            return start if function is None else self.group("function", start, function)
        while self.word() or self.sees("*"):
            parts.append(self.sign("*") or self.name())
        if self.sees("("):
            parts.append(self.balanced())
        if not self.sees("{"):
            raise self.error("expected a body")
        return self.group("function", *parts, self.balanced())

    def _new(self) -> Node:
        new, callee = self.name(), self.name()
        while dot := self.sign("."):
            callee = self.group("member", callee, dot, self.name())
        return self.group("new", new, callee, self.arguments() if self.sees("(") else None)


# Values -----------------------------------------------------------------------------------------------

_QUOTES = "\"'"
_LIST = re.compile(r"\[(.*)\]|new\s+Array\((.*)\)", re.DOTALL)
_LISTS = re.compile(r"\[\s*\[.*\]\s*\]", re.DOTALL)
_INNER_LIST = re.compile(r"\[[^\[\]]*\]")
_PAIR = re.compile(r"([^:,]+):\s*(.*?)\s*(?=,\s*[^:,]+:|$)", re.DOTALL)


def convert_javascript(text: str, word: str, nested: str | None = None) -> Any:
    """The value of a text of type `word`, with elements of type `nested`; the text itself where it does not fit.

    Raises:
        ValueError: an unknown type.
    """
    if word == "array":
        return _converted_list(text, nested, 0)
    if word == "dict":
        return _converted_dict(text, 0)
    convert = _CONVERTERS.get(word)
    if convert is None:
        raise ValueError(f"unsupported type: {word}")
    return convert(text)


_CONVERTERS: Mapping[str, ReadValue] = {
    "String": lambda text: text[1:-1] if is_quoted(text, _QUOTES) else text,
    "integer": number_as(r"-?\d+", int),
    "float": number_as(r"-?\d+(?:\.\d+)?", float),
    "Bigint": number_as(r"-?\d+n", lambda text: int(text[:-1])),
    "Boolean": truth_value,
    "any": str,
}


def _converted_list(text: str, nested: str | None, depth: int) -> Any:
    text = text.strip()
    if depth < MAX_SOURCE_DEPTH and _LISTS.fullmatch(text):
        return [_converted_list(one, None, depth + 1) for one in _INNER_LIST.findall(text[1:-1])]
    found = _LIST.fullmatch(text)
    if found is None:
        return text
    inside = found[1] if found[1] is not None else found[2]
    elements = [part.strip() for part in inside.split(",")] if inside.strip() else []
    return [
        _guessed(element) if nested is None else convert_javascript(element, nested) for element in elements
    ]


def _converted_dict(text: str, depth: int) -> Any:
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return text
    pairs = _PAIR.findall(text[1:-1].strip())
    return {_bare(key): _member_value(value.strip(), depth) for key, value in pairs}


def _member_value(text: str, depth: int) -> Any:
    if depth < MAX_SOURCE_DEPTH:
        if text.startswith("{"):
            return _converted_dict(text, depth + 1)
        if text.startswith("["):
            return _converted_list(text, None, depth + 1)
    return _guessed(_bare(text))


def _bare(text: str) -> str:
    return text.strip().strip(_QUOTES)


def _guessed(text: str) -> Any:
    """The value of a text of no known type."""
    return guessed_value(text, _QUOTES, (_CONVERTERS[word] for word in ("Bigint", "integer", "float")))
