"""What a session shows and counts when replies go wrong."""

import json
from typing import Any

from benchmarks.ledger.session_play import ITEMS, RULES, UNIT
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.types import Message


def call(name: str, arguments: Any = "{}", id_: Any = "c") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def episode_of(*replies: Message) -> LedgerEpisode:
    episode = LedgerEpisode(ITEMS[2].data)
    for reply in replies:
        episode.advance(reply)
    return episode


def shown(episode: LedgerEpisode) -> list[Message]:
    """The messages after the first of the user."""
    request = episode.request()
    assert request is not None
    return [*request.messages[2:]]


def test_a_call_may_leave_its_arguments_empty():
    episode = episode_of({"tool_calls": [call("list_commodities", "")]})
    assert shown(episode)[1]["content"] == '{"commodities": ["EUR", "USD"]}'


def test_a_session_that_ends_early_is_not_right_however_right_its_turns():
    item = ITEMS[0]
    episode = LedgerEpisode(item.data)
    while len(episode.logs) == 1:
        request = episode.request()
        assert request is not None and request.gold is not None
        episode.advance(request.gold("parallel"))
    check = RULES.verdict(episode, item, UNIT)
    assert (check.correct, check.error, check.reason, check.score) == (
        False,
        None,
        "all turns as asked",
        0.25,
    )
    assert [turn["right"] for turn in check.detail["turns"]] == [True]
