"""Tools out of an OpenAPI document, version 2 (Swagger) or 3: each operation is one."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool.errors import DataError
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.tools.sources.markup import CONTROL, without_html
from wildtool.tools.sources.references import (
    SchemaReader,
    UnreadableSchemaError,
    is_unfillable,
    requires_unfillable,
    why_unfillable,
)
from wildtool.types import Tool

_METHODS = ("get", "put", "post", "delete", "patch")
_LONGEST_NAME = 64
_NO_SCHEMA = frozenset(["name", "in", "required", "collectionFormat", "allowEmptyValue"])
"""Keys of a parameter in version 2 that are not part of its schema."""
_SAID = ("path", "query", "formData", "body")
"""Places of parameters whose values a user could say."""
_TRANSPORT = re.compile(
    r"access_?token|oauth_token|api_?key|callback|jsonp|alt|\$\.xgafv|prettyprint|quotauser|userip|upload_?(?:protocol|type)"
    r"|x-amz-.*",
    re.IGNORECASE,
)
"""Names of parameters that carry keys or are about the way an answer travels, as headers do."""
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def openapi_tools(
    document: Mapping[str, Any], note: Callable[[str], None], remark: Callable[[str], None]
) -> Iterator[Tool]:
    """A tool for each operation: parameters and the fields of the body are its parameters.

    Args:
        note: is called with each operation that is left out and why.
        remark: is called with what of an operation its tool does not have.

    Raises:
        DataError: for a document of another version, or one that takes too much work.
    """
    reader = _Reader(document)
    names: dict[str, int] = {}
    for route, entry in as_schema(document.get("paths")).items():
        try:
            shared = reader.schemas.dereference(entry)
        except UnreadableSchemaError as error:
            note(f"{route}: left out: {error}")
            continue
        for method in _METHODS:
            operation = as_schema(shared.get(method))
            if not operation:
                continue
            name = _unique(_name(operation.get("operationId"), f"{method} {route}"), names)
            place = f"{method.upper()} {route}"
            try:
                tool, hidden = reader.tool(name, shared, operation)
            except UnreadableSchemaError as error:
                note(f"{place}: left out: {error}")
                continue
            for field_ in hidden:
                remark(f"{place}: its second {field_!r} is not read: a tool has one parameter of a name")
            yield tool


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Parameters of one tool."""

    properties: dict[str, Any] = field(default_factory=dict[str, Any])
    required: dict[str, None] = field(default_factory=dict[str, None])
    hidden: dict[str, None] = field(default_factory=dict[str, None])
    """Names of which a second one has another type."""

    def put(self, name: str, schema: Mapping[str, Any], *, needed: bool) -> None:
        """Adds one; an optional one that nobody can give is left out. Raises UnreadableSchemaError for a needed one."""
        odd = CONTROL.search(name) is not None
        if not odd and not is_unfillable(schema):
            first = self.properties.setdefault(name, schema)
            if first.get("type") != schema.get("type"):
                self.hidden[name] = None
            self.required.update({name: None} if needed else {})
        elif needed:
            problem = f"the name {name!r} holds control characters" if odd else why_unfillable(name, schema)
            raise UnreadableSchemaError(problem)


class _Reader:
    """Reads the operations of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.schemas = SchemaReader(document)
        version = str(document.get("swagger", document.get("openapi", "")))
        if not re.match(r"2(?:\.|$)" if "swagger" in document else r"3(?:\.|$)", version):
            raise DataError(
                f"the document says version {version[:20] or '(none)'!r}; expected `openapi: 3.x` or `swagger: '2.0'`"
            )
        self._old = "swagger" in document

    def tool(
        self, name: str, shared: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> tuple[Tool, Iterable[str]]:
        """A tool, and the names of which it has only the first parameter. Raises UnreadableSchemaError."""
        parameters = _Parameters()
        bodies: list[Mapping[str, Any]] = []
        for parameter in self._parameters(shared, operation):
            if self._old and parameter.get("in") == "body":
                bodies.append(parameter)
            else:
                self._add(parameters, parameter)
        self._add_body(parameters, bodies[-1] if bodies else {}, operation)
        function: dict[str, Any] = {
            "name": name,
            "description": _description(operation, name),
            "parameters": {
                "type": "object",
                "properties": parameters.properties,
                "required": list(parameters.required),
            },
        }
        returns = self._returns(operation)
        if returns:
            function["returns"] = returns
        return {"type": "function", "function": function}, parameters.hidden

    def _parameters(self, shared: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Those that a user could say; the operation's own ones come in place of the path's."""
        parameters: dict[tuple[Any, Any], Mapping[str, Any]] = {}
        for entry in (
            *as_list(shared.get("parameters")),
            *as_list(operation.get("parameters")),
        ):
            parameter = self.schemas.dereference(entry)
            name, where = parameter.get("name"), parameter.get("in")
            # Headers and cookies carry keys and sessions, of which a user says nothing.
            if not isinstance(name, str) or (where == "query" and _TRANSPORT.fullmatch(name)):
                continue
            if where in _SAID:
                parameters[name, where] = parameter
        return list(parameters.values())

    def _add(self, target: _Parameters, parameter: Mapping[str, Any]) -> None:
        if self._old:
            raw: Any = {key: value for key, value in parameter.items() if key not in _NO_SCHEMA}
        else:
            raw = parameter.get("schema", _media(parameter.get("content"))[1])
        schema = self.schemas.resolve(raw, without="readOnly")
        if isinstance(description := parameter.get("description"), str) and description.strip():
            schema = {**schema, "description": without_html(description)}
        target.put(str(parameter["name"]), schema, needed=parameter.get("required") is True)

    def _add_body(self, target: _Parameters, body: Mapping[str, Any], operation: Mapping[str, Any]) -> None:
        """Args: body: that of version 2; of version 3 it is part of the operation."""
        kind, raw = "JSON", body.get("schema", {})
        if not self._old:
            body = self.schemas.dereference(operation.get("requestBody"))
            kind, raw = _media(body.get("content"))
        needed = body.get("required") is True
        if not raw:
            if needed:
                problem = f"no schema says what its body holds ({kind or 'no kind of content'})"
                raise UnreadableSchemaError(problem)
            return
        schema = self.schemas.resolve(raw, without="readOnly")
        fields = member_schemas(schema)
        if not fields:
            target.put("body", schema, needed=needed or requires_unfillable(schema))
            return
        names = [name for name in as_list(schema.get("required")) if isinstance(name, str)]
        required = frozenset(names)
        for name, child in fields.items():
            target.put(name, child, needed=name in required)
        target.required.update(dict.fromkeys(names))

    def _returns(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of the body when the operation succeeds; empty if none can be read."""
        answers = as_schema(operation.get("responses"))
        for status in sorted(map(str, answers)):
            if not status.startswith("2"):
                continue
            try:
                answer = self.schemas.dereference(answers.get(status))
                raw = answer.get("schema", {}) if self._old else _media(answer.get("content"))[1]
                schema = self.schemas.resolve(raw, without="writeOnly") if raw else {}
            except UnreadableSchemaError:
                return {}
            return {} if not schema or is_unfillable(schema) else schema
        return {}


def _description(operation: Mapping[str, Any], name: str) -> str:
    """What a tool is for: the summary, and the description where it says more."""
    summary, description = (
        without_html(text) if isinstance(text := operation.get(key), str) else ""
        for key in ("summary", "description")
    )
    names = (name.casefold(), str(operation.get("operationId")).casefold())
    if not re.search(r"\w\W+\w", summary) or summary.casefold() in names:
        summary = ""
    if not summary or description.casefold().startswith(summary.casefold().rstrip(".")):
        return description
    return f"{summary.rstrip('.')}. {description}" if description else summary


def _media(content: Any) -> tuple[str, Any]:
    """Kind and schema of a body: JSON before forms before anything else."""
    kinds = as_schema(content)
    for name in sorted(map(str, kinds), key=lambda name: ("json" not in name, not name.startswith(_FORMS))):
        if schema := as_schema(kinds.get(name)).get("schema"):
            return name, schema
    return ", ".join(map(str, kinds))[:100], {}


def _name(operation_id: Any, otherwise: str) -> str:
    """A name as tools may have it, in camel case where it had other characters; `otherwise` has some that it keeps."""
    words = re.compile("[a-zA-Z0-9_]+")
    parts = words.findall(operation_id if isinstance(operation_id, str) else "") or words.findall(otherwise)
    return (parts[0] + "".join(part[:1].upper() + part[1:] for part in parts[1:]))[:_LONGEST_NAME]


def _unique(name: str, names: dict[str, int]) -> str:
    """The name, with a number at its end where another tool has it; `names` holds how often each was wanted."""
    unique = name
    while unique in names:
        names[name] += 1
        end = f"_{names[name]}"
        unique = name[: _LONGEST_NAME - len(end)] + end
    names[unique] = 1
    return unique
