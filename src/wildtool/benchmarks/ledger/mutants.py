"""Gold sessions with one mistake each: what a book-keeper must not do."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from wildtool.benchmark import Mutant, Rules
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.benchmarks.ledger.records import LedgerTurn
from wildtool.benchmarks.ledger.sessions import UNIT
from wildtool.episode import gold_replies
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Item, Message

_GUESS = Decimal("77.70")
"""An amount that no session has."""


@dataclass(frozen=True, slots=True)
class _GoldTurn:
    """A turn with its gold replies."""

    turn: LedgerTurn
    replies: Sequence[Message]
    earlier: Sequence[Mapping[str, Any]]
    """Transactions that were added in earlier turns."""
    balances: Sequence[Decimal]
    """All amounts of the book."""
    before: str
    """The amount asked for, as it was at the beginning of the session."""


def mutants(rules: Rules, item: Item) -> Iterable[Mutant]:
    """One mutant of each kind that a session admits, in a turn that differs from session to session."""
    turns = _gold_turns(rules, item)
    for number, (kind, mutate) in enumerate(_KINDS.items()):
        places = [(place, *result) for place, turn in enumerate(turns) for result in mutate(turn)]
        if places:
            place, replies, note = places[(number + sum(map(ord, item.id))) % len(places)]
            changed_turns = [replies if at == place else turn.replies for at, turn in enumerate(turns)]
            yield Mutant(
                UNIT, kind, tuple(m for turn in changed_turns for m in turn), f"turn {place + 1}: {note}"
            )


def _gold_turns(rules: Rules, item: Item) -> list[_GoldTurn]:
    episode: LedgerEpisode = rules.episode(item, UNIT)  # pyright: ignore[reportAssignmentType]
    replies = iter(gold_replies(rules.episode(item, UNIT)) or ())
    base, turns, added = [*episode.book.entries.values()], list[_GoldTurn](), list[Mapping[str, Any]]()
    for place, turn in enumerate(item.data.turns):
        part: list[Message] = []
        earlier = [*added]
        while len(episode.logs) == place + 1 and not episode.done:
            part.append(next(replies))
            episode.advance(part[-1])
        added += [arguments for name, arguments in _calls(part) if name == "add_transaction"]
        amounts = [abs(leg.number) for entry in episode.book.entries.values() for leg in entry.postings]
        before = f"{turn.question.answer(base):f}" if turn.question else ""
        turns.append(_GoldTurn(turn, part, earlier, amounts, before))
    return turns


def _calls(replies: Iterable[Message]) -> Iterator[tuple[str, dict[str, Any]]]:
    for reply in replies:
        for call in reply.get("tool_calls") or ():
            yield call["function"]["name"], json.loads(call["function"]["arguments"])


_Mutation = tuple[Sequence[Message], str]
"""The replies of a turn, and what was changed."""


def _edited(
    gold: _GoldTurn, names: Sequence[str], edit: Callable[[dict[str, Any]], str]
) -> Iterator[_Mutation]:
    """The turn with other arguments in one call. Args: edit: changes them, and says how; empty for not at all."""
    for at, reply in enumerate(gold.replies):
        for number, call in enumerate(reply.get("tool_calls") or ()):
            arguments = json.loads(call["function"]["arguments"])
            if call["function"]["name"] in names and (note := edit(arguments)):
                edited: Any = deepcopy(reply)
                edited["tool_calls"][number]["function"]["arguments"] = json.dumps(
                    arguments, ensure_ascii=False
                )
                yield [*gold.replies[:at], edited, *gold.replies[at + 1 :]], note


def _account(arguments: dict[str, Any]) -> str:
    if "to_account" in arguments:
        arguments["to_account"] = "Expenses:Travel"
    else:
        arguments["postings"][0]["account"] = "Equity:Opening"
    return "another account"


def _sign(arguments: dict[str, Any]) -> str:
    for leg in arguments.get("postings", ()):
        leg["amount"] = f"{-Decimal(leg['amount']):f}"
    return "signs turned round" if "postings" in arguments else ""


def _amount_of(value: Decimal, arguments: dict[str, Any]) -> str:
    legs = arguments.get("postings", ())
    for leg in legs if not any("price" in leg for leg in legs) else ():
        leg["amount"] = f"{value if Decimal(leg['amount']) > 0 else -value:f}"
    return f"amount {value}" if legs and "price" not in legs[0] else ""


def _day(arguments: dict[str, Any]) -> str:
    arguments["date"] = (
        (date.fromisoformat(arguments["date"]) - timedelta(9)).isoformat() if "date" in arguments else ""
    )
    return "nine days earlier" if arguments["date"] else ""


def _payee(arguments: dict[str, Any]) -> str:
    is_named = bool(arguments.get("payee"))
    arguments["payee"] = "Somebody Else"
    return "another payee" if is_named else ""


def _twice(gold: _GoldTurn) -> Iterator[_Mutation]:
    for at, reply in enumerate(gold.replies):
        calls = reply.get("tool_calls") or ()
        for call in calls:
            if (name := call["function"]["name"]) in ("add_transaction", "attach_receipt"):
                yield (
                    [
                        *gold.replies[:at],
                        calls_message([*calls, {**call, "id": "again"}]),
                        *gold.replies[at + 1 :],
                    ],
                    name,
                )


def _stale(gold: _GoldTurn) -> Iterator[_Mutation]:
    """A correction that writes the old amount again, and an answer from before the changes."""
    for change in gold.turn.changes:
        if (
            change.before
            and change.after
            and change.before.postings[0].number != change.after.postings[0].number
        ):
            old = change.before.postings[0].number
            yield from _edited(gold, ["correct_transaction"], partial(_amount_of, old))
    if gold.before and gold.before not in str(gold.replies[-1]["content"]):
        yield [*gold.replies[:-1], _text(gold.before)], "the amount of the beginning"


def _unasked(gold: _GoldTurn) -> Iterator[_Mutation]:
    """The last addition again where the user only asks or talks, or wants what cannot be."""
    if gold.turn.kind in ("question", "chat", "refused") and gold.earlier and not gold.turn.changes:
        yield (
            [_call("add_transaction", gold.earlier[-1]), *gold.replies],
            f"a write on a turn of kind {gold.turn.kind}",
        )


def _undone(gold: _GoldTurn) -> Iterator[_Mutation]:
    if gold.earlier:
        calls = _call("add_transaction", gold.earlier[-1])["tool_calls"] + _call("undo", {})["tool_calls"]
        yield [calls_message(calls), *gold.replies], "written again and taken back"


def _replaced(gold: _GoldTurn) -> Iterator[_Mutation]:
    """A correction by deletion and addition, which leaves the book without the entry for a moment."""
    afters = [change.after for change in gold.turn.changes]
    for at, reply in enumerate(gold.replies):
        for name, arguments in _calls([reply]):
            after = afters[0] if len(afters) == 1 else None
            if name == "correct_transaction" and after and not after.receipts:
                legs = [
                    {"account": leg.account, "amount": f"{leg.number:f}", "currency": leg.currency}
                    for leg in after.postings
                ]
                entry = {"date": f"{after.date}", "payee": after.payee, "narration": "", "postings": legs}
                new = _call("add_transaction", {**entry, "tags": sorted(after.tags)})
                gone = _call("delete_entry", {"id": arguments["id"]})
                yield [*gold.replies[:at], gone, new, *gold.replies[at + 1 :]], "deleted and added"


def _left_out(gold: _GoldTurn) -> Iterator[_Mutation]:
    if gold.turn.changes:
        yield [reply for reply in gold.replies if not reply.get("tool_calls")], "no call"


def _guessed(gold: _GoldTurn) -> Iterator[_Mutation]:
    """A missing amount that is made up instead of asked for."""
    if gold.turn.more:
        for replies, note in _edited(gold, ["add_transaction"], partial(_amount_of, _GUESS)):
            yield [*replies[1:-1], replies[0], replies[-1]], note


def _answers(say: Callable[[_GoldTurn], str], gold: _GoldTurn) -> Iterator[_Mutation]:
    if gold.turn.question:
        yield [*gold.replies[:-1], _text(say(gold))], "another answer"


def _all_amounts(gold: _GoldTurn) -> str:
    return f"{gold.replies[-1]['content']} {' '.join(f'{amount:f}' for amount in gold.balances)}"


def _text(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _call(name: str, arguments: Mapping[str, Any]) -> Message:
    return calls_message([{**made_call(name, json.dumps(arguments, ensure_ascii=False)), "id": name}])


_ENTRY = ("add_transaction", "correct_transaction")
_KINDS: Mapping[str, Callable[[_GoldTurn], Iterator[_Mutation]]] = {
    "double write": _twice,
    "wrong account": lambda gold: _edited(gold, ["add_transaction", "recategorise"], _account),
    "wrong sign": lambda gold: _edited(gold, _ENTRY, _sign),
    "wrong amount": lambda gold: _edited(gold, _ENTRY, partial(_amount_of, _GUESS)),
    "wrong day": lambda gold: _edited(gold, _ENTRY, _day),
    "wrong payee": lambda gold: _edited(gold, ["add_transaction"], _payee),
    "stale amount": _stale,
    "write on a question": _unasked,
    "written and undone": _undone,
    "deleted and added": _replaced,
    "write left out": _left_out,
    "guessed amount": _guessed,
    "wrong answer": lambda gold: _answers(lambda gold: f"{_GUESS}", gold),
    "no answer": lambda gold: _answers(lambda gold: "Done.", gold),
    "every amount": lambda gold: _answers(_all_amounts, gold),
    "empty reply": lambda gold: iter([([*gold.replies[:-1], _text("")], "no text")]),
}
"""By name the mistakes; each gives the ways to make it in a turn."""
