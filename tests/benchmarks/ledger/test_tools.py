"""The tools of the book, and what they make of arguments that may be anything."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ledger.book_build import CHECKING, FOOD, TODAY, small_book
from wildtool.benchmarks.ledger.book import Book, beancount_errors
from wildtool.benchmarks.ledger.tools import LEDGER_TOOLS, READING_TOOLS, run_tool

NAMES = [tool["function"]["name"] for tool in LEDGER_TOOLS]


def answer(book: Book, name: str, **arguments: Any) -> Any:
    return json.loads(run_tool(book, TODAY, name, arguments).text)


def legs(amount: str, category: str = FOOD) -> list[dict[str, str]]:
    return [
        {"account": category, "amount": amount, "currency": "EUR"},
        {"account": CHECKING, "amount": f"-{amount}", "currency": "EUR"},
    ]


def test_a_query_lists_what_matches_all_filters_and_sums_it():
    book = small_book()
    result = answer(book, "query", accounts=["Expenses"], start="2025-11-01", payee="corner")
    assert [each["id"] for each in result["transactions"]] == ["e7"]
    assert result["totals"] == {FOOD: {"EUR": "20.50"}}
    assert answer(book, "query", accounts=[CHECKING])["totals"] == {CHECKING: {"EUR": "-32.50"}}
    assert answer(book, "query", tag="work")["transactions"] == []


def test_an_account_includes_those_below_it_and_no_namesakes():
    assert answer(small_book(), "query", accounts=["Expenses:Foo"])["transactions"] == []
    assert len(answer(small_book(), "query", accounts=["Expenses:Food"])["transactions"]) == 1


def test_each_write_changes_what_it_says():
    book = small_book()
    added = answer(
        book, "add_transaction", date="2025-11-20", payee="Zoo", narration="", postings=legs("9.00")
    )
    entry_id = added["id"]
    assert answer(book, "correct_transaction", id=entry_id, tags=["trip"])["entry"]["tags"] == ["trip"]
    moved = answer(book, "recategorise", id=entry_id, from_account=FOOD, to_account="Expenses:Books")
    assert moved["entry"]["postings"][0]["account"] == "Expenses:Books"
    assert answer(book, "attach_receipt", id=entry_id, receipt="a.pdf")["entry"]["receipts"] == ["a.pdf"]
    assert answer(book, "open_account", account="Expenses:Zoo") == {"opened": "Expenses:Zoo"}
    assert answer(book, "close_account", account="Expenses:Zoo") == {"closed": "Expenses:Zoo"}
    check = answer(
        book, "assert_balance", account=CHECKING, amount="-32.50", currency="EUR", date="2025-11-20"
    )
    assert answer(book, "delete_entry", id=check["id"]) == {"deleted": check["id"]}
    assert answer(book, "undo") == {"undone": True}
    assert check["id"] in book.entries
    assert beancount_errors(book.text) == ()


def test_reads_leave_the_book_alone():
    book = small_book()
    before = book.entries
    assert answer(book, "exchange_rates", currency="USD")["rates"][0]["price"] == "0.92"
    assert answer(book, "list_commodities") == {"commodities": ["EUR", "USD"]}
    assert answer(book, "find_duplicates") == {"groups": []}
    assert book.entries is before


def test_equal_entries_of_near_days_may_be_duplicates():
    book = small_book()
    for day in ("2025-11-05", "2025-11-12"):
        answer(book, "add_transaction", date=day, payee="Corner Market", narration="", postings=legs("20.50"))
    (group,) = answer(book, "find_duplicates")["groups"]
    assert [each["id"] for each in group] == ["e7", "e9"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("add_transaction", {"date": "2025-11-21"}, "payee is missing"),
        (
            "open_account",
            {"account": "Expenses:X", "date": "2025-11-21"},
            "2025-11-21 is after today, 2025-11-20",
        ),
        ("open_account", {"account": "Expenses:X", "date": "2025-02-30"}, "2025-02-30 is no date"),
        ("open_account", {"account": 'Expenses:X"\noption "title" "x'}, "account: expected a text such as"),
        ("open_account", {"account": CHECKING}, "Duplicate open directive for Assets:Bank:Checking"),
        ("open_account", {"account": "Expenses:X", "plugin": "os"}, "has no parameter 'plugin'"),
        (
            "recategorise",
            {"id": "e7", "from_account": "Expenses:Books", "to_account": FOOD},
            "nothing would change",
        ),
        (
            "recategorise",
            {"id": "e1", "from_account": FOOD, "to_account": FOOD},
            "there is no transaction with this id",
        ),
        (
            "attach_receipt",
            {"id": "e7", "receipt": 'a\n2025-01-01 include "/etc/passwd"'},
            "one line of text",
        ),
        ("query", {"payee": "x" * 500}, "one line of text"),
        ("query", {"accounts": ["' OR 1=1"]}, "accounts: expected a text such as"),
        ("query", {"tag": "x) OR TRUE"}, "tag: expected a text such as"),
        ("exec", {}, "there is no tool 'exec'"),
    ],
)
def test_an_argument_that_is_wrong_is_named_and_nothing_changes(name: str, arguments: Any, words: str):
    book = small_book()
    before = book.entries
    result = run_tool(book, TODAY, name, arguments)
    assert result.refused
    assert words in json.loads(result.text)["error"]
    assert book.entries is before


@pytest.mark.parametrize("amount", ["1e9", "1,5", "NaN", "", "١", "1" * 30, 5, 5.5, True, None])
def test_an_amount_is_a_plain_decimal_as_a_text(amount: Any):
    postings = [{"account": FOOD, "amount": amount, "currency": "EUR"}, *legs("5.00")[1:]]
    result = answer(
        small_book(), "add_transaction", date="2025-11-20", payee="", narration="", postings=postings
    )
    assert "amount: expected a text such as" in result["error"]


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["e7", "e8", "2025-11-20", CHECKING, FOOD, "Assets:Old", "5.00", "-5.00", "EUR", "USD"]),
    st.sampled_from(
        ['"', "\\", '\n2025-01-01 include "x"', 'option "plugin" "x"', "pushtag #a", "\ud800", "\x00"]
    ),
)
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
POSTING = st.fixed_dictionaries(
    {"account": st.sampled_from([CHECKING, FOOD, "Assets:Old"]) | TEXTS},
    optional={
        name: st.sampled_from(["5.00", "-5.00", "EUR", "USD", "0.92"]) | VALUES
        for name in ("amount", "currency", "price", "price_currency")
    },
)
PARAMETERS = sorted({name for tool in LEDGER_TOOLS for name in tool["function"]["parameters"]["properties"]})
CALLS = st.tuples(
    st.sampled_from([*NAMES, "eval"]),
    st.dictionaries(st.sampled_from(PARAMETERS), TEXTS | VALUES | st.lists(POSTING, max_size=3), max_size=6),
)


@given(st.lists(CALLS, max_size=4))
def test_no_arguments_raise_and_the_book_always_balances(calls: list[tuple[str, dict[str, Any]]]):
    book = small_book()
    for name, arguments in calls:
        before = book.entries
        result = run_tool(book, TODAY, name, arguments)
        json.loads(result.text)
        if result.refused or name in READING_TOOLS:
            assert book.entries is before
    assert beancount_errors(book.text) == ()


def test_required_parameters_are_declared_ones():
    for tool in LEDGER_TOOLS:
        parameters = tool["function"]["parameters"]
        assert set(parameters["required"]) <= set(parameters["properties"])
