"""Bundles: what they hold, that they judge as the run does, and that nothing bad comes out of one."""

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from export.export_build import ITEM, failing, play, written
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.engine.record import bundle as bundles
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import load_result, run_folders
from wildtool.engine.score.score import data_candidates, score_run
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import DataError, RecordError, StorageError, UsageError
from wildtool.export import EXPORT_FORMATS
from wildtool.types import Source


def members(bundle: Path) -> dict[str, bytes]:
    with ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def remade(bundle: Path, change: Callable[[dict[str, bytes]], Any], *, sealed: bool = True) -> Path:
    """The bundle with its files changed, and its manifest made to agree where `sealed`."""
    files = members(bundle)
    change(files)
    if sealed:
        manifest = json.loads(files.pop(bundles.MANIFEST))
        manifest["members"] = {
            name: {"size": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()
        }
        files[bundles.MANIFEST] = json.dumps(manifest).encode()
    with ZipFile(bundle, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return bundle


def sources(folder: Path) -> list[Source | DataError]:
    return list(data_candidates(WILD_MINI, folder, read_run(folder)))


def rename_data(files: dict[str, bytes], name: str) -> None:
    about = json.loads(files["run.json"])
    about["data"]["name"] = name
    files["run.json"] = json.dumps(about).encode()


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with its run beside it."""
    place = tmp_path_factory.mktemp("bundle")
    return written("bundle", play(place / "run"), place)


@pytest.fixture
def bundle(bundled: Path, tmp_path: Path) -> Path:
    """The same of a test's own."""
    copytree(bundled.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / bundled.name


def test_a_bundle_holds_what_judging_takes_and_names_it_with_digests(bundle: Path):
    files = members(bundle)
    manifest = json.loads(files.pop("manifest.json"))
    assert sorted(files) == ["record-0001.jsonl", "run.json", "verdicts-official.parquet"]
    assert manifest["members"] == {
        name: {"size": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()
    }
    assert manifest["data"]["sha256"] == WILD_MINI.data.locate(None).sha256
    for name in ("manifest.json", "run.json"):
        text = members(bundle)[name].decode()
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True)


def test_a_bundle_shows_the_numbers_of_the_run(tmp_path: Path, bundle: Path):
    (folder,) = run_folders(bundle)
    assert replace(load_result(folder), folder=tmp_path / "run") == load_result(tmp_path / "run")


def test_a_bundle_is_judged_again_under_any_profile(tmp_path: Path, bundle: Path):
    (folder,) = run_folders(bundle)
    ours, theirs = (score_run(place, profile="fixed").verdicts for place in (tmp_path / "run", folder))
    assert relation([theirs]).fetchall() == relation([ours]).fetchall()


def test_judging_a_bundle_leaves_it_as_it_is(bundle: Path):
    before = bundle.read_bytes()
    score_run(run_folders(bundle)[0], profile="fixed")
    assert bundle.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", "openai", "bundle"])
def test_a_bundle_is_exported_as_its_run_is(tmp_path: Path, bundle: Path, form: str):
    ours = written(form, tmp_path / "run", tmp_path / "ours").read_bytes()
    assert written(form, run_folders(bundle)[0], tmp_path / "theirs").read_bytes() == ours


def test_the_same_run_gives_the_same_bytes(tmp_path: Path, bundle: Path):
    assert written("bundle", tmp_path / "run", tmp_path / "again").read_bytes() == bundle.read_bytes()


def test_data_of_ones_own_come_along_where_asked_for(tmp_path: Path):
    data = tmp_path / "mine" / "sessions.jsonl"
    data.parent.mkdir()
    data.write_bytes(WILD_MINI.data.locate(None).path.read_bytes())
    folder = play(tmp_path / "run")
    about = json.loads((folder / "run.json").read_text())
    about["data"] |= {"name": str(data), "path": str(data)}
    (folder / "run.json").write_text(json.dumps(about))
    without = written("bundle", folder, tmp_path / "without")
    whole = written("bundle", folder, tmp_path / "with", with_data=True)
    assert str(tmp_path).encode() not in b"".join([*members(whole).values(), *members(without).values()])
    data.unlink()
    assert score_run(run_folders(whole)[0], profile="fixed").counts.correct == 4
    with pytest.raises(RecordError, match=r"without.*--data FILE"):
        score_run(run_folders(without)[0], profile="fixed")


def test_a_record_that_is_being_written_is_bundled_to_its_last_whole_line(tmp_path: Path):
    folder = play(tmp_path / "run")
    segment = folder / "record-0001.jsonl"
    complete = segment.read_bytes()
    segment.write_bytes(complete + b'{"row":"step","item"')
    assert members(written("bundle", folder, tmp_path))["record-0001.jsonl"] == complete


def test_logins_and_queries_of_addresses_are_cut(tmp_path: Path):
    folder = play(tmp_path / "run")
    about = json.loads((folder / "run.json").read_text())
    url = "http://me:s3cret@host/v1?key=s3cret"
    about["identity"]["models"]["agent"]["settings"] = {"base_url": url, "more": [{"deep": url}]}
    about["sittings"][0]["command"] += ["--base-url", url, "/srv/me/place/x"]
    (folder / "run.json").write_text(json.dumps(about))
    text = members(written("bundle", folder, tmp_path))["run.json"]
    assert b"s3cret" not in text
    assert b"/srv/me" not in text
    assert text.count(b"http://host/v1?") == 3


def test_a_key_of_the_environment_in_a_record_is_never_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "k-planted-0123456789")
    folder = play(tmp_path / "run", lambda request: {"content": "your key is k-planted-0123456789"})
    with pytest.raises(UsageError, match=r"record-0001.jsonl holds the value of .* MY_API_KEY") as told:
        written("bundle", folder, tmp_path)
    assert "planted" not in str(told.value)
    assert not list(tmp_path.glob("*.zip"))


def test_infra_errors_survive(tmp_path: Path):
    folder = play(tmp_path / "run", failing)
    (again,) = run_folders(written("bundle", folder, tmp_path))
    assert load_result(again, again=True).counts == load_result(folder).counts


def flip(files: dict[str, bytes]) -> None:
    files["record-0001.jsonl"] = files["record-0001.jsonl"].replace(b"wild_mini_0", b"wild_mini_1", 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flip, "SHA-256"),
        (lambda files: files.pop("run.json"), "exactly the files"),
        (lambda files: files.pop("manifest.json"), "no manifest.json"),
        (lambda files: files.update({"extra": b"x"}), "exactly the files"),
        (lambda files: files.update({"manifest.json": b"["}), "damaged"),
        (lambda files: files.update({"manifest.json": b"[" * 100_000}), "damaged"),
        (
            lambda files: files.update({"manifest.json": b"[" + b"[]," * 500_000 + b"0]"}),
            "more than 1,000,000",
        ),
        (lambda files: files.update({"manifest.json": b"{}"}), "not one of a wildtool bundle"),
    ],
)
def test_a_damaged_bundle_is_refused(bundle: Path, change: Callable[[dict[str, bytes]], Any], said: str):
    with pytest.raises(RecordError, match=said):
        run_folders(remade(bundle, change, sealed=False))


@pytest.mark.parametrize(
    "name",
    ["../evil", "/srv/evil", "data/../../evil", "data/.hidden", "lock", "data", "data\\evil", "record-0002.jsonl.gz",
     "verdicts-../x.parquet", "data/a//b", "run.json/x"],
)  # fmt: skip
def test_a_name_that_no_bundle_has_is_refused(bundle: Path, tmp_path: Path, name: str):
    before = set(tmp_path.rglob("*"))
    with pytest.raises(RecordError, match="not a bundle, or damaged"):
        run_folders(remade(bundle, lambda files: files.update({name: b"x"})))
    assert set(tmp_path.rglob("*")) == before


def test_a_run_may_not_be_named_like_another_folder(bundle: Path):
    def rename(files: dict[str, bytes]) -> None:
        files["manifest.json"] = files["manifest.json"].replace(b'"run": "run"', b'"run": ".."')

    with pytest.raises(RecordError, match="the name of its run"):
        run_folders(remade(bundle, rename))


def test_a_link_is_refused(bundle: Path):
    files = members(bundle)
    with ZipFile(bundle, "w") as archive:
        for name, data in files.items():
            info = ZipInfo(name)
            info.create_system = 3
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == "record-0001.jsonl" else 0
            archive.writestr(info, data)
    with pytest.raises(RecordError, match="not a plain file"):
        run_folders(bundle)


def test_more_than_a_bundle_may_hold_is_refused(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundles, "MAX_BUNDLE_BYTES", 1000)
    with pytest.raises(RecordError, match="it holds more than"):
        run_folders(bundle)


def test_a_member_longer_than_it_declares_is_refused(bundle: Path):
    # The size in the central directory, which is what a reader sees first, is made smaller than the member.
    raw = bytearray(bundle.read_bytes())
    with ZipFile(bundle) as archive:
        info = archive.getinfo("record-0001.jsonl")
    old, new = info.file_size.to_bytes(4, "little"), (info.file_size - 1).to_bytes(4, "little")
    at = raw.rindex(old)
    raw[at : at + 4] = new
    bundle.write_bytes(raw)
    with pytest.raises(RecordError, match="damaged"):
        run_folders(bundle)


def test_every_cut_of_a_bundle_is_refused(bundle: Path):
    whole = bundle.read_bytes()
    for share in range(10):
        bundle.write_bytes(whole[: len(whole) * share // 10])
        with pytest.raises(RecordError, match="not a bundle, or damaged"):
            run_folders(bundle)


def test_a_bundle_without_room_for_it_says_so(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundles, "free_bytes", lambda place: 10)
    with pytest.raises(StorageError, match="no room to unpack"):
        run_folders(bundle)


def test_what_a_bundle_says_of_other_places_of_the_disk_is_not_looked_at(bundle: Path):
    def point(files: dict[str, bytes]) -> None:
        about = json.loads(files["run.json"])
        about["data"]["path"] = "/etc/passwd"
        files["run.json"] = json.dumps(about).encode()

    (folder,) = run_folders(remade(bundle, point))
    assert read_run(folder)["data"]["path"] == "wild-mini"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("C:\\Users\\me\\mine.jsonl", "mine.jsonl"),
        ("a/../b", "b"),
        ("..", "data"),
        ("a/..", "data"),
        ("/", "data"),
        ("", "data"),
        ("wild-mini", "wild-mini"),
    ],
)
def test_of_the_name_of_a_bundles_data_the_last_part_is_kept(bundle: Path, name: str, kept: str):
    (folder,) = run_folders(remade(bundle, lambda files: rename_data(files, name)))
    assert read_run(folder)["data"] | {"name": kept, "path": kept} == read_run(folder)["data"]


def test_a_bundle_takes_no_file_of_the_current_folder_for_its_data(
    tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    data = WILD_MINI.data.locate(None).path.read_bytes()
    (folder,) = run_folders(remade(bundle, lambda files: rename_data(files, "mine.jsonl")))
    Path("mine.jsonl").write_bytes(data)
    with pytest.raises(RecordError, match=r"this folder's file of that name is not taken.*--data FILE"):
        score_run(folder, profile="fixed")
    assert not [found for found in sources(folder) if isinstance(found, Source)]
    assert bundles.is_unpacked(folder) and not bundles.is_unpacked(tmp_path / "run")
    assert score_run(folder, profile="fixed", data="mine.jsonl").counts.correct == 4


def test_a_benchmarks_own_data_are_found_beside_a_file_of_their_name(
    tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("wild-mini").write_text("{}")
    assert score_run(run_folders(bundle)[0], profile="fixed").counts.correct == 4


def test_a_bundle_is_told_by_its_own_name_in_messages(bundle: Path):
    (folder,) = run_folders(bundle)
    assert bundles.bundle_origin(folder) == bundle
    assert ITEM in (folder / "record-0001.jsonl").read_text()


def test_a_folder_stands_for_the_bundles_in_it_too(tmp_path: Path, bundle: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    bundle.rename(shared / "gold.zip")
    with ZipFile(shared / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    (shared / "no.zip").write_bytes(b"")
    (folder,) = run_folders(shared)
    assert load_result(folder).model == load_result(tmp_path / "run").model
    assert {place.name for place in run_folders(tmp_path)} == {"run"}
    assert len(run_folders(tmp_path)) == 2


def test_a_damaged_file_named_like_a_bundle_is_not_passed_over(tmp_path: Path, bundle: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"run{bundles.BUNDLE_SUFFIX}").write_bytes(bundle.read_bytes()[:100])
    with pytest.raises(RecordError, match=r"run\.bundle\.zip: not a bundle, or damaged"):
        run_folders(shared)


def test_bundles_are_found_under_the_name_that_export_gives_them():
    assert EXPORT_FORMATS["bundle"].suffix == bundles.BUNDLE_SUFFIX


def test_an_encrypted_bundle_is_refused(tmp_path: Path):
    bundle = tmp_path / "x.bundle.zip"
    with ZipFile(bundle, "w") as archive:
        archive.writestr("manifest.json", "{}")
    data = bytearray(bundle.read_bytes())
    # The bit that says so, in the member's own head and in the list at the end.
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    bundle.write_bytes(data)
    with pytest.raises(RecordError, match="encrypted"):
        bundles.unpack_bundle(bundle)
