"""Plans of items: kind, language, date, number of offered tools, wording; drawn before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from wildtool.errors import UsageError
from wildtool.generate.core.plan import FORMS, LENGTHS, TONES, WEEKDAYS, Lang, Quota
from wildtool.generate.items.kinds import ITEM_KINDS

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
        return Random(f"{self.seed}/{purpose}")

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
    items: int, shares: Mapping[str, int], *, seed: str, langs: Sequence[Lang], year: int = 2025
) -> Iterator[ItemPlan]:
    """Plans of a set: languages by turns, and in each the kinds by their shares in every part of it.

    Raises:
        UsageError: for numbers below 1 or no language.
    """
    if items < 1 or not langs or not shares:
        raise UsageError("a set needs at least one item, one kind and one language")
    kinds = [_kinds(shares, Random(f"{seed}/kinds/{lang}")) for lang in langs]
    for index in range(items):
        yield _plan(
            index, f"{seed}/{index}", kinds[index % len(langs)].next(), langs[index % len(langs)], year
        )


def _kinds(shares: Mapping[str, int], draw: Random) -> Quota:
    names = list(shares)
    draw.shuffle(names)
    return Quota({name: shares[name] for name in names})


def _plan(index: int, seed: str, name: str, lang: Lang, year: int) -> ItemPlan:
    draw, kind = Random(f"{seed}/plan"), ITEM_KINDS[name]
    return ItemPlan(
        index=index,
        seed=seed,
        kind=name,
        lang=lang,
        date=datetime(year, 1, 1) + timedelta(days=draw.randrange(365)),
        # Preference items have a profile instead; about half of the others state the date.
        dated=name == "similar" or (name != "preference" and draw.random() < 0.5),
        candidates=draw.randint(*kind.candidates),
        turns=draw.randint(*kind.turns),
        form=draw.choice(FORMS),
        tone=draw.choice(TONES),
        length=draw.choice(LENGTHS),
    )
