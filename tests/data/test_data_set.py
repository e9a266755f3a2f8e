"""Declared data: where files are found, what is missing, what is fetched."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from wildtool.data.data_set import DataSet
from wildtool.data.files import source_of_files
from wildtool.data.pinned import PinnedFile
from wildtool.errors import DataError

TEXTS = {"one/a.json": "[1]", "one/b.json": "[2]", "two/a.json": "[3]"}
DATA = DataSet(
    name="declared",
    repository="owner/name",
    commit="0" * 40,
    home="Home",
    files={name: hashlib.sha256(text.encode()).hexdigest() for name, text in TEXTS.items()},
    licence="MIT",
    splits={"": ["one/a.json", "one/b.json"], "one": ["one/a.json", "one/b.json"], "two": ["two/a.json"]},
    suffixes=(".json",),
    takes="a folder",
    copies="a checkout",
)


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TEXTS[name.removeprefix("Home/")] if "/" in name else "[]")
    return folder


@pytest.mark.parametrize("home", ["Home/", ""])
def test_files_are_found_in_a_checkout_and_in_its_folder(tmp_path: Path, home: str):
    place = folder_with(tmp_path, *(home + name for name in TEXTS))
    assert [*DATA.files_of(place, None)] == ["one/a.json", "one/b.json"]
    assert DATA.files_of(place, "two") == {"two/a.json": place / home / "two" / "a.json"}


def test_a_folder_of_the_files_alone_holds_the_default_split_or_what_it_is_called(tmp_path: Path):
    plain = folder_with(tmp_path / "plain", "a.json", "b.json")
    assert DATA.files_of(plain, None)["one/a.json"] == plain / "a.json"
    with pytest.raises(DataError, match=r"plain: holds no two/a\.json \(nor two/a\.json\.gz\)$"):
        DATA.files_of(plain, "two")
    two = folder_with(tmp_path / "two", "a.json")
    assert DATA.files_of(two, "two")["two/a.json"] == two / "a.json"


def test_what_is_missing_is_named(tmp_path: Path):
    place = folder_with(tmp_path, "one/a.json")
    with pytest.raises(
        DataError, match=r"one/b\.json is missing; choose what is there with --split: one, two"
    ):
        DATA.files_of(place, None)
    assert not DATA.has(place, None)
    with pytest.raises(DataError, match="split 'three'"):
        DATA.files_of(place, "three")
    with pytest.raises(DataError, match="split ''"):
        DATA.files_of(place, "")


def test_one_file_is_read_whatever_the_split_if_its_name_fits(tmp_path: Path):
    file = folder_with(tmp_path, "a.json") / "a.json"
    assert DATA.files_of(file, "two") == {"a.json": file}
    (tmp_path / "a.txt").write_text("")
    assert error_of(DATA, str(tmp_path / "a.txt")) == (
        f"{tmp_path / 'a.txt'}: neither a folder nor a .json file; --data takes a folder"
    )
    assert replace(DATA, suffixes=()).locate(str(tmp_path / "a.txt")).path == tmp_path / "a.txt"


def error_of(data: DataSet, *named: str | None) -> str:
    with pytest.raises(DataError) as error:
        data.locate(*named)
    return str(error.value)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_files_are_copied_verified_and_then_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    lines: list[str] = []
    with pytest.raises(DataError, match=r"none: no folder; --from takes a checkout$"):
        DATA.pull(file=tmp_path / "none", mirror=None, report=lines.append)
    copy, kept = folder_with(tmp_path / "copy", *TEXTS), tmp_path / "cache" / "declared"
    assert DATA.pull(file=copy, mirror=None, report=lines.append) == kept
    assert lines == [
        f"taking 3 of 3 files from {copy}",
        "3 files are there and verified",
        f"source: owner/name at commit {'0' * 40}; licence: MIT",
    ]
    for data in (None, "official"):
        assert DATA.locate(data, "two") == source_of_files("official", kept, [kept / "two" / "a.json"])
    files = [copy / "one" / "a.json", copy / "one" / "b.json", copy / "two" / "a.json"]
    assert DATA.locate(str(copy)) == source_of_files(str(copy), copy, files[:2])
    beside = replace(DATA, beside=lambda place: [place / "two" / "a.json"])
    assert beside.locate(str(copy)) == source_of_files(str(copy), copy, files)
    (copy / "a.json").write_text("[]")
    assert DATA.locate(str(copy / "a.json"), "two").name == str(copy / "a.json")
    assert DATA.pinned_files() == {
        kept / name: PinnedFile("owner/name", "0" * 40, f"Home/{name}", sha256=sha256(text), other_path=name)
        for name, text in TEXTS.items()
    }
