"""What a model sees before it answers: date line, gold history of the earlier tasks, the user's text."""

import json
import re

import pytest

from benchmarks.wildtoolbench.build import (
    ANSWER,
    ASK,
    answer,
    ask,
    calls,
    item,
    node,
    says,
    session,
    shown,
    told,
)
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.episode import (
    call_id,
    gold_call,
    gold_run,
    observation,
    opening_messages,
)

CHAT = [answer()]


def test_a_first_task_begins_with_the_date_and_the_wish() -> None:
    assert opening_messages(session(CHAT), 0, []) == [
        {"role": "system", "content": "Current Date: 2025-03-14 09:26:00 Friday"},
        {"role": "user", "content": "wish 0"},
    ]


def test_an_earlier_step_of_calls_is_one_message_and_one_tool_message_per_call() -> None:
    made = session([node("a", n=1), node("b", text="é"), answer(0, 1)], CHAT)
    history = gold_run(made, 0, [(0, 1), (2,)], quote_texts=False)
    ids = [call_id("s", 0, 0), call_id("s", 0, 1)]
    assert history == [
        {"role": "user", "content": "wish 0"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"type": "function", "function": {"name": "a", "arguments": '{"n": 1}'}, "id": ids[0]},
                {"type": "function", "function": {"name": "b", "arguments": '{"text": "é"}'}, "id": ids[1]},
            ],
        },
        {"role": "tool", "content": "a done", "tool_call_id": ids[0]},
        {"role": "tool", "content": "b done", "tool_call_id": ids[1]},
        {"role": "assistant", "content": "Here you are."},
    ]


def test_an_earlier_question_is_shown_with_the_users_reply() -> None:
    history = gold_run(session([ask(), answer(0)], CHAT), 0, [(0,), (1,)], quote_texts=True)[1:]
    assert history == [
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "The red one."},
        {"role": "assistant", "content": "Here you are."},
    ]


def test_the_replies_of_a_model_to_earlier_tasks_never_appear() -> None:
    episode = WILDTOOLBENCH.rules("official").episode(item([node("a"), answer(0)], CHAT), "1")
    texts = json.dumps(shown(episode))
    assert "Here you are." in texts
    assert "Done." not in texts


@pytest.mark.parametrize(
    ("value", "plain", "quoted"),
    [("é", "é", '"é"'), ({"k": "é"}, '{"k": "é"}', '{"k": "é"}'), ([1, 2.0], "[1, 2.0]", "[1, 2.0]")],
)
def test_an_observation_is_text_or_json(value: object, plain: str, quoted: str) -> None:
    (gold, _) = session([node("a", observation=value), answer(0)]).tasks[0].nodes
    assert observation(gold, quote_texts=False) == plain
    assert observation(gold, quote_texts=True) == quoted


def test_q03_official_history_quotes_texts_and_the_running_task_does_not() -> None:
    task = [node("a"), answer(0)]
    earlier = WILDTOOLBENCH.rules("official").episode(item(task, CHAT), "1")
    running = WILDTOOLBENCH.rules("official").episode(item(task), "0")
    told(running, calls("a"))
    assert shown(earlier)[3]["content"] == '"a done"'
    assert shown(running)[-1]["content"] == "a done"


def test_q03_fixed_encodes_observations_alike_in_history_and_running_task() -> None:
    task = [node("a"), answer(0)]
    earlier = WILDTOOLBENCH.rules("fixed").episode(item(task, CHAT), "1")
    running = WILDTOOLBENCH.rules("fixed").episode(item(task), "0")
    told(running, calls("a"))
    assert shown(earlier)[3]["content"] == shown(running)[-1]["content"] == "a done"


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_q04_ids_follow_from_the_position_so_that_prompts_repeat(profile: str) -> None:
    made = item([node("a"), node("a", n=1), answer(0, 1)], CHAT)
    first, second = (shown(WILDTOOLBENCH.rules(profile).episode(made, "1")) for _ in range(2))
    assert first == second
    ids = [m["tool_call_id"] for m in first if m["role"] == "tool"]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(r"toolu_bdrk_[A-Za-z0-9]{24}", one) for one in ids)


def test_ids_differ_between_sessions_tasks_and_nodes() -> None:
    places = [(s, task, position) for s in ("s", "t") for task in range(3) for position in range(3)]
    assert len({call_id(*place) for place in places}) == len(places)


def test_a_session_id_with_a_lone_surrogate_has_call_ids() -> None:
    assert call_id("\ud800", 0, 0).startswith("toolu_bdrk_")


def test_a_gold_call_carries_its_arguments_as_json_text() -> None:
    (gold, _) = session([node("a", text="天", n=1), answer(0)]).tasks[0].nodes
    assert gold_call(gold, "x")["function"]["arguments"] == '{"text": "天", "n": 1}'


def test_tools_are_sent_with_number_for_float() -> None:
    request = WILDTOOLBENCH.rules("official").episode(item(CHAT), "0").request()
    assert request is not None
    assert request.tools[0]["function"]["parameters"]["properties"]["x"] == {"type": "number"}


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_q06_a_question_beside_a_call_has_a_step_of_its_own_in_history(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([ask(), node("a"), answer(0, 1)], CHAT), "1")
    history = shown(episode)[2:-1]
    assert [message["role"] for message in history] == ["assistant", "user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_q17_a_cycle_in_an_earlier_task_is_shown_node_by_node(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([node("a", 1), node("b", 0), answer(1)], CHAT), "1")
    assert [m["role"] for m in shown(episode)[2:-1]] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_matched_reply_is_shown_as_received(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([node("a"), answer(0)]), "0")
    reply = calls("a") | {"content": "Let me see.", "reasoning_content": "hm", "other": 1}
    reply["tool_calls"][0]["function"]["arguments"] = "{ }  "
    told(episode, reply)
    assert shown(episode)[-2] == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": reply["tool_calls"],
        "reasoning_content": "hm",
    }


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_null_reasoning_is_left_out(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([node("a"), answer(0)]), "0")
    told(episode, calls("a") | {"reasoning_content": None})
    assert "reasoning_content" not in shown(episode)[-2]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_after_a_question_the_models_words_and_the_users_reply_are_shown(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([ask(), node("a", 0), answer(1)]), "0")
    told(episode, says("Which, please?"))
    assert shown(episode)[-2:] == [
        {"role": "assistant", "content": "Which, please?"},
        {"role": "user", "content": "The red one."},
    ]


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_messages_given_to_a_model_do_not_change_afterwards(profile: str) -> None:
    episode = WILDTOOLBENCH.rules(profile).episode(item([node("a"), answer(0)]), "0")
    request = episode.request()
    assert request is not None
    before = len(request.messages)
    told(episode, calls("a"))
    assert len(request.messages) == before


def test_virtual_names_are_no_tools_of_the_request() -> None:
    request = WILDTOOLBENCH.rules("fixed").episode(item([ask(), answer(0)]), "0").request()
    assert request is not None
    assert not {ASK, ANSWER} & {tool["function"]["name"] for tool in request.tools}
