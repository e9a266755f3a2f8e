"""The texts that the original sends: read from the published package, which is not run, and put together."""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from wildtool.benchmarks.bfcl.categories import Language
from wildtool.benchmarks.bfcl.package import package_file
from wildtool.benchmarks.bfcl.prompt_forms import DEFAULT_FORM, Documents, PromptForm, documents_text
from wildtool.benchmarks.bfcl.records import native_name
from wildtool.benchmarks.json_copy import json_copy
from wildtool.data.prompt_files import Constants, parse_module, read_constants
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.types import Tool

_PROMPTS, _HINTS = "bfcl_eval/constants/default_prompts.py", "bfcl_eval/utils.py"
_CONSTANTS = (
    "OUTPUT_FORMAT_MAPPING",
    "PARAM_TYPE_MAPPING",
    "PROMPT_STYLE_TEMPLATES",
    "PROMPT_TEMPLATE_MAPPING",
    "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC",
    "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING",
    "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT",
    "MEMORY_AGENT_SETTINGS",
    "MEMORY_BACKEND_INSTRUCTION_UNIFIED",
    "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL",
)
_LANGUAGE, _VALUES = "_get_language_specific_hint", "_func_doc_language_specific_pre_processing"
"""Functions whose texts are read: what each returns, and what it adds to a text."""


@dataclass(frozen=True, slots=True)
class ValueHints:
    """What descriptions of parameters say in Java and JavaScript, `{}` standing for what is filled in."""

    any: str
    """Of a value of any type."""
    typed: str
    """Of any other, with its type."""
    elements: str
    """Of a list, with the type of its elements."""
    members: str = ""
    """Of an object, with the schemas of its members; empty where they are left in the schema."""


@dataclass(frozen=True, slots=True)
class OriginalTexts:
    """The original's texts."""

    constants: Constants
    language_hints: Mapping[Language, str]
    """What the description of each function says about the language."""
    value_hints: Mapping[Language, ValueHints]

    @property
    def answer_form(self) -> str:
        """How the final answer of an agentic entry is to be written."""
        return self.constants["ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"]

    @property
    def notice(self) -> str:
        """What the user says in the turn in which withheld functions are supplied as tools."""
        return self.constants["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"]

    def written_notice(self, added: Sequence[Mapping[str, Any]]) -> str:
        """The same where functions are supplied in the message."""
        text: str = self.constants["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING"]
        return text.format(functions=list(added))

    def memory(self, scenario: str, content: str, *, unified: bool) -> str:
        """The system prompt of a conversation with a memory. Raises DataError for a scenario that has none.

        Args:
            content: what of the memory is always shown.
            unified: whether it is one memory; otherwise a small one that is shown and a large one.
        """
        settings = as_object(self.constants["MEMORY_AGENT_SETTINGS"])
        if scenario not in settings:
            raise DataError(f"scenario {scenario!r}: expected one of {', '.join(settings)}")
        text: str = self.constants[f"MEMORY_BACKEND_INSTRUCTION_{'UNIFIED' if unified else 'CORE_ARCHIVAL'}"]
        return text.format(scenario_setting=settings[scenario], memory_content=content)

    def system_prompt(self, documents: Documents, form: PromptForm = DEFAULT_FORM) -> str:
        """The system prompt with these functions."""
        texts = self.constants
        parts: Mapping[str, str] = texts["PROMPT_STYLE_TEMPLATES"][form.style]
        filled = {
            "format": form.documents,
            "functions": documents_text(documents, form.documents),
            "output_format": texts["OUTPUT_FORMAT_MAPPING"][form.calls],
            "param_types": texts["PARAM_TYPE_MAPPING"][form.calls],
        }
        pieces = {name: text.format(**filled) for name, text in parts.items()}
        pieces["tool_call_format"] = pieces["tool_call_with_tag" if form.tagged else "tool_call_no_tag"]
        return texts["PROMPT_TEMPLATE_MAPPING"][form.layout].format(**pieces)


def original_texts() -> OriginalTexts:
    """The texts from the package that was pulled. Raises DataError where it was not, or is damaged."""
    return _read(package_file("v4"))


@cache
def _read(package: Path) -> OriginalTexts:
    try:
        with ZipFile(package) as files:
            prompts, hints = (files.read(name).decode("utf-8") for name in (_PROMPTS, _HINTS))
    except FileNotFoundError as error:
        raise DataError(
            f"the texts that BFCL sends are not at {package}; get them with `wildtool data pull bfcl`"
        ) from error
    except (OSError, BadZipFile, KeyError, ValueError) as error:
        raise DataError(f"{package}: cannot be read ({error}); remove it and pull it again") from error
    tree = parse_module(hints, _HINTS)
    languages: tuple[Language, ...] = ("java", "javascript", "python")
    values = _texts_of(tree, _VALUES, ast.AugAssign)
    return OriginalTexts(
        read_constants(prompts, _CONSTANTS, _PROMPTS),
        dict(zip(languages, _texts_of(tree, _LANGUAGE, ast.Return), strict=True)),
        {"java": ValueHints(*values[:3]), "javascript": ValueHints(*values[3:])},
    )


def _texts_of(tree: ast.Module, name: str, kind: type[ast.AugAssign | ast.Return]) -> list[str]:
    """The texts in the statements of one kind in a function, in order, `{}` in place of what is filled in."""
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    nodes = [node for node in ast.walk(function) if isinstance(node, kind)]
    values = [node.value for node in sorted(nodes, key=lambda node: node.lineno)]
    return [_template(value) for value in values if isinstance(value, ast.Constant | ast.JoinedStr)]


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


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
        function: dict[str, Any] = json_copy(dict(document))
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
    if items["type"] == "array":
        inner = as_object(items.get("items"))
        inner["type"] = _json_type(inner.get("type", "string"))
    elif items["type"] == "object":
        _to_json_schema(as_object(items.get("properties")))


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
        # In Python only the description of the function itself is another one.
        edited: dict[str, Any] = {**document} if hints is None else json_copy(dict(document))
        edited["description"] = f"{edited.get('description', '')}{texts.language_hints[language]}"
        if hints is not None:
            for schema in map(as_object, as_object(edited["parameters"].get("properties")).values()):
                _as_text(schema, hints, _LISTS[language])
        documents.append(edited)
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
