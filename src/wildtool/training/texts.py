"""Reads values out of texts as data sets write them: JSON, arguments in single quotes, Python literals.

Nothing is evaluated. Texts that are too long or nested too deep cannot be read.
"""

import ast
import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, cast

from wildtool import json_codec
from wildtool.json_codec import JsonLimits
from wildtool.toolcall.python_trees import python_tree
from wildtool.training.record import RowError, spaced_json

TEXT_LIMITS = JsonLimits(bytes=16 * 1024 * 1024, depth=200, values=1_000_000)
"""Limits of a row, and of every JSON text in it."""
_SMALL = 1 << 20
"""Bytes of a text that needs no look at its limits: its values are few, and parsers stop at 1,000 levels."""
MAX_LITERAL_DEPTH = 64
"""Nesting of a Python literal; deeper ones are unreadable."""
MAX_LITERAL_SIZE = 1_000_000
"""Characters of a Python literal; longer ones are unreadable."""
_LONGEST_NUMBER = 1 << 12
"""Bits of a whole number; Python refuses to write much longer ones."""
_DECODER = JSONDecoder(strict=False)
_QUOTED = re.compile(r"""(?s)(?P<before>.*?["']arguments["']\s*:\s*)'(?P<inside>.*)'(?P<after>\s*\}.*)""")
_NAMES = {"true": True, "false": False, "null": None}
_NOTHING = object()
"""In place of a value that cannot be read; null is one that can."""
_BETWEEN = " \t\r\n,"


class UnreadableTextError(ValueError):
    """A text holds no value that can be read."""


def load_text(text: bytes | str) -> Any:
    """The value of an untrusted JSON text. Raises ValueError if it is none, or too large."""
    if len(text) > _SMALL:
        return json_codec.loads_within(text, TEXT_LIMITS)
    return json_codec.loads(text)


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises UnreadableTextError if it is none, or too large."""
    value = _json(text)
    if value is _NOTHING:
        raise UnreadableTextError("no JSON")
    return value


def parse_value(text: str) -> tuple[Any, str | None]:
    """The value in a text and the repair it needed, tried in this order: JSON, arguments in single quotes
    (`quoted-arguments`), a Python literal (`python-literal`).

    Raises:
        UnreadableTextError: it is none of these.
    """
    value = _json(text)
    if value is not _NOTHING:
        return value, None
    value = _quoted_arguments(text)
    if value is not _NOTHING:
        return value, "quoted-arguments"
    return parse_literal(text), "python-literal"


def parse_or_reject(text: str, reason: str, subject: str = "") -> tuple[Any, str | None]:
    """As `parse_value`, for a text that a row needs. Raises RowError of that reason."""
    try:
        return parse_value(text)
    except UnreadableTextError as error:
        raise RowError(reason, f"{subject}{error}") from error


def parse_literal(text: str) -> Any:
    """The value of a Python literal of constants, lists, tuples (as lists), maps and signed numbers, with `true`, `false`
    and `null` as names. Keys that are no text become JSON text.

    Raises:
        UnreadableTextError: it is something else, or too large.
    """
    if len(text) > MAX_LITERAL_SIZE or _depth(text) > MAX_LITERAL_DEPTH:
        raise UnreadableTextError("too large or nested too deep for a literal")
    try:
        return _plain(python_tree(text.strip(), "eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableTextError(f"neither JSON nor a Python literal ({error})") from error


def parse_run(text: str) -> list[Any]:
    """The values of a run of JSON values, one after another with blanks, line ends or commas between; one list in it
    counts as its entries.

    Raises:
        UnreadableTextError: something else is between them.
    """
    single = _json(text)
    if single is not _NOTHING:
        return cast(list[Any], single) if isinstance(single, list) else [single]
    calls: list[Any] = []
    for value in _values(text):
        calls += cast(list[Any], value) if isinstance(value, list) else [value]
    return calls


def first_list(text: str) -> tuple[list[dict[str, Any]], int, int] | None:
    """The first JSON list in a text whose entries are objects with a name, and where it begins and ends."""
    start = -1
    for _ in range(100):
        start = text.find("[", start + 1)
        if start < 0:
            return None
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        entries = cast(list[Any], value)
        if entries and all(isinstance(entry, dict) and "name" in entry for entry in entries):
            return cast(list[dict[str, Any]], entries), start, end
    return None


def _json(text: str) -> Any:
    try:
        return load_text(text)
    except ValueError:
        return _NOTHING


def _values(text: str) -> Iterator[Any]:
    place = 0
    while True:
        while place < len(text) and text[place] in _BETWEEN:
            place += 1
        if place == len(text):
            return
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (JSONDecodeError, RecursionError) as error:
            raise UnreadableTextError(f"no JSON at character {place + 1}") from error
        yield value


def _quoted_arguments(text: str) -> Any:
    """A call whose arguments are JSON in single quotes."""
    match = _QUOTED.fullmatch(text)
    if match is None:
        return _NOTHING
    arguments = _json(match["inside"].replace("\\'", "'"))
    if not isinstance(arguments, dict):
        return _NOTHING
    return _json(f"{match['before']}{spaced_json(arguments)}{match['after']}")


def _depth(text: str) -> int:
    """The most brackets that are open at once, whatever strings hold: never less than the nesting."""
    deepest = depth = 0
    for character in re.findall(r"[\[({\])}]", text):
        depth += 1 if character in "[({" else -1
        deepest = max(deepest, depth)
    return deepest


def _plain(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value) if value is None or isinstance(value, str | int | float):
            if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
                raise UnreadableTextError("a number too long to be written")
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_plain(part) for part in parts]
        case ast.Dict(keys=keys, values=values):
            return {
                _key(key): _plain(value) for key, value in zip(keys, values, strict=True) if key is not None
            }
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _plain(operand)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return -number if isinstance(sign, ast.USub) else number
        case _:
            pass
    raise UnreadableTextError(f"{type(node).__name__} is no literal")


def _key(node: ast.expr) -> str:
    key = _plain(node)
    return key if isinstance(key, str) else spaced_json(key)
