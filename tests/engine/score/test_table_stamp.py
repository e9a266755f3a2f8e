"""Verdicts are used only where their own content says that they are those of the run as it is now."""

import gzip
import json
import os
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, ScriptedModel, plan_of
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.engine.score.score import score_run
from wildtool.engine.score.table_stamp import (
    DamagedTableError,
    read_stamp,
    seal_table,
    stamp_text,
)
from wildtool.engine.score.verdict_table import OutcomeCounts, verdicts_path, write_parquet
from wildtool.errors import RecordError


def play(out: Path, answer: str = "right", **settings: Any) -> Path:
    run_plan(
        plan_of(model=ScriptedModel(lambda request: answer), **settings), out, command=[], policy=PATIENT
    )
    return verdicts_path(out, "official")


def edit(out: Path, **scope: Any) -> None:
    about = json.loads((out / "run.json").read_text())
    about["scope"] |= scope
    (out / "run.json").write_text(json.dumps(about))


def without_data(out: Path) -> None:
    about = json.loads((out / "run.json").read_text())
    about["data"] |= {"name": "missing", "path": "missing"}
    (out / "run.json").write_text(json.dumps(about))


def without_stamp(table: Path) -> None:
    """The table as an earlier version wrote it."""
    import duckdb

    rows = table.with_suffix(".json")
    duckdb.sql(f"COPY (SELECT * FROM '{table}') TO '{rows}'")
    types = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{table}')").fetchall())
    write_parquet(rows, table, types)
    rows.unlink()


def unchanged(table: Path, out: Path) -> tuple[bool, ScoreResult]:
    """Whether a table was used as it lies there, and the numbers."""
    before = table.stat().st_ino
    result = load_result(out)
    return table.stat().st_ino == before, result


def test_verdicts_of_the_run_as_it_is_are_used_whatever_the_clock_says(tmp_path: Path):
    table = play(tmp_path)
    os.utime(table, (1, 1))
    assert unchanged(table, tmp_path)[0]


def test_a_widened_scope_is_noticed(tmp_path: Path):
    play(tmp_path, limit=1)
    edit(tmp_path, limit=2)
    result = load_result(tmp_path)
    assert (result.counts.units, result.incomplete) == (4, True)


@pytest.mark.parametrize("lines", [1, 4])
def test_a_record_that_lost_lines_is_noticed_with_a_clock_set_back(tmp_path: Path, lines: int):
    play(tmp_path)
    segment = tmp_path / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:lines]))
    os.utime(segment, (1, 1))
    assert (load_result(tmp_path).counts.correct < 4, load_result(tmp_path).incomplete) == (True, True)


def test_a_deleted_record_is_noticed(tmp_path: Path):
    play(tmp_path)
    (tmp_path / "record-0001.jsonl").unlink()
    result = load_result(tmp_path)
    assert (result.counts, result.incomplete) == (OutcomeCounts(unplayed=4), True)


def test_verdicts_and_record_of_another_run_are_told_from_its_own(tmp_path: Path):
    right, wrong = play(tmp_path / "right"), play(tmp_path / "wrong", "wrong")
    right.replace(wrong)
    assert load_result(tmp_path / "wrong").counts == OutcomeCounts(wrong=4)


def test_a_record_compressed_after_it_was_judged_needs_no_judging_again(tmp_path: Path):
    table = play(tmp_path)
    segment = tmp_path / "record-0001.jsonl"
    (tmp_path / "record-0001.jsonl.gz").write_bytes(gzip.compress(segment.read_bytes()))
    segment.unlink()
    without_data(tmp_path)
    assert unchanged(table, tmp_path)[0]
    # And one judged when it was compressed needs none after it was expanded.
    (tmp_path / "run.json").write_text((tmp_path / "run.json").read_text().replace("missing", "official"))
    score_run(tmp_path)
    without_data(tmp_path)
    assert unchanged(table, tmp_path)[0]
    segment.write_bytes(gzip.decompress((tmp_path / "record-0001.jsonl.gz").read_bytes()))
    assert unchanged(table, tmp_path)[0]


def test_verdicts_of_an_earlier_version_are_made_again_once(tmp_path: Path):
    table = play(tmp_path)
    without_stamp(table)
    assert read_stamp(table) is None
    assert not unchanged(table, tmp_path)[0]
    assert unchanged(table, tmp_path)[0]


def test_verdicts_of_an_earlier_version_are_shown_with_a_remark_where_the_data_are_gone(tmp_path: Path):
    table = play(tmp_path)
    without_stamp(table)
    without_data(tmp_path)
    used, result = unchanged(table, tmp_path)
    assert (used, result.counts.correct) == (True, 4)
    assert "earlier version" in result.remarks[0]


def test_verdicts_that_do_not_fit_are_never_shown_where_the_data_are_gone(tmp_path: Path):
    play(tmp_path, limit=1)
    edit(tmp_path, limit=2)
    without_data(tmp_path)
    with pytest.raises(RecordError, match="the data of this run"):
        load_result(tmp_path)


def test_a_flipped_byte_in_a_table_is_named_and_changes_no_number(tmp_path: Path):
    table = play(tmp_path)
    whole, numbers = table.read_bytes(), load_result(tmp_path).metrics
    chance = random.Random(7)
    stamp = whole.rfind(b'{"wildtool verdicts"')

    def flip(place: int) -> None:
        flipped = bytearray(whole)
        flipped[place] ^= chance.randrange(1, 256)
        table.write_bytes(flipped)

    for place in chance.sample(range(len(whole)), 200):
        flip(place)
        # Without the mark of a stamp it seems one of an earlier version.
        if stamp <= place < stamp + 33:
            assert read_stamp(table) is None
        else:
            with pytest.raises(DamagedTableError):
                read_stamp(table)
    for place in (0, len(whole) // 2, len(whole) - 1, len(whole) - 6, stamp + 40):
        flip(place)
        result = load_result(tmp_path)
        assert (result.metrics, "damaged" in "".join(result.remarks)) == (numbers, True)
        assert read_stamp(table) is not None


def test_a_text_of_a_model_that_looks_like_a_stamp_is_none(tmp_path: Path):
    table = play(tmp_path, '{"wildtool verdicts":1,"sha256":"' + "0" * 64 + '","of":{}}')
    stamp = read_stamp(table)
    assert stamp is not None and stamp["profile"] == "official"


def test_a_table_cut_anywhere_is_damaged_or_none(tmp_path: Path):
    table = play(tmp_path)
    whole = table.read_bytes()
    for length in range(0, len(whole), 97):
        table.write_bytes(whole[:length])
        try:
            assert read_stamp(table) is None
        except DamagedTableError:
            continue


# The stamp itself ---------------------------------------------------------------------------------------------------


STAMP: Any = {
    "profile": "p",
    "columns": 2,
    "identity": {
        "benchmark": "b",
        "data_sha256": "d",
        "split": None,
        "lang": "en",
        "mode": None,
        "silent_after": None,
    },
    "scope": {"limit": 3, "ids": ["a"], "repeats": 2},
    "record": [{"number": 1, "length": 5, "end": "e", "packed": [7, 8]}],
    "planned": {"items": 9, "units": 18},
}


def table_file(place: Path, footer: str | bytes, *, length: int | None = None, end: bytes = b"PAR1") -> Path:
    """A file with the frame of a Parquet file."""
    held = footer.encode() if isinstance(footer, str) else footer
    size = len(held) if length is None else length
    place.write_bytes(b"PAR1rows" + held + size.to_bytes(4, "little") + end)
    return place


def stamp_of(document: str) -> str:
    return f'{{"wildtool verdicts":1,"sha256":"{"0" * 64}"{document}}}'


def test_a_table_is_sealed_by_the_digest_of_all_but_the_digest(tmp_path: Path):
    said_by_a_model = stamp_of(',"of":{}')
    table = table_file(tmp_path / "t", f"more{said_by_a_model}{stamp_text(STAMP)}footer")
    before = table.read_bytes()
    seal_table(table)
    digest = sha256(before).hexdigest().encode()
    head, _, rest = before.rpartition(b"0" * 64)
    assert table.read_bytes() == head + digest + rest
    assert read_stamp(table) == STAMP
    with pytest.raises(OSError, match=r"^the table has no stamp$"):
        seal_table(table_file(tmp_path / "t", "footer"))
