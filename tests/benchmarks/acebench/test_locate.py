"""Where ACEBench's data are: official, finance or a folder; what is missing, what digests depend on, whose prompts."""

import gzip
import hashlib
from pathlib import Path

import pytest

from benchmarks.acebench import prompts_build
from benchmarks.acebench.test_data import SINGLE, answer, question, write
from benchmarks.acebench.test_lint import episode
from benchmarks.data_fault import fault_of
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import CATEGORIES, SPLITS
from wildtool.benchmarks.acebench.source import DATA, PACKAGED, originals_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    prompts_build.pin(monkeypatch)
    return tmp_path / "cache" / "acebench"


def small(folder: Path, lang: str = "en", category: str = SINGLE) -> Path:
    return write(folder, category, [question(f"{category}_0")], [answer(f"{category}_0", {"f": {}})], lang)


def test_a_folder_or_a_split_that_is_not_there_is_named(tmp_path: Path) -> None:
    takes = "--data takes official, official-2025-08, finance or a folder of ACEBench files"
    missing, file = tmp_path / "none", tmp_path / "file"
    file.write_text("")
    assert fault_of(lambda: DATA.locate(str(missing))) == f"no data folder {str(missing)!r}; {takes}"
    assert fault_of(lambda: DATA.locate(str(file))) == f"{str(file)!r} is a file; {takes}"
    assert fault_of(lambda: DATA.locate(None, "x")) == (
        f"there is no split 'x'; the splits are {', '.join(SPLITS)}"
    )


def test_official_data_must_have_all_files_of_the_split_in_both_languages(cache: Path) -> None:
    small(cache)

    def lacks(split: str | None, first: str, more: int) -> None:
        rest = f", and {more} more" if more else ""
        assert fault_of(lambda: DATA.locate("official", split)) == (
            f"the official data at {cache} are not complete: {first} is missing{rest}; `wildtool data pull acebench`"
            " gets what is missing"
        )

    lacks(SINGLE, f"zh/data_{SINGLE}.json", 1)
    lacks(None, f"en/data_{CATEGORIES[1]}.json", 4 * len(CATEGORIES) - 3)
    small(cache, "zh")
    located = DATA.locate(None, SINGLE)
    assert (located.name, located.path) == ("official", cache)
    assert DATA.locate("official", SINGLE) == located
    path = cache / "zh" / "possible_answer" / f"data_{SINGLE}.json"
    path.unlink()
    lacks(SINGLE, f"zh/possible_answer/data_{SINGLE}.json", 0)


def test_finance_episodes_are_those_of_the_package_by_name_and_by_split() -> None:
    finance = DATA.locate("finance")
    assert (finance.name, finance.path) == ("finance", PACKAGED)
    for data, split in ((None, "agent_finance"), ("official", "agent_finance"), ("finance", "agent_finance")):
        assert DATA.locate(data, split) == finance
    part = DATA.locate(None, "agent_finance_multi_step")
    assert (part.name, part.path) == ("finance", PACKAGED)
    assert part.sha256 != finance.sha256


def test_the_digest_is_of_the_sorted_unpacked_files_without_their_last_line_ends(tmp_path: Path) -> None:
    folder = small(tmp_path / "mine")
    names = [f"en/data_{SINGLE}.json", f"en/possible_answer/data_{SINGLE}.json"]
    digests = [hashlib.sha256((folder / name).read_bytes().rstrip()).hexdigest() for name in names]
    lines = "".join(f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True))
    before = DATA.locate(str(folder))
    assert (before.name, before.path) == (str(folder), folder)
    assert before.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    for name in names:
        path = folder / name
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes() + b"\r\n\n"))
        path.unlink()
    assert DATA.locate(str(folder)) == before
    small(folder, "zh")
    both = DATA.locate(str(folder))
    assert both.sha256 != before.sha256
    small(folder, "zh", "special_irrelevant")
    assert DATA.locate(str(folder)).sha256 != both.sha256
    assert DATA.locate(str(folder), SINGLE).sha256 == both.sha256


def test_the_digest_of_episodes_depends_on_the_tables_of_their_sandbox(tmp_path: Path) -> None:
    folder = small(episode(tmp_path))
    before = [DATA.locate(str(folder), split).sha256 for split in (None, "agent_multi_step", SINGLE)]
    for name in ("sandbox_messages.json", "sandbox_initial_state_en.json"):
        path = folder / name
        text = path.read_text("utf-8")
        path.write_text(text.replace("{", "{ ", 1), "utf-8")
        after = [DATA.locate(str(folder), split).sha256 for split in (None, "agent_multi_step", SINGLE)]
        assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]
        path.write_text(text, "utf-8")
    (folder / "sandbox_initial_state_zh.json").write_text("{}", "utf-8")
    assert DATA.locate(str(folder)).sha256 == before[0]


def test_only_texts_of_official_categories_have_the_originals_prompts(cache: Path) -> None:
    prompts_build.write(cache)
    found = {
        (mode, split): originals_of(ACEBENCH.in_mode(mode), split) is not None
        for mode in ACEBENCH.modes
        for split in (None, "agent", "agent_finance", "agent_finance_multi_turn")
    }
    assert {key for key, there in found.items() if there} == {("text", None), ("text", "agent")}


def test_user_texts_are_what_the_user_says_in_each_record(tmp_path: Path) -> None:
    asked = [
        question(f"{SINGLE}_0", question="user: One,\ntwo. \nsystem: user: no\nuser:Three\n"),
        question(f"{SINGLE}_1", question="No transcript"),
    ]
    folder = write(tmp_path, SINGLE, asked, [answer(f"{SINGLE}_{n}", {"f": {}}) for n in range(2)])
    items = list(ACEBENCH.load(DATA.locate(str(folder))))
    assert DATA.user_texts is not None
    assert [list(DATA.user_texts(item)) for item in items] == [["One,\ntwo.", "Three"], ["No transcript"]]
    assert [item.id for item in ACEBENCH.load(DATA.locate(str(folder)), lang="both")] == [i.id for i in items]
