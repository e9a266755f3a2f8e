"""The tools that items are made from, and which of them one item offers."""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from rapidfuzz import fuzz

from wildtool.generate.constraints import FORMATS
from wildtool.generate.definitions import definition_faults
from wildtool.generate.items.item_plan import ItemPlan
from wildtool.generate.items.kinds import KINDS
from wildtool.generate.plan import Lang
from wildtool.generate.role_talk import LostError
from wildtool.generate.tool_sets import KEPT, MadeTool, Slot, ToolSet, built_in, read_tool_sets
from wildtool.toolcall.parameter_schema import as_schema, enum_of

KEYS = (*KEPT, "pattern", "minLength", "maxLength", "minItems", "maxItems")
"""Keys of a parameter's schema that an item's tools keep."""
BUILT_IN = Path(__file__).parent / "tools"
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
_FEW_ALIKE = 40
"""Likeness of descriptions (0 to 100) above which two tools are on one subject."""
Near = Callable[[MadeTool, Sequence[MadeTool], int, Random], list[MadeTool]]
"""From a tool and others, and how many are wanted: those that go well with it, the nearest first."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The tools of one item."""

    offered: tuple[MadeTool, ...]
    """In the order in which they are shown; of an irrelevant item with the one that will be removed."""
    targets: tuple[MadeTool, ...]
    """Those that are to be called, one for each turn."""
    parameter: str = ""
    """The top-level parameter that the item is about: of the wanted class, or one that the user gets wrong."""


class Catalogue:
    """All tools of a language."""

    def __init__(self, sets: Sequence[ToolSet], near: Near) -> None:
        self._near = near
        self._every = list({tool.name: tool for tools in sets for tool in tools}.values())
        self._able = [tool for tool in self._every if _callable(tool)]
        self._fitting: dict[str, list[tuple[MadeTool, list[str]]]] = {}

    def __getitem__(self, name: str) -> MadeTool:
        return next(tool for tool in self._every if tool.name == name)

    def choose(self, plan: ItemPlan, attempt: int) -> Choice:
        """The tools of an item's attempt. Raises LostError where no tool allows its kind."""
        draw = plan.stream(f"tools/{attempt}")
        if plan.kind not in self._fitting:
            found = ((tool, _fitting(tool, plan.kind)) for tool in self._able)
            self._fitting[plan.kind] = [(tool, names) for tool, names in found if names is not None]
        if not self._fitting[plan.kind]:
            raise LostError("tools", f"no tool of these allows an item of the kind {plan.kind}")
        target, parameters = draw.choice(self._fitting[plan.kind])
        targets = [target]
        while len(targets) < plan.turns:
            targets.append(self._next(plan, targets, draw))
        rest = self._others(plan, targets, draw)
        offered = list({tool.name: tool for tool in [*targets, *rest]}.values())
        draw.shuffle(offered)
        return Choice(tuple(offered), tuple(targets), draw.choice(parameters) if parameters else "")

    def _next(self, plan: ItemPlan, before: Sequence[MadeTool], draw: Random) -> MadeTool:
        """The tool of a later turn: the same where the user adjusts, else a near one."""
        if plan.kind == "adjust":
            return before[0]
        found = self._near(before[0], _apart(self._able, before), 1, draw)
        if not found:
            raise LostError("tools", "no second tool to turn to; give more tools")
        return found[0]

    def _others(self, plan: ItemPlan, targets: Sequence[MadeTool], draw: Random) -> list[MadeTool]:
        """Distractors: alike for a similar item, far off for an irrelevant one, near ones in dialogues, else any."""
        others = _apart(self._every, targets)
        wanted = plan.candidates - len({tool.name for tool in targets})
        if plan.kind == "similar":
            found = _most_alike(targets[0], others)
            if not found:
                raise LostError("tools", "no two of these tools are on one subject")
            return found[:1]
        if plan.kind == "irrelevant":
            far = sorted(others, key=lambda tool: (likeness(targets[0], tool), tool.name))
            pool = far[: max(plan.candidates, len(far) // 3)]
            if not pool:
                raise LostError("tools", "nothing is left when the right tool is removed; give more tools")
            return draw.sample(pool, min(plan.candidates, len(pool)))
        if plan.turns > 1:
            return self._near(targets[0], others, max(wanted, 0), draw)
        return draw.sample(others, min(max(wanted, 0), len(others)))


def catalogues(
    tools: Path | None, langs: Sequence[Lang], note: Callable[[str], None]
) -> dict[Lang, Catalogue]:
    """The tools of each language: those of a file, or the built-in ones.

    Raises DataError for a file that cannot be read or holds no usable tool.
    """
    found: dict[Lang, Catalogue] = {}
    for lang in langs:
        quiet: Callable[[str], None] = (lambda text: None) if found else note
        sets = read_tool_sets(tools, lang, quiet, KEYS) if tools else built_in_sets(lang)
        found[lang] = Catalogue([_with_nouns(s, lang) for s in sets] if tools else sets, near_tools)
    return found


@cache
def built_in_sets(lang: Lang) -> tuple[ToolSet, ...]:
    """The sessions' tools with what their parameters allow, and some with deep objects and patterns."""
    own = read_tool_sets(BUILT_IN / f"{lang}.json", lang, lambda text: None, KEYS)
    known = tuple(tuple(map(_bounded, tools)) for tools in built_in(lang))
    return (*known, *(_with_nouns(tools, lang) for tools in own))


def likeness(one: MadeTool, other: MadeTool) -> float:
    """How alike two tools read: 0 to 100."""
    return fuzz.token_set_ratio(_read(one), _read(other))


def near_tools(tool: MadeTool, others: Sequence[MadeTool], wanted: int, draw: Random) -> list[MadeTool]:
    """Some of the tools that read most like one."""
    ranked = sorted(others, key=lambda other: (-likeness(tool, other), other.name))
    pool = ranked[: max(3 * wanted, 4)]
    return draw.sample(pool, min(wanted, len(pool)))


def atom_of(schema: Mapping[str, Any]) -> str:
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
    below = [as_schema(child).get("type") for child in as_schema(schema.get("properties")).values()]
    if not below:
        return ""
    return "object-deep" if {"object", "array"} & set(below) else "object-short"


def _fitting(tool: MadeTool, kind: str) -> list[str] | None:
    """The parameters that an item of a kind can be about; None where the tool does not allow one."""
    parameters = tool.definition["function"]["parameters"]
    properties = {name: as_schema(child) for name, child in as_schema(parameters.get("properties")).items()}
    needed = parameters["required"]
    atom = KINDS[kind].atom
    if atom:
        return [name for name, schema in properties.items() if atom_of(schema) == atom] or None
    if kind == "error":
        return [name for name, schema in properties.items() if constrained(schema)] or None
    if kind == "incomplete":
        # What is missing must not be told by a default or a yes or no that goes without saying.
        able = [
            name
            for name in needed
            if atom_of(properties[name]) not in ("bool", "object-deep", "object-short")
        ]
        return able or None
    return [] if kind != "preference" or any(atom_of(properties[name]) == "" for name in needed) else None


def _most_alike(tool: MadeTool, others: Sequence[MadeTool]) -> list[MadeTool]:
    ranked = sorted(others, key=lambda other: (-likeness(tool, other), other.name))
    return [other for other in ranked if likeness(tool, other) >= _FEW_ALIKE]


def _apart(every: Sequence[MadeTool], targets: Sequence[MadeTool]) -> list[MadeTool]:
    """Tools whose names are no part of the targets' or the other way round, which would be mistaken for them."""
    return [
        tool
        for tool in {tool.name: tool for tool in every}.values()
        if not any(tool.name in target.name or target.name in tool.name for target in targets)
    ]


def _read(tool: MadeTool) -> str:
    words = re.sub(r"[_.\-]+", " ", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", tool.name)).casefold()
    told = str(tool.definition["function"]["description"]).casefold()
    # Chinese has no spaces between words; its characters are compared instead.
    spaced = _CHINESE.sub(r" \g<0> ", told)
    return f"{words} {spaced}"


def _callable(tool: MadeTool) -> bool:
    """Whether some call of a tool can be judged right: its definition is clear, it takes something, and its name does
    not end in a number, which would be taken for the number of a call."""
    clear = not definition_faults(tool.definition["function"])
    return clear and bool(tool.slots) and not _DIGITS_AT_END.search(tool.name)


def constrained(schema: Mapping[str, Any]) -> bool:
    """Whether some text or number of the right type breaks a schema, so that a user can get it wrong."""
    kind = schema.get("type")
    if kind == "string":
        return bool(enum_of(schema)) or "pattern" in schema or schema.get("format") in FORMATS
    return kind in ("integer", "float") and not {"minimum", "maximum"}.isdisjoint(schema)


def _bounded(tool: MadeTool) -> MadeTool:
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


def _with_noun(tool: MadeTool, slot: Slot) -> Slot:
    schema: Any = tool.definition["function"]["parameters"]
    for step in slot.path:
        schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
    head = _HEAD.split(str(schema.get("description", "")))[0].strip()
    told = _CHINESE.search(head) and len(head) <= _LONGEST_NOUN
    return replace(slot, noun=head) if told else slot
