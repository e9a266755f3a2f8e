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
from wildtool.benchmarks.acebench.episode.fixed import SoundStepWalk, SoundTurnWalk
from wildtool.benchmarks.acebench.episode.messages import END_MARK

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


Walk = SoundStepWalk | SoundTurnWalk


def rec(*milestones: str, classes: tuple[str, ...] = PHONE, **changed: Any) -> AgentRecord:
    functions = tuple({"name": name, "description": "", "parameters": {}} for name in OFFERED)
    return replace(record(*milestones, classes=classes), functions=functions, **changed)


def step(*replies: Any, native: bool = False, **changed: Any) -> SoundStepWalk:
    walk = SoundStepWalk(rec(**changed), edition(), native=native)
    tell(walk, *replies)
    return walk


def turn(*replies: Any, native: bool = False, **changed: Any) -> SoundTurnWalk:
    """The first reply is the user's opening."""
    walk = SoundTurnWalk(rec(**changed), edition(), native=native)
    tell(walk, *replies)
    return walk


def tell(walk: Walk, *replies: Any) -> None:
    for reply in replies:
        walk.tell(reply if isinstance(reply, dict) else {"content": reply})


def native(*calls: tuple[str, str]) -> dict[str, Any]:
    return {
        "content": None,
        "tool_calls": [
            {"id": f"id{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(calls)
        ],
    }


def outcomes(walk: Walk) -> list[str]:
    return [ran.outcome for ran in walk.executed]


def shown(walk: Walk) -> Any:
    request = walk.request()
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
    walk = step(text)
    assert (walk.executed, walk.process) == ([], [])


def test_prose_gets_a_note_where_nobody_answers():
    assert "Nobody answers" in shown(step("Which one?")).messages[1]["content"]


def test_prose_goes_to_the_user_where_there_is_one():
    walk = turn("Hi", "Which one?")
    assert shown(walk).role == "user"
    assert [(m["role"], m["content"]) for m in shown(walk).messages[2:]] == [
        ("assistant", "Hi"),
        ("user", "Which one?"),
    ]


@pytest.mark.parametrize("text", ["[turn_on_wifi(", "[turn_on_wifi(1)]", "[5]", "[]", "[turn_on_wifi(] ]"])
def test_a_bracketed_text_that_is_no_list_of_calls_is_answered_as_unreadable(text: str):
    walk = turn("Hi", text)
    if text == "[turn_on_wifi(":
        assert shown(walk).role == "user"
        return
    assert outcomes(walk) == ["unreadable"]
    assert "cannot be read" in walk.dialogue[-1].message[0]


def test_an_exception_is_answered_and_the_rest_of_the_message_runs():
    walk = turn("Hi", "[add_reminder(x=1), turn_on_wifi()]")
    assert outcomes(walk) == ["raised", "ok"]
    assert "unexpected keyword argument 'x'" in walk.dialogue[-1].message[0]
    assert walk.dialogue[-1].message[1] == WIFI


@pytest.mark.parametrize("name", ["nothing", "delete_message", "missing", "a.turn_on_wifi", "__init__"])
def test_a_tool_that_is_not_offered_or_not_there_is_an_error_that_names_those_that_are(name: str):
    walk = step(f"[{name}(), turn_on_wifi()]")
    assert outcomes(walk) == ["unknown tool", "ok"]
    assert "turn_on_wifi, login_device" in walk.executed[0].answer
    assert "missing." not in walk.executed[0].answer


def test_objects_can_be_passed():
    walk = step("[add_reminder(title='t', description={'a': {}}, time=true)]")
    assert walk.result()[2]["ReminderApi"]["reminder_list"]["2"] == {
        "reminder_id": 2,
        "title": "t",
        "description": {"a": {}},
        "time": True,
        "notified": False,
    }


def test_a_tool_that_says_no_has_failed():
    walk = step("[send_message(sender_name='Ann', receiver_name='Zoe', message='x')]")
    assert outcomes(walk) == ["failed"]


def test_an_episode_without_calls_ends_in_the_initial_state():
    walk = step(END_MARK)
    assert walk.over
    assert walk.result()[0] == {"BaseApi": {"wifi": True, "logged_in": True}}


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
    assert step(text).over == ends
    assert turn("Hi", text).over == ends


def test_the_end_mark_in_a_result_ends_nothing():
    walk = step(f"[add_reminder(title='\\n{END_MARK}\\n', description='', time='')]")
    assert not walk.over


def test_the_user_can_end_an_episode_but_not_open_it_with_the_end():
    assert turn("Hi", "Done?", END_MARK).over
    assert not turn(END_MARK).over


def test_every_message_but_the_opening_costs_one_of_the_budget():
    walk = SoundStepWalk(rec(), edition(), native=False, max_messages=3)
    tell(walk, "[turn_on_wifi()]", "[login_device()]", "[login_device()]")
    assert walk.over
    assert (len(walk.dialogue), walk.process) == (4, ["[turn_on_wifi()]"])


def test_what_was_thought_aloud_is_no_part_of_a_message():
    assert step("[x] hm </think>[turn_on_wifi()]").process == ["[turn_on_wifi()]"]


def test_content_parts_are_joined():
    walk = step({"content": [{"type": "text", "text": "[turn_on"}, {"type": "text", "text": "_wifi()]"}]})
    assert outcomes(walk) == ["ok"]


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
    walk = step(native(("add_reminder", '{"title": "it\'s", "description": "", "time": ""}')), native=True)
    assert walk.process == ["[add_reminder(title=\"it's\", description='', time='')]"]


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
    walk = step(native(call, ("turn_on_wifi", "{}")), native=True)
    assert outcomes(walk) == [outcome, "ok"]
    assert [m["role"] for m in shown(walk).messages[3:]] == ["tool", "tool"]


def test_a_native_call_without_id_gets_one_that_its_answer_has():
    messages = shown(step({"tool_calls": [{"function": {"name": "turn_on_wifi"}}]}, native=True)).messages
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"] != ""


def test_bracketed_text_is_prose_where_calls_are_native():
    walk = turn("Hi", "[turn_on_wifi()]", native=True)
    assert (walk.executed, shown(walk).role) == ([], "user")


def test_native_calls_with_an_end_mark_run_before_the_end():
    walk = step({**native(("turn_on_wifi", "{}")), "content": END_MARK}, native=True)
    assert (walk.over, outcomes(walk)) == (True, ["ok"])


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
@pytest.mark.parametrize("kind", [SoundStepWalk, SoundTurnWalk])
def test_gold_replies_play_an_episode_to_its_end(
    kind: type[SoundStepWalk] | type[SoundTurnWalk], is_native: bool
):
    gold = ("[turn_on_wifi(), login_device()]", "[add_reminder(title='t', description='d', time='')]")
    walk = kind(rec(*gold), edition(), native=is_native)
    while (request := walk.request()) is not None:
        assert request.gold is not None
        walk.tell(request.gold("cooperative 3"))
    assert walk.process == list(gold)
    assert outcomes(walk) == ["ok", "ok", "ok"]


def test_nothing_is_heard_after_the_end():
    for walk in (step(END_MARK), turn("Hi", END_MARK)):
        tell(walk, "[turn_on_wifi()]")
        assert walk.executed == []


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
    for walk in (step(native=is_native), turn(native=is_native)):
        for reply in replies:
            if not walk.over:
                walk.tell(reply)
                walk.request()
        json.dumps(walk.result())
        assert len(walk.process) <= len(replies)


@pytest.mark.parametrize(
    "text",
    ["[" * 10**6, "[f(" * 5000, "[turn_on_wifi(x=9**9**9)]", "[f(x='a'*10**10)]", "\ud800", "]" * 10**6],
)
def test_huge_deep_and_broken_texts_are_only_messages(text: str):
    arguments = native(("turn_on_wifi", text), (text, "{}"))
    for walk in (
        step(text),
        turn("Hi", text),
        step(arguments, native=True),
        turn("Hi", arguments, native=True),
    ):
        assert not walk.over
        assert "ok" not in outcomes(walk)


# The official records --------------------------------------------------------------------------------


def test_every_corrected_milestone_list_reaches_its_gold_state(official: Path):
    from wildtool.benchmarks.acebench.corrections import corrected
    from wildtool.benchmarks.acebench.data import AGENT, read_category
    from wildtool.benchmarks.acebench.episode.fixed_end_state import compare, fixed_process_accuracy
    from wildtool.benchmarks.acebench.sandbox.edition import read_edition

    reached = 0
    for lang in ("en", "zh"):
        sandbox = read_edition(official, lang)
        for found in (found for category in AGENT for found in read_category(official, lang, category)):
            assert isinstance(found, AgentRecord)
            whole = corrected(found)
            lists = whole.milestones if isinstance(whole.milestones[0], tuple) else (whole.milestones,)
            kind = SoundStepWalk if whole.category == "agent_multi_step" else SoundTurnWalk
            for milestones in lists:
                walk = kind(replace(whole, milestones=milestones), sandbox, native=False)  # pyright: ignore[reportArgumentType]
                while (request := walk.request()) is not None:
                    assert request.gold is not None
                    walk.tell(request.gold("cooperative 0"))
                assert compare(whole, walk.result()).errors == (), whole.id
                assert fixed_process_accuracy(whole.milestones, walk.process, end_to_end=False) == 1, whole.id
                assert set(outcomes(walk)) == {"ok"}, whole.id
            reached += 1
    assert reached == 100
