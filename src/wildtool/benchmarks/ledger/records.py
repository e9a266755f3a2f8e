"""What a session is: what the user says, what the book must then hold, and a shortest way there."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

from wildtool.benchmarks.ledger.book import Directive
from wildtool.benchmarks.ledger.tools import is_within
from wildtool.types import Lang

TurnKind = Literal["compositional", "correction", "question", "chat", "missing", "refused", "reference"]
TURN_KINDS: Mapping[TurnKind, str] = {
    "compositional": "two requests in one message",
    "correction": "a parameter of an earlier request is corrected",
    "question": "about what was just done",
    "chat": "nothing is to be done",
    "missing": "the amount is missing and must be asked for",
    "refused": "all or a part of it must not be done",
    "reference": "about something two or more turns back",
}
TURNS = 4


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """One thing that a turn asks for: a directive that comes, goes, or takes the place of another."""

    before: Directive | None
    after: Directive | None


@dataclass(frozen=True, slots=True)
class AmountQuestion:
    """An amount that the user asks for: what the legs of a period sum up to, in the book as it is then."""

    accounts: tuple[str, ...]
    currency: str
    last: date
    first: date | None = None
    """None for a balance."""
    payee: str = ""

    def legs(self, entries: Iterable[Directive]) -> list[Decimal]:
        """What is summed up."""
        return [
            leg.number
            for entry in entries
            if (self.first or date.min) <= entry.date <= self.last and entry.names_payee(self.payee)
            for leg in entry.postings
            if leg.currency == self.currency and any(is_within(leg.account, upper) for upper in self.accounts)
        ]

    def answer(self, entries: Iterable[Directive]) -> Decimal:
        """The amount, without sign."""
        return abs(sum(self.legs(entries), Decimal(0)))


@dataclass(frozen=True, slots=True)
class LedgerCall:
    """A call of the gold policy. An argument `id` that is a directive stands for the id that it has in the book."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LedgerTurn:
    """What the user says and what must follow."""

    kind: TurnKind
    text: str
    changes: tuple[LedgerChange, ...]
    gold: tuple[str | tuple[LedgerCall, ...], ...]
    """The replies of a shortest way: texts, and calls made together. `{answer}` in a text is the amount asked for."""
    question: AmountQuestion | None = None
    more: str = ""
    """What the user adds when asked; empty where nothing is missing."""

    @property
    def gold_calls(self) -> int:
        """The least calls that do it."""
        return sum(len(move) for move in self.gold if not isinstance(move, str))


@dataclass(frozen=True, slots=True)
class LedgerSession:
    """A book and four turns."""

    id: str
    lang: Lang
    today: date
    currency: str
    base: tuple[Directive, ...]
    """The book at the beginning."""
    turns: tuple[LedgerTurn, ...]


@cache
def texts_of(part: str) -> Mapping[str, Any]:
    """What people say in a language, or `world`: the accounts and currencies of all books."""
    return tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))[part]
