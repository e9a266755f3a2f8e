"""Gold arguments with one mistake each, none of which another reading of the gold value allows."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from wildtool.toolcall.defaults import documented_default
from wildtool.toolcall.schema import (
    ValuePath,
    argument_parts,
    as_schema,
    enum_of,
    fits_types,
    path_text,
    required_names,
    schema_types,
)
from wildtool.toolcall.text.canonical import CJK
from wildtool.toolcall.text.identifiers import ELEMENTS, STATE_CODES
from wildtool.toolcall.text.lexicon import FUNCTION_WORDS
from wildtool.toolcall.text.numerals import chinese_number
from wildtool.toolcall.text.source_code import is_code

ArgumentMutation = tuple[str, dict[str, Any], str]
"""Kind, changed arguments, what was changed."""

_NEGATION = re.compile(r"\b(not|never|no|without)\b |不|没", re.IGNORECASE)
_LOWER_WORD = re.compile(r"(?<![\w'.@/_-])[a-z]{4,}(?![\w'@/_-]|\.\w)")
_NO_CONTENT = FUNCTION_WORDS | {"kindly", "please", "would", "like", "could", "want", "need", "about"}
_CHINESE_WORDS = re.compile("[\u4e00-\u9fff]{10,}")
_NONSENSE_TEXT = "zzyzx quuxly"


def value_mutants(arguments: dict[str, Any], parameters: Mapping[str, Any]) -> Iterator[ArgumentMutation]:
    """All single mistakes in a gold argument object.

    Args:
        parameters: the tool's parameter schema; required arguments and enums are taken from it.
    """
    for name in arguments:
        if name in required_names(parameters):
            yield "required argument left out", {k: v for k, v in arguments.items() if k != name}, name
    yield "unknown argument", {**arguments, "zz_unknown": 1}, "zz_unknown"
    for name, schema in as_schema(parameters.get("properties")).items():
        if name not in arguments:
            yield "extra optional argument", {**arguments, name: _unlike_any_default(schema)}, name
    for path, value, schema in argument_parts(arguments, parameters):
        for kind, wrong in () if isinstance(value, dict) else _wrong_values(value, schema, path_text(path)):
            if json.dumps(wrong) == json.dumps(value):
                continue  # such as an empty text made empty
            yield kind, with_value(arguments, path, wrong), f"{path_text(path)}: {value!r} -> {wrong!r}"
    yield from _swaps(arguments)


def _wrong_values(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    members = [m for m in enum_of(schema) if m != value]
    if members:
        yield "other enum member", members[0]
    if isinstance(value, bool):
        yield "wrong boolean", not value
    elif isinstance(value, int | float):
        yield "wrong number", value + 1
        yield "wrong number", -value if value else 7
    elif isinstance(value, str):
        yield from _wrong_texts(value)
        yield from overlooked_changes(value, f"{place.rpartition('.')[2]}: {schema.get('description')}")
    elif isinstance(value, list):
        yield from _wrong_lists(cast(list[Any], value))
    if isinstance(value, bool | int | float | str) and fits_types(value, schema_types(schema)):
        # If gold itself breaks its schema, the other type may be right.
        yield "wrong type", [value] if isinstance(value, str) else json.dumps(value)
    if documented_default(schema) != value:
        # Null for an optional argument omits it, which is right if gold is its default.
        yield "null for a value", None


def _wrong_texts(value: str) -> Iterator[tuple[str, str]]:
    yield "other text", _NONSENSE_TEXT
    yield "empty text", ""
    if match := re.search(r"\d(?=\D*$)", value):
        digit = str((int(match.group()) + 1) % 10)
        yield "one digit of a text", value[: match.start()] + digit + value[match.end() :]
    if match := _NEGATION.search(value):
        yield "negation dropped from a text", value[: match.start()] + value[match.end() :]
    words = value.split()
    if len(words) > 3:
        yield "last words of a text left out", " ".join(words[: len(words) // 2])
    yield from _other_content(value)


def _other_content(value: str) -> Iterator[tuple[str, str]]:
    """A content word dropped or added, in texts of at least five words or ten Chinese characters."""
    words = [match for match in _LOWER_WORD.finditer(value) if match[0] not in _NO_CONTENT]
    if len(value.split()) > 4 and words:
        longest = max(words, key=lambda match: len(match[0]))
        dropped = value[: longest.start()] + value[longest.end() :]
        yield "content word dropped from a text", " ".join(dropped.split())
        added = f"{value[: longest.start()]}urgent {value[longest.start() :]}"
        yield "content word added to a text", added
    elif characters := _CHINESE_WORDS.search(value):
        middle = characters.start() + len(characters[0]) // 2
        yield "content word dropped from a text", value[: middle - 1] + value[middle + 1 :]
        yield "content word added to a text", f"{value[:middle]}紧急{value[middle:]}"


def _wrong_lists(value: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    yield "element dropped", value[:-1]
    if value:
        yield "element repeated", [*value, value[-1]]
    if value[:1] != value[-1:]:
        yield "elements reordered", value[::-1]


def _unlike_any_default(schema: Any) -> Any:
    """A value of the parameter's type that is not its documented default."""
    definition = as_schema(schema)
    described = str(definition)
    members = enum_of(definition)
    undefaulted = [
        m
        for m in members
        if not re.search(rf"defaul\w*[^.]*{re.escape(str(m))}|默认[^。]*{re.escape(str(m))}", described)
    ]
    if undefaulted:
        return undefaulted[0]
    samples: dict[Any, Any] = {
        "integer": 987_654,
        "number": 987_654.5,
        "float": 987_654.5,
        "boolean": not re.search(r"defaul\w*[^.]*true|默认[^。]*true", described, re.IGNORECASE),
        "array": [_NONSENSE_TEXT],
        "object": {"zz_unknown": 1},
    }
    kind = definition.get("type")
    return samples.get(kind, _NONSENSE_TEXT) if isinstance(kind, str) else _NONSENSE_TEXT


def _swaps(arguments: dict[str, Any]) -> Iterator[ArgumentMutation]:
    """Two different values of one type, exchanged."""
    names = list(arguments)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            a, b = arguments[first], arguments[second]
            if type(a) is type(b) and a != b:
                yield "swapped values", {**arguments, first: b, second: a}, f"{first} and {second}"


def with_value(arguments: dict[str, Any], path: ValuePath, value: Any) -> dict[str, Any]:
    """A copy of arguments with another value at one place."""
    result = copy.deepcopy(arguments)
    place: Any = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return result


_UNITS = {
    "km": "m", "m": "km", "cm": "mm", "mm": "cm", "kg": "g", "g": "mg", "mg": "g", "l": "ml", "L": "ml", "ml": "l",
    "Mbps": "MBps", "MB": "Mb", "GB": "Gb", "mW": "MW", "mΩ": "MΩ", "kW": "kWh", "hours": "minutes", "minutes": "hours",
    "min": "s", "h": "min", "days": "weeks", "weeks": "days", "months": "days", "years": "months", "miles": "kilometers",
    "小时": "分钟", "分钟": "小时", "公里": "米", "公斤": "克", "元": "美元",
}  # fmt: skip
_UNIT = re.compile(rf"(?<=\d)( ?)({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?![A-Za-z])")
_TWO_WORDS = re.compile(
    r"\b(every|all|some|may|any|extra|black|green|dark) "
    r"(day|ready|together|time|be|one|way|ordinary|bird|board|house|room)\b"
)
"""Two words that are another word when joined: `every day` and `everyday`."""
_LONG_WORD = re.compile(r"(?<![\w@./:-])[A-Za-z]{4,}(?![\w@/:-]|\.\w)")
_RANGE = re.compile(r"(?:一两|两三|三四|三五|四五|五六|六七|七八|八九)(?=[个天位次人年月])")
_PARTS = re.compile("(?<=[土草工陆耕绿外])地|(?<=[酒网贴])吧|(?<=[目])的|(?<=[值难获])得")
"""Characters that can be particles, in words that they are a part of."""
_ELEMENT = re.compile(rf"\A(?:{'|'.join(sorted(ELEMENTS))})\Z")
_OTHER_BOUND = {"at least": "at most", "at most": "at least", "至少": "至多", "至多": "至少"}
_BOUND = re.compile(r"\bat (?:least|most)(?= [$€£]?\d)|至[少多](?=[\d一二两三四五六七八九十])", re.IGNORECASE)
_STATE = re.compile(rf"(?<=[a-z], )(?:{'|'.join(sorted(STATE_CODES))})(?=$|,? \d{{5}}\b)")
_PASSIVE = re.compile(r"\b(?:was|were|is|are) (\w+ed) by (?=the |a |an |my |his |her |[A-Z])")
_STATED = re.compile(
    r"(?!(?:what|when|where|why|how|who|whom|whose|which|is|are|was|were|am|has|have|had|does|did|do|can|could|will|would"
    rf"|should|shall|must|might|may)\b)[^?!{CJK}]*\b(?:is|are|was|were|has|have|will)\b[^?{CJK}]*\.",
    re.IGNORECASE,
)


def overlooked_changes(text: str, use: str) -> Iterator[tuple[str, str]]:
    """Kind and changed text, each of another meaning.

    Args:
        use: name and description of the parameter that the text is for.
    """
    if is_code(text, use):
        letters = (place for place, sign in enumerate(text) if sign.isascii() and sign.isalpha())
        letter = next(letters, None)
        if letter is not None:
            yield "case of a letter in code", text[:letter] + text[letter].swapcase() + text[letter + 1 :]
        return
    for kind, pattern, change in _CHANGES:
        if match := pattern.search(text):
            yield kind, text[: match.start()] + change(match) + text[match.end() :]
    if _STATED.fullmatch(text):
        yield "statement made a question", f"{text[:-1]}?"


_CHANGES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("other unit of an amount", _UNIT, lambda match: match[1] + _UNITS[match[2]]),
    ("words of a text joined", _TWO_WORDS, lambda match: match[1] + match[2]),
    ("invisible character in a word", _LONG_WORD, lambda match: f"{match[0][:2]}\u200b{match[0][2:]}"),
    ("a few made few", re.compile(r"\ba (?=few\b|little\b)"), lambda match: ""),
    ("roles of a sentence exchanged", _PASSIVE, lambda match: f"{match[1]} "),
    ("Chinese range read as a number", _RANGE, lambda match: chinese_number(match[0])),
    ("character cut from a Chinese word", _PARTS, lambda match: ""),
    ("symbol of an element in capitals", _ELEMENT, lambda match: match[0].upper()),
    ("bound of an amount turned", _BOUND, lambda match: _OTHER_BOUND[match[0].lower()]),
    ("other state behind a city", _STATE, lambda match: "OH" if match[0] == "TX" else "TX"),
)
