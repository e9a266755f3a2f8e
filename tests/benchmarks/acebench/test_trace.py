"""Traces of ACEBench: calls, messages and episodes beside their gold answers; any reply can be shown."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.acebench.reply_build import item, normal, special, tool
from benchmarks.acebench.sandbox_build import edition, record
from benchmarks.acebench.test_judge import ITEMS, MESSAGES, MODES, NUMBER, PROFILES, WORD, calling, transcript
from long import a_fiftieth_of
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.declared import pages_of
from wildtool.trace import Trace
from wildtool.types import Item, Message

WIFI, LOGIN = "[turn_on_wifi()]", "[login_device()]"


def trace(asked: Any, *messages: Message | str, profile: str = "official", mode: str = "text") -> Trace:
    made = asked if isinstance(asked, Item) else item(asked)
    return ACEBENCH.in_mode(mode).rules(profile).trace(made, "0", transcript(*messages))


def statuses(found: Trace) -> list[str]:
    return [gold.status for gold in found.gold]


def episode(*milestones: str) -> Item:
    return item(record(*milestones), edition=edition())


@pytest.mark.parametrize("profile", PROFILES)
def test_a_right_call_is_done_at_its_one_step(profile: str) -> None:
    found = trace(normal(functions=NUMBER), "[f(a=1)]", profile=profile)
    assert (statuses(found), found.steps[0].fulfilled, found.differences) == (["done"], (0,), ())


def test_native_calls_are_set_beside_gold() -> None:
    found = trace(normal(functions=NUMBER), calling(arguments='{"a": 2}'), profile="fixed", mode="fc")
    assert (found.differences[0].where, found.differences[0].found) == ("f.a", 2)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_value_marks_its_call_and_stands_with_the_rule(profile: str) -> None:
    found = trace(normal({"f": {"a": "cat"}}, functions=WORD), "[f(a='dog')]", profile=profile)
    (difference,) = found.differences
    assert statuses(found) == ["wrong"]
    assert (difference.where, difference.expected, difference.found) == ("f.a", "cat", "dog")
    assert difference.rule and difference.rule in found.steps[0].note


def test_a_call_that_was_not_made_is_missed() -> None:
    two = normal({"f": {"a": 1}, "g": {}}, functions=(*NUMBER, tool("g")))
    assert statuses(trace(two, "[f(a=1)]", profile="fixed")) == ["done", "missed"]


def test_the_candidate_that_fits_best_is_shown() -> None:
    either = normal({"f": {"a": 1}}, {"f": {"a": 2}}, functions=NUMBER)
    assert [gold.arguments for gold in trace(either, "[f(a=2)]", profile="fixed").gold] == [{"a": 2}]


def test_a_special_reply_stands_beside_the_message_that_was_due() -> None:
    found = trace(special(f=["a"]), "I cannot.")
    (difference,) = found.differences
    assert (statuses(found), difference.found) == (["wrong"], "I cannot.")
    assert "Missing necessary parameters (a) for the api (f)" in difference.expected


def test_tools_are_named_as_the_record_names_them() -> None:
    assert trace(normal(functions=NUMBER)).tools[0]["function"]["name"] == "f"


@pytest.mark.parametrize("profile", PROFILES)
def test_milestones_are_done_by_the_step_that_made_them(profile: str) -> None:
    found = trace(episode(WIFI, LOGIN), WIFI, END_MARK, profile=profile)
    assert [step.fulfilled for step in found.steps] == [(0,), ()]
    assert statuses(found) == ["done", "missed"]
    assert [gold.deps for gold in found.gold] == [(), (0,)]


def test_after_a_milestone_that_was_missed_the_published_rule_finds_no_other() -> None:
    replies = (WIFI, END_MARK)
    assert statuses(trace(episode(LOGIN, WIFI), *replies)) == ["missed", "missed"]
    assert statuses(trace(episode(LOGIN, WIFI), *replies, profile="fixed")) == ["missed", "done"]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_the_sandbox_made_of_a_call_is_noted(profile: str) -> None:
    assert "turn_on_wifi: ok" in trace(episode(WIFI), WIFI, END_MARK, profile=profile).steps[0].note


def test_agent_and_user_each_see_what_is_new_to_them() -> None:
    talk = item(record(WIFI), edition=edition())
    talk = ACEBENCH.rules("official").trace(talk, "0", transcript(WIFI, END_MARK))
    assert [message["role"] for message in talk.steps[1].seen] == ["user"]


@settings(max_examples=a_fiftieth_of(1_000), deadline=None)
@given(st.sampled_from(ITEMS), st.lists(MESSAGES, min_size=1, max_size=4), st.sampled_from(MODES))
def test_any_replies_can_be_shown(asked: Item, replies: list[Message], mode: str) -> None:
    for profile in PROFILES:
        found = ACEBENCH.in_mode(mode).rules(profile).trace(asked, "0", transcript(*replies, scripted=True))
        assert repr([step.reply for step in found.steps][: len(replies)]) == repr(replies[: len(found.steps)])


def test_views_have_file_names_and_say_how_to_read_them() -> None:
    views = pages_of(ACEBENCH, "official")
    assert len({view.slug for view in views}) == len(views)
    assert all(view.about.endswith(".") and view.groups for view in views)
