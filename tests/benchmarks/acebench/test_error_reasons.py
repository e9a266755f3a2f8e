"""Error classes of wrong episodes with their reasons, word for word, and what became of each call, in every walk."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench.sandbox_build import TEXTS, Texts, edition, record
from benchmarks.acebench.test_episode_error_classes import ADD, END, GOLD, WRONG, played
from wildtool.benchmarks.acebench.episode.error_classes import classify, executed_calls
from wildtool.benchmarks.acebench.episode.fixed import (
    FixedMultiStepEpisode,
    FixedMultiTurnEpisode,
    reports_failure,
)
from wildtool.benchmarks.acebench.episode.official import OfficialMultiStepEpisode, OfficialMultiTurnEpisode

CALL, RULE, INFORMATION, UNFINISHED = (
    "Call Error",
    "Rule Violation",
    "Information Mismanagement",
    "Unfinished",
)
STEP = (OfficialMultiStepEpisode, FixedMultiStepEpisode)
TURN = (OfficialMultiTurnEpisode, FixedMultiTurnEpisode)
EVERY = (*STEP, *TURN)
REMAINING = "all expected calls were made, but the state differs: "


def reminder(title: str, time: str = "10") -> str:
    return f"[add_reminder(title={title!r}, description='d', time={time!r})]"


@pytest.mark.parametrize(
    ("gold", "replies", "kinds", "error", "reason"),
    [
        # What is no question to the user may be said twice.
        (
            (reminder("t?"), GOLD[1]),
            (reminder("t?"), reminder("t?"), END),
            EVERY,
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        # A lookup that was made says nothing of the calls before it.
        (
            (GOLD[1], GOLD[0]),
            (GOLD[0], END),
            EVERY,
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        # Code counts as it is written, where gold is code.
        (
            (reminder("Print(x)"),),
            (reminder("print(x)"), END),
            EVERY,
            RULE,
            f"{REMAINING}C.a: expected 1, found 2",
        ),
        (
            (reminder("Print(x)"),),
            (reminder("print(x)", "11"), END),
            EVERY,
            INFORMATION,
            "add_reminder ran with other values: time is '11', expected '10'",
        ),
        (
            ("[turn_on_wifi()]", reminder("Print(x)")),
            (f"[turn_on_wifi(), {reminder('print(x)')[1:]}", END),
            EVERY,
            RULE,
            f"{REMAINING}C.a: expected 1, found 2",
        ),
        (
            ("[add_reminder(title='t')]",),
            (ADD, END),
            EVERY,
            INFORMATION,
            "add_reminder ran with other values: more arguments than expected",
        ),
    ],
)
def test_the_first_rule_that_holds_decides_by_gold(
    gold: tuple[str, ...], replies: tuple[str, ...], kinds: tuple[Any, ...], error: str, reason: str
) -> None:
    assert {classify(played(kind, *replies, gold=gold), WRONG) for kind in kinds} == {(error, reason)}


@pytest.mark.parametrize("kind", STEP)
def test_the_alternative_of_which_most_was_made_is_gold(kind: Any) -> None:
    episode = played(kind, "[turn_on_wifi()]", GOLD[1], END)
    episode.record = replace(
        episode.record, milestones=(("[turn_on_wifi()]",), (*GOLD[:2], "[turn_on_wifi()]", ADD))
    )
    more = "delete_message ran although all was done without it"
    assert classify(episode, WRONG) == (RULE, more)


def test_a_sentence_of_travel_is_a_failure_where_it_says_so() -> None:
    sentences = {"Travel.modify_flight.cabin_short": "too dear", "Travel.modify_flight.nothing": "no change"}
    own = replace(edition(), texts=Texts(sentences))
    said: list[Any] = [
        "It is too dear.",
        "no change",
        None,
        ["too dear"],
        {"status": "error"},
        {"status": False},
    ]
    said += [{"status": True, "message": "too dear"}, {"status": 0}, {}]
    assert [reports_failure(own, answer) for answer in said] == [
        True,
        False,
        False,
        False,
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("exception", "outcomes"),
    [("error: {exception}", ["ok", "raised"]), ("{exception}", ["ok", "ok"])],
)
def test_a_text_is_an_exception_if_it_begins_like_one(exception: str, outcomes: list[str]) -> None:
    texts = Texts(TEXTS | {"Execution.multi_step.exception": exception})
    travel = record(classes=("Travel",))
    episode = OfficialMultiStepEpisode(travel, replace(edition(), texts=texts))
    calls = "[cancel_reservation(user_id='x', reservation_id='y', reason='z'), cancel_reservation()]"
    episode.advance({"content": calls})
    assert [call.outcome for call in executed_calls(episode)] == outcomes


def test_a_long_name_of_a_tool_is_cut() -> None:
    (call, *_) = executed_calls(played(FixedMultiStepEpisode, f"[{'n' * 81}()]"))
    assert call.answer.startswith(f"Error: there is no tool {'n' * 80} here.")
