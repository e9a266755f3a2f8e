"""How turns are judged: by the book, by what was said, and by harm on the way."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from benchmarks.ledger.book_build import FOOD, TODAY, purchase, small_book
from wildtool.benchmarks.ledger.book import Entries
from wildtool.benchmarks.ledger.episode import TurnLog
from wildtool.benchmarks.ledger.judge import amounts_in, says_amount, turn_result
from wildtool.benchmarks.ledger.meaning import is_match
from wildtool.benchmarks.ledger.records import (
    AmountQuestion,
    LedgerChange,
    LedgerSession,
    LedgerTurn,
)

NEW = purchase(20, "Greenleaf Foods", "5.00")
FIXED = replace(NEW, postings=purchase(20, "", "6.00").postings)


def judged(changes: list[LedgerChange], *books: Entries, kind: Any = "correction", **turn: Any) -> Any:
    """The result of one turn that led through these books."""
    base = tuple(small_book().entries.values())
    asked = LedgerTurn(kind, "", tuple(changes), ("Done.",), **turn)
    session = LedgerSession("s", "en", TODAY, "EUR", base, (asked,))
    return turn_result(session, 0, [TurnLog([*books], texts=["Done."], ended=True)])


def with_entries(**entries: Any) -> Entries:
    return {**small_book().entries, **entries}


def test_ids_order_narration_and_the_spelling_of_payees_do_not_matter():
    spelled = replace(NEW, payee="GREENLEAF foods (Main St)", narration="weekly", postings=NEW.postings[::-1])
    assert is_match(NEW, spelled)
    assert is_match(NEW, replace(NEW, payee="", narration="Greenleaf Foods"))
    assert judged([LedgerChange(None, NEW)], small_book().entries, with_entries(e99=spelled)).error is None


@pytest.mark.parametrize(
    "other",
    [
        replace(NEW, payee="Greenleaf"),
        replace(NEW, date=date(2025, 11, 19)),
        replace(NEW, tags=frozenset(["work"])),
        replace(NEW, receipts=("a.pdf",)),
        purchase(20, "Greenleaf Foods", "5.01"),
        purchase(20, "Greenleaf Foods", "-5.00"),
        purchase(20, "Greenleaf Foods", "5.00", source="Assets:Cash"),
    ],
)
def test_everything_else_does(other: Any):
    assert not is_match(NEW, other)
    result = judged([LedgerChange(None, NEW)], small_book().entries, with_entries(e9=other))
    assert (result.error, result.harm) == ("wrong write", None)


def test_nothing_written_is_a_missing_write():
    result = judged([LedgerChange(None, NEW)], small_book().entries)
    assert result.error == "missing write"
    assert "Greenleaf Foods" in result.reason


def test_a_second_execution_is_harm():
    start = small_book().entries
    result = judged([LedgerChange(None, NEW)], start, with_entries(e9=NEW), with_entries(e9=NEW, e10=NEW))
    assert (result.error, result.harm, result.extra_writes) == ("second execution", "second execution", 1)
    again = judged([], with_entries(e9=NEW), with_entries(e9=NEW, e10=NEW), kind="question")
    assert again.error == "second execution"


def test_a_write_on_a_question_is_harm():
    result = judged([], small_book().entries, with_entries(e9=NEW), kind="question")
    assert (result.error, result.harm) == ("write not asked for", "write not asked for")


def test_a_book_that_was_wrong_for_a_moment_is_harm_though_it_ends_right():
    change = [LedgerChange(NEW, FIXED)]
    start, end = with_entries(e9=NEW), with_entries(e9=FIXED)
    assert judged(change, start, end).error is None
    for between in (small_book().entries, with_entries(e9=NEW, e10=FIXED), with_entries(e9=NEW, e10=NEW)):
        result = judged(change, start, between, with_entries(e10=FIXED))
        assert (result.error, result.harm, result.ends_right) == (
            "wrong on the way",
            "wrong on the way",
            True,
        )
    undone = judged([], start, small_book().entries, start, kind="chat")
    assert undone.error == "wrong on the way"


def test_changes_may_come_one_by_one_and_a_correction_field_by_field():
    other = purchase(19, "Page One", "7.00", "Expenses:Books")
    both = [LedgerChange(None, NEW), LedgerChange(None, other)]
    result = judged(both, small_book().entries, with_entries(e9=other), with_entries(e9=other, e10=NEW))
    assert result.error is None
    moved = replace(FIXED, date=date(2025, 11, 18))
    steps = with_entries(e9=NEW), with_entries(e9=FIXED), with_entries(e9=moved)
    assert judged([LedgerChange(NEW, moved)], *steps).error is None


def test_what_an_earlier_turn_should_have_written_cannot_be_corrected():
    assert judged([LedgerChange(NEW, FIXED)], small_book().entries).error == "earlier mistake"


def test_what_was_never_written_is_not_right_because_it_should_go():
    base = tuple(small_book().entries.values())
    turns = (
        LedgerTurn("compositional", "", (LedgerChange(None, NEW),), ("Done.",)),
        LedgerTurn("reference", "", (LedgerChange(NEW, None),), ("Done.",)),
    )
    session = LedgerSession("s", "en", TODAY, "EUR", base, turns)
    logs = [TurnLog([small_book().entries], ["Done."]) for _ in turns]
    assert turn_result(session, 1, logs).error == "earlier mistake"


def test_a_book_that_has_caught_up_is_right():
    base = tuple(small_book().entries.values())
    turns = (
        LedgerTurn("compositional", "", (LedgerChange(None, NEW),), ("Done.",)),
        LedgerTurn("correction", "", (LedgerChange(NEW, FIXED),), ("Done.",)),
        LedgerTurn("reference", "", (LedgerChange(FIXED, None),), ("Done.",)),
    )
    session = LedgerSession("s", "en", TODAY, "EUR", base, turns)
    start = small_book().entries
    logs = [TurnLog([start], ["Done."]), TurnLog([start, with_entries(e9=FIXED)], ["Done."])]
    assert [turn_result(session, place, logs).error for place in (0, 1)] == ["missing write", None]


# Amounts ---------------------------------------------------------------------------------------------

QUESTION = LedgerTurn("question", "", (), (), AmountQuestion((FOOD,), "EUR", TODAY))


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("It is €1,234.50.", ["1234.50"]),
        ("1.234,5 EUR, or EUR1234.5", ["1234.5", "1234.5"]),
        ("共１２．５０元，买菜3笔", ["12.50", "3"]),
        ("**-47.23**", ["47.23"]),
        ("scan4711.pdf and e12", []),
        ("no number", []),
        ("9" * 500, []),
        ("9" * 20 + " " + "8" * 21, ["9" * 20]),
        ("-" + "9" * 20, ["9" * 20]),
        ("1,234,567 or 1.234.567,8 or .5 or 7.", ["1234567", "1234567.8", "7"]),
        ("12,5 12,50 12,500 1.2345", ["12.5", "12.50", "12500", "12345"]),
        ("1'234.50, 1’234’567.80 and 1\u202f234,5", ["1234.50", "1234567.80", "1234.5"]),
        (r"$1{,}234.50$ or \(1\,234.50\)", ["1234.50", "1234.50"]),
        ("5'2345 and '90s", ["5", "2345", "90"]),
        ("x1 1x 1.5x (3) [4] $5 USD6 ABCD7 *8* _9_", ["1", "1.5", "3", "4", "5", "6", "8", "9"]),
        (" " * 19_999 + "12", ["1"]),
    ],
)
def test_amounts_are_read_as_people_write_them(text: str, amounts: list[str]):
    assert amounts_in(text) == [*map(Decimal, amounts)]


def says(text: str, heard: str = "") -> bool:
    return says_amount(text, QUESTION, small_book().entries.values(), [heard])


def test_the_amount_asked_for_must_be_said():
    assert says("That was 20.50 EUR.")
    assert says("Groceries: 20.5")
    assert not says("That was 21.50 EUR.")
    assert not says("120.50")
    assert not says("Done.")


def test_a_list_of_all_amounts_is_no_answer():
    assert says("20.50 in November (12.00 for books, 3.10 before)")
    assert not says("20.50, 12.30, 3.10, 44.20")
    assert says("20.50; you said 1.10, 2.20 and 3.30", heard="1.10, 2.20, 3.30")
