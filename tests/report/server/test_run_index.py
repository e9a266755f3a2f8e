"""The list of runs: what it says of their state, how far they are, and what it never does to them."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from report.report_build import ATTACK, FORGED, Scripted, play
from wildtool.engine.record.format import find_segments
from wildtool.engine.record.run_folder import RunFolder
from wildtool.engine.record.worker_list import WORKERS_FILE
from wildtool.report.server.run_index import MAX_RECOMPUTE_DELAY_S, SILENCE_S, RunIndex
from wildtool.types import Source


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    play(tmp_path / "runs" / "lexical", "baseline/lexical", limit=2)
    return tmp_path / "runs"


def rows(listing: RunIndex) -> list[dict[str, Any]]:
    listing.scan()
    while listing.measure():
        pass
    return listing.listing["runs"]


def change(folder: Path, **parts: dict[str, Any]) -> None:
    """Changes parts of what `run.json` says; `sitting` is the last one."""
    about = json.loads((folder / "run.json").read_text("utf-8"))
    about["sittings"][-1] |= parts.pop("sitting", {})
    for name, its in parts.items():
        about[name] |= its
    (folder / "run.json").write_text(json.dumps(about), "utf-8")


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """While a process writes to the run."""
    about = json.loads((folder / "run.json").read_text("utf-8"))
    its = about["data"]
    source = Source(its["name"], Path(its["path"]), its["sha256"])
    with RunFolder(
        folder,
        kind="played",
        identity=about["identity"],
        scope=about["scope"],
        source=source,
        command=["wildtool"],
    ):
        yield


@pytest.mark.long
@pytest.mark.parametrize("emptied", [True, False])
def test_a_run_without_its_record_is_not_done(runs: Path, emptied: bool):
    index = RunIndex(runs)
    assert rows(index)[0]["state"] == "done"
    for segment in find_segments(runs / "lexical"):
        segment.path.unlink()
        if emptied:
            segment.path.touch()
    for listing in (index, RunIndex(runs)):
        (row,) = rows(listing)
        assert row["state"] == "record missing"


def test_a_run_that_ended_is_done_and_has_all_its_units(runs: Path):
    (row,) = rows(RunIndex(runs))
    assert (row["state"], row["done"], row["planned"]) == ("done", 8, 8)
    assert (row["model"], row["benchmark"], row["folder"]) == ("baseline/lexical", "wild-mini", "lexical")


def test_a_run_that_a_limit_ended_is_not_called_interrupted(runs: Path):
    change(runs / "lexical", sitting={"status": "limit reached"})
    assert rows(RunIndex(runs))[0]["state"] == "stopped at a limit"


def test_a_run_is_going_on_while_a_process_holds_it_and_interrupted_where_none_does(runs: Path):
    listing = RunIndex(runs)
    with written(runs / "lexical"):
        assert rows(listing)[0]["state"] == "running"
        assert listing.listing["again"]
    assert rows(listing)[0]["state"] == "interrupted"
    assert not listing.listing["again"]


def test_a_run_of_workers_is_going_on_while_one_is_seen_and_says_who_holds_what(runs: Path):
    listing = RunIndex(runs)
    row = {"last_sign": time.time(), "items": 1, "calls": 9, "last_words": ""}
    elsewhere = {**row, "name": "host.1", "ended": False, "shares": [4, 7]}
    failed = {**row, "name": "host.2", "ended": True, "shares": [], "last_words": f"{ATTACK} 401"}
    file = runs / "lexical" / WORKERS_FILE
    file.write_text(json.dumps([elsewhere, failed]))
    (shown,) = rows(listing)
    assert (shown["state"], shown["going"]) == ("running", True)
    working, ended = shown["workers"].split("\n")
    assert re.fullmatch(r"host\.1: shards 4, 7; 1 item, 9 calls; seen \d+ s ago", working)
    assert ended == f"host.2 ended: {ATTACK} 401"
    file.write_text(json.dumps([{**elsewhere, "last_sign": time.time() - SILENCE_S - 1}, failed]))
    (shown,) = rows(listing)
    assert (shown["state"], shown["workers"]) == ("done", ended)


def test_looking_at_a_run_that_is_written_does_not_keep_its_writer_out(runs: Path):
    change(runs / "lexical", sitting={"ended": None, "status": "running"})
    listing = RunIndex(runs)
    rows(listing)
    with written(runs / "lexical"):
        assert rows(listing)[0]["state"] == "running"


@pytest.mark.long
def test_a_folder_whose_state_has_not_changed_is_not_locked_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
):
    change(runs / "lexical", sitting={"ended": None, "status": "running"})
    asked: list[Path] = []
    monkeypatch.setattr("wildtool.report.server.run_index.is_locked", lambda path: bool(asked.append(path)))
    listing = RunIndex(runs)
    rows(listing)
    rows(listing)
    assert len(asked) == 1


@pytest.mark.long
def test_the_score_so_far_counts_items_that_are_played_to_their_end_only(runs: Path):
    (whole,) = rows(RunIndex(runs))
    change(runs / "lexical", scope={"limit": 5}, sitting={"ended": None, "status": "running"})
    (runs / "lexical" / "verdicts-official.parquet").unlink()
    (row,) = rows(RunIndex(runs))
    assert (row["done"], row["planned"]) == (8, 20)
    assert (row["score"], row["interval"], row["counts"]) == (
        whole["score"],
        whole["interval"],
        whole["counts"],
    )


def test_a_run_without_an_item_at_its_end_has_no_score_yet(runs: Path):
    record = runs / "lexical" / "record-0001.jsonl"
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:2]))
    assert rows(RunIndex(runs))[0]["score"] == "–"


@pytest.mark.long
def test_a_run_that_cannot_be_read_is_named_and_the_others_are_shown(runs: Path):
    play(runs / "other", "baseline/gold", limit=1)
    (runs / "lexical" / "run.json").write_text("{")
    broken, other = rows(RunIndex(runs))
    assert broken["state"] == "cannot be read"
    assert "damaged" in broken["problem"]
    assert other["score"] == "100.0 %"


def test_a_run_whose_data_are_gone_is_shown_with_the_reason(runs: Path):
    data = {"name": "/nowhere/sessions.jsonl", "path": "/nowhere/sessions.jsonl"}
    change(runs / "lexical", data=data)
    (runs / "lexical" / "verdicts-official.parquet").unlink()
    (row,) = rows(RunIndex(runs))
    assert row["state"] == "done"
    assert "not where they were" in row["problem"]


def test_listing_changes_no_file_of_a_run(runs: Path):
    (runs / "lexical" / "verdicts-official.parquet").unlink()
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    assert rows(RunIndex(runs))[0]["done"] == 8
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


def test_names_come_as_texts_that_change_nothing_around_them(tmp_path: Path):
    play(tmp_path / "runs" / "a\u202eb", Scripted(f"{ATTACK} {FORGED}"), limit=1)
    (row,) = rows(RunIndex(tmp_path / "runs"))
    assert row["folder"] == "a\\u202eb"
    assert row["model"].startswith(ATTACK)
    assert "\u202e" not in json.dumps(row, ensure_ascii=False)


@pytest.mark.parametrize(("cost", "wait"), [(0.5, 5.0), (60.0, MAX_RECOMPUTE_DELAY_S)])
def test_numbers_of_a_run_that_goes_on_are_made_so_seldom_that_they_cost_little(
    runs: Path, monkeypatch: pytest.MonkeyPatch, cost: float, wait: float
):
    now = [100.0]

    def numbers(folder: Path) -> dict[str, Any]:
        now[0] += cost
        return {}

    monkeypatch.setattr("wildtool.report.server.run_index._numbers", numbers)
    listing = RunIndex(runs, lambda: now[0])

    def measured_after(seconds: float) -> bool:
        now[0] += seconds
        os.utime(runs / "lexical" / "record-0001.jsonl", (now[0], now[0]))
        listing.scan()
        return listing.measure()

    with written(runs / "lexical"):
        assert measured_after(0)
        assert not measured_after(wait - 1)
        assert listing.listing["again"]
        assert measured_after(1)


@pytest.mark.long
def test_a_run_that_comes_or_goes_does_so_in_the_list(runs: Path):
    listing = RunIndex(runs)
    (first,) = rows(listing)
    play(runs / "gold", "baseline/gold", limit=1)
    assert [row["folder"] for row in rows(listing)] == ["gold", "lexical"]
    assert rows(listing)[1]["id"] == first["id"]
    (runs / "gold" / "run.json").unlink()
    assert [row["folder"] for row in rows(listing)] == ["lexical"]


def test_a_folder_without_a_run_gives_an_empty_list(tmp_path: Path):
    assert rows(RunIndex(tmp_path)) == []


def test_the_folder_of_one_run_is_a_list_of_one_by_its_name(runs: Path):
    assert [row["folder"] for row in rows(RunIndex(runs / "lexical"))] == ["lexical"]


@pytest.mark.long
def test_runs_are_found_in_the_order_of_the_list_and_only_those_in_it(runs: Path):
    play(runs / "gold", "baseline/gold", limit=1)
    listing = RunIndex(runs)
    gold, lexical = rows(listing)
    assert listing.find([lexical["id"], gold["id"]]) == [runs / "gold", runs / "lexical"]
    assert listing.find([gold["id"], "../lexical"]) is None
    assert listing.find([]) is None
