"""The kinds of items, and their plans: language, date, offered tools, wording; drawn before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Literal

from wildtool.draws import seeded_draw
from wildtool.errors import UsageError, unknown_name
from wildtool_data.make.core.diversity import FORMS, LENGTHS, TONES
from wildtool_data.make.core.plan import WEEKDAYS, YEAR, Lang, Quota

GenerationMode = Literal["written", "played"]


@dataclass(frozen=True, slots=True)
class ItemKind:
    """What items of a kind have in common."""

    share: int
    """Dialogues of it in the published English data; its default share."""
    candidates: tuple[int, int]
    """Fewest and most tools that are offered, as published."""
    mode: GenerationMode
    """`written` in one reply, or `played` by the roles user, agent and tool."""
    turns: tuple[int, int] = (1, 1)
    """Fewest and most requests of a dialogue."""
    parameter_class: str = ""
    """The class of parameters that the call must use; empty if any will do."""


ITEM_PARAMETER_CLASSES = ("number", "enum", "list", "bool", "object-short", "object-deep")
ITEM_KINDS: Mapping[str, ItemKind] = {
    **{name: ItemKind(50, (3, 5), "written", parameter_class=name) for name in ITEM_PARAMETER_CLASSES[:4]},
    **{name: ItemKind(50, (1, 5), "written", parameter_class=name) for name in ITEM_PARAMETER_CLASSES[4:]},
    "single": ItemKind(100, (1, 5), "written"),
    "parallel": ItemKind(100, (1, 5), "written"),
    "adjust": ItemKind(50, (2, 3), "played", (2, 3)),
    "switch": ItemKind(50, (2, 7), "played", (2, 2)),
    "preference": ItemKind(50, (3, 7), "written"),
    "similar": ItemKind(50, (2, 2), "written"),
    "incomplete": ItemKind(50, (1, 5), "played"),
    "error": ItemKind(50, (1, 5), "played"),
    "irrelevant": ItemKind(50, (1, 4), "written"),
}
IMPERFECT = ("incomplete", "error", "irrelevant")
"""Kinds whose right answer is no call."""
MAX_ITEM_CALLS = 5
"""Calls of a `parallel` item at most; the others take one for each turn."""


ITEM_SHARES: Mapping[str, int] = {name: kind.share for name, kind in ITEM_KINDS.items()}


def parse_shares(texts: Sequence[str], usual: Mapping[str, int] = ITEM_SHARES) -> dict[str, int]:
    """Kinds with their shares: all, or those that are named, such as `single=3`. Raises UsageError.

    Args:
        usual: all kinds, with the share that each has where none is given.
    """
    shares: dict[str, int] = {}
    for text in texts:
        name, sign, number = text.partition("=")
        if name not in usual:
            raise UsageError(unknown_name("kind", name, usual))
        if sign and not (number.isascii() and number.isdigit() and 0 < int(number) < 1_000_000):
            raise UsageError(f"--kinds {text!r}: a share is a whole number above 0, such as {name}=3")
        shares[name] = int(number) if sign else usual[name]
    return shares or dict(usual)


_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """The plan of one item."""

    index: int
    seed: str
    """Seed of everything that is drawn for this item."""
    kind: str
    """A key of `ITEM_KINDS`."""
    lang: Lang
    date: datetime
    dated: bool
    """Whether the request states the date."""
    candidates: int
    """Tools that are offered, if there are enough."""
    turns: int
    form: str
    tone: str
    length: str
    turn: int = 0
    """How many plans of this number were lost before this one."""

    @property
    def name(self) -> str:
        """Unique within a set: `3`, or `3.1` for its first replacement."""
        return f"{self.index}.{self.turn}" if self.turn else str(self.index)

    def replanned(self, turn: int) -> "ItemPlan":
        """The same kind with other tools; everything else is drawn again."""
        return replace(self, seed=f"{self.seed}/another/{turn}", turn=turn)

    def stream(self, purpose: str) -> Random:
        """Random numbers for one purpose, the same each time."""
        return seeded_draw(f"{self.seed}/{purpose}")

    @property
    def time(self) -> str:
        """The sentence about the date; empty if there is none."""
        if not self.dated:
            return ""
        day = WEEKDAYS[self.lang][self.date.weekday()]
        if self.lang == "zh":
            return f"今天是{self.date:%Y年%m月%d日}，{day}。"
        return f"Today is {day}, {_MONTHS[self.date.month - 1]} {self.date.day}, {self.date.year}."


def item_plans(
    items: int, shares: Mapping[str, int], *, seed: str, langs: Sequence[Lang]
) -> Iterator[ItemPlan]:
    """Plans of a set: languages by turns, and in each the kinds by their shares in every part of it.

    Raises:
        UsageError: for numbers below 1 or no language.
    """
    if items < 1 or not langs or not shares:
        raise UsageError("a set needs at least one item, one kind and one language")
    kinds = [_kinds(shares, seeded_draw(f"{seed}/kinds/{lang}")) for lang in langs]
    for index in range(items):
        yield _plan(index, f"{seed}/{index}", kinds[index % len(langs)].next(), langs[index % len(langs)])


def _kinds(shares: Mapping[str, int], draw: Random) -> Quota:
    names = list(shares)
    draw.shuffle(names)
    return Quota({name: shares[name] for name in names})


def _plan(index: int, seed: str, name: str, lang: Lang) -> ItemPlan:
    draw, kind = seeded_draw(f"{seed}/plan"), ITEM_KINDS[name]
    return ItemPlan(
        index=index,
        seed=seed,
        kind=name,
        lang=lang,
        date=datetime(YEAR, 1, 1) + timedelta(days=draw.randrange(365)),
        # Preference items have a profile instead; about half of the others state the date.
        dated=name == "similar" or (name != "preference" and draw.random() < 0.5),
        candidates=draw.randint(*kind.candidates),
        turns=draw.randint(*kind.turns),
        form=draw.choice(FORMS),
        tone=draw.choice(TONES),
        length=draw.choice(LENGTHS),
    )
