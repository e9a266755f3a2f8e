"""A run says how much was planned, and whether some of that was never played."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from wildtool.data.data_set import data_of
from wildtool.engine.compare.leaderboard import trust_line
from wildtool.engine.replies import import_replies
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.errors import CallError


def play(out: Path, answer: Any = lambda request: "right", **settings: Any) -> None:
    run_plan(plan_of(model=ScriptedModel(answer), **settings), out, command=[], policy=PATIENT)


def cut(out: Path, lines: int) -> None:
    """Leaves only the first lines of a record."""
    segment = out / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:lines]))


def ended(out: Path, status: str) -> None:
    about = json.loads((out / "run.json").read_text())
    about["sittings"][-1]["status"] = status
    (out / "run.json").write_text(json.dumps(about))


def read(out: Path, profile: str | None = None) -> ScoreResult:
    return load_result(out, profile, again=True)


def said(result: ScoreResult) -> tuple[int, int, bool]:
    return result.planned, result.planned_items, result.incomplete


def test_a_run_played_to_its_end_is_complete(tmp_path: Path):
    play(tmp_path, repeats=2)
    assert said(read(tmp_path)) == (8, 2, False)


def test_a_run_whose_calls_failed_is_complete(tmp_path: Path):
    play(tmp_path, lambda request: CallError("http 500", "down"), in_order=True)
    assert said(read(tmp_path)) == (4, 2, False)


def test_a_run_without_a_single_reply_has_counts_and_no_values(tmp_path: Path):
    play(tmp_path)
    cut(tmp_path, 1)
    metrics = read(tmp_path).metrics
    rates = [metric for metric in metrics if metric.kind == "rate"]
    assert rates and all((m.value, m.low, m.high, m.numerator) == (None, None, None, 0) for m in rates)


@pytest.mark.parametrize("status", ["interrupted", "limit reached", "running", "stopped: StorageError"])
def test_a_run_that_was_stopped_is_incomplete(tmp_path: Path, status: str):
    play(tmp_path)
    cut(tmp_path, 7)
    ended(tmp_path, status)
    result = read(tmp_path)
    assert said(result) == (4, 2, True)
    assert "m: 2 of 4 units were not played and count as not right" in trust_line("m", result)
    assert trust_line("m", result).endswith("run the same command again")


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_run_that_was_stopped_when_all_was_played_is_complete(tmp_path: Path, status: str):
    play(tmp_path)
    ended(tmp_path, status)
    assert said(read(tmp_path)) == (4, 2, False)


@pytest.mark.parametrize("lines", [1, 2, 8])
def test_a_run_whose_record_lost_lines_is_incomplete_whatever_it_says_of_its_end(tmp_path: Path, lines: int):
    play(tmp_path)
    cut(tmp_path, lines)
    assert said(read(tmp_path)) == (4, 2, True)


def test_units_that_other_rules_would_play_on_do_not_make_a_run_incomplete(tmp_path: Path):
    play(tmp_path)
    # As if the rules judged by wanted a third step of every unit.
    longer = EchoBenchmark(steps=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wildtool.engine.score.score.played_benchmark", lambda folder, run_json: longer)
        strict, as_played = read(tmp_path, "strict"), read(tmp_path)
    assert (strict.counts.unplayed, strict.incomplete) == (4, False)
    assert (as_played.counts.unplayed, as_played.incomplete) == (4, True)


def test_a_replies_file_with_some_of_the_items_says_how_many_there_are(tmp_path: Path):
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"item": "i1", "tasks": [[{"content": "right"}] * 2] * 2}))
    benchmark = EchoBenchmark()
    (out,) = import_replies(benchmark, data_of(benchmark).locate(None), file, tmp_path / "runs")
    result = read(out)
    assert (*said(result), result.counts.units) == (4, 2, True, 2)
    assert trust_line("m", result) == "m: only 2 of 4 units are here; the numbers are of these"
    assert (result.evidence.units, result.evidence.unplayed) == (4, 2)
