"""What each tool answers, whole, on a book that has something of everything."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from benchmarks.ledger.book_build import CHECKING, FOOD, TODAY, purchase, small_book
from wildtool.benchmarks.ledger.book import MAX_DIRECTIVES, Book, BookError, BookPosting, Directive
from wildtool.benchmarks.ledger.tools import ToolAnswer, run_tool

BOOKS = "Expenses:Books"


def legs(amount: str, category: str = FOOD) -> list[dict[str, str]]:
    return [
        {"account": category, "amount": amount, "currency": "EUR"},
        {"account": CHECKING, "amount": f"-{amount}", "currency": "EUR"},
    ]


def addition(day: str = "2025-11-20", payee: str = "Zoo", **arguments: Any) -> dict[str, Any]:
    return {"date": day, "payee": payee, "narration": "", "postings": legs("1.00"), **arguments}


def rich_book() -> Book:
    book = small_book()
    hotel = (
        BookPosting(BOOKS, Decimal(100), "USD", Decimal("0.92"), "EUR"),
        BookPosting(CHECKING, Decimal("-92.00"), "EUR"),
    )
    book.add(
        replace(
            purchase(19, 'Z "x" \\', "5.00"),
            narration="näher",
            tags=frozenset(["b", "a"]),
            receipts=("r1", "r2"),
        ),
        Directive("transaction", TODAY, "Hotel", postings=hotel),
        Directive("balance", TODAY, account=FOOD, number=Decimal("25.50"), currency="EUR"),
    )
    return book


def answer(book: Book, name: str, **arguments: Any) -> Any:
    return json.loads(run_tool(book, TODAY, name, arguments).text)


def test_letters_of_all_languages_are_shown_as_they_are():
    assert '"narration": "näher"' in run_tool(rich_book(), TODAY, "query", {}).text


E7 = {
    "id": "e7",
    "date": "2025-11-03",
    "payee": "Corner Market",
    "narration": "",
    "postings": legs("20.50"),
}
E8 = {
    "id": "e8",
    "date": "2025-11-07",
    "payee": "Page One",
    "narration": "",
    "postings": legs("12.00", BOOKS),
}
E9 = {
    "id": "e9",
    "date": "2025-11-19",
    "payee": 'Z "x" \\',
    "narration": "näher",
    "postings": legs("5.00"),
    "tags": ["a", "b"],
    "receipts": ["r1", "r2"],
}
E10 = {
    "id": "e10",
    "date": "2025-11-20",
    "payee": "Hotel",
    "narration": "",
    "postings": [
        {"account": BOOKS, "amount": "100", "currency": "USD", "price": "0.92", "price_currency": "EUR"},
        {"account": CHECKING, "amount": "-92.00", "currency": "EUR"},
    ],
}


def test_the_text_of_a_book_has_each_kind_of_directive_with_its_id():
    assert rich_book().text.splitlines() == [
        "2025-01-01 open Assets:Bank:Checking",
        '  id: "e1"',
        "2025-01-01 open Expenses:Food:Groceries",
        '  id: "e2"',
        "2025-01-01 open Expenses:Books",
        '  id: "e3"',
        "2025-01-01 open Assets:Old",
        '  id: "e4"',
        "2025-02-01 close Assets:Old",
        '  id: "e5"',
        "2025-01-01 price USD 0.92 EUR",
        '  id: "e6"',
        '2025-11-03 * "Corner Market" ""',
        '  id: "e7"',
        "  Expenses:Food:Groceries  20.50 EUR",
        "  Assets:Bank:Checking  -20.50 EUR",
        '2025-11-07 * "Page One" ""',
        '  id: "e8"',
        "  Expenses:Books  12.00 EUR",
        "  Assets:Bank:Checking  -12.00 EUR",
        '2025-11-19 * "Z \\"x\\" \\\\" "näher" #a #b',
        '  id: "e9"',
        '  receipt1: "r1"',
        '  receipt2: "r2"',
        "  Expenses:Food:Groceries  5.00 EUR",
        "  Assets:Bank:Checking  -5.00 EUR",
        '2025-11-20 * "Hotel" ""',
        '  id: "e10"',
        "  Expenses:Books  100 USD @ 0.92 EUR",
        "  Assets:Bank:Checking  -92.00 EUR",
        "2025-11-20 balance Expenses:Food:Groceries 25.50 EUR",
        '  id: "e11"',
    ]
    assert rich_book().text.endswith('"e11"\n')


def test_several_directives_are_added_at_once_each_under_its_own_id():
    assert small_book().add(purchase(1, "A", "1.00"), purchase(2, "B", "1.00")) == ["e9", "e10"]


def test_a_directive_is_replaced_in_its_place():
    book = small_book()
    other = purchase(8, "Corner Shop", "3.00")
    book.change("e7", other)
    assert [*book.entries] == ["e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"]
    assert book.entries["e7"] == other
    book.change("e7", None)
    assert [*book.entries] == ["e1", "e2", "e3", "e4", "e5", "e6", "e8"]


def test_a_book_is_full_after_400_entries():
    filling = [
        Directive("price", date(2025, 1, 1), currency="USD", number=Decimal(1), price_currency="EUR")
    ] * 391
    book = small_book()
    book.add(*filling)
    assert book.add(purchase(20, "A", "1.00")) == ["e400"]
    assert len(book.entries) == MAX_DIRECTIVES == 400
    with pytest.raises(BookError, match=r"^the book is full: 400 entries$"):
        book.add(purchase(20, "B", "1.00"))


QUERIES: list[tuple[dict[str, Any], list[Any], dict[str, Any]]] = [
    (
        {},
        [E10, E9, E8, E7],
        {CHECKING: {"EUR": "-129.50"}, BOOKS: {"EUR": "12.00", "USD": "100"}, FOOD: {"EUR": "25.50"}},
    ),
    (
        {"start": "2025-11-03", "end": "2025-11-03"},
        [E7],
        {CHECKING: {"EUR": "-20.50"}, FOOD: {"EUR": "20.50"}},
    ),
    ({"start": "2025-11-04", "end": "2025-11-06"}, [], {}),
    ({"start": "2025-11-20"}, [E10], {CHECKING: {"EUR": "-92.00"}, BOOKS: {"USD": "100"}}),
    ({"tag": "a"}, [E9], {CHECKING: {"EUR": "-5.00"}, FOOD: {"EUR": "5.00"}}),
    ({"tag": "c"}, [], {}),
    ({"payee": " PAGE "}, [E8], {CHECKING: {"EUR": "-12.00"}, BOOKS: {"EUR": "12.00"}}),
    ({"payee": "\\ N", "tag": "b"}, [E9], {CHECKING: {"EUR": "-5.00"}, FOOD: {"EUR": "5.00"}}),
    ({"payee": "page", "tag": "b"}, [], {}),
    (
        {"accounts": ["Assets", BOOKS], "payee": "hotel"},
        [E10],
        {CHECKING: {"EUR": "-92.00"}, BOOKS: {"USD": "100"}},
    ),
    ({"accounts": [BOOKS]}, [E10, E8], {BOOKS: {"EUR": "12.00", "USD": "100"}}),
    (
        {"accounts": [], "payee": None, "end": "2025-11-03"},
        [E7],
        {CHECKING: {"EUR": "-20.50"}, FOOD: {"EUR": "20.50"}},
    ),
    ({"accounts": ["Income"] * 40}, [], {}),
]


@pytest.mark.parametrize(("arguments", "transactions", "totals"), QUERIES)
def test_a_query_answers_transactions_newest_first_and_totals_by_account(
    arguments: dict[str, Any], transactions: list[Any], totals: dict[str, Any]
):
    result = run_tool(rich_book(), TODAY, "query", arguments)
    assert not result.refused
    read = json.loads(result.text)
    assert read == {"transactions": transactions, "not_listed": 0, "totals": totals}
    assert [*read["totals"]] == sorted(totals)


def test_a_query_lists_40_transactions_and_counts_the_others():
    book = small_book()
    book.add(*(purchase(20 - number // 3, f"P{number}", "1.00") for number in range(39)))
    result = answer(book, "query", accounts=[FOOD])
    assert [each["id"] for each in result["transactions"]] == [f"e{number}" for number in range(9, 48)] + [
        "e7"
    ]
    assert result["not_listed"] == 0
    result = answer(book, "query")
    assert [each["id"] for each in result["transactions"]][-2:] == ["e47", "e8"]
    assert (len(result["transactions"]), result["not_listed"]) == (40, 1)
    assert result["totals"] == {CHECKING: {"EUR": "-71.50"}, BOOKS: {"EUR": "12.00"}, FOOD: {"EUR": "59.50"}}


def test_rates_are_those_of_a_currency_or_all():
    book = small_book()
    book.add(
        Directive("price", date(2025, 11, 1), currency="GBP", number=Decimal("1.10"), price_currency="EUR")
    )
    dollar = {"date": "2025-01-01", "currency": "USD", "price": "0.92", "price_currency": "EUR"}
    pound = {"date": "2025-11-01", "currency": "GBP", "price": "1.10", "price_currency": "EUR"}
    assert answer(book, "exchange_rates") == {"rates": [dollar, pound]}
    assert answer(book, "exchange_rates", currency="GBP") == {"rates": [pound]}
    assert answer(book, "exchange_rates", currency="EUR") == {"rates": []}
    assert answer(book, "list_commodities") == {"commodities": ["EUR", "GBP", "USD"]}


def test_duplicates_are_at_most_three_days_apart_and_equal_in_payee_and_legs():
    book = small_book()
    book.add(
        purchase(6, "Corner Market", "20.50"),
        purchase(4, "Corner Shop", "20.50"),
        purchase(3, "Corner Market", "20.51"),
        purchase(11, "Page One", "12.00", BOOKS),
        replace(purchase(10, "Corner Market", "20.50"), postings=purchase(1, "", "20.50").postings[::-1]),
        purchase(13, "Corner Market", "20.50"),
    )
    groups = answer(book, "find_duplicates")["groups"]
    assert [[each["id"] for each in group] for group in groups] == [["e7", "e9", "e13", "e14"]]
    assert groups[0][0] == E7


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("query", {"start": "2025-1-1"}, "start: expected a text such as 2025-06-30"),
    ("query", {"end": "2025-02-30"}, "end: 2025-02-30 is no date"),
    ("query", {"accounts": "x"}, "accounts: expected a list of at most 40"),
    ("query", {"accounts": ["Income"] * 41}, "accounts: expected a list of at most 40"),
    ("query", {"accounts": ["x"]}, "accounts: expected a text such as Expenses:Food"),
    ("query", {"tag": "x y"}, "tag: expected a text such as trip-2025"),
    ("query", {"payee": 7}, "payee: expected one line of text, at most 120 characters"),
    ("exchange_rates", {"currency": "eur"}, "currency: expected a text such as EUR"),
    ("add_transaction", {}, "add_transaction: date is missing"),
    (
        "add_transaction",
        {"date": "2025-11-20", "payee": "x", "who": 1},
        "add_transaction has no parameter 'who'",
    ),
    ("add_transaction", {"x" * 50: 1}, f"add_transaction has no parameter '{'x' * 40}'"),
    ("ä" * 50, {}, "there is no tool '" + "\\xe4" * 40 + "'"),
    ("add_transaction", addition(postings=legs("1.00")[:1]), "postings: a transaction has two legs or more"),
    (
        "add_transaction",
        addition(postings=legs("1.00") * 6 + legs("1.00")[:1]),
        "postings: expected a list of at most 12",
    ),
    (
        "add_transaction",
        addition(payee="x" * 121),
        "payee: expected one line of text, at most 120 characters",
    ),
    (
        "add_transaction",
        addition(narration="a\nb"),
        "narration: expected one line of text, at most 120 characters",
    ),
    ("add_transaction", addition(tags=["t"] * 13), "tags: expected a list of at most 12"),
    ("add_transaction", addition(tags=["-"]), "tag: expected a text such as trip-2025"),
    (
        "add_transaction",
        addition(day="2025-11-21"),
        "date: 2025-11-21 is after today, 2025-11-20; the book takes no entries of the future",
    ),
    (
        "add_transaction",
        addition(postings=[{}, {}]),
        "account: expected a text such as Expenses:Food:Groceries",
    ),
    (
        "add_transaction",
        addition(postings=[{"account": FOOD, "amount": 1}, {}]),
        'amount: expected a text such as "12.50"',
    ),
    (
        "add_transaction",
        addition(postings=[{**legs("1.00")[0], "price": "0", "price_currency": "EUR"}, legs("1.00")[1]]),
        "price: expected a positive amount",
    ),
    (
        "correct_transaction",
        {"id": "e1", "payee": "Q"},
        "id: there is no transaction with this id; query lists them",
    ),
    ("correct_transaction", {"id": "e7", "payee": "Corner Market"}, "nothing would change"),
    ("delete_entry", {"id": "e1"}, "id: there is no transaction or balance with this id; query lists them"),
    ("delete_entry", {"id": 7}, "id: there is no transaction or balance with this id; query lists them"),
    (
        "attach_receipt",
        {"id": "e7", "receipt": " "},
        "receipt: expected a file name, and at most 12 receipts of one transaction",
    ),
    ("undo", {"id": "e7"}, "undo has no parameter 'id'"),
]


@pytest.mark.parametrize(("name", "arguments", "error"), REFUSALS)
def test_a_refusal_says_what_was_expected(name: str, arguments: dict[str, Any], error: str):
    book = rich_book()
    before = book.entries
    result = run_tool(book, TODAY, name, arguments)
    assert (json.loads(result.text), result.refused) == ({"error": error}, True)
    assert book.entries is before


def test_an_addition_keeps_all_that_was_said():
    book = small_book()
    priced = [
        {**legs("1.00")[0], "currency": "USD", "price": "0.92", "price_currency": "EUR"},
        legs("0.92")[1],
    ]
    assert answer(book, "add_transaction", **addition(payee="x" * 120)) == {"id": "e9"}
    arguments = addition("2025-11-19", " P ", narration=" n ", postings=priced, tags=["t-1", "t-1", "u"])
    assert run_tool(book, TODAY, "add_transaction", arguments) == ToolAnswer('{"id": "e10"}')
    assert book.entries["e10"] == Directive(
        "transaction",
        date(2025, 11, 19),
        "P",
        "n",
        (
            BookPosting(FOOD, Decimal("1.00"), "USD", Decimal("0.92"), "EUR"),
            BookPosting(CHECKING, Decimal("-0.92"), "EUR"),
        ),
        frozenset(["t-1", "u"]),
    )
    assert answer(book, "add_transaction", **addition(postings=legs("1.00") * 6)) == {"id": "e11"}
    assert len(book.entries["e11"].postings) == 12


def test_a_correction_changes_the_fields_that_it_names():
    book = rich_book()
    assert answer(book, "correct_transaction", id="e9", payee="Q", narration="") == {
        "entry": {**E9, "payee": "Q", "narration": ""}
    }
    plain = {name: value for name, value in E9.items() if name != "tags"}
    assert answer(book, "correct_transaction", id="e9", payee="Q", tags=[], date="2025-11-18") == {
        "entry": {**plain, "payee": "Q", "narration": "", "date": "2025-11-18"}
    }
    moved = legs("12.50", BOOKS)
    assert answer(book, "correct_transaction", id="e8", postings=moved) == {
        "entry": {**E8, "postings": moved}
    }


def test_only_legs_of_the_account_are_moved():
    book = small_book()
    assert answer(book, "recategorise", id="e8", from_account=BOOKS, to_account=FOOD) == {
        "entry": {**E8, "postings": legs("12.00")}
    }


def test_a_transaction_takes_twelve_receipts():
    book = small_book()
    names = [f"{number}.pdf" for number in range(12)]
    results = [answer(book, "attach_receipt", id="e7", receipt=f" {name} ") for name in names]
    assert results[-1] == {"entry": {**E7, "receipts": names}}
    assert answer(book, "attach_receipt", id="e7", receipt="13.pdf") == {
        "error": "receipt: expected a file name, and at most 12 receipts of one transaction"
    }


def test_accounts_are_opened_and_closed_today_where_no_day_is_named():
    book = small_book()
    assert answer(book, "open_account", account="Expenses:Zoo") == {"opened": "Expenses:Zoo"}
    assert answer(book, "close_account", account="Expenses:Zoo") == {"closed": "Expenses:Zoo"}
    assert answer(book, "open_account", account="Assets:A", date="2025-11-01") == {"opened": "Assets:A"}
    check = {"account": CHECKING, "amount": "-20.50", "currency": "EUR", "date": "2025-11-04"}
    assert answer(book, "assert_balance", **check) == {"id": "e12"}
    assert [*book.entries.values()][8:] == [
        Directive("open", TODAY, account="Expenses:Zoo"),
        Directive("close", TODAY, account="Expenses:Zoo"),
        Directive("open", date(2025, 11, 1), account="Assets:A"),
        Directive("balance", date(2025, 11, 4), account=CHECKING, number=Decimal("-20.50"), currency="EUR"),
    ]
