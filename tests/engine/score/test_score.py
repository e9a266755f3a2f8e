"""Scoring: records, replies files and result files judged offline, under any profile."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, EchoData, ScriptedModel, plan_of
from wildtool.data.data_set import ResultRow, Results, data_of
from wildtool.engine.record.writer import LogWriter
from wildtool.engine.replies import import_replies
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.results import load_result
from wildtool.engine.score.score import (
    ScoringOutcome,
    score_run,
)
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import CallError, DataError, RecordError, UsageError
from wildtool.types import Item, Reply, Transcript

RIGHT = {"content": "right"}


def outcomes(*scored: ScoringOutcome) -> list[tuple[Any, ...]]:
    tables = (relation([one.verdicts]).project("model, item, unit, outcome").fetchall() for one in scored)
    return [row for table in tables for row in table]


def play(out: Path, **settings: Any) -> None:
    run_plan(plan_of(**settings), out, command=[], policy=PATIENT)


def replies_file(folder: Path, *rows: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def import_file(folder: Path, *rows: Any, benchmark: Any = None) -> list[Path]:
    benchmark = benchmark or EchoBenchmark()
    path = replies_file(folder, *rows)
    return import_replies(benchmark, data_of(benchmark).locate(None), path, folder / "runs")


def score_file(folder: Path, *rows: Any, benchmark: Any = None) -> list[ScoringOutcome]:
    return [score_run(run) for run in import_file(folder, *rows, benchmark=benchmark)]


def test_a_run_is_judged_again_under_another_profile(tmp_path: Path):
    play(tmp_path)
    scored = score_run(tmp_path, profile="strict")
    assert (scored.profile, scored.played, scored.counts.wrong) == ("strict", "official", 4)
    assert (tmp_path / "verdicts-official.parquet").exists()


def test_what_a_run_has_not_played_is_unplayed(tmp_path: Path):
    play(tmp_path)
    segment = tmp_path / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:3]))
    counts = score_run(tmp_path).counts
    assert (counts.units, counts.unplayed) == (4, 4)


def test_infra_errors_are_counted_as_such(tmp_path: Path):
    play(tmp_path, model=ScriptedModel(lambda request: CallError("http 500", "down")))
    result = load_result(tmp_path, again=True)
    assert (result.counts.infra_error, result.exit_status) == (4, 3)


def test_only_the_selected_items_of_a_run_are_judged(tmp_path: Path):
    play(tmp_path, ids=("i1",), repeats=2)
    assert [row[1] for row in outcomes(score_run(tmp_path))] == ["i1"] * 4


def test_other_data_than_those_of_the_run_are_refused(tmp_path: Path):
    play(tmp_path)
    about = (tmp_path / "run.json").read_text()
    sha = data_of(EchoBenchmark()).locate(None).sha256
    (tmp_path / "run.json").write_text(about.replace(f'"data_sha256": "{sha}"', '"data_sha256": "0000"'))
    with pytest.raises(RecordError, match="not the data of the run"):
        score_run(tmp_path)


def test_an_unknown_profile_is_named(tmp_path: Path):
    play(tmp_path)
    with pytest.raises(UsageError, match="unknown profile 'nice'"):
        score_run(tmp_path, profile="nice")


def test_a_replies_file_is_judged_for_each_of_its_models(tmp_path: Path):
    scored = score_file(
        tmp_path,
        {"session": "i0", "model": "a", "tasks": [[RIGHT, RIGHT], [RIGHT]]},
        {"item": "i0", "model": "b", "units": {"1": [RIGHT, RIGHT]}},
    )
    assert outcomes(*scored) == [
        ("a", "i0", "0", "correct"),
        ("a", "i0", "1", "wrong"),
        ("b", "i0", "0", "unplayed"),
        ("b", "i0", "1", "correct"),
    ]


def test_samples_of_an_item_are_told_apart(tmp_path: Path):
    rows = [{"item": "i0", "repeat": repeat, "tasks": [[RIGHT, RIGHT]]} for repeat in range(2)]
    (scored,) = score_file(tmp_path, *rows)
    assert relation([scored.verdicts]).project("repeat").fetchall() == [(0,), (0,), (1,), (1,)]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (5, ":1: expected a JSON object"),
        ({"tasks": []}, ":1: field `item`"),
        ({"item": "i0"}, ":1: expected a field `tasks`"),
        ({"item": "i9", "tasks": []}, ":1: there is no item 'i9' in official"),
        ({"item": "i0", "tasks": [[], [], []]}, ":1: 3 reply lists for the 2 units of 'i0'"),
        ({"item": "i0", "tasks": [5]}, r":1: field `tasks\[0\]`: expected a list"),
        (
            {"item": "i0", "tasks": [[], ["x"]]},
            r":1: field `tasks\[1\]`\[0\]: expected an assistant message",
        ),
        ({"item": "i0", "units": {"7": []}}, ":1: 'i0' has no unit '7'; its units are 0, 1"),
        ({"item": "i0", "model": 5, "tasks": []}, ":1: field `model`"),
        ({"item": "i0", "repeat": -1, "tasks": []}, ":1: field `repeat`"),
    ],
)
def test_a_wrong_row_of_a_replies_file_is_named(tmp_path: Path, row: Any, told: str):
    with pytest.raises(DataError, match=told):
        score_file(tmp_path, row)


def test_a_row_that_occurs_twice_is_named(tmp_path: Path):
    row = {"item": "i0", "tasks": []}
    with pytest.raises(DataError, match=":2: 'i0' of 'unnamed' occurs twice"):
        score_file(tmp_path, row, row)


def test_a_line_that_is_no_json_is_named(tmp_path: Path):
    path = tmp_path / "replies.jsonl"
    path.write_text('{"item": "i0", "tasks": []}\n{"item"\n')
    benchmark = EchoBenchmark()
    with pytest.raises(DataError, match=":2: not a JSON object"):
        import_replies(benchmark, data_of(benchmark).locate(None), path, tmp_path)


def test_a_missing_replies_file_is_named(tmp_path: Path):
    benchmark = EchoBenchmark()
    with pytest.raises(DataError, match="no such file"):
        import_replies(benchmark, data_of(benchmark).locate(None), tmp_path / "x", tmp_path)


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results:
    done, broken = Transcript((Reply(RIGHT), Reply(RIGHT))), Transcript((), infra_error="crashed")
    # The units of an item may lie in several files.
    rows = [ResultRow("a.json:1", "m", "i1", {"0": done}), ResultRow("b.json:1", "m", "i1", {"1": broken})]
    return Results(rows + rows[:1] if path.name == "twice" else rows, ["c.json is left out: no answers"])


class WithResults(EchoBenchmark):
    """Knows a result file of its original tool."""

    data = EchoData(name="echo", read_results=read_results)


def test_a_result_file_of_the_original_tool_is_judged(tmp_path: Path):
    scored = score_file(tmp_path, "whatever", benchmark=WithResults())
    assert outcomes(*scored) == [("m", "i1", "0", "correct"), ("m", "i1", "1", "infra_error")]


def test_what_a_result_file_leaves_out_is_reported_and_doubled_units_are_named(tmp_path: Path):
    notes: list[str] = []
    benchmark = WithResults()
    (tmp_path / "results").write_text("x")
    source = data_of(benchmark).locate(None)
    import_replies(benchmark, source, tmp_path / "results", tmp_path / "out", report=notes.append)
    assert notes == ["c.json is left out: no answers"]
    (tmp_path / "twice").write_text("x")
    with pytest.raises(DataError, match=r"a\.json:1: 'i1' of 'm' occurs twice"):
        import_replies(benchmark, source, tmp_path / "twice", tmp_path / "out")


def test_a_model_is_silent_past_the_end_of_its_replies(tmp_path: Path):
    scored = score_file(tmp_path, {"item": "i0", "model": "a", "tasks": [[RIGHT, RIGHT], []]})
    assert outcomes(*scored) == [("a", "i0", "0", "correct"), ("a", "i0", "1", "wrong")]


def test_importing_again_changes_nothing(tmp_path: Path):
    row = {"item": "i0", "tasks": [[RIGHT, RIGHT], []]}
    record = import_file(tmp_path, row)[0] / "record-0001.jsonl"
    before = record.read_bytes()
    import_file(tmp_path, row)
    assert record.read_bytes() == before


def test_each_model_of_a_file_becomes_a_run(tmp_path: Path):
    rows = [{"item": "i0", "model": model, "tasks": [[RIGHT, RIGHT], [RIGHT]]} for model in ("a", "b/c")]
    folders = import_file(tmp_path, *rows)
    assert [folder.name for folder in folders] == ["a", "b--c"]
    assert [outcomes(score_run(folder))[0][0] for folder in folders] == ["a", "b/c"]


def test_an_imported_run_cannot_be_played_on(tmp_path: Path):
    (folder,) = import_file(tmp_path, {"item": "i0", "tasks": [[RIGHT]]})
    with pytest.raises(RecordError, match="was imported, not played"):
        play(folder)


def test_a_reply_that_cannot_be_recorded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        # How deep a text may be nested depends on the caller's stack.
        raise ValueError("nested too deep")

    monkeypatch.setattr(LogWriter, "imported", refuse)
    with pytest.raises(DataError, match="item i0, unit 0, reply 0: cannot be recorded"):
        import_file(tmp_path, {"item": "i0", "tasks": [[RIGHT]]})
