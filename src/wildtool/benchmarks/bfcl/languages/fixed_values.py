"""Values of Java and JavaScript under profile `fixed`: whole texts only, also over several lines and nested (Q3, Q16)."""

import re
from typing import Any

from wildtool.benchmarks.bfcl.languages.java import convert_java, guessed_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript, guessed_javascript
from wildtool.benchmarks.bfcl.languages.source_code import is_quoted
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

_WHOLE_JAVA = re.compile(
    r"new\s+(?:ArrayList<\w*>\((?:Arrays\.asList\(.*\))?\)(?:\s*\{\{.*\}\})?|\w+\[\]\s*\{.*\}"
    r"|HashMap<[^(){}]*>\s*\(\)(?:\s*\{.*\})?)",
    re.DOTALL,
)
_COLLECTIONS = frozenset({"Array", "ArrayList", "HashMap"})
_JAVA_LIST = re.compile(
    r"new\s+ArrayList<\w*>\((?:Arrays\.asList\((.*)\))?\)|new\s+\w+\[\]\s*\{(.*)\}", re.DOTALL
)
_JAVA_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.*)\}\}", re.DOTALL)
_JAVA_ADD = re.compile(r"add\((.*)\)", re.DOTALL)
_LIST = re.compile(r"(?:\[|new\s+Array\()(.*)[\])]", re.DOTALL)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`", re.DOTALL)
_MAX_LEVELS = 60


def convert_java_fully(text: str, word: str, nested: str | None = None) -> Any:
    """As the published rules convert a text that is a whole list or map, read as if it were on one line.

    Texts in lists lose their quotes and may have commas, and mixed lists have their values (Q3).
    """
    if word in _COLLECTIONS and not _WHOLE_JAVA.fullmatch(text.strip()[:MAX_CALL_CHARACTERS]):
        return text
    if word in ("Array", "ArrayList") and (elements := _java_elements(text.strip())) is not None:
        return [_java_element(element, nested) for element in elements]
    return convert_java(" ".join(text.splitlines()) if word in _COLLECTIONS else text, word, nested)


def _java_elements(text: str) -> list[str] | None:
    """The texts of a list's elements, cut outside of quotes and brackets alone; None where it is written otherwise."""
    if match := _JAVA_LIST.fullmatch(text):
        elements = _parts(match[1] or match[2] or "", ",")
        return None if elements is None else [*filter(None, elements)]
    added = _JAVA_ADDING.fullmatch(text)
    statements = _parts(added[1], ";") if added else None
    if statements is None:
        return None
    calls = [_JAVA_ADD.fullmatch(statement) for statement in statements if statement]
    return [call[1].strip() for call in calls if call] if all(calls) else None


def _java_element(text: str, nested: str | None) -> Any:
    if is_quoted(text, '"'):
        return text[1:-1]
    return guessed_java(text) if nested in (None, "any") else convert_java_fully(text, nested)


def convert_javascript_fully(text: str, word: str, nested: str | None = None) -> Any:
    """As the published rules convert a text that is a whole list or object, over any lines, with objects in objects."""
    if word not in ("array", "dict"):
        return convert_javascript(text, word, nested)
    text = text.strip()
    if len(text) > MAX_CALL_CHARACTERS:
        return text
    return _list(text, nested, 0) if word == "array" else _object(text, 0)


def _list(text: str, nested: str | None, level: int) -> Any:
    match = _LIST.fullmatch(text)
    parts = _parts(match[1], ",") if match else None
    if parts is None or level == _MAX_LEVELS:
        return text
    return [
        _list(part, None, level + 1)
        if part.startswith("[")
        else guessed_javascript(part)
        if nested is None
        else convert_javascript_fully(part, nested)
        for part in parts
        if part
    ]


def _object(text: str, level: int) -> Any:
    parts = _parts(text[1:-1], ",") if text.startswith("{") and text.endswith("}") else None
    if parts is None or level == _MAX_LEVELS:
        return text
    members: dict[str, Any] = {}
    for part in filter(None, parts):
        key, *value = _parts(part, ":") or [part]
        members[key.strip("\"'")] = _member(":".join(value), level + 1)
    return members


def _member(text: str, level: int) -> Any:
    if text.startswith("{"):
        return _object(text, level)
    return _list(text, None, level) if text.startswith("[") else guessed_javascript(text.strip("\"'"))


def _parts(text: str, sign: str) -> list[str] | None:
    """A text cut at each sign that is outside of quotes and brackets; None where a bracket has no partner."""
    parts, start, place, depth = list[str](), 0, 0, 0
    while place < len(text):
        letter = text[place]
        if letter in "\"'`" and (quoted := _QUOTED.match(text, place)):
            place = quoted.end()
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return None
        if letter == sign and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
        place += 1
    return None if depth else [*parts, text[start:].strip()]
