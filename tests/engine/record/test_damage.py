"""Damage to a record is named or left out with a remark; it never changes a number without a word."""

import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from wildtool import json_codec
from wildtool.data.data_set import data_of
from wildtool.engine.record.format import check_line, seal_line
from wildtool.engine.record.reader import LogReader
from wildtool.engine.replies import import_replies
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.engine.score.results import load_result
from wildtool.engine.score.verdict_table import relation, verdicts_path
from wildtool.errors import DataError, RecordError
from wildtool.types import Request, Source

FLIPS = int(os.environ.get("WILDTOOL_FLIPS", "150"))
"""How many bytes are flipped; more in a long run."""


def right(request: Request) -> str:
    return "right"


def play(out: Path, answer: Any = right, **settings: Any) -> tuple[RunResult, ScriptedModel]:
    model = ScriptedModel(answer)
    return run_plan(plan_of(model=model, **settings), out, command=[], policy=PATIENT), model


def lines_of(out: Path) -> list[bytes]:
    return (out / "record-0001.jsonl").read_bytes().splitlines(keepends=True)


def rewrite(out: Path, lines: list[bytes]) -> None:
    (out / "record-0001.jsonl").write_bytes(b"".join(lines))


def verdicts(out: Path) -> list[tuple[Any, ...]]:
    table = relation([verdicts_path(out, "official")])
    return table.project("item, repeat, unit, outcome, score, steps, detail").fetchall()


def synced_late(lines: list[bytes], synced: int = 0) -> list[bytes]:
    """The same rows as written by a process that had not synced more than so much."""
    rows = [json.loads(line) for line in lines[1:]]
    bare = [{k: v for k, v in row.items() if k not in ("synced", "crc32")} for row in rows]
    return [lines[0], *(seal_line(json_codec.dumps(row), synced) for row in bare)]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_flipped_byte_of_a_record_is_named_or_changes_nothing(tmp_path: Path, seed: int):
    play(tmp_path, repeats=2)
    segment, chance = tmp_path / "record-0001.jsonl", random.Random(seed)
    whole, before = segment.read_bytes(), verdicts(tmp_path)
    silent = 0
    for _ in range(FLIPS):
        place, bits = chance.randrange(len(whole)), chance.randrange(1, 256)
        flipped = bytearray(whole)
        flipped[place] ^= bits
        segment.write_bytes(flipped)
        try:
            result = load_result(tmp_path, again=True)
        except RecordError as error:
            assert "record-0001.jsonl, line " in str(error) or "newer wildtool" in str(error)
            continue
        # What is left out is missed, and never counts as something else.
        assert verdicts(tmp_path) == before or result.incomplete
        silent += not result.incomplete
    # The header alone has no checksum.
    assert silent <= FLIPS * 0.05


def test_a_line_with_a_flipped_byte_stops_a_run_before_its_first_call(tmp_path: Path):
    play(tmp_path)
    lines = lines_of(tmp_path)
    rewrite(tmp_path, [*lines[:-1], lines[-1].replace(b'"raw":"<right>"', b'"raw":"<wrong>"')])
    model = ScriptedModel(right)
    with pytest.raises(RecordError, match=r"line 9: damaged .*checksum.*; restore the file from a copy"):
        run_plan(plan_of(model=model, repeats=2), tmp_path, command=[], policy=PATIENT)
    assert not model.asked


HOLES: dict[str, Any] = {
    "a hole of zeros": lambda line: b"\0" * (len(line) - 1) + b"\n",
    "a hole behind the address": lambda line: line[:100] + b"\0" * (len(line) - 101) + b"\n",
    "a line without its end": lambda line: line[: len(line) // 2] + b"\n",
    "a line that grew into the next": lambda line: line[: len(line) // 2],
}


@pytest.mark.long
@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_in_what_was_not_synced_is_left_out_and_asked_again(tmp_path: Path, hole: str):
    play(tmp_path)
    before = verdicts(tmp_path)
    lines = synced_late(lines_of(tmp_path))
    lines[5] = HOLES[hole](lines[5])
    rewrite(tmp_path, lines)
    result = load_result(tmp_path)
    assert result.incomplete and "line 6: not written whole" in result.remarks[0]
    resumed, model = play(tmp_path)
    assert 1 <= len(model.asked) <= 2 and "line 6" in resumed.remarks[0]
    assert verdicts(tmp_path) == before
    again, model = play(tmp_path)
    assert (again.remarks, model.asked) == ((), [])
    assert (verdicts(tmp_path), load_result(tmp_path, again=True).incomplete) == (before, False)


def test_a_hole_in_what_was_synced_is_named(tmp_path: Path):
    play(tmp_path)
    lines = lines_of(tmp_path)
    size = len(b"".join(lines[:7]))
    late = synced_late(lines[:7], 0)
    rest = synced_late([lines[0], *lines[7:]], size)[1:]
    late[4] = HOLES["a hole of zeros"](late[4])
    rewrite(tmp_path, [*late, *rest])
    with pytest.raises(RecordError, match=r"record-0001\.jsonl, line 5"):
        load_result(tmp_path, again=True)
    with pytest.raises(RecordError, match=r"record-0001\.jsonl, line 5"):
        play(tmp_path)


def test_what_followed_a_lost_reply_is_asked_again_where_it_would_be_another_question(tmp_path: Path):
    play(tmp_path)
    lines = synced_late(lines_of(tmp_path))
    first = next(i for i, line in enumerate(lines[1:], 1) if json.loads(line)["step"] == 0)
    lost = json.loads(lines[first])
    lines[first] = HOLES["a hole of zeros"](lines[first])
    rewrite(tmp_path, lines)
    _, model = play(tmp_path, lambda request: "other")
    assert len(model.asked) == 2
    with LogReader(tmp_path) as reader:
        steps: Any = reader.log(lost["item"], 0)[lost["unit"]]
        assert [steps[number].reply.message["content"] for number in (0, 1)] == ["other", "other"]
        asked = reader.requests(lost["item"], 0)[lost["unit"], 1]
    assert asked.messages[1]["content"] == "other"
    assert load_result(tmp_path, again=True).counts.wrong == 1
    assert not play(tmp_path)[1].asked


def test_a_record_of_before_with_a_hole_goes_on(tmp_path: Path):
    play(tmp_path)
    rows = [json.loads(line) for line in lines_of(tmp_path)]
    plain = [{k: v for k, v in row.items() if k not in ("synced", "crc32")} for row in rows]
    lines = [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in plain]
    lines[3] = b"\0" * len(lines[3])
    rewrite(tmp_path, lines)
    resumed, model = play(tmp_path)
    assert (1 <= len(model.asked) <= 2, len(resumed.remarks), resumed.counts.correct) == (True, 1, 4)


def test_a_line_says_its_checksum_and_what_was_synced():
    line = seal_line(b'{"row":"step","sends":[]}', 17)
    assert json.loads(line)["synced"] == 17 == check_line(line)
    assert check_line(b'{"row":"step","sends":[]}\n') == 0


def test_imported_replies_have_checksums_too(tmp_path: Path):
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"item": "i1", "tasks": [[{"content": "right"}]]}))
    benchmark = EchoBenchmark()
    (out,) = import_replies(benchmark, data_of(benchmark).locate(None), file, tmp_path / "runs")
    _, *lines = lines_of(out)
    assert lines
    assert all(b'"crc32":"' in line for line in lines)


def test_data_edited_while_a_run_goes_on_are_noticed_and_nothing_is_judged(tmp_path: Path):
    benchmark = EchoBenchmark()
    plan = plan_of(benchmark, ScriptedModel(right))
    edited = replace(plan.source, sha256="0" * 64)
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(DataError, match="changed during the run"),
    ):
        patch.setattr(type(benchmark.data), "locate", lambda own, data, split=None: edited)
        run_plan(plan, tmp_path, command=[], policy=PATIENT)
    assert not verdicts_path(tmp_path, "official").exists()
    assert len(lines_of(tmp_path)) == 9


def test_data_deleted_while_a_run_goes_on_are_remarked_on_and_what_was_read_is_judged(tmp_path: Path):
    benchmark = EchoBenchmark()
    plan = plan_of(benchmark, ScriptedModel(right))

    def gone(own: object, data: str | None, split: str | None = None) -> Source:
        raise DataError(f"no data file {data!r}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(benchmark.data), "locate", gone)
        result = run_plan(plan, tmp_path, command=[], policy=PATIENT)
    (remark,) = result.remarks
    assert remark.startswith("echo.jsonl: not found at the end of the run")
    assert result.counts.correct == 4


def test_data_that_are_not_found_by_their_name_are_compared_where_they_lay(tmp_path: Path):
    benchmark = EchoBenchmark()
    plan = plan_of(benchmark, ScriptedModel(right))

    def moved(own: object, data: str | None, split: str | None = None) -> Source:
        if data != str(plan.source.path):
            raise DataError(f"no data file {data!r}")
        return replace(plan.source, sha256="0" * 64)

    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(DataError, match="changed during the run"),
    ):
        patch.setattr(type(benchmark.data), "locate", moved)
        run_plan(plan, tmp_path, command=[], policy=PATIENT)


def test_a_run_folder_deleted_while_a_run_goes_on_stops_it(tmp_path: Path):
    def answer(request: Request) -> str:
        (tmp_path / "record-0001.jsonl").unlink(missing_ok=True)
        return "right"

    with pytest.raises(RecordError, match="its record was deleted during the run"):
        play(tmp_path, answer)
