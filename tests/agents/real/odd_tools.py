"""Tools that frameworks like to rewrite, calls that they like to repair, and a model that makes them. It needs nothing
but Python, so that each framework's own environment can import it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Message = dict[str, Any]
LONG = "organisation_directory_service__find_the_employee_by_her_or_his_personnel_number_v2"
"""A name of more than 64 characters."""
RESERVED = (
    "from",
    "self",
    "def",
    "x-y",
    "ctx",
    "context",
    "tool_context",
    "name",
    "config",
    "input",
    "call_id",
)


def _schema(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required), **more}


_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}
_LINE = _schema(
    {
        "sku": {"type": "string", "pattern": "^[A-Z]+$"},
        "qty": _WHOLE,
        "kind": {"type": "string", "enum": ["a", "b"]},
    },
    "sku",
    "qty",
)
_ORDER = _schema(
    {"lines": {"type": "array", "items": _LINE, "minItems": 1}, "note": {"type": ["string", "null"]}},
    "lines",
    additionalProperties=False,
)
SCHEMAS: Mapping[str, tuple[str, dict[str, Any] | None]] = {
    "files.read": ('Reads.\n\n  {braces}, "quotes", 中文。 ', _schema({"path": _TEXT}, "path")),
    LONG: ("A long name.", _schema({"number": _WHOLE}, "number")),
    "no_properties": ("Takes nothing.", _schema({})),
    "no_parameters": ("Says nothing of what it takes.", None),
    "no_description": ("", _schema({"x": _TEXT}, "x")),
    "查询天气": (
        "查询天气（中文名）",
        _schema({"城市": _TEXT, "days": {**_WHOLE, "default": 3, "maximum": 7}}, "城市"),
    ),
    "nested": (
        "Nested.",
        _schema(
            {
                "order": _ORDER,
                "mode": {"enum": ["fast", 2, None]},
                "when": {"anyOf": [{"type": "string", "format": "date"}, _WHOLE]},
                "flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
            },
            "order",
            title="Nested arguments",
        ),
    ),
    "references": (
        "Has $defs.",
        _schema(
            {"p": {"$ref": "#/$defs/P"}, "q": {"oneOf": [{"$ref": "#/$defs/P"}, {"type": "null"}]}},
            "p",
            **{"$defs": {"P": _schema({"x": {"type": "number"}}, "x")}},
        ),
    ),
    "odd_types": (
        "Types that JSON Schema lacks.",
        _schema({"amount": {"type": "float"}, "rest": {"type": "any"}}, "amount"),
    ),
    "reserved": ("Names of Python.", _schema(dict.fromkeys(RESERVED, _TEXT), "from")),
    "add": (
        "Adds.",
        _schema(
            {"a": _WHOLE, "b": _WHOLE, "unit": {"type": "string", "enum": ["m", "s"], "default": "m"}},
            "a",
            "b",
        ),
    ),
}
"""By name a tool's description and parameters."""
NESTED = {
    "order": {"lines": [{"sku": "AB", "qty": 2, "kind": "b"}], "note": None},
    "mode": 2,
    "when": "2025-01-01",
    "flags": {"z": True, "a": False},
}
CALLS: Mapping[str, tuple[str, Any, str]] = {
    "dot": ("files.read", {"path": "/a b/ü.txt"}, 'line1\nline2 "q" 中文 \\n'),
    "long": (LONG, {"number": 7}, '{"name": "Żółć", "n": 1.0}'),
    "nothing": ("no_properties", {}, '{"ok":true}'),
    "unsaid": ("no_parameters", {}, "[]"),
    "undescribed": ("no_description", {"x": ""}, ""),
    "chinese": ("查询天气", {"城市": "北京"}, '{"天气": "晴"}'),
    "nested": ("nested", NESTED, '{"id": 12345678901234567890}'),
    "references": ("references", {"p": {"x": 1.0}, "q": None}, "null"),
    "types": ("odd_types", {"amount": 12.5, "rest": [1, "a", None]}, "42"),
    "reserved": ("reserved", {name: name.upper() for name in RESERVED}, '<b>html & "x"</b>'),
    "text-for-number": ("add", {"a": "1", "b": 2}, "sum"),
    "missing": ("add", {"a": 1}, "sum"),
    "extra": ("add", {"a": 1, "b": 2, "zzz": 3}, "sum"),
    "choice": ("add", {"a": 1, "b": 2, "unit": "parsec"}, "sum"),
    "fraction": ("add", {"a": 1.0, "b": 2}, "sum"),
    "null": ("add", {"a": None, "b": 2}, "sum"),
}
"""By id of a case the tool that is called, its arguments and its result."""


def tool(name: str) -> dict[str, Any]:
    """A tool in OpenAI's shape."""
    description, parameters = SCHEMAS[name]
    function: dict[str, Any] = {"name": name}
    function |= {"description": description} if description else {}
    function |= {"parameters": parameters} if parameters else {}
    return {"type": "function", "function": function}


def cases() -> list[dict[str, Any]]:
    """A case for each call, in the format of own cases. Whatever the arguments are, the tool has an answer."""
    return [
        {
            "id": case,
            "input": f"Case {case}.",
            "tools": [tool(name)],
            "expect": [{"name": name, "returns": result}],
        }
        for case, (name, _, result) in CALLS.items()
    ]


def model(messages: Sequence[Message], tools: Sequence[Message]) -> Message | str:
    """Makes the call of the case, and then answers, by a tool for answers where there is one."""
    texts = [(message["role"], "".join(_texts(message.get("content")))) for message in messages]
    case = next(
        case for case in CALLS if any(f"Case {case}." in text for role, text in texts if role != "system")
    )
    called = any(role == "tool" or text.startswith(("Observation", "Error")) for role, text in texts)
    if not called:
        name, arguments, _ = CALLS[case]
        return _call(name, arguments)
    names = [tool["function"]["name"] for tool in tools]
    return _call("final_answer", {"answer": "Done."}) if "final_answer" in names else "Done."


def _call(name: str, arguments: Any) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {
        "role": "assistant",
        "tool_calls": [{"id": f"call_{name[:8]}", "type": "function", "function": function}],
    }


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        yield part.get("text") or ""
