"""What messages differ in is planned, asked for and counted: in a set of 500 sessions, of which the gate makes ten."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from generate.scripted import edit
from generate.sessions.players import Players
from generate.sessions.test_maker import made
from long import a_fiftieth_of
from wildtool.benchmarks.wildtoolbench.stats import stats_of
from wildtool.types import Metric, Request
from wildtool_data.make.core.plan import TaskPlan, session_plans
from wildtool_data.make.sessions.output import GeneratedSessions

SESSIONS = 500
LENGTHS = ["very short", "short", "medium", "long", "very long"]


@pytest.fixture(scope="module")
def players() -> Players:
    return Players()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, players: Players) -> GeneratedSessions:
    """Sessions made by models that do what they are asked."""
    folder = tmp_path_factory.mktemp("many")
    _, found = made(folder, players, sessions=a_fiftieth_of(SESSIONS), langs=("en", "zh"))
    assert len(found.kept) >= a_fiftieth_of(SESSIONS) * 0.9
    return found


def proposals(found: GeneratedSessions) -> list[list[dict[str, Any]]]:
    return [task for session in found.kept for task in session["made_by"]["candidates"]]


@pytest.mark.long
def test_the_five_messages_of_a_task_go_from_short_to_long_and_have_every_form_and_tone(
    found: GeneratedSessions,
):
    for task in proposals(found):
        assert [row["length"] for row in task] == LENGTHS
        assert {row["form"] for row in task} == {"imperative", "question", "statement"}
        assert {row["tone"] for row in task} == {"direct", "polite", "formal", "colloquial"}
        assert len(task[0]["text"]) < len(task[-1]["text"])


def test_no_form_or_tone_is_bound_to_a_length(found: GeneratedSessions):
    forms = {(row["length"], row["form"]) for task in proposals(found) for row in task}
    tones = {(row["length"], row["tone"]) for task in proposals(found) for row in task}
    assert (len(forms), len(tones)) == (5 * 3, 5 * 4)


def test_the_judges_pick_and_one_message_of_each_task_is_marked(found: GeneratedSessions):
    picked = [[row for row in task if row.get("picked")] for task in proposals(found)]
    texts = [text for session in found.kept for text in _tasks(session)]
    assert [[row["text"] for row in rows] for rows in picked] == [[text] for text in texts]
    assert len({rows[0]["length"] for rows in picked}) == 5


def test_multi_tool_and_clarify_tasks_are_of_medium_difficulty_or_above(found: GeneratedSessions):
    planned = [task for session in found.kept for task in session["made_by"]["plan"]["tasks"]]
    demanding = Counter(task["difficulty"] for task in planned if task["group"] in ("Multi-Tool", "Clarify"))
    assert set(demanding) == {"medium", "hard"}
    others = Counter(task["difficulty"] for task in planned if task["group"] in ("Single-Tool", "Chat"))
    assert set(others) == {"easy", "medium", "hard"}


def test_clarify_messages_give_no_required_value(found: GeneratedSessions):
    for session in found.kept:
        for nodes, kind in zip(_field(session, "answer_list"), _field(session, "task_types"), strict=True):
            if kind == "Clarify":
                asked = nodes[0]["action"]["arguments"]
                assert asked == {"tool_name": "reserveRoom", "missing_required_parameters": ["room", "hour"]}
    numbers = {(each.group, each.name): each.numerator for each in stats_of(found.kept)}
    assert numbers["required values that are asked for", "all"]
    assert ("required values that are asked for", "some") not in numbers


def test_each_first_message_has_a_person_of_its_own_and_all_are_proposed_equally_often(
    found: GeneratedSessions,
):
    for name in ("theme", "identity", "circumstances"):
        counts = Counter(
            background[name]
            for session in found.kept
            for background in session["made_by"]["plan"]["backgrounds"]
        )
        assert len(counts) > 5
        # Sessions that were lost have taken their turn, too.
        assert max(counts.values()) - min(counts.values()) <= 2 + 0.1 * max(counts.values())


def test_later_messages_are_written_by_the_person_of_the_first_one(
    players: Players, found: GeneratedSessions
):
    picked = {
        tuple(row[name] for name in ("theme", "identity", "circumstances"))
        for session in found.kept
        for row in session["made_by"]["candidates"][0]
        if row.get("picked") and session["made_by"]["plan"]["lang"] == "en"
    }
    writers = {
        tuple(wanted["writer"].values())
        for request in players.asked
        if request.role == "user" and (wanted := _seen(request).get("wanted")) and "writer" in wanted
        if "Answer with one JSON object" in request.messages[0]["content"]
    }
    assert picked <= writers


def test_a_report_counts_what_was_proposed_and_what_was_picked(found: GeneratedSessions):
    by_name: dict[tuple[str, str], Metric] = {(each.group, each.name): each for each in stats_of(found.kept)}
    tasks = len(proposals(found))
    rows = [by_name["picked of proposed messages, by length", name] for name in LENGTHS]
    assert [row.denominator for row in rows] == [tasks] * 5
    assert sum(row.numerator for row in rows) == tasks
    assert any(group.endswith("by theme") for group, _ in by_name)
    assert "easy" not in {name for group, name in by_name if group == "planned difficulty: Clarify"}


@pytest.mark.long
def test_an_easy_message_for_a_demanding_task_is_not_taken(tmp_path: Path):
    def easy(said: dict[str, Any]) -> None:
        for row in said.get("candidates", [])[1:]:
            row["difficulty"] = "easy"

    _, found = made(tmp_path, Players(edit("user", easy)), sessions=8)
    for session in found.kept:
        for plan, rows in zip(
            session["made_by"]["plan"]["tasks"], session["made_by"]["candidates"], strict=True
        ):
            refused = [row for row in rows if row.get("rules", "").startswith("C4")]
            assert len(refused) == (4 if plan["group"] in ("Multi-Tool", "Clarify") else 0)
    assert found.counters["user warned C4"]


def test_messages_that_do_not_grow_are_counted(tmp_path: Path):
    def backwards(said: dict[str, Any]) -> None:
        said.get("candidates", []).reverse()

    _, found = made(tmp_path, Players(edit("user", backwards)), sessions=2)
    assert len(found.kept) == 2
    assert found.counters["user warned C5"] == found.counters["judge asked"]


def test_a_reply_with_fewer_messages_than_planned_is_counted(tmp_path: Path):
    def one(said: dict[str, Any]) -> None:
        del said.get("candidates", [])[1:]

    _, found = made(tmp_path, Players(edit("user", one)), sessions=2)
    assert found.counters["user warned C5"] and "judge asked" not in found.counters


def gives_an_hour(role: str, text: str, request: Request) -> str:
    """A user who gives one of two required values, though none is wanted."""
    wanted = _seen(request).get("wanted", {})
    if role != "user" or wanted.get("kind") != "clarify":
        return text
    said = json.loads(text)
    for row in said["candidates"]:
        row["text"] = row["text"].replace("a quiet room", "a room at 12:30")
    return json.dumps(said)


def test_a_message_that_gives_a_required_value_is_tried_again_and_then_counted(tmp_path: Path):
    _, found = made(tmp_path, Players(gives_an_hour), sessions=8, tasks=1)
    clarify = sum(session["made_by"]["plan"]["tasks"][0]["group"] == "Clarify" for session in found.kept)
    assert clarify
    assert found.counters["task lost type"] == clarify
    assert found.counters["relabelled Clarify without all as Clarify without some"] == clarify


def test_clarify_messages_may_give_some_values_where_that_is_set(tmp_path: Path):
    players = Players()
    _, found = made(tmp_path, players, sessions=8, tasks=1, clarify="some")
    plans = [session["made_by"]["plan"]["tasks"][0] for session in found.kept]
    assert {plan["missing"] for plan in plans if plan["group"] == "Clarify"} == {"some"}
    wanted = [_seen(request).get("wanted", {}) for request in players.asked if request.role == "user"]
    assert not any("leave_out" in each for each in wanted)
    numbers = {(each.group, each.name): each.numerator for each in stats_of(found.kept)}
    assert numbers["required values that are asked for", "some"]


@pytest.mark.long
def test_several_users_take_turns_and_each_is_first_equally_often(tmp_path: Path):
    players = Players()
    _, found = made(tmp_path, players, sessions=16, langs=("en", "zh"), users=2)
    for lang in ("en", "zh"):
        speakers = [
            session["made_by"]["users"]
            for session in found.kept
            if session["made_by"]["plan"]["lang"] == lang
        ]
        assert Counter(each[0] for each in speakers) == {"user": 4, "user 2": 4}
        assert all(one != other for each in speakers for one, other in pairwise(each))
    roles = Counter(request.role for request in players.asked)
    assert roles["user"] and roles["user 2"]


def test_plans_do_not_depend_on_how_many_sessions_are_wanted():
    few, many = (list(session_plans(count, 4, seed="1", langs=["en", "zh"])) for count in (6, 60))
    assert many[:6] == few


def test_twins_share_their_people_and_wording():
    first, second = session_plans(2, 4, seed="1", langs=["en", "zh"], paired_languages=True)
    assert (first.backgrounds, _styles(first.tasks)) == (second.backgrounds, _styles(second.tasks))


def _styles(tasks: tuple[TaskPlan, ...]) -> list[Any]:
    return [task.styles for task in tasks]


def _tasks(session: dict[str, Any]) -> list[str]:
    return _field(session, "tasks")


def _field(session: dict[str, Any], name: str) -> list[Any]:
    return next(value for key, value in session.items() if key in (f"english_{name}", f"chinese_{name}"))


def _seen(request: Request) -> dict[str, Any]:
    return json.loads(request.messages[1]["content"])
