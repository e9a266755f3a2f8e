"""A file without room for a mark may be written again by the command that wrote it, as long as nobody has changed it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wildtool.errors import UsageError
from wildtool.outputs import atomic_replace, check_absent, check_file
from wildtool.written import COMMAND


@pytest.fixture(autouse=True)
def _with_a_cache_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = COMMAND.set("")
    yield
    COMMAND.reset(before)


def write(path: Path, command: str, check: Callable[[Path], None] = check_absent) -> None:
    """Writes a file as a command does."""
    COMMAND.set(command)
    check(path)
    with atomic_replace(path) as new:
        new.write_text(command)


@pytest.mark.parametrize("check", [check_absent, check_file])
def test_the_same_command_writes_its_file_again_and_another_one_does_not(
    tmp_path: Path, check: Callable[[Path], None]
):
    path = tmp_path / "a.jsonl"
    for _ in range(3):
        write(path, "convert a", check)
    with pytest.raises(UsageError, match="there already"):
        write(path, "convert b", check)
    assert path.read_text() == "convert a"


def test_a_file_that_somebody_changed_is_left_alone(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    write(path, "convert a")
    os.utime(path, ns=(1, 1))
    path.write_text("convert A")
    with pytest.raises(UsageError, match="there already"):
        write(path, "convert a")
    assert path.read_text() == "convert A"


def test_a_file_of_the_same_name_in_another_folder_is_left_alone(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write(tmp_path / "one" / "a", "convert a")
    (tmp_path / "two" / "a").write_text("mine")
    with pytest.raises(UsageError, match="there already"):
        write(tmp_path / "two" / "a", "convert a")


def test_outside_of_a_command_nothing_is_remembered(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    write(path, "")
    path.write_text("content")
    with pytest.raises(UsageError, match="there already"):
        write(path, "")


def test_without_a_folder_to_remember_it_in_a_file_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    write(tmp_path / "a", "convert a")
    with pytest.raises(UsageError, match="there already"):
        write(tmp_path / "a", "convert a")
