"""Reads values that models write: JSON, Python literals, and damaged forms of them. Nothing is evaluated.

Each repair is named. A value that breaks off at the end of its text is not repaired, since its end is unknown; missing
brackets around complete values are.
"""

import json
import math
import re
from typing import Any, cast

from wildtool.json_codec import as_list

MAX_VALUE_DEPTH = 100
"""Levels of nesting that are read."""
MAX_STRICT_FAILURES = 64
"""Failed attempts at strict JSON in one text; each costs a count of the lines before it."""
MAX_LENIENT_VALUES = 200_000
"""Values of one text that are read with repairs; reading them takes less than half a second."""

_STRICT = json.JSONDecoder()
_SPACE = re.compile(r"\s*+")
_TEXT = {
    '"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL),
}
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
_PLAIN_ESCAPES = dict(zip("ntrbf\n\"'\\/", ("\n", "\t", "\r", "\b", "\f", "", *"\"'\\/"), strict=True))
_NUMBER = re.compile(r"-?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?(?![\w.])")
_WORD = re.compile(r"-?[^\W\d][\w.-]*+")
_MEANINGS: dict[Any, tuple[str, ...]] = {
    None: ("None", "null"),
    True: ("True", "true"),
    False: ("False", "false"),
    math.nan: ("NaN", "nan"),
    math.inf: ("Infinity", "inf"),
    -math.inf: ("-Infinity", "-inf"),
}
_CONSTANTS = {word: meaning for meaning, words in _MEANINGS.items() for word in words}
_PYTHON, _JSON = ("True", "False", "None", "nan", "inf", "-inf"), ("true", "false", "null")
_CLOSING = {"[": "]", "(": ")"}


class UnreadableValueError(ValueError):
    """No readable value."""


def strict_value_or(text: str, otherwise: Any) -> Any:
    """The value of a text that is JSON and nothing else, or the other one."""
    try:
        return _checked(json.loads(text))
    except (ValueError, RecursionError):
        return otherwise


class LenientReader:
    """Reads values anywhere in one text; all share one budget of work."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MAX_LENIENT_VALUES
        self._strict_left = MAX_STRICT_FAILURES

    def value(self, at: int) -> tuple[Any, int, list[str]]:
        """The object or list at this place (after spaces), its end, and the repairs.

        Raises:
            UnreadableValueError: it is something else; a bare word or number could be prose.
        """
        at = self.after_space(at)
        if self._text[at : at + 1] not in ("{", "["):
            raise UnreadableValueError
        if not self._strict_left:
            return self.repaired_value(at)
        try:
            value, end = _STRICT.raw_decode(self._text, at)
        except (ValueError, RecursionError):
            self._strict_left -= 1
            return self.repaired_value(at)
        return _checked(value), end, []

    def repaired_value(self, at: int) -> tuple[Any, int, list[str]]:
        """The same for any value, without trying strict JSON first."""
        self._repairs, self._depth = list[str](), 0
        value, end = self._value(self.after_space(at))
        return value, end, sorted(set(self._repairs))

    def after_space(self, at: int) -> int:
        """The first place from here on that is no space."""
        return _end(_SPACE, self._text, at)

    def _value(self, at: int) -> tuple[Any, int]:
        self._left -= 1
        if self._left < 0 or self._depth > MAX_VALUE_DEPTH:
            raise UnreadableValueError
        mark = self._text[at : at + 1]
        if mark in ('"', "'"):
            return self._quoted(at, mark)
        if mark in ("{", "[", "("):
            self._depth += 1
            value = self._object(at + 1) if mark == "{" else self._list(at + 1, mark)
            self._depth -= 1
            return value
        match = _NUMBER.match(self._text, at) or _WORD.match(self._text, at)
        if match is None or match.end() == len(self._text):
            # If the text breaks off, the rest of the number or word is unknown.
            raise UnreadableValueError
        return (_number(match[0]) if match.re is _NUMBER else self._word(match[0])), match.end()

    def _quoted(self, at: int, mark: str) -> tuple[str, int]:
        match = _TEXT[mark].match(self._text, at)
        if match is None:
            raise UnreadableValueError
        if mark == "'":
            self._repairs.append("single-quotes")
        if _CONTROL.search(match[1]):
            self._repairs.append("control-character")
        return _ESCAPE.sub(self._unescaped, match[1]), match.end()

    def _unescaped(self, match: re.Match[str]) -> str:
        high, low, *codes, plain = match.groups()
        if high:
            return chr(0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00)
        if code := next(filter(None, codes), None):
            number = int(code, 16)
            return chr(number) if number < 0x110000 else match[0]
        if plain in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[plain]
        self._repairs.append("bad-escape")
        return match[0]

    def _word(self, word: str) -> Any:
        if word in _PYTHON:
            self._repairs.append("python-literal")
        elif word in _JSON:
            self._repairs.append("json-literal")
        elif word not in _CONSTANTS:
            self._repairs.append("bare-word")
        return _CONSTANTS.get(word, word)

    def _object(self, at: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        at = self.after_space(at)
        while (end := self._closed(at, "}", bool(members))) is None:
            key, at = self._value(at)
            at = self.after_space(at)
            if not isinstance(key, str) or not self._text.startswith(":", at):
                raise UnreadableValueError
            members[key], at = self._value(self.after_space(at + 1))
            at = self._after_comma(at, "}")
        return members, end

    def _list(self, at: int, mark: str) -> tuple[list[Any], int]:
        elements: list[Any] = []
        if mark == "(":
            self._repairs.append("tuple")
        at = self.after_space(at)
        while (end := self._closed(at, _CLOSING[mark], bool(elements))) is None:
            element, at = self._value(at)
            elements.append(element)
            at = self._after_comma(at, _CLOSING[mark])
        return elements, end

    def _closed(self, at: int, closing: str, filled: bool) -> int | None:
        """The place after the closing bracket, if it is next; the end of the text closes too."""
        if self._text.startswith(closing, at):
            return at + 1
        if at < len(self._text):
            return None
        if not filled:
            raise UnreadableValueError
        self._repairs.append("missing-bracket")
        return at

    def _after_comma(self, at: int, closing: str) -> int:
        at = self.after_space(at)
        if self._text.startswith(",", at):
            at = self.after_space(at + 1)
            if self._text.startswith(closing, at):
                self._repairs.append("trailing-comma")
        elif at < len(self._text) and not self._text.startswith(closing, at):
            raise UnreadableValueError
        return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _number(text: str) -> int | float:
    try:
        return float(text) if re.search("[.eE]", text) else int(text)
    except ValueError:
        # Thousands of digits, which Python refuses because they are slow.
        raise UnreadableValueError from None


def _checked(value: Any) -> Any:
    """The value, unless it is nested too deeply to be written again."""
    level: list[Any] = [value]
    for _ in range(MAX_VALUE_DEPTH + 2):
        level = [part for node in level for part in _parts(node)]
        if not level:
            return value
    raise UnreadableValueError


def _parts(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(cast("dict[str, Any]", node).values())
    return as_list(node)
