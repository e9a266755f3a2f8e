"""Reads definitions of tools in every shape people have, each by its own keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from wildtool.json_codec import LINE_LIMITS, as_list, as_object, as_objects, loads_within
from wildtool.shapes.keys import (
    FUNCTION,
    MAP_KEYS,
    NAME_KEYS,
    RESULT_SCHEMA_KEYS,
    SCHEMA_KEYS,
    SCHEMA_WRAPPERS,
    TOOL_LISTS,
    TOOL_WRAPPERS,
    TOOLS_KEYS,
)
from wildtool.shapes.reading import Reading, did_you_mean, of_json, resembles
from wildtool.types import Tool

_TYPES: Mapping[str, str] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}
"""Words for types that are no JSON Schema, and what they mean."""
_NO_SCHEMA = frozenset(
    {
        *RESULT_SCHEMA_KEYS,
        "_meta",
        "annotations",
        "cache_control",
        "examples",
        "execution",
        "extras",
        "icons",
        "input_examples",
        "metadata",
        "providerOptions",
        "securitySchemes",
        "type",
    }
)
"""Keys of a definition whose values may look like a schema of parameters, and are none."""
_OF_OPENAI = frozenset({"name", "description", "parameters", "strict"})
_KEYWORDS = ("$ref", "$schema", "anyOf", "oneOf", "allOf", "additionalProperties")
"""Keywords that a schema may have instead of `type` and `properties`."""
_WORDS_OF_RESULTS = ("output", "result", "return", "response")
"""Parts of keys under which people keep what a tool returns."""
_WORDS_OF_PARAMETERS = ("param", "arg", "input", "json", "schema", "propert")
"""Parts of keys under which people keep parameters."""
_SUBSCHEMAS = frozenset(
    {
        *_KEYWORDS,
        "$defs",
        "const",
        "contains",
        "default",
        "definitions",
        "dependencies",
        "dependentSchemas",
        "else",
        "enum",
        "example",
        "examples",
        "if",
        "items",
        "maxProperties",
        "minProperties",
        "not",
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedProperties",
    }
)
"""Keywords whose values may look like parameters, and are none of the schema that they stand in."""
_OF_TOOLS = frozenset({*NAME_KEYS, *SCHEMA_KEYS, *_NO_SCHEMA, "description", "required", "strict", "title"})
"""Keys that a definition without parameters may have."""
_DOCUMENTS: Mapping[str, str] = {
    "discoveryVersion": "a Google Discovery document",
    "openapi": "an OpenAPI document",
    "swagger": "an OpenAPI document",
    "asyncapi": "an AsyncAPI document",
    "mcpServers": "the configuration of MCP servers",
    "$schema": "a JSON Schema",
}
"""Keys by which a document tells that it is no tool."""
_DISCOVERY_KIND = "discovery#"
"""How the `kind` of a Google Discovery document begins."""


def tool_name(tool: Mapping[str, Any]) -> str:
    """The name of a tool, or of a call, in OpenAI's shape; empty where it has none."""
    name = as_object(tool.get("function")).get("name")
    return name if isinstance(name, str) else ""


def call_names(message: Mapping[str, Any]) -> list[str]:
    """The name of each call of a message in OpenAI's shape; empty for a call without one."""
    return [tool_name(call) for call in as_objects(message.get("tool_calls"))]


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool in OpenAI's shape, and what this shape has no place for."""

    tool: Tool
    returns: Mapping[str, Any] | None = None
    """The schema of its results, where the definition has one."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition as it was found, without what is around it."""

    name: str
    inner: Mapping[str, Any]
    """What holds description and parameters."""
    wrapper: str | None
    """The key that held it, such as `function`; None for a bare one."""
    around: Mapping[str, Any]
    """The other keys beside the wrapper."""
    reading: Reading
    """Its place."""

    def parameters(self) -> Any:
        """What says which parameters it has, as it was found; None if nothing does.

        Raises:
            ShapeError: it stands under a key that no shape has, or under two keys that differ.
        """
        inner, reading = self.inner, self.reading
        given = {key: inner[key] for key in SCHEMA_KEYS if inner.get(key) is not None}
        if not given:
            self._check_nothing_is_hidden(says_none=False)
            return None
        (first, schema), *others = given.items()
        for key, other in others:
            if other != schema:
                reading.fail(f"both `{first}` and `{key}` hold parameters, and they differ; keep one of them")
        if not isinstance(schema, dict):
            return schema
        held = _unwrapped(as_object(schema))
        _check_schema(held, first, reading)
        if not held.get("properties") and not any(key in held for key in _KEYWORDS):
            self._check_nothing_is_hidden(says_none=True)
        return held

    def _check_nothing_is_hidden(self, *, says_none: bool) -> None:
        """Raises ShapeError for a definition without parameters that holds something like them under another key.

        Args:
            says_none: whether it has a key of parameters, which is empty. Then an object under a key that does not sound
                like parameters is none.
        """
        beside = next((key for key in self.around if _looks_like_parameters(key, self.around[key])), None)
        if beside is not None:
            self.reading.fail(f"`{beside}` is beside `{self.wrapper}`; expected it inside")
        for key, value in self.inner.items():
            may_hold_them = not says_none or any(word in key.casefold() for word in _WORDS_OF_PARAMETERS)
            if key not in SCHEMA_KEYS and may_hold_them and _looks_like_parameters(key, value):
                meant = did_you_mean(key, SCHEMA_KEYS)
                self.reading.fail(f"`{key}` looks like its parameters, but no shape has this key; {meant}")

    @property
    def parameters_key(self) -> str:
        """The key of its parameters."""
        return next((key for key in SCHEMA_KEYS if self.inner.get(key) is not None), "")


def read_tools(value: Any, reading: Reading) -> list[FoundTool]:
    """The tools in a value: a list, one definition, an object that holds a list, definitions by name, or the JSON text of
    one of these. Nothing at all, or null, holds none.

    Raises:
        ShapeError: something in it is no tool, or holds parameters under a key that no shape has.
    """
    return [_tool(definition) for definition in definitions(value, reading)]


def definitions(value: Any, reading: Reading) -> Iterator[Definition]:
    """The definitions in a value, as `read_tools` finds them, before their parameters are read. Raises ShapeError."""
    value = _parsed(value, reading)
    if value is None:
        return
    if isinstance(value, list):
        for number, entry in enumerate(cast(list[Any], value), 1):
            yield from entry_definitions(entry, reading.at(f"entry {number}"))
        return
    if not isinstance(value, dict):
        reading.fail(f"expected a list of tools, found {_short(value)}")
    held = cast(Mapping[str, Any], value)
    if not held:
        return
    if document := _document(held):
        reading.fail(f"this is {document}, no definition of a tool")
    lists: list[Any] = [held[key] for key in ("result", *TOOL_LISTS, *TOOLS_KEYS) if key in held]
    if lists and "name" not in held:
        for number, each in enumerate(lists):
            if each not in lists[:number]:
                yield from definitions(each, replace(reading, anything=False))
    elif _is_definition(held):
        yield _definition(held, reading)
    elif all(map(_is_named_definition, held.values())):
        yield from (_definition({"name": name, **held[name]}, reading) for name in held)
    else:
        keys = ", ".join(list(held)[:12])
        reading.fail(f"no tool: it has the keys {keys}; expected `name` and `parameters`")


def _parsed(value: Any, reading: Reading) -> Any:
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return loads_within(value, LINE_LIMITS)
    except ValueError as error:
        reading.fail(f"the tools are a text that is not JSON ({error}); expected a list of tools")


def looks_like_tools(value: Any) -> bool:
    """Whether a value is a definition with parameters, holds one a few levels deep, or is the JSON text of either."""
    return _holds_definition(of_json(value), 4)


def _holds_definition(value: Any, levels: int) -> bool:
    if levels == 0:
        return False
    held = as_object(value)
    if any(_looks_like_parameters(key, held[key]) for key in SCHEMA_KEYS if key in held):
        return True
    return any(_holds_definition(inner, levels - 1) for inner in as_list(value) or held.values())


def read_entry(entry: Any, reading: Reading) -> list[FoundTool]:
    """The tools of one entry of a list; Gemini's hold several, a vendor's own tools none. Raises ShapeError as
    `read_tools`."""
    return [_tool(definition) for definition in entry_definitions(entry, reading)]


def entry_definitions(entry: Any, reading: Reading) -> Iterator[Definition]:
    """As `definitions`, of one entry of a list."""
    entry = _parsed(entry, reading)
    if isinstance(entry, list):
        yield from definitions(entry, reading)
        return
    if not isinstance(entry, dict):
        reading.broken(f"expected an object, found {_short(entry)}")
    held = cast(Mapping[str, Any], entry)
    lists = [held[key] for key in TOOL_LISTS if key in held]
    if lists:
        for inner in lists:
            yield from definitions(inner, reading)
    elif _name_around(held):
        name = _name_around(held)
        yield _definition({"name": name, **held[name]}, reading)
    elif _is_of_vendor(held):
        reading.lose(f"built-in tool {held.get('type') or next(iter(held), '')}")
    else:
        yield _definition(held, reading)


def _document(held: Mapping[str, Any]) -> str:
    """What kind of document an object is that is no tool; empty for any other."""
    if str(held.get("kind")).startswith(_DISCOVERY_KIND):
        return _DOCUMENTS["discoveryVersion"]
    return next((named for key, named in _DOCUMENTS.items() if key in held), "")


def _is_definition(held: Mapping[str, Any]) -> bool:
    return any(isinstance(held.get(key), dict) for key in TOOL_WRAPPERS) or isinstance(held.get("name"), str)


def _is_named_definition(value: Any) -> bool:
    """Whether a value is what a definition has beside its name."""
    held = as_object(value)
    return isinstance(value, dict) and (not held or any(key in held for key in ("description", *SCHEMA_KEYS)))


def _name_around(held: Mapping[str, Any]) -> str:
    """The name of the one definition that stands under it; empty for all else."""
    (name, *others) = held or ("",)
    inner = as_object(held.get(name))
    is_definition = any(_looks_like_parameters(key, value) for key, value in inner.items())
    return name if not others and name not in TOOL_WRAPPERS and is_definition else ""


def _is_of_vendor(held: Mapping[str, Any]) -> bool:
    """Whether an entry switches on something that the vendor runs itself, such as a web search: it has a type of its own
    or one object alone, and no parameters."""
    if any(key in held for key in (*TOOL_WRAPPERS, *SCHEMA_KEYS)):
        return False
    kind = held.get("type")
    if isinstance(kind, str) and kind not in (FUNCTION, "custom"):
        return True
    return len(held) == 1 and "name" not in held and isinstance(next(iter(held.values())), dict)


def _definition(entry: Mapping[str, Any], reading: Reading) -> Definition:
    wrapper = next((key for key in TOOL_WRAPPERS if isinstance(entry.get(key), dict)), None)
    inner = entry if wrapper is None else as_object(entry[wrapper])
    name = next((inner[key] for key in NAME_KEYS if isinstance(inner.get(key), str) and inner[key]), None)
    if name is None:
        keys = ", ".join(list(inner)[:12]) or "nothing"
        reading.broken(f"a tool has no `name`; it has {keys}")
    here = reading.at(f"tool {name!r}")
    if wrapper is None and reading.anything:
        _check_is_tool(entry, here)
    around = {key: value for key, value in entry.items() if key != wrapper and wrapper is not None}
    return Definition(name, inner, wrapper, around, here)


def _check_is_tool(entry: Mapping[str, Any], reading: Reading) -> None:
    """Raises ShapeError for an object that has a name as a tool has, and is something else."""
    if document := _document(entry):
        reading.fail(f"this is {document}, no definition of a tool")
    if any(entry.get(key) is not None for key in SCHEMA_KEYS):
        return
    foreign = [key for key in entry if key not in _OF_TOOLS]
    # What looks like parameters is named as such.
    if foreign and not any(_looks_like_parameters(key, entry[key]) for key in foreign):
        keys = ", ".join(f"`{key}`" for key in foreign[:6])
        reading.fail(
            f"no tool: it has no parameters, but {keys}, which no tool has; a tool that takes none has `parameters`: {{}}"
        )


def _tool(definition: Definition) -> FoundTool:
    """A definition in OpenAI's shape. One that has this shape keeps its keys and their order."""
    reading, inner = definition.reading, definition.inner
    parameters = definition.parameters()
    function: dict[str, Any] = {}
    for key, value in inner.items():
        if key in NAME_KEYS:
            function.setdefault("name", definition.name)
        elif key == definition.parameters_key:
            function["parameters"] = _read_schema(parameters, key, reading)
        elif key in SCHEMA_KEYS or key in RESULT_SCHEMA_KEYS:
            continue
        elif definition.wrapper == FUNCTION or key in _OF_OPENAI:
            function[key] = value
        elif key != "type" and value is not None:
            reading.lose(f"key {key} of a tool")
    returns = next((as_object(inner[key]) for key in RESULT_SCHEMA_KEYS if as_object(inner.get(key))), None)
    around = dict(definition.around) if definition.wrapper == FUNCTION else dict[str, Any]()
    return FoundTool(
        {"type": FUNCTION, **around, FUNCTION: function}, _unwrapped(returns) if returns else None
    )


def _read_schema(value: Any, key: str, reading: Reading) -> Any:
    if isinstance(value, str):
        try:
            value = loads_within(value, LINE_LIMITS)
        except ValueError as error:
            reading.fail(f"`{key}` is a text that is not JSON ({error}); expected a JSON Schema")
    if not isinstance(value, dict):
        reading.fail(f"`{key}` must be a JSON Schema, found {_short(value)}")
    held = _unwrapped(cast(Mapping[str, Any], value))
    _check_schema(held, key, reading)
    is_schema = key not in MAP_KEYS or _is_schema(held)
    return _json_schema(held) if is_schema else _schema_of_map(held, reading)


def _check_schema(held: Mapping[str, Any], key: str, reading: Reading) -> None:
    """Raises ShapeError for a value of `key` that holds parameters where neither a JSON Schema nor a map has them."""
    if not _is_schema(held):
        if _is_around_schema(held) or (
            key not in MAP_KEYS and any(isinstance(part, dict) for part in held.values())
        ):
            reading.fail(f"`{key}` must be a JSON Schema of an object; it has {', '.join(list(held)[:12])}")
        return
    for name, part in as_object(held.get("properties")).items():
        if _is_map_of_schemas(as_object(part)):
            reading.fail(f"parameters are in `{name}` of `properties`; expected them in `properties` itself")
    if held.get("properties") is not None:
        return
    for name, value in held.items():
        looks_like = as_object(value).keys() & {"type", "properties"} or _looks_like_parameters(name, value)
        if name not in _SUBSCHEMAS and (looks_like or resembles(name, ["properties"])):
            reading.fail(f"`{name}` is in `{key}`; expected it in, or instead of, `properties`")


def _is_around_schema(held: Mapping[str, Any]) -> bool:
    """Whether an object has nothing but a schema under another key. Whoever writes a map of parameters describes them."""
    (name, *others) = held
    inner = as_object(held[name])
    says_so = "schema" in name.casefold() or name in SCHEMA_KEYS
    is_schema = isinstance(inner.get("properties"), dict) and (says_so or "description" not in inner)
    return not others and is_schema


def _is_map_of_schemas(held: Mapping[str, Any]) -> bool:
    """Whether an object where a schema is expected has schemas under names that are no keywords."""
    names_schemas = all("type" in as_object(part) for part in held.values())
    return bool(held) and names_schemas and not held.keys() & (_SUBSCHEMAS | {"properties"})


def _is_schema(held: Mapping[str, Any]) -> bool:
    """Whether an object is a JSON Schema, and no map from each parameter to what is said of it."""
    properties = held.get("properties")
    if isinstance(properties, dict):
        return all(isinstance(part, dict | bool | None) for part in cast(dict[str, Any], properties).values())
    return not held or isinstance(held.get("type"), str | list) or any(key in held for key in _KEYWORDS)


def _unwrapped(held: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without the key that Bedrock and the Vercel AI SDK put around it."""
    key = next((key for key in SCHEMA_WRAPPERS if isinstance(held.get(key), dict)), None)
    if key is None or "properties" in held:
        return held
    # A map of parameters may have one of this name.
    is_map = any("type" in as_object(part) for name, part in held.items() if name != key)
    inner = as_object(held[key])
    return held if is_map or inner.get("type") not in (None, "object", "OBJECT") else inner


def _json_schema(schema: Any) -> Any:
    """A schema whose types are JSON Schema's, as Gemini's in capitals are not; the same object where nothing changes."""
    if isinstance(schema, list):
        return [_json_schema(part) for part in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    held = cast(dict[str, Any], schema)
    changed = {key: _json_keyword(key, value) for key, value in held.items()}
    return held if all(changed[key] is held[key] for key in held) else changed


def _json_keyword(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str) and value.isupper():
        return value.lower()
    if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
        parts = cast(dict[str, Any], value)
        changed = {name: _json_schema(part) for name, part in parts.items()}
        return parts if all(changed[name] is parts[name] for name in parts) else changed
    if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
        return _json_schema(value)
    if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
        branches = cast(list[Any], value)
        read = [_json_schema(part) for part in branches]
        return branches if all(a is b for a, b in zip(read, branches, strict=True)) else read
    return value


def _schema_of_map(parameters: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """The schema of a map from each parameter to what is said of it; one without `required`, `nullable` or a default is
    required where no parameter says which are."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    says = any("required" in as_object(part) for part in parameters.values())
    for name, part in parameters.items():
        if isinstance(part, str):
            part = {"type": part}
        if not isinstance(part, dict):
            reading.fail(f"parameter {name!r} must be an object with its type, found {_short(part)}")
        said = as_object(part)
        is_optional = said.get("nullable") is True or "default" in said
        if said.get("required") is True if says else not is_optional:
            required.append(name)
        kept = {key: value for key, value in said.items() if key not in ("required", "nullable")}
        if isinstance(kept.get("type"), str):
            kept["type"] = _TYPES.get(kept["type"].lower(), kept["type"])
        properties[name] = kept
    return {"type": "object", "properties": properties, "required": required}


def _looks_like_parameters(key: str, value: Any) -> bool:
    if key in _NO_SCHEMA or any(word in key.casefold() for word in _WORDS_OF_RESULTS):
        return False
    value = of_json(value)
    held = as_object(value)
    if (
        isinstance(held.get("properties"), dict)
        or str(held.get("type")).lower() == "object"
        or "$ref" in held
    ):
        return True
    if any(isinstance(held.get(wrapper), dict) for wrapper in SCHEMA_WRAPPERS):
        return True
    parts = list(held.values())
    if parts and all("type" in as_object(part) for part in parts):
        return True
    entries = as_list(value)
    return bool(entries) and all({"name", "type"} <= as_object(part).keys() for part in entries)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
