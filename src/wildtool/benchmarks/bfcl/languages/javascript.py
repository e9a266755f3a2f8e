"""JavaScript in BFCL's replies: the call that is written, and values from the text of theirs (spec sections 4 and 6)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.benchmarks.bfcl.decode import DecodedCall, bracketed
from wildtool.benchmarks.bfcl.languages import source_code
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

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
_QUOTES = "\"'"


def decode_javascript(text: str) -> list[DecodedCall] | None:
    """The first top-level call of a text such as `[f(x=1)]`, values as text; None where there is none.

    Raises:
        DecodeError: no JavaScript, or an argument is given twice.
        UsageError: the extra is not installed.
    """
    for statement in source_code.syntax_tree(bracketed(text)[1:-1], "javascript").children:
        for node in statement.children if statement.type == "expression_statement" else ():
            if node.type == "call_expression":
                callee, arguments, *_ = node.children
                values = source_code.named_values(arguments, ("identifier", "true"), _source, _value)
                return [{_source(callee): {**values}}]
    return None


def _source(node: source_code.Node) -> str:
    return node.text.decode()


def _value(node: source_code.Node) -> str:
    text = _source(node)
    return text[1:-1] if source_code.is_quoted(text, _QUOTES) else text


# Values -----------------------------------------------------------------------------------------------
#
# The published patterns match at the start of a text: what follows a list or an object does not count.

_LIST = re.compile(r"\[([^\]\n]*+)\]|new\s+Array\(([^)\n]*+)\)")
_LISTS, _NEW_LISTS = re.compile(r"\[\s*+\["), re.compile(r"new\s+Array\(\s*+\[")
_NEXT_LIST = re.compile(r"\s*+,\s*+\[")
_INNER_LIST = re.compile(r"\[([^\]\n]*+)\]")
_OBJECT = re.compile(r"\{([^}\n]*+)\}")


def convert_javascript(text: str, word: str, nested: str | None = None) -> Any:
    """The value of a text of type `word`, with elements of type `nested`; the text itself where it does not fit.

    Raises:
        ValueError: an unknown type, or an integer of more digits than Python reads.
    """
    if word == "array":
        return _array(text.strip(), nested)
    convert = _CONVERTERS.get(word)
    if convert is None:
        raise ValueError(f"unsupported type: {word}")
    return convert(text)


def _array(text: str, nested: str | None) -> Any:
    if len(text) > MAX_CALL_CHARACTERS:
        return text
    if end := _end_of_lists(text):
        lists = _INNER_LIST.findall(text, 0, end)
        lists[:1] = [inner.strip().removeprefix("[") for inner in lists[:1]]
        return [[guessed_javascript(part) for part in inner.strip().split(",")] for inner in lists]
    match = _LIST.match(text)
    if match is None:
        return text
    inside = (match[1] if match[1] is not None else match[2]).strip()
    elements = [part.strip() for part in inside.split(",")] if inside else []
    try:
        return [
            guessed_javascript(part) if nested is None else convert_javascript(part, nested)
            for part in elements
        ]
    except ValueError:
        return text


def _end_of_lists(text: str) -> int:
    """Where a list of lists at the start of a text ends, as the published pattern finds it; 0 where there is none.

    The pattern is `[[…], […], …]`, each inner list on a line and ending at any `]` from which the rest fits: the first
    that does. From the last `]` backwards that is known for all that follow, so that no way is tried twice.
    """
    for head, closing in ((_LISTS, "]"), (_NEW_LISTS, ")")):
        start = head.match(text)
        if start is None:
            continue
        end, fits_at = 0, -1  # the nearest `]` further on from which the rest fits, and where that ends
        place = text.rfind("]")
        while place >= start.end():
            following = _NEXT_LIST.match(text, place + 1)
            if following is None or fits_at < 0 or "\n" in text[following.end() : fits_at]:
                stop = _skipped(text, place + 1)
                if text.startswith(closing, stop):
                    fits_at, end = place, stop + 1
            else:
                fits_at = place
            place = text.rfind("]", 0, place)
        if fits_at >= 0 and "\n" not in text[start.end() : fits_at]:
            return end
    return 0


def _object(text: str) -> Any:
    text = text.strip()
    match = _OBJECT.match(text)
    if match is None or len(text) > MAX_CALL_CHARACTERS:
        return text
    return {key.strip().strip(_QUOTES): _member(value.strip()) for key, value in _members(match[1])}


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Key and value of each member: a value ends at the first comma before another key, or with the text."""
    place = 0
    while True:
        while text[place : place + 1] == ":":
            place += 1
        colon = text.find(":", place)
        if colon < 0:
            return
        key, place = text[place:colon], _skipped(text, colon + 1)
        comma = start = text.find(",", place)
        while comma >= 0:
            following = text.find(",", comma + 1)
            last = text.rfind(":", comma + 1, following if following >= 0 else len(text))
            start = min(_skipped(text, comma + 1), last - 1)
            if start > comma:
                break
            comma = following
        yield key, text[place:comma] if comma >= 0 else text[place:]
        if comma < 0:
            return
        place = start


def _skipped(text: str, place: int) -> int:
    """The place after the blanks at a place."""
    while text[place : place + 1].isspace():
        place += 1
    return place


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    return guessed_javascript(text.strip(_QUOTES))


def guessed_javascript(text: str) -> Any:
    """The value of a text of no known type."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if source_code.is_quoted(text, _QUOTES) else source_code.guessed_number(text)


def _number_as(pattern: str, number: source_code.ReadValue) -> source_code.ReadValue:
    form = re.compile(rf"{pattern}$")
    return lambda text: number(text) if form.match(text) else text


_CONVERTERS: Mapping[str, source_code.ReadValue] = {
    "String": lambda text: text[1:-1] if source_code.is_quoted(text, _QUOTES) else text,
    "integer": _number_as(r"-?\d+", int),
    "float": _number_as(r"-?\d+(?:\.\d+)?", float),
    "Bigint": _number_as(r"-?\d+n", lambda text: int(text[:-1])),
    "Boolean": source_code.truth_value,
    "dict": _object,
    "any": str,
}
