"""The tools of the book: their schemas, and what each does with arguments that may be anything.

A call is answered by a JSON text. Whatever is wrong with its arguments is a sentence in that answer, never an exception.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from wildtool.benchmarks.ledger.book import Book, BookError, BookPosting, Directive, is_one_line
from wildtool.json_codec import as_object
from wildtool.types import Tool

MAX_LINE = 120
"""Of a payee, narration or receipt."""
MAX_LISTED = 40
"""Transactions that an answer lists; totals are of all."""
MAX_LEGS = 12
DUPLICATE_DAYS = 3
"""How far apart two equal transactions may be and still count as possible duplicates."""
_ACCOUNT = re.compile(
    r"(?:Assets|Liabilities|Equity|Income|Expenses)(?::[A-Z0-9][A-Za-z0-9-]{0,39}){1,5}", re.ASCII
)
_ACCOUNT_PREFIX = re.compile(rf"{_ACCOUNT.pattern}|Assets|Liabilities|Equity|Income|Expenses", re.ASCII)
_AMOUNT = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,4})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3,5}", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LedgerAnswer:
    """What a call is answered."""

    text: str
    refused: bool = False
    """True where the book took no change or could not read the arguments."""


LEDGER_TOOLS: Sequence[Tool] = json.loads(Path(__file__).with_name("tools.json").read_text(encoding="utf-8"))
"""The tools in OpenAI's shape."""
READING_TOOLS = frozenset(["query", "exchange_rates", "list_commodities", "find_duplicates"])
"""Tools that leave the book as it is; all others change it."""
_PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    tool["function"]["name"]: tool["function"]["parameters"] for tool in LEDGER_TOOLS
}


# Reading arguments -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Arguments of one call; each method gives a checked value or raises BookError."""

    arguments: Mapping[str, Any]
    today: date

    def has(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def line(self, name: str) -> str:
        value = self.arguments.get(name)
        if not isinstance(value, str) or len(value) > MAX_LINE or not is_one_line(value):
            raise BookError(f"{name}: expected one line of text, at most {MAX_LINE} characters")
        return value.strip()

    def fitting(self, name: str, pattern: re.Pattern[str], example: str) -> str:
        value = self.arguments.get(name)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise BookError(f"{name}: expected a text such as {example}")
        return value

    def account(self, name: str) -> str:
        return self.fitting(name, _ACCOUNT, "Expenses:Food:Groceries")

    def amount(self, name: str) -> Decimal:
        return Decimal(self.fitting(name, _AMOUNT, '"12.50"'))

    def currency(self, name: str) -> str:
        return self.fitting(name, _CURRENCY, "EUR")

    def day(self, name: str) -> date:
        text = self.fitting(name, _DATE, "2025-06-30")
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise BookError(f"{name}: {text} is no date") from None

    def past_day(self, name: str) -> date:
        """A day for an entry; today where it is left out."""
        day = self.day(name) if self.has(name) else self.today
        if day > self.today:
            raise BookError(
                f"{name}: {day} is after today, {self.today}; the book takes no entries of the future"
            )
        return day

    def each(self, name: str, most: int) -> list[Any]:
        values = self.arguments.get(name)
        if not isinstance(values, list) or len(cast(list[Any], values)) > most:
            raise BookError(f"{name}: expected a list of at most {most}")
        return cast(list[Any], values)

    def tags(self) -> frozenset[str]:
        tags = self.each("tags", MAX_LEGS) if self.has("tags") else []
        return frozenset(_Reader({"tag": tag}, self.today).fitting("tag", _TAG, "trip-2025") for tag in tags)

    def postings(self) -> tuple[BookPosting, ...]:
        legs = tuple(
            _Reader(as_object(leg), self.today)._posting() for leg in self.each("postings", MAX_LEGS)
        )
        if len(legs) < 2:
            raise BookError("postings: a transaction has two legs or more")
        return legs

    def _posting(self) -> BookPosting:
        account, number, currency = self.account("account"), self.amount("amount"), self.currency("currency")
        if not self.has("price"):
            return BookPosting(account, number, currency)
        if (price := self.amount("price")) <= 0:
            raise BookError("price: expected a positive amount")
        return BookPosting(account, number, currency, price, self.currency("price_currency"))

    def entry(self, book: Book, *kinds: str) -> tuple[str, Directive]:
        entry_id = self.arguments.get("id")
        entry = book.entries.get(entry_id) if isinstance(entry_id, str) else None
        if entry is None or entry.kind not in kinds:
            raise BookError(f"id: there is no {' or '.join(kinds)} with this id; query lists them")
        return cast(str, entry_id), entry


# What they do ----------------------------------------------------------------------------------------


def run_tool(book: Book, today: date, name: str, arguments: Mapping[str, Any]) -> LedgerAnswer:
    """Runs one call on a book. Never raises, whatever name and arguments are."""
    try:
        if name not in _RUN:
            raise BookError(f"there is no tool {name[:40]!a}")
        parameters = _PARAMETERS[name]
        if unknown := [key for key in arguments if key not in parameters["properties"]]:
            raise BookError(f"{name} has no parameter {unknown[0][:40]!a}")
        if missing := [key for key in parameters["required"] if arguments.get(key) is None]:
            raise BookError(f"{name}: {missing[0]} is missing")
        answer = _RUN[name](book, _Reader(arguments, today))
        return LedgerAnswer(json.dumps(answer, ensure_ascii=False))
    except BookError as error:
        return LedgerAnswer(json.dumps({"error": str(error)}, ensure_ascii=False), refused=True)


def _query(book: Book, read: _Reader) -> Any:
    first = read.day("start") if read.has("start") else date.min
    last = read.day("end") if read.has("end") else read.today
    accounts = [
        _Reader({"accounts": account}, read.today).fitting("accounts", _ACCOUNT_PREFIX, "Expenses:Food")
        for account in (read.each("accounts", MAX_LISTED) if read.has("accounts") else [])
    ]
    payee = read.line("payee").casefold() if read.has("payee") else ""
    tag = read.fitting("tag", _TAG, "trip-2025") if read.has("tag") else ""
    totals: dict[str, dict[str, Decimal]] = {}
    ids: dict[str, None] = {}
    for entry_id, account, number, currency in book.legs(first, last):
        entry = book.entries[entry_id]
        if accounts and not any(is_within(account, upper) for upper in accounts):
            continue
        if payee not in f"{entry.payee} {entry.narration}".casefold() or (tag and tag not in entry.tags):
            continue
        ids[entry_id] = None
        sums = totals.setdefault(account, {})
        sums[currency] = sums.get(currency, Decimal(0)) + number
    newest = sorted(ids, key=lambda entry_id: book.entries[entry_id].date, reverse=True)
    return {
        "transactions": [_described(entry_id, book.entries[entry_id]) for entry_id in newest[:MAX_LISTED]],
        "not_listed": len(newest[MAX_LISTED:]),
        "totals": {
            account: {currency: f"{number:f}" for currency, number in sums.items()}
            for account, sums in sorted(totals.items())
        },
    }


def is_within(account: str, upper: str) -> bool:
    """Whether an account is another one or lies below it."""
    return account == upper or account.startswith(f"{upper}:")


def leg_arguments(entry: Directive) -> list[dict[str, str]]:
    """The legs of a transaction as calls give them."""
    return [
        {"account": leg.account, "amount": f"{leg.number:f}", "currency": leg.currency}
        | ({} if leg.price is None else {"price": f"{leg.price:f}", "price_currency": leg.price_currency})
        for leg in entry.postings
    ]


def entry_arguments(entry: Directive) -> dict[str, Any]:
    """A transaction as calls give it."""
    return {
        "date": f"{entry.date}",
        "payee": entry.payee,
        "narration": entry.narration,
        "postings": leg_arguments(entry),
    }


def _described(entry_id: str, entry: Directive) -> dict[str, Any]:
    extras = {"tags": sorted(entry.tags), "receipts": [*entry.receipts]}
    present = {name: value for name, value in extras.items() if value}
    return {"id": entry_id, **entry_arguments(entry), **present}


def _add(book: Book, read: _Reader) -> Any:
    day, payee, narration = read.past_day("date"), read.line("payee"), read.line("narration")
    entry = Directive("transaction", day, payee, narration, read.postings(), read.tags())
    return {"id": book.add(entry)[0]}


def _correct(book: Book, read: _Reader) -> Any:
    entry_id, entry = read.entry(book, "transaction")
    changes: dict[str, Any] = {name: read.line(name) for name in ("payee", "narration") if read.has(name)}
    readers = {"date": partial(read.past_day, "date"), "postings": read.postings, "tags": read.tags}
    changes |= {name: value() for name, value in readers.items() if read.has(name)}
    return _rewrite(book, entry_id, entry, replace(entry, **changes))


def _rewrite(book: Book, entry_id: str, before: Directive, after: Directive) -> Any:
    if after == before:
        raise BookError("nothing would change")
    book.change(entry_id, after)
    return {"entry": _described(entry_id, after)}


def _delete(book: Book, read: _Reader) -> Any:
    entry_id, _ = read.entry(book, "transaction", "balance")
    book.change(entry_id, None)
    return {"deleted": entry_id}


def _recategorise(book: Book, read: _Reader) -> Any:
    entry_id, entry = read.entry(book, "transaction")
    source, target = read.account("from_account"), read.account("to_account")
    legs = tuple(replace(leg, account=target) if leg.account == source else leg for leg in entry.postings)
    return _rewrite(book, entry_id, entry, replace(entry, postings=legs))


def _account(kind: Literal["open", "close"], answer: str, book: Book, read: _Reader) -> Any:
    account = read.account("account")
    book.add(Directive(kind, read.past_day("date"), account=account))
    return {answer: account}


def _assert_balance(book: Book, read: _Reader) -> Any:
    day, account = read.past_day("date"), read.account("account")
    number, currency = read.amount("amount"), read.currency("currency")
    return {"id": book.add(Directive("balance", day, account=account, number=number, currency=currency))[0]}


def _attach(book: Book, read: _Reader) -> Any:
    entry_id, entry = read.entry(book, "transaction")
    receipt = read.line("receipt")
    if not receipt or len(entry.receipts) >= MAX_LEGS:
        raise BookError(f"receipt: expected a file name, and at most {MAX_LEGS} receipts of one transaction")
    return _rewrite(book, entry_id, entry, replace(entry, receipts=(*entry.receipts, receipt)))


def _rates(book: Book, read: _Reader) -> Any:
    currency = read.currency("currency") if read.has("currency") else ""
    rates = [entry for entry in book.entries.values() if entry.kind == "price"]
    names = ("date", "currency", "price", "price_currency")
    rows = [(f"{each.date}", each.currency, f"{each.number:f}", each.price_currency) for each in rates]
    return {"rates": [dict(zip(names, row, strict=True)) for row in rows if currency in ("", row[1])]}


def _commodities(book: Book, read: _Reader) -> Any:
    legs = (leg.currency for entry in book.entries.values() for leg in entry.postings)
    priced = (entry.currency for entry in book.entries.values() if entry.kind == "price")
    return {"commodities": sorted({*legs, *priced})}


def _duplicates(book: Book, read: _Reader) -> Any:
    alike: dict[Any, list[tuple[date, str]]] = defaultdict(list)
    for entry_id, entry in book.entries.items():
        if entry.kind == "transaction":
            legs = sorted((leg.account, leg.number, leg.currency) for leg in entry.postings)
            alike[entry.payee, tuple(legs)].append((entry.date, entry_id))
    near = timedelta(DUPLICATE_DAYS)
    groups = [
        [key for day, key in group if any(key != other and abs(day - its) <= near for its, other in group)]
        for group in alike.values()
    ]
    return {"groups": [[_described(key, book.entries[key]) for key in group] for group in groups if group]}


def _undo(book: Book, read: _Reader) -> Any:
    book.undo()
    return {"undone": True}


_RUN: Mapping[str, Callable[[Book, _Reader], Any]] = {
    "query": _query,
    "add_transaction": _add,
    "correct_transaction": _correct,
    "delete_entry": _delete,
    "recategorise": _recategorise,
    "open_account": partial(_account, "open", "opened"),
    "close_account": partial(_account, "close", "closed"),
    "assert_balance": _assert_balance,
    "attach_receipt": _attach,
    "exchange_rates": _rates,
    "list_commodities": _commodities,
    "find_duplicates": _duplicates,
    "undo": _undo,
}
