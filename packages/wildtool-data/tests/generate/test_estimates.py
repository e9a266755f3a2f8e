"""What making sessions would take is told from a trial, which is measured here again."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from generate.sessions.players import TOOLS, Players
from generate.sessions.test_maker import made
from wildtool.engine.call.budget import tokens_of
from wildtool.engine.run.estimate import RoleEstimate
from wildtool.types import Lang
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.core.prompts import is_reply_form, templates
from wildtool_data.make.estimates import TRIAL_PARTS, TRIAL_USAGE, estimate_sessions
from wildtool_data.make.sessions.maker import SessionMaker

LANGS: tuple[Lang, ...] = ("en", "zh")
UNUSED = ("clarify some", "examples", "continued examples")
"""Parts that the trial does without."""


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


OWN = {
    "user": "Beginning. {0}\n= task\nTask. {1}\n= single\nOne. {0}\n= later\nLater. {2}\n= reply\nReply. {1}",
    "agent": "= ask\nAsk. {2}\n= chat\nChat. {1}",
    "checker": "= alone\nAlone. {2}",
    "planner": "Plan. {1}",
}
"""Texts of a user's own: of a role's parts, each longer than the shipped one by another number of words."""


def own_texts(folder: Path) -> Path:
    for lang in ("en", "zh"):
        (folder / "own" / lang).mkdir(parents=True)
        for role, text in OWN.items():
            written = text.format(*("word " * count for count in (300, 700, 1500)))
            (folder / "own" / lang / f"{role}.txt").write_text(written, "utf-8")
    return folder / "own"


@pytest.mark.long
def test_a_role_has_each_part_of_its_instruction_as_often_as_in_the_trial(players: Players):
    calls = Counter(request.role for request in players.asked)
    found: Counter[tuple[str, str]] = Counter()
    for request in players.asked:
        text = request.messages[0]["content"]
        (parts,) = [roles[request.role] for roles in map(templates, LANGS) if roles[request.role][""] in text]
        found.update((request.role, part) for part, its_text in parts.items() if its_text in text)
    for role in TRIAL_USAGE:
        for part in templates("en")[role]:
            if part not in UNUSED and not is_reply_form(part):
                told = TRIAL_PARTS.get(role, {}).get(part, 1.0)
                assert found[role, part] / calls[role] == pytest.approx(told, abs=0.03), (role, part)


@pytest.mark.long
def test_own_texts_take_what_they_take_in_a_trial(players: Players, tmp_path: Path):
    own = own_texts(tmp_path)
    again = Players()
    made(tmp_path, again, sessions=24, langs=LANGS, role_prompts=own)
    plain, longer = (outlook_of(tmp_path, langs=LANGS, **more) for more in ({}, {"role_prompts": own}))
    for role in TRIAL_USAGE:
        more = longer[role].low.prompt_tokens - plain[role].low.prompt_tokens
        found = instruction_of(again, role) - instruction_of(players, role)
        assert more / plain[role].low.calls == pytest.approx(found, rel=0.15, abs=4), role


def instruction_of(players: Players, role: str) -> float:
    """Mean tokens of a role's instruction."""
    return fmean(tokens_of(each.messages[0]["content"]) for each in players.asked if each.role == role)


def test_own_texts_count_for_their_role_alone_and_shorter_ones_less(tmp_path: Path):
    folder = tmp_path / "own"
    plain = outlook_of(tmp_path)
    for name, text in (("longer", "word " * 4000), ("shorter", "Judge.")):
        (folder / name).mkdir(parents=True)
        (folder / name / "judge.txt").write_text(text, "utf-8")
        own = outlook_of(tmp_path, role_prompts=folder / name)
        assert (own["judge"].low.prompt_tokens > plain["judge"].low.prompt_tokens) == (name == "longer")
        assert own["judge"].low.prompt_tokens != plain["judge"].low.prompt_tokens
        assert {**own, "judge": None} == {**plain, "judge": None}


def test_scenarios_count_for_the_roles_that_are_shown_them(tmp_path: Path):
    (tmp_path / "short.txt").write_text("A parcel is late.")
    (tmp_path / "long.txt").write_text("A parcel is late. " * 100)
    short, long = (outlook_of(tmp_path, scenarios=tmp_path / f"{name}.txt") for name in ("short", "long"))
    grown = {role for role in long if long[role].low.prompt_tokens > 1.2 * short[role].low.prompt_tokens}
    assert grown == {"user", "judge"}


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
