"""Sessions made by models: right ones are kept, wrong ones never; each loss has its reason; a record is all it takes."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generate.scripted import Spoil, edit, say
from generate.sessions.players import TOOLS, Players
from long import WHOLE
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_items
from wildtool.benchmarks.wildtoolbench.lint import lint_file
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.episode import gold_replies
from wildtool.errors import RecordError
from wildtool.types import Model, Reply, Request, Transcript
from wildtool_data.make.core import prompts
from wildtool_data.make.core.files import LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.output import SESSIONS_FILE, GeneratedSessions, write_session_set


def tools_file(folder: Path) -> Path:
    path = folder / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return path


def made(
    folder: Path, model: Model, out: str = "out", *, concurrency: int = 32, **order: Any
) -> tuple[RunResult, GeneratedSessions]:
    maker = SessionMaker(SessionGenerationSpec(**{"sessions": 8, "tools": tools_file(folder), **order}))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys([*prompts.SESSION_ROLES, *maker.roles], model),
        profile=PROFILE,
        concurrency=concurrency,
    )
    result = run_plan(plan, folder / out / RECORD_FOLDER, command=[])
    return result, write_session_set(maker, plan, folder / out)


def gold_outcomes(path: Path, profile: str) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for item in read_items(path):
        runs = {
            unit: Transcript(
                tuple(map(Reply, gold_replies(WILDTOOLBENCH.rules(profile).episode(item, unit)) or []))
            )
            for unit in item.units
        }
        outcomes.update(verdict.outcome for verdict in WILDTOOLBENCH.judge(item, runs, profile))
    return outcomes


MADE = 32 if WHOLE else 16


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sessions, half of them Chinese."""
    folder = tmp_path_factory.mktemp("good")
    result, found = made(folder, Players(), sessions=MADE, langs=("en", "zh"))
    assert (result.status, len(found.kept), found.losses) == ("done", MADE, ())
    return folder


@pytest.mark.long
def test_right_players_make_sessions_that_pass_lint(good: Path):
    file = good / "out" / SESSIONS_FILE
    assert len(file.read_bytes().splitlines()) == MADE
    assert [f"{f.where}: {f.message}" for f in lint_file(file, balanced=False)] == []


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_gold_of_made_sessions_is_right(good: Path, profile: str):
    assert gold_outcomes(good / "out" / SESSIONS_FILE, profile) == {"correct": 4 * MADE}


def test_made_sessions_have_the_planned_types(good: Path):
    types = Counter(
        task.type for item in read_items(good / "out" / SESSIONS_FILE) for task in item.data.tasks
    )
    assert types["Clarify"] == types["Chat"] == types["Single-Tool"] == MADE
    assert types["Parallel Multi-Tool"] and types["Sequential Multi-Tool"] and types["Mixed Multi-Tool"]


def test_a_session_says_how_it_was_made(good: Path):
    record = json.loads((good / "out" / SESSIONS_FILE).read_text("utf-8").splitlines()[0])
    first, tasks = record["made_by"], record["english_tasks"]
    assert first["models"]["planner"] == "players"
    assert (first["seed"], first["reviewed"]) == ("1", False)
    assert first["plan"]["tasks"][0]["group"] in ("Single-Tool", "Multi-Tool", "Clarify", "Chat")
    picked = [[row["text"] for row in proposed if row.get("picked")] for proposed in first["candidates"]]
    assert picked == [[text] for text in tasks]
    assert {len(proposed) for proposed in first["candidates"]} == {5}
    assert {"P19", "T6", "A3", "lint", "gold fixed"} <= set(first["checks"])


def test_all_proposed_texts_are_kept_with_what_is_said_of_them_and_the_rules_they_break(tmp_path: Path):
    def spoil(said: dict[str, Any]) -> None:
        if rows := said.get("candidates"):
            rows[0] |= {"plan": "one\ncall \x1b", "difficulty": "hard"}
            rows[1:] = [{"text": "Call findBook\x1b now"}, {"text": rows[0]["text"] + "!"}, {"text": ""}]

    _, found = made(tmp_path, Players(edit("user", spoil)), sessions=1, tasks=1)
    (session,) = found.kept
    ((good, named, again),) = session["made_by"]["candidates"]
    text = next(value for key, value in session.items() if key.endswith("_tasks"))[0]
    told = {"text": text, "plan": "one call \\x1b", "difficulty": "hard", "picked": True}
    assert told.items() <= good.items()
    assert named["text"] == "Call findBook\\x1b now"
    assert named["rules"].startswith("A5: A user does not know the tool's name findBook.; C1: ")
    assert (again["text"], again["rules"][:3]) == (f"{text}!", "C3:")


def test_twins_have_the_same_plan_and_tools(tmp_path: Path):
    _, found = made(tmp_path, Players(), sessions=4, langs=("en", "zh"), paired_languages=True)
    one, two = (session["made_by"] for session in found.kept[:2])
    assert one["twin"] == two["twin"] != found.kept[2]["made_by"]["twin"]
    assert one["plan"]["tasks"] == two["plan"]["tasks"]
    assert one["tool_set"] == two["tool_set"]
    assert (one["plan"]["lang"], two["plan"]["lang"]) == ("en", "zh")


@pytest.mark.long
def test_each_tool_is_asked_for_in_its_turn(tmp_path: Path):
    players = Players()
    made(tmp_path, players, sessions=32, tasks=2)
    wanted = [
        json.loads(r.messages[1]["content"]).get("wanted", {}) for r in players.asked if r.role == "user"
    ]
    asked = Counter(task["tool"] for task in wanted if "tool" in task)
    assert set(asked) == {"findBook", "borrowBook", "reserveRoom"}
    assert max(asked.values()) - min(asked.values()) <= 0.3 * max(asked.values())


@pytest.mark.long
def test_more_at_a_time_makes_the_same_sessions(tmp_path: Path):
    made(tmp_path, Players(), "one", concurrency=1)
    made(tmp_path, Players(), "many")
    assert (tmp_path / "one" / SESSIONS_FILE).read_bytes() == (tmp_path / "many" / SESSIONS_FILE).read_bytes()


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 8 sessions, half of them Chinese."""
    folder = tmp_path_factory.mktemp("few")
    made(folder, Players(), sessions=8, langs=("en", "zh"))
    return folder


@pytest.mark.long
@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_a_killed_making_goes_on_to_the_same_sessions(tmp_path: Path, few: Path, share: float):
    shutil.copytree(few / "out", tmp_path / "out")
    (record,) = (tmp_path / "out" / RECORD_FOLDER).glob("*.jsonl*")
    whole = record.read_bytes()
    record.write_bytes(whole[: int(len(whole) * share)])
    (tmp_path / "out" / SESSIONS_FILE).unlink()
    result, _ = made(tmp_path, Players(), sessions=8, langs=("en", "zh"))
    assert result.calls and result.replayed
    assert (tmp_path / "out" / SESSIONS_FILE).read_bytes() == (few / "out" / SESSIONS_FILE).read_bytes()


def test_other_settings_do_not_go_on_with_a_record(tmp_path: Path):
    made(tmp_path, Players(), seed="1", sessions=2)
    with pytest.raises(RecordError, match="the settings differ: data_sha256"):
        made(tmp_path, Players(), seed="2", sessions=2)


def first_action(change: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    def changed(decision: dict[str, Any]) -> None:
        decision["actions"][0].update(change)

    return changed


def stringly(decision: dict[str, Any]) -> None:
    for action in decision["actions"]:
        if action["name"] in ("reserveRoom", "findBook"):
            action["arguments"] = dict.fromkeys(action["arguments"], 17)


def twice(decision: dict[str, Any]) -> None:
    if not decision["actions"][0]["name"].startswith("prepare"):
        decision["actions"] *= 2


def at_once(decision: dict[str, Any]) -> None:
    decision["actions"] = [{"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}}]


def asks_on(decision: dict[str, Any]) -> None:
    missing = {"tool_name": "reserveRoom", "missing_required_parameters": ["room"]}
    decision["actions"] = [{"name": "ask_user_for_required_parameters", "arguments": missing}]


def never_done(decision: dict[str, Any]) -> None:
    if decision["actions"][0]["name"] == "prepare_to_answer":
        decision["actions"] = [{"name": "findBook", "arguments": {"title": "thanks"}}]


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "reasons"),
    [
        pytest.param(say("planner", "I would call a tool."), {"planner P1"}, id="wrong format"),
        pytest.param(say("planner", ""), {"planner P1"}, id="empty decision"),
        pytest.param(
            edit("planner", first_action({"name": "flyAway"})), {"planner P4"}, id="hallucinated tool"
        ),
        pytest.param(
            edit("planner", first_action({"arguments": "x"})), {"planner P13"}, id="arguments as a text"
        ),
        pytest.param(edit("planner", stringly), {"planner P14", "planner P24"}, id="wrong type"),
        pytest.param(edit("planner", twice), {"planner P17", "planner P8"}, id="redundant call"),
        pytest.param(edit("planner", at_once), {"planner P21"}, id="early end"),
        pytest.param(edit("planner", never_done), {"planner P24", "planner P17", "limit"}, id="no end"),
        pytest.param(edit("planner", asks_on), {"planner P24", "planner P20"}, id="asks without end"),
        pytest.param(say("user", ""), {"user C1"}, id="empty tasks"),
        pytest.param(
            say("user", '{"candidates": [{"text": "Call findBook"}]}'), {"user A5"}, id="tool named"
        ),
        pytest.param(say("user", '{"candidates": []}'), {"user C1"}, id="no candidates"),
        pytest.param(say("agent", ""), {"agent A2"}, id="empty answer"),
        pytest.param(say("agent", "Planner: done"), {"agent A2"}, id="role name left"),
        pytest.param(say("tool", '{"observations": []}'), {"tool T2"}, id="results missing"),
        pytest.param(say("tool", "200 OK"), {"tool T1"}, id="results without form"),
        pytest.param(
            say("checker", '{"accepted": false, "reason": "no"}'),
            {"planner checker", "checker alone"},
            id="refused",
        ),
        pytest.param(say("checker", "fine"), {"checker K1"}, id="checker without form"),
    ],
)
def test_nothing_wrong_is_kept_and_each_loss_has_its_reason(tmp_path: Path, spoil: Spoil, reasons: set[str]):
    result, found = made(tmp_path, Players(spoil), sessions=4)
    assert result.status == "done"
    assert len(found.kept) + len(found.losses) == 4
    assert found.losses
    assert {loss["reason"] for loss in found.losses} <= reasons
    assert all(loss["detail"] for loss in found.losses)
    assert len((tmp_path / "out" / LOSSES_FILE).read_text("utf-8").splitlines()) == len(found.losses)
    kept = tmp_path / "out" / SESSIONS_FILE
    assert [finding.message for finding in lint_file(kept, balanced=False)] == []
    assert set(gold_outcomes(kept, "fixed")) <= {"correct"}


@pytest.mark.long
def test_a_later_task_that_is_clear_alone_is_not_taken(tmp_path: Path):
    def spoil(role: str, text: str, request: Request) -> str:
        seen = json.loads(request.messages[1]["content"])
        clear = role == "checker" and "message" in seen and "lib" in seen["message"]
        return '{"accepted": false}' if clear else text

    _, found = made(tmp_path, Players(spoil), sessions=6)
    texts = [text for session in found.kept for text in session["english_tasks"][1:]]
    assert texts and not any("library" in text for text in texts)
    assert {loss["reason"] for loss in found.losses} == {"checker alone"}


def test_what_checks_that_a_message_needs_the_conversation_does_not_see_it(tmp_path: Path):
    players = Players()
    made(tmp_path, players, sessions=1)
    seen = [json.loads(r.messages[1]["content"]) for r in players.asked if r.role == "checker"]
    alone = [set(entry) for entry in seen if "message" in entry]
    assert alone == [{"tools", "now", "message"}] * 3


@pytest.mark.long
def test_a_judge_without_sense_costs_no_session(tmp_path: Path):
    _, found = made(tmp_path, Players(say("judge", '{"best": 99}')), sessions=4)
    assert len(found.kept) == 4
    assert found.counters["judge gave no choice"] == 16


@pytest.mark.long
def test_a_mistake_told_to_its_role_is_mended(tmp_path: Path):
    def spoil(role: str, text: str, request: Request) -> str:
        return "oops" if role == "planner" and len(request.messages) == 2 else text

    _, found = made(tmp_path, Players(spoil), sessions=4)
    assert len(found.kept) == 4
    refused = next(metric for metric in found.attrition() if metric.name == "planner refused P1")
    assert refused.value == 0.5


def test_a_role_is_told_which_rule_it_broke(tmp_path: Path):
    players = Players(say("tool", "200 OK"))
    made(tmp_path, players, sessions=1)
    second = next(r for r in players.asked if r.role == "tool" and len(r.messages) == 4)
    assert "T1: Give one JSON object" in second.messages[3]["content"]


@pytest.mark.long
def test_a_text_near_to_a_published_one_is_not_taken(tmp_path: Path, good: Path):
    _, found = made(tmp_path, Players(), sessions=2, avoid_near=(good / "out" / SESSIONS_FILE,))
    texts = {text for session in found.kept for text in session["english_tasks"]}
    known = {task.text for item in read_items(good / "out" / SESSIONS_FILE) for task in item.data.tasks}
    assert texts.isdisjoint(known)


def test_sessions_alike_are_kept_once(tmp_path: Path):
    same = "For Mora and Tila of Sano: what makes a library a good place to read, thanks! "

    def spoil(role: str, text: str, request: Request) -> str:
        kinds = json.loads(request.messages[1]["content"]).get("wanted", {})
        return (
            json.dumps({"candidates": [{"text": same}]})
            if role == "user" and kinds.get("kind") == "chat"
            else text
        )

    _, found = made(tmp_path, Players(spoil), sessions=16, tasks=1)
    assert Counter(loss["reason"] for loss in found.losses) == {"near duplicate": 3}


def test_the_yield_names_where_attempts_are_lost(tmp_path: Path):
    _, found = made(tmp_path, Players(say("agent", "")), sessions=2)
    shown = {(metric.group, metric.name): metric.numerator for metric in found.attrition()}
    assert shown["sessions", "kept"] == 0
    assert shown["sessions lost", "agent A2"] == 2
    assert shown["replies", "agent refused A2"] > 2


def test_a_reply_that_breaks_a_rule_twice_counts_once(tmp_path: Path):
    def stray(decision: dict[str, Any]) -> None:
        decision["actions"] = [{"name": "flyAway", "arguments": {}}, {"name": "swimAway", "arguments": {}}]

    _, found = made(tmp_path, Players(edit("planner", stray)), sessions=2)
    assert next(metric for metric in found.attrition() if metric.name == "planner refused P4").value == 1.0
