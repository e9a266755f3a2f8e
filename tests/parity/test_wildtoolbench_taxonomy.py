"""The `paper` profile against the recorded answers of the paper-era evaluator.

`taxonomy_cases.jsonl` has a row for every task that evaluator calls wrong, or that the published one
does not call correct. Tasks without a row are correct for both, except those the published evaluator never
walked to an end (`reference_error` in stage `inference`). Policy for these: a reply at which the walk raises
is the failing reply of an action error; a history that cannot be built does not change the judgement.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.data import read_items
from wildtool.benchmarks.wildtoolbench.official.episode import OfficialEpisode
from wildtool.benchmarks.wildtoolbench.paper.judge import LABEL_COLUMNS, PaperVerdict, judge_paper
from wildtool.episode import replay
from wildtool.types import Reply, Transcript

Row = dict[str, Any]
Key = tuple[str, str, int]


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _key(row: Row) -> Key:
    return row["session"], row["model"], row["task"]


@pytest.fixture(scope="module")
def cases(oracle: Path) -> dict[Key, Row]:
    return {_key(row): row for row in _rows(oracle / "taxonomy_cases.jsonl")}


@pytest.fixture(scope="module")
def judged(oracle: Path) -> dict[Key, tuple[OfficialEpisode, PaperVerdict, Row]]:
    """Walk, our verdict and the published evaluator's row for every recorded task."""
    sessions = {item.id: item.data for item in read_items(oracle / "sessions.jsonl")}
    scripts = {(row["session"], row["model"]): row["tasks"] for row in _rows(oracle / "transcripts.jsonl")}
    result: dict[Key, tuple[OfficialEpisode, PaperVerdict, Row]] = {}
    for row in _rows(oracle / "verdicts.jsonl"):
        session, model, task = _key(row)
        episode = OfficialEpisode(sessions[session], task)
        replies = tuple(Reply(message) for message in scripts[session, model][task])
        assert replay(episode, Transcript(replies, scripted=True))
        verdict = judge_paper(episode, sessions[session].tasks[task], sessions[session].sent_tools)
        result[session, model, task] = episode, verdict, row
    return result


def _as_case(key: Key, episode: OfficialEpisode, verdict: PaperVerdict) -> Row:
    """A verdict in the fields of the case file, but for the wording of an exception."""
    fits = episode.name_correct and not verdict.argument_exception
    row: Row = dict(zip(("session", "model", "task"), key, strict=True))
    row["action_label"] = "correct" if fits else "error"
    row["label"] = "correct" if verdict.correct else "error"
    row["error_type"] = verdict.error_type
    if verdict.structure:
        row["structure"] = verdict.structure
    if verdict.structure in ("serial", "cs"):
        row |= {"complete": verdict.complete, "total": verdict.total}
    if verdict.structure in ("combine", "cs"):
        row["optimal"] = verdict.optimal
    if verdict.argument_exception:
        row["argument_exception"] = True
    return row


def test_every_recorded_verdict_is_reproduced(cases, judged):
    expected = {
        key: row | {"argument_exception": True} if "argument_exception" in row else row
        for key, row in cases.items()
    }
    found = {key: _as_case(key, *judged[key][:2]) for key in cases}
    assert found == expected


def test_tasks_without_a_case_are_correct(cases, judged):
    silent = [
        key for key, (_, _, row) in judged.items() if key not in cases and row.get("label") == "correct"
    ]
    assert silent
    assert [key for key in silent if not judged[key][1].correct] == []


def test_only_tasks_lost_in_the_walk_are_left_without_expectation(cases, judged):
    left = [row for key, (_, _, row) in judged.items() if key not in cases and row.get("label") != "correct"]
    assert {row["reference_error"]["stage"] for row in left} <= {"inference"}


def test_a_walk_that_raises_is_a_labelled_action_error(judged):
    raised = [verdict for episode, verdict, _ in judged.values() if episode.raised]
    assert raised
    assert all(verdict.error_type in LABEL_COLUMNS and not verdict.argument_exception for verdict in raised)


def test_a_lost_history_does_not_spoil_a_perfect_task(judged):
    lost = {key: verdict for key, (episode, verdict, _) in judged.items() if episode.history_raised}
    assert lost
    assert all(verdict.correct for key, verdict in lost.items() if key[1].startswith("perfect_"))
