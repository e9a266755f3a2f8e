"""Chinese text is cut with a dictionary cache that nobody else can have written."""

import json
import marshal
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.chinese import _own_folder, cut  # pyright: ignore[reportPrivateUsage]

TEXT = "我来到北京清华大学"
WORDS = ["我", "来到", "北京", "清华大学"]


def cut_anew(own: Path, shared: Path) -> list[str]:
    """The words of TEXT, cut by a new process with these folders for its own data and for temporary files."""
    program = f"import json; from wildtool.toolcall.text.chinese import cut; print(json.dumps(cut({TEXT!r})))"
    surroundings = {**os.environ, "WILDTOOL_DATA_DIR": str(own), "TMPDIR": str(shared)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


def plant(file: Path) -> None:
    """A dictionary that knows but one word, which is a wrong one."""
    file.write_bytes(marshal.dumps(({"我来到北": 9, "我": 0, "我来": 0, "我来到": 0}, 9)))


@pytest.mark.long
def test_a_dictionary_in_the_shared_temporary_folder_is_not_read_but_that_of_the_user_is(
    tmp_path: Path,
) -> None:
    plant(tmp_path / "jieba.cache")
    own = tmp_path / "own" / "jieba"
    assert cut_anew(tmp_path / "own", tmp_path) == WORDS
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    [cache] = own.iterdir()
    plant(cache)
    assert cut_anew(tmp_path / "own", tmp_path) != WORDS


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dictionary as a process keeps it for the next."""
    own = tmp_path_factory.mktemp("own")
    assert cut_anew(own, own) == WORDS
    [file] = (own / "jieba").iterdir()
    return file


LONG = pytest.mark.long
"""Each content takes a second, in which a process makes the dictionary."""


@pytest.mark.parametrize(
    "content",
    [
        b"cut",
        pytest.param(b"", marks=LONG),
        pytest.param(marshal.dumps(5), marks=LONG),
        pytest.param(marshal.dumps((1, 2, 3)), marks=LONG),
    ],
)
def test_a_kept_dictionary_that_cannot_be_read_is_made_again(
    tmp_path: Path, kept: Path, content: bytes
) -> None:
    again = shutil.copytree(kept.parent, tmp_path / "jieba") / kept.name
    again.write_bytes(content)
    assert cut_anew(tmp_path, tmp_path) == WORDS
    assert again.read_bytes() == kept.read_bytes()


def test_where_no_folder_can_be_made_the_dictionary_is_loaded_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shared = tmp_path / "shared"
    shared.mkdir()
    plant(shared / "jieba.cache")
    assert cut_anew(tmp_path / "file", shared) == WORDS
    assert [path.name for path in shared.iterdir()] == ["jieba.cache"]


def test_the_folder_is_made_once_with_those_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "data" / "jieba"
    assert (_own_folder(folder), _own_folder(folder)) == (folder, folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_the_user_cannot_enter_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Path, int]] = []
    monkeypatch.setattr(os, "access", lambda folder, mode: bool(asked.append((folder, mode))))
    assert _own_folder(tmp_path / "jieba") is None
    assert asked == [(tmp_path / "jieba", os.R_OK | os.W_OK | os.X_OK)]


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_can_write_is_not_used(mode: int, tmp_path: Path) -> None:
    folder = tmp_path / "jieba"
    folder.mkdir()
    folder.chmod(mode)
    assert _own_folder(folder) is None


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jieba"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert _own_folder(folder) is None


def test_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "jieba").symlink_to(tmp_path / "elsewhere")
    assert _own_folder(tmp_path / "jieba") is None


@given(
    st.text(max_size=30)
    | st.text(alphabet="aB1. %+#&_-\r\n\x1c\u00a0é¥。日AT&Tc", max_size=30)
    | st.lists(
        st.sampled_from(["AT&T", "c++", "C#", "v1.5%", "100.0%x", "é", "\u3000", "中文", "\r\n", "-"])
    ).map("".join)
)
def test_texts_are_cut_as_jieba_cuts_them_with_its_dictionary_or_without(text: str):
    jieba: Any = pytest.importorskip("jieba")
    assert cut(text) == jieba.lcut(text)
