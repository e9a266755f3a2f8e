"""Gold calls: arguments from new values, the history or each other, and what tools return."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.tools.schema.constraints import constraint_faults
from wildtool_data.make.procedural.history import Mention, reference
from wildtool_data.make.procedural.requests import spoken_name
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSpec, slot_of
from wildtool_data.make.procedural.value_pairs import agrees, counterpart
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.procedural.wording import Wording, can_omit

_DEEPEST = 4
_MOST_FIELDS = 40
"""Optional leaves of a result at most; what is required comes on top."""
_MOST_OPTIONAL = 8
"""Optional fields of one object."""
_RESULT_ROWS = (2, 3, 3)


@dataclass(slots=True)
class ResultSampler:
    """Draws one result."""

    values: ValueSampler
    parameters: Mapping[str, Any]
    """Arguments by their name in words, which come back under the same name where they fit."""
    fields_left: int = field(default=_MOST_FIELDS)

    def of(self, schema: Mapping[str, Any], name: str = "result", depth: int = 0) -> Any:
        """A value that follows a schema, normalised as those of tools."""
        type_ = schema.get("type")
        if "enum" not in schema and type_ == "object":
            return self._object(schema, depth)
        if type_ == "array":
            return self._list(schema, name, depth)
        self.fields_left -= 1
        return self._leaf(schema, name)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = frozenset(name for name in as_list(schema.get("required")) if isinstance(name, str))
        sampled: dict[str, Any] = {}
        optional = 0
        for name, child in member_schemas(schema).items():
            if name not in needed:
                if self.fields_left <= 0 or depth >= _DEEPEST or optional >= _MOST_OPTIONAL:
                    continue
                optional += 1
            value = self.of(child, name, depth + 1)
            if value != {} or name in needed:
                sampled[name] = value
        return sampled

    def _list(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        items = as_schema(schema.get("items")) or {"type": "string"}
        count = self.values.draw.choice(_RESULT_ROWS) if depth < 2 else 1
        if items.get("type") == "object":
            return [self.of(items, name, depth + 1) for _ in range(count)]
        drawn = [self.of(items, name, depth + 1) for _ in range(min(count, 2))]
        return drawn[:1] if drawn[:1] == drawn[1:] else drawn

    def _leaf(self, schema: Mapping[str, Any], name: str) -> Any:
        slot = slot_of(schema, (name,), required=True)
        spoken = self.parameters.get(spoken_name(name))
        if spoken is not None and not slot.members and _alike(spoken, schema):
            return spoken
        if schema.get("type") == "null":
            return None
        if slot.days is not None:
            return self.values.day(slot.days)
        if slot.kind == "id" and not slot.members:
            return self.values.id(name[:1].lower() + "x", slot.form, slot.bounds)
        return self.values.of(slot.kind, slot.members, slot.bounds)


def _alike(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value said for a parameter can come back in a field."""
    types: Mapping[str, type | tuple[type, ...]] = {"string": str, "integer": int, "float": (int, float)}
    type_ = types.get(str(schema.get("type")))
    if type_ is None or not isinstance(value, type_) or isinstance(value, bool):
        return False
    return next(constraint_faults(value, schema), None) is None


_OPTIONAL = 0.25
_TOMORROW = 0.2
_ROWS = (2, 3, 3, 4)
_PAIR_DRAWS = 20
"""Draws of a value until it makes sense beside the others of its call."""


@dataclass(slots=True)
class DraftCall:
    """One gold call while it is built."""

    tool: ToolSpec
    values: dict[ParameterSlot, Any] = field(default_factory=dict[ParameterSlot, Any])
    spoken: dict[str, str] = field(default_factory=dict[str, str])
    """By key what the user says; what is not in it is left out."""
    coreferences: set[str] = field(default_factory=set[str])
    """Keys of which the user says not the value but what it refers to."""
    ellipses: list[ParameterSlot] = field(default_factory=list[ParameterSlot])
    """Slots whose value the user takes as known."""
    needs: list[int] = field(default_factory=list[int])
    marks: dict[str, str] = field(default_factory=dict[str, str])
    """By argument path: why a value that nobody mentioned is right."""
    result: Any = field(default_factory=dict[str, Any])
    """What the tool returns; an object unless the tool documents something else."""

    @property
    def arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for slot in self.tool.slots:
            if slot in self.values:
                _put(arguments, slot.path, self.values[slot])
        return arguments

    def beside(self, slot: ParameterSlot) -> Mapping[ParameterSlot, Any]:
        """The values beside which a new one for a slot must make sense; none for the built-in tools, of which any do."""
        others = {other: its for other, its in self.values.items() if other != slot}
        return others if self.tool.clause_from_name else {}

    @property
    def signature(self) -> str:
        return self.tool.name + json.dumps(self.arguments, sort_keys=True)


LinkedValues = Mapping[str, tuple[Any, str]]
"""By key a value that comes from another call of the task, and how the user refers to it."""


@dataclass(frozen=True, slots=True)
class HistoryReference:
    """What a call takes from an earlier task, and how."""

    slot: ParameterSlot
    mention: Mention
    far: bool
    is_ellipsis: bool
    """The value is left out altogether rather than referred to."""


def draft_call(
    tool: ToolSpec,
    values: ValueSampler,
    words: Wording,
    *,
    linked: LinkedValues,
    hidden: HistoryReference | None,
) -> DraftCall:
    """A call with all its required arguments and some others."""
    call = DraftCall(tool)
    given = {slot: linked[slot.key][0] for slot in tool.slots if slot.key in linked}
    if hidden is not None:
        given[hidden.slot] = hidden.mention.value
    for slot in tool.slots:
        if slot.key in linked:
            call.values[slot], call.spoken[slot.key] = linked[slot.key]
            call.coreferences.add(slot.key)
        elif hidden is not None and slot == hidden.slot:
            _take(call, hidden, words)
        elif slot.required or (values.draw.random() < _OPTIONAL and hidden is None):
            _new(call, slot, values, words, given)
    return call


def _take(call: DraftCall, hidden: HistoryReference, words: Wording) -> None:
    call.values[hidden.slot] = hidden.mention.value
    if hidden.is_ellipsis and can_omit(call.tool, hidden.slot.key):
        call.ellipses.append(hidden.slot)
    else:
        phrase = reference(words, hidden.mention, hidden.slot.noun, far=hidden.far)
        call.spoken[hidden.slot.key] = phrase
        call.coreferences.add(hidden.slot.key)


def _new(
    call: DraftCall,
    slot: ParameterSlot,
    values: ValueSampler,
    words: Wording,
    given: Mapping[ParameterSlot, Any],
) -> None:
    """Args: given: values of the call that come from elsewhere."""
    beside = call.beside(slot)
    value = drawn_value(slot, values, {**beside, **given} if call.tool.clause_from_name else {})
    if slot.kind == "date" and values.draw.random() < _TOMORROW and not call.tool.clause_from_name:
        value = (values.date + timedelta(days=1)).strftime("%Y-%m-%d")
        call.spoken[slot.key] = words.phrase("tomorrow")
        call.marks[slot.dotted] = f"derived: '{call.spoken[slot.key]}' counted from the date line"
    else:
        call.spoken[slot.key] = words.literal(call.tool, slot, value)
    call.values[slot] = value


def drawn_value(
    slot: ParameterSlot, values: ValueSampler, beside: Mapping[ParameterSlot, Any] = MappingProxyType({})
) -> Any:
    """A new value for a slot.

    Args:
        beside: the values of the call so far, with which it must make sense.
    """
    value = _any_value(slot, values)
    for _ in range(_PAIR_DRAWS):
        if agrees(slot, value, beside):
            return value
        value = _any_value(slot, values)
    same = counterpart(slot, beside)
    return value if same is None else same


def _any_value(slot: ParameterSlot, values: ValueSampler) -> Any:
    if slot.days is not None:
        return values.day(slot.days)
    if slot.kind == "id" and not slot.members:
        return values.id(_prefix(slot.key), slot.form, slot.bounds)
    return values.of(slot.kind, slot.members, slot.bounds)


def simulate_result(call: DraftCall, values: ValueSampler, results: dict[str, Mapping[str, Any]]) -> None:
    """Lets the tool answer: entities with new ids, further facts, and the arguments it was given.

    Args:
        seen: facts of the entities so far, by id; they stay what they were, and new ones are added.
    """
    gives = call.tool.return_semantics
    if call.tool.returns:
        _documented_answer(call, values, results)
        return
    if gives.is_list:
        rows = [
            {gives.key: values.id(_prefix(gives.key), gives.form), **_facts(call, values)}
            for _ in range(values.draw.choice(_ROWS))
        ]
        results.update({str(row[gives.key]): row for row in rows})
        call.result = {_plural(gives.entity or "result"): rows}
        return
    echo = {
        str(slot.path[0]) if len(slot.path) == 1 else slot.key: value
        for slot, value in call.values.items()
        if isinstance(value, str | int | float)
    }
    own = {gives.key: values.id(_prefix(gives.key), gives.form)} if gives.key else {}
    facts = _facts(call, values)
    for value in echo.values():
        earlier = results.get(str(value), {})
        facts.update({name: earlier[name] for name in facts.keys() & earlier.keys() - {"status"}})
    call.result = {**own, **echo, **facts}
    if own:
        results[str(own[gives.key])] = facts


def _documented_answer(call: DraftCall, values: ValueSampler, results: dict[str, Mapping[str, Any]]) -> None:
    """A result that follows the tool's schema; an entity that was seen before keeps its facts."""
    gives = call.tool.return_semantics
    spoken = {spoken_name(str(slot.path[-1])): value for slot, value in call.values.items()}
    call.result = ResultSampler(values, spoken).of(call.tool.returns)
    asked_for = {slot.key: value for slot, value in call.values.items() if slot.kind == "id"}
    for row in entity_rows(call):
        if not gives.is_list and gives.key in asked_for:
            row[gives.name] = asked_for[gives.key]
        elif gives.name not in row or str(row[gives.name]) in results:
            row[gives.name] = values.id(_prefix(gives.key), gives.form)
        facts = results.get(str(row[gives.name]), {})
        row.update({name: facts[name] for name in row.keys() & facts.keys() if not gives.is_list})
        results[str(row[gives.name])] = row


def entity_rows(call: DraftCall) -> list[dict[str, Any]]:
    """The objects in a result that describe the entities it returns."""
    gives = call.tool.return_semantics
    if not gives.key:
        return []
    part: Any = call.result
    place = gives.place if gives.place is not None else (_plural(gives.entity),) if gives.is_list else ()
    for step in place:
        part = as_object(part).get(step, [])
    rows = as_list(part) if isinstance(part, list) else [part]
    return [as_object(row) for row in rows if isinstance(row, dict)]


def _facts(call: DraftCall, values: ValueSampler) -> dict[str, Any]:
    """Values for the fields that a tool returns, in keeping with what was asked for."""
    arguments = {slot.kind: value for slot, value in call.values.items()}
    amounts = [(slot.key, value) for slot, value in call.values.items() if slot.kind == "amount"]
    limits = [value for key, value in amounts if key.startswith("max")]
    facts: dict[str, Any] = {}
    for name, kind in call.tool.return_semantics.fields:
        value = values.of(kind)
        if kind == "person" and kind in arguments:
            value = arguments[kind]
        elif kind == "goods" and kind in arguments:
            value = values.pick("adjectives") + (" " if values.lang == "en" else "") + arguments[kind]
        elif kind == "price" and limits:
            value = round(limits[0] * (0.4 + 0.6 * values.draw.random()), 2)
        elif kind == "year" and kind in arguments:
            value = values.draw.randrange(arguments[kind], 2025)
        facts[name] = value
    return facts


def _prefix(key: str) -> str:
    """Letters that start the ids of a key: `train_id` gives `tn`, `cart_item_id` `ci`."""
    parts = re.split(r"[_.\- ]+|(?<=[a-z])(?=[A-Z])", key)
    words = [word for word in parts if word.casefold() not in ("", "id", "ids")]
    if not words:
        return "id"
    return ("".join(word[0] for word in words) if len(words) > 1 else words[0][0] + words[0][-1]).lower()


def mentions(call: DraftCall, t: int, words: Wording) -> list[Mention]:
    """What later tasks can refer to: what was said for the call, and the entities it returned."""
    mentioned = [
        Mention(slot, value, t)
        for slot, value in call.values.items()
        if slot.kind not in ("flag", "boolean", "id")
    ]
    return mentioned + entities(call, t, words)


def entities(call: DraftCall, t: int, words: Wording) -> list[Mention]:
    """The entities that a call returned."""
    gives = call.tool.return_semantics
    if not gives.key:
        return []
    slot = ParameterSlot((gives.key,), gives.key, gives.noun, "id", required=True, form=gives.form)
    rows = entity_rows(call)
    if not gives.is_list:
        return [Mention(slot, row[gives.name], t) for row in rows[:1]]
    # Of several fields in which an entity is the best, the first counts.
    best = {
        _best([row[name] for row in rows], kind): kind
        for name, kind in reversed(gives.fields)
        if words.has_best(kind)
    }
    return [Mention(slot, row[gives.name], t, k, best.get(k, "")) for k, row in enumerate(rows)]


def _best(numbers: list[Any], kind: str) -> int | None:
    """Place of the one best value of a field; None if two share it."""
    best = max(numbers) if kind == "rating" else min(numbers)
    return numbers.index(best) if numbers.count(best) == 1 else None


def _put(target: dict[str, Any], path: tuple[str | int, ...], value: Any) -> None:
    """Sets a leaf, making the objects and the one-element lists above it."""
    at: Any = target
    for step, following in pairwise(path):
        below: Any = [{}] if isinstance(following, int) else {}
        at = at[0] if isinstance(step, int) else at.setdefault(step, below)
    at[path[-1]] = value


def _plural(noun: str) -> str:
    word = noun.replace(" ", "_")
    if word.endswith("y"):
        return word.removesuffix("y") + "ies"
    return f"{word}es" if word.endswith(("s", "sh", "ch", "x")) else f"{word}s"
