"""The result of one call made again: the tool's role sees what came before it, and its rules hold."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from generate.scripted import edit, say
from generate.sessions.players import Players, played, session_of_players
from wildtool.errors import DataError
from wildtool.types import Role
from wildtool_data.make.core.plan import SessionPlan
from wildtool_data.make.core.prompts import SESSION_ROLES
from wildtool_data.make.core.roles import MAX_ROLE_TRIES, ScriptResult
from wildtool_data.make.sessions.continuation import Continuation
from wildtool_data.make.sessions.result import ResultMaker, result_script
from wildtool_data.make.sessions.script import TASK_TRIES


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A session whose second task finds a book, then borrows it."""
    made = session_of_players(tmp_path_factory.mktemp("made"), "Clarify Multi-Tool").record
    names = [node["action"]["name"] for node in made["english_answer_list"][1]]
    assert names[:1] == ["findBook"], names
    return json.loads(json.dumps(made))


def maker(record: dict[str, Any], call: int = 0, task: int = 1, digest: str = "d", seed: str = "1") -> Any:
    return ResultMaker(seed, Continuation("s", digest, record, task), call)


def made(record: dict[str, Any], call: int = 0, players: Players | None = None) -> Any:
    return played(result_script(maker(record, call).job), players or Players())


def with_argument(record: dict[str, Any], call: int, arguments: dict[str, Any]) -> dict[str, Any]:
    edited = json.loads(json.dumps(record))
    edited["english_answer_list"][1][call]["action"]["arguments"] = arguments
    return edited


def test_the_result_is_of_the_call_as_it_is_now(record: dict[str, Any]):
    assert made(with_argument(record, 0, {"title": "Sun"})).value["title"] == "Sun"


def test_the_tool_sees_what_came_before_with_calls_beside_it_and_nothing_later(record: dict[str, Any]):
    nodes = record["english_answer_list"][1]
    borrow = next(k for k, node in enumerate(nodes) if node["action"]["name"] == "borrowBook")
    beside = [k for k in range(1, len(nodes) - 1) if k != borrow]
    for call, before in ((0, beside), (borrow, [0, *beside])):
        request = next(result_script(maker(record, call).job))
        seen = json.loads(request.messages[1]["content"])
        assert request.role == "tool"
        assert seen["calls"] == [nodes[call]["action"]]
        task = seen["conversation"].index({"user": record["english_tasks"][1]})
        done = [one for entry in seen["conversation"][task + 1 :] for one in entry["calls"]]
        assert done == [nodes[k]["action"] for k in before]
        assert len([one for one in seen["conversation"][:task] if "user" in one]) == 2
    found = nodes[0]["observation"]
    assert seen["facts"][found["book_id"]] == {"title": found["title"]}


def test_what_breaks_a_rule_is_asked_for_again_and_then_lost(record: dict[str, Any]):
    players = Players(say("tool", '{"observations": []}'))
    lost = made(record, 0, players)
    assert (lost.value, lost.reason) == (None, "tool T2")
    assert lost.counters["requests"] == MAX_ROLE_TRIES * TASK_TRIES
    replies = iter(["no JSON", *[None] * 9])
    mended = made(record, 0, Players(lambda role, text, request: next(replies) or text))
    assert (mended.value["title"], mended.counters["requests"]) == (
        record["english_answer_list"][1][0]["observation"]["title"],
        2,
    )


def test_facts_of_earlier_results_hold(record: dict[str, Any]):
    borrow = next(
        k for k, node in enumerate(record["english_answer_list"][1]) if node["action"]["name"] == "borrowBook"
    )
    known = record["english_answer_list"][1][0]["observation"]["book_id"]
    body = {"book_id": known, "title": "Another"}
    other = Players(edit("tool", lambda said: {"observations": [{"status_code": 200, "response": body}]}))
    assert made(record, borrow, other).reason == "tool T6"


@pytest.mark.parametrize(
    ("change", "task", "call", "why"),
    [
        ({}, 2, 0, "it has 2 tasks, no task 3"),
        ({}, -1, 0, "it has 2 tasks, no task 0"),
        ({}, 1, 4, "task 2 has the steps 0 to 3, no call 4"),
        ({}, 1, -1, "task 2 has the steps 0 to 3, no call -1"),
        ({}, 0, 0, "step 0 of task 1 is a question, not a call with a result"),
        ({}, 1, 3, "step 3 of task 2 is an answer, not a call with a result"),
        (
            {"english_tools": []}, 1, 0,
            "call 0 of task 2 is of findBook, which is no tool of the session; correct that first",
        ),
        ({"chinese_tasks": ["x"]}, 1, 0, "only sessions in one language, English or Chinese, are made again"),
    ],
)  # fmt: skip
def test_what_has_no_result_to_make_says_why(
    record: dict[str, Any], change: dict[str, Any], task: int, call: int, why: str
):
    with pytest.raises(DataError) as refused:
        maker({**record, **change}, call, task)
    assert str(refused.value) == f"s: {why}"


def test_a_faulty_call_and_one_without_observation_say_why(record: dict[str, Any]):
    with pytest.raises(DataError) as refused:
        maker(with_argument(record, 0, {"name": "Sun"}))
    assert str(refused.value) == (
        "s: call 0 of task 2 does not follow the definition of findBook (title: a required argument is missing); "
        "correct that first"
    )
    bare = with_argument(record, 0, {"title": "Sun"})
    del bare["english_answer_list"][1][0]["observation"]
    with pytest.raises(DataError) as refused:
        maker(bare)
    assert str(refused.value) == "s: call 0 of task 2 has no field observation"


def test_a_session_of_types_that_models_do_not_make_has_results_too(record: dict[str, Any]):
    assert made({**record, "english_task_types": ["Poem", "Poem"]}).value


def test_a_run_is_another_one_if_seed_content_task_or_call_differ(record: dict[str, Any], tmp_path: Path):
    calls = {
        maker(record, 0).source().sha256,
        maker(record, 1).source().sha256,
        maker(record, 1, 0).source().sha256,
        maker(record, 0, digest="e").source().sha256,
        maker(record, 0, seed="2").source().sha256,
    }
    assert len(calls) == 5
    assert maker(record, 0).source().sha256 in calls


def test_a_call_is_asked_for_once_more_in_the_same_words(record: dict[str, Any]):
    results = maker(record)
    assert results.roles == {"tool": Role(SESSION_ROLES["tool"], "")}
    (item,) = results.planned_items()
    again = results.replanned_item(item, 1)
    assert [(each.id, each.units, each.lang, each.roles) for each in (item, again)] == [
        ("0", ("result",), "en", ("tool",)),
        ("0.1", ("result",), "en", ("tool",)),
    ]
    assert again.data == replace(item.data, plan=replace(item.data.plan, turn=1))
    own = "result/1/s/d/1/0"
    assert item.data.plan == SessionPlan(0, own, "en", datetime.min, 0, own, "1", ())
    lost: ScriptResult[Any] = ScriptResult(None, "r", "d")
    collected = results.collect([(item, lost), (again, ScriptResult({"a": 1}))])
    assert collected.kept == ({"a": 1},)
    assert collected.losses == ({"result": "0", "reason": "r", "detail": "d", "replaced": True},)
