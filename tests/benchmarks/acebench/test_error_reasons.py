"""Error classes of wrong episodes with their reasons, word for word, and what became of each call, in every walk."""

# ruff: noqa: E501 - each reason stands on one line

from typing import Any

import pytest

from benchmarks.acebench.test_episode_error_classes import ADD, END, GOLD, WRONG, played
from wildtool.benchmarks.acebench.episode.end_state import EndState
from wildtool.benchmarks.acebench.episode.error_classes import classify, executed_calls
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode
from wildtool.benchmarks.acebench.episode.official import OfficialMultiStepEpisode, OfficialMultiTurnEpisode

CALL, RULE, INFORMATION, UNFINISHED = (
    "Call Error",
    "Rule Violation",
    "Information Mismanagement",
    "Unfinished",
)
STEP = (OfficialMultiStepEpisode, FixedMultiStepEpisode)
TURN = (OfficialMultiTurnEpisode, FixedMultiTurnEpisode)
OFFICIAL = (OfficialMultiStepEpisode, OfficialMultiTurnEpisode)
FIXED = (FixedMultiStepEpisode, FixedMultiTurnEpisode)
EVERY = (*STEP, *TURN)
LONG_QUESTION = "which " + "w" * 99 + "?"
REMAINING = "all expected calls were made, but the state differs: "


@pytest.mark.parametrize(
    ("replies", "kinds", "error", "reason"),
    [
        (("[add_reminder(x=1)]", END), EVERY, CALL, "add_reminder: raised, and never made right"),
        (("[add_reminder(x=1)]", ADD, END), EVERY, RULE, "delete_message was left out"),
        ((ADD, "[add_reminder(x=1)]", END), EVERY, CALL, "add_reminder: raised, and never made right"),
        ((ADD, ADD, END), EVERY, RULE, "delete_message was left out"),
        (("[unknown()]", END), EVERY, CALL, "unknown: unknown tool, and never made right"),
        (("[unknown()]", GOLD[1], END), EVERY, UNFINISHED, "the episode ended before add_reminder ran"),
        (
            ("[delete_message(message_id=99)]", END),
            EVERY,
            CALL,
            "delete_message failed and never ran after that: MessageApi.delete_message.unknown_id",
        ),
        (
            ("[delete_message(message_id=99)]", GOLD[1], END),
            EVERY,
            UNFINISHED,
            "the episode ended before add_reminder ran",
        ),
        (("[turn_on_wifi(x=1)]", *GOLD, END), EVERY, CALL, "turn_on_wifi: raised, and never made right"),
        (
            ("[add_reminder(]", "[add_reminder(]", END),
            (OfficialMultiStepEpisode, FixedMultiStepEpisode, FixedMultiTurnEpisode),
            CALL,
            "a message: unreadable, and never made right",
        ),
        (
            ("[add_reminder(]", "[add_reminder(]", END),
            (OfficialMultiTurnEpisode,),
            RULE,
            "a call of add_reminder was mixed with prose and never made",
        ),
        (
            ("Well, [add_reminder", END),
            (OfficialMultiStepEpisode,),
            CALL,
            "a message: unreadable, and never made right",
        ),
        (
            ("Well, [add_reminder", END),
            (FixedMultiStepEpisode, OfficialMultiTurnEpisode, FixedMultiTurnEpisode),
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        (
            (f"I do this: {ADD} Done", END),
            (OfficialMultiStepEpisode,),
            CALL,
            "a message: unreadable, and never made right",
        ),
        (
            (f"I do this: {ADD} Done", END),
            (FixedMultiStepEpisode, OfficialMultiTurnEpisode, FixedMultiTurnEpisode),
            RULE,
            "a call of add_reminder was mixed with prose and never made",
        ),
        ((f"I do this: {ADD} Done", ADD, END), EVERY, RULE, "delete_message was left out"),
        (
            ("See unknown(x) and add_reminder", END),
            EVERY,
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        ((f"[turn_on_wifi(), {ADD[1:]}", END), STEP, RULE, "delete_message was left out"),
        (
            (f"[turn_on_wifi(), {ADD[1:]}", END),
            TURN,
            RULE,
            "one message called different tools: add_reminder, turn_on_wifi",
        ),
        ((f"[{GOLD[1][1:-1]}, {ADD[1:]}", END), EVERY, RULE, REMAINING + "C.a: expected 1, found 2"),
        (
            ("[delete_message(message_id=1)]", ADD, END),
            EVERY,
            INFORMATION,
            "delete_message ran with other values: message_id is '1', expected '2'",
        ),
        (
            (GOLD[1], ADD.replace("'t'", "'u'"), END),
            EVERY,
            INFORMATION,
            "add_reminder ran with other values: title is 'u', expected 't'",
        ),
        (("Which title?", "which  title?", END), EVERY, INFORMATION, "asked twice: which title?"),
        (
            (LONG_QUESTION, LONG_QUESTION, END),
            EVERY,
            INFORMATION,
            f"asked twice: {LONG_QUESTION[:100]}",
        ),
        (
            (GOLD[1], ADD.replace("'t'", f"'{'u' * 90}'"), END),
            EVERY,
            INFORMATION,
            f"add_reminder ran with other values: title is '{'u' * 80}', expected 't'",
        ),
        (
            ("Which title", "Which title", END),
            EVERY,
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        (("Which title？", "No", "which title？", END), EVERY, INFORMATION, "asked twice: which title？"),
        ((ADD, END, END), EVERY, RULE, "delete_message was left out"),
        (
            (GOLD[1], ADD, "[turn_on_wifi()]", END),
            EVERY,
            RULE,
            "turn_on_wifi ran although all was done without it",
        ),
        ((*GOLD, END), EVERY, RULE, REMAINING + "C.a: expected 1, found 2"),
        ((GOLD[0], END, END), EVERY, UNFINISHED, "the episode ended before delete_message ran"),
        ((GOLD[1], END, END), EVERY, UNFINISHED, "the episode ended before add_reminder ran"),
        (
            (*["[turn_on_wifi()]"] * 30,),
            EVERY,
            UNFINISHED,
            "the messages were used up before delete_message ran",
        ),
        (("Hello", END), EVERY, UNFINISHED, "the episode ended before delete_message ran"),
        ((END, END), EVERY, UNFINISHED, "the episode ended before delete_message ran"),
        (
            ("[turn_on_wifi(), 5]", END),
            (OfficialMultiStepEpisode, FixedMultiStepEpisode, FixedMultiTurnEpisode),
            CALL,
            "a message: unreadable, and never made right",
        ),
        (
            ("[turn_on_wifi(), 5]", END),
            (OfficialMultiTurnEpisode,),
            RULE,
            "a call of turn_on_wifi was mixed with prose and never made",
        ),
        (
            ("[]", END),
            (OfficialMultiStepEpisode, FixedMultiStepEpisode, FixedMultiTurnEpisode),
            CALL,
            "a message: unreadable, and never made right",
        ),
        (("[]", END), (OfficialMultiTurnEpisode,), UNFINISHED, "the episode ended before delete_message ran"),
        (
            (GOLD[1], ADD.replace("time='10'", "time='10', more=1"), END),
            EVERY,
            CALL,
            "add_reminder: raised, and never made right",
        ),
    ],
)
def test_the_first_rule_that_holds_decides(
    replies: tuple[str, ...], kinds: tuple[Any, ...], error: str, reason: str
) -> None:
    assert {classify(played(kind, *replies), WRONG) for kind in kinds} == {(error, reason)}


@pytest.mark.parametrize("kind", EVERY)
def test_a_missing_login_is_a_rule_violation_until_it_came(kind: Any) -> None:
    needed = "delete_message needs a step that was left out: no login for deleting"
    assert classify(played(kind, GOLD[1], ADD, END, logged_in=False), WRONG) == (RULE, needed)
    replies = (ADD, "[login_device()]", ADD, GOLD[1], END)
    more = "login_device ran although all was done without it"
    assert classify(played(kind, *replies, logged_in=False), WRONG) == (RULE, more)


def test_the_first_difference_of_the_state_is_shown_else_the_kind_of_fault() -> None:
    episode = played(FixedMultiStepEpisode, *GOLD, END)
    states = (
        EndState(False, "a kind", ()),
        EndState(False, "a kind", ((), ("b",))),
        EndState(False, "a kind", (("x" * 300, "y"), ("z",))),
    )
    reasons = [classify(episode, state)[1].removeprefix(REMAINING) for state in states]
    assert reasons == ["a kind", "a kind", "x" * 200]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            OfficialMultiStepEpisode,
            [
                "1 {} unreadable: no questions",
                "3 gone{} unknown tool: error: cannot access local variable 'func_call_result' where it is not associated with a value",
                "3 turn_on_wifi{'x': 1} raised: error: BaseApi.turn_on_wifi() got an unexpected keyword argument 'x'",
                "5 delete_message{'message_id': 99} failed: {'status': False, 'message': 'MessageApi.delete_message.unknown_id'}",
                "7 {} unreadable: no questions",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
        (
            FixedMultiStepEpisode,
            [
                "1 {} unreadable: Error: this cannot be read as a call (not a call but Constant).",
                "3 gone{} unknown tool: Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title.",
                "3 turn_on_wifi{'x': 1} raised: Error: turn_on_wifi could not be run (TypeError: BaseApi.turn_on_wifi() got an unexpected keyword argument 'x').",
                "5 delete_message{'message_id': 99} failed: {'status': False, 'message': 'MessageApi.delete_message.unknown_id'}",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
        (
            OfficialMultiTurnEpisode,
            [
                "3 gone{} unknown tool: ['l', 'o', 's', 't']",
                "3 turn_on_wifi{'x': 1} raised: ['l', 'o', 's', 't']",
                "5 delete_message{'message_id': 99} failed: {'status': False, 'message': 'MessageApi.delete_message.unknown_id'}",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            [
                "1 {} unreadable: Error: this cannot be read as a call (not a call but Constant).",
                "3 gone{} unknown tool: Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title.",
                "3 turn_on_wifi{'x': 1} raised: Error: turn_on_wifi could not be run (TypeError: BaseApi.turn_on_wifi() got an unexpected keyword argument 'x').",
                "5 delete_message{'message_id': 99} failed: {'status': False, 'message': 'MessageApi.delete_message.unknown_id'}",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
    ],
)
def test_each_call_has_its_message_outcome_and_answer(kind: Any, expected: list[str]) -> None:
    episode = played(
        kind,
        "[turn_on_wifi(), 5]",
        "[gone(), turn_on_wifi(x=1)]",
        "[delete_message(message_id=99)]",
        "[add_reminder(",
        "[x",
        "I say (",
        ADD,
        END,
    )
    calls = [
        f"{ran.message} {ran.name}{dict(ran.arguments)} {ran.outcome}: {ran.answer}"
        for ran in executed_calls(episode)
    ]
    assert calls == expected
