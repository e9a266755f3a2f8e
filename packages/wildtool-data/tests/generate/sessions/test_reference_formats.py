"""Made sessions in the forms of the reference's generator: everything, what stands, and each call."""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.sessions.players import session_of_players
from wildtool.types import Request
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.sessions.output import REFERENCE_FORMATS
from wildtool_data.make.sessions.script import AcceptedSession


def refused_once(role: str, text: str, request: Request) -> str:
    """The first decision of each request is no JSON."""
    return "oops" if role == "planner" and len(request.messages) == 2 else text


def made(folder: Path, lang: Lang) -> AcceptedSession:
    return session_of_players(folder, "Clarify", lang, refused_once)


def written(folder: Path, form: str, lang: Lang = "en") -> list[dict[str, Any]]:
    found = list(REFERENCE_FORMATS[form](made(folder, lang), lang))
    assert found
    return found


def starts(row: dict[str, Any]) -> list[str]:
    return [message["content"].split("\n")[0] for message in row["messages"]]


def test_raw_has_refused_decisions_and_their_verdicts(tmp_path: Path):
    (row,) = written(tmp_path, "raw")
    assert starts(row)[:5] == ["User:", "Planner:", "Checker_Planner：", "Planner:", "Checker_Planner："]
    assert "oops" in row["messages"][1]["content"]
    assert "P1" in row["messages"][2]["content"]
    assert row["messages"][4]["content"] == "Checker_Planner：\nyes"


def test_streamlined_has_what_stands(tmp_path: Path):
    (row,) = written(tmp_path, "streamlined")
    assert starts(row)[:3] == ["User:", "Planner:", "Agent:"]
    assert not any("Checker" in start for start in starts(row))
    assert "oops" not in json.dumps(row)


def test_a_user_is_told_by_the_words_that_stand_in_the_session(tmp_path: Path):
    session = made(tmp_path, "en")
    (row,) = REFERENCE_FORMATS["streamlined"](session, "en")
    assert row["messages"][0] == {"role": "user", "content": f"User:\n{session.record['english_tasks'][0]}"}


def test_each_accepted_call_is_a_line_with_its_exact_prompt(tmp_path: Path):
    rows = written(tmp_path, "calls")
    tasks = [row["task"] for row in rows]
    assert tasks[:4] == ["user_ask", "judge", "planner", "agent_ask"]
    assert {"user_continue_question", "tool", "agent_answer", "llm_parallel_checker"} <= set(tasks)
    assert rows[2]["messages"][0]["role"] == "system"
    assert rows[2]["messages"][2] == {"role": "assistant", "content": "oops"}


@pytest.mark.parametrize("form", REFERENCE_FORMATS)
def test_every_line_names_session_tools_date_and_plan(tmp_path: Path, form: str):
    for row in written(tmp_path, form):
        assert row["id"].startswith("made_1_")
        assert row["tools"] and row["env_info"].startswith("2025-")
        assert row["plan"]["tasks"][0]["group"] == "Clarify"


def test_chinese_sessions_have_chinese_markers(tmp_path: Path):
    (row,) = written(tmp_path, "streamlined", "zh")
    assert starts(row)[:3] == ["用户：", "Planner：", "Agent助手："]
