"""The mistakes of one session, each as the replies that differ from the gold ones."""

import json
from typing import Any

from benchmarks.ledger.book_build import CHECKING
from benchmarks.ledger.session_play import ITEMS, RULES, UNIT
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.episode import gold_replies
from wildtool.types import Message

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
