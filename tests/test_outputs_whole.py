"""Files and folders that are written: whole, by one process, without keys, and with exact refusals."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from zipfile import ZipFile

import pytest

from wildtool import outputs, redact
from wildtool.errors import StorageError, UsageError, WildtoolError


@pytest.mark.parametrize(
    ("path", "remote"),
    [
        ("s3://bucket/run", True),
        ("file:///tmp/run", True),
        ("gs:", True),
        ("az:/x", True),
        ("runs/s3:", False),
        ("", False),
        ("/s3:/x", False),
    ],
)
def test_an_address_of_a_store_begins_with_its_scheme(path: str, remote: bool):
    assert outputs.is_remote(Path(path)) is remote
    assert outputs.is_shared(Path(path)) is remote


def test_a_folder_with_a_job_is_a_shared_run(tmp_path: Path):
    assert not outputs.is_shared(tmp_path)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "job.json").touch()
    assert outputs.is_shared(tmp_path)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def message_of(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


def test_what_is_refused_is_named_with_what_to_do(tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    path = tmp_path / "run"
    assert message_of(lambda: outputs.check_file(path)) == (
        f"{path}: is a folder, and only regular files are replaced; name another place with --out"
    )
    assert message_of(lambda: outputs.check_file(path / "notes")) == (
        f"{path}/notes: is there already, and wildtool did not make it; name another file with --out, or add --force to"
        " replace it"
    )
    assert message_of(lambda: outputs.check_absent(path / "notes")) == (
        f"{path}/notes is there already; name another file, or add --force to replace it"
    )
    assert message_of(lambda: outputs.check_absent(path, force=True)) == message_of(
        lambda: outputs.check_file(path)
    )
    assert message_of(lambda: outputs.check_folder(path / "notes", outputs.is_run)) == (
        f"{path}/notes: is a file, not a folder; name another place with --out"
    )
    assert message_of(lambda: outputs.check_folder(tmp_path / "pipe", outputs.is_run, force=True)) == (
        f"{tmp_path}/pipe: is a pipe, not a folder; name another place with --out"
    )
    assert message_of(lambda: outputs.check_folder(tmp_path / "broken", outputs.is_run)) == (
        f"{tmp_path}/broken: is a symbolic link that leads nowhere; name another place with --out"
    )
    assert message_of(lambda: outputs.make_subfolder(tmp_path / "broken")) == (
        f"{tmp_path}/broken: is a symbolic link, and nothing is written through it; name another place with --out"
    )
    assert message_of(lambda: outputs.check_not_input(path / "notes", [path / "notes"])) == (
        f"{path}/notes: is read and would be replaced; name another place with --out"
    )
    os.mkfifo(path / "run.json")
    assert message_of(lambda: outputs.check_run_files(path)) == (
        f"{path}/run.json: is a pipe, not a regular file; put the file itself in its place"
    )


@pytest.mark.parametrize(
    ("names", "listing"),
    [
        (["b", "a"], "a, b"),
        (["b", "c", "a"], "a, b, c"),
        (["d", "b", "c", "a"], "a, b, c, …"),
        (["x" * 41], "x" * 13 + "…" + "x" * 26),
    ],
)
def test_the_first_three_files_of_another_are_listed(tmp_path: Path, names: list[str], listing: str):
    for name in names:
        (tmp_path / name).touch()
    assert message_of(lambda: outputs.check_folder(tmp_path, outputs.is_site)) == (
        f"{tmp_path}: holds what wildtool did not make here ({listing}); name another folder with --out, or add --force"
        " to write into it"
    )


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


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (b"PAR1 sk-secret", b"PAR1 sk-secret"),
        (b"PK\x03\x04 sk-secret", b"PK\x03\x04 sk-secret"),
        (b"PK\x03 sk-secret\nx", b"PK\x03 [key]\nx"),
        (b"sk-secret", b"[key]"),
        (b"a\n\nsk-secret\n", b"a\n\n[key]\n"),
    ],
)
def test_packed_files_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, written: bytes
):
    monkeypatch.setattr(redact, "_bytes", (b"sk-secret",))
    with outputs.atomic_replace(tmp_path / "a") as new:
        new.write_bytes(content)
    assert (tmp_path / "a").read_bytes() == written
    assert names_in(tmp_path) == ["a"]


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


def test_the_folders_of_a_file_are_made_for_its_writer(tmp_path: Path):
    for name in ("a", "b"):
        with outputs.sole_writer(tmp_path / "new" / "deep" / name):
            assert names_in(tmp_path / "new" / "deep") == [f".{name}.lock"]


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


def test_folders_are_made_with_their_parents(tmp_path: Path):
    for _ in range(2):
        outputs.make_folder(tmp_path / "a" / "b")
        outputs.make_subfolder(tmp_path / "c" / "d")
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")} == {"a", "a/b", "c", "c/d"}


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


def test_a_regular_file_is_no_link_to_one(tmp_path: Path):
    (tmp_path / "a").touch()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    kinds = [outputs.is_regular(tmp_path / name) for name in ("a", "b", ".", "missing")]
    assert kinds == [True, False, False, False]
    assert outputs.is_wildtool_file(tmp_path / "missing") is False


COLUMNS = b"run model benchmark item unit outcome"


@pytest.mark.parametrize(
    ("content", "made"),
    [
        (b"PAR1" + COLUMNS, True),
        (b"PAR1" + b"\0" * 70_000 + COLUMNS, True),
        (b"PAR1" + COLUMNS + b"\0" * (65_536 - 37), True),
        (b"PAR1" + COLUMNS + b"\0" * (65_536 - 36), False),
        (b"PAR1" + COLUMNS.replace(b"unit", b""), False),
        (b"PAR" + COLUMNS, False),
    ],
)
def test_a_table_is_known_by_the_columns_at_its_end(tmp_path: Path, content: bytes, made: bool):
    (tmp_path / "a").write_bytes(content)
    assert outputs.is_wildtool_file(tmp_path / "a") is made


@pytest.mark.parametrize(("limit", "made"), [(29, False), (30, True)])
def test_a_member_that_is_too_large_identifies_no_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, made: bool
):
    monkeypatch.setattr(outputs, "_LARGEST", limit)
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("manifest.json", b'{"format": "wildtool bundle"} ')
    assert outputs.is_wildtool_file(tmp_path / "a.zip") is made


@pytest.mark.parametrize(
    ("names", "a_run"),
    [
        (["run.json", "x"], True),
        (["record-0001.jsonl", "x"], True),
        (["record-0001.jsonl.gz"], False),
        (["lock", "run.json.new"], True),
        (["lock", "x"], False),
        (["x"], False),
        ([], True),
    ],
)
def test_a_run_is_known_by_the_names_of_its_files(tmp_path: Path, names: list[str], a_run: bool):
    folder = tmp_path / "record"
    assert not outputs.is_generation(tmp_path)
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    assert outputs.is_run(folder) is a_run
    assert outputs.is_generation(tmp_path) is a_run


def test_sites_and_datasets_are_known_by_what_is_in_them(tmp_path: Path):
    mine = b"mine"
    page = b'<!doctype html>\n<html><head><meta name="generator" content="wildtool 1.0">\n'
    rows, card = b"run,model,benchmark,split\n", b"---\n---\n<!-- written by wildtool export -->\n"
    cases: list[tuple[dict[str, bytes], bool, bool]] = [
        ({"index.html": page, "x": mine}, True, False),
        ({"index.html": mine}, False, False),
        ({"README.md": card, "x": mine}, False, True),
        ({"README.md": mine, "a.csv": rows}, False, False),
        ({"a.csv": rows, "b.csv": rows}, False, True),
    ]
    for number, (files, site, dataset) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        assert (outputs.is_site(folder), outputs.is_dataset(folder)) == (site, dataset), files
