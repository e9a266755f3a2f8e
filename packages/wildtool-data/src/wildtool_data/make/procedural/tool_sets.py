"""Tools to make sessions with: the built-in ones, or a file in the OpenAI tools shape, read into slots to be filled."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from wildtool.draws import seeded_draw
from wildtool.errors import DataError
from wildtool.sanitize import truncate_words
from wildtool.toolcall.schema import as_schema, enum_of, member_schemas
from wildtool.tools.schema.constraints import unchecked_patterns, value_bounds
from wildtool.tools.sources.normalize import KEPT_KEYWORDS, normalize_tool, result_schema
from wildtool.tools.sources.tool_files import read_tool_lists
from wildtool.types import Tool
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.described_values import (
    EXAMPLE_KEYS,
    DayForm,
    are_codes,
    day_form,
    given_examples,
    takes_tickers,
)
from wildtool_data.make.procedural.guess_semantics import (
    ReturnSemantics,
    form_of,
    guess_kind,
    guess_returns,
    is_id,
    noun_of,
)
from wildtool_data.make.procedural.requests import (
    clause_from_name,
    compared,
    request_clause,
    spoken_name,
    with_more_places,
    with_places,
)
from wildtool_data.make.procedural.values import LIKE_KIND, PATTERN_KIND

SlotPath = tuple[str | int, ...]
BUILT_IN_TOOLS_FILE = Path(__file__).parent / "data" / "procedural.json"
MAX_SESSION_TOOLS = 8
"""Most tools of a session."""
_KINDS_OF_FORMATS = {
    "date": "date", "time": "time", "email": "email", "uri": "url", "url": "url", "uuid": "uuid", "date-time": "moment",
    "ipv4": "ip",
}  # fmt: skip
_FREE_TEXT_KINDS = frozenset(["text", "title", "sentence", "code"])
"""Kinds of texts of which any would do."""
_NAMED_KINDS = frozenset(["city", "country", "language", "person"])
"""Kinds that are words, unless the examples are codes."""


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """One value of a call: a parameter, or a leaf of an object parameter."""

    path: SlotPath
    """Keys from the argument object to the leaf, with 0 for the one element of a list of objects."""
    key: str
    """Name of the parameter or field; slots of one key take each other's values."""
    noun: str
    """What a user calls it."""
    kind: str
    """What values it takes, see `ValueSampler`; `id` for identifiers."""
    required: bool
    members: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None
    form: str = ""
    """Of identifiers: `whole` for numbers, `uuid`, else empty."""
    days: DayForm | None = None
    """Of dates of a user's tool: which days, and how they are written."""

    @property
    def dotted(self) -> str:
        return ".".join(step for step in self.path if isinstance(step, str))

    def same_values(self, other: "ParameterSlot") -> bool:
        """Whether values of the other slot are of the same sort."""
        mine, its = ((each.kind, each.members, each.form, each.days) for each in (self, other))
        return mine == its


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the generator uses it."""

    name: str
    definition: Tool
    """As written into a record."""
    slots: tuple[ParameterSlot, ...]
    return_semantics: ReturnSemantics
    clauses: tuple[str, ...]
    """Ways to ask for a call, as infinitive clauses: `{key}` is a value, `[…]` is left out where that is not said."""
    clause_from_name: bool
    """True if a value needs its noun, since the clause does not say what it is."""
    returns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The schema of its results; empty if none is known."""

    @property
    def request(self) -> str:
        """What a user asks for, without values: two tools that are asked for alike cannot be told apart."""
        return compared(self.clauses[0].split("[")[0])


ToolSet = tuple[ToolSpec, ...]


@cache
def built_in_tool_sets(lang: Lang) -> tuple[ToolSet, ...]:
    """The tools that come with the package, a set for each domain."""
    read = json.loads(BUILT_IN_TOOLS_FILE.read_text(encoding="utf-8"))
    return tuple(
        tuple(_built_in_tool(name, row, lang) for name, row in tools.items()) for tools in read.values()
    )


@cache
def domains() -> tuple[str, ...]:
    """The domains of the built-in sets, in their order."""
    return tuple(json.loads(BUILT_IN_TOOLS_FILE.read_text(encoding="utf-8")))


def read_tool_sets(
    path: Path, lang: Lang, note: Callable[[str], None], keep: Collection[str] = KEPT_KEYWORDS
) -> tuple[ToolSet, ...]:
    """Tools of a file: a JSON list of OpenAI tools, a list of such lists, JSON lines of either, an OpenAPI document, or
    an MCP tool list.

    Tools that no call can satisfy and patterns that cannot be checked are left out; `note` is called with the reason.

    Args:
        keep: keys of a parameter's schema that stay as they are.

    Raises:
        DataError: for a file that cannot be read or holds no usable tool.
    """
    sets: list[ToolSet] = []
    reasons: list[str] = []

    def left_out(k: int | None, told: str) -> None:
        reasons.append(told if k is None else f"{path}: set {k}: {told}")
        note(reasons[-1])

    for k, tools in enumerate(read_tool_lists(path, partial(left_out, None), note)):
        usable: dict[str, Tool] = {}
        described: dict[str, Mapping[str, Any]] = {}
        returns: dict[str, Mapping[str, Any]] = {}
        for number, tool in enumerate(tools, 1):
            name, normal, fault = normalize_tool(tool, keep)
            if normal is None or name in usable:
                which = f"{name!r}" if name else f"tool {number}"
                left_out(k, f"{which} is left out: {fault or 'it stands there twice'}")
            else:
                usable[name] = normal
                described[name] = _with_examples(tool, normal, keep)
                returns[name] = result_schema(tool["function"])
                for where, problem in unchecked_patterns(as_schema(tool["function"].get("parameters"))):
                    note(f"{path}: set {k}: {name}: the pattern of {where} is left out: {problem}")
        made_tools = _made_tools(list(usable.values()), described, returns, lang, partial(left_out, k))
        if any(tool.slots for tool in made_tools):
            sets.append(made_tools)
        elif usable:
            left_out(k, "left out, since no tool of it takes an argument")
    if not sets:
        first = truncate_words(reasons[0].removeprefix(f"{path}: "), 400) if reasons else ""
        first_reason = f". The first reason: {first}" if reasons else ""
        raise DataError(
            f"{path}: holds no usable tool; expected tools with parameters: a JSON list in the OpenAI shape, an OpenAPI "
            f"document or an MCP tool list{first_reason}"
        )
    return tuple(sets)


def tool_sets_by_language(
    path: Path | None,
    langs: Iterable[Lang],
    note: Callable[[str], None] = lambda text: None,
    keep: Collection[str] = KEPT_KEYWORDS,
    built_in: Callable[[Lang], tuple[ToolSet, ...]] = built_in_tool_sets,
) -> dict[Lang, tuple[ToolSet, ...]]:
    """The tools of a file, as `read_tool_sets` reads them, or the built-in ones, for each language.

    Args: note: is called for the first language alone, since the others leave out the same.
    """
    sets: dict[Lang, tuple[ToolSet, ...]] = {}
    for lang in langs:
        quiet: Callable[[str], None] = (lambda text: None) if sets else note
        sets[lang] = read_tool_sets(path, lang, quiet, keep) if path else built_in(lang)
    return sets


@dataclass(frozen=True, slots=True)
class ToolPart:
    """Some of the tools, for a file of its own."""

    places: tuple[int, ...]
    """The sets that it takes tools of, by their place among all sets."""
    names: frozenset[str]
    """Its tools."""

    def of(self, sets: Sequence[ToolSet]) -> tuple[ToolSet, ...]:
        """The sets with these tools alone."""
        return tuple(tuple(tool for tool in sets[place] if tool.name in self.names) for place in self.places)


def split_tools(sets: Sequence[ToolSet], share: float, seed: str) -> tuple[ToolPart, ToolPart]:
    """The tools in two parts that have no name in common: the larger one, and the one that is held out.

    Whole sets are held out, in random order, until they have that share of the names; of a single set, single tools.
    A name that a held-out set has is held out in all sets.

    Raises DataError where no tool with parameters is left in one of the parts.
    """
    held = held_out_names([[tool.name for tool in tools] for tools in sets], share, seed)
    rest = {tool.name for tools in sets for tool in tools} - held
    # A set of the one part may hold a tool that a set of the other has, too.
    parts = [
        ToolPart(tuple(place for place, tools in enumerate(sets) if _usable(tools, names)), frozenset(names))
        for names in (rest, held)
    ]
    if not all(part.places for part in parts):
        count = len(rest) + len(held)
        raise DataError(
            f"{count} tools are too few to hold out a share of {share:g}: each part needs a tool with parameters"
        )
    return parts[0], parts[1]


def held_out_names(sets: Sequence[Sequence[str]], share: float, seed: str) -> set[str]:
    """The names that `split_tools` holds out, of sets of names."""
    draw, count = seeded_draw(f"{seed}/held-out"), len({name for names in sets for name in names})
    held: set[str] = set()
    if len(sets) > 1:
        for place in draw.sample(range(len(sets)), len(sets))[:-1]:
            if len(held) >= share * count - 1e-9:
                break
            held.update(sets[place])
    else:
        held.update(draw.sample(list(sets[0]), min(max(1, round(share * count)), count - 1)))
    return held


def _usable(tools: ToolSet, names: Collection[str]) -> bool:
    return any(tool.slots for tool in tools if tool.name in names)


def result_schemas(path: Path) -> dict[str, Mapping[str, Any]]:
    """Result schemas of the tools of a file that have one (`returns`; also from OpenAPI and MCP)."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for tools in read_tool_lists(path, lambda text: None):
        for tool in tools:
            function = as_schema(as_schema(tool).get("function"))
            if schema := result_schema(function):
                schemas[str(function.get("name"))] = schema
    return schemas


def _built_in_tool(name: str, row: Mapping[str, Any], lang: Lang) -> ToolSpec:
    k = 0 if lang == "en" else 1
    slots: list[ParameterSlot] = []
    parameters = _built_in_schema(row["takes"], k, (), slots)
    list_flag, entity, *nouns, fields = row["gives"]
    function = {"name": name, "description": row["about"][k], "parameters": parameters}
    gives = ReturnSemantics(list_flag == "list", entity, nouns[k], tuple(fields.items()))
    definition: Tool = {"type": "function", "function": function}
    clauses = tuple(row["say"][lang])
    return ToolSpec(name, definition, tuple(slots), gives, clauses, clause_from_name=False)


def _built_in_schema(
    takes: Mapping[str, Any], k: int, path: SlotPath, slots: list[ParameterSlot]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, form in takes.items():
        if isinstance(form, dict):
            below = _built_in_schema(cast(dict[str, Any], form), k, (*path, name), slots)
            properties[name] = {**below, "description": ("Date and time.", "日期和时间。")[k]}
            required.append(name)
            continue
        kind, *texts = cast(list[str], form)
        kind, _, choices = kind.partition(":")
        optional = kind.endswith("?") or kind == "flag"
        kind = kind.removesuffix("?")
        members = tuple((texts[2] if k else choices).split("|")) if kind == "enum" else ()
        kind = f"list:{choices}" if kind == "list" else kind
        slots.append(ParameterSlot((*path, name), name, texts[k], kind, not optional, members))
        properties[name] = _built_in_parameter(slots[-1], k)
        required.extend([] if optional else [name])
    return {"type": "object", "properties": properties, "required": required}


_TYPES = {
    "count": "integer", "minutes": "integer", "stars": "integer", "year": "integer", "percent": "integer", "tip": "float",
    "amount": "float", "km": "float", "celsius": "float", "flag": "boolean",
}  # fmt: skip
_FORMATS = {"date": (", YYYY-MM-DD", "，格式YYYY-MM-DD"), "time": (", HH:MM", "，格式HH:MM")}


def _built_in_parameter(slot: ParameterSlot, k: int) -> dict[str, Any]:
    told = slot.noun[0].upper() + slot.noun[1:] + _FORMATS.get(slot.kind, ("", ""))[k] + (".", "。")[k]
    if slot.kind == "id":
        told = (f"Id of the {slot.noun}.", f"{slot.noun}的编号。")[k]
    if slot.kind.startswith("list:"):
        return {"type": "array", "description": told, "items": {"type": "string", "description": told}}
    schema: dict[str, Any] = {"type": _TYPES.get(slot.kind, "string"), "description": told}
    return {**schema, "enum": list(slot.members)} if slot.members else schema


def _made_tools(
    tools: Sequence[Tool],
    described: Mapping[str, Mapping[str, Any]],
    returns: Mapping[str, Mapping[str, Any]],
    lang: Lang,
    left_out: Callable[[str], None],
) -> ToolSet:
    """Args:
    described: by tool its parameters with the examples that their schemas give.
    left_out: is called with each tool that a user could not tell from another, and why.
    """
    functions = [tool["function"] for tool in tools]
    clauses = {f["name"]: request_clause(f["description"], f["name"], lang) for f in functions}
    often = Counter(map(compared, clauses.values()))
    built: dict[str, ToolSpec] = {}
    for tool in tools:
        name, about = tool["function"]["name"], tool["function"]["description"]
        slots = _distinguishable(tuple(_slots(described[name], (), about)))
        clause = clauses[name] if often[compared(clauses[name])] == 1 else clause_from_name(name, lang)
        schema = returns.get(name, {})
        clause = with_places(clause, [slot.key for slot in slots])
        new = ToolSpec(name, tool, slots, ReturnSemantics(), (clause,), clause_from_name=True, returns=schema)
        if (other := built.setdefault(new.request, new)) is not new:
            problem = f"a user could not tell it from {other.name!r}, described and named alike"
            left_out(f"{name!r} is left out: {problem}")
    forms = {slot.key: slot.form for tool in built.values() for slot in tool.slots if slot.kind == "id"}
    return tuple(
        replace(t, return_semantics=guess_returns(t.name, {s.key for s in t.slots}, forms, t.returns))
        for t in built.values()
    )


def _with_examples(tool: Any, normal: Tool, keep: Collection[str]) -> Mapping[str, Any]:
    """The parameters of a tool with the examples in their schemas, which its definition in a record does not have."""
    _, full, _ = normalize_tool(tool, (*keep, *EXAMPLE_KEYS))
    return (full or normal)["function"]["parameters"]


def _distinguishable(slots: tuple[ParameterSlot, ...]) -> tuple[ParameterSlot, ...]:
    """Slots with a different noun each; of slots that a user cannot tell apart, optional ones are left out."""
    often = Counter(slot.noun for slot in slots)
    fuller = [
        slot if often[slot.noun] == 1 else replace(slot, noun=spoken_name(slot.key) or slot.noun)
        for slot in slots
    ]
    by_noun: dict[str, ParameterSlot] = {}
    for slot in sorted(fuller, key=lambda slot: not slot.required):
        noun = slot.noun if slot.required else ""
        while noun in by_noun:
            noun += " again"
        if noun or slot.noun not in by_noun:
            by_noun[noun or slot.noun] = replace(slot, noun=noun or slot.noun)
    keys = {slot.path: slot for slot in by_noun.values()}
    return tuple(keys[slot.path] for slot in slots if slot.path in keys)


def _slots(schema: Mapping[str, Any], path: SlotPath, about: str) -> Iterator[ParameterSlot]:
    """The leaves of an argument schema; of an optional object or list of objects none."""
    needed = schema.get("required")
    for name, below in member_schemas(schema).items():
        must = not isinstance(needed, list) or name in needed or (bool(path) and not needed)
        if _inner_object(below) is None:
            if not path or must:
                yield slot_of(below, (*path, name), required=must, about=about)
        elif must:
            yield from _leaves(below, (*path, name), about)


def _leaves(schema: Mapping[str, Any], path: SlotPath, about: str) -> Iterator[ParameterSlot]:
    """The leaves of an object, or of the one element of a list of objects."""
    inner = _inner_object(schema)
    if inner is not None:
        yield from _slots(inner, path if inner is schema else (*path, 0), about)


def _inner_object(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The object that a parameter is or lists; None for other parameters."""
    if schema.get("type") == "object":
        return schema
    items = as_schema(schema.get("items"))
    return items if items.get("type") == "object" else None


def with_object(tool: ToolSpec, name: str) -> ToolSpec:
    """A tool of a user's file whose calls always give an optional object, or list of objects, among its parameters."""
    function = tool.definition["function"]
    if any(slot.path[0] == name for slot in tool.slots):
        return tool
    schema = member_schemas(function["parameters"]).get(name, {})
    slots = tuple(_leaves(schema, (name,), function["description"]))
    widened = _distinguishable((*tool.slots, *slots))
    keys = [slot.key for slot in widened if slot not in tool.slots]
    return replace(tool, slots=widened, clauses=tuple(with_more_places(each, keys) for each in tool.clauses))


def slot_of(schema: Mapping[str, Any], path: SlotPath, *, required: bool, about: str = "") -> ParameterSlot:
    """What values a leaf of a schema takes, and what a user calls it.

    Args:
        about: the description of the tool; empty for a field of a result.
    """
    key = re.sub(r"\W", "_", "_".join(step for step in path if isinstance(step, str)))
    name = str(path[-1])
    noun = name if len(path) == 1 else key
    is_list = schema.get("type") == "array"
    inner = as_schema(schema.get("items")) if is_list else schema
    bounds = value_bounds(inner)
    kind = guess_kind(name, inner)
    form = str(inner.get("format"))
    if is_id(name) and not is_list and (id_form := form_of(inner)) != "other":
        return ParameterSlot(path, key, noun_of(noun, "id"), "id", required, (), bounds, id_form)
    is_text = kind != "enum" and inner.get("type") == "string"
    other_form = form in _KINDS_OF_FORMATS and form != "date"
    is_day = is_text and kind == "date" and not is_list and not other_form
    days = day_form(inner, about) if is_day else None
    if days is not None:
        return ParameterSlot(path, key, noun_of(noun, kind), kind, required, days=days)
    if is_text and "pattern" in inner and form not in _KINDS_OF_FORMATS:
        told, kind = noun_of(noun, kind), PATTERN_KIND + str(inner["pattern"])
        return ParameterSlot(path, key, told, f"list:{kind}" if is_list else kind, required)
    if is_text and form in _KINDS_OF_FORMATS:
        # A pattern beside it says the same.
        kind = _KINDS_OF_FORMATS[form]
    if kind == "text":
        # A name fits more places than a sentence does.
        kind = "title"
    members = tuple(enum_of(inner))
    if is_text:
        kind, members = _by_examples(name, kind, inner, schema, about)
    told = noun_of(noun, kind)
    return ParameterSlot(path, key, told, f"list:{kind}" if is_list else kind, required, members, bounds)


def _by_examples(
    name: str, kind: str, inner: Mapping[str, Any], schema: Mapping[str, Any], about: str
) -> tuple[str, tuple[Any, ...]]:
    """Kind and members of a text, by what its definition gives as examples: rather these than words drawn for any text.

    Args:
        inner: the schema of one value.
        schema: that of the parameter, which may be a list.
    """
    examples = given_examples(inner) or given_examples(schema)
    if kind in _FREE_TEXT_KINDS and takes_tickers(name, schema, about, examples):
        return "ticker", ()
    codes = are_codes(examples)
    if kind == "country" and codes and all(len(example) == 2 for example in examples):
        return "country code", ()
    if kind == "date" and examples:
        # Their form is not known, or they would have become days.
        return "enum", tuple(examples)
    if not examples or not (kind in _FREE_TEXT_KINDS or (kind in _NAMED_KINDS and codes)):
        return kind, ()
    if len(examples) > 1:
        return "enum", tuple(examples)
    if any(letter.isdigit() for letter in examples[0]):
        return LIKE_KIND + examples[0], ()
    return ("enum", tuple(examples)) if codes else (kind, ())
