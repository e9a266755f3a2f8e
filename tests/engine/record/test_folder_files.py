"""`run.json`, the list of workers and the journal of batches: what is written, read and refused, to the word."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.record.run_folder import RunFolder, is_locked, read_run
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


# Workers and batches -----------------------------------------------------------------------------------------


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


def test_a_run_without_any_answer_goes_on_with_other_settings_and_one_with_an_answer_does_not(tmp_path: Path):
    opened(tmp_path).close()
    changed = {**IDENTITY, "seed": 1}
    record = tmp_path / "record-0001.jsonl"
    header = '{"row":"header","format":"wildtool record","version":1}\n'
    record.write_text(header)
    opened(tmp_path, changed).close()
    assert read_run(tmp_path)["identity"]["seed"] == 1
    record.write_text(header + '{"row":"step","item":"a"')  # torn, but an answer came
    assert "the settings differ" in refusal(lambda: opened(tmp_path))
    # What lies beside the record, such as the state of a batch, belongs to the settings as well.
    record.write_text(header)
    (tmp_path / "batches.jsonl").write_text("{}")
    assert "the settings differ" in refusal(lambda: opened(tmp_path))
