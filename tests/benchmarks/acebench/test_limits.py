"""Limits of what is read, shown and played: the last that counts, and the first that does not."""

from typing import Any

import pytest

from benchmarks.acebench.reply_build import normal, tool
from benchmarks.acebench.sandbox_build import edition, record
from benchmarks.acebench.test_fixed_special import incomplete
from wildtool.benchmarks.acebench.episode.base import cooperative_text
from wildtool.benchmarks.acebench.episode.end_state import fixed_process_accuracy
from wildtool.benchmarks.acebench.episode.error_classes import executed_calls
from wildtool.benchmarks.acebench.episode.fixed import (
    ExecutedCall,
    FixedMultiStepEpisode,
    FixedMultiTurnEpisode,
    execute_call,
)
from wildtool.benchmarks.acebench.episode.fixed_messages import AgentCall
from wildtool.benchmarks.acebench.episode.official import OfficialMultiStepEpisode, OfficialMultiTurnEpisode
from wildtool.benchmarks.acebench.fixed.calls import check_fixed_calls
from wildtool.benchmarks.acebench.native import native_tools, read_native_calls
from wildtool.benchmarks.acebench.prompts.originals import ORIGINAL_SAMPLING
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError


@pytest.mark.parametrize(
    ("kind", "options", "replies"),
    [
        (FixedMultiStepEpisode, {"native": False}, 20),
        (OfficialMultiStepEpisode, {}, 20),
        (FixedMultiTurnEpisode, {"native": False}, 41),
        (OfficialMultiTurnEpisode, {}, 41),
    ],
)
def test_an_episode_takes_forty_messages_after_the_first(kind: Any, options: Any, replies: int) -> None:
    episode = kind(record("[turn_on_wifi()]"), edition(), **options)
    count = 0
    while episode.request() is not None:
        episode.advance({"role": "assistant", "content": "Hm."})
        count += 1
    assert (count, len(episode.dialogue)) == (replies, 41)


@pytest.mark.parametrize(("before", "ends"), [(4_000 - 19, True), (4_000 - 18, False)])
def test_the_user_reads_four_thousand_characters(before: int, ends: bool) -> None:
    text = "x" * before + "finish conversation"
    reply = cooperative_text(0, "en", "Turn on the wifi.", agent_texts=[text], user_texts=["Hi."])
    assert (reply == "finish conversation") is ends


def test_the_agent_sees_three_hundred_characters_of_an_exception() -> None:
    asked, box = record("[turn_on_wifi()]"), Sandbox(edition(), ("BaseApi",), {})
    answers = [
        execute_call(asked, edition(), box, AgentCall("turn_on_wifi", {"x" * length: 1}), 0).answer
        for length in (300, 400)
    ]
    assert answers[0] == answers[1]
    assert ["x" * count in answers[0] for count in (230, 231)] == [True, False]


def test_three_hundred_calls_of_an_episode_are_looked_at() -> None:
    episode = FixedMultiStepEpisode(record("[turn_on_wifi()]"), edition(), native=False)
    episode.executed = [ExecutedCall("f", {}, "ok", number, 0) for number in range(301)]
    assert [call.answer for call in executed_calls(episode)] == [*range(300)]


def test_four_hundred_calls_are_compared_with_milestones() -> None:
    for before, share in ((399, 1.0), (400, 0.0)):
        process = [*["[g()]"] * before, "[f()]"]
        assert fixed_process_accuracy(["[f()]"], process, end_to_end=False) == share


def test_a_hundred_messages_of_a_reply_are_read_and_two_thousand_characters_of_a_place() -> None:
    wrong = "Missing necessary parameters (date) for the api (book). "
    right = "Missing necessary parameters (date, team) for the api (book)"
    assert [incomplete(wrong * count + right) == "" for count in (99, 100)] == [True, False]
    room = 2_000 - len("(date, team) for the api (book)")
    for signs, error in ((room, ""), (room + 1, "error_correction")):
        names = f"(date, team{',' * signs})"
        assert incomplete(f"Missing necessary parameters {names} for the api (book)") == error


def test_a_thousand_native_calls_are_read() -> None:
    calls = [{"function": {"name": "f", "arguments": "{}"}}] * 1_001
    asked = normal()
    assert len(read_native_calls({"tool_calls": calls[1:]}, asked)) == 1_000
    with pytest.raises(CallSyntaxError, match=r"^more than 1000 tool calls$"):
        read_native_calls({"tool_calls": calls}, asked)


def test_a_tuple_is_a_list_however_deep() -> None:
    deep: Any = (1,)
    gold: Any = [1]
    for _ in range(60):
        deep, gold = (deep,), [gold]
    functions = (tool(a={"type": "array"}),)
    assert check_fixed_calls([CallExpression("f", {"a": deep})], functions, [{"f": {"a": gold}}]).valid


def test_an_endpoint_is_told_an_array_of_texts_for_a_list_of_choices() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    for name in ("list(string)", "list(enum)"):
        (declared,) = native_tools(normal(functions=(tool(a={"type": name}),)).functions)
        assert declared["function"]["parameters"]["properties"]["a"] == texts


def test_the_originals_replies_are_drawn_as_the_original_draws_them() -> None:
    assert ORIGINAL_SAMPLING == {"temperature": 0.001, "max_tokens": 1000, "top_p": 1, "attempts": 6}
