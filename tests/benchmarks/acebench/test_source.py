"""Pulling ACEBench's data: from a mirror, a checkout or a folder of ours; verified, resumable, never half a table."""

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.acebench import prompts_build
from benchmarks.acebench.upstream import python_files, question_files
from data.loopback import Answer, Server, files
from wildtool.benchmarks.acebench.data import CATEGORIES, LANGUAGES, read_items
from wildtool.benchmarks.acebench.sandbox.edition import read_edition
from wildtool.benchmarks.acebench.source import (
    CODE_COMMIT,
    DATA,
    TABLE_DIGESTS,
    prompts,
    read_prompts,
)
from wildtool.data.pinned import official_folder
from wildtool.errors import DataError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    prompts_build.pin(monkeypatch)
    return tmp_path / "cache" / "acebench"


@pytest.fixture
def official(newest: Path) -> Path:
    """What `data pull` gets where no version is named."""
    return newest


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


def repository(official: Path) -> dict[str, bytes]:
    """Everything that is fetched, by its address on the mirror."""
    code = {path: text.encode() for path, text in python_files(official).items()}
    prompts = {path: text.encode() for path, text in prompts_build.FILES.items()}
    at = {
        **dict.fromkeys(question_files(official), DATA.commit),
        **dict.fromkeys(code | prompts, CODE_COMMIT),
    }
    contents = question_files(official) | code | prompts
    return {f"/ACEBench/ACEBench/{at[path]}/{path}": content for path, content in contents.items()}


def pull(file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
    return DATA.pull(file=file, mirror=mirror, report=report)


def write(folder: Path, contents: dict[str, bytes]) -> Path:
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def ignore(_: str) -> None:
    return


def check_complete(folder: Path) -> None:
    assert all(pinned.is_at(path) for path, pinned in DATA.pinned_files().items())
    for lang in LANGUAGES:
        assert len(read_edition(folder, lang).initial) == 5


AUGUST = DATA.at_version("2025-08")
Prepare = Callable[[Path, Path], Path]


def as_ours(official: Path, _: Path) -> Path:
    return official


def as_checkout(official: Path, place: Path) -> Path:
    code = {path: text.encode() for path, text in python_files(official).items()}
    return write(place, question_files(official) | code)


def as_unpacked(official: Path, place: Path) -> Path:
    data = {
        path.removeprefix("data_all/data_"): content for path, content in question_files(official).items()
    }
    return write(place, data | {name: (official / name).read_bytes() for name in TABLE_DIGESTS})


@pytest.mark.long
@pytest.mark.parametrize("prepare", [as_ours, as_checkout, as_unpacked])
def test_a_folder_in_any_layout_is_enough_without_network(
    prepare: Prepare, official: Path, tmp_path: Path, cache: Path
) -> None:
    folder = pull(prepare(official, tmp_path / "mine"), "http://127.0.0.1:9", ignore)
    assert folder == cache == official_folder("acebench")
    check_complete(cache)


@pytest.mark.long
def test_what_was_pulled_can_be_read(official: Path, cache: Path) -> None:
    pull(official, None, ignore)
    assert sum(len(item.units) for item in read_items(cache)) == 2040


@pytest.mark.long
def test_the_network_gives_files_and_tables(official: Path, cache: Path) -> None:
    with serving(files(repository(official))) as server:
        pull(None, server.mirror, ignore)
    check_complete(cache)
    assert len(server.asked) == 68 + 13 + 5


def test_a_second_pull_asks_for_nothing(official: Path, cache: Path) -> None:
    pull(official, None, ignore)
    prompts_build.write(cache)
    pull(None, "http://127.0.0.1:9", ignore)
    check_complete(cache)


def test_a_pull_that_broke_goes_on_where_it_stopped(official: Path, cache: Path) -> None:
    contents = repository(official)
    lost = [
        address for address in contents if address.endswith("possible_answer/data_normal_preference.json")
    ]
    with (
        serving(files({a: c for a, c in contents.items() if a not in lost})) as server,
        pytest.raises(DataError, match=r"2 of 68 files are missing: .*Run the same command again"),
    ):
        pull(None, server.mirror, ignore)
    with serving(files(contents)) as server:
        pull(None, server.mirror, ignore)
    assert sorted(a for a in server.asked if "data_all" in a) == sorted(lost)
    check_complete(cache)


def test_source_commit_and_licence_are_said(official: Path) -> None:
    said: list[str] = []
    pull(official, None, said.append)
    assert "ACEBench/ACEBench" in said[-1]
    assert DATA.commit in said[-1]
    assert "MIT, Copyright (c) Microsoft Corporation" in said[-1]


def test_a_changed_sentence_in_the_code_is_noticed_and_no_table_is_installed(
    official: Path, cache: Path
) -> None:
    contents = repository(official)
    address = next(address for address in contents if address.endswith("scenariosen/travel.py"))
    contents[address] = contents[address].replace(b"Invalid payment method", b"Invalid payment")
    with (
        serving(files(contents)) as server,
        pytest.raises(DataError, match=r"sandbox_messages\.json has SHA-256 .*the agent categories need"),
    ):
        pull(None, server.mirror, ignore)
    assert not list(cache.glob("sandbox*"))
    assert all(pinned.is_at(path) for path, pinned in DATA.pinned_files().items())


def test_code_that_is_nested_too_deeply_is_a_data_error(official: Path, tmp_path: Path) -> None:
    mine = as_checkout(official, tmp_path / "mine")
    deep = "class Deep:\n def __init__(self):\n  self.x = " + "-" * 1500 + "x"
    (mine / "model_inference/multi_step/scenariosen/phone_platform/base_api.py").write_text(deep, "utf-8")
    with pytest.raises(DataError, match="sentences could not be had"):
        pull(mine, None, ignore)


@pytest.mark.long
@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"BaseApi.turn_on_wifi.ok": {}}'])
def test_a_damaged_table_in_the_folder_is_not_installed(
    content: bytes, official: Path, tmp_path: Path, cache: Path
) -> None:
    mine = as_unpacked(official, tmp_path / "mine")
    (mine / "sandbox_messages.json").write_bytes(content)
    with pytest.raises(DataError, match=r"sandbox_messages\.json"):
        pull(mine, None, ignore)
    assert not list(cache.glob("sandbox*"))


def test_a_damaged_table_in_the_cache_is_written_anew(official: Path, cache: Path) -> None:
    pull(official, None, ignore)
    (cache / "sandbox_initial_state_zh.json").write_text("{", "utf-8")
    pull(official, None, ignore)
    check_complete(cache)


def test_a_folder_with_neither_tables_nor_code_says_what_it_lacks(official: Path, tmp_path: Path) -> None:
    mine = write(tmp_path / "mine", question_files(official))
    with pytest.raises(
        DataError, match=r"base_api\.py.*the question and answer files are in place.*--from DIR"
    ):
        pull(mine, None, ignore)


def test_a_packed_file_with_other_content_is_named(official: Path, tmp_path: Path, cache: Path) -> None:
    mine = as_unpacked(official, tmp_path / "mine")
    path = mine / "en" / "data_special_incomplete.json"
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes() + b" "))
    path.unlink()
    with pytest.raises(
        DataError, match=r"1 of 68 files are missing: data_all/data_en/data_special_incomplete"
    ):
        pull(mine, None, ignore)
    assert not (cache / "en" / "data_special_incomplete.json").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_bytes(b"")
    with pytest.raises(DataError, match=r"data\.json: no folder"):
        pull(tmp_path / "data.json", None, ignore)


def test_every_category_has_a_question_and_an_answer_file_in_each_language() -> None:
    names = {path.relative_to(official_folder("acebench")).as_posix() for path in DATA.pinned_files()}
    assert names == {
        f"{lang}/{place}data_{category}.json"
        for lang in LANGUAGES
        for place in ("", "possible_answer/")
        for category in CATEGORIES
    }


def test_the_digests_are_those_of_the_official_list(official: Path) -> None:
    with (official / "checksums.tsv").open(encoding="utf-8", newline="") as rows:
        listed = {row["file"]: row["sha256_uncompressed"] for row in csv.DictReader(rows, delimiter="\t")}
    folder = official_folder("acebench-2025-08")
    ours = {
        path.relative_to(folder).as_posix(): pinned.sha256 for path, pinned in AUGUST.pinned_files().items()
    }
    assert ours == {name.removesuffix(".gz"): digest for name, digest in listed.items()}


def test_tables_keep_their_letters_readable(official: Path, cache: Path) -> None:
    pull(official, None, ignore)
    text = (cache / "sandbox_messages.json").read_text("utf-8")
    assert "已经" in text
    assert json.loads(text) == json.loads((official / "sandbox_messages.json").read_text("utf-8"))


# Prompts ---------------------------------------------------------------------------------------------


def test_the_prompts_are_those_of_the_commit_where_the_code_was_read() -> None:
    assert {(file.pinned.repository, file.pinned.commit) for file in prompts()} == {
        ("ACEBench/ACEBench", AUGUST.commit)
    }


def test_a_folder_without_the_originals_prompts_is_enough(official: Path, cache: Path) -> None:
    said: list[str] = []
    pull(official, None, said.append)
    assert read_prompts() is None
    assert any("none of the original's prompts" in line for line in said)


def test_a_folder_gives_the_originals_prompts_where_it_holds_them(
    official: Path, tmp_path: Path, cache: Path
) -> None:
    pull(official, None, ignore)
    pull(prompts_build.write(as_checkout(official, tmp_path)), None, ignore)
    found = read_prompts()
    assert found is not None
    assert found.texts["model_inference/prompt_en.py"]["BASE_PROMPT_EN"] == "phone EN"


def test_a_folder_with_some_of_the_prompt_files_names_the_others(official: Path, cache: Path) -> None:
    pull(official, None, ignore)
    path = "model_inference/prompt_en.py"
    place = prompts_build.write(cache.parent / "some", {path: prompts_build.FILES[path]})
    for name in TABLE_DIGESTS:
        (place / name).write_bytes((official / name).read_bytes())
    with pytest.raises(DataError, match=r"4 of 5 files are missing: model_inference/prompt_zh\.py"):
        pull(place, None, ignore)


@pytest.mark.long
@pytest.mark.parametrize("path", prompts_build.FILES)
def test_a_doctored_prompt_file_is_named_and_not_installed(official: Path, cache: Path, path: str) -> None:
    pull(official, None, ignore)
    files_there = dict(prompts_build.FILES) | {path: prompts_build.FILES[path] + " "}
    place = prompts_build.write(cache.parent / "doctored", files_there)
    with pytest.raises(DataError, match=rf"{path}: not the pinned file: git blob id"):
        pull(place, None, ignore)
    assert not (cache / path).exists()


@pytest.mark.parametrize("path", prompts_build.FILES)
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_prompt_file_that_changed_in_the_cache_is_named(cache: Path, path: str, how: str) -> None:
    prompts_build.write(cache)
    if how == "gone":
        (cache / path).unlink()
    else:
        (cache / path).write_text("x = 1")
    with pytest.raises(DataError, match=rf"{path}: (not the pinned file|missing), expected git blob id"):
        read_prompts()
