"""Cases found by differential tests on new data: what the published evaluators said, `official` and `paper` say."""

import json
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present
from wildtool.benchmarks.wildtoolbench.data import Session, read_session
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.benchmarks.wildtoolbench.official.episode import OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.judge import object_schemas, score_task
from wildtool.benchmarks.wildtoolbench.paper.judge import judge_paper
from wildtool.episode import replay
from wildtool.types import Reply, Transcript

FOLDER = oracle_folder("found") / "wildtoolbench"
CASES = sorted(FOLDER.glob("[op]*.json"))


def walked(case: dict[str, Any]) -> tuple[Session, OfficialEpisode]:
    session = read_session(case["record"], case["case"])
    episode = OfficialEpisode(session, 0)
    assert replay(episode, Transcript(tuple(Reply(reply) for reply in case["replies"]), scripted=True))
    return session, episode


def test_the_cases_are_there():
    present(FOLDER)
    assert CASES


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_official_says_what_the_published_evaluator_says(path: Path):
    case = json.loads(path.read_text())
    session, episode = walked(case)
    result = score_task(episode, session.tasks[0].nodes, object_schemas(session))
    expected = case["reference"]
    for stage in ("inference", "scoring"):
        if f"{stage}_error" in expected:
            assert result.reference_error == (stage, expected[f"{stage}_error"])
            assert expected.get("reason") in (None, episode.reason)
            return
    found = {
        "label": result.label,
        "name": result.name_label,
        "args": result.arguments_label,
        "optimal": result.optimal,
        "complete": result.complete_step,
    }
    bad = {str(step): checks for step, checks in result.checks.items() if set(checks) != {CORRECT}}
    assert found | ({"checks": bad} if bad else {}) == expected
    assert result.reference_error is None


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_paper_says_what_the_papers_evaluator_says(path: Path):
    case = json.loads(path.read_text())
    session, episode = walked(case)
    expected = dict(case["reference_paper"])
    if "walk raises" in expected:
        assert episode.raised == expected["walk raises"]
        return
    verdict = judge_paper(episode, session.tasks[0], session.sent_tools)
    expected.pop("raised")
    found = {
        "label": "correct" if verdict.correct else "error",
        "error_type": verdict.error_type,
        "structure": verdict.structure,
        "complete": verdict.complete,
        "optimal": verdict.optimal,
        "argument_exception": verdict.argument_exception,
    }
    assert found == expected
