"""The book takes a change only if beancount accepts the whole."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from benchmarks.ledger.book_build import CHECKING, TODAY, purchase, small_book
from wildtool.benchmarks.ledger import book as book_module
from wildtool.benchmarks.ledger.book import BookError, BookPosting, Directive, beancount_errors
from wildtool.errors import DataError


def test_a_purchase_is_kept_under_a_new_id():
    book = small_book()
    assert book.add(purchase(20, "Greenleaf", "5.00")) == ["e9"]
    assert book.entries["e9"].payee == "Greenleaf"
    assert beancount_errors(book.text) == ()


def test_what_does_not_balance_is_refused_in_beancounts_words_and_changes_nothing():
    book = small_book()
    before = book.entries
    entry = purchase(20, "Greenleaf", "5.00")
    wrong = replace(entry, postings=(entry.postings[0], BookPosting(CHECKING, Decimal("-4.00"), "EUR")))
    with pytest.raises(BookError, match=r"^Transaction does not balance: \(1\.00 EUR\)$"):
        book.add(wrong)
    assert book.entries is before
    assert book.add(entry) == ["e9"], "a refused entry takes no id"


def test_a_closed_account_takes_nothing():
    with pytest.raises(BookError, match="inactive account 'Assets:Old'"):
        small_book().add(purchase(20, "Greenleaf", "5.00", source="Assets:Old"))


def test_a_balance_check_that_fails_is_refused_with_the_balance():
    check = Directive("balance", TODAY, account=CHECKING, number=Decimal(5), currency="EUR")
    with pytest.raises(BookError, match=r"expected 5 EUR != accumulated -32\.50 EUR"):
        small_book().add(check)


def test_a_change_that_breaks_an_earlier_check_is_refused():
    book = small_book()
    book.add(Directive("balance", TODAY, account=CHECKING, number=Decimal("-32.50"), currency="EUR"))
    with pytest.raises(BookError, match="Balance failed"):
        book.change("e7", None)


def test_undo_gives_back_the_book_before_each_change():
    book = small_book()
    before = book.entries
    book.add(purchase(20, "Greenleaf", "5.00"))
    book.change("e7", None)
    book.undo()
    book.undo()
    assert book.entries is before
    with pytest.raises(BookError, match="nothing to undo"):
        book.undo()
    assert book.add(purchase(20, "Greenleaf", "5.00")) == ["e10"], "ids are not used twice"


def test_texts_cannot_leave_their_quotes():
    entry = replace(purchase(20, 'a" #tag\\', "5.00"), narration='"\\"', receipts=('x" \\n',))
    book = small_book()
    book.add(entry)
    assert beancount_errors(book.text) == ()
    from beancount import loader

    entries = loader.load_string(book.text)[0]
    last = next(each for each in entries if each.meta.get("id") == "e9")
    assert (last.payee, last.narration, last.tags) == (entry.payee, entry.narration, frozenset())
    assert last.meta["receipt1"] == entry.receipts[0]


def test_legs_are_those_of_the_period():
    legs = small_book().legs(date(2025, 11, 4), TODAY)
    assert legs == [
        ("e8", "Expenses:Books", Decimal("12.00"), "EUR"),
        ("e8", CHECKING, Decimal("-12.00"), "EUR"),
    ]


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(book_module, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"needs beancount and beanquery: pip install 'wildtool\[ledger\]'"):
        book_module.check_extra()
