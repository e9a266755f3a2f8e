"""Verdicts of a session: each turn by the book it leaves, by the amount that was asked for, and by harm on the way.

A turn asks for changes of the book. What it did is the difference between the books at its beginning and end, by meaning:
accounts, amounts, dates, tags and receipts are equal, the payee fits; ids, order and narration do not matter.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from wildtool.benchmark import Benchmark, Check, GoldForReaders, Rules, part
from wildtool.benchmarks.ledger.book import Directive, Entries
from wildtool.benchmarks.ledger.episode import LedgerEpisode, TurnLog
from wildtool.benchmarks.ledger.meaning import difference_of, is_match, is_on_the_way, unmatched
from wildtool.benchmarks.ledger.records import TURNS, LedgerSession, LedgerTurn
from wildtool.toolcall.text.normal_form import normal_form
from wildtool.types import FieldValue, Item

MAX_OTHER_AMOUNTS = 2
"""Amounts that an answer may name beside the one asked for, its parts, and what the user said: no list of all."""
ERRORS: Mapping[str, str] = {
    "second execution": "something was written twice",
    "write not asked for": "the book has a change that nobody asked for",
    "wrong write": "a change that was asked for was made otherwise",
    "missing write": "a change that was asked for was not made",
    "wrong on the way": "the book ended right and was wrong between two calls",
    "wrong amount": "the amount asked for was not said, or was one of many",
    "no answer": "the turn ended without a text",
    "earlier mistake": "what is to be changed is not in the book, as an earlier turn went wrong",
}
"""Class of a wrong turn to what it means; the verdict of a session has that of its first wrong turn."""


# Amounts in texts ------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.,])-?[0-9](?:[0-9.,]*[0-9])?(?![0-9])", re.ASCII)
_GROUPING = re.compile(r"(?<=[0-9])(?:\\,|\{,\}|['’\u00a0\u2009\u202f])(?=[0-9]{3}(?![0-9]))")
"""Before three digits in place of a comma: Swiss, French, and in formulas: 1'234, 1\\,234, 1{,}234."""
_MAX_TEXT = 20_000


def amounts_in(text: str) -> list[Decimal]:
    """The numbers of a text that may be amounts, without sign: `1,234.50`, `1.234,50` and `1234.5` are the same."""
    plain = normal_form("NFKC", _GROUPING.sub(",", text[:_MAX_TEXT]))
    # A number may follow a sign or code of currency or a Chinese character, but no letters of a file name.
    spaced = re.sub(r"\b[A-Z]{3}(?=[0-9])|[^\x00-\x7f]|[$*_(\[]", " ", plain)
    return [value for token in _NUMBER.findall(spaced) if (value := _amount(token)) is not None]


def _amount(token: str) -> Decimal | None:
    digits = token.lstrip("-").replace(",", ".")
    if len(digits) > 20:
        return None
    units, _, cents = digits.rpartition(".")
    # A point or comma before three digits separates thousands.
    whole, part_of_one = (units, f".{cents}") if units and len(cents) < 3 else (digits, "")
    return Decimal(whole.replace(".", "") + part_of_one)


def says_amount(text: str, turn: LedgerTurn, book: Iterable[Directive], heard: Iterable[str]) -> bool:
    """Whether a text says the amount that a turn asks for, and not among many.

    Args:
        book: as it is when it is said.
        heard: what the user has said so far.
    """
    question, entries = turn.question, [*book]
    if question is None:
        return True
    expected, stated = question.answer(entries), {*amounts_in(text)}
    heard_amounts = {amount for each in heard for amount in amounts_in(each)}
    parts = {abs(number) for number in question.legs(entries)} | heard_amounts
    foreign = {value for value in stated - parts - {expected} if value % 1}
    return expected in stated and len(foreign) <= MAX_OTHER_AMOUNTS


# Turns -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What the rules make of one turn."""

    error: str | None
    """Of `ERRORS`; None for a right one."""
    reason: str
    ends_right: bool
    """Whether the book ended right and the answer was right, whatever happened on the way."""
    harm: str | None
    """`second execution`, `write not asked for` or `wrong on the way`."""
    extra_writes: int
    """Accepted changes beyond the least."""


def turn_result(session: LedgerSession, place: int, logs: Sequence[TurnLog]) -> TurnResult:
    """Judges a turn that has ended."""
    turn, log = session.turns[place], logs[place]
    start, end = log.books[0], log.books[-1]
    harm = None
    error, reason = _fault_of_book(turn, start, end)
    # Where something is to be changed, doing nothing is never right.
    is_idle = len(log.books) == 1
    if error and not is_idle and _caught_up(session, place, logs[0].books[0], end):
        error, reason = None, ""
    elif error is None and not all(
        is_on_the_way(difference_of(start, b), turn.changes) for b in log.books[1:-1]
    ):
        harm = "wrong on the way"
    if error in ("second execution", "write not asked for"):
        harm = error
    text = "\n".join(log.texts)
    heard = [text for earlier in session.turns[: place + 1] for text in (earlier.text, earlier.more)]
    text_fault = "no answer" if log.fault else None
    if text_fault is None and not says_amount(text, turn, end.values(), heard):
        text_fault = "wrong amount"
    first = error or harm or text_fault
    extra = max(0, len(log.books) - 1 - len(turn.changes))
    cause = reason if error else log.fault if first == "no answer" else ERRORS.get(first or "", "as asked")
    return TurnResult(first, cause, error is None and text_fault is None, harm, extra)


def _fault_of_book(turn: LedgerTurn, start: Entries, end: Entries) -> tuple[str | None, str]:
    """The class of error of what a turn did to the book, and its reason."""
    missing, beside = difference_of(start, end).beside(turn.changes)
    if missing.is_empty and beside.is_empty:
        return None, ""
    entries = [*start.values(), *(change.after for change in turn.changes if change.after)]
    befores = [change.before for change in turn.changes if change.before]
    if twice := [entry for entry in beside.new if any(is_match(other, entry) for other in entries)]:
        return "second execution", f"again: {_brief(twice)}"
    if lost := unmatched(befores, start.values())[0]:
        return "earlier mistake", f"not in the book: {_brief(lost)}"
    done, asked = (_brief([*each.new, *each.gone]) for each in (beside, missing))
    if missing.is_empty or not turn.changes:
        return "write not asked for", done
    if beside.is_empty:
        return "missing write", asked
    return "wrong write", f"{done}; expected {asked}"


def _caught_up(session: LedgerSession, place: int, base: Entries, end: Entries) -> bool:
    """Whether the book is what it should be by now, earlier mistakes mended."""
    expected = [*base.values()]
    for turn in session.turns[: place + 1]:
        for change in turn.changes:
            if change.before:
                expected = unmatched([change.before], expected)[1]
            expected += [change.after] if change.after else []
    return unmatched(expected, end.values()) == ([], [])


def _brief(entries: Sequence[Directive]) -> str:
    """The first of some entries in one line; empty for none."""
    if not entries:
        return ""
    entry = entries[0]
    legs = ", ".join(f"{leg.account} {leg.number:f} {leg.currency}" for leg in entry.postings)
    words = [f"{entry.date} {entry.kind}", entry.payee, entry.account, legs]
    return " ".join(word for word in (*words, *sorted(entry.tags), *entry.receipts) if word)


# Sessions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerRules(GoldForReaders, Rules):
    """The rules of the one profile."""

    def episode(self, item: Item, unit: str) -> LedgerEpisode:
        return LedgerEpisode(item.data)

    def satisfies_readers(self, item: Item, unit: str) -> bool:
        # What gold says to a question that is only chat answers none.
        session: LedgerSession = item.data
        return not any(turn.kind == "chat" and re.search("[?？]", turn.text) for turn in session.turns)

    def verdict(self, episode: LedgerEpisode, item: Item, unit: str) -> Check:
        session: LedgerSession = item.data
        logs = [log for log in episode.logs if log.ended]
        results = [turn_result(session, place, logs) for place in range(len(logs))]
        wrong = next(((place, each) for place, each in enumerate(results) if each.error), None)
        right = sum(each.error is None for each in results)
        reason = f"turn {wrong[0] + 1}: {wrong[1].reason}" if wrong else "all turns as asked"
        return Check(
            wrong is None and len(results) == TURNS,
            wrong[1].error if wrong else None,
            reason,
            right / TURNS,
            _columns(session, logs, results),
            {"turns": [*map(_described_turn, session.turns, results)]},
        )

    unfinished = verdict
    mutants = part("wildtool.benchmarks.ledger.mutants:mutants")


def _described_turn(turn: LedgerTurn, result: TurnResult) -> Mapping[str, Any]:
    return {"kind": turn.kind, "right": result.error is None, "error": result.error, "reason": result.reason}


def _columns(
    session: LedgerSession, logs: Sequence[TurnLog], results: Sequence[TurnResult]
) -> Mapping[str, FieldValue]:
    turns = [*zip(session.turns, logs, results, strict=False)]
    right = [(turn, log) for turn, log, result in turns if result.error is None]
    questions = [len(log.books) == 1 for turn, log, _ in turns if turn.kind == "question"]
    once = [len(log.books) == 2 for turn, log in right if turn.kind == "correction"]
    recovered = [result.error is None for _, log, result in turns if log.refused]
    harms = [result.harm for result in results]
    return {
        **{f"right_{place}": result.error is None for place, result in enumerate(results, 1)},
        "ended_right": sum(result.ends_right for result in results),
        "writes_too_many": sum(result.extra_writes for result in results),
        "written_twice": harms.count("second execution"),
        "not_asked_for": harms.count("write not asked for"),
        "wrong_on_the_way": harms.count("wrong on the way"),
        "earlier_mistakes": sum(result.error == "earlier mistake" for result in results),
        "corrections_once": sum(once),
        "questions_unwritten": sum(questions),
        "refused_turns": len(recovered),
        "recovered": sum(recovered),
        "shortest": sum(log.calls == turn.gold_calls for turn, log in right),
        "tool_calls": sum(log.calls for _, log in right),
        "least_calls": sum(turn.gold_calls for turn, _ in right),
    }


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """The kinds of the turns."""
    return {f"kind_{place}": turn.kind for place, turn in enumerate(item.data.turns, 1)}


def rules(benchmark: Benchmark, profile: str) -> Rules:
    """The rules of the profile, of which there is one."""
    return LedgerRules()
