"""Several models can judge and check: more than half of them decide, and the record says who was asked."""

import json
from pathlib import Path

import pytest

from generate.sessions.players import TOOLS, Players
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.errors import RecordError
from wildtool.types import Request
from wildtool_data.make.core import prompts
from wildtool_data.make.core.files import RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.output import GeneratedSessions, write_session_set


class Voters(Players):
    """Plays every voter by the role's own part; what each says can be set by its name."""

    def __init__(self, **said: str) -> None:
        super().__init__()
        self._of = {name.replace("_", " "): text for name, text in said.items()}

    def said(self, role: str, messages: list[object], request: Request) -> str:
        fixed = self._of.get(role)
        return fixed if fixed is not None else super().said(role.split()[0], messages, request)


def made(folder: Path, voters: Voters, *, judges: int = 1, checkers: int = 1) -> GeneratedSessions:
    tools = folder / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    maker = SessionMaker(SessionGenerationSpec(sessions=4, tools=tools, judges=judges, checkers=checkers))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys([*prompts.SESSION_ROLES, *maker.roles], voters),
        profile=PROFILE,
    )
    run_plan(plan, folder / "out" / RECORD_FOLDER, command=[])
    return write_session_set(maker, plan, folder / "out")


def chosen(voters: Voters, found: GeneratedSessions) -> list[int]:
    """Which of the proposed candidates each task of the made sessions is."""
    texts = {text for session in found.kept for text in session["english_tasks"]}
    seen = [json.loads(r.messages[1]["content"]) for r in voters.asked if r.role == "judge"]
    return [k for situation in seen for k, text in enumerate(situation["candidates"]) if text in texts]


def test_the_candidate_of_more_than_half_of_the_judges_is_taken(tmp_path: Path):
    voters = Voters(judge='{"best": 0}', judge_2='{"best": 2}', judge_3='{"best": 2}')
    found = made(tmp_path, voters, judges=3)
    assert len(found.kept) == 4
    assert set(chosen(voters, found)) == {2}


def test_what_half_of_the_checkers_refuse_is_refused_with_their_reasons(tmp_path: Path):
    found = made(tmp_path, Voters(checker_2='{"accepted": false, "reason": "no such thing"}'), checkers=2)
    assert found.kept == ()
    assert any("no such thing" in loss["detail"] for loss in found.losses)


@pytest.mark.long
def test_a_session_says_who_voted(tmp_path: Path):
    about = made(tmp_path, Voters(), judges=3, checkers=2).kept[0]["made_by"]
    assert about["votes"] == {"judge": 3, "checker": 2}
    assert {"judge", "judge 2", "judge 3", "checker 2"} <= set(about["models"])


def test_other_numbers_of_voters_do_not_go_on_with_a_record(tmp_path: Path):
    made(tmp_path, Voters(), judges=1)
    with pytest.raises(RecordError, match="the settings differ"):
        made(tmp_path, Voters(), judges=3)
