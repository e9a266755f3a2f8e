"""Schemas of a document as they are meant: references followed, `allOf` merged, as deep as a tool can show.

Work and size are bounded, whatever the document: each reference is read once for each level, and a schema that gets too
large is cut at fewer levels.
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, values_inside
from wildtool.toolcall.schema import as_schema
from wildtool.tools.sources.markup import without_html

MAX_SCHEMA_LEVELS = 6
"""Levels of objects and lists that are read."""
MAX_SCHEMA_SIZE = 600
"""Size of one tool's schema, about one for each parameter at any depth, before it is cut at fewer levels."""
_LARGEST_FLAT = 6_000
_MOST_HOPS = 100
_MOST_WORK = 5_000_000
_MOST_GIVEN = 10_000_000
"""Size of all schemas of one document: one that thousands of operations share is written as often."""
_JOINED = frozenset(["allOf", "oneOf", "anyOf"])
_STRUCTURE = frozenset(["properties", "items", "required", "description"])
_TYPES: Mapping[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip
_LOST = "x-lost"
"""Of an object of which nothing can be given: the required property that is the reason."""
DocumentSchema = Mapping[str, Any]
Sized = tuple[dict[str, Any], int]


class UnreadableSchemaError(Exception):
    """A part of a document that cannot be read as it is meant; the text says why."""


class SchemaReader:
    """Reads the schemas of one document."""

    def __init__(self, document: DocumentSchema) -> None:
        self._document = document
        self._flat_ones: dict[str, DocumentSchema | UnreadableSchemaError | None] = {}
        """By reference; None while it is being read."""
        self._sized: dict[tuple[str, int, str], Sized] = {}
        self._work = 0
        self._given = 0
        """Size of the schemas given so far, each counted as often as it was asked for."""

    def resolve(self, schema: Any, without: str = "") -> dict[str, Any]:
        """A schema with everything it refers to.

        Optional parts that no schema describes, or that go too deep, are left out.

        Args:
            without: leave out properties with this mark, such as `readOnly`.

        Raises:
            UnreadableSchemaError: for references that lead nowhere or around, and for schemas beyond any size.
            DataError: if the document takes too much work.
        """
        resolved, size = self._read(schema, MAX_SCHEMA_LEVELS, without)
        best = resolved
        for levels in range(MAX_SCHEMA_LEVELS - 1, 0, -1):
            if size <= MAX_SCHEMA_SIZE:
                break
            resolved, size = self._read(schema, levels, without)
            best = best if is_unfillable(resolved) else resolved
        if size > _LARGEST_FLAT:
            raise UnreadableSchemaError("it has too many parameters")
        self._given += size
        if self._given > _MOST_GIVEN:
            raise DataError(
                "its operations together have too many parameters and values, counted in each that refers to them; "
                "give fewer operations"
            )
        return best

    def dereference(self, value: Any) -> DocumentSchema:
        """An object of the document, or the one it refers to. Raises UnreadableSchemaError."""
        target = as_schema(value)
        for _ in range(_MOST_HOPS):
            reference = target.get("$ref")
            if not isinstance(reference, str):
                return target
            target = as_schema(self._at(reference))
        raise UnreadableSchemaError("its references lead around in a ring")

    def _read(self, schema: Any, levels: int, without: str) -> Sized:
        plain = as_schema(schema)
        reference = plain.get("$ref")
        key = (reference, levels, without) if isinstance(reference, str) and len(plain) == 1 else None
        if key is None:
            return self._level(self._flat(plain, 0), levels, without)
        if key not in self._sized:
            self._sized[key] = self._level(self._flat(plain, 0), levels, without)
        return self._sized[key]

    def _level(self, flat: DocumentSchema, levels: int, without: str) -> Sized:
        result = {key: value for key, value in flat.items() if key not in _STRUCTURE}
        if isinstance(description := flat.get("description"), str):
            result["description"] = without_html(description)
        if "const" in flat and "enum" not in flat:
            result["enum"] = [flat["const"]]
        if flat.get("type") is None:
            result["type"] = _type_of(flat)
        size = 1 + sum(_weight(value) for value in result.values())
        if "items" in flat and levels > 0:
            result["items"], below = self._read(flat["items"], levels - 1, without)
            size += below
        elif "items" in flat:
            result["items"] = {"type": "object"}
        if isinstance(flat.get("properties"), Mapping) and levels > 0:
            size += self._properties(result, flat, levels, without)
        self._count(len(flat) + len(as_schema(flat.get("properties"))))
        return result, size

    def _properties(self, result: dict[str, Any], flat: DocumentSchema, levels: int, without: str) -> int:
        """Puts in the properties that can be said. Gives their size."""
        required = [name for name in as_list(flat.get("required")) if isinstance(name, str)]
        needed = frozenset(required)
        unsaid: set[str] = set()
        properties: dict[str, Any] = {}
        size = 0
        for name, child in as_schema(flat["properties"]).items():
            below, weight = self._read(child, levels - 1, without)
            if without and below.get(without) is True:
                unsaid.add(name)
            elif not is_unfillable(below):
                properties[name] = below
                size += weight + len(name) // 100
            elif name in needed:
                # Without this one nothing can be given: the object is as good as not described.
                result[_LOST] = f"{name}.{place}" if (place := _lost_place(below)) else name
                return 0
        result["properties"] = properties
        result["required"] = [name for name in required if name not in unsaid]
        return size

    def _flat(self, schema: DocumentSchema, hops: int) -> DocumentSchema:
        """A schema with references followed and parts merged at its own level only."""
        if hops > _MOST_HOPS:
            raise UnreadableSchemaError(f"a schema goes through more than {_MOST_HOPS} references")
        self._count(1 + len(schema))
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._referred(reference, hops)
            own = {key: value for key, value in schema.items() if key != "$ref"}
            return _merged(own, target) if own else target
        if not schema.keys() & _JOINED:
            return schema
        flat = {key: value for key, value in schema.items() if key not in _JOINED}
        for part in as_list(schema.get("allOf")):
            flat = self._joined(flat, self._flat(as_schema(part), hops + 1))
        for keyword in ("oneOf", "anyOf"):
            if (branch := self._branch(as_list(schema.get(keyword)), hops)) is not None:
                flat = self._joined(flat, branch)
        return flat

    def _joined(self, flat: DocumentSchema, part: DocumentSchema) -> dict[str, Any]:
        self._count(sum(len(as_schema(each.get("properties"))) for each in (flat, part)))
        return _merged(flat, part)

    def _branch(self, branches: list[Any], hops: int) -> DocumentSchema | None:
        """The first of the branches that can be read and is more than null; None if there is none."""
        first_error: UnreadableSchemaError | None = None
        for branch in branches:
            try:
                flat = self._flat(as_schema(branch), hops + 1)
            except UnreadableSchemaError as error:
                first_error = first_error or error
                continue
            if flat.get("type") != "null":
                return flat
        if first_error is not None:
            raise first_error
        return None

    def _referred(self, reference: str, hops: int) -> DocumentSchema:
        if reference not in self._flat_ones:
            self._flat_ones[reference] = None
            try:
                self._flat_ones[reference] = self._flat(as_schema(self._at(reference)), hops + 1)
            except UnreadableSchemaError as error:
                self._flat_ones[reference] = error
        flat = self._flat_ones[reference]
        if flat is None:
            raise UnreadableSchemaError(f"the reference {_short(reference)} leads around in a ring")
        if isinstance(flat, UnreadableSchemaError):
            raise flat
        return flat

    def _at(self, reference: str) -> Any:
        """The value at a reference. Raises UnreadableSchemaError."""
        if not reference.startswith("#"):
            raise UnreadableSchemaError(
                f"it refers to {_short(reference)}, outside this file; put everything into one file first"
            )
        part: Any = self._document
        for step in unquote(reference[1:]).split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(part, list) and key.isdecimal() and len(key) < 9:
                members = as_list(part)
                part = members[int(key)] if int(key) < len(members) else None
            else:
                part = as_schema(cast(object, part)).get(key)
        if part is None:
            raise UnreadableSchemaError(f"it refers to {_short(reference)}, which is not in the file")
        return part

    def _count(self, work: int) -> None:
        self._work += work
        if self._work > _MOST_WORK:
            raise DataError(
                "its schemas refer to each other so often that reading them takes too long; leave the largest out"
            )


def is_unfillable(schema: DocumentSchema) -> bool:
    """Whether no value can be given for a schema: an object without properties, a file, or a list of these."""
    type_ = schema.get("type")
    if type_ == "array":
        return "items" in schema and is_unfillable(as_schema(schema["items"]))
    if type_ == "file" or schema.get("format") == "binary":
        return True
    return type_ == "object" and not schema.get("properties")


def requires_unfillable(schema: DocumentSchema) -> bool:
    """Whether something is required in a schema of which nothing can be given."""
    return _LOST in _innermost(schema)


def why_unfillable(name: str, schema: DocumentSchema) -> str:
    """Why nothing can be given for a parameter with such a schema."""
    place = _lost_place(schema)
    if not place and _innermost(schema).get("type") != "object":
        return f"{name!r} is a file, which cannot be said in a text"
    where = f"{name}.{place}" if place else name
    return f"no schema says what {where!r} holds, or it needs a file, lies too deep or holds itself"


def has_references(schema: Any) -> bool:
    """Whether a schema has references, or parts to merge, at any depth."""
    return any(as_object(value).keys() & {"$ref", "allOf", "oneOf"} for value in values_inside(schema))


def _lost_place(schema: DocumentSchema) -> str:
    return str(_innermost(schema).get(_LOST, ""))


def _innermost(schema: DocumentSchema) -> DocumentSchema:
    """The schema of the elements, where it is one of a list."""
    while schema.get("type") == "array" and "items" in schema:
        schema = as_schema(schema["items"])
    return schema


def _merged(own: DocumentSchema, part: DocumentSchema) -> dict[str, Any]:
    """Two schemas that hold together; what the first one says counts."""
    merged = {**part, **own}
    both = own.keys() & part.keys()
    # Merged keys go to the end, so that a tool is written as it was.
    for key in both & {"properties", "required"}:
        del merged[key]
    if "properties" in both:
        merged["properties"] = {**as_schema(part["properties"]), **as_schema(own["properties"])}
    if "required" in both:
        merged["required"] = list(
            dict.fromkeys(map(str, [*as_list(part["required"]), *as_list(own["required"])]))
        )
    return merged


def _type_of(schema: DocumentSchema) -> str:
    """The type of a schema that names none."""
    if isinstance(schema.get("properties"), Mapping):
        return "object"
    if "items" in schema:
        return "array"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return "object"
    told = [
        *as_list(schema.get("enum")),
        *(schema[key] for key in ("const", "default") if key in schema),
    ]
    return next((_TYPES[type(value)] for value in told if type(value) in _TYPES), "string")


def _weight(value: Any) -> int:
    if isinstance(value, str):
        return len(value) // 200
    return len(as_list(value) or as_object(value)) // 10


def _short(reference: str) -> str:
    return repr(reference if len(reference) <= 120 else reference[:119] + "…")
