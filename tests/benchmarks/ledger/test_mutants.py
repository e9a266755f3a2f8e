"""The mistakes of one session, each as the replies that differ from the gold ones."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from benchmarks.ledger.book_build import CHECKING, FOOD, TODAY, purchase, small_book
from benchmarks.ledger.session_play import ITEMS, RULES, UNIT
from wildtool.benchmarks.ledger.book import BookPosting, Directive
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.benchmarks.ledger.records import (
    AmountQuestion,
    LedgerCall,
    LedgerChange,
    LedgerSession,
    LedgerTurn,
    TurnKind,
)
from wildtool.benchmarks.ledger.tools import entry_arguments
from wildtool.episode import gold_replies
from wildtool.types import Item, Message

ITEM = ITEMS[2]
"""A purchase whose amount is missing, its correction, a split that must be refused, a question about the purchase."""
TRANSPORT, CARD, CASH = "Expenses:Transport", "Liabilities:CreditCard", "Assets:Cash"


def shown(reply: Message) -> Any:
    """The calls of a reply as id, name and arguments, or its text."""
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in reply.get("tool_calls") or ()
    ]
    return calls or reply["content"]


def legs(amount: str, source: str = CASH, target: str = TRANSPORT) -> list[dict[str, str]]:
    negative = amount[1:] if amount.startswith("-") else f"-{amount}"
    return [
        {"account": target, "amount": amount, "currency": "EUR"},
        {"account": source, "amount": negative, "currency": "EUR"},
    ]


ADD = {"date": "2025-03-18", "payee": "Airport Shuttle", "narration": "", "postings": legs("7.65")}
ASK, DONE, SET = "How much was it?", "Done.", "All set."
REFUSE = "The parts do not add up to the total, so I have entered nothing. Which number is right?"
SAY = "That comes to 7.65 EUR."
WRITE = [("gold-4-0", "add_transaction", ADD)]
CORRECT = [("gold-8-0", "correct_transaction", {"id": "e43", "postings": legs("7.65", CARD)})]
AGAIN = [("add_transaction", "add_transaction", ADD)]


def written(**other: Any) -> Any:
    return [("gold-4-0", "add_transaction", {**ADD, **other})]


def corrected(postings: Any) -> Any:
    return [("gold-8-0", "correct_transaction", {"id": "e43", "postings": postings})]


def test_the_gold_replies_ask_write_correct_refuse_and_answer():
    replies = gold_replies(RULES.episode(ITEM, UNIT)) or ()
    assert [*map(shown, replies)] == [ASK, WRITE, DONE, CORRECT, SET, REFUSE, SAY]


def test_a_session_has_one_mutant_of_each_kind():
    amounts = [
        f"{leg.number:f}" for entry in ITEM.data.base for leg in entry.postings if entry.kind == "transaction"
    ]
    every = " ".join([SAY, *amounts, "7.65", "-7.65"])
    expected: list[tuple[str, int, list[Any]]] = [
        (
            "deleted and added",
            2,
            [
                ASK,
                WRITE,
                DONE,
                [("delete_entry", "delete_entry", {"id": "e43"})],
                [("add_transaction", "add_transaction", {**ADD, "postings": legs("7.65", CARD), "tags": []})],
                SET,
                REFUSE,
                SAY,
            ],
        ),
        (
            "double write",
            1,
            [ASK, [*WRITE, ("again", "add_transaction", ADD)], DONE, CORRECT, SET, REFUSE, SAY],
        ),
        ("empty reply", 3, [ASK, WRITE, DONE, CORRECT, SET, "", SAY]),
        ("every amount", 4, [ASK, WRITE, DONE, CORRECT, SET, REFUSE, every]),
        ("guessed amount", 1, [written(postings=legs("77.70")), ASK, DONE, CORRECT, SET, REFUSE, SAY]),
        ("no answer", 4, [ASK, WRITE, DONE, CORRECT, SET, REFUSE, "Done."]),
        ("stale amount", 4, [ASK, WRITE, DONE, CORRECT, SET, REFUSE, "0"]),
        ("write left out", 2, [ASK, WRITE, DONE, SET, REFUSE, SAY]),
        ("write on a question", 3, [ASK, WRITE, DONE, CORRECT, SET, AGAIN, REFUSE, SAY]),
        (
            "written and undone",
            3,
            [ASK, WRITE, DONE, CORRECT, SET, AGAIN, [("undo", "undo", {})], REFUSE, SAY],
        ),
        (
            "wrong account",
            1,
            [ASK, written(postings=legs("7.65", target="Equity:Opening")), DONE, CORRECT, SET, REFUSE, SAY],
        ),
        ("wrong amount", 2, [ASK, WRITE, DONE, corrected(legs("77.70", CARD)), SET, REFUSE, SAY]),
        ("wrong answer", 4, [ASK, WRITE, DONE, CORRECT, SET, REFUSE, "77.70"]),
        ("wrong day", 1, [ASK, written(date="2025-03-09"), DONE, CORRECT, SET, REFUSE, SAY]),
        ("wrong payee", 1, [ASK, written(payee="Somebody Else"), DONE, CORRECT, SET, REFUSE, SAY]),
        ("wrong sign", 2, [ASK, WRITE, DONE, corrected(legs("-7.65", CARD)), SET, REFUSE, SAY]),
    ]
    mutants = [*RULES.mutants(ITEM)]
    assert {mutant.unit for mutant in mutants} == {UNIT}
    assert [(mutant.kind, mutant.note, [*map(shown, mutant.replies)]) for mutant in mutants] == [
        (kind, f"turn {turn}", replies) for kind, turn, replies in expected
    ]


def played(*turns: LedgerTurn, id_: str = "s") -> dict[str, tuple[str, list[Any]]]:
    """By kind the mutants of a session with these turns: which turn, and the replies."""
    session = LedgerSession(id_, "en", TODAY, "EUR", tuple(small_book().entries.values()), turns)
    mutants = [*RULES.mutants(Item(id_, (UNIT,), session))]
    assert [mutant.kind for mutant in mutants] == sorted({mutant.kind for mutant in mutants})
    return {mutant.kind: (mutant.note, [*map(shown, mutant.replies)]) for mutant in mutants}


def adding(entry: Directive, kind: TurnKind = "compositional", text: str = "Done.") -> LedgerTurn:
    call = LedgerCall("add_transaction", entry_arguments(entry))
    return LedgerTurn(kind, "", (LedgerChange(None, entry),), ((call,), text))


def changing(entry: Directive, after: Directive, **arguments: Any) -> LedgerTurn:
    call = LedgerCall("correct_transaction", {"id": entry, **arguments})
    return LedgerTurn("correction", "", (LedgerChange(entry, after),), ((call,), "Set."))


def test_nobody_writes_on_a_question_where_the_turn_asks_for_a_write():
    first, second = purchase(3, "A", "1.00"), purchase(4, "B", "2.00")
    assert "write on a question" not in played(adding(first), adding(second, "refused"))
    chat = LedgerTurn("chat", "", (), ("Hi.",))
    mutants = played(adding(first), chat)
    assert mutants["write on a question"] == (
        "turn 2",
        [
            [("gold-2-0", "add_transaction", entry_arguments(first))],
            "Done.",
            [("add_transaction", "add_transaction", entry_arguments(first))],
            "Hi.",
        ],
    )
    assert {"wrong answer", "no answer", "every amount", "stale amount"}.isdisjoint(mutants)
    assert [*played(chat)] == ["empty reply"]


def test_an_amount_that_has_not_changed_is_not_stale():
    question = AmountQuestion((FOOD,), "EUR", TODAY)
    turn = LedgerTurn("question", "", (), ("It is {answer}.",), question)
    assert [*played(turn)] == ["empty reply", "every amount", "no answer", "wrong answer"]
    assert played(adding(purchase(3, "A", "1.00")), turn)["stale amount"][1][-1] == "20.50"


def test_a_mistake_in_one_of_several_calls_leaves_the_others_as_they_are():
    entries = [purchase(day, name, f"{day}.00") for day, name in ((3, "A"), (4, "B"), (5, "C"))]
    calls = tuple(LedgerCall("add_transaction", entry_arguments(entry)) for entry in entries)
    changes = tuple(LedgerChange(None, entry) for entry in entries)
    turn = LedgerTurn("compositional", "", changes, (calls, "Done."))
    payees = {
        id_: [arguments["payee"] for _, _, arguments in played(turn, id_=id_)["wrong payee"][1][0]]
        for id_ in "abc"
    }
    assert sorted(payees.values()) == [
        ["A", "B", "Somebody Else"],
        ["A", "Somebody Else", "C"],
        ["Somebody Else", "B", "C"],
    ]
    assert played(turn)["double write"][1][0][3][0] == "again"


def test_mistakes_in_a_correction_are_of_what_it_corrects():
    entry, other = purchase(20, "A", "1.00"), purchase(20, "A", "2.00")
    arguments = entry_arguments(other)
    turn = changing(
        entry, replace(other, payee="Q"), payee="Q", postings=arguments["postings"], date="2025-11-20"
    )
    mutants = played(adding(entry), turn)
    add = [("gold-2-0", "add_transaction", entry_arguments(entry))]
    stale = {"id": "e9", "payee": "Q", "postings": entry_arguments(entry)["postings"], "date": "2025-11-20"}
    assert mutants["stale amount"] == (
        "turn 2",
        [add, "Done.", [("gold-6-0", "correct_transaction", stale)], "Set."],
    )
    assert mutants["wrong payee"][0] == "turn 1"
    assert mutants["deleted and added"][1][2:] == [
        [("delete_entry", "delete_entry", {"id": "e9"})],
        [("add_transaction", "add_transaction", {**arguments, "payee": "Q", "tags": []})],
        "Set.",
    ]
    same = changing(
        entry, replace(entry, tags=frozenset(["t"])), postings=entry_arguments(entry)["postings"], tags=["t"]
    )
    assert "stale amount" not in played(adding(entry), same)
    filed = changing(entry, replace(entry, receipts=("r",), date=date(2025, 11, 1)), date="2025-11-01")
    assert "deleted and added" not in played(adding(entry), filed)


def test_which_turn_is_mutated_depends_on_the_session():
    turns = [adding(purchase(day, f"P{day}", "1.00")) for day in (3, 4, 5)]
    for id_, first in (("a", 97), ("b", 98), ("c", 99)):
        mutants = played(*turns, id_=id_)
        places = [f"turn {(number + first) % 3 + 1}" for number in range(len(mutants))]
        spread = {kind: note for kind, (note, _) in mutants.items()}
        del spread["written and undone"]  # which the first turn does not admit
        assert [*spread.values()] == [
            note for kind, note in zip(mutants, places, strict=True) if kind in spread
        ]


def test_a_balance_check_has_no_wrong_day_and_a_price_no_wrong_amount():
    check = Directive("balance", TODAY, account=CHECKING, number=Decimal("-32.50"), currency="EUR")
    arguments = {"account": CHECKING, "amount": "-32.50", "currency": "EUR", "date": "2025-11-20"}
    call = LedgerCall("assert_balance", arguments)
    turn = LedgerTurn("compositional", "", (LedgerChange(None, check),), ((call,), "Done."))
    assert [*played(turn)] == ["empty reply", "write left out"]
    price = Decimal("0.92")
    legs_ = BookPosting(FOOD, Decimal(1), "USD", price, "EUR"), BookPosting(CHECKING, -price, "EUR")
    foreign = replace(purchase(4, "A", "1.00"), postings=legs_)
    assert [*played(adding(foreign))] == [
        "double write",
        "empty reply",
        "write left out",
        "wrong account",
        "wrong day",
        "wrong payee",
        "wrong sign",
    ]
    assert "wrong payee" not in played(adding(purchase(4, "", "1.00")))


def test_a_receipt_may_be_attached_twice_and_an_account_be_another():
    entry = purchase(20, "A", "1.00")
    filed = LedgerCall("attach_receipt", {"id": entry, "receipt": "r.pdf"})
    change = LedgerChange(entry, replace(entry, receipts=("r.pdf",)))
    attach = LedgerTurn("reference", "", (change,), ((filed,), "Filed."))
    arguments = {"id": entry, "from_account": FOOD, "to_account": "Expenses:Books"}
    moved = purchase(20, "A", "1.00", "Expenses:Books")
    move = LedgerTurn(
        "reference", "", (LedgerChange(entry, moved),), ((LedgerCall("recategorise", arguments),), "Moved.")
    )
    first = LedgerTurn("compositional", "", (), ("Hi.",))
    session = (*small_book().entries.values(), entry)
    for turn, kind, calls in (
        (attach, "double write", [("attach_receipt", {"receipt": "r.pdf"})] * 2),
        (move, "wrong account", [("recategorise", {"from_account": FOOD, "to_account": "Expenses:Travel"})]),
    ):
        item = Item("s", (UNIT,), LedgerSession("s", "en", TODAY, "EUR", session, (first, turn)))
        (mutant,) = [each for each in RULES.mutants(item) if each.kind == kind]
        assert [(name, values) for _, name, values in shown(mutant.replies[1])] == [
            (name, {"id": "e9", **values}) for name, values in calls
        ]
        assert [shown(reply) for reply in mutant.replies[::2]] == ["Hi.", turn.gold[-1]]


def test_the_gold_session_is_shown_with_each_answer_of_the_book():
    episode = LedgerEpisode(ITEM.data)
    request = episode.request()
    assert request is not None
    assert request.messages[0]["content"].startswith(
        "You keep the account book of one person and do with the tools what they ask. Today is 2025-03-19, Wednesday."
        " The book is in EUR. "
    )
    assert request.messages[0]["content"].endswith(
        f" Accounts: {CHECKING}, Assets:Bank:Savings, {CASH}, {CARD}, Assets:Bank:OldSavings (closed 2025-01-31),"
        " Liabilities:StoreCard, Equity:Opening, Income:Salary, Expenses:Housing:Rent, Expenses:Travel,"
        " Expenses:Food:Groceries, Expenses:Food:Restaurants, Expenses:Transport, Expenses:Household, Expenses:Health,"
        " Expenses:Leisure:Books, Expenses:Leisure:Subscriptions, Expenses:Clothing, Expenses:Leisure:Gym,"
        " Assets:Deposit."
    )
    shown_last: list[Message] = []
    while (request := episode.request()) is not None:
        assert request.gold is not None
        shown_last = [*request.messages]
        episode.advance(request.gold("parallel"))
    after = {"id": "e43", **ADD, "postings": legs("7.65", CARD)}
    assert [(message["role"], message.get("tool_call_id"), shown(message)) for message in shown_last[1:]] == [
        ("user", None, "right, add the Airport Shuttle thing from yesterday, cash, transport"),
        ("assistant", None, ASK),
        ("user", None, "7.65 exactly."),
        ("assistant", None, WRITE),
        ("tool", "gold-4-0", '{"id": "e43"}'),
        ("assistant", None, DONE),
        ("user", None, "sorry, it was with the credit card"),
        ("assistant", None, CORRECT),
        ("tool", "gold-8-0", json.dumps({"entry": after})),
        ("assistant", None, SET),
        ("user", None, ITEM.data.turns[2].text),
        ("assistant", None, REFUSE),
        ("user", None, "ok, earlier I had you enter Airport Shuttle. How much was that?"),
    ]
    assert [(log.calls, log.replies, log.has_more, log.texts, log.fault) for log in episode.logs] == [
        (1, 3, True, [ASK, "", DONE], ""),
        (1, 2, False, ["", SET], ""),
        (0, 1, False, [REFUSE], ""),
        (0, 1, False, [SAY], ""),
    ]
    assert episode.done
    episode.advance({"content": "more"})
    assert len(episode.logs) == 4
