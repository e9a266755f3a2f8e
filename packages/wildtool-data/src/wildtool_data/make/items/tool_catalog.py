"""The tools that items are made from, and which of them one item offers."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from wildtool.toolcall.schema import as_schema, enum_of, member_schemas
from wildtool.toolcall.text.similarity import TfidfIndex
from wildtool.tools.schema.constraints import FORMAT_PATTERNS
from wildtool.tools.schema.definitions import definition_faults
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import AttemptFailedError
from wildtool_data.make.items.plan import ITEM_KINDS, ItemPlan
from wildtool_data.make.procedural.tool_sets import (
    KEPT_KEYWORDS,
    ParameterSlot,
    ToolSet,
    ToolSpec,
    built_in_tool_sets,
    read_tool_sets,
    result_schemas,
    tool_sets_by_language,
    with_object,
)
from wildtool_data.make.tools.graph import ToolGraph

ITEM_TOOL_KEYWORDS = (*KEPT_KEYWORDS, "pattern", "minLength", "maxLength", "minItems", "maxItems")
"""Keys of a parameter's schema that an item's tools keep."""
ITEM_TOOLS_FOLDER = Path(__file__).parent / "tools"
_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "date": {"format": "date"},
    "time": {"pattern": r"^([01]\d|2[0-3]):[0-5]\d$"},
    "email": {"format": "email"},
    "stars": {"minimum": 1, "maximum": 5},
    "percent": {"minimum": 1, "maximum": 100},
    "count": {"minimum": 1, "maximum": 99},
}
"""What the kinds of the built-in tools' parameters allow."""
_DIGITS_AT_END = re.compile(r"_\d+$")
_HEAD = re.compile(r"[，。,.;；(（:：]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LONGEST_NOUN = 16
MIN_TWIN_SIMILARITY = 0.2
"""Likeness of descriptions (0 to 1) from which two tools are on one subject."""
_LOOKED_AT = 40
"""Number of tools searched for related or unrelated ones."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools of one item."""

    offered: tuple[ToolSpec, ...]
    """In the order in which they are shown; of an irrelevant item with the one that will be removed."""
    targets: tuple[ToolSpec, ...]
    """Those that are to be called, one for each turn."""
    parameter: str = ""
    """The top-level parameter that the item is about: of the wanted class, or one that the user gets wrong."""
    returns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Result schemas of the tools that have one."""


class ToolCatalog:
    """All tools of a language."""

    def __init__(
        self, sets: Sequence[ToolSet], returns: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Args: returns: result schemas of the tools that have one."""
        self._returns = returns or {}
        self._every = list({tool.name: tool for tools in sets for tool in tools}.values())
        functions = [tool.definition["function"] for tool in self._every]
        self._likeness = TfidfIndex([f"{f['name']} {f['description']}" for f in functions])
        self._neighbours = ToolGraph(functions)
        self._able = [k for k, tool in enumerate(self._every) if _callable(tool)]
        self._fitting: dict[str, list[tuple[int, list[str]]]] = {}

    def choose(self, plan: ItemPlan, attempt: int) -> ToolChoice:
        """The tools of an item's attempt. Raises AttemptFailedError if no tool allows its kind."""
        draw = plan.stream(f"tools/{attempt}")
        fitting = self._fitting_tools(plan.kind)
        if not fitting:
            raise AttemptFailedError("tools", f"no tool of these allows an item of the kind {plan.kind}")
        first, parameters = draw.choice(fitting)
        targets = [first] * plan.turns
        if plan.kind == "switch":
            targets = [first, self._next(first, draw)]
        rest = self._distractors(plan, targets, draw)
        offered = [self._every[k] for k in dict.fromkeys([*targets, *rest])]
        draw.shuffle(offered)
        parameter = draw.choice(parameters) if parameters else ""
        targets_of_item = tuple(with_object(self._every[k], parameter) for k in targets)
        return ToolChoice(tuple(offered), targets_of_item, parameter, self._returns)

    def allows(self, kind: str) -> bool:
        """Whether some tool allows an item of a kind."""
        return bool(self._fitting_tools(kind))

    def _fitting_tools(self, kind: str) -> list[tuple[int, list[str]]]:
        if kind not in self._fitting:
            self._fitting[kind] = list(self._allowing(kind))
        return self._fitting[kind]

    def _allowing(self, kind: str) -> Iterator[tuple[int, list[str]]]:
        """The tools that an item of a kind can be about, each with the parameters that it can be about."""
        for k in self._able:
            parameters = _fitting(self._every[k], kind)
            if parameters is not None and (kind != "similar" or self._twin(k) is not None):
                yield k, parameters

    def _twin(self, tool: int) -> int | None:
        """The tool whose description is most like one, if it is on the same subject."""
        near = (k for k, _ in self._likeness.nearest(tool, 4, MIN_TWIN_SIMILARITY))
        return next((k for k in near if self._apart(k, [tool])), None)

    def _next(self, before: int, draw: Random) -> int:
        """A tool that the user can turn to: one related to the tool before."""
        walk = self._neighbours.walk(_LOOKED_AT, draw, before)
        for k in walk[1:]:
            if k in self._able and self._apart(k, [before]):
                return k
        raise AttemptFailedError("tools", "no second tool to turn to; give more tools")

    def _distractors(self, plan: ItemPlan, targets: Sequence[int], draw: Random) -> list[int]:
        """Distractors: the twin of a similar item, far off ones for an irrelevant one, in dialogues those that go
        together with the first tool, else any."""
        count = max(plan.candidates - len(set(targets)), 0)
        if plan.kind == "similar":
            twin = self._twin(targets[0])
            return [] if twin is None else [twin]
        if plan.turns > 1:
            walk = self._neighbours.walk(_LOOKED_AT, draw, targets[0])
            return [k for k in walk if self._apart(k, targets)][:count]
        apart = [k for k in range(len(self._every)) if self._apart(k, targets)]
        if plan.kind != "irrelevant":
            return draw.sample(apart, min(count, len(apart)))
        some = draw.sample(apart, min(_LOOKED_AT, len(apart)))
        far = sorted(some, key=lambda k: (self._likeness.similarity(targets[0], k), k))[: plan.candidates]
        if not far:
            raise AttemptFailedError(
                "tools", "nothing is left when the right tool is removed; give more tools"
            )
        return far

    def _apart(self, tool: int, targets: Sequence[int]) -> bool:
        """Whether a tool's name is no part of the targets' or the other way round: it would be mistaken for them."""
        name, target_names = self._every[tool].name, [self._every[k].name for k in targets]
        return not any(name in other or other in name for other in target_names)


def tool_catalogs(
    tools: Path | None, langs: Sequence[Lang], note: Callable[[str], None]
) -> dict[Lang, ToolCatalog]:
    """The tools of each language: those of a file, or the built-in ones.

    Raises DataError for a file that cannot be read or holds no usable tool.
    """
    sets = tool_sets_by_language(tools, langs, note, ITEM_TOOL_KEYWORDS, built_in_sets)
    returns = result_schemas(tools) if tools else {}
    return {
        lang: ToolCatalog([_with_nouns(each, lang) for each in own] if tools else own, returns)
        for lang, own in sets.items()
    }


@cache
def built_in_sets(lang: Lang) -> tuple[ToolSet, ...]:
    """The sessions' tools with what their parameters allow, and some with deep objects and patterns."""
    own = read_tool_sets(ITEM_TOOLS_FOLDER / f"{lang}.json", lang, lambda text: None, ITEM_TOOL_KEYWORDS)
    sets = tuple(tuple(map(_bounded, tools)) for tools in built_in_tool_sets(lang))
    return (*sets, *(_with_nouns(tools, lang) for tools in own))


def item_parameter_class(schema: Mapping[str, Any]) -> str:
    """The class of a parameter; empty for a plain text."""
    kind = schema.get("type")
    if kind in ("integer", "float", "number"):
        return "number"
    if kind == "boolean":
        return "bool"
    if kind == "string":
        return "enum" if enum_of(schema) else ""
    if kind == "array":
        return "object-deep" if as_schema(schema.get("items")).get("type") == "object" else "list"
    below = [child.get("type") for child in member_schemas(schema).values()]
    if not below:
        return ""
    return "object-deep" if {"object", "array"} & set(below) else "object-short"


def _fitting(tool: ToolSpec, kind: str) -> list[str] | None:
    """The parameters that an item of a kind can be about; None if the tool does not allow one."""
    parameters = tool.definition["function"]["parameters"]
    properties = member_schemas(parameters)
    classes = {name: item_parameter_class(schema) for name, schema in properties.items()}
    needed = parameters["required"]
    if atom := ITEM_KINDS[kind].parameter_class:
        able = [name for name in properties if classes[name] == atom]
    elif kind == "error":
        able = [name for name, schema in properties.items() if can_be_violated(schema)]
    elif kind == "incomplete":
        # A missing value must not be obvious from a default, or a yes or no.
        able = [name for name in needed if classes[name] not in ("bool", "object-deep", "object-short")]
    elif kind == "preference" and not any(classes[name] == "" for name in needed):
        return None
    else:
        return []
    return able or None


def _callable(tool: ToolSpec) -> bool:
    """Whether some call of a tool can be judged right: its definition is clear, it takes something, and its name does
    not end in a number, which would be taken for the number of a call."""
    clear = not definition_faults(tool.definition["function"])
    return clear and bool(tool.slots) and not _DIGITS_AT_END.search(tool.name)


def can_be_violated(schema: Mapping[str, Any]) -> bool:
    """Whether some text or number of the right type breaks a schema, so that a user can get it wrong."""
    kind = schema.get("type")
    if kind == "string":
        return bool(enum_of(schema)) or "pattern" in schema or schema.get("format") in FORMAT_PATTERNS
    return kind in ("integer", "float") and not {"minimum", "maximum"}.isdisjoint(schema)


def _bounded(tool: ToolSpec) -> ToolSpec:
    """A built-in tool that says what its parameters allow."""
    definition = copy.deepcopy(tool.definition)
    for slot in tool.slots:
        if len(slot.path) == 1 and slot.kind in _BOUNDS:
            definition["function"]["parameters"]["properties"][slot.path[0]].update(_BOUNDS[slot.kind])
    return replace(tool, definition=definition)


def _with_nouns(tools: ToolSet, lang: Lang) -> ToolSet:
    """Chinese tools whose parameters are called by what their descriptions begin with, not by English names."""
    if lang != "zh":
        return tools
    return tuple(replace(tool, slots=tuple(_with_noun(tool, slot) for slot in tool.slots)) for tool in tools)


def _with_noun(tool: ToolSpec, slot: ParameterSlot) -> ParameterSlot:
    schema: Any = tool.definition["function"]["parameters"]
    for step in slot.path:
        schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
    return replace(slot, noun=chinese_noun(schema) or slot.noun)


def chinese_noun(schema: Mapping[str, Any]) -> str:
    """What a parameter is called by the beginning of its description; empty if that is long or not Chinese."""
    head = _HEAD.split(str(schema.get("description", "")))[0].strip()
    return head if _CHINESE.search(head) and len(head) <= _LONGEST_NOUN else ""
