"""The mistakes of one session, each as the replies that differ from the gold ones."""

import json
from typing import Any

from benchmarks.ledger.book_build import FOOD, TODAY, purchase, small_book
from benchmarks.ledger.session_play import RULES, UNIT
from wildtool.benchmarks.ledger.book import Directive
from wildtool.benchmarks.ledger.records import (
    AmountQuestion,
    LedgerCall,
    LedgerChange,
    LedgerSession,
    LedgerTurn,
    TurnKind,
)
from wildtool.benchmarks.ledger.tools import entry_arguments
from wildtool.types import Item, Message


def shown(reply: Message) -> Any:
    """The calls of a reply as id, name and arguments, or its text."""
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in reply.get("tool_calls") or ()
    ]
    return calls or reply["content"]


def played(*turns: LedgerTurn, id_: str = "s") -> dict[str, tuple[str, list[Any]]]:
    """By kind the mutants of a session with these turns: which turn, and the replies."""
    session = LedgerSession(id_, "en", TODAY, "EUR", tuple(small_book().entries.values()), turns)
    mutants = [*RULES.mutants(Item(id_, (UNIT,), session))]
    assert [mutant.kind for mutant in mutants] == sorted({mutant.kind for mutant in mutants})
    return {mutant.kind: (mutant.note, [*map(shown, mutant.replies)]) for mutant in mutants}


def adding(entry: Directive, kind: TurnKind = "compositional", text: str = "Done.") -> LedgerTurn:
    call = LedgerCall("add_transaction", entry_arguments(entry))
    return LedgerTurn(kind, "", (LedgerChange(None, entry),), ((call,), text))


def test_an_amount_that_has_not_changed_is_not_stale():
    question = AmountQuestion((FOOD,), "EUR", TODAY)
    turn = LedgerTurn("question", "", (), ("It is {answer}.",), question)
    assert [*played(turn)] == ["empty reply", "every amount", "no answer", "wrong answer"]
    assert played(adding(purchase(3, "A", "1.00")), turn)["stale amount"][1][-1] == "20.50"
