"""How turns are judged: by the book, by what was said, and by harm on the way."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.ledger.book_build import FOOD, TODAY, purchase, small_book
from wildtool.benchmarks.ledger import LEDGER
from wildtool.benchmarks.ledger.book import Directive, Entries
from wildtool.benchmarks.ledger.episode import TurnLog
from wildtool.benchmarks.ledger.judge import ERRORS, TurnResult, amounts_in, says_amount, turn_result
from wildtool.benchmarks.ledger.meaning import is_match
from wildtool.benchmarks.ledger.records import (
    AmountQuestion,
    LedgerCall,
    LedgerChange,
    LedgerSession,
    LedgerTurn,
)
from wildtool.types import Item

NEW = purchase(20, "Greenleaf Foods", "5.00")
FIXED = replace(NEW, postings=purchase(20, "", "6.00").postings)


def judged(changes: list[LedgerChange], *books: Entries, kind: Any = "correction", **turn: Any) -> Any:
    """The result of one turn that led through these books."""
    base = tuple(small_book().entries.values())
    asked = LedgerTurn(kind, "", tuple(changes), ("Done.",), **turn)
    session = LedgerSession("s", "en", TODAY, "EUR", base, (asked,))
    return turn_result(session, 0, [TurnLog([*books], texts=["Done."], ended=True)])


def test_the_result_of_a_turn_says_what_was_wrong():
    start, new = small_book().entries, with_entries(e9=NEW)
    line = "2025-11-20 transaction Greenleaf Foods Expenses:Food:Groceries 5.00 EUR, Assets:Bank:Checking -5.00 EUR"
    other = replace(NEW, tags=frozenset(["b", "a"]), receipts=("r.pdf",))
    add, fix = [LedgerChange(None, NEW)], [LedgerChange(NEW, FIXED)]
    opened = Directive("open", TODAY, account="Assets:A")
    cases: list[tuple[list[LedgerChange], tuple[Entries, ...], TurnResult]] = [
        (add, (start, new), TurnResult(None, "as asked", True, None, 0)),
        (add, (start, new, start, new), TurnResult(None, "as asked", True, None, 2)),
        (
            add,
            (start, with_entries(e9=other), new),
            TurnResult("wrong on the way", ERRORS["wrong on the way"], True, "wrong on the way", 1),
        ),
        (add, (start,), TurnResult("missing write", line, False, None, 0)),
        (
            add,
            (start, with_entries(e9=other)),
            TurnResult("wrong write", f"{line} a b r.pdf; expected {line}", False, None, 0),
        ),
        (
            add,
            (start, with_entries(e9=NEW, e10=NEW)),
            TurnResult("second execution", f"again: {line}", False, "second execution", 0),
        ),
        (
            add,
            (start, with_entries(e9=NEW, e10=opened)),
            TurnResult("write not asked for", "2025-11-20 open Assets:A", False, "write not asked for", 0),
        ),
        ([], (start, new), TurnResult("write not asked for", line, False, "write not asked for", 1)),
        ([], (new, start), TurnResult("write not asked for", line, False, "write not asked for", 1)),
        (fix, (start, with_entries(e9=FIXED)), TurnResult(None, "as asked", True, None, 0)),
        (fix, (start,), TurnResult("earlier mistake", f"not in the book: {line}", False, None, 0)),
        (fix, (new, with_entries(e9=NEW, e10=FIXED)), TurnResult("missing write", line, False, None, 0)),
        (
            [LedgerChange(None, NEW), LedgerChange(None, opened)],
            (start, new),
            TurnResult("missing write", "2025-11-20 open Assets:A", False, None, 0),
        ),
    ]
    for changes, books, result in cases:
        assert judged(changes, *books) == result, result.reason


def test_a_turn_without_an_answer_or_with_a_wrong_amount_is_wrong_though_its_book_is_right():
    base = small_book().entries
    question = AmountQuestion((FOOD,), "EUR", TODAY)
    asked = LedgerTurn("question", "", (), (), question)
    session = LedgerSession("s", "en", TODAY, "EUR", tuple(base.values()), (asked,))

    def result(fault: str, *texts: str) -> TurnResult:
        return turn_result(session, 0, [TurnLog([base], [*texts], fault=fault, ended=True)])

    assert result("", "Let me see.", "20.50") == TurnResult(None, "as asked", True, None, 0)
    assert result("empty reply", "20.50") == TurnResult("no answer", "empty reply", False, None, 0)
    amount = TurnResult("wrong amount", ERRORS["wrong amount"], False, None, 0)
    assert result("", "20.51") == amount
    spoken = replace(asked, text="Not 1.11, 2.22?", more="Or 3.33.")
    session = replace(session, turns=(spoken, replace(asked, text="4.44")))
    said = "20.50, not 1.11, 2.22, 3.33, and not 5.55, 6.66"
    assert result("", said) == TurnResult(None, "as asked", True, None, 0)
    assert result("", f"{said}, 4.44") == amount


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


def test_writes_and_calls_of_a_session_are_counted():
    start, new, fixed = small_book().entries, with_entries(e9=NEW), with_entries(e9=FIXED)
    call = LedgerCall("x", {})
    turns = (
        LedgerTurn("question", "", (), ((call,), "Done.")),
        LedgerTurn("question", "", (), ((call, call), "Done.")),
        LedgerTurn("correction", "", (LedgerChange(None, NEW),), ((call,), "Done.")),
        LedgerTurn("correction", "", (LedgerChange(NEW, FIXED),), ((call, call), "Done.")),
    )
    session = LedgerSession("s", "en", TODAY, "EUR", tuple(start.values()), turns)
    logs = [
        TurnLog([start], ["Yes."], calls=1, refused=2, ended=True),
        TurnLog([start, new, start], ["Yes."], calls=9, refused=1, ended=True),
        TurnLog([start, new], ["Yes."], calls=1, ended=True),
        TurnLog([new, fixed, new, fixed], ["Yes."], calls=3, ended=True),
    ]
    rules: Any = LEDGER.rules("ledger")
    item, episode = Item("s", ("0",), session), SimpleNamespace(logs=logs)
    fields = dict(rules.verdict(episode, item, "0").fields)
    assert fields == {
        "right_1": True,
        "right_2": False,
        "right_3": True,
        "right_4": True,
        "ended_right": 4,
        "writes_too_many": 4,
        "written_twice": 0,
        "not_asked_for": 0,
        "wrong_on_the_way": 1,
        "earlier_mistakes": 0,
        "corrections_once": 1,
        "questions_unwritten": 1,
        "refused_turns": 2,
        "recovered": 1,
        "shortest": 2,
        "tool_calls": 5,
        "least_calls": 4,
    }
    logs[3].ended = False
    check = rules.verdict(episode, item, "0")
    assert (check.correct, check.error, check.score) == (False, "wrong on the way", 0.5)
    assert len(check.detail["turns"]) == 3
    assert check.fields["corrections_once"] == 1
    logs[1] = logs[0]
    assert rules.verdict(episode, item, "0").fields["questions_unwritten"] == 2


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
