"""Differences of books, and amounts that users ask for."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from benchmarks.ledger.book_build import CHECKING, FOOD, TODAY, purchase
from wildtool.benchmarks.ledger.book import BookPosting, Directive, is_one_line
from wildtool.benchmarks.ledger.meaning import (
    BookDifference,
    difference_of,
    is_match,
    is_on_the_way,
    unmatched,
)
from wildtool.benchmarks.ledger.records import AmountQuestion, LedgerCall, LedgerChange, LedgerTurn

A, B, C = purchase(3, "A", "1.00"), purchase(4, "B", "2.00"), purchase(5, "C", "3.00")


def test_each_directive_has_one_partner():
    assert unmatched([A, A, B], [B, C, A]) == ([A], [C])
    assert unmatched([], [A]) == ([], [A])
    assert unmatched([A], []) == ([A], [])


def test_an_opening_may_be_of_any_day_and_nothing_else():
    opened, closed = (Directive(kind, TODAY, account="Assets:A") for kind in ("open", "close"))
    other = date(2025, 1, 1)
    assert is_match(opened, replace(opened, date=other))
    assert not is_match(closed, replace(closed, date=other))
    assert not is_match(opened, closed)
    assert not is_match(opened, replace(opened, account="Assets:B"))
    check = Directive("balance", TODAY, account="Assets:A", number=Decimal(1), currency="EUR")
    assert is_match(check, check)
    assert not is_match(check, replace(check, number=Decimal(2)))
    assert not is_match(check, replace(check, currency="USD"))


def test_prices_of_legs_matter():
    legs = (
        BookPosting(FOOD, Decimal(1), "USD", Decimal("0.92"), "EUR"),
        BookPosting(CHECKING, Decimal("-0.92"), "EUR"),
    )
    priced = replace(A, postings=legs)
    assert is_match(priced, replace(priced, postings=legs[::-1]))
    for other in (
        replace(legs[0], price=Decimal("0.93")),
        replace(legs[0], price_currency="GBP"),
        replace(legs[0], price=None),
    ):
        assert not is_match(priced, replace(priced, postings=(other, legs[1])))
    plain = replace(legs[0], price=None, price_currency="")
    assert not is_match(
        replace(A, postings=(plain,)), replace(A, postings=(replace(plain, price=Decimal(1)),))
    )
    twice = replace(A, postings=(legs[0], plain))
    assert is_match(twice, replace(twice, postings=(plain, legs[0])))
    assert not is_match(twice, replace(twice, postings=(plain, plain)))


def test_the_difference_of_books_is_what_went_and_what_came():
    before = {"e1": A, "e2": B}
    assert difference_of(before, {"e1": A, "e2": C}) == BookDifference([B], [C])
    assert difference_of(before, {"e2": B, "e3": A, "e4": C}) == BookDifference([], [C])
    assert difference_of(before, {}) == BookDifference([A, B], [])
    assert difference_of(before, before).is_empty
    assert not BookDifference([A], []).is_empty
    assert not BookDifference([], [A]).is_empty


def test_what_is_missing_of_changes_and_what_is_there_beside_them():
    difference = BookDifference([A], [B])
    changes = [LedgerChange(A, B), LedgerChange(None, C), LedgerChange(B, None)]
    assert difference.beside(changes) == (BookDifference([B], [C]), BookDifference([], []))
    assert difference.beside([]) == (BookDifference([], []), difference)
    assert difference.beside([LedgerChange(A, C)]) == (BookDifference([], [C]), BookDifference([], [B]))


FIXED = replace(purchase(5, "A", "2.00"), tags=frozenset(["t"]))


@pytest.mark.parametrize(
    ("gone", "new", "changes", "on_the_way"),
    [
        ([], [], [LedgerChange(None, A)], True),
        ([], [A], [LedgerChange(None, A), LedgerChange(None, B)], True),
        ([], [B, A], [LedgerChange(None, A), LedgerChange(None, B)], True),
        ([], [A, A], [LedgerChange(None, A), LedgerChange(None, A)], True),
        ([], [A, A], [LedgerChange(None, A)], False),
        ([], [A], [], False),
        ([A], [], [], False),
        ([A], [], [LedgerChange(A, None)], True),
        ([replace(A, payee="The A Market")], [], [LedgerChange(A, None)], True),
        ([replace(A, payee="")], [], [LedgerChange(A, None)], False),
        ([B], [], [LedgerChange(A, None)], False),
        ([A], [], [LedgerChange(A, FIXED)], False),
        ([], [FIXED], [LedgerChange(A, FIXED)], False),
        ([A], [FIXED], [LedgerChange(A, FIXED)], True),
        (
            [A],
            [replace(FIXED, payee="The A Market", postings=FIXED.postings[::-1])],
            [LedgerChange(A, FIXED)],
            True,
        ),
        ([A], [replace(A, date=FIXED.date)], [LedgerChange(A, FIXED)], False),
        ([A], [replace(A, tags=FIXED.tags)], [LedgerChange(A, FIXED)], False),
        ([A], [replace(FIXED, postings=A.postings)], [LedgerChange(A, FIXED)], True),
        ([A], [replace(A, postings=FIXED.postings)], [LedgerChange(A, FIXED)], True),
        ([A], [replace(A, postings=(FIXED.postings[0], A.postings[1]))], [LedgerChange(A, FIXED)], True),
        (
            [A],
            [replace(A, payee="The A Market", postings=(FIXED.postings[0], A.postings[1]))],
            [LedgerChange(A, FIXED)],
            True,
        ),
        ([A], [replace(A, postings=FIXED.postings[:1])], [LedgerChange(A, FIXED)], False),
        ([A], [purchase(3, "A", "3.00")], [LedgerChange(A, FIXED)], False),
        ([A], [purchase(3, "A", "2.00", source="Assets:Cash")], [LedgerChange(A, FIXED)], False),
    ],
)
def test_a_book_on_the_way_has_some_of_the_changes(
    gone: list[Directive], new: list[Directive], changes: list[LedgerChange], on_the_way: bool
):
    assert is_on_the_way(BookDifference(gone, new), changes) is on_the_way


def test_an_amount_is_of_the_legs_of_a_period_of_accounts_and_of_a_payee():
    dollars = replace(B, postings=tuple(replace(leg, currency="USD") for leg in B.postings))
    entries = [A, B, dollars, replace(C, payee="", narration="the A market")]

    def legs(last: int, first: int | None = None, accounts: tuple[str, ...] = ("Expenses",), **more: str):
        day = None if first is None else date(2025, 11, first)
        question = AmountQuestion(accounts, "EUR", date(2025, 11, last), day, **more)
        amounts = question.legs(entries)
        assert question.answer(entries) == abs(sum(amounts))
        return [*map(str, amounts)]

    assert legs(30) == ["1.00", "2.00", "3.00"]
    assert legs(4) == ["1.00", "2.00"]
    assert legs(4, 4) == ["2.00"]
    assert legs(5, 4) == ["2.00", "3.00"]
    assert legs(30, payee="A") == ["1.00", "3.00"]
    assert legs(30, accounts=(CHECKING,)) == ["-1.00", "-2.00", "-3.00"]
    assert legs(3, accounts=(FOOD, CHECKING)) == ["1.00", "-1.00"]
    assert legs(30, accounts=("Exp",)) == []
    assert legs(2) == []


def test_the_least_calls_of_a_turn_are_those_of_all_its_moves():
    call = LedgerCall("undo", {})
    turn = LedgerTurn("chat", "", (), ("How much?", (call, call), (call,), "Done."))
    assert turn.gold_calls == 3


@pytest.mark.parametrize(
    ("text", "one_line"),
    [("", True), ("a b·ü元", True), *((f"a{mark}", False) for mark in "\n\x00\u2028\u2029\ud800")],
)
def test_one_line_has_no_control_characters(text: str, one_line: bool):
    assert is_one_line(text) is one_line


@pytest.mark.parametrize(
    ("payee", "entry", "names"),
    [
        ("café Noir", replace(A, payee="CAFÉ-NOIR!"), True),
        ("noir", replace(A, payee="Cafe", narration="Noir"), True),
        ("cafe noir", replace(A, payee="Cafe", narration="Noir"), True),
        ("", A, True),
        ("AB", A, False),
    ],
)
def test_a_payee_is_named_by_its_letters(payee: str, entry: Directive, names: bool):
    assert entry.names_payee(payee) is names
