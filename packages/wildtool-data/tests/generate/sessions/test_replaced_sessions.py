"""A lost session is planned anew with the same tasks and other tools, in bounds, the same at any concurrency."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generate.sessions.players import TOOLS, Players
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.types import Model, Request
from wildtool_data.make.core import prompts
from wildtool_data.make.core.files import LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import MAX_REPLACEMENT_ROUNDS, PROFILE
from wildtool_data.make.core.plan import SessionGenerationSpec, session_plans
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.output import SESSIONS_FILE, GeneratedSessions, write_session_set

SESSIONS_WANTED = 8


def made(
    folder: Path, model: Model, *, sessions: int = SESSIONS_WANTED, concurrency: int = 32
) -> GeneratedSessions:
    """Makes a set as the command does: as long as something lost is planned anew."""
    tools = folder / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    maker = SessionMaker(SessionGenerationSpec(sessions=sessions, tools=tools))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys(prompts.SESSION_ROLES, model),
        profile=PROFILE,
        concurrency=concurrency,
    )
    while True:
        run_plan(plan, folder / "out" / RECORD_FOLDER, command=[])
        found = write_session_set(maker, plan, folder / "out")
        if not maker.replace_lost(found):
            return found


def silent_where_books_come_first(role: str, text: str, request: Request) -> str:
    """An agent that fails for one order of the tools in three, which is drawn anew for each try."""
    seen = json.loads(request.messages[1]["content"])
    return "" if role == "agent" and seen["tools"][0]["name"] == "findBook" else text


def silent_at_even_minutes(role: str, text: str, request: Request) -> str:
    """An agent that fails for half of the sessions, however often they are planned anew."""
    minute = int(json.loads(request.messages[1]["content"])["now"][14:16])
    return "" if role == "agent" and minute % 2 == 0 else text


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, GeneratedSessions]:
    folder = tmp_path_factory.mktemp("mended")
    return folder / "out", made(folder, Players(silent_where_books_come_first))


@pytest.mark.long
def test_the_set_has_as_many_sessions_as_are_wanted(mended: tuple[Path, GeneratedSessions]):
    _, found = mended
    assert len(found.kept) == SESSIONS_WANTED
    assert found.losses
    assert found.unreplaced_losses == []
    assert found.replaced >= 1


def test_what_stands_in_for_a_lost_session_has_its_tasks(mended: tuple[Path, GeneratedSessions]):
    _, found = mended
    wanted = [plan.tasks for plan in session_plans(SESSIONS_WANTED, 4, seed="1", langs=("en",))]
    told = [s["made_by"]["plan"]["tasks"] for s in found.kept]
    assert [[t["group"] for t in tasks] for tasks in told] == [[t.group for t in tasks] for tasks in wanted]
    assert [s["made_by"]["session"] for s in found.kept] == list(range(SESSIONS_WANTED))


def test_each_loss_says_whether_it_was_made_good(mended: tuple[Path, GeneratedSessions]):
    folder, found = mended
    rows = [json.loads(line) for line in (folder / LOSSES_FILE).read_text("utf-8").splitlines()]
    assert rows == list(found.losses)
    assert all(row["replaced"] for row in rows)
    shown = {(metric.group, metric.name): metric.numerator for metric in found.attrition()}
    assert shown["sessions", "in place of lost ones"] == found.replaced
    assert shown["sessions lost", "agent A2"] == len(rows)


@pytest.mark.long
def test_one_at_a_time_and_going_on_give_the_same_set(tmp_path: Path, mended: tuple[Path, GeneratedSessions]):
    players = Players(silent_where_books_come_first)
    made(tmp_path, players, concurrency=1)
    whole = (mended[0] / SESSIONS_FILE).read_bytes()
    assert (tmp_path / "out" / SESSIONS_FILE).read_bytes() == whole
    asked = len(players.asked)
    made(tmp_path, players)
    assert len(players.asked) == asked
    assert (tmp_path / "out" / SESSIONS_FILE).read_bytes() == whole


def test_what_is_lost_again_and_again_is_given_up(tmp_path: Path):
    found = made(tmp_path, Players(silent_at_even_minutes), sessions=6)
    turns = Counter(str(loss["session"]).partition(".")[2] for loss in found.losses)
    assert 0 < len(found.unreplaced_losses) < 6
    assert sum(count for turn, count in turns.items() if turn) <= 6
    assert all(int(turn or 0) <= MAX_REPLACEMENT_ROUNDS for turn in turns)
    assert not any(loss["replaced"] for loss in found.losses)


def test_nothing_is_planned_anew_where_nothing_was_kept(tmp_path: Path):
    def silent(role: str, text: str, request: Request) -> str:
        return "" if role == "agent" else text

    found = made(tmp_path, Players(silent), sessions=3)
    assert [loss["session"] for loss in found.losses] == ["0", "1", "2"]


def test_nothing_is_planned_anew_before_all_is_made():
    maker = SessionMaker(SessionGenerationSpec(sessions=2))
    kept: dict[str, Any] = {"made_by": {"plan": {"turn": 0}}}
    assert not maker.replace_lost(GeneratedSessions((kept,), (), 1, {}, (1,), turns=(0,)))
    assert maker.replace_lost(GeneratedSessions((kept,), (), 0, {}, (1,), turns=(0,)))
    assert [item.id for item in maker.load(maker.source())] == ["0", "1", "1.1"]
