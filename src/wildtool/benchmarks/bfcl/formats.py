"""Other forms in which calls may be asked for (format sensitivity): JSON and two kinds of XML, in tags or not."""

import ast
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from wildtool.benchmarks.bfcl.decode import DecodeError, bracketed
from wildtool.json_codec import as_object
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS, CallSyntaxError, parse_expression

_BRACKETS = re.compile(r"\[.*\]", re.DOTALL)
_FIRST_OBJECT, _LAST_OBJECT = re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")


def decode_form(form: str, text: str, *, tagged: bool) -> list[Any]:
    """The calls of a text in one of `CALL_FORMS`.

    Args:
        tagged: whether they must be inside of `<TOOLCALL>…</TOOLCALL>`; otherwise they may be.

    Raises:
        DecodeError: they cannot be read.
    """
    if len(text) > MAX_CALL_CHARACTERS:
        raise DecodeError(f"longer than {MAX_CALL_CHARACTERS} characters")
    text = bracketed(text)
    return CALL_FORMS[form](untagged(text).strip() if tagged else text)


def untagged(text: str) -> str:
    """What is inside of `<TOOLCALL>…</TOOLCALL>`. Raises DecodeError."""
    inside = _between(text, "<TOOLCALL>", "</TOOLCALL>")
    if inside is None:
        raise DecodeError("no <TOOLCALL> around the calls")
    return inside


def _between(text: str, start: str, end: str) -> str | None:
    """The text between two signs, each at its first place; None where one is missing. In one pass."""
    _, found, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside if found and closed else None


def decode_json(text: str) -> list[Any]:
    """The first list of objects with `function` and `parameters`; none where it is no JSON.

    As published, the list ends at the first `}` before a `]`, be it that of an argument (F1).
    """
    found = _BRACKETS.search(text)
    text = found[0] if found else text
    first = _FIRST_OBJECT.search(text)
    last = _LAST_OBJECT.search(text, first.end()) if first else None
    try:
        value = json.loads(text[first.start() : last.end()] if first and last else text)
    except (ValueError, RecursionError):
        return []  # as the original, which takes any other text for a reply without calls
    return _json_calls(value)


def decode_json_fully(text: str) -> list[Any]:
    """As `decode_json`, but a list ends where it does in JSON."""
    start = re.search(r"\[\s*\{", bracketed(text))
    try:
        value, _ = json.JSONDecoder().raw_decode(bracketed(text), start.start() if start else 0)
    except (ValueError, RecursionError):
        return []
    return _json_calls(value)


def _json_calls(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DecodeError("no list of calls")
    calls: list[Any] = []
    for call in (as_object(one) for one in cast(list[Any], value) if isinstance(one, dict)):
        if not {"function", "parameters"} <= call.keys():
            raise DecodeError("a call without function or parameters")
        if not isinstance(call["function"], str):
            raise DecodeError("the name of a function is no text")
        calls.append({call["function"]: call["parameters"]})
    return calls


def _xml_calls(text: str, *, verbose: bool) -> list[Any]:
    """`<functions>`. Args: verbose: whether values are attributes of parameters, not the texts inside."""
    from xml.etree import ElementTree  # few categories need it

    inside = _between(text, "<functions>", "</functions>")
    if inside is None:
        raise DecodeError("no <functions>")
    try:  # entities that expand cannot be declared inside of an element
        root = ElementTree.fromstring(f"<functions>{inside}</functions>")
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise DecodeError(f"no XML ({error})") from error
    calls: list[Any] = []
    for function in root.findall("function"):
        name = function.get("name")
        if name is None:
            raise DecodeError("a function without a name")
        arguments: dict[str | None, Any] = {}
        inner = function.find("params") if verbose else None
        for parameter in (function if inner is None else inner).findall("param"):
            key = parameter.get("name")
            if key is None and not verbose:
                raise DecodeError("a parameter without a name")
            value = parameter.get("value", "") if verbose else (parameter.text or "").strip()
            arguments[key] = _typed(value, parameter.get("type", "string"))
        calls.append({name: arguments})
    return calls


def _typed(text: str, word: str) -> Any:
    """A value by its type word. Raises DecodeError where the text is none of the type."""
    try:
        match word:
            case "integer":
                return int(text)
            case "float":
                return float(text)
            case "boolean":
                return text.lower() == "true"
            case "null":
                return None
            case "array" | "tuple" | "object" | "dict":
                return ast.literal_eval(parse_expression(text.lstrip(" \t")))
            case _:
                return text
    except (CallSyntaxError, ValueError, TypeError, RecursionError) as error:
        raise DecodeError(f"{text!r:.60} is no {word}") from error


CALL_FORMS: Mapping[str, Callable[[str], list[Any]]] = {
    "json": decode_json,
    "verbose_xml": partial(_xml_calls, verbose=True),
    "concise_xml": partial(_xml_calls, verbose=False),
}
