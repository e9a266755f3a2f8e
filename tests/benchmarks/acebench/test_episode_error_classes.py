"""Error classes of wrong episodes: each rule by its smallest episode, on sound and on official walks."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.sandbox_build import PHONE, TEXTS, Texts, edition, record
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.end_state import EndState
from wildtool.benchmarks.acebench.episode.error_classes import classify, executed_calls
from wildtool.benchmarks.acebench.episode.fixed import (
    FixedAgentEpisode,
    FixedMultiStepEpisode,
    FixedMultiTurnEpisode,
)
from wildtool.benchmarks.acebench.episode.official import (
    OfficialAgentEpisode,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
)
from wildtool.benchmarks.acebench.error_classes import (
    AGENT_CLASSES,
    CALL_ERROR,
    INFORMATION,
    RULE_VIOLATION,
    UNFINISHED,
)

OFFERED = ("turn_on_wifi", "login_device", "add_reminder", "delete_message", "view_reminder_by_title")
ADD = "[add_reminder(title='t', description='d', time='10')]"
GOLD = ("[view_reminder_by_title(title='Shop')]", "[delete_message(message_id=2)]", ADD)
END = "finish conversation"
WRONG = EndState(False, "class attributes wrong", (("C.a: expected 1, found 2",),))

NO_MESSAGE = "no such message" + "." * 200
EDITION = replace(
    edition(),
    texts=Texts(
        TEXTS
        | {
            "MessageApi.delete_message.not_logged_in": "no login for deleting",
            "MessageApi.delete_message.unknown_id": NO_MESSAGE,
            "ReminderApi.delete_reminder.not_logged_in": NO_MESSAGE,
            "FoodPlatform.add_food_delivery_order.not_logged_in": "{username} must log in",
            "ReminderApi.add_reminder.not_logged_in": "no login for adding",
        }
    ),
)
Kind = (
    type[OfficialMultiStepEpisode]
    | type[OfficialMultiTurnEpisode]
    | type[FixedMultiStepEpisode]
    | type[FixedMultiTurnEpisode]
)
STEP: tuple[Kind, ...] = (OfficialMultiStepEpisode, FixedMultiStepEpisode)
TURN: tuple[Kind, ...] = (OfficialMultiTurnEpisode, FixedMultiTurnEpisode)


def rec(kind: Kind, gold: tuple[str, ...] = GOLD, **config: bool) -> AgentRecord:
    functions = tuple({"name": name, "description": "", "parameters": {}} for name in OFFERED)
    return replace(
        record(*gold, classes=PHONE),
        id="made_0",
        functions=functions,
        category="agent_multi_step" if kind in STEP else "agent_multi_turn",
        initial_config={"BaseApi": {"wifi": True, "logged_in": True} | config},
    )


def played(
    kind: Kind, *replies: str, gold: tuple[str, ...] = GOLD, **config: bool
) -> OfficialAgentEpisode | FixedAgentEpisode:
    """An episode; a multi-turn one is opened by the user, who then says `Go on.` whenever it is asked."""
    found = rec(kind, gold, **config)
    episode = (
        kind(found, EDITION, native=False)
        if issubclass(kind, FixedMultiStepEpisode | FixedMultiTurnEpisode)
        else kind(found, EDITION)
    )
    left = list(replies)
    while left and not episode.done:
        request = episode.request()
        assert request is not None
        episode.advance({"content": "Go on." if request.role == "user" else left.pop(0)})
    return episode


def fault(kind: Kind, *replies: str, gold: tuple[str, ...] = GOLD, **config: bool) -> str:
    return classify(played(kind, *replies, gold=gold, **config), WRONG)[0]


@pytest.mark.parametrize("kind", STEP + TURN)
@pytest.mark.parametrize("call", ["[add_reminder(x=1)]", "[unknown()]"])
def test_a_call_that_could_not_be_made_and_was_never_made_right_is_a_call_error(kind: Kind, call: str):
    assert fault(kind, call, END) == CALL_ERROR


@pytest.mark.parametrize("kind", [*STEP, FixedMultiTurnEpisode])
def test_so_is_a_call_that_cannot_be_read(kind: Kind):
    assert fault(kind, "[add_reminder(]", "[add_reminder(]", END) == CALL_ERROR


@pytest.mark.parametrize("kind", STEP + TURN)
def test_so_is_a_gold_tool_that_said_no_and_never_ran_after_that(kind: Kind):
    assert fault(kind, "[delete_message(message_id=99)]", END) == CALL_ERROR


@pytest.mark.parametrize("kind", STEP + TURN)
def test_a_call_that_was_made_right_later_is_no_fault(kind: Kind):
    assert fault(
        kind, "[add_reminder(x=1)]", "[delete_message(message_id=99)]", *GOLD[1:2], ADD, END
    ) not in (
        CALL_ERROR,
        INFORMATION,
        UNFINISHED,
    )


@pytest.mark.parametrize("kind", [FixedMultiStepEpisode, *TURN])
def test_a_call_beside_prose_that_was_never_made_is_a_rule_violation(kind: Kind):
    assert fault(kind, f"I do this: {ADD}\nDone", END) == RULE_VIOLATION


@pytest.mark.parametrize("kind", STEP + TURN)
def test_so_is_a_call_that_wants_a_login_which_never_came(kind: Kind):
    assert fault(kind, GOLD[1], ADD, END, logged_in=False) == RULE_VIOLATION


@pytest.mark.parametrize("kind", TURN)
def test_so_are_different_tools_in_one_message_of_a_dialogue(kind: Kind):
    assert fault(kind, f"[turn_on_wifi(), {ADD[1:]}", END) == RULE_VIOLATION


@pytest.mark.parametrize("kind", STEP)
def test_an_agent_that_works_alone_may_do_so(kind: Kind):
    assert fault(kind, f"[turn_on_wifi(), {GOLD[1][1:]}", "Hm", END) == UNFINISHED


@pytest.mark.parametrize("kind", STEP + TURN)
def test_a_tool_that_ran_with_other_values_is_information_mismanagement(kind: Kind):
    episode = played(kind, GOLD[1], ADD.replace("'10'", "'11'"), END)
    assert classify(episode, WRONG) == (
        INFORMATION,
        "add_reminder ran with other values: time is '11', expected '10'",
    )


@pytest.mark.parametrize("kind", TURN)
def test_so_is_a_question_asked_twice(kind: Kind):
    assert fault(kind, "Which title?", "which  title?", END) == INFORMATION


@pytest.mark.parametrize("kind", STEP + TURN)
def test_a_gold_call_left_out_before_later_ones_is_a_rule_violation(kind: Kind):
    assert classify(played(kind, ADD, END, END), WRONG) == (RULE_VIOLATION, "delete_message was left out")


@pytest.mark.parametrize("kind", STEP + TURN)
def test_so_is_more_than_was_asked(kind: Kind):
    assert fault(kind, GOLD[1], ADD, "[delete_message(message_id=1)]", END) == RULE_VIOLATION


@pytest.mark.parametrize("kind", STEP + TURN)
def test_what_ends_too_early_is_unfinished(kind: Kind):
    episode = played(kind, GOLD[0], GOLD[1], END, END)
    assert classify(episode, WRONG) == (UNFINISHED, "the episode ended before add_reminder ran")


@pytest.mark.parametrize("kind", STEP + TURN)
def test_what_uses_up_its_messages_is_unfinished(kind: Kind):
    episode = played(kind, *["[turn_on_wifi()]"] * 30)
    assert classify(episode, WRONG) == (UNFINISHED, "the messages were used up before delete_message ran")


@pytest.mark.parametrize("kind", STEP)
def test_the_alternative_that_fits_best_is_gold(kind: Kind):
    episode = played(kind, GOLD[1], ADD.replace("'10'", "'11'"), END)
    two = replace(episode.record, milestones=(("[turn_on_wifi()]",), GOLD))
    episode.record = two
    assert classify(episode, WRONG)[0] == INFORMATION


@pytest.mark.parametrize("kind", [OfficialMultiStepEpisode, OfficialMultiTurnEpisode])
def test_official_dialogues_are_read_as_calls_with_their_outcomes(kind: Kind):
    episode = played(
        kind, "[turn_on_wifi(), login_device()]", "[delete_message(message_id=99)]", "[unknown()]", END
    )
    found = [(ran.name, ran.outcome) for ran in executed_calls(episode)]
    assert found == [
        ("turn_on_wifi", "ok"),
        ("login_device", "ok"),
        ("delete_message", "failed"),
        ("unknown", "unknown tool"),
    ]


_TEXTS = st.text() | st.sampled_from(
    [
        *GOLD,
        END,
        "[unknown()]",
        "[add_reminder(x=1)]",
        "[f(",
        "[5]",
        "[x]",
        "['f()']",
        "[turn_on_wifi(), 5]",
        "f(a=g(b=1))",
    ]
)


@given(st.lists(_TEXTS, max_size=6), st.sampled_from(STEP + TURN))
def test_every_episode_has_a_class(replies: list[str], kind: Kind):
    error, reason = classify(played(kind, *replies), WRONG)
    assert error in AGENT_CLASSES
    assert reason


def test_hostile_arguments_are_classified():
    episode: Any = FixedMultiStepEpisode(rec(FixedMultiStepEpisode), edition(), native=True)
    for arguments in ("[" * 10**5, '{"title": ' + "[" * 60 + "]" * 60 + "}", '{"x": "' + "y" * 10**5 + '"}'):
        episode.advance(
            {"tool_calls": [{"id": "i", "function": {"name": "add_reminder", "arguments": arguments}}]}
        )
    assert classify(episode, WRONG)[0] == CALL_ERROR
