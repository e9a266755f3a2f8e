"""Temporary folders go with their work, and those of killed processes with the next work; living ones stay."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wildtool.temporary import clear_dead, is_temporary, temporary_folder

HOLDING = """
import sys
from pathlib import Path
from wildtool.temporary import folder_until_exit, temporary_folder
with temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half of it")
    print(folder, folder_until_exit("bundles", Path(sys.argv[1])), flush=True)
    sys.stdin.read()
"""


def holding(place: Path) -> "tuple[subprocess.Popen[str], list[Path]]":
    """A process that holds two folders until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, [Path(name) for name in process.stdout.readline().split()]


def test_a_folder_goes_with_its_work_even_if_that_fails(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path) as folder:
        assert folder.parent == tmp_path and is_temporary(folder.name)
        (folder / "half").touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_folders_of_a_living_process_stay_and_go_with_it(tmp_path: Path):
    process, folders = holding(tmp_path)
    clear_dead(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(folders)
    process.communicate("")
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_folders_of_a_killed_process_go_with_the_next_one(tmp_path: Path):
    process, folders = holding(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert sorted(tmp_path.iterdir()) == sorted(folders)
    after, folders = holding(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(folders)
    after.communicate("")


@pytest.mark.parametrize(
    "name",
    [
        "wildtool-notes.tmp",
        ".wildtool-abcd1234",
        "wildtool-abcd1234.tmp.bak",
        ".mine-abcd1234.tmp",
        "wildtool",
    ],
)
def test_a_folder_of_another_name_is_nobodys_to_clear(tmp_path: Path, name: str):
    (tmp_path / name).mkdir()
    clear_dead(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_or_a_link_of_such_a_name_is_left_alone(tmp_path: Path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis").touch()
    (tmp_path / ".wildtool-abcd1234.tmp").symlink_to(mine)
    (tmp_path / ".wildtool-abcd5678.tmp").touch()
    clear_dead(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert [path.name for path in mine.iterdir()] == ["thesis"]
