"""Gold sessions with one mistake each: what a book-keeper must not do."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, cast

from wildtool.benchmark import Mutant, Rules
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.benchmarks.ledger.records import LedgerTurn
from wildtool.benchmarks.ledger.sessions import UNIT
from wildtool.benchmarks.ledger.tools import entry_arguments
from wildtool.episode import gold_replies
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Item, Message

_GUESS = "77.70"
"""An amount that no session has."""
Mutation = tuple[str, Sequence[Message]]
"""The kind of mistake, and the replies of the turn with it."""


@dataclass(frozen=True, slots=True)
class _GoldTurn:
    """A turn with its gold replies."""

    turn: LedgerTurn
    replies: Sequence[Message]
    earlier: Sequence[Mapping[str, Any]]
    """Arguments of additions in earlier turns."""
    amounts: str
    """All amounts of the book."""
    before: str
    """The amount asked for, as it was at the beginning of the session."""


def mutants(rules: Rules, item: Item) -> Iterable[Mutant]:
    """One mutant of each kind that a session admits, in a turn that differs from session to session."""
    turns = _gold_turns(rules, item)
    by_kind: dict[str, list[tuple[int, Sequence[Message]]]] = defaultdict(list)
    for place, turn in enumerate(turns):
        for kind, replies in (*_in_calls(turn), *_in_turn(turn), *_in_answer(turn)):
            by_kind[kind].append((place, replies))
    for number, (kind, choices) in enumerate(sorted(by_kind.items())):
        place, replies = choices[(number + sum(map(ord, item.id))) % len(choices)]
        mutated = [replies if at == place else turn.replies for at, turn in enumerate(turns)]
        yield Mutant(UNIT, kind, tuple(m for each in mutated for m in each), f"turn {place + 1}")


def _gold_turns(rules: Rules, item: Item) -> list[_GoldTurn]:
    episode = cast(LedgerEpisode, rules.episode(item, UNIT))
    replies = iter(gold_replies(rules.episode(item, UNIT)) or ())
    base, turns, added = [*episode.book.entries.values()], list[_GoldTurn](), list[Mapping[str, Any]]()
    for place, turn in enumerate(item.data.turns):
        own, earlier = list[Message](), [*added]
        while len(episode.logs) == place + 1 and not episode.done:
            own.append(next(replies))
            episode.advance(own[-1])
        added += [arguments for *_, name, arguments in _calls(own) if name == "add_transaction"]
        amounts = [f"{leg.number:f}" for entry in episode.book.entries.values() for leg in entry.postings]
        before = f"{turn.question.answer(base):f}" if turn.question else ""
        turns.append(_GoldTurn(turn, own, earlier, " ".join(amounts), before))
    return turns


def _calls(replies: Iterable[Message]) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    """Places, names and arguments of all calls."""
    for at, reply in enumerate(replies):
        for number, call in enumerate(reply.get("tool_calls") or ()):
            yield at, number, call["function"]["name"], json.loads(call["function"]["arguments"])


def _in_calls(gold: _GoldTurn) -> Iterator[Mutation]:
    """Calls with other arguments, or made twice."""
    for at, number, name, arguments in _calls(gold.replies):
        calls: list[Any] = [*gold.replies[at]["tool_calls"]]

        def with_calls(*new: Message, at: int = at) -> list[Message]:
            return [*gold.replies[:at], *new, *gold.replies[at + 1 :]]

        for kind, edited in _edits(gold, name, arguments):
            call = made_call(name, json.dumps({**arguments, **edited}), calls[number])
            mutated = with_calls(calls_message([*calls[:number], call, *calls[number + 1 :]]))
            # Where an amount is missing it is made up at once, and nothing asked.
            is_guess = kind == "guessed amount"
            yield kind, [*mutated[1:-1], mutated[0], mutated[-1]] if is_guess else mutated
        if name in ("add_transaction", "attach_receipt"):
            yield "double write", with_calls(calls_message([*calls, {**calls[number], "id": "again"}]))
        after = gold.turn.changes[0].after if len(gold.turn.changes) == 1 else None
        if name == "correct_transaction" and after and not after.receipts:
            new = _call("add_transaction", {**entry_arguments(after), "tags": sorted(after.tags)})
            yield "deleted and added", with_calls(_call("delete_entry", {"id": arguments["id"]}), new)


def _edits(gold: _GoldTurn, name: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kinds of mistakes in the arguments of a call, with the arguments that change."""
    legs: list[Any] = arguments.get("postings", [])
    if "to_account" in arguments:
        yield "wrong account", {"to_account": "Expenses:Travel"}
    if legs:
        yield "wrong account", {"postings": [{**legs[0], "account": "Equity:Opening"}, *legs[1:]]}
        yield "wrong sign", {"postings": [{**leg, "amount": f"{-Decimal(leg['amount']):f}"} for leg in legs]}
    if legs and "price" not in legs[0]:
        yield "guessed amount" if gold.turn.more else "wrong amount", {"postings": _priced(legs, _GUESS)}
        befores = [change.before for change in gold.turn.changes if change.before]
        for entry in befores if name == "correct_transaction" else ():
            if (old := entry.postings[0].number) != Decimal(legs[0]["amount"]):
                yield "stale amount", {"postings": _priced(legs, f"{old:f}")}
    if "date" in arguments and name != "assert_balance":
        yield "wrong day", {"date": f"{date.fromisoformat(arguments['date']) - timedelta(9)}"}
    if arguments.get("payee") and name == "add_transaction":
        yield "wrong payee", {"payee": "Somebody Else"}


def _priced(legs: Iterable[Mapping[str, str]], amount: str) -> list[dict[str, str]]:
    return [{**leg, "amount": f"-{amount}" if leg["amount"].startswith("-") else amount} for leg in legs]


def _in_turn(gold: _GoldTurn) -> Iterator[Mutation]:
    """Writes that nobody asked for, or none."""
    if gold.turn.changes:
        yield "write left out", [reply for reply in gold.replies if not reply.get("tool_calls")]
    if gold.earlier:
        again, undo = _call("add_transaction", gold.earlier[-1]), _call("undo", {})
        yield "written and undone", [again, undo, *gold.replies]
        if gold.turn.kind in ("question", "chat", "refused") and not gold.turn.changes:
            yield "write on a question", [again, *gold.replies]


def _in_answer(gold: _GoldTurn) -> Iterator[Mutation]:
    """Other words at the end."""
    text = gold.replies[-1]["content"]
    texts = {"empty reply": ""}
    if gold.turn.question:
        texts |= {"wrong answer": _GUESS, "no answer": "Done.", "every amount": f"{text} {gold.amounts}"}
    if gold.before and gold.before not in text:
        texts["stale amount"] = gold.before
    for kind, other in texts.items():
        yield kind, [*gold.replies[:-1], {"role": "assistant", "content": other}]


def _call(name: str, arguments: Mapping[str, Any]) -> Message:
    return calls_message([{**made_call(name, json.dumps(arguments)), "id": name}])
