"""Error classes of wrong episodes with their reasons, word for word, and what became of each call, in every walk."""

# ruff: noqa: E501 - each reason stands on one line

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench.sandbox_build import TEXTS, Texts, edition, record
from benchmarks.acebench.test_episode_error_classes import ADD, END, GOLD, NO_MESSAGE, WRONG, played
from wildtool.benchmarks.acebench.episode.end_state import EndState
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
            f"delete_message failed and never ran after that: {NO_MESSAGE[:200]}",
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
        (("[add_reminder(title=g(b=1))]", END), OFFICIAL, CALL, "add_reminder: raised, and never made right"),
        (
            ("[add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[])]", END),
            OFFICIAL,
            RULE,
            "add_food_delivery_order needs a step that was left out: Ann must log in",
        ),
        (
            (*["[turn_on_wifi()]"] * 19, END),
            STEP,
            UNFINISHED,
            "the episode ended before delete_message ran",
        ),
        (
            (ADD, f"I do this: {ADD} Done", END),
            (FixedMultiStepEpisode, *TURN),
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
        EndState(False, "a kind", (("x" * 300, "y"), ("z",))),
    )
    reasons = [classify(episode, state)[1].removeprefix(REMAINING) for state in states]
    assert reasons == ["a kind", "x" * 200]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            OfficialMultiStepEpisode,
            [
                "1 {} unreadable: no questions",
                "3 gone{} unknown tool: error: cannot access local variable 'func_call_result' where it is not associated with a value",
                "3 turn_on_wifi{'x': 1} raised: error: BaseApi.turn_on_wifi() got an unexpected keyword argument 'x'",
                f"5 delete_message{{'message_id': 99}} failed: {{'status': False, 'message': {NO_MESSAGE!r}}}",
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
                f"5 delete_message{{'message_id': 99}} failed: {{'status': False, 'message': {NO_MESSAGE!r}}}",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
        (
            OfficialMultiTurnEpisode,
            [
                "3 gone{} unknown tool: ['l', 'o', 's', 't']",
                "3 turn_on_wifi{'x': 1} raised: ['l', 'o', 's', 't']",
                f"5 delete_message{{'message_id': 99}} failed: {{'status': False, 'message': {NO_MESSAGE!r}}}",
                "13 add_reminder{'title': 't', 'description': 'd', 'time': '10'} ok: {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
            ],
        ),
        (
            FixedMultiTurnEpisode,
            [
                "1 {} unreadable: Error: this cannot be read as a call (not a call but Constant).",
                "3 gone{} unknown tool: Error: there is no tool gone here. The tools are: turn_on_wifi, login_device, add_reminder, delete_message, view_reminder_by_title.",
                "3 turn_on_wifi{'x': 1} raised: Error: turn_on_wifi could not be run (TypeError: BaseApi.turn_on_wifi() got an unexpected keyword argument 'x').",
                f"5 delete_message{{'message_id': 99}} failed: {{'status': False, 'message': {NO_MESSAGE!r}}}",
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
