"""What making sessions would take is told from a trial, which is measured here again."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from generate.sessions.players import TOOLS, Players
from generate.sessions.test_maker import made
from wildtool.engine.call.budget import tokens_of
from wildtool.engine.run.estimate import RoleEstimate
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.estimates import TRIAL_USAGE, estimate_sessions
from wildtool_data.make.sessions.maker import SessionMaker


@pytest.fixture(scope="module")
def players(tmp_path_factory: pytest.TempPathFactory) -> Players:
    players = Players()
    made(tmp_path_factory.mktemp("trial"), players, sessions=24, langs=("en", "zh"))
    return players


@pytest.mark.long
def test_the_trial_is_what_scripted_models_take(players: Players):
    calls = Counter(request.role for request in players.asked)
    sizes: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for request in players.asked:
        seen = json.loads(request.messages[1]["content"])
        seen.pop("tools")
        said = players.said(request.role, list(request.messages), request)
        parts = (request.messages[0]["content"], json.dumps(seen, ensure_ascii=False), said)
        for k, part in enumerate(parts):
            sizes[request.role][k] += tokens_of(part) / calls[request.role]
    for role, told in TRIAL_USAGE.items():
        assert calls[role] / 24 == pytest.approx(told.calls, rel=0.1)
        found = sizes[role]
        assert found == pytest.approx([told.instruction, told.conversation, told.reply], rel=0.15, abs=4)


def outlook_of(folder: Path, **order: Any) -> dict[str, RoleEstimate]:
    tools = folder / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    return estimate_sessions(SessionMaker(SessionGenerationSpec(**{"sessions": 10, **order}, tools=tools)))


def test_twice_the_sessions_or_tasks_take_twice_as_much(tmp_path: Path):
    one = outlook_of(tmp_path)["planner"].low
    for other in (outlook_of(tmp_path, sessions=20), outlook_of(tmp_path, tasks=8)):
        assert other["planner"].low.calls == 2 * one.calls
        assert other["planner"].low.prompt_tokens == pytest.approx(2 * one.prompt_tokens)


def test_each_voter_takes_as_much_as_one(tmp_path: Path):
    found = outlook_of(tmp_path, judges=3)
    assert found["judge"] == found["judge 2"] == found["judge 3"]
    assert "checker 2" not in found


def test_the_upper_end_is_above(tmp_path: Path):
    roles = outlook_of(tmp_path)
    assert len(roles) > 5
    for seen in roles.values():
        assert seen.high.calls == pytest.approx(2 * seen.low.calls, abs=1)
        assert seen.high.prompt_tokens > 2 * seen.low.prompt_tokens
        assert seen.high.reply_tokens == pytest.approx(8 * seen.low.reply_tokens)
