"""Reads and writes JSON for requests and files: fast, and without loss for any text; JSON Lines with errors that name the
place.

orjson does the work, and the standard library where orjson would refuse or silently change a value: lone surrogates
(written as `\\uXXXX` escapes), integers beyond 64 bits, NaN and infinities. One thing JSON cannot express: two
surrogates that are *separate* characters of a string are read back as one character. `normalize` returns a value as it
would be read back.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import orjson

from wildtool.errors import DataError

_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT = 2.0**63
"""orjson reads integers beyond 64 bits as floats of at least this size."""
_LONG_NUMBER = b"0" * 19
_DIGITS = bytes(0x30 if chr(byte).isdecimal() else 0x20 for byte in range(256))
"""Every digit as 0 and every other byte as a blank."""
_NO_FLOAT = frozenset({str, int, bool, type(None)})
"""Types without a float inside."""
_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,}\]]', re.DOTALL)
"""A string, even an unterminated one, or a character that starts or ends a value."""

_BREAKS = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029", "\x85".encode(): b"\\u0085"}
"""Characters that some readers of lines take for the end of a line, with their JSON escapes."""


class TooLargeError(ValueError):
    """A JSON text is larger, deeper or of more values than its reader accepts."""


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """Limits of an untrusted JSON text, checked before it is parsed."""

    bytes: int
    depth: int
    """Nesting of lists and objects."""
    values: int
    """Strings, numbers, lists, objects and so on, in all; one takes 50 to 100 bytes of memory on average."""


REPLY_LIMITS = JsonLimits(bytes=64 * 1024 * 1024, depth=500, values=1_000_000)
"""Limits of one response of a model's endpoint."""
LINE_LIMITS = JsonLimits(bytes=4 * REPLY_LIMITS.bytes, depth=1000, values=4 * REPLY_LIMITS.values)
"""Limits of one line of a file: a line of a record has a request, the response and the message read from it."""


def dumps(obj: Any) -> bytes:
    """Compact UTF-8 JSON of a value. Raises ValueError or TypeError if there is none (too deep, not a JSON type)."""
    try:
        data = orjson.dumps(obj)
    except TypeError:
        return _dumps_slowly(obj)
    # orjson writes NaN and the infinities as null, so only a text with null in it can hide one.
    return _dumps_slowly(obj) if b"null" in data and _has_odd_float(obj) else data


def one_line(data: bytes) -> bytes:
    """A JSON text that every reader of lines takes for one line."""
    if not data.isascii():
        for character, escape in _BREAKS.items():
            data = data.replace(character, escape)
    return data


def loads(data: bytes | str) -> Any:
    """The value of a JSON text; NaN and infinities are accepted. Raises ValueError if it is not JSON."""
    try:
        obj = orjson.loads(data)
    except ValueError:
        return _loads_slowly(data)
    return _loads_slowly(data) if _has_long_number(data) and _has_odd_float(obj) else obj


def loads_within(data: bytes | str, limits: JsonLimits) -> Any:
    """The value of an untrusted JSON text. Raises TooLargeError, or ValueError if it is not JSON."""
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    check_limits(data, limits)
    return loads(data)


def check_limits(data: bytes, limits: JsonLimits) -> int:
    """An upper bound on the number of values in a JSON text, in linear time and almost no memory.

    Raises TooLargeError if the text exceeds the limits.
    """
    if len(data) > limits.bytes:
        raise TooLargeError(f"more than {limits.bytes:,} bytes of JSON")
    opening = data.count(b"[") + data.count(b"{")
    values = 1 + opening + data.count(b",")
    # Characters inside of strings are counted too; most texts need no closer look.
    if opening <= limits.depth and values <= limits.values:
        return values
    depth, values = 0, 1
    for mark in _STRUCTURE.finditer(data):
        match data[mark.start()]:
            case 0x22:  # counted by the bracket or comma before it
                continue
            case 0x2C:
                values += 1
            case 0x5B | 0x7B:
                depth, values = depth + 1, values + 1
            case _:
                depth -= 1
        if depth > limits.depth:
            raise TooLargeError(f"JSON nested deeper than {limits.depth} levels")
        if values > limits.values:
            raise TooLargeError(f"JSON of more than {limits.values:,} values")
    return values


def lines_within(file: IO[bytes], limits: JsonLimits = LINE_LIMITS) -> Iterator[bytes]:
    """The lines of a file up to the first that is too long, of which only the beginning is returned, itself too long."""
    while line := file.readline(limits.bytes + 1):
        yield line
        if len(line) > limits.bytes:
            return


def normalize(obj: Any) -> Any:
    """The value as it would be read back after writing; the same object if nothing would change."""
    try:
        data = orjson.dumps(obj)
        unchanged = not (b"null" in data and _has_odd_float(obj))
    except TypeError:
        unchanged = False
    return obj if unchanged else loads(dumps(obj))


def portable(
    value: Any,
    *,
    text: Callable[[str], str],
    number: Callable[[int | float], Any],
    max_depth: int,
    depth: int = 0,
) -> Any:
    """A value as plain JSON that every reader accepts; parts that are nested too deep become `…`.

    Args:
        text, number: replace what readers refuse, such as lone surrogates, NaN or huge integers.
    """
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return number(value)
    if depth > max_depth:
        return "…"
    inner = partial(portable, text=text, number=number, max_depth=max_depth, depth=depth + 1)
    if isinstance(value, Mapping):
        return {text(str(key)): inner(part) for key, part in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [inner(part) for part in cast(Sequence[Any], value)]
    return text(str(value))


def replace_surrogates(text: str) -> str:
    """A text with U+FFFD in place of lone surrogates."""
    return _SURROGATE.sub("\ufffd", text)


def _dumps_slowly(obj: Any) -> bytes:
    try:
        text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"))
        # Python and JSON escape a surrogate alike.
        return text.encode("utf-8", "backslashreplace")
    except RecursionError:
        raise ValueError("nested too deep to be written as JSON") from None


def _loads_slowly(data: bytes | str) -> Any:
    try:
        return json.loads(data.decode() if isinstance(data, bytes) else data)
    except RecursionError:
        raise ValueError("nested too deep to be read as JSON") from None


def _has_long_number(data: bytes | str) -> bool:
    """Whether a JSON text has a row of digits that may be an integer beyond 64 bits, which orjson reads as a float."""
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return _LONG_NUMBER in data.translate(_DIGITS)


def _has_odd_float(obj: Any) -> bool:
    """Whether a value contains a float that is NaN, infinite, or so large that it may have been an integer."""
    nested: list[Any] = [obj]
    # The list grows during the loop. Texts, the largest part of a request, are skipped first.
    for value in nested:
        if type(value) in _NO_FLOAT:
            continue
        if isinstance(value, dict):
            nested += value.values()
        elif isinstance(value, (list, tuple)):
            nested += value
        elif isinstance(value, float) and not -_EXACT < value < _EXACT:
            return True
    return False


def object_text(value: Any) -> str:
    """An object as Python's `json` writes it where it can, anything else as `str`: how published sandboxes show what a
    tool returned."""
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            pass  # it holds what JSON has no form for, such as numbers of a library
    return str(cast(Any, value))


def as_object(value: Any) -> dict[str, Any]:
    """A value that is a JSON object; an empty one for anything else."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A value that is a list; an empty one for anything else."""
    return cast(list[Any], value) if isinstance(value, list) else []


def as_objects(value: Any) -> list[dict[str, Any]]:
    """The members of a list as objects, as `as_object` gives them; none for any other value."""
    return [as_object(member) for member in as_list(value)]


def values_inside(value: Any) -> Iterator[Any]:
    """A JSON value and all values in it, however deep, the outer ones first."""
    pending = [value]
    while pending:
        inner = pending.pop()
        yield inner
        pending += reversed(list(as_object(inner).values()) or as_list(inner))


def value_key(value: Any) -> Any:
    """A key of a JSON value for sets and maps: equal values have equal keys, as `==` takes them."""
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        return dict, frozenset((name, value_key(member)) for name, member in members.items())
    if isinstance(value, list):
        return list, tuple(map(value_key, cast(list[Any], value)))
    return value


def repeated_members(values: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """The members of a list that occurred in it before, with their places; 1, 1.0 and true are three values."""
    seen: set[Any] = set()
    for place, value in enumerate(values):
        key: Any = type(value), value_key(value)
        if key in seen:
            yield place, value
        seen.add(key)


T = TypeVar("T")


def read_json_lines(path: Path, noun: str = "record") -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON object of every non-blank line, after its place, such as `data.jsonl:7`. Raises DataError.

    Args:
        noun: what a line holds, for messages.
    """
    for number, record in numbered_json_lines(path, noun):
        yield f"{path}:{number}", record


def document_place(path: Path, lines: Sequence[bytes] | Sequence[str]) -> str:
    """What names a file that is one JSON value: the line that holds it where the file is JSON lines, else the file.

    Args:
        lines: of the whole file.
    """
    if path.suffix.casefold() not in (".jsonl", ".ndjson"):
        return str(path)
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    return f"{path}:{numbers[0]}" if len(numbers) == 1 else str(path)


def numbered_json_lines(path: Path, noun: str = "record") -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of every non-blank line, after its line number. Raises DataError."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines_within(lines), 1):
                if line.strip():
                    yield number, _record(line, f"{path}:{number}", noun)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _record(line: bytes, where: str, noun: str) -> dict[str, Any]:
    try:
        check_limits(line, LINE_LIMITS)
        record = loads(line.removeprefix(BOM_UTF8))
    except TooLargeError as error:
        raise DataError(f"{where}: too large to be read ({error})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 text ({error.reason}); expected JSON lines") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not a JSON object ({error}); expected one {noun} per line") from error
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected a JSON object, found {json_type(record)}")
    return cast(dict[str, Any], record)


def required_field(record: dict[str, Any], field: str, kind: type[T], where: str) -> T:
    """A field of a record. Raises DataError naming place, field, expected and found type where it is another one."""
    return checked(record.get(field), kind, f"{where}: field {field}")


def checked(value: Any, kind: type[Any], where: str, expected: str = "") -> Any:
    """A value read from a file. Raises DataError naming the place, expected and found type where it is of another one.

    Args:
        expected: what the value should be; empty for the name of its type.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = expected or _NAMES.get(kind, kind.__name__)
        raise DataError(f"{where}: expected {expected}, found {json_type(value)}")
    return value


_NAMES: dict[type, str] = {
    bool: "a boolean",
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a decimal number",
}


def json_type(value: Any) -> str:
    """What a JSON value is, in words."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        (dict, "an object"),
        (list, "a list"),
        (str, "a text"),
        ((int, float), "a number"),
    )
    return next((name for types, name in kinds if isinstance(value, types)), "null")


def canonical_json(value: Any) -> bytes:
    """JSON without blanks, keys sorted: equal values have equal bytes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # beyond 64 bits, or lone surrogates
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")
