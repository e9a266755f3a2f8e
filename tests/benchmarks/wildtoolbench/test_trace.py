"""Traces of WildToolBench: what was seen, which gold calls were done, where arguments differ; any reply can be shown."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.wildtoolbench.build import (
    DONE,
    Nodes,
    answer,
    ask,
    call,
    calls,
    item,
    node,
    raw_call,
    says,
    transcript,
    verdict,
)
from benchmarks.wildtoolbench.test_judge import HOSTILE, ITEM, PROFILES
from wildtool.alter.variant import Variant
from wildtool.benchmark import judge_unit
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.declared import pages_of
from wildtool.trace import Trace, replay_steps
from wildtool.types import Message

TWO: Nodes = [node("a", n=1), node("b", 0, text="red shoes"), answer(1)]


def trace(profile: str, task: Nodes, *replies: Message, **more: Any) -> Trace:
    return WILDTOOLBENCH.rules(profile).trace(item(task), "0", transcript(*replies, **more))


def statuses(found: Trace) -> list[str]:
    return [gold.status for gold in found.gold]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_right_task_is_done_node_by_node(profile: str) -> None:
    found = trace(profile, TWO, calls(call("a", n=1)), calls(call("b", text="red shoes")), DONE)
    assert [step.fulfilled for step in found.steps] == [(0,), (1,), (2,)]
    assert statuses(found) == ["done"] * 3
    assert found.differences == ()


def test_a_step_shows_what_no_step_before_it_showed() -> None:
    found = trace("fixed", TWO, calls(call("a", n=1)), calls(call("b", text="red shoes")), DONE)
    assert [[message["role"] for message in step.seen] for step in found.steps] == [
        ["system", "user"],
        ["tool"],
        ["tool"],
    ]


def test_an_answer_to_a_question_is_seen_before_the_next_reply() -> None:
    found = trace("fixed", [ask(), node("a", 0), answer(1)], says("Which?"), calls("a"))
    assert [message["content"] for message in found.steps[1].seen] == ["The red one."]


def test_gold_gives_calls_their_arguments_and_words_their_text() -> None:
    found = trace("official", TWO)
    assert [gold.arguments for gold in found.gold] == [{"n": 1}, {"text": "red shoes"}, "Here you are."]
    assert [gold.deps for gold in found.gold] == [(), (0,), (1,)]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_wrong_argument_marks_its_gold_call_and_names_the_place(profile: str) -> None:
    found = trace(profile, TWO, calls(call("a", n=1)), calls(call("b", text="blue hat")), DONE)
    assert statuses(found)[:2] == ["done", "wrong"]
    assert [step.fulfilled for step in found.steps[:2]] == [(0,), ()]
    (difference,) = found.differences
    assert (difference.where, difference.expected, difference.found) == ("b.text", "red shoes", "blue hat")
    assert difference.rule and difference.rule in found.steps[1].note


def test_only_the_official_rule_that_decided_stands_at_its_place() -> None:
    found = trace(
        "official", [node("a", text="one", n=1), answer(0)], calls(call("a", text="zzzzz", n=2)), DONE
    )
    assert ["similar enough" in difference.rule for difference in found.differences] == [True, False]


def test_of_equal_names_the_gold_call_that_is_nearest_is_wrong() -> None:
    task = [node("a", n=1, text="x"), node("a", n=2, text="y"), answer(0, 1)]
    found = trace("fixed", task, calls(call("a", n=2, text="blue")))
    assert statuses(found) == ["missed", "wrong", "missed"]


def test_a_call_that_is_not_due_leaves_gold_missed_and_the_step_says_why() -> None:
    found = trace("fixed", TWO, calls(call("b", text="red shoes")))
    assert statuses(found) == ["missed"] * 3
    assert "before the calls it depends on" in found.steps[0].note


@pytest.mark.parametrize("profile", PROFILES)
def test_the_reason_of_a_verdict_stands_at_a_step(profile: str) -> None:
    replies = [calls(call("a", n=1)), calls("c")]
    made = item(TWO)
    found = WILDTOOLBENCH.rules(profile).trace(made, "0", transcript(*replies))
    (verdict,) = WILDTOOLBENCH.judge(made, {"0": transcript(*replies)}, profile)
    assert verdict.outcome == "wrong"
    assert any(verdict.reason in step.note for step in found.steps)


@pytest.mark.parametrize("profile", ["official", "paper"])
def test_a_call_behind_the_first_fault_has_a_tick_only_with_right_arguments(profile: str) -> None:
    task = [node("a", n=1), node("b", 0, n=7), node("c", 1, n=8), answer(2)]
    replies = [calls(call("a", n=2)), calls(call("b", n=7)), calls(call("c", n=999)), DONE]
    found = trace(profile, task, *replies)
    assert [step.fulfilled for step in found.steps[:3]] == [(), (1,), ()]
    assert statuses(found)[:3] == ["wrong", "done", "wrong"]


def test_what_a_failed_call_left_open_is_undecided_and_not_missed() -> None:
    for profile in PROFILES:
        made = transcript(calls(call("a", n=1)), infra_error="http 500: down")
        found = Variant(WILDTOOLBENCH).trace(item(TWO), "0", made, profile)
        assert statuses(found) == ["done", "undecided", "undecided"]
        silent = Variant(WILDTOOLBENCH).trace(item(TWO), "0", transcript(says("No.")), profile)
        assert "undecided" not in statuses(silent)


def test_the_step_that_argument_checking_deletes_is_marked() -> None:
    task = [node("a", n=1), node("b", 0), node("c", 1), answer(2)]
    found = trace("official", task, calls(call("a", n=2)), calls("b"), calls("c"), DONE)
    assert "removed from the log" in found.steps[1].note
    assert "not checked" in found.steps[2].note


def test_arguments_that_cannot_be_read_are_shown_as_they_came() -> None:
    found = trace("official", TWO, calls(raw_call("a", "{n: 1")))
    (difference,) = found.differences
    assert (difference.where, difference.found) == ("a", "{n: 1")


def test_nothing_is_added_after_the_record_stops_but_the_silence_of_a_script() -> None:
    assert len(trace("fixed", TWO, calls(call("a", n=1))).steps) == 1
    assert len(trace("fixed", TWO, calls(call("a", n=1)), scripted=True).steps) == 2


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_any_replies_can_be_shown(profile: str) -> None:
    @settings(deadline=None)
    @given(st.lists(HOSTILE, max_size=4), st.sampled_from(ITEM.units))
    def holds(script: list[Message], unit: str) -> None:
        found = WILDTOOLBENCH.rules(profile).trace(ITEM, unit, transcript(*script, scripted=True))
        assert found.unit == unit
        assert repr([step.reply for step in found.steps][: len(script)]) == repr(script[: len(found.steps)])

    holds()


@pytest.mark.parametrize("profile", PROFILES)
def test_every_view_shows_groups_that_the_summary_has(profile: str) -> None:
    import duckdb

    given = {"position": "place", "task_type": "'Chat'"}
    own = ", ".join(
        f"{given.get(name, 'NULL')}::{kind} AS {name}" for name, kind in WILDTOOLBENCH.columns.items()
    )
    rows = duckdb.sql(
        f"SELECT 'i' AS item, 0 AS repeat, false AS correct, 'wrong' AS outcome, 'x' AS error, 1 AS steps,"
        f" 0 AS calls, 1 AS prompt_tokens, 1 AS completion_tokens, 1.0 AS latency_s, {own} FROM range(2) tasks(place)"
    )
    groups = {metric.group for metric in WILDTOOLBENCH.summarize(rows, profile)}
    views = pages_of(WILDTOOLBENCH, profile)
    assert {group for view in views for group in view.groups} <= groups
    assert len({view.slug for view in views}) == len(views)


@pytest.mark.parametrize("profile", ["official", "paper"])
def test_verdicts_and_notes_say_their_rules_in_words(profile: str) -> None:
    gold = [node("a", text="one", n=1), answer(0)]
    replies = [
        [calls(call("zz"))],
        [calls(call("a", text="one", n="1"))],
        [calls(call("a", text="one"))],
        [calls(call("a", text="one", n=1, more=2)), DONE],
        [calls(call("a", text="zzzzz", n=1)), DONE],
        [says("")],
        [DONE],
        [calls(call("a", text="one", n=1)), calls(call("a", text="one", n=1))],
    ]
    for its in replies:
        own = verdict(profile, gold, *its)
        assert own.outcome == "wrong"
        notes = [step.note for step in trace(profile, gold, *its).steps]
        rules = [difference.rule for difference in trace(profile, gold, *its).differences]
        label = str(own.fields["error_label"])
        for text in (own.reason, *notes, *rules):
            words = text.partition(" (the original raises ")[0]
            assert label not in words and "_" not in words, (its, text)


REPLIES = st.lists(
    st.one_of(
        HOSTILE,
        st.sampled_from(
            [
                DONE,
                says(""),
                calls("d"),
                calls(call("a", None, n=2), call("a", "i", n=1, text="the quick brown fox jumps")),
                calls(call("a", "i", n=2)),
                calls(call("b", "j", x=0.5)),
                calls(call("c", "k", text="短い")),
            ]
        ),
    ),
    max_size=4,
)


@settings(deadline=None)
@given(REPLIES, st.booleans(), st.sampled_from(ITEM.units), st.permutations(PROFILES))
def test_rules_that_share_a_walk_say_what_each_says_of_its_own(
    replies: list[Message], scripted: bool, unit: str, order: list[str]
) -> None:
    shared = transcript(*replies, scripted=scripted)
    for profile in order:
        own = transcript(*replies, scripted=scripted)
        rules, episode = WILDTOOLBENCH.rules(profile), WILDTOOLBENCH.rules(profile).episode(ITEM, unit)
        found = rules.trace(ITEM, unit, shared)
        assert [(step.role, (*step.seen,), step.reply) for step in found.steps] == [
            (role, (*seen,), reply) for role, seen, reply in replay_steps(episode, own)
        ]
        assert found == rules.trace(ITEM, unit, own)
        assert judge_unit(WILDTOOLBENCH, ITEM, unit, shared, profile) == judge_unit(
            WILDTOOLBENCH, ITEM, unit, own, profile
        )
