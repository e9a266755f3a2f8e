"""Function documents as a model sees them: native tools, or documents in the prompt, with a hint at the language."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.bfcl.categories import Language
from wildtool.json_codec import as_object
from wildtool.types import Tool

_JSON_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("string", "char", "any", "Any", "String"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""Type words to JSON schema's; any other is a string."""
_FLOAT_NOTE = " This is a float type value."
_HINTS: Mapping[Language, str] = {
    "python": " Values are written as in Python 3.",
    "java": " Values are written as in Java 8.",
    "javascript": " Values are written as in JavaScript.",
}


def native_name(name: str) -> str:
    """A function's name as native endpoints take it."""
    return name.replace(".", "_")


def openai_tools(functions: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """Function documents as tools in OpenAI's shape."""
    tools: list[Tool] = []
    for document in functions:
        function = copy.deepcopy(dict(document))
        function["name"] = native_name(function["name"])
        function["parameters"]["type"] = "object"
        _to_json_schema(as_object(function["parameters"].get("properties")))
        tools.append({"type": "function", "function": function})
    return tools


def _json_type(word: Any) -> str:
    return _JSON_TYPES.get(word, "string") if isinstance(word, str) else "string"


def _to_json_schema(properties: dict[str, Any]) -> None:
    for schema in map(as_object, properties.values()):
        if schema.get("type") == "float":
            schema["format"] = "float"
            schema["description"] = f"{schema.get('description', '')}{_FLOAT_NOTE}"
        schema["type"] = _json_type(schema.get("type", "string"))
        if schema["type"] not in ("array", "object"):
            continue
        if "properties" in schema:
            _to_json_schema(as_object(schema["properties"]))
        elif "items" in schema:
            _convert_items(as_object(schema["items"]))


def _convert_items(items: dict[str, Any]) -> None:
    items["type"] = _json_type(items.get("type", "string"))
    if items["type"] == "array" and "items" in items:
        inner = as_object(items["items"])
        inner["type"] = _json_type(inner.get("type", "string"))
    elif items["type"] == "object" and "properties" in items:
        _to_json_schema(as_object(items["properties"]))


def hinted(functions: Sequence[Mapping[str, Any]], language: Language) -> list[dict[str, Any]]:
    """Function documents that name the language. In Java and JavaScript every value is a text, its type in words."""
    documents: list[dict[str, Any]] = []
    for document in functions:
        changed = copy.deepcopy(dict(document))
        changed["description"] = f"{changed.get('description', '')}{_HINTS[language]}"
        if language != "python":
            for schema in map(as_object, as_object(changed["parameters"].get("properties")).values()):
                _as_text(schema, "Java" if language == "java" else "JavaScript")
        documents.append(changed)
    return documents


def _as_text(schema: dict[str, Any], language: str) -> None:
    parts = [
        schema.get("description", ""),
        f"A {language} value of type {schema.get('type')}, written as text.",
    ]
    if "items" in schema:
        parts.append(f"Its elements are of type {as_object(schema.pop('items')).get('type')}.")
    if "properties" in schema:
        parts.append(f"Its members: {json.dumps(schema.pop('properties'), ensure_ascii=False)}.")
    schema["description"] = " ".join(part for part in parts if part)
    schema["type"] = "string"
