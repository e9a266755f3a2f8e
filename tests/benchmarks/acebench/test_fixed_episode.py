"""Sound episodes: what goes to the sandbox, what is answered, and what each party sees, in text and with native calls."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.sandbox_build import PHONE, edition, record
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode

OFFERED = (
    "turn_on_wifi",
    "login_device",
    "add_reminder",
    "send_message",
    "add_food_delivery_order",
    "missing",
)
WIFI = {"status": True, "message": "BaseApi.turn_on_wifi.ok"}
LOGIN = {"status": True, "message": "BaseApi.login_device.ok"}


Walk = FixedMultiStepEpisode | FixedMultiTurnEpisode


def rec(*milestones: str, classes: tuple[str, ...] = PHONE, **changed: Any) -> AgentRecord:
    functions = tuple({"name": name, "description": "", "parameters": {}} for name in OFFERED)
    return replace(record(*milestones, classes=classes), functions=functions, **changed)


def step(*replies: Any, native: bool = False, **changed: Any) -> FixedMultiStepEpisode:
    episode = FixedMultiStepEpisode(rec(**changed), edition(), native=native)
    tell(episode, *replies)
    return episode


def turn(*replies: Any, native: bool = False, **changed: Any) -> FixedMultiTurnEpisode:
    """The first reply is the user's opening."""
    episode = FixedMultiTurnEpisode(rec(**changed), edition(), native=native)
    tell(episode, *replies)
    return episode


def tell(episode: Walk, *replies: Any) -> None:
    for reply in replies:
        episode.advance(reply if isinstance(reply, dict) else {"content": reply})


def native(*calls: tuple[str, str]) -> dict[str, Any]:
    return {
        "content": None,
        "tool_calls": [
            {"id": f"id{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(calls)
        ],
    }


def outcomes(episode: Walk) -> list[str]:
    return [ran.outcome for ran in episode.executed]


def shown(episode: Walk) -> Any:
    request = episode.request()
    assert request is not None
    return request


# Text ------------------------------------------------------------------------------------------------


def test_the_agent_sees_its_own_calls():
    text = shown(step("[turn_on_wifi()]")).messages[1]["content"]
    assert f"agent:[turn_on_wifi()]\nexecution:{json.dumps([WIFI])}" in text


def test_one_bracketed_list_is_executed_with_blanks_around():
    assert outcomes(step("  [turn_on_wifi(),\n login_device()]\n")) == ["ok", "ok"]


@pytest.mark.parametrize("text", ["Sure! [turn_on_wifi()]", "[turn_on_wifi()] done", "Which one?", ""])
def test_calls_beside_prose_are_not_made(text: str):
    episode = step(text)
    assert (episode.executed, episode.process) == ([], [])


def test_prose_gets_a_note_where_nobody_answers():
    assert "Nobody answers" in shown(step("Which one?")).messages[1]["content"]


def test_prose_goes_to_the_user_where_there_is_one():
    episode = turn("Hi", "Which one?")
    assert shown(episode).role == "user"
    assert [(m["role"], m["content"]) for m in shown(episode).messages[2:]] == [
        ("assistant", "Hi"),
        ("user", "Which one?"),
    ]


@pytest.mark.parametrize("text", ["[turn_on_wifi(", "[turn_on_wifi(1)]", "[5]", "[]", "[turn_on_wifi(] ]"])
def test_a_bracketed_text_that_is_no_list_of_calls_is_answered_as_unreadable(text: str):
    episode = turn("Hi", text)
    if text == "[turn_on_wifi(":
        assert shown(episode).role == "user"
        return
    assert outcomes(episode) == ["unreadable"]
    assert "cannot be read" in episode.dialogue[-1].message[0]


def test_an_exception_is_answered_and_the_rest_of_the_message_runs():
    episode = turn("Hi", "[add_reminder(x=1), turn_on_wifi()]")
    assert outcomes(episode) == ["raised", "ok"]
    assert "unexpected keyword argument 'x'" in episode.dialogue[-1].message[0]
    assert episode.dialogue[-1].message[1] == WIFI


@pytest.mark.parametrize("name", ["nothing", "delete_message", "missing", "a.turn_on_wifi", "__init__"])
def test_a_tool_that_is_not_offered_or_not_there_is_an_error_that_names_those_that_are(name: str):
    episode = step(f"[{name}(), turn_on_wifi()]")
    assert outcomes(episode) == ["unknown tool", "ok"]
    assert "turn_on_wifi, login_device" in episode.executed[0].answer
    assert "missing." not in episode.executed[0].answer


def test_objects_can_be_passed():
    episode = step("[add_reminder(title='t', description={'a': {}}, time=true)]")
    assert episode.result()[2]["ReminderApi"]["reminder_list"]["2"] == {
        "reminder_id": 2,
        "title": "t",
        "description": {"a": {}},
        "time": True,
        "notified": False,
    }


def test_a_tool_that_says_no_has_failed():
    episode = step("[send_message(sender_name='Ann', receiver_name='Zoe', message='x')]")
    assert outcomes(episode) == ["failed"]


def test_an_episode_without_calls_ends_in_the_initial_state():
    episode = step(END_MARK)
    assert episode.done
    assert episode.result()[0] == {"BaseApi": {"wifi": True, "logged_in": True}}


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (END_MARK, True),
        (f"All done.\n{END_MARK}", True),
        (f"**{END_MARK.title()}.**", True),
        (f"I will say {END_MARK} later", False),
        (f"[add_reminder(title='{END_MARK}', description='', time='')]", False),
    ],
)
def test_the_end_mark_counts_from_the_start_on_a_line_of_its_own(text: str, ends: bool):
    assert step(text).done == ends
    assert turn("Hi", text).done == ends


def test_the_end_mark_in_a_result_ends_nothing():
    episode = step(f"[add_reminder(title='\\n{END_MARK}\\n', description='', time='')]")
    assert not episode.done


def test_the_user_can_end_an_episode_but_not_open_it_with_the_end():
    assert turn("Hi", "Done?", END_MARK).done
    assert not turn(END_MARK).done


def test_every_message_but_the_opening_costs_one_of_the_budget():
    episode = FixedMultiStepEpisode(rec(), edition(), native=False, max_messages=3)
    tell(episode, "[turn_on_wifi()]", "[login_device()]", "[login_device()]")
    assert episode.done
    assert (len(episode.dialogue), episode.process) == (4, ["[turn_on_wifi()]"])


def test_what_was_thought_aloud_is_no_part_of_a_message():
    assert step("[x] hm </think>[turn_on_wifi()]").process == ["[turn_on_wifi()]"]


def test_content_parts_are_joined():
    episode = step({"content": [{"type": "text", "text": "[turn_on"}, {"type": "text", "text": "_wifi()]"}]})
    assert outcomes(episode) == ["ok"]


# Native calls ----------------------------------------------------------------------------------------


def test_native_calls_are_answered_in_order_under_their_ids():
    reply = native(("turn_on_wifi", "{}"), ("login_device", ""))
    messages = shown(step(reply, native=True)).messages
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert messages[2]["tool_calls"] == reply["tool_calls"]
    assert [(m["tool_call_id"], json.loads(m["content"])) for m in messages[3:]] == [
        ("id0", WIFI),
        ("id1", LOGIN),
    ]


def test_native_tools_are_offered_in_openais_shape():
    tools = shown(step(native=True)).tools
    assert [tool["function"]["name"] for tool in tools] == list(OFFERED)
    assert {tool["type"] for tool in tools} == {"function"}


def test_native_calls_stand_in_the_process_as_text():
    episode = step(native(("add_reminder", '{"title": "it\'s", "description": "", "time": ""}')), native=True)
    assert episode.process == ["[add_reminder(title=\"it's\", description='', time='')]"]


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (("turn_on_wifi", "{"), "unreadable"),
        (("turn_on_wifi", "[]"), "unreadable"),
        (("nothing", "{}"), "unknown tool"),
        (("add_reminder", '{"x": 1}'), "raised"),
    ],
)
def test_a_native_call_that_cannot_be_made_is_answered_and_the_rest_runs(call: tuple[str, str], outcome: str):
    episode = step(native(call, ("turn_on_wifi", "{}")), native=True)
    assert outcomes(episode) == [outcome, "ok"]
    assert [m["role"] for m in shown(episode).messages[3:]] == ["tool", "tool"]


def test_a_native_call_without_id_gets_one_that_its_answer_has():
    messages = shown(step({"tool_calls": [{"function": {"name": "turn_on_wifi"}}]}, native=True)).messages
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"] != ""


def test_bracketed_text_is_prose_where_calls_are_native():
    episode = turn("Hi", "[turn_on_wifi()]", native=True)
    assert (episode.executed, shown(episode).role) == ([], "user")


def test_native_calls_with_an_end_mark_run_before_the_end():
    episode = step({**native(("turn_on_wifi", "{}")), "content": END_MARK}, native=True)
    assert (episode.done, outcomes(episode)) == (True, ["ok"])


def test_a_native_agent_sees_a_chat_with_the_rules_of_the_scenario():
    messages = shown(turn("Hi", "Which?", "This.", native=True)).messages
    assert [(m["role"], m["content"]) for m in messages[1:]] == [
        ("user", "Hi"),
        ("assistant", "Which?"),
        ("user", "This."),
    ]
    assert "this phone" in messages[0]["content"]


# Both ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_native", [False, True])
@pytest.mark.parametrize("kind", [FixedMultiStepEpisode, FixedMultiTurnEpisode])
def test_gold_replies_play_an_episode_to_its_end(
    kind: type[FixedMultiStepEpisode] | type[FixedMultiTurnEpisode], is_native: bool
):
    gold = ("[turn_on_wifi(), login_device()]", "[add_reminder(title='t', description='d', time='')]")
    episode = kind(rec(*gold), edition(), native=is_native)
    while (request := episode.request()) is not None:
        assert request.gold is not None
        episode.advance(request.gold("cooperative 3"))
    assert episode.process == list(gold)
    assert outcomes(episode) == ["ok", "ok", "ok"]


def test_nothing_is_heard_after_the_end():
    for episode in (step(END_MARK), turn("Hi", END_MARK)):
        tell(episode, "[turn_on_wifi()]")
        assert episode.executed == []


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
_CALLS = st.builds(
    lambda name, arguments: f"[{name}({arguments})]",
    st.sampled_from([*OFFERED, "x"]),
    st.dictionaries(
        st.sampled_from(["title", "description", "time", "items", "username"]), _ANYTHING.map(repr)
    ).map(lambda pairs: ", ".join(f"{key}={value}" for key, value in pairs.items())),
)
_FUNCTIONS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(OFFERED) | _ANYTHING,
        "arguments": st.dictionaries(st.sampled_from(["title", "time", "items"]), _ANYTHING).map(json.dumps)
        | _ANYTHING,
    },
)
_REPLIES = st.fixed_dictionaries(
    {},
    optional={
        "content": _CALLS | _ANYTHING | st.lists(st.fixed_dictionaries({"text": _ANYTHING})),
        "tool_calls": st.lists(st.fixed_dictionaries({"function": _FUNCTIONS}, optional={"id": _ANYTHING}))
        | _ANYTHING,
    },
)


@given(st.lists(_REPLIES, max_size=4), st.booleans())
def test_no_reply_of_any_shape_raises(replies: list[dict[str, Any]], is_native: bool):
    for episode in (step(native=is_native), turn(native=is_native)):
        for reply in replies:
            if not episode.done:
                episode.advance(reply)
                episode.request()
        json.dumps(episode.result())
        assert len(episode.process) <= len(replies)


@pytest.mark.parametrize(
    "text",
    ["[" * 10**6, "[f(" * 5000, "[turn_on_wifi(x=9**9**9)]", "[f(x='a'*10**10)]", "\ud800", "]" * 10**6],
)
def test_huge_deep_and_broken_texts_are_only_messages(text: str):
    arguments = native(("turn_on_wifi", text), (text, "{}"))
    for episode in (
        step(text),
        turn("Hi", text),
        step(arguments, native=True),
        turn("Hi", arguments, native=True),
    ):
        assert not episode.done
        assert "ok" not in outcomes(episode)


# The official records --------------------------------------------------------------------------------


def test_every_corrected_milestone_list_reaches_its_gold_state(official: Path):
    from wildtool.benchmarks.acebench.corrections import corrected
    from wildtool.benchmarks.acebench.data import AGENT, read_category
    from wildtool.benchmarks.acebench.episode.end_state import compare_states, fixed_process_accuracy
    from wildtool.benchmarks.acebench.sandbox.edition import read_edition

    reached = 0
    for lang in ("en", "zh"):
        sandbox = read_edition(official, lang)
        for found in (found for category in AGENT for found in read_category(official, lang, category)):
            assert isinstance(found, AgentRecord)
            whole = corrected(found)
            lists = whole.milestones if isinstance(whole.milestones[0], tuple) else (whole.milestones,)
            kind = FixedMultiStepEpisode if whole.category == "agent_multi_step" else FixedMultiTurnEpisode
            for milestones in lists:
                episode = kind(replace(whole, milestones=milestones), sandbox, native=False)  # pyright: ignore[reportArgumentType]
                while (request := episode.request()) is not None:
                    assert request.gold is not None
                    episode.advance(request.gold("cooperative 0"))
                assert compare_states(whole, episode.result()).errors == (), whole.id
                assert fixed_process_accuracy(whole.milestones, episode.process, end_to_end=False) == 1, (
                    whole.id
                )
                assert set(outcomes(episode)) == {"ok"}, whole.id
            reached += 1
    assert reached == 100
