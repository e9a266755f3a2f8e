"""Java in BFCL's replies: the call that is written, and values from the text of theirs (spec sections 4 and 6)."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.bfcl.decode import DecodedCall, DecodeError, bracketed
from wildtool.benchmarks.bfcl.languages import source_code
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

JAVA_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    "Set": set,
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
}
_AS_WRITTEN = ("identifier", "class_literal", "type_identifier", "method_invocation")
_UNNAMED = ("identifier", "class_literal")


def decode_java(text: str, *, complete: bool = False) -> list[DecodedCall] | dict[str, Any]:
    """The first call of a text such as `[A.f(x=1)]`, values as text; an empty object where there is none.

    Args:
        complete: keep the bodies of classes, read short calls without a semicolon, and take texts behind characters
            beyond ASCII from where they are (Q3, Q13, Q15).

    Raises:
        DecodeError: no Java, or an argument is given twice.
        UsageError: the extra is not installed.
    """
    source = bracketed(text)[1:-1]
    if complete and not source.rstrip().endswith(";"):
        source = f"{source};"
    try:
        return _JavaReader(source, complete).call_in(source_code.syntax_tree(source, "java")) or {}
    except RecursionError as error:
        raise DecodeError("nested too deeply") from error


class _JavaReader:
    def __init__(self, source: str, complete: bool) -> None:
        self._source, self._complete = source, complete

    def _text(self, node: source_code.Node) -> str:
        if self._complete:
            return node.text.decode()
        return self._source[node.start_byte : node.end_byte]  # as published: bytes taken for characters (Q15)

    def call_in(self, node: source_code.Node) -> list[DecodedCall] | None:
        """The first call in a node."""
        if node.type != "method_invocation":
            return next((call for child in node.children if (call := self.call_in(child))), None)
        owner, arguments = (node.child_by_field_name(field) for field in ("object", "arguments"))
        name = self._text(node.child_by_field_name("name"))
        if arguments is None:
            return None
        values = source_code.named_values(arguments, _UNNAMED, self._text, self._value)
        return [{f"{self._text(owner)}.{name}" if owner else name: {**values}}]

    def _value(self, node: source_code.Node | None, inside: bool = False) -> str:
        """A value as text: a string without its quotes where it is the whole value, everything else without spaces."""
        if node is None:
            raise DecodeError("an array without its elements")
        match node.type:
            case "string_literal" | "character_literal":
                return self._text(node) if inside else self._text(node)[1:-1]
            case name if name in _AS_WRITTEN:
                return self._text(node)
            case "array_creation_expression":
                kind, value = (node.child_by_field_name(field) for field in ("type", "value"))
                return f"new {self._value(kind, True)}[]{self._value(value, True)}"
            case "object_creation_expression":
                if self._complete and node.children[-1].type == "class_body":
                    return self._text(node)
                arguments = node.child_by_field_name("arguments")
                parts = arguments.children if arguments else ()
                tokens = [part for part in parts if part.type not in ("(", ",", ")")]
                kind = self._value(node.child_by_field_name("type"), True)
                return f"new {kind}({', '.join(self._value(part, True) for part in tokens)})"
            case _ if node.children:
                return "".join(self._value(part, True) for part in node.children)
            case _:
                return self._text(node)


# Values -----------------------------------------------------------------------------------------------
#
# The patterns are the published ones, searched for anywhere in a text, in forms that take time in proportion to it.

_DOUBLE = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_LONG, _FLOAT = re.compile(r"(-?\d+)[lL]$"), re.compile(rf"({_DOUBLE})[fF]$")
_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_LIST_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*+")
_LIST_EMPTY = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADDED = re.compile(r"add\((.[^)\n]*+)\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{([^}\n]*+)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*+\{?\s*+", re.DOTALL)
_MAP_EMPTY = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_KEY_END = re.compile(r"(?=\",\s*+([^)\n]*+)\))")
_PUT = 'put("'


def convert_java(text: str, word: str, nested: str | None = None) -> Any:
    """The value of a text of type `word`, with elements of type `nested`; the text itself where it does not fit.

    Raises:
        NotImplementedError: a type that the original cannot convert.
        ValueError: an unknown type, or an integer of more digits than Python reads.
    """
    convert = _CONVERTERS.get(word)
    if convert is not None:
        return convert(text)
    lists = {"Array": _array_elements, "ArrayList": _list_elements}.get(word)
    if lists is None:
        raise NotImplementedError(word) if word in JAVA_TYPES else ValueError(f"unsupported type: {word}")
    elements = lists(text) if len(text) <= MAX_CALL_CHARACTERS else None
    if elements is None:
        return text
    return [_element(element, nested, quoted=word == "Array") for element in elements]


def _number_as(pattern: str, number: source_code.ReadValue) -> source_code.ReadValue:
    form = re.compile(rf"({pattern})$")
    return lambda text: number(match[1]) if (match := form.match(text)) else text


def _map(text: str) -> Any:
    start = _MAP.search(text) if len(text) <= MAX_CALL_CHARACTERS else None
    end = text.find("}", start.end()) if start else -1
    if start is None or end < 0:
        return {} if _MAP_EMPTY.search(text) else text
    return {key: guessed_java(value.strip()) for key, value in _puts(text[start.end() : end])}


def _puts(text: str) -> list[tuple[str, str]]:
    """Key and value of each `put("key", value)`: a key ends at the first `",` that a value on one line follows."""
    ends = list(_KEY_END.finditer(text))
    places, pairs, place = [end.start() for end in ends], list[tuple[str, str]](), text.find(_PUT)
    while place >= 0:
        place += len(_PUT)
        index = bisect_left(places, place)
        if index == len(places):
            break
        if "\n" not in (key := text[place : places[index]]):
            pairs.append((key, ends[index][1]))
            place = ends[index].end(1)
        place = text.find(_PUT, place)
    return pairs


_CONVERTERS: Mapping[str, source_code.ReadValue] = {
    **dict.fromkeys(("byte", "short", "integer"), _number_as(r"-?\d+", int)),
    "long": lambda text: int(found[1]) if (found := _LONG.match(text)) else text,
    "float": lambda text: float(found[1]) if (found := _FLOAT.match(text)) else text,
    "double": _number_as(_DOUBLE, float),
    "boolean": source_code.truth_value,
    **dict.fromkeys(("char", "String", "any"), str),
    "HashMap": _map,
}


def _array_elements(text: str) -> list[str] | None:
    match = _ARRAY.search(text)
    return None if match is None else [part.strip() for part in match[1].split(",") if part.strip()]


def _list_elements(text: str) -> list[str] | None:
    if match := _LIST.search(text):
        return [part.strip() for part in match[1].split(",")]
    if match := _LIST_ADDING.search(text):
        end = text.find("}}", match.end() + 1)
        if end >= 0:
            return [part.strip() for part in _ADDED.findall(text, match.end(), end)]
    return [] if _LIST_EMPTY.search(text) else None


def _element(text: str, nested: str | None, *, quoted: bool) -> Any:
    """An element of a list. Args: quoted: whether texts keep their quotes."""
    if nested is None:
        return guessed_java(text)
    if not quoted and nested in ("char", "String"):
        return text[1:-1]
    return convert_java(text, nested)


def guessed_java(text: str) -> Any:
    """The value of a text of no known type."""
    if text in ("true", "false"):
        return text == "true"
    if source_code.is_quoted(text, '"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    match = _FLOAT.match(text)
    return float(match[1]) if match else source_code.guessed_number(text)
