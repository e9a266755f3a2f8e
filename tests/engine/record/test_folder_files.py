"""`run.json`, the list of workers and the journal of batches: what is written, read and refused, to the word."""

import errno
import fcntl
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from wildtool import __version__
from wildtool.engine.batch.journal import BatchEntry, BatchJournal
from wildtool.engine.record import run_folder
from wildtool.engine.record.run_folder import RunFolder, is_locked, read_run, setting_diffs, strip_credentials
from wildtool.engine.record.worker_list import ListedWorker, is_amount, read_workers, workers_as_json
from wildtool.errors import RecordError, StorageError, WildtoolError
from wildtool.types import Source

IDENTITY: dict[str, Any] = {
    "benchmark": "b",
    "data_sha256": "0",
    "split": None,
    "lang": None,
    "mode": "m",
    "profile": "p",
    "models": {"agent": {"name": "a", "settings": {"t": 1}}},
}
SCOPE = {"limit": None, "ids": [], "repeats": 1}
SOURCE = Source("d", Path("d.jsonl"), "0")


def opened(path: Path, identity: Any = IDENTITY, **more: Any) -> RunFolder:
    given: dict[str, Any] = {"kind": "played", "scope": SCOPE, "source": SOURCE, "command": ["run"]} | more
    return RunFolder(path, identity=identity, **given)


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


def test_a_time_is_in_whole_seconds_and_of_greenwich() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", run_folder._now())  # pyright: ignore[reportPrivateUsage]


def test_every_field_of_a_run_and_its_invocations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_folder, "_now", iter("abcdefg").__next__)
    monkeypatch.setattr(run_folder, "_versions", lambda: {"wildtool": "1"})
    with opened(tmp_path / "x" / "r", command=["run", "--base-url", "http://u:p@h/v1?k=s"]) as folder:
        assert is_locked(folder.path)
        assert json.loads((folder.path / "run.json").read_text())["sittings"][0]["status"] == "running"
        assert "another wildtool is writing to this run folder (process" in refusal(
            lambda: opened(folder.path)
        )
        folder.finish("done")
    with opened(folder.path, scope={**SCOPE, "limit": 5}, benchmark_file=Path("f.py")) as folder:
        folder.finish("stopped", spent={"cost": 1})
    assert not is_locked(folder.path)
    assert read_run(folder.path) == {
        "format": 1,
        "kind": "played",
        "identity": IDENTITY,
        "sittings": [
            {
                "command": ["run", "--base-url", "http://h/v1?…"],
                "wildtool": __version__,
                "started": "b",
                "ended": "c",
                "status": "done",
            },
            {
                "command": ["run"],
                "wildtool": __version__,
                "started": "e",
                "ended": "f",
                "status": "stopped",
                "spent": {"cost": 1},
            },
        ],
        "scope": {**SCOPE, "limit": 5},
        "data": {
            "name": "d",
            "path": str(Path("d.jsonl").resolve()),
            "sha256": "0",
            "benchmark_file": "f.py",
        },
        "versions": {"wildtool": "1"},
    }
    assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "run.json"]


def test_what_differs_from_the_run_in_a_folder_is_named(tmp_path: Path):
    opened(tmp_path).close()
    changed = {
        **IDENTITY,
        "split": "s",
        "seed": 1,
        "models": {"agent": {"name": "a", "settings": {"t": "x" * 400}}},
    }
    long = '"' + "x" * 299 + "…"
    assert refusal(lambda: opened(tmp_path, changed)) == (
        f"{tmp_path}: the settings differ: models.agent.settings.t was 1 in this run and is now {long}, seed was not set"
        ' in this run and is now 1, split was null in this run and is now "s"; use another --out or the same settings'
    )
    assert refusal(lambda: opened(tmp_path, kind="imported")) == (
        f"{tmp_path}: holds a run that was played, not imported; use another --out"
    )
    assert not is_locked(tmp_path)
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "record-0001.jsonl").touch()
    assert refusal(lambda: opened(tmp_path / "r")) == (
        f"{tmp_path}/r: contains a record but no run.json, so it cannot be resumed; use another --out"
    )
    assert refusal(lambda: opened(tmp_path / "run.json" / "x")) == (
        f"{tmp_path}/run.json/x: cannot be used as a run folder (Not a directory)"
    )


def went_on(tmp_path: Path, before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a run goes on with other settings of its model."""
    folder = tmp_path / str(len([*tmp_path.iterdir()]))
    for settings in (before, now):
        try:
            opened(folder, {**IDENTITY, "models": {"agent": {"name": "a", "settings": settings}}}).close()
        except RecordError:
            return False
    return True


def test_addresses_are_compared_as_far_as_they_can_be(tmp_path: Path):
    url, slash = {"base_url": "http://h"}, {"base_url": "http://h/"}
    first, same_key, other_key = ({"address_digest": each} for each in ("k.1", "k.2", "l.1"))
    assert went_on(tmp_path, url, url)
    assert went_on(tmp_path, slash, url)
    assert not went_on(tmp_path, url, slash)
    assert not went_on(tmp_path, url | first, url | same_key)
    assert went_on(tmp_path, url | first, url | other_key)
    assert went_on(tmp_path, url, url | first)
    assert went_on(tmp_path, slash | first, url | same_key)
    assert went_on(tmp_path, url | first, url)
    assert not went_on(tmp_path, url | first, {"base_url": "http://i"})


def test_models_of_other_roles_come_and_go_and_an_old_run_has_no_mode(tmp_path: Path):
    user = {"name": "u", "settings": {}}
    opened(tmp_path, {**IDENTITY, "mode": None}).close()
    with_user = {**IDENTITY, "models": {**IDENTITY["models"], "user": user}}
    opened(tmp_path, with_user).close()
    run = read_run(tmp_path)
    assert (run["identity"]["mode"], run["identity"]["models"]) == ("m", {**IDENTITY["models"], "user": user})
    opened(tmp_path).close()
    assert len(read_run(tmp_path)["sittings"]) == 3


def test_a_run_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with opened(tmp_path) as folder:
        for number, reason, message in (
            (
                errno.ENOSPC,
                "full",
                "could not be written (full); the record is intact. Make room, then run the same command again to"
                " continue.",
            ),
            (
                errno.EACCES,
                "denied",
                "could not be written (denied); make the folder writable, or use another --out",
            ),
        ):

            def fail(handle: int, number: int = number, reason: str = reason) -> None:
                raise OSError(number, reason)

            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", fail)
                assert refusal(lambda: folder.finish("done")) == f"{tmp_path}/run.json: {message}"
            assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "run.json"]
    assert StorageError.exit_status == 3


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": 2}, ": format 2 was written by a newer wildtool; update wildtool"),
        ({"kind": 5}, ": damaged (kind has the wrong type); restore it from a copy"),
        (
            {"identity": {**IDENTITY, "split": 5}},
            ": damaged (identity.split has the wrong type); restore it from a copy",
        ),
        (
            {"identity": {**IDENTITY, "edition": 5}},
            ": damaged (identity.edition has the wrong type); restore it from a copy",
        ),
        (
            {"identity": {**IDENTITY, "prompts": 5}},
            ": damaged (identity.prompts has the wrong type); restore it from a",
        ),
        (
            {"data": {"name": "d", "path": "p", "benchmark_file": 5}},
            ": damaged (data.benchmark_file has the wrong type); restore it from a copy",
        ),
        (
            {"identity": {**IDENTITY, "models": {**IDENTITY["models"], "user": {"name": 5}}}},
            ": damaged (identity.models.user.name has the wrong type); restore it from a copy",
        ),
        ({"sittings": {}}, ": damaged (sittings has the wrong type); restore it from a copy"),
        ({"scope": {"limit": 1, "ids": []}}, ": damaged ('repeats'); restore it from a copy"),
    ],
)
def test_a_run_that_is_damaged_is_named(tmp_path: Path, change: dict[str, Any], problem: str):
    opened(tmp_path).close()
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert refusal(lambda: read_run(tmp_path)).startswith(f"{file}{problem}")


def test_a_folder_without_a_run_is_named(tmp_path: Path):
    assert refusal(lambda: read_run(tmp_path)) == (
        f"{tmp_path}: not a run folder, run.json cannot be read (No such file or directory)"
    )


def test_a_lock_is_seen_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert is_locked(tmp_path) is False
    (tmp_path / "lock").touch()
    assert is_locked(tmp_path) is False
    with (tmp_path / "lock").open() as shared:
        fcntl.flock(shared, fcntl.LOCK_SH)
        assert is_locked(tmp_path) is False

    def fail(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "none")

    monkeypatch.setattr(fcntl, "flock", fail)
    assert is_locked(tmp_path) is False


def test_addresses_are_written_without_logins_and_queries():
    value = {"a": ["http://u:p@h/v1?k=v x", 5], "http://u@h": "ws://h#f", "b": "a@b?c"}
    assert strip_credentials(value) == {"a": ["http://h/v1?… x", 5], "http://u@h": "ws://h?…", "b": "a@b?c"}


def test_settings_that_differ_are_named_by_their_place():
    old, new = {"b": {"c": 1, "d": [1]}, "a": (1,)}, {"b": {"c": 2, "e": None}, "a": [1]}
    assert [*setting_diffs(old, new)] == [
        ("b.c", "1", "2"),
        ("b.d", "[1]", "not set"),
        ("b.e", "not set", "null"),
    ]
    assert [*setting_diffs({"a": 1}, 2, "x")] == [("x", '{"a":1}', "2")]
    assert [*setting_diffs("y" * 298, "y" * 299)] == [("", '"' + "y" * 298 + '"', '"' + "y" * 299 + "…")]


# Workers and batches -----------------------------------------------------------------------------------------


def worker(**more: Any) -> ListedWorker:
    given: dict[str, Any] = {
        "name": "w",
        "last_sign": 1.5,
        "ended": False,
        "items": 2,
        "calls": 3,
        "shares": [0, 4],
    }
    return ListedWorker(**given | {"last_words": "", **more})


def test_the_list_of_workers_is_read_as_it_was_written(tmp_path: Path):
    workers = [worker(), worker(name="v", ended=True, last_words="done")]
    file = tmp_path / "workers.json"
    assert read_workers(tmp_path) == []
    file.write_bytes(workers_as_json(workers))
    assert read_workers(tmp_path) == workers
    assert json.loads(workers_as_json(workers)) == [asdict(each) for each in workers]
    for damage in (
        {"items": -1},
        {"calls": "x"},
        {"shares": [1e18]},
        {"last_sign": None},
        {"name": 5},
        {"last_words": 5},
    ):
        file.write_text(json.dumps([asdict(workers[0]), {**asdict(workers[1]), **damage}]))
        assert read_workers(tmp_path) == [], damage
    file.write_text("[{}]")
    assert read_workers(tmp_path) == []
    assert [is_amount(each) for each in (0, 1.5, 1e17, 1e18, -1, "1", None)] == [True] * 3 + [False] * 4


def test_the_journal_of_batches_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.time", lambda: 12.34567)
    journal = BatchJournal(tmp_path)
    assert not journal.path.exists()
    first = journal.begin("m1", "agent", "e", {"a": "1", "b": "2", "c": "3"})
    second = journal.begin("m2", "agent", "e", {"d": "4"})
    third = journal.begin("m3", "user", "f", {"e": "5"})
    journal.uploaded(first, "file-1")
    journal.created(first, "batch-1")
    first.anomalies["odd"] = 2
    journal.read(first, ["a", "x"])
    journal.read(second, ["d"])
    journal.end(second, "again")
    rows = [json.loads(line) for line in journal.path.read_text().splitlines()]
    begun = {"row": "begun", "role": "agent", "endpoint": "e", "time": 12.346}
    assert rows == [
        {"row": "header", "format": "wildtool batches", "version": 1, "key": journal.key},
        {**begun, "batch": "m1", "requests": {"a": "1", "b": "2", "c": "3"}},
        {**begun, "batch": "m2", "requests": {"d": "4"}},
        {**begun, "batch": "m3", "role": "user", "endpoint": "f", "requests": {"e": "5"}},
        {"row": "uploaded", "batch": "m1", "file": "file-1"},
        {"row": "created", "batch": "m1", "id": "batch-1"},
        {"row": "read", "batch": "m1", "requests": ["a", "x"], "odd": 2},
        {"row": "over", "batch": "m2", "why": "read"},
    ]
    again = BatchJournal(tmp_path)
    left = BatchEntry("m1", "agent", {"b": "2", "c": "3"}, 12.346, "batch-1", "file-1")
    assert (again.key, len(again.key), again.ids()) == (journal.key, 16, {"batch-1"})
    assert (again.open_batches("agent"), again.open_batches("user")) == ([left], [third])
    newest = again.begin("m4", "agent", "e", {"f": "6"})
    assert again.open_batches("agent") == [newest, left]
    assert sum('"header"' in line for line in again.path.read_text().splitlines()) == 1
    over = again.open_batches("agent")[1]
    again.end(over, "expired")
    assert (over.finished, over.requests, again.open_batches("agent")) == (True, {}, [newest])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"row":"header","version":2,"key":"k"}', "version 2"),
        ('{"row":"header","version":1,"key":5}', "5 is no text"),
        ('{"row":"created","batch":"no","id":"i"}', "'no'"),
        ('{"row":"begun","batch":"m","role":5,"requests":{},"time":1}', "5 is no text"),
        ('{"row":"begun","batch":"m","role":"r","requests":{"a":5},"time":1}', "5 is no text"),
        ('{"row":"created","batch":"m","id":5}', "5 is no text"),
        ('{"row":"uploaded","batch":"m","file":5}', "5 is no text"),
        ('{"row":"other","batch":"m"}', "row 'other'"),
    ],
)
def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path, row: str, problem: str):
    path = tmp_path / "batches.jsonl"
    good = '{"row":"begun","batch":"m","role":"r","requests":{"a":"b"},"time":1}\n'
    path.write_text(f"{good}{row}\n{good}")
    with pytest.raises(RecordError) as raised:
        BatchJournal(tmp_path)
    assert str(raised.value) == (
        f"{path}, line 2: damaged or written by a newer wildtool ({problem}); restore the file from a copy, or delete it:"
        " then what a pending batch asks is asked, and paid for, again"
    )
    path.write_text(f"{good}torn")
    assert [each.mark for each in BatchJournal(tmp_path).open_batches("r")] == ["m"]


def test_a_journal_that_cannot_be_read_or_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "batches.jsonl").mkdir()
    assert (
        refusal(lambda: BatchJournal(tmp_path))
        == f"{tmp_path}/batches.jsonl: cannot be read (Is a directory)"
    )
    (tmp_path / "batches.jsonl").rmdir()
    journal = BatchJournal(tmp_path)

    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", fail)
    assert refusal(lambda: journal.begin("m", "r", "e", {})) == (
        f"{tmp_path}/batches.jsonl: could not be written (broken); the record is intact. Make room, then run the same"
        " command again."
    )
