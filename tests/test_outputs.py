"""Where results may be written: what wildtool did not make stays, and only regular files are opened and replaced."""

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool import outputs
from wildtool.errors import RecordError, StorageError, UsageError

FOREIGN = [
    b"my notes\n",
    b"a,b\n1,2\n",
    b"run,time\n1,2\n",
    b'{"run": 1}\n',
    b'{"messages": []}\n',
    b"<!doctype html>\n<title>My page about wildtool</title>\n",
    b"# wildtool report\n",
    b"\\documentclass{article}\n% written by wildtool report\n",
    b"PAR1nothingPAR1",
    b"PK\x03\x04",
    b"\x00\xff" * 100,
    b"---\ntitle: mine\n---\n# Page\n",
    b'<svg xmlns="http://www.w3.org/2000/svg"><title>mine</title></svg>',
]
MADE = [
    b"run,model,benchmark,split\n",
    b"series,size,accuracy,low\n",
    b'{"run":"r","model":"m","benchmark":"b","outcome":"correct","messages":[]}\n',
    b'<!doctype html>\n<html><head><meta name="generator" content="wildtool 1.0">\n',
    b"<!doctype html>\n<html><head><title>Overview \xc2\xb7 wildtool report</title>\n",
    outputs.MARKDOWN.encode(),
    outputs.LATEX.encode(),
    b"---\nlicense: x\n---\n<!-- written by wildtool export -->\n",
]


def special(place: Path) -> Iterator[Path]:
    """Everything but a regular file and a folder that a path can lead to."""
    os.mkfifo(place / "pipe")
    yield place / "pipe"
    yield Path("/dev/null")
    (place / "target").write_bytes(b"mine")
    (place / "link").symlink_to(place / "target")
    yield place / "link"
    (place / "broken").symlink_to(place / "nowhere")
    yield place / "broken"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place / "socket"))
    yield place / "socket"


@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_that_wildtool_did_not_make_is_replaced_only_by_force(tmp_path: Path, content: bytes):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.csv: is there already.*--force"):
        outputs.check_file(path)
    outputs.check_file(path, force=True)


@pytest.mark.parametrize("content", [*MADE, b""])
def test_a_file_that_wildtool_made_is_replaced_whatever_its_name(tmp_path: Path, content: bytes):
    path = tmp_path / "anything"
    path.write_bytes(content)
    outputs.check_file(path)
    outputs.check_file(tmp_path / "new" / "file")
    assert [each.name for each in tmp_path.rglob("*")] == ["anything"]
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("manifest.json", '{"format": "wildtool bundle"}', True),
        ("header.json", '{"eval": {"packages": {"wildtool": "1"}}}', True),
        ("manifest.json", '{"format": "other"}', False),
        ("header.json", '{"eval": {"packages": {"inspect_ai": "1"}}}', False),
        ("manifest.json", "[" * 100_000, False),
        ("other.json", '{"format": "wildtool bundle"}', False),
    ],
)
def test_an_archive_is_known_by_the_member_that_tells_who_wrote_it(
    tmp_path: Path, name: str, text: str, made: bool
):
    with ZipFile(tmp_path / "x.bundle.zip", "w") as archive:
        archive.writestr(name, text)
    assert outputs.is_wildtool_file(tmp_path / "x.bundle.zip") is made


@given(st.sampled_from([b"", b"PK", b"PAR1", b"<!doctype html>", b"run,model,", b"---\n"]), st.binary())
def test_no_content_of_a_file_makes_the_check_fail(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, rest: bytes
):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(head + rest)
    assert outputs.is_wildtool_file(path) in (True, False)


def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path):
    for path in special(tmp_path):
        for check in (outputs.check_regular, lambda p: outputs.check_file(p, force=True)):
            with pytest.raises(UsageError, match=r"only regular files are replaced"):
                check(path)
        with pytest.raises(UsageError), outputs.atomic_replace(path) as new:
            new.write_bytes(b"ours")
        with pytest.raises(UsageError):
            outputs.write_file(path, b"ours")
        assert not outputs.is_wildtool_file(path)
    assert (tmp_path / "target").read_bytes() == b"mine"


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="is a folder"):
        outputs.check_file(tmp_path, force=True)


def test_a_folder_with_something_else_in_it_is_written_to_only_by_force(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"did not make here \(notes\.txt\).*--force"):
        outputs.check_folder(tmp_path, outputs.is_site)
    outputs.check_folder(tmp_path, outputs.is_site, force=True)


def test_an_empty_and_a_missing_folder_may_be_written_to(tmp_path: Path):
    outputs.check_folder(tmp_path, outputs.is_site)
    outputs.check_folder(tmp_path / "new", outputs.is_site)
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_folder_is_that_folder_and_a_broken_one_is_refused(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    outputs.check_folder(tmp_path / "runs", outputs.is_run)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="leads nowhere"):
        outputs.check_folder(tmp_path / "broken", outputs.is_run, force=True)


def test_a_folder_below_a_file_is_refused_with_the_reason(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for action in (
        lambda: outputs.check_folder(tmp_path / "file" / "x", outputs.is_run),
        lambda: outputs.check_file(tmp_path / "file" / "x"),
        lambda: outputs.make_folder(tmp_path / "file" / "x"),
        lambda: outputs.write_file(tmp_path / "file" / "x", b""),
    ):
        with pytest.raises(UsageError, match="Not a directory"):
            action()


def test_a_part_of_a_folder_is_not_written_through_a_link(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "assets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        outputs.make_subfolder(tmp_path / "assets")


@pytest.mark.parametrize("name", ["run.json", "lock", "record-0001.jsonl", "verdicts-official.parquet"])
def test_a_run_folder_with_something_else_in_place_of_a_file_is_refused(tmp_path: Path, name: str):
    for path in special(tmp_path):
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / name).symlink_to(path)
        with pytest.raises(RecordError, match="is a symbolic link, not a regular file"):
            outputs.check_run_files(folder)
        (folder / name).unlink()
        folder.rmdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(RecordError, match="is a pipe"):
        outputs.check_run_files(tmp_path)


@pytest.mark.parametrize("names", [[], ["lock"], ["lock", "run.json.new"], ["run.json", "notes.txt"]])
def test_a_run_is_gone_on_with_also_where_it_was_killed_at_once(tmp_path: Path, names: list[str]):
    for name in names:
        (tmp_path / name).write_text("")
    outputs.check_folder(tmp_path, outputs.is_run)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_a_system_error_is_status_3_where_room_is_missing_and_else_2(tmp_path: Path):
    assert isinstance(outputs.write_error(tmp_path, OSError(errno.ENOSPC, "full")), StorageError)
    for number in (errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EPERM):
        found = outputs.write_error(tmp_path, OSError(number, os.strerror(number)))
        assert isinstance(found, UsageError)
        assert os.strerror(number) in str(found)


def test_a_file_that_is_there_is_replaced_only_by_force_unless_it_is_empty(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    outputs.check_absent(path)
    path.touch()
    outputs.check_absent(path)
    path.write_bytes(b"{}\n")
    with pytest.raises(UsageError, match=r"x\.jsonl is there already.*--force"):
        outputs.check_absent(path)
    outputs.check_absent(path, force=True)


def test_what_is_read_is_never_written(tmp_path: Path):
    source, run = tmp_path / "a.jsonl", tmp_path / "run"
    source.write_bytes(b"{}\n")
    run.mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    for target in (source, tmp_path / "link" / "a.jsonl", run / "record-0001.jsonl", run / "run.json"):
        with pytest.raises(UsageError, match="is read and would be replaced"):
            outputs.check_not_input(target, [tmp_path / "missing", source, run])
    for target in (tmp_path / "b.jsonl", run / "train.jsonl", tmp_path / "run.json"):
        outputs.check_not_input(target, [source, run])
