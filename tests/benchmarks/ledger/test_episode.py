"""What a session shows and counts when replies go wrong."""

import json
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.ledger.session_play import ITEMS, RULES, UNIT
from wildtool.benchmarks.ledger.episode import LedgerEpisode, TurnLog
from wildtool.benchmarks.ledger.records import LedgerCall, LedgerTurn
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


def test_calls_are_shown_again_with_their_answers_and_ids_where_they_had_none():
    commodities = '{"commodities": ["EUR", "USD"]}'
    first, second = call("list_commodities", id_=7), call("delete_entry", {"id": "e0"}, "mine")
    reply = {"content": "Looking.", "tool_calls": [first, second], "reasoning_content": "hm", "other": 1}
    episode = episode_of(reply, {"tool_calls": [call("undo", "{")]})
    error = '{"error": "id: there is no transaction or balance with this id; query lists them"}'
    messages = shown(episode)
    assert messages[:3] == [
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "hm",
            "tool_calls": [{**first, "id": "call-2-0"}, second],
        },
        {"role": "tool", "content": commodities, "tool_call_id": "call-2-0"},
        {"role": "tool", "content": error, "tool_call_id": "mine"},
    ]
    assert messages[3] == {"role": "assistant", "content": None, "tool_calls": [call("undo", "{")]}
    assert json.loads(messages[4].pop("content"))["error"].startswith("arguments: ")
    assert messages[4:] == [{"role": "tool", "tool_call_id": "c"}]
    entries = episode.book.entries
    assert episode.logs == [TurnLog([entries], texts=["Looking.", ""], calls=3, refused=1, replies=2)]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"content": "hm", "tool_calls": [{"function": {"arguments": "{}"}}]}, "hm"),
        ({"tool_calls": [call("undo"), {"function": {"name": 7}}]}, ""),
        ({"tool_calls": "undo"}, ""),
    ],
)
def test_calls_that_cannot_be_read_end_the_turn_with_the_text_beside_them(reply: Message, text: str):
    episode = episode_of(reply)
    assert shown(episode) == [
        {"role": "assistant", "content": text},
        {"role": "user", "content": ITEMS[2].data.turns[1].text},
    ]
    start = [episode.book.entries]
    assert episode.logs == [
        TurnLog(start, fault="calls that cannot be read", ended=True, replies=1),
        TurnLog(start),
    ]


@pytest.mark.parametrize(
    ("reply", "text"),
    [({"content": ""}, ""), ({"content": " \n"}, " \n"), ({"content": None}, ""), ({}, "")],
)
def test_an_empty_reply_ends_the_turn(reply: Message, text: str):
    episode = episode_of(reply)
    assert shown(episode)[0] == {"role": "assistant", "content": text}
    start = [episode.book.entries]
    assert episode.logs == [
        TurnLog(start, [text], fault="empty reply", ended=True, replies=1),
        TurnLog(start),
    ]


def test_the_user_says_once_what_is_missing():
    episode = episode_of({"content": "How much?"}, {"content": "Which day?"})
    assert [(message["role"], message["content"]) for message in shown(episode)] == [
        ("assistant", "How much?"),
        ("user", "7.65 exactly."),
        ("assistant", "Which day?"),
        ("user", "sorry, it was with the credit card"),
    ]
    assert episode.logs[0] == TurnLog(
        [episode.book.entries], ["How much?", "Which day?"], ended=True, replies=2, has_more=True
    )


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


def test_calls_beyond_forty_are_not_run():
    episode = episode_of({"tool_calls": [call("list_commodities")] * 40})
    assert (episode.logs[0].calls, episode.logs[0].ended) == (40, False)
    added = call("open_account", {"account": "Expenses:Zoo"})
    episode.advance({"tool_calls": [added]})
    assert [message["content"] for message in shown(episode)][-2:] == [
        '{"error": "too many calls"}',
        "sorry, it was with the credit card",
    ]
    assert len(episode.book.entries) == len(ITEMS[2].data.base)
    assert (episode.logs[0].calls, episode.logs[0].fault) == (41, "more than 40 calls")


def test_a_turn_takes_fifteen_replies():
    looks = {"tool_calls": [call("list_commodities")]}
    episode = episode_of(*[looks] * 14)
    assert not episode.logs[0].ended
    episode.advance(looks)
    assert (episode.logs[0].ended, episode.logs[0].fault) == (True, "no answer after 15 replies")
    ends = episode_of(*[looks] * 13, {"content": "How much?"}, {"content": "Done."})
    assert (ends.logs[0].replies, ends.logs[0].fault) == (15, "")


def test_gold_calls_follow_the_ids_of_the_models_own_book():
    add = ITEMS[2].data.turns[0].gold[1][0].arguments
    episode = episode_of(
        {"tool_calls": [call("add_transaction", add), call("add_transaction", add)]},
        {"content": "?"},
        {"content": "Done."},
    )
    request = episode.request()
    assert request is not None
    assert request.gold is not None
    (made,) = request.gold("serial")["tool_calls"]
    assert json.loads(made["function"]["arguments"])["id"] == "e44"
    lost = episode_of({"content": "?"}, {"content": "Done."}).request()
    assert lost is not None
    assert lost.gold is not None
    (made,) = lost.gold("serial")["tool_calls"]
    assert json.loads(made["function"]["arguments"])["id"] == "none"


def test_gold_makes_the_calls_of_a_move_together_or_one_by_one():
    moves = tuple(LedgerCall("open_account", {"account": name}) for name in ("Assets:A", "资产"))
    turn = LedgerTurn("compositional", "", (), ("Which?", moves, "Done."))
    episode = LedgerEpisode(replace(ITEMS[2].data, turns=(turn,)))

    def gold(style: str) -> list[Any]:
        request = episode.request()
        assert request is not None
        assert request.gold is not None
        reply = request.gold(style)
        return [each["function"]["arguments"] for each in reply.get("tool_calls", ())] or [reply["content"]]

    assert [gold(style) for style in ("parallel", "serial")] == [["Which?"], ["Which?"]]
    arguments = [f'{{"account": "{name}"}}' for name in ("Assets:A", "资产")]
    for log_replies, expected in enumerate(
        ([arguments, arguments[:1]], [["Done."], arguments[1:]], [["Done."]] * 2), 1
    ):
        episode.logs[0].replies = log_replies
        assert [gold(style) for style in ("parallel", "serial")] == expected


def test_gold_says_the_last_text_again_where_the_turn_went_on_too_long():
    looks = {"tool_calls": [call("list_commodities")]}
    request = episode_of(*[looks] * 5).request()
    assert request is not None
    assert request.gold is not None
    assert request.gold("parallel") == {"role": "assistant", "content": "Done."}


def test_the_columns_of_a_session_count_what_happened():
    wrong = {"content": "It is 1.11, 2.22, 3.33 and 4.44."}
    add = ITEMS[2].data.turns[0].gold[1][0].arguments
    zoo = call("open_account", {"account": "Expenses:Zoo"})
    episode = episode_of(
        {"content": "?"},
        {"tool_calls": [call("add_transaction", add)]},
        {"content": "Done."},
        {"content": "Done."},
        {"tool_calls": [zoo, zoo]},
        {"content": "Sorry."},
    )
    unfinished = RULES.unfinished(episode, ITEMS[2], UNIT)
    assert (unfinished.correct, unfinished.score) == (False, 0.25)
    episode.advance(wrong)
    check = RULES.verdict(episode, ITEMS[2], UNIT)
    turn = "2025-03-18 transaction Airport Shuttle Expenses:Transport 7.65 EUR, "
    missing = f"{turn}Liabilities:CreditCard -7.65 EUR"
    assert (check.correct, check.error, check.score) == (False, "missing write", 0.25)
    assert check.reason == f"turn 2: {missing}"
    assert check.fields == {
        "right_1": True,
        "right_2": False,
        "right_3": False,
        "right_4": False,
        "ended_right": 1,
        "writes_too_many": 1,
        "written_twice": 0,
        "not_asked_for": 1,
        "wrong_on_the_way": 0,
        "earlier_mistakes": 0,
        "corrections_once": 0,
        "questions_unwritten": 0,
        "refused_turns": 1,
        "recovered": 0,
        "shortest": 1,
        "tool_calls": 1,
        "least_calls": 1,
    }
    assert check.detail == {
        "turns": [
            {"kind": "missing", "right": True, "error": None, "reason": "as asked"},
            {"kind": "correction", "right": False, "error": "missing write", "reason": missing},
            {
                "kind": "refused",
                "right": False,
                "error": "write not asked for",
                "reason": "2025-03-19 open Expenses:Zoo",
            },
            {
                "kind": "reference",
                "right": False,
                "error": "wrong amount",
                "reason": "the amount asked for was not said, or was one of many",
            },
        ]
    }
