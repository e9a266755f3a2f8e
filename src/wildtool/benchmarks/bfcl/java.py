"""Java in BFCL's replies: the call that is written, and values from the text of theirs (spec sections 4 and 6)."""

import re
from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.decode import DecodedCall, bracketed
from wildtool.benchmarks.bfcl.source_code import (
    Node,
    Parser,
    ReadValue,
    guessed_value,
    number_as,
    truth_value,
)

JAVA_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    "Set": set,
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
}
_PRIMITIVE = frozenset({"byte", "short", "int", "long", "float", "double", "boolean", "char", "void"})
_SHORTEST_WITHOUT_SEMICOLON = 11
"""Bytes from which the original's parser adds a missing semicolon; what is shorter it takes as broken."""


def decode_java(text: str, *, complete: bool = False) -> list[DecodedCall] | dict[str, Any]:
    """The first call of a text such as `[A.f(x=1)]`, values as text; an empty object where there is none.

    Args:
        complete: keep the bodies of classes, and read short calls without a semicolon (Q3, Q13).

    Raises:
        DecodeError: no Java expression, or an argument is given twice.
    """
    parser = _JavaParser(bracketed(text)[1:-1], complete)
    for statement in parser.statements():
        for node in statement.walk():
            if node.kind == "call":
                return [{parser.source(node.parts[0]): parser.named_arguments(node.parts[-1])}]
    return {}


class _JavaParser(Parser):
    def __init__(self, text: str, complete: bool) -> None:
        super().__init__(text)
        self._complete = complete

    def statements(self) -> list[Node]:
        found: list[Node] = []
        while not self.at_end:
            found.append(self._declaration() or self.expression())
            if (
                self.at_end
                and not self._complete
                and len(self.text.strip().encode("utf-8", "surrogatepass")) < _SHORTEST_WITHOUT_SEMICOLON
            ):
                raise self.error("expected ;")
            if not self.at_end:
                self.expect(";")
        return found

    def _declaration(self) -> Node | None:
        """`Type name` or `Type name = value`."""
        place = self.place
        kind = self.type()
        if kind is None or not self.word():
            self.place = place
            return None
        name = self.name()
        sign = self.sign("=")
        return self.group("declaration", name, sign, self.expression() if sign else None)

    def type(self) -> Node | None:
        """`a.b.Type<…>[]` without spaces kept; None, and nothing read, where there is none."""
        place = self.place
        if not self.word():
            return None
        parts: list[Node | None] = [self.name()]
        while True:
            if self.sees("<"):
                arguments = self._type_arguments()
                if arguments is None:
                    self.place = place
                    return None
                parts.append(arguments)
            elif self.sees("."):
                dot = self.sign(".")
                if not self.word():
                    self.place = place
                    return None
                parts += [dot, self.name()]
            else:
                return self.group("type", *parts)

    def _type_arguments(self) -> Node | None:
        parts: list[Node | None] = [self.sign("<")]
        while not self.sees(">"):
            part = self.sign("?") or self.nested(self.type)
            if part is None:
                return None
            parts += [part, *self.dimensions()]
            if self.word() in ("extends", "super"):
                parts += [self.name(), self.nested(self.type)]
            comma = self.sign(",")
            if comma is None:
                break
            parts.append(comma)
        closing = self.sign(">")
        return self.group("type", *parts, closing) if closing else None

    def dimensions(self) -> list[Node]:
        found: list[Node] = []
        while re.match(r"\[\s*\]", self.text[self.place : self.place + 20]):
            found += [self.expect("["), self.expect("]")]
        return found

    def cast(self) -> Node | None:
        place = self.place
        opening = self.sign("(")
        kind = self.type() if opening else None
        closing = self.sign(")") if kind and (self.dimensions() or True) else None
        primitive = kind is not None and self.source(kind) in _PRIMITIVE
        starts_value = re.compile(r"[\w$\"'(!~]" if not primitive else r"[\w$\"'(!~+-]")
        if closing and starts_value.match(self.text, self.place):
            return self.group("group", opening, kind, closing, self._unary())
        self.place = place
        return None

    def operand(self) -> Node:
        if literal := self.literal():
            return literal
        if self.word() == "new":
            return self._new()
        if self.sees("("):
            return self.group("group", self.sign("("), self.expression(), self.expect(")"))
        name = self.name()
        if dimensions := self.dimensions():
            return self.group("class", name, *dimensions, self.expect("."), self.expect("class"))
        return name

    def member(self, node: Node, dot: Node) -> Node:
        return self.group("class" if self.word() == "class" else "member", node, dot, self.name())

    def further(self, node: Node) -> Node | None:
        if sign := self.sign("::"):
            return self.group("group", node, sign, self.name())
        return None

    def call(self, callee: Node) -> Node:
        if callee.kind not in ("name", "member"):
            raise self.error("nothing can be called here")
        return super().call(callee)

    def _new(self) -> Node:
        new, kind = self.name(), self.type()
        if kind is None:
            raise self.error("expected a type")
        if self.sees("["):
            dimensions = self.dimensions()
            if dimensions:
                return self.group("new array", new, kind, *dimensions, self._initializer())
            sizes: list[Node] = []
            while self.sees("["):
                sizes += [self.expect("["), self.expression(), self.expect("]")]
            return self.group("group", new, kind, *sizes)
        arguments = self.arguments()
        return self.group("new", new, kind, arguments, self.balanced() if self.sees("{") else None)

    def _initializer(self) -> Node:
        def element() -> Node:
            return self.nested(self._initializer) if self.sees("{") else self.expression()

        return self.listed("group", "{", element, last_comma=True)

    # Texts of values --------------------------------------------------------------------------------

    def value_text(self, node: Node, inside: bool = False) -> str:
        """A value as text: a string without its quotes where it is the whole value, everything else without spaces."""
        match node.kind:
            case "string" | "character":
                return self.source(node) if inside else self.source(node)[1:-1]
            case "call":
                return self.source(node)
            case "new array":
                return f"new {self.value_text(node.parts[1], True)}[]{self.value_text(node.parts[-1], True)}"
            case "new" if self._complete and node.parts[-1].kind == "block":
                return self.source(node)
            case "new":
                given = [part for part in node.parts[2].parts if part.kind != "sign"]
                arguments = ", ".join(self.value_text(part, True) for part in given)
                return f"new {self.value_text(node.parts[1], True)}({arguments})"
            case _ if node.parts:
                return "".join(self.value_text(part, True) for part in node.parts)
            case _:
                return self.source(node)


# Values -----------------------------------------------------------------------------------------------

_DOUBLE = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_LIST_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.+?)\}\}", re.DOTALL)
_LIST_EMPTY = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADDED = re.compile(r"add\((.+?)\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\(\)\s*\{\s*\{?(.*?)\}?\s*\}", re.DOTALL)
_MAP_EMPTY = re.compile(r"new\s+HashMap<.*?>\(\)")
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")


def convert_java(text: str, word: str, nested: str | None = None) -> Any:
    """The value of a text of type `word`, with elements of type `nested`; the text itself where it does not fit.

    Raises:
        NotImplementedError: a type that the original cannot convert.
        ValueError: an unknown type.
    """
    if word in ("Array", "ArrayList"):
        return _converted_list(text, word, nested)
    convert = _CONVERTERS.get(word)
    if convert is None:
        known = word in JAVA_TYPES
        raise NotImplementedError(word) if known else ValueError(f"unsupported type: {word}")
    return convert(text)


def _map(text: str) -> Any:
    if _MAP_EMPTY.fullmatch(text):
        return {}
    found = _MAP.fullmatch(text)
    if found is None:
        return text
    return {key: guessed_java(value) for key, value in _PUT.findall(found[1].strip())}


_CONVERTERS: Mapping[str, ReadValue] = {
    **dict.fromkeys(("byte", "short", "integer"), number_as(r"-?\d+", int)),
    "long": number_as(r"-?\d+[lL]", lambda text: int(text[:-1])),
    "float": number_as(rf"{_DOUBLE}[fF]", lambda text: float(text[:-1])),
    "double": number_as(_DOUBLE, float),
    "boolean": truth_value,
    **dict.fromkeys(("char", "String", "any"), str),
    "HashMap": _map,
}


def _converted_list(text: str, word: str, nested: str | None) -> Any:
    if word == "Array":
        found = _ARRAY.fullmatch(text)
        if found is None:
            return text
        elements = [part.strip() for part in found[1].split(",") if part.strip()]
        return [_element(element, nested, quoted=True) for element in elements]
    if _LIST_EMPTY.fullmatch(text):
        return []
    if found := _LIST.fullmatch(text):
        elements = [part.strip() for part in found[1].split(",")]
    elif found := _LIST_ADDING.fullmatch(text):
        elements = [part.strip() for part in _ADDED.findall(found[1])]
    else:
        return text
    return [_element(element, nested, quoted=False) for element in elements]


def _element(text: str, nested: str | None, *, quoted: bool) -> Any:
    """An element of a list. Args: quoted: whether texts keep their quotes."""
    if nested is None:
        return guessed_java(text)
    if not quoted and nested in ("char", "String"):
        return text[1:-1]
    return convert_java(text, nested)


def guessed_java(text: str) -> Any:
    """The value of a text of no known type."""
    numbers = (_CONVERTERS[word] for word in ("long", "float", "integer", "double"))
    return guessed_value(text, '"', numbers)
