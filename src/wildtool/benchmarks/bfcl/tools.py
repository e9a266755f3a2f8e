"""Function documents as a model sees them: native tools, or documents in the prompt, with a hint at the language."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.bfcl.categories import Language
from wildtool.benchmarks.bfcl.data import native_name
from wildtool.benchmarks.bfcl.originals import ValueHints, original_texts
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
_LISTS: Mapping[Language, Sequence[str]] = {"java": ("ArrayList", "Array"), "javascript": ("array",)}


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
    """Function documents that name the language, in the original's words. In Java and JavaScript every value is a text,
    its type in words.

    Raises:
        DataError: the words were not pulled.
    """
    texts = original_texts()
    hints = texts.value_hints.get(language)
    documents: list[dict[str, Any]] = []
    for document in functions:
        changed = copy.deepcopy(dict(document))
        changed["description"] = f"{changed.get('description', '')}{texts.language_hints[language]}"
        if hints is not None:
            for schema in map(as_object, as_object(changed["parameters"].get("properties")).values()):
                _as_text(schema, hints, _LISTS[language])
        documents.append(changed)
    return documents


def _as_text(schema: dict[str, Any], hints: ValueHints, lists: Sequence[str]) -> None:
    word = schema.get("type")
    added = [hints.any if word == "any" else hints.typed.format(word)]
    if word in lists and "items" in schema:
        added.append(hints.elements.format(as_object(schema.pop("items")).get("type")))
    if word == "dict" and hints.members and "properties" in schema:
        added.append(hints.members.format(json.dumps(schema.pop("properties"))))
    schema["description"] = f"{schema.get('description', '')}{''.join(added)}"
    schema["type"] = "string"
