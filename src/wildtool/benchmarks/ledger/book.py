"""The account book: directives with stable ids as one beancount text, in which nothing is kept that beancount refuses.

beancount (GPL-2) reads the text and beanquery asks it; both come with the extra `ledger` and are imported here only. The
text is written from checked values alone, so that no argument of a call can become an option, a plugin or an include.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, Literal, cast

from wildtool.errors import DataError
from wildtool.toolcall.text.normal_form import normal_form

MAX_DIRECTIVES = 400
"""Directives that a book may hold: a model that only adds must not make it slow."""
_QUERY = (
    "SELECT entry_meta('id') AS id, account, number, currency WHERE date >= %(first)s AND date <= %(last)s"
)
"""In beanquery's language. Read once, as that takes a tenth of a second; values are parameters, so they are no syntax."""


class BookError(Exception):
    """A change or a question that the book does not take; its text is what the model is answered."""


@dataclass(frozen=True, slots=True)
class BookPosting:
    """One leg of a transaction."""

    account: str
    number: Decimal
    currency: str
    price: Decimal | None = None
    """Per unit, in `price_currency`; None for a leg in the book's own currency."""
    price_currency: str = ""


@dataclass(frozen=True, slots=True)
class Directive:
    """One entry of the book. Fields that its kind does not have keep their defaults."""

    kind: Literal["transaction", "open", "close", "balance", "price"]
    date: date
    payee: str = ""
    narration: str = ""
    postings: tuple[BookPosting, ...] = ()
    tags: frozenset[str] = frozenset()
    receipts: tuple[str, ...] = ()
    account: str = ""
    """Of open, close and balance."""
    number: Decimal = Decimal(0)
    """Of balance and price."""
    currency: str = ""
    """Of balance: of the number; of price: what is priced."""
    price_currency: str = ""

    def names_payee(self, payee: str) -> bool:
        """Whether letters and digits of a payee, without case, occur in the payee or the narration of this entry."""
        return _letters(payee) in _letters(self.payee + self.narration)

    def in_syntax(self, entry_id: str) -> str:
        """The directive in beancount's syntax, with its id as metadata."""
        return "\n".join([self._first_line(), *self._further_lines(entry_id)])

    def _first_line(self) -> str:
        day = self.date.isoformat()
        match self.kind:
            case "transaction":
                tags = "".join(f" #{tag}" for tag in sorted(self.tags))
                return f"{day} * {_quoted(self.payee)} {_quoted(self.narration)}{tags}"
            case "balance":
                return f"{day} balance {self.account} {self.number:f} {self.currency}"
            case "price":
                return f"{day} price {self.currency} {self.number:f} {self.price_currency}"
            case _:
                return f"{day} {self.kind} {self.account}"

    def _further_lines(self, entry_id: str) -> Iterator[str]:
        yield f"  id: {_quoted(entry_id)}"
        for number, receipt in enumerate(self.receipts, 1):
            yield f"  receipt{number}: {_quoted(receipt)}"
        for leg in self.postings:
            price = "" if leg.price is None else f" @ {leg.price:f} {leg.price_currency}"
            yield f"  {leg.account}  {leg.number:f} {leg.currency}{price}"


def _letters(name: str) -> str:
    """A name without case, spaces and marks."""
    return "".join(c for c in normal_form("NFKC", name).casefold() if c.isalnum())


def _quoted(text: str) -> str:
    """A text as beancount writes it; unprintable characters are refused before (`is_one_line`)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_one_line(text: str) -> bool:
    """Whether a text has no line ends, control characters or lone surrogates."""
    return not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)


Entries = Mapping[str, Directive]
"""Directives by id, in the order in which they were written."""


class Book:
    """A book that changes by whole directives, each change only if beancount accepts the result."""

    def __init__(self, directives: Iterable[Directive]) -> None:
        self.entries: Entries = {}
        """Never changed in place: who keeps it has the book as it was."""
        self._last_id = 0
        self._past: list[Entries] = []
        self.entries = {self._new_id(): directive for directive in directives}

    def _new_id(self) -> str:
        self._last_id += 1
        return f"e{self._last_id}"

    @property
    def text(self) -> str:
        """The whole book in beancount's syntax."""
        return book_text(self.entries)

    def add(self, *directives: Directive) -> list[str]:
        """Appends directives and gives their ids. Raises BookError, and then nothing has changed."""
        before = self._last_id
        new = {self._new_id(): directive for directive in directives}
        try:
            self._replace({**self.entries, **new})
        except BookError:
            self._last_id = before
            raise
        return [*new]

    def change(self, entry_id: str, directive: Directive | None) -> None:
        """Replaces a directive, or removes it. Raises BookError."""
        entries = {key: directive if key == entry_id else entry for key, entry in self.entries.items()}
        self._replace({key: entry for key, entry in entries.items() if entry is not None})

    def undo(self) -> None:
        """The book before the last change that was not undone. Raises BookError where there is none."""
        if not self._past:
            raise BookError("there is nothing to undo in this session")
        self.entries = self._past.pop()

    def _replace(self, entries: Entries) -> None:
        if len(entries) > MAX_DIRECTIVES:
            raise BookError(f"the book is full: {MAX_DIRECTIVES} entries")
        if errors := beancount_errors(book_text(entries)):
            raise BookError("; ".join(errors))
        self._past.append(self.entries)
        self.entries = entries

    def legs(self, first: date, last: date) -> list[tuple[str, str, Decimal, str]]:
        """Id, account, number and currency of each leg of a period, as beanquery gives them."""
        return _legs(self.text, first, last)


def book_text(entries: Entries) -> str:
    """Directives in beancount's syntax."""
    return "".join(f"{entry.in_syntax(entry_id)}\n" for entry_id, entry in entries.items())


# A session is judged again by its beginning for each mutant and each replay; a book takes 2 ms.
@lru_cache(maxsize=4096)
def beancount_errors(text: str) -> Sequence[str]:
    """What beancount finds wrong with a book; empty where it balances."""
    return tuple(dict.fromkeys(str(error.message) for error in _loaded(text)[1]))


def check_extra() -> None:
    """Raises DataError where the extra is not installed."""
    if missing := [name for name in ("beancount", "beanquery") if find_spec(name) is None]:
        raise DataError(f"ledger needs {' and '.join(missing)}: pip install 'wildtool[ledger]'")


@lru_cache(maxsize=32)
def _loaded(text: str) -> tuple[Any, Any, Any]:
    check_extra()
    from beancount import loader

    return cast(Any, loader).load_string(text, dedent=False)


@cache
def _parsed_query() -> Any:
    from beanquery import parser  # pyright: ignore[reportMissingTypeStubs, reportAttributeAccessIssue]

    return cast(Any, parser).parse(_QUERY)


@lru_cache(maxsize=512)
def _legs(text: str, first: date, last: date) -> list[tuple[str, str, Decimal, str]]:
    entries, errors, options = _loaded(text)
    import beanquery  # pyright: ignore[reportMissingTypeStubs]

    connection = cast(Any, beanquery).connect("beancount:", entries=entries, errors=errors, options=options)
    return connection.execute(_parsed_query(), {"first": first, "last": last}).fetchall()
