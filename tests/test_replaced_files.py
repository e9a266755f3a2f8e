"""Files and folders that are written: whole, by one process, without keys, and with exact refusals."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from wildtool import outputs, redact
from wildtool.errors import StorageError, UsageError, WildtoolError


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def message_of(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


def test_a_file_is_replaced_whole_and_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redact, "_texts", ("sk-secret",))
    monkeypatch.setattr(redact, "_bytes", (b"sk-secret",))
    synced: list[tuple[bytes, bool]] = []
    target = tmp_path / "new" / "deep" / "a.txt"

    def fsync(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append((target.read_bytes() if target.exists() else b"", is_folder))

    monkeypatch.setattr(os, "fsync", fsync)
    for content in (b"line\nkey sk-secret\nend sk-secret", b"second"):
        with outputs.atomic_replace(target) as new:
            assert new.parent.parent == target.parent and not new.exists()
            new.write_bytes(content)
        assert names_in(target.parent) == ["a.txt"]
    assert target.read_bytes() == b"second"
    written = b"line\nkey [key]\nend [key]"
    assert synced == [(b"", False), (written, True), (written, False), (b"second", True)]


def test_what_fails_leaves_the_file_that_was_there(tmp_path: Path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"before")
    with pytest.raises(ValueError, match="stop"), outputs.atomic_replace(target) as new:
        new.write_bytes(b"after")
        raise ValueError("stop")
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(StorageError) as raised, outputs.atomic_replace(target) as new:
        new.write_bytes(b"after")
        raise full
    assert str(raised.value) == (
        f"{target}: could not be written (No space left on device); everything else is intact. Make room, then run the"
        " same command again."
    )
    assert raised.value.__cause__ is full
    assert (names_in(tmp_path), target.read_bytes()) == (["a.txt"], b"before")


def test_the_name_of_a_file_that_is_being_written_is_no_longer_than_names_may_be(tmp_path: Path):
    target = tmp_path / ("x" * 100 + "y" * 155)
    with outputs.sole_writer(target), outputs.atomic_replace(target) as new:
        new.write_bytes(b"")
        assert names_in(tmp_path) == sorted([new.parent.name, f".{'y' * 100}.lock"])
    assert names_in(tmp_path) == [target.name]


def test_a_file_has_one_writer_at_a_time(tmp_path: Path):
    target = tmp_path / "new" / "a+b.txt"
    others = [".1.a+b.txt.more", "x.12.a+b.txt", ".x.a+b.txt", ".1.aab.txt", "a+b.txt"]
    target.parent.mkdir()
    for name in (".12.a+b.txt", ".3.a+b.txt", *others):
        (target.parent / name).touch()
    for _ in range(2):
        with outputs.sole_writer(target):
            assert names_in(target.parent) == sorted([*others, ".a+b.txt.lock"])
            with pytest.raises(UsageError) as raised, outputs.sole_writer(target):
                pass
            assert str(raised.value) == (
                f"{target}: another wildtool is writing it; wait for it, or use another --out"
            )
            assert (target.parent / ".a+b.txt.lock").exists()
        assert names_in(target.parent) == sorted(others)


@pytest.mark.parametrize("anew", [True, False])
def test_a_lock_that_its_last_holder_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool
):
    lock = tmp_path / ".a.txt.lock"

    def flock(handle: int, how: int) -> None:
        assert how == fcntl.LOCK_EX | fcntl.LOCK_NB
        lock.rename(tmp_path / "before")
        if anew:
            lock.touch()

    monkeypatch.setattr(fcntl, "flock", flock)
    with (
        pytest.raises(UsageError, match="another wildtool is writing it"),
        outputs.sole_writer(tmp_path / "a.txt"),
    ):
        pass
    assert lock.exists() is anew


def test_where_no_lock_can_be_there_is_the_reason(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / ".a.lock").symlink_to(tmp_path / "file")
    for target, reason in (("file/x", "File exists"), ("a", "Too many levels of symbolic links")):
        with pytest.raises(UsageError) as raised, outputs.sole_writer(tmp_path / target):
            pass
        assert str(raised.value) == (
            f"{tmp_path}/{target}: could not be written ({reason}); name another place with --out"
        )


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF, errno.EIO])
def test_folders_need_no_flush_where_the_file_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    handles: list[int] = []

    def fsync(handle: int) -> None:
        handles.append(handle)
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError) if number == errno.EIO else nullcontext():
        outputs.sync_folder(tmp_path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handles[0])


def test_a_file_of_a_checked_folder_is_written_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redact, "_bytes", (b"sk-secret",))
    (tmp_path / "a").write_bytes(b"longer than what is written")
    outputs.write_file(tmp_path / "a", b"the sk-secret")
    assert (tmp_path / "a").read_bytes() == b"the [key]"


@pytest.mark.parametrize(
    ("error", "is_full", "reason"),
    [
        (OSError(errno.EDQUOT, "Quota"), True, "Quota"),
        (OSError(errno.EIO, "I/O"), True, "I/O"),
        (OSError(errno.EFBIG, "Big"), True, "Big"),
        (OSError("No space left on device"), True, "No space left on device"),
        (OSError(None, "No space left here"), True, "No space left here"),
        (OSError("other"), False, "other"),
    ],
)
def test_a_disk_that_takes_no_more_is_full(error: OSError, is_full: bool, reason: str):
    assert outputs.is_disk_full(error) is is_full
    written = outputs.write_error(Path("a"), error)
    assert isinstance(written, StorageError) is is_full
    assert str(written).startswith(f"a: could not be written ({reason}); ")


def test_only_files_of_a_run_are_checked(tmp_path: Path):
    outputs.check_run_files(tmp_path / "missing")
    (tmp_path / "run.json").touch()
    (tmp_path / "other").symlink_to(tmp_path)
    outputs.check_run_files(tmp_path)
    (tmp_path / "lock").mkdir()
    assert message_of(lambda: outputs.check_run_files(tmp_path)) == (
        f"{tmp_path}/lock: is a folder, not a regular file; put the file itself in its place"
    )
