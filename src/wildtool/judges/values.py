"""Values and names of a set, to put in the place of others: they look like what belongs there."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, cast

from wildtool.json_codec import as_object
from wildtool.judges.tiers import changes_something
from wildtool.judges.trajectories import GoldRun, said_by

Path = tuple[str, ...]
"""Where a value stands in arguments; elements of lists are `[]`."""
_LETTERS = re.compile(r"[a-z]+")
_CAPITALS = re.compile(r"[A-Z]+")
_DIGITS = re.compile(r"\d+")
_HAN = re.compile(r"[\u4e00-\u9fff]+")


def argument_leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of arguments that hold no others, with their places."""
    if isinstance(value, dict):
        for key, part in cast(Mapping[str, Any], value).items():
            yield from argument_leaves(part, (*path, key))
    elif isinstance(value, list):
        for part in cast(list[Any], value):
            yield from argument_leaves(part, (*path, "[]"))
    else:
        yield path, value


def key_of(path: Path) -> str:
    """The name of the argument, or of the member of an object, that a place belongs to; empty where there is none."""
    return next((part for part in reversed(path) if part != "[]"), "")


def look(value: Any) -> str:
    """What a value looks like: `2024-05-09` and `1999-12-31` look alike."""
    if not isinstance(value, str):
        return type(value).__name__
    for pattern, sign in ((_CAPITALS, "A"), (_LETTERS, "a"), (_DIGITS, "9"), (_HAN, "字")):
        value = pattern.sub(sign, value)
    return value


class ValuePool:
    """What the gold calls and texts of a set hold."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[str, Path], dict[str, Any]] = defaultdict(dict)
        self._by_key: dict[str, dict[str, Any]] = defaultdict(dict)
        self._figures: dict[str, dict[str, None]] = defaultdict(dict)
        self._tools: dict[str, None] = {}
        self._keys: dict[str, None] = {}
        self._calls: dict[str, dict[str, list[str]]] = defaultdict(dict)

    def add_run(self, run: GoldRun) -> None:
        """Takes what a gold run holds."""
        for request in run.requests:
            for tool in request.tools:
                self._tools[str(as_object(tool.get("function")).get("name"))] = None
        for step in run.steps:
            reply = run.replies[step]
            for name, arguments in said_by(run.rules, reply):
                self.add_call(name, arguments)
                if reply.get("tool_calls") and changes_something(name):
                    self._calls[name].setdefault(run.item.id, []).append(
                        json.dumps(arguments, ensure_ascii=False)
                    )
            if not reply.get("tool_calls"):
                self.add_text(str(reply.get("content") or ""))

    def call(
        self, offered: Sequence[str], item: str, past: Collection[str], draw: Random
    ) -> tuple[str, str] | None:
        """A gold call of one of these tools, with its arguments as text, of another item if there is one. Only calls of
        tools that change something.

        Args:
            past: arguments of calls that were made already, as text.
        """
        entries = [
            (name, other == item, text)
            for name in offered
            for other, texts in self._calls.get(name, {}).items()
            for text in texts
            if text not in past
        ]
        foreign = [each for each in entries if not each[1]]
        if not entries:
            return None
        name, _, text = draw.choice(foreign or entries)
        return name, text

    def add_call(self, name: str, arguments: Any) -> None:
        """Takes the values of a gold call."""
        self._tools[name] = None
        for path, value in argument_leaves(arguments):
            if value in (None, "", "None") or isinstance(value, bool):
                continue
            text_of_value = json.dumps(value, ensure_ascii=False)
            self._by_place[name, path][text_of_value] = value
            key = key_of(path)
            self._by_key[key][text_of_value] = value
            self._keys[key] = None

    def add_text(self, text: str) -> None:
        """Takes the figures of a gold text."""
        for figure in figures_in(text):
            self._figures[look(figure)][figure] = None

    def other(self, tool: str, path: Path, not_these: Iterable[Any], like: Any, draw: Random) -> Any:
        """Another value for a place of a tool's arguments; None where the set has none.

        Args:
            not_these: what is right there.
            like: a value whose type it has, and whose look if the set has such.
        """
        right = [*not_these]
        for entries in (self._by_place[tool, path], self._by_key[key_of(path)]):
            alternatives = [
                value for value in entries.values() if type(value) is type(like) and _differs(value, right)
            ]
            alike = [value for value in alternatives if look(value) == look(like)]
            if alternatives:
                return draw.choice(alike or alternatives)
        return None

    def figure(self, like: str, not_these: Collection[str], draw: Random) -> str | None:
        """Another figure of a text with the same look; None where the set has none."""
        alternatives = [
            figure
            for figure in self._figures[look(like)]
            if figure not in not_these and len(figure) == len(like)
        ]
        near = [figure for figure in alternatives if 0.5 <= _size(figure) / max(_size(like), 1e-9) <= 2]
        return draw.choice(near or alternatives) if alternatives else None

    def tool_name(self, not_these: Collection[str], draw: Random) -> str | None:
        """The name of a tool of the set that is none of these."""
        alternatives = [name for name in self._tools if name not in not_these]
        return draw.choice(alternatives) if alternatives else None

    def key(self, not_these: Collection[str], draw: Random) -> str | None:
        """The name of an argument of the set that is none of these."""
        alternatives = [key for key in self._keys if key and key not in not_these]
        return draw.choice(alternatives) if alternatives else None


def _size(figure: str) -> float:
    return float(re.sub(r"[:,].*", "", figure).rstrip(".") or 0) if figure.count(".") < 2 else 0.0


_FIGURE = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)*(?![\w/-]|[.,:]\d)")


def figures_in(text: str) -> list[str]:
    """The numbers of a text, clock times among them; none of a date or of a code."""
    return [figure for figure in _FIGURE.findall(text) if len(figure) > 1]


def _differs(value: Any, right: Iterable[Any]) -> bool:
    if not isinstance(value, str):
        return all(value != each for each in right)
    plain = value.casefold().strip()
    plains = [str(each).casefold().strip() for each in right]
    return all(plain not in each and each not in plain for each in plains)
