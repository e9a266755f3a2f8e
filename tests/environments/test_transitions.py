"""Whole episodes: what each message led to, and what a policy is shown."""

import json
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from environments.random_policy import call
from wildtool.environments import core
from wildtool.environments.core import (
    MOST_ANSWERED,
    Observation,
    Transition,
    UnitEnvironment,
    cooperative,
)
from wildtool.environments.sources import ItemUnits, benchmark_units
from wildtool.errors import DataError, UsageError
from wildtool.types import Message, Reply, Request

CLARIFY, MIXED, CHAT = "wild_mini_0/2", "wild_mini_0/0", "wild_mini_2/0"
"""A unit that begins with a question, one with three steps of calls, one without a call."""
CALLED: dict[str, float] = dict.fromkeys(("format", "name", "order", "redundancy", "arguments"), 1.0)
"""What a right message with calls is worth."""


@cache
def units() -> ItemUnits:
    return benchmark_units("wild-mini", evaluation=True)


def opened(name: str, profile: str = "fixed", **settings: Any) -> UnitEnvironment:
    environment = UnitEnvironment(units(), profile, **settings)
    environment.open(name)
    return environment


def gold(environment: UnitEnvironment) -> Message:
    message = environment.gold()
    assert message is not None
    return message


def wrong(environment: UnitEnvironment, text: str = '{"unheard_of": 1}', **more: Any) -> Message:
    """A call of the right tool with wrong arguments."""
    return {**call(gold(environment)["tool_calls"][0]["function"]["name"], text), **more}


def test_each_right_message_is_worth_1_of_what_it_puts_to_the_test():
    environment = opened(CLARIFY, judged=["official"])
    question, add = gold(environment), {"role": "user"}
    first = environment.step(question)
    (add,) = first.observation.messages
    assert add["role"] == "user"
    assert first == Transition(Observation([add], None), {"refusal": 1.0}, done=False, reason="")
    made = gold(environment)
    second = environment.step(made)
    (answer,) = second.observation.messages
    assert (answer["role"], answer["tool_call_id"]) == ("tool", made["tool_calls"][0]["id"])
    assert second == Transition(Observation([answer], None), CALLED, done=False, reason="")
    text = gold(environment)
    ends = {"refusal": 1.0, "verdict": 1.0, "progress": 1.0, "official": 1.0}
    assert environment.step(text) == Transition(Observation([], None), ends, done=True, reason="")
    assert environment.steps == [{"refusal": 1.0}, CALLED, ends]
    assert environment.transcript().replies == (Reply(question), Reply(made), Reply(text))
    assert environment.is_over
    assert environment.gold() is None
    shown = environment.shown()
    assert shown.replaces
    assert shown.messages[-3:-1] == [add, made]
    assert shown.messages[-1] == answer


def test_where_no_call_is_expected_there_is_no_progress():
    environment = opened(CHAT)
    assert environment.step({"content": "Yes."}).components == {"refusal": 1.0, "verdict": 1.0}


FAULTS: dict[str, Any] = {
    "empty": {"content": ""},
    "a question instead of a call": {"content": "Which one?"},
    "an unknown tool": call("no_such_tool", "{}"),
    "no JSON": call("list_accounts", "{"),
    "an argument too many": call("list_accounts", '{"a": 1}'),
    "a later call": call("link_repayment", "{}"),
    "a refusal of the endpoint": {"content": None, "refusal": "No."},
}

EXPECTED: dict[str, Any] = {
    "empty": ({"format": 0.0}, "an empty reply although a call was due"),
    "a question instead of a call": ({"refusal": 0.0}, "text although a call was due"),
    "an unknown tool": (
        {"format": 1.0, "name": 0.0},
        "called no_such_tool, which is not in the tool list",
    ),
    "no JSON": (
        {"format": 0.0},
        "arguments of list_accounts: Expecting property name enclosed in double quotes at character 1",
    ),
    "an argument too many": ({**CALLED, "arguments": 0.0}, "list_accounts: a: 1 was not asked for"),
    "a later call": (
        {"format": 1.0, "name": 1.0, "order": 0.0},
        "called link_repayment before the calls it depends on",
    ),
    "a refusal of the endpoint": ({"refusal": 0.0}, "the model or its provider refused to answer"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_the_episode_with_its_reason(fault: str):
    step = opened(MIXED).step(FAULTS[fault])
    assert (step.done, step.observation) == (True, Observation([], None))
    components, reason = EXPECTED[fault]
    assert step.components == {**components, "verdict": 0.0} | (
        {} if "provider" in reason else {"progress": 0.0}
    )
    assert step.reason == reason


def test_later_steps_keep_the_progress_and_lose_the_verdict():
    environment = opened(MIXED)
    environment.step(gold(environment))
    step = environment.step(wrong(environment))
    assert (step.components, step.done, step.reason) == (
        {
            "format": 1.0,
            "name": 1.0,
            "order": 1.0,
            "redundancy": 1.0,
            "arguments": 0.0,
            "verdict": 0.0,
            "progress": 0.25,
        },
        True,
        "add_expense: account_id: 'acc_207' is missing",
    )
    assert environment.steps == [CALLED, step.components]


def test_an_answered_fault_is_shown_where_it_was_made():
    environment = opened(MIXED, on_fault="answer")
    opening = environment.shown().messages
    mistaken = {**wrong(environment, content=None), "role": "user"}
    step = environment.step(mistaken)
    error = {
        "role": "tool",
        "content": '{"error":"no answer is recorded for this call"}',
        "tool_call_id": "c",
    }
    assert step.observation == Observation([error], None)
    assert not step.done
    assert (step.components, step.reason) == (
        {"format": 1.0, "name": 1.0, "order": 1.0, "redundancy": 1.0, "arguments": 0.0},
        "list_accounts: unheard_of: 1 was not asked for",
    )
    right = gold(environment)
    step = environment.step(right)
    assert environment.shown().messages == [
        *opening,
        {**mistaken, "role": "user"},
        error,
        right,
        *step.observation.messages,
    ]
    unreadable = environment.step(wrong(environment, "{", tool_calls=[{"id": "a"}, {"x": 1}]))
    assert [each["content"] for each in unreadable.observation.messages] == [
        '{"error":"this call cannot be read"}'
    ] * 2
    assert [each["tool_call_id"] for each in unreadable.observation.messages] == ["a", None]
    while not environment.is_over:
        step = environment.step(gold(environment))
    assert (step.components["verdict"], step.components["progress"]) == (0.0, 1.0)
    assert len(environment.transcript().replies) == 6


def test_a_text_is_not_answered_and_the_fourth_fault_neither():
    environment = opened(MIXED, on_fault="answer")
    assert environment.step({"content": "Which one?"}).done
    environment = opened(MIXED, on_fault="answer")
    steps = [environment.step(wrong(environment)) for _ in range(MOST_ANSWERED)]
    assert [step.done for step in steps] == [False] * 3
    last = environment.step(wrong(environment))
    assert last.done
    assert last.components["progress"] == 0
    assert last.reason == steps[0].reason


def test_calls_that_are_no_list_are_answered_once():
    environment = opened(MIXED, on_fault="answer")
    step = environment.step({"content": None, "tool_calls": "f()"})
    content = '{"error":"this call cannot be read"}'
    answer = {"role": "tool", "content": content, "tool_call_id": None}
    assert (step.done, step.observation) == (False, Observation([answer], None))


def test_an_end_before_the_policy_spoke_has_no_components():
    state: Any = SimpleNamespace(is_over=True, steps=[])
    assert (opened(CHAT)._after(state), state.steps) == (None, [])  # pyright: ignore[reportPrivateUsage]


def test_the_walk_of_official_goes_on_after_a_wrong_call():
    environment = opened(MIXED, "official", on_fault="walk")
    step = environment.step(wrong(environment))
    assert (
        (
            step.components,
            step.done,
            step.reason,
            [each["role"] for each in step.observation.messages],
            step.observation.replaces,
        )
    ) == (
        {"format": 1.0, "name": 1.0, "order": 1.0, "redundancy": 1.0, "arguments": 0.0},
        False,
        "error_schema: args not defined",
        ["tool"],
        False,
    )
    while not environment.is_over:
        step = environment.step(gold(environment))
    assert (step.components, step.reason) == ({"refusal": 1.0, "verdict": 0.0, "progress": 0.0}, "")


def test_an_episode_that_is_not_done_ends_after_the_most_messages(monkeypatch: pytest.MonkeyPatch):
    assert core.MOST_MESSAGES == 100
    monkeypatch.setattr(core, "MOST_MESSAGES", 3)
    environment = opened(MIXED)
    steps = [environment.step(gold(environment)) for _ in range(3)]
    assert [step.done for step in steps] == [False, False, True]
    assert steps[-1] == Transition(
        Observation([], None),
        {**CALLED, "verdict": 0.0},
        done=True,
        reason="not done after 3 messages",
    )
    environment = opened(CLARIFY)
    steps = [environment.step(gold(environment)) for _ in range(3)]
    assert (steps[-1].components["verdict"], steps[-1].reason) == (1.0, "")
    walking = opened(MIXED, "official", on_fault="walk")
    steps = [walking.step(wrong(walking)) for _ in range(3)]
    assert [step.done for step in steps] == [False, False, True]
    assert steps[-1].reason == "error_schema: required args missing"


def test_the_default_profile_is_fixed_or_the_first():
    assert UnitEnvironment(units()).profile == "fixed"
    assert UnitEnvironment(units(), "official").profile == "official"
    environment = UnitEnvironment(units())
    assert not environment.is_open
    environment.open(CHAT)
    assert (environment.is_open, environment.name, environment.is_over) == (True, CHAT, False)
    assert environment.fields["task_type"] == "Chat"
    with pytest.raises(UsageError) as caught:
        UnitEnvironment(units(), judged=["fixed", "strict"])
    assert str(caught.value) == "wild-mini has no profile 'strict'; it has official, fixed, paper"


def test_an_opening_replaces_and_has_the_tools():
    environment = UnitEnvironment(units())
    opening = environment.open(MIXED)
    assert opening == environment.shown()
    assert opening.replaces
    assert [message["role"] for message in opening.messages] == ["system", "user"]
    assert opening.tools is not None
    assert opening.tools[0]["function"]["name"] == "list_accounts"
    assert environment.reset(3) == UnitEnvironment(units()).open(units().draw(3))
    assert environment.name == units().draw(3)


def test_can_open_leaves_the_open_episode_alone():
    environment = opened(CHAT)
    assert environment.can_open(MIXED)
    assert not environment.can_open("a/0")
    assert environment.name == CHAT


def test_a_saved_episode_is_a_text_with_its_settings_and_replies():
    environment = opened(CLARIFY)
    question = gold(environment)
    environment.step(question)
    saved = environment.save()
    assert json.loads(saved) == {
        "unit": CLARIFY,
        "profile": "fixed",
        "on_fault": "end",
        "replies": [question],
    }
    other = UnitEnvironment(units())
    assert other.restore(saved) == environment.shown()
    assert other.steps == environment.steps
    assert other.save() == saved
    with pytest.raises(DataError) as caught:
        UnitEnvironment(units(), on_fault="walk").restore(saved)
    assert str(caught.value) == (
        f"the episode of {CLARIFY} was saved with profile='fixed', on_fault='end'; this environment has"
        " profile='fixed', on_fault='walk'"
    )
    other = opened(CHAT)
    with pytest.raises(DataError, match="no saved episode, which is a text that `save` gave: "):
        other.restore("{}")
    assert other.name == CHAT


def test_replies_that_go_on_after_the_end_are_of_other_data():
    environment = opened(MIXED)
    with pytest.raises(DataError) as caught:
        environment.replay(CHAT, [Reply({"content": "Yes."}), Reply({"content": "More."})])
    assert str(caught.value) == (
        f"the replies to {CHAT} do not end where the unit does: its data are others now, or other rules were played"
    )
    assert environment.name == MIXED
    ended = environment.replay(CHAT, [Reply({"content": "Yes."})])
    assert ended == Observation([], None, replaces=True)
    assert environment.steps == [{"refusal": 1.0, "verdict": 1.0}]


def test_units_that_build_on_each_other_are_not_played_alone(monkeypatch: pytest.MonkeyPatch):
    environment = opened(CHAT)
    monkeypatch.setattr(type(environment._rules), "leading", lambda rules, item: item.units[:1])  # pyright: ignore
    with pytest.raises(DataError) as caught:
        environment.open(MIXED)
    assert str(caught.value) == (
        f"{MIXED}: the units of this item build on each other; environments play single ones"
    )
    assert (environment.can_open(MIXED), environment.name) == (False, CHAT)


def test_a_role_without_gold_needs_a_player():
    with pytest.raises(UsageError) as caught:
        cooperative(Request([], (), role="user"))
    assert str(caught.value) == "the role 'user' needs a model: name a function for it in `players`"
    assert cooperative(Request([], (), gold=lambda style: {"content": style})) == {"content": "cooperative 0"}


def test_a_mode_that_rewrites_shows_all_messages_and_tools_again():
    environment = UnitEnvironment(benchmark_units("acebench", "finance", mode="text", evaluation=True))
    environment.open(next(name for name in environment.units.names if "multi_step" in name))  # pyright: ignore
    before = environment.shown()
    step = environment.step(gold(environment))
    assert step.observation == environment.shown()
    assert step.observation.replaces
    assert step.observation.tools == before.tools
    assert step.observation.messages != before.messages


def test_after_an_answered_fault_no_other_role_speaks_again():
    environment = UnitEnvironment(
        benchmark_units("acebench", "finance", mode="fc", evaluation=True), on_fault="answer"
    )
    environment.open(next(name for name in environment.units.names if "multi_turn" in name))  # pyright: ignore
    opening = environment.shown().messages
    for number in (1, 2):
        assert not environment.step(call("no_such_tool", "{}")).done
        assert environment.shown().messages[: len(opening)] == opening
        assert len(environment.shown().messages) == len(opening) + 2 * number
        assert len(environment.transcript().replies) == 1 + number
