"""Puts noise into the tools of one unit, and takes its new names out of replies."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from wildtool.alter.base import AlteredUnit, Exchange
from wildtool.alter.bilingual import bilingual_tool, own_records
from wildtool.alter.noise.renames import Level, Renames
from wildtool.draws import seeded_draw
from wildtool.json_codec import as_list, as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.types import Message, Request, Tool

TYPO_SHARE = {Level.slight: 0.05, Level.medium: 0.15, Level.heavy: 0.30}
"""Words of a description with a typing error."""
MISSING_SHARE = {Level.slight: 0.25, Level.medium: 0.5, Level.heavy: 1.0}
"""Descriptions that are taken away."""
DISTRACTORS = {Level.slight: 2, Level.medium: 5, Level.heavy: 10}
"""Tools that are added."""
_WORD = re.compile(r"[A-Za-z][a-z]{3,}|[\u4e00-\u9fff]{2,4}")
"""A word that can bear a typing error. Words in capitals, such as YYYY-MM-DD, say how a value is written."""


class NoisyTools(AlteredUnit):
    """The noise in the tools of one unit: names stay the same through all of its requests."""

    def __init__(self, levels: Mapping[str, Level], seed: str, lang: str) -> None:
        """Args: levels: by kind of noise; lang: language of the tools that are added."""
        self._levels = levels
        self._seed, self._lang = seed, lang
        self._names = Renames(self._level("names"), f"{seed} names")
        self._parameters: dict[str, Renames] = {}
        self._sent: dict[tuple[str, str], tuple[str, str]] = {}
        """Name and arguments as the benchmark reads them to those that the model sent."""
        self._last: tuple[list[Tool], list[Tool]] = [], []
        """The tools of the last request, as they are and as the model sees them: most requests have the same."""

    def exchange(self, request: Request) -> Exchange:
        tools = self.tools(request.tools)
        messages = [self.shown(message) for message in request.messages]

        def gold(style: str) -> Message:
            assert request.gold is not None
            return self.shown(request.gold(style))

        noisy = replace(request, tools=tools, messages=messages, gold=request.gold and gold)
        return self.restored((yield noisy))

    def tools(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools of a request as the model sees them; they are not changed in place."""
        last, altered = self._last
        if list(tools) != last:
            offered = self._with_distractors(tools) if tools else []
            self._names.extend(name for name in map(tool_name, offered) if name)
            altered = [self._tool(tool) for tool in self._ordered(offered)]
            self._last = list(tools), altered
        return list(altered)

    def shown(self, message: Message) -> Message:
        """A message of the history, or a gold answer, as the model sees it."""
        return with_calls(message, self._shown_call)

    def restored(self, message: Message) -> Message:
        """A reply as the benchmark reads it."""
        return with_calls(message, self._restored_call)

    def _level(self, kind: str) -> Level:
        return self._levels.get(kind, Level.none)

    def _random(self, kind: str, where: str) -> Random:
        return seeded_draw(f"{self._seed} {kind} {where}")

    def _tool(self, tool: Tool) -> Tool:
        name, function = tool_name(tool), as_object(tool.get("function"))
        if not name:
            return tool
        function = self._described(function, f"tool {name}") | {"name": self._names.shown(name)}
        if isinstance(function.get("parameters"), dict):
            schema = as_object(function["parameters"])
            function["parameters"] = self._schema(schema, name, self._renames(name))
        return {**tool, "function": function}

    def _schema(self, schema: Mapping[str, Any], where: str, renames: Renames) -> dict[str, Any]:
        """A schema with noise in its parameters, whose own description is left as it is; what is no properties, required
        names or list items stays."""
        noisy = dict(schema)
        if isinstance(schema.get("properties"), dict):
            properties = as_object(schema["properties"])
            names = list(properties)
            if self._level("order") is Level.heavy:
                self._random("order", where).shuffle(names)
            renames.extend(names)
            noisy["properties"] = {
                renames.shown(name): self._part(properties[name], f"{where}.{name}", renames.inside(name))
                for name in names
            }
        if isinstance(schema.get("required"), list):
            noisy["required"] = [
                renames.shown(name) if isinstance(name, str) else name for name in as_list(schema["required"])
            ]
        if isinstance(schema.get("items"), dict):
            noisy["items"] = self._part(schema["items"], f"{where}[]", renames.inside())
        return noisy

    def _part(self, schema: Any, where: str, renames: Renames) -> Any:
        if not isinstance(schema, dict):
            return schema
        return self._schema(self._described(as_object(schema), where), where, renames)

    def _described(self, thing: Mapping[str, Any], where: str) -> dict[str, Any]:
        """A tool or parameter with noise in its description."""
        noisy, text = dict(thing), thing.get("description")
        if not isinstance(text, str):
            return noisy
        missing, typos = self._level("missing"), self._level("descriptions")
        if missing and self._random("missing", where).random() < MISSING_SHARE[missing]:
            del noisy["description"]
            return noisy
        if typos:
            random, share = self._random("descriptions", where), TYPO_SHARE[typos]
            text = _WORD.sub(
                lambda word: _misspelt(word[0], random) if random.random() < share else word[0], text
            )
        noisy["description"] = self._names.in_text(text)
        return noisy

    def _ordered(self, tools: list[Tool]) -> list[Tool]:
        level, random = self._level("order"), self._random("order", "tools")
        if level is Level.slight and len(tools) > 1:
            place = random.randrange(len(tools) - 1)
            tools[place : place + 2] = reversed(tools[place : place + 2])
        elif level > Level.slight:
            random.shuffle(tools)
        return tools

    def _with_distractors(self, tools: Sequence[Tool]) -> list[Tool]:
        offered, level = list(tools), self._level("distractors")
        if level:
            random, names = self._random("distractors", "tools"), set(map(tool_name, tools))
            more = [tool for tool in spare_tools(self._lang) if tool_name(tool) not in names]
            for tool in random.sample(more, min(DISTRACTORS[level], len(more))):
                offered.insert(random.randrange(len(offered) + 1), tool)
        return offered

    def _renames(self, tool: str) -> Renames:
        renames = Renames(self._level("params"), f"{self._seed} params {tool}")
        return self._parameters.setdefault(tool, renames)

    def _shown_call(self, name: str, arguments: Any) -> tuple[str, Any]:
        if isinstance(arguments, str) and (name, arguments) in self._sent:
            return self._sent[name, arguments]
        return self._names.shown(name), _rewritten(arguments, self._renames(name).shown_value)

    def _restored_call(self, name: str, arguments: Any) -> tuple[str, Any]:
        tool = self._names.restored(name)
        read = _rewritten(arguments, self._renames(tool).restored_value)
        if isinstance(arguments, str):
            self._sent[tool, read] = name, arguments
        return tool, read


@cache
def spare_tools(lang: str) -> tuple[Tool, ...]:
    """Tools of trades that no benchmark's tasks ask for, so that none of them is a right answer."""
    records = own_records("noise", "distractors.json")
    return tuple(bilingual_tool(record, lang) for record in records)


def with_calls(message: Message, change: Callable[[str, Any], tuple[str, Any]]) -> Message:
    """A message with another name and other arguments in each of its calls."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return message
    rewritten: list[Any] = []
    for call in as_list(calls):
        function = as_object(as_object(call).get("function"))
        if isinstance(name := function.get("name"), str):
            other, arguments = change(name, function.get("arguments"))
            sent = {"arguments": arguments} if "arguments" in function else {}
            call = {**call, "function": {**function, "name": other, **sent}}
        rewritten.append(call)
    return {**message, "tool_calls": rewritten}


def _rewritten(arguments: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with other names; a text that is no JSON object, and one without any such name, stays as it was."""
    if not isinstance(arguments, str):
        return change(arguments)
    try:
        value = read_bounded_json(arguments)
    except (ArgumentsError, RecursionError):
        return arguments
    rewritten = change(value)
    return arguments if rewritten == value else json.dumps(rewritten, ensure_ascii=False)


def _misspelt(word: str, random: Random) -> str:
    """A word with two neighbouring letters swapped, or one missing."""
    place = random.randrange(len(word) - 1)
    if random.random() < 0.5:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[: place + 1] + word[place + 2 :]
