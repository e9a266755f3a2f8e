"""What is unpacked of a bundle, whole, and each way in which a file is no bundle, with what is said of it."""

import errno
import json
import os
import stat
from collections import namedtuple
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest

from wildtool.engine.record import bundle as bundle_module
from wildtool.engine.record.bundle import bundle_origin, holds_bundle, is_bundle, is_unpacked, unpack_bundle
from wildtool.errors import RecordError, StorageError

RUN = json.dumps({"data": {"name": "set.jsonl", "path": "data/set.jsonl"}, "seed": 1}).encode()
MEMBERS = {
    "run.json": RUN,
    "record-0001.jsonl": b'{"row": 1}\n',
    "verdicts-fixed.parquet": b"PAR1",
    "data/set.jsonl": b"{}\n",
}


def manifest_of(members: dict[str, bytes], /, **changes: Any) -> dict[str, Any]:
    digests = {
        name: {"size": len(text), "sha256": sha256(text).hexdigest()} for name, text in members.items()
    }
    manifest = {"format": "wildtool bundle", "version": 1, "run": "demo", "members": digests}
    return {name: value for name, value in (manifest | changes).items() if value is not None}


def write(path: Path, members: dict[str, bytes], manifest: Any) -> Path:
    with ZipFile(path, "w") as archive:
        if manifest is not None:
            archive.writestr(
                "manifest.json", manifest if isinstance(manifest, bytes) else json.dumps(manifest)
            )
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_all_of_a_bundle_is_unpacked_and_its_verdicts_are_newer_than_the_rest(tmp_path: Path):
    path = write(tmp_path / "b.zip", MEMBERS, manifest_of(MEMBERS))
    folder = unpack_bundle(path)
    files = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    assert {name: file.read_bytes() for name, file in files.items() if name != "run.json"} == {
        name: text for name, text in MEMBERS.items() if name != "run.json"
    }
    data = {"name": "set.jsonl", "path": str(folder / "data/set.jsonl")}
    assert json.loads(files["run.json"].read_bytes()) == {"data": data, "seed": 1}
    times = {name: file.stat().st_mtime for name, file in files.items() if "/" not in name}
    assert times == {"run.json": 1, "record-0001.jsonl": 1, "verdicts-fixed.parquet": 2}
    assert (folder.name, bundle_origin(folder), bundle_origin(tmp_path)) == ("demo", path, tmp_path)
    assert (is_unpacked(folder), is_unpacked(tmp_path / "run")) == (True, False)
    assert (is_bundle(path), is_bundle(tmp_path), is_bundle(tmp_path / "none")) == (True, False, False)
    assert unpack_bundle(path) is folder, "once"
    os.utime(path, (5, 5))
    assert unpack_bundle(path) != folder, "another file of that name"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"name": "a/b\\set.jsonl/"}, {"name": "set.jsonl", "path": "set.jsonl"}),
        ({"name": ".."}, {"name": "data", "path": "data"}),
        ({"name": "."}, {"name": "data", "path": "data"}),
        ({"name": "/"}, {"name": "data", "path": "data"}),
        ({"name": "s", "path": "/etc/passwd"}, {"name": "s", "path": "s"}),
        ({"name": "s", "path": "data/set"}, {"name": "s", "path": "s"}),
        ({"name": "s", "path": 3}, {"name": "s", "path": "s"}),
        ({"name": "s", "path": "data", "more": 1}, {"name": "s", "path": "{folder}/data", "more": 1}),
        ({"name": "s", "path": "data/set.jsonl"}, {"name": "s", "path": "{folder}/data/set.jsonl"}),
    ],
)
def test_the_data_of_a_bundle_lie_in_it_or_nowhere(data: Any, expected: Any, tmp_path: Path):
    members = MEMBERS | {"run.json": json.dumps({"data": data}).encode()}
    folder = unpack_bundle(write(tmp_path / "b.zip", members, manifest_of(members)))
    expected["path"] = expected["path"].format(folder=folder)
    assert json.loads((folder / "run.json").read_bytes()) == {"data": expected}


def changed(**changes: Any) -> Any:
    return MEMBERS, manifest_of(MEMBERS, **changes)


def with_members(**texts: bytes) -> Any:
    members = MEMBERS | {name.replace("_json", ".json"): text for name, text in texts.items()}
    return members, manifest_of(members)


def entry(**changes: Any) -> Any:
    manifest = manifest_of(MEMBERS)
    manifest["members"]["record-0001.jsonl"] |= changes
    return MEMBERS, manifest


NO_FORMAT = "manifest.json is not one of a wildtool bundle"
NOT_EXACT = "it does not hold exactly the files that its manifest names"
NO_NAME = "the name of its run cannot be that of a folder"
NO_SIZE = "record-0001.jsonl does not have the size that the manifest tells"
DEFECTS: dict[str, tuple[Any, str]] = {
    "no manifest": ((MEMBERS, None), "it holds no manifest.json, or too large a one"),
    "a list": ((MEMBERS, []), "manifest.json is not a JSON object"),
    "another format": (changed(format="zip"), NO_FORMAT),
    "no version": (changed(version=None), NO_FORMAT),
    "a version in words": (changed(version="1"), NO_FORMAT),
    "a newer version": (changed(version=2), "it was written by a newer wildtool; update wildtool"),
    "no run": (changed(run=None), NO_NAME),
    "a run that is no text": (changed(run=3), NO_NAME),
    "a run outside": (changed(run="../x"), NO_NAME),
    "a hidden run": (changed(run=".x"), NO_NAME),
    "a long run": (changed(run="x" * 201), NO_NAME),
    "a list of members": (changed(members=[*MEMBERS]), NOT_EXACT),
    "a member too few": (({"run.json": RUN}, manifest_of(MEMBERS)), NOT_EXACT),
    "a member too many": ((MEMBERS, manifest_of({"run.json": RUN})), NOT_EXACT),
    "no run.json": (({}, manifest_of({})), "it holds no run.json"),
    "another name": (with_members(x_json=b""), "a file of it has the name 'x.json', which no bundle has"),
    "a hidden file": (
        with_members(**{"data/.x": b""}),
        "a file of it has the name 'data/.x', which no bundle has",
    ),
    "another size": (entry(size=1), NO_SIZE),
    "no digest": (entry(sha256=None), NO_SIZE),
    "another digest": (
        entry(sha256="0" * 64),
        "record-0001.jsonl does not have the SHA-256 that the manifest tells",
    ),
    "a run.json that is a list": (with_members(run_json=b"[]"), "run.json is not a JSON object"),
    "no data": (with_members(run_json=b"{}"), "run.json does not tell its data"),
    "data in words": (with_members(run_json=b'{"data": "x"}'), "run.json does not tell its data"),
    "data without a name": (with_members(run_json=b'{"data": {}}'), "run.json does not tell its data"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_damaged_bundle_is_refused_with_what_is_wrong(defect: str, tmp_path: Path):
    (members, manifest), why = DEFECTS[defect]
    path = write(tmp_path / "b.zip", members, manifest)
    with pytest.raises(RecordError) as caught:
        unpack_bundle(path)
    assert str(caught.value) == f"{path}: not a bundle, or damaged ({why}); get it again"


@pytest.mark.parametrize("run", ["x" * 200, "-", "_a.b-"])
def test_a_run_of_a_bundle_may_have_any_name_that_a_folder_may(run: str, tmp_path: Path):
    path = write(tmp_path / "b.zip", *changed(run=run))
    assert unpack_bundle(path).name == run


@pytest.mark.parametrize(
    ("limit", "value", "refusal"),
    [
        ("_MAX_MEMBERS", 5, None),
        ("_MAX_MEMBERS", 4, "it holds a name twice, or too many files"),
        ("MAX_BUNDLE_BYTES", sum(map(len, MEMBERS.values())), None),
        ("MAX_BUNDLE_BYTES", sum(map(len, MEMBERS.values())) - 1, "it holds more than 0 GiB"),
        ("_LARGEST_TEXT", len(json.dumps(manifest_of(MEMBERS))), None),
        (
            "_LARGEST_TEXT",
            len(json.dumps(manifest_of(MEMBERS))) - 1,
            "it holds no manifest.json, or too large a one",
        ),
    ],
)
def test_a_bundle_may_be_just_as_large_as_its_limits(
    limit: str, value: int, refusal: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write(tmp_path / "b.zip", MEMBERS, manifest_of(MEMBERS))
    monkeypatch.setattr(bundle_module, limit, value)
    if refusal is None:
        assert unpack_bundle(path).name == "demo"
        return
    with pytest.raises(RecordError, match=rf"damaged \({refusal}"):
        unpack_bundle(path)


def test_a_name_twice_is_refused(tmp_path: Path):
    path = write(tmp_path / "b.zip", MEMBERS, manifest_of(MEMBERS))
    with ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("run.json", RUN)
    with pytest.raises(RecordError, match="it holds a name twice"):
        unpack_bundle(path)


@pytest.mark.parametrize(
    ("mode", "plain"), [(0, True), (stat.S_IFREG | 0o600, True), (stat.S_IFLNK, False), (stat.S_IFDIR, False)]
)
def test_only_plain_files_are_unpacked(mode: int, plain: bool, tmp_path: Path):
    path = tmp_path / "b.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest_of({"run.json": RUN})))
        info = ZipInfo("run.json")
        info.external_attr = mode << 16
        archive.writestr(info, RUN)
    if plain:
        assert unpack_bundle(path).name == "demo"
        return
    with pytest.raises(RecordError, match=r"run\.json is not a plain file"):
        unpack_bundle(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.zip", "{path}: not a bundle, or damaged (File is not a zip file); get it again"),
        ("x.txt", "{path} is no run: give the folder of a run, or a bundle"),
    ],
)
def test_a_file_that_is_no_archive_is_named(name: str, text: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(b"x" * 100)
    with pytest.raises(RecordError) as caught:
        unpack_bundle(path)
    assert str(caught.value) == text.format(path=path)


def test_a_manifest_nested_too_deep_is_refused(tmp_path: Path):
    path = write(tmp_path / "b.zip", MEMBERS, b"[" * 200_000)
    with pytest.raises(RecordError, match="not a bundle, or damaged"):
        unpack_bundle(path)
    assert not holds_bundle(path)


Room = namedtuple("Room", "total used free")


@pytest.mark.parametrize("missing", [0, 1])
def test_a_bundle_is_unpacked_where_there_is_just_room_for_it(
    missing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    members = MEMBERS | {"data/set.jsonl": b"x" * (3 << 20)}
    path = write(tmp_path / "b.zip", members, manifest_of(members))
    size = sum(map(len, members.values()))
    monkeypatch.setattr(bundle_module.shutil, "disk_usage", lambda place: Room(0, 0, size - missing))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not missing:
        assert unpack_bundle(path).name == "demo"
        return
    with pytest.raises(StorageError) as caught:
        unpack_bundle(path)
    advice = "make room, or name another folder by TMPDIR"
    assert str(caught.value) == (f"{tmp_path}: no room to unpack a bundle (3 MiB, 3 MiB are free); {advice}")


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StorageError, "No space left on device"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), StorageError, "Disk quota exceeded"),
        (OSError(errno.EACCES, "Permission denied"), RecordError, "Permission denied"),
        (OSError("odd"), RecordError, "odd"),
    ],
)
def test_a_disk_that_takes_no_bundle_is_named(
    error: OSError, kind: type[Exception], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(kind: str) -> None:
        raise error

    path = write(tmp_path / "b.zip", MEMBERS, manifest_of(MEMBERS))
    monkeypatch.setattr(bundle_module, "folder_until_exit", fails)
    with pytest.raises(RecordError) as caught:
        unpack_bundle(path)
    assert (type(caught.value), str(caught.value)) == (kind, f"{path}: cannot be unpacked ({why})")


WRITTEN: dict[str, tuple[Callable[[Path], object], bool]] = {
    "x.zip": (lambda path: write(path, {}, {"format": "wildtool bundle"}), True),
    "other.zip": (lambda path: write(path, {}, {"format": "zip"}), False),
    "bare.zip": (lambda path: write(path, {}, None), False),
    "list.zip": (lambda path: write(path, {}, []), False),
    "text.zip": (lambda path: path.write_text("x"), False),
    "x.bundle.zip": (lambda path: path.write_text("x"), True),
    "x.txt": (lambda path: write(path, {}, {"format": "wildtool bundle"}), False),
    "folder.bundle.zip": (lambda path: path.mkdir(), False),
    "none.bundle.zip": (lambda path: None, False),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_that_nobody_named_is_a_bundle_by_its_name_or_its_manifest(name: str, tmp_path: Path):
    make, holds = WRITTEN[name]
    make(tmp_path / name)
    assert holds_bundle(tmp_path / name) is holds
