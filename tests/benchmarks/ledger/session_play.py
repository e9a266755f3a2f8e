"""Plays sessions with policies that are functions of a request."""

from collections.abc import Callable, Iterable
from typing import Any

from wildtool.benchmark import Check
from wildtool.benchmarks.ledger import LEDGER
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.benchmarks.ledger.sessions import DATA, UNIT
from wildtool.types import Item, Message, Request

ITEMS = [*LEDGER.load(DATA.locate(None))]
RULES = LEDGER.rules("ledger")
Policy = Callable[[Request], Message]


def gold(request: Request) -> Message:
    assert request.gold is not None
    return request.gold("parallel")


def serial(request: Request) -> Message:
    assert request.gold is not None
    return request.gold("serial")


def says(text: str) -> Policy:
    return lambda request: {"role": "assistant", "content": text}


def play(item: Item, policy: Policy) -> Check:
    episode = LedgerEpisode(item.data)
    while (request := episode.request()) is not None:
        episode.advance(policy(request))
    return RULES.verdict(episode, item, UNIT)


def judged(item: Item, replies: Iterable[Message]) -> Check:
    episode = LedgerEpisode(item.data)
    for reply in replies:
        episode.advance(reply)
    assert episode.done
    return RULES.verdict(episode, item, UNIT)


def right_turns(check: Check) -> int:
    turns: list[Any] = check.detail["turns"]
    return sum(turn["right"] for turn in turns)
