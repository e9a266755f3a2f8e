"""A small book for tests."""

from datetime import date
from decimal import Decimal

from wildtool.benchmarks.ledger.book import Book, BookPosting, Directive

TODAY = date(2025, 11, 20)
CHECKING, FOOD = "Assets:Bank:Checking", "Expenses:Food:Groceries"


def purchase(day: int, payee: str, amount: str, category: str = FOOD, source: str = CHECKING) -> Directive:
    number = Decimal(amount)
    legs = BookPosting(category, number, "EUR"), BookPosting(source, -number, "EUR")
    return Directive("transaction", date(2025, 11, day), payee, postings=legs)


def small_book() -> Book:
    start = date(2025, 1, 1)
    accounts = (CHECKING, FOOD, "Expenses:Books", "Assets:Old")
    return Book(
        [
            *(Directive("open", start, account=account) for account in accounts),
            Directive("close", date(2025, 2, 1), account="Assets:Old"),
            Directive("price", start, currency="USD", number=Decimal("0.92"), price_currency="EUR"),
            purchase(3, "Corner Market", "20.50"),
            purchase(7, "Page One", "12.00", "Expenses:Books"),
        ]
    )
