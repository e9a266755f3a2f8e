"""Reads the plain form of calls, `[f(k='v', n=[1, 2]), g()]`, several times as fast as Python's parser does.

What is not read with certainty is declined, and read as Python. The values are read by the JSON decoder of the standard
library, so only what Python and JSON read alike is plain: texts in one kind of quotation mark and without escapes,
numbers, lists and objects of them; and True, False and None directly as arguments.
"""

import json
import re
from keyword import kwlist
from typing import NoReturn

from wildtool.toolcall.call_syntax import CallExpression
from wildtool.toolcall.expressions import MAX_EXPRESSION_DEPTH, PythonValue

_LONGEST = 3000
"""Characters: no number of a shorter text exceeds the limits of `call_syntax`."""
_NAME = re.compile(r" *([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(", re.ASCII)
_KEYWORD = re.compile(r" *([A-Za-z_]\w*) *= *", re.ASCII)
_RESERVED = frozenset({*kwlist, "__debug__"})
_CONSTANTS = {"T": ("True", True), "F": ("False", False), "N": ("None", None)}


class _NotPlainError(ValueError):
    """The text is not of the plain form."""


def _decline(constant: str) -> NoReturn:
    raise _NotPlainError(constant)


_read_value = json.JSONDecoder(parse_constant=_decline).raw_decode


def read_plain_calls(text: str) -> list[CallExpression] | None:
    """The calls of a bracketed list, as `call_syntax` reads them; None if the text is not of the plain form."""
    if (
        len(text) > _LONGEST
        or text[:1] != "["
        or "\\" in text
        # The words that only JSON has are bare names to Python.
        or "true" in text
        or "false" in text
        or "null" in text
        # Line breaks, surrogates and control characters end texts or are faults, in Python or in JSON.
        or not text.isprintable()
        or text.count("[") + text.count("{") > MAX_EXPRESSION_DEPTH
    ):
        return None
    if "'" in text:
        if '"' in text:
            return None
        text = text.replace("'", '"')
    try:
        return _calls(text)
    except (ValueError, IndexError):
        return None


def _calls(text: str) -> list[CallExpression]:
    calls: list[CallExpression] = []
    place, mark = 1, ","
    while mark == ",":
        head = _NAME.match(text, place)
        if head is None or not _RESERVED.isdisjoint(head[1].split(".")):
            raise _NotPlainError("no name")
        arguments, place = _arguments(text, head.end())
        calls.append(CallExpression(head[1], arguments))
        mark = text[place]
        place += 1
    if mark != "]" or place != len(text):
        raise _NotPlainError("no end")
    return calls


def _arguments(text: str, place: int) -> tuple[dict[str | None, PythonValue], int]:
    """The arguments from behind an opening bracket on, and the place behind the closing one."""
    arguments: dict[str | None, PythonValue] = {}
    if text[place] == ")":
        return arguments, place + 1
    mark = ","
    while mark == ",":
        keyword = _KEYWORD.match(text, place)
        if keyword is None or (name := keyword[1]) in arguments or name in _RESERVED:
            raise _NotPlainError("no keyword, or a repeated one")
        place = keyword.end()
        if text[place] in _CONSTANTS:
            word, arguments[name] = _CONSTANTS[text[place]]
            if not text.startswith(word, place):
                raise _NotPlainError("another word")
            place += len(word)
        else:
            arguments[name], place = _read_value(text, place)
        mark = text[place]
        place += 1
    if mark != ")":
        raise _NotPlainError("no closing bracket")
    return arguments, place
