"""Mistakes without marks: what only a maker of mistakes would write becomes what the set itself holds."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

from wildtool.json_codec import as_object, as_objects
from wildtool.judges.trajectories import GoldRun, arguments_of, said_by, with_arguments
from wildtool.judges.values import Path, ValuePool, argument_leaves, figures_in
from wildtool.types import Message

MARKS = re.compile(
    r"zzyzx|quuxly|zz_unknown|\bzz\b|no_such|NoSuch|77\.70|Somebody Else|a@b\.example|Another Tool| or another\b|987_?654"
    r"|urgent |紧急|\w(?:_v2|_x|V2)\b",
    re.IGNORECASE,
)
"""What only makers of mistakes write."""
_WHOLE = frozenset({"zzyzx quuxly", "zzyzx", "Somebody Else", "Equity:Opening", "Expenses:Travel", "x"})
"""Values that stand for any other value."""
_PARTS = ("zzyzx quuxly", "zzyzx", "77.70")
_KEYS = re.compile(r"zz_unknown|zz|no_such\w*|\w+_x|\w+_v2")
_RENAMED = re.compile(r"(\w[\w.]*?)(?:_v2|_x|V2|X)")
_ADDED_WORDS = ("weekly", "cheap", "spare", "second", "small", "northern", "used", "quiet", "early", "extra")
_ADDED_CHARACTERS = ("每周", "便宜", "备用", "小型", "安静", "早间", "二手", "北部")


class MarkLeftError(Exception):
    """A mark that the set has nothing for: the mistake is left out."""


@dataclass(slots=True)
class Unmarker:
    """Takes the marks out of the replies of one mistake; the same mark becomes the same value everywhere in it."""

    run: GoldRun
    values: ValuePool
    draw: Random
    _names: set[str] = field(default_factory=set[str])
    _gold: dict[tuple[str, Path], list[Any]] = field(default_factory=dict[tuple[str, Path], list[Any]])
    _drawn: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._names = {
            str(as_object(tool.get("function")).get("name")) for r in self.run.requests for tool in r.tools
        }
        for reply in self.run.replies:
            for name, arguments in said_by(self.run.rules, reply):
                self._names.add(name)
                for path, value in argument_leaves(arguments):
                    self._gold.setdefault((name, path), []).append(value)

    def replies(self, mutated: Sequence[Message]) -> tuple[Message, ...]:
        """The replies without marks. Raises MarkLeftError where one is left."""
        replies = tuple(reply if reply in self.run.replies else self._reply(reply) for reply in mutated)
        gold = json.dumps(self.run.replies, ensure_ascii=False)
        for reply in replies:
            if (mark := MARKS.search(json.dumps(reply, ensure_ascii=False))) and mark[0] not in gold:
                raise MarkLeftError
        return replies

    def _reply(self, reply: Message) -> Message:
        if reply.get("tool_calls"):
            return {**reply, "tool_calls": [self._call(call) for call in as_objects(reply["tool_calls"])]}
        text = reply.get("content")
        if not isinstance(text, str) or not text:
            return reply
        return {**reply, "content": self._text(text, reply)}

    # Calls -------------------------------------------------------------------------------------------

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        name = str(as_object(call.get("function")).get("name"))
        new = self._name(name)
        renamed = {**call, "function": {**as_object(call.get("function")), "name": new}}
        arguments = arguments_of(call)
        if arguments is None:
            return renamed
        tool = name if new == name else self._without_end(name)
        return with_arguments(renamed, self._value(tool, (), arguments))

    def _name(self, name: str) -> str:
        if name in self._names or self._without_end(name) not in self._names:
            return name
        return self._required(self.values.tool_name(self._names, self.draw))

    @staticmethod
    def _without_end(name: str) -> str:
        match = _RENAMED.fullmatch(name)
        return match[1] if match else name

    def _value(self, tool: str, path: Path, value: Any) -> Any:
        if isinstance(value, dict):
            members = cast(Mapping[str, Any], value)
            return {
                self._key(key, members): self._value(tool, (*path, key), part)
                for key, part in members.items()
            }
        if isinstance(value, list):
            return [self._value(tool, (*path, "[]"), part) for part in cast(list[Any], value)]
        return self._leaf(tool, path, value)

    def _key(self, key: str, beside: Mapping[str, Any]) -> str:
        if not _KEYS.fullmatch(key) or any(key in path for _, path in self._gold):
            return key
        return self._required(self.values.key({*beside}, self.draw))

    def _leaf(self, tool: str, path: Path, value: Any) -> Any:
        gold = self._gold.get((tool, path), [])
        if value in gold or value is None or isinstance(value, bool):
            return value
        like = gold[0] if gold else value
        if isinstance(value, int | float):
            is_turned = -value in gold and value < 0
            if not is_turned and value not in (987_654, 987_654.5):
                return value
            return self._required(self.values.other(tool, path, gold, value, self.draw))
        text = str(value)
        if text in _WHOLE or self._is_denied(text, gold):
            return self._required(self.values.other(tool, path, [*gold, text], like, self.draw))
        return self._added(self._in_part(tool, path, text, gold))

    @staticmethod
    def _is_denied(text: str, gold: Sequence[Any]) -> bool:
        return any(text in (f"not {each}", f"不是{each}", f"{each} or another") for each in gold)

    def _in_part(self, tool: str, path: Path, text: str, gold: Sequence[Any]) -> str:
        for mark in _PARTS:
            if mark not in text:
                continue
            if mark not in self._drawn:
                like = gold[0] if gold else text
                other = str(self._required(self.values.other(tool, path, [*gold, text], like, self.draw)))
                is_whole = mark == "77.70" or text.endswith((f" and {mark}", f"和{mark}"))
                self._drawn[mark] = other.lstrip("-") if is_whole else other.split()[-1]
            text = text.replace(mark, self._drawn[mark])
        return text

    def _added(self, text: str) -> str:
        text = re.sub(r"\burgent ", lambda _: f"{self.draw.choice(_ADDED_WORDS)} ", text)
        return text.replace("紧急", self.draw.choice(_ADDED_CHARACTERS))

    @staticmethod
    def _required(value: Any) -> Any:
        if value is None:
            raise MarkLeftError
        return value

    # Texts -------------------------------------------------------------------------------------------

    def _text(self, text: str, reply: Message) -> str:
        calls = said_by(self.run.rules, reply)
        for name, arguments in calls:
            new = self._name(name)
            text = self._replaced(text, name, new)
            text = self._rewritten(text, name if new == name else self._without_end(name), (), arguments)
        return self._figure(text) if re.fullmatch(r"-?[\d.,]+", text) else text

    def _rewritten(self, text: str, tool: str, path: Path, value: Any) -> str:
        """A text with the marks of a call that it writes replaced."""
        if isinstance(value, dict):
            members = cast(Mapping[str, Any], value)
            for key, part in members.items():
                text = self._rewritten(text, tool, (*path, key), part)
                text = self._replaced(text, key, self._key(key, members))
            return text
        if isinstance(value, list):
            for part in cast(list[Any], value):
                text = self._rewritten(text, tool, (*path, "[]"), part)
            return text
        return self._replaced(text, value, self._leaf(tool, path, value))

    @staticmethod
    def _replaced(text: str, old: Any, new: Any) -> str:
        if old == new:
            return text
        forms: Sequence[Callable[[Any], str]] = (lambda v: json.dumps(v, ensure_ascii=False), repr, str)
        for form in forms:
            if text.count(form(old)) == 1:
                return text.replace(form(old), form(new))
        raise MarkLeftError

    def _figure(self, text: str) -> str:
        """A bare figure in the words of the gold text, as an answer would say it."""
        texts = (str(reply.get("content") or "") for reply in reversed(self.run.replies))
        gold = self._required(next(filter(figures_in, texts), None))
        right = figures_in(gold)[0]
        other = self.values.figure(right, {right}, self.draw) if text == "77.70" else text
        return gold.replace(right, self._required(other), 1)
