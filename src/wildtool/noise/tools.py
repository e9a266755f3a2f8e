"""Puts noise into the tools of one item, and takes its new names out of replies."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from wildtool.altered import bilingual_tool
from wildtool.json_codec import as_list, as_object
from wildtool.noise.levels import Level, Noise
from wildtool.noise.renames import ParameterRenames, Renames
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.types import Message, Tool

TYPO_SHARE = {Level.slight: 0.05, Level.medium: 0.15, Level.heavy: 0.30}
"""Words of a description with a typing error."""
MISSING_SHARE = {Level.slight: 0.25, Level.medium: 0.5, Level.heavy: 1.0}
"""Descriptions that are taken away."""
DISTRACTORS = {Level.slight: 2, Level.medium: 5, Level.heavy: 10}
"""Tools that are added."""
_WORD = re.compile(r"[A-Za-z][a-z]{3,}|[\u4e00-\u9fff]{2,4}")
"""A word that can bear a typing error. Words in capitals, such as YYYY-MM-DD, say how a value is written."""


class NoisyTools:
    """The noise in the tools of one item: names stay the same through all requests of the item."""

    def __init__(self, noise: Noise, item: str, lang: str) -> None:
        """Args: lang: language of the tools that are added."""
        self._noise, self._lang = noise, lang
        self._seed = f"{noise.seed} {item}"
        self._names = Renames(noise.level("names"), f"{self._seed} names")
        self._parameters: dict[str, ParameterRenames] = {}
        self._said: dict[tuple[str, str], tuple[str, str]] = {}
        """Name and arguments as the benchmark reads them to those that the model sent."""
        self._last: tuple[list[Tool], list[Tool]] = [], []
        """The tools of the last request, as they are and as the model sees them: most requests have the same."""

    def tools(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools of a request as the model sees them; they are not changed in place."""
        last, seen = self._last
        if list(tools) != last:
            offered = self._with_distractors(tools) if tools else []
            self._names.extend(name for name in map(_name, offered) if name is not None)
            seen = [self._tool(tool) for tool in self._ordered(offered)]
            self._last = list(tools), seen
        return list(seen)

    def shown(self, message: Message) -> Message:
        """A message of the history, or a gold answer, as the model sees it."""
        return self._with_calls(message, self._shown_call)

    def restored(self, message: Message) -> Message:
        """A reply as the benchmark reads it."""
        return self._with_calls(message, self._restored_call)

    def _tool(self, tool: Tool) -> Tool:
        name, function = _name(tool), as_object(tool.get("function"))
        if name is None:
            return tool
        function = self._described(function, f"tool {name}") | {"name": self._names.shown(name)}
        if isinstance(function.get("parameters"), dict):
            schema = self._schema(as_object(function["parameters"]), name)
            function["parameters"] = self._renames(name).schema(schema)
        return {**tool, "function": function}

    def _schema(self, schema: Mapping[str, Any], where: str) -> dict[str, Any]:
        """A schema with noise in its descriptions and in the order of its parameters."""
        changed = dict(schema)
        properties = as_object(schema.get("properties"))
        if properties:
            names = list(properties)
            if self._noise.level("order") is Level.heavy:
                self._random("order", where).shuffle(names)
            changed["properties"] = {
                name: self._schema(
                    self._described(as_object(properties[name]), f"{where}.{name}"), f"{where}.{name}"
                )
                if isinstance(properties[name], dict)
                else properties[name]
                for name in names
            }
        if isinstance(schema.get("items"), dict):
            inner = self._described(as_object(schema["items"]), f"{where}[]")
            changed["items"] = self._schema(inner, f"{where}[]")
        return changed

    def _described(self, thing: Mapping[str, Any], where: str) -> dict[str, Any]:
        """A tool or parameter with noise in its description."""
        changed, text = dict(thing), thing.get("description")
        if not isinstance(text, str):
            return changed
        missing, typos = self._noise.level("missing"), self._noise.level("descriptions")
        if missing and self._random("missing", where).random() < MISSING_SHARE[missing]:
            del changed["description"]
            return changed
        if typos:
            random = self._random("descriptions", where)
            text = _WORD.sub(
                lambda found: (
                    _misspelt(found[0], random) if random.random() < TYPO_SHARE[typos] else found[0]
                ),
                text,
            )
        changed["description"] = self._names.in_text(text)
        return changed

    def _ordered(self, tools: list[Tool]) -> list[Tool]:
        level, random = self._noise.level("order"), self._random("order", "tools")
        if level is Level.slight and len(tools) > 1:
            place = random.randrange(len(tools) - 1)
            tools[place : place + 2] = reversed(tools[place : place + 2])
        elif level > Level.slight:
            random.shuffle(tools)
        return tools

    def _with_distractors(self, tools: Sequence[Tool]) -> list[Tool]:
        offered, level = list(tools), self._noise.level("distractors")
        if not level:
            return offered
        random, named = self._random("distractors", "tools"), set(map(_name, tools))
        more = [tool for tool in spare_tools(self._lang) if _name(tool) not in named]
        for tool in random.sample(more, min(DISTRACTORS[level], len(more))):
            offered.insert(random.randrange(len(offered) + 1), tool)
        return offered

    def _renames(self, tool: str) -> ParameterRenames:
        if tool not in self._parameters:
            seed = f"{self._seed} params {tool}"
            self._parameters[tool] = ParameterRenames(self._noise.level("params"), seed)
        return self._parameters[tool]

    def _random(self, kind: str, where: str) -> Random:
        return Random(f"{self._seed} {kind} {where}")

    def _with_calls(self, message: Message, change: Callable[[str, Any], tuple[str, Any]]) -> Message:
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or not calls:
            return message
        changed: list[Any] = []
        for call in as_list(calls):
            function = as_object(as_object(call).get("function"))
            name = function.get("name")
            if isinstance(name, str):
                other, arguments = change(name, function.get("arguments"))
                sent = {"arguments": arguments} if "arguments" in function else {}
                call = {**call, "function": {**function, "name": other, **sent}}
            changed.append(call)
        return {**message, "tool_calls": changed}

    def _shown_call(self, name: str, arguments: Any) -> tuple[str, Any]:
        if isinstance(arguments, str) and (name, arguments) in self._said:
            return self._said[name, arguments]
        return self._names.shown(name), _rewritten(arguments, self._renames(name).shown)

    def _restored_call(self, name: str, arguments: Any) -> tuple[str, Any]:
        tool = self._names.restored(name)
        read = _rewritten(arguments, self._renames(tool).restored)
        if isinstance(arguments, str):
            self._said[tool, read] = name, arguments
        return tool, read


@cache
def spare_tools(lang: str) -> tuple[Tool, ...]:
    """Tools of trades that no benchmark's tasks ask for, so that none of them is a right answer."""
    records = json.loads(files("wildtool.noise").joinpath("distractors.json").read_text("utf-8"))
    return tuple(bilingual_tool(record, lang) for record in records)


def _name(tool: Tool) -> str | None:
    name = as_object(tool.get("function")).get("name")
    return name if isinstance(name, str) else None


def _rewritten(arguments: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with other names; a text that is no JSON object, and one without any such name, stays as it was."""
    if not isinstance(arguments, str):
        return change(arguments)
    try:
        value = read_bounded_json(arguments)
    except (ArgumentsError, RecursionError):
        return arguments
    changed = change(value)
    return arguments if changed == value else json.dumps(changed, ensure_ascii=False)


def _misspelt(word: str, random: Random) -> str:
    """A word with two neighbouring letters swapped, or one missing."""
    place = random.randrange(len(word) - 1)
    if random.random() < 0.5:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[: place + 1] + word[place + 2 :]
