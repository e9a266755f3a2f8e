"""Made-up results of a tool that follow the schema it documents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool.generate.procedural.requests import spoken_name
from wildtool.generate.procedural.tool_sets import slot_of
from wildtool.generate.procedural.values import ValueSampler
from wildtool.generate.schema.constraints import constraint_faults
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema, member_schemas

_DEEPEST = 4
_MOST_FIELDS = 40
"""Optional leaves of a result at most; what is required comes on top."""
_MOST_OPTIONAL = 8
"""Optional fields of one object."""
_ROWS = (2, 3, 3)


@dataclass(slots=True)
class ResultSampler:
    """Draws one result."""

    values: ValueSampler
    said: Mapping[str, Any]
    """Arguments by their name in words, which come back under the same name where they fit."""
    left: int = field(default=_MOST_FIELDS)

    def of(self, schema: Mapping[str, Any], name: str = "result", depth: int = 0) -> Any:
        """A value that follows a schema, normalised as those of tools."""
        type_ = schema.get("type")
        if "enum" not in schema and type_ == "object":
            return self._object(schema, depth)
        if type_ == "array":
            return self._list(schema, name, depth)
        self.left -= 1
        return self._leaf(schema, name)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = frozenset(name for name in as_list(schema.get("required")) if isinstance(name, str))
        made: dict[str, Any] = {}
        optional = 0
        for name, child in member_schemas(schema).items():
            if name not in needed:
                if self.left <= 0 or depth >= _DEEPEST or optional >= _MOST_OPTIONAL:
                    continue
                optional += 1
            value = self.of(child, name, depth + 1)
            if value != {} or name in needed:
                made[name] = value
        return made

    def _list(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        items = as_schema(schema.get("items")) or {"type": "string"}
        count = self.values.draw.choice(_ROWS) if depth < 2 else 1
        if items.get("type") == "object":
            return [self.of(items, name, depth + 1) for _ in range(count)]
        drawn = [self.of(items, name, depth + 1) for _ in range(min(count, 2))]
        return drawn[:1] if drawn[:1] == drawn[1:] else drawn

    def _leaf(self, schema: Mapping[str, Any], name: str) -> Any:
        slot = slot_of(schema, (name,), required=True)
        said = self.said.get(spoken_name(name))
        if said is not None and not slot.members and _alike(said, schema):
            return said
        if schema.get("type") == "null":
            return None
        if slot.kind == "id" and not slot.members:
            return self.values.id(name[:1].lower() + "x" if name else "id", slot.form, slot.bounds)
        return self.values.of(slot.kind, slot.members, slot.bounds)


def _alike(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value said for a parameter can come back in a field."""
    types: Mapping[str, type | tuple[type, ...]] = {"string": str, "integer": int, "float": (int, float)}
    wanted = types.get(str(schema.get("type")))
    if wanted is None or not isinstance(value, wanted) or isinstance(value, bool):
        return False
    return next(constraint_faults(value, schema), None) is None
