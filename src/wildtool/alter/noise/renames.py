"""New names for the tools of a request and for their parameters, and the way back."""

import re
from collections.abc import Iterable
from enum import IntEnum
from random import Random
from string import ascii_lowercase
from typing import Any, cast

from wildtool.draws import seeded_draw
from wildtool.json_codec import as_list, as_object

NOT_OFFERED = " (not offered)"
"""Ends a name that the model was not offered, where an offered one was called so before: it stands for no tool."""
LONGEST_NAME = 64
"""Characters that endpoints take in a name."""
SHORTEST_RANDOM = 4
_IDENTIFIER = re.compile(r"(?<![A-Za-z])[A-Za-z][^\W_]*+[_.-][\w.-]*\w|(?<![a-z])[a-z]++[A-Z]\w*")
"""A name that cannot be taken for a word of plain text."""
_MEMBERS = ""
"""In place of a name: the names inside the members of a list, which a name without text keeps apart from its own."""


class Level(IntEnum):
    """How strong a noise is."""

    none = 0
    slight = 1
    medium = 2
    heavy = 3


class Renames:
    """One to one, from names as the benchmark has them to names as the model sees them, each with those inside it."""

    def __init__(self, level: Level, seed: str) -> None:
        """Args: seed: of everything random; equal seeds give equal names."""
        self._level, self._seed = level, seed
        self._shown: dict[str, str] = {}
        self._back: dict[str, str] = {}
        self._inner: dict[str, Renames] = {}

    def extend(self, names: Iterable[str]) -> None:
        """Gives names to those that have none yet; the others keep theirs."""
        new = [name for name in dict.fromkeys(names) if name not in self._shown]
        used = {*self._shown, *self._back, *new}
        exchanged: dict[str, str] = {}
        if self._level is Level.heavy and len(new) > 1:
            order = seeded_draw(f"{self._seed} exchange {new[0]}").sample(new, len(new))
            exchanged = dict(zip(order, [*order[1:], order[0]], strict=True))
        for name in new:
            other = exchanged.get(name) or self._renamed(name, used)
            used.add(other)
            self._shown[name], self._back[other] = other, name

    def inside(self, name: str = _MEMBERS) -> "Renames":
        """The names inside what a name stands for; without one, those inside the members of a list."""
        return self._inner.setdefault(name, Renames(self._level, f"{self._seed}.{name}"))

    def shown(self, name: str) -> str:
        """What the model sees in place of a name; the name itself where it is not renamed."""
        return self._shown.get(name, name)

    def restored(self, name: str) -> str:
        """What a name of the model stands for."""
        if name in self._back:
            return self._back[name]
        return name + NOT_OFFERED if name in self._shown else name

    def in_text(self, text: str) -> str:
        """A text with new names, where an old one cannot be taken for a plain word."""
        return _IDENTIFIER.sub(lambda match: self.shown(match[0]), text)

    def shown_value(self, value: Any) -> Any:
        """Arguments as the model sees them."""
        return self._value(value, back=False)

    def restored_value(self, value: Any) -> Any:
        """Arguments of the model as the benchmark reads them."""
        return self._value(value, back=True)

    def _value(self, value: Any, *, back: bool) -> Any:
        if isinstance(value, dict):
            renamed: dict[str, Any] = {}
            for key, inner in as_object(value).items():
                name = self.restored(key) if back else self.shown(key)
                below = self._inner.get(name if back else key)
                renamed[name] = inner if below is None else below._value(inner, back=back)
            return renamed
        if isinstance(value, list) and _MEMBERS in self._inner:
            return [self._inner[_MEMBERS]._value(inner, back=back) for inner in as_list(value)]
        return cast(Any, value)

    def _renamed(self, name: str, used: set[str]) -> str:
        if self._level is Level.none or not name:
            return name
        random = seeded_draw(f"{self._seed} {name}")
        while True:
            other = _edited(name, random) if self._level is Level.slight else _disguised(name, random)
            if other not in used:
                return other


def _edited(name: str, random: Random) -> str:
    """One letter inserted, deleted or replaced, never the first character, which says most."""
    place = random.randrange(1, len(name) + 1)
    edits = ["insert"] * (len(name) < LONGEST_NAME) + ["delete", "replace"] * (place < len(name))
    # A name at its longest has its last character replaced.
    place, edit = (place, random.choice(edits)) if edits else (len(name) - 1, "replace")
    letter = "" if edit == "delete" else random.choice(ascii_lowercase)
    return name[:place] + letter + name[place + (edit != "insert") :]


def _disguised(name: str, random: Random) -> str:
    """The name backwards, or random letters."""
    backwards = name[::-1]
    if random.random() < 0.5 and backwards[0].isalpha() and backwards != name:
        return backwards
    length = min(max(len(name), SHORTEST_RANDOM), LONGEST_NAME)
    return "".join(random.choices(ascii_lowercase, k=length))
