"""API-Bank's files: items, recorded answers and searches by words, what the lint says, results, and what is pulled."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apibank.apibank_build import (
    DIALOGUE_LEVELS,
    TABLES,
    described,
    write_data,
)
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank import source as pulling
from wildtool.benchmarks.apibank.data import ToolLibrary
from wildtool.benchmarks.apibank.results import read_results
from wildtool.benchmarks.apibank.tools import CallResult, execute
from wildtool.data.pinned import official_folder
from wildtool.data.prompt_files import digest_of
from wildtool.errors import DataError
from wildtool.types import Item

LEVEL_1, LEVEL_2 = DIALOGUE_LEVELS


def items_of(folder: Path, mode: str = "chat", **chosen: str) -> list[Item]:
    return list(APIBANK.in_mode(mode).load(APIBANK.data.locate(str(folder)), **chosen))


# Searches --------------------------------------------------------------------------------------------


def library() -> ToolLibrary:
    own = {
        **described(),
        "Meteo": {**described()["GetToday"], "name": "Meteo", "description": "weather forecast"},
    }
    pages = [
        {"title": "Tides", "url": "a", "abstract": "The sea and the moon."},
        {"title": "Moon", "url": "b", "abstract": "It is grey."},
        {"title": "Bread", "url": "c", "abstract": "Flour."},
        {"title": "Songs", "url": "d", "abstract": "Many have a moon and very many other words beside it."},
    ]
    return ToolLibrary(own, {**TABLES, "SearchEngine": {"raw_documents": pages}})


def test_a_search_by_words_finds_pages_and_described_tools() -> None:
    own = library()
    tables = own.fresh()
    assert not tables.searched
    pages = own.tables["SearchEngine"]["raw_documents"]
    assert execute(tables, "SearchEngine", {"keyword": "the moon"}).output == pages[:2]
    assert tables.searched
    assert (
        execute(tables, "ToolSearcher", {"keywords": "weather forecast"}).output == own.descriptions["Meteo"]
    )
    token = execute(tables, "ToolSearcher", {"keywords": "QueryBalance"}).output
    assert token == [own.descriptions["GetUserToken"], own.descriptions["QueryBalance"]]
    unknown = execute(tables, "SearchEngine", {"keyword": "zzyzx " * 20})
    assert unknown == CallResult(
        {"keyword": "zzyzx " * 20},
        None,
        f"no answer of SearchEngine is recorded, and no word of {'zzyzx ' * 20!r:.60} is known",
    )


# Results ---------------------------------------------------------------------------------------------


def test_predictions_are_rows_of_their_dialogue_and_sample(tmp_path: Path) -> None:
    items = {item.id: item for item in items_of(write_data(tmp_path / "data"), split=LEVEL_1)}
    folder = tmp_path / "results" / "m"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(
        '{"file": "one.jsonl", "id": 3, "pred": "x"}\n{"file": "two.jsonl", "id": 0, "pred": null}\n', "utf-8"
    )
    (folder / "other.jsonl").write_text('{"file": "x", "id": 1}\n', "utf-8")
    (folder / "broken.jsonl").write_text("{", "utf-8")
    (folder / "empty.jsonl").write_text("", "utf-8")
    results = read_results(folder, items, "chat")
    assert results is not None
    rows = [
        (row.where, row.model, row.item, {unit: t.replies[0].message for unit, t in row.units.items()})
        for row in results.rows
    ]
    assert rows == [
        (f"{folder / 'a.json'}:1 (file 'one.jsonl', id 3)", "m", f"{LEVEL_1}/one", {"3": ai_message("x")}),
        (f"{folder / 'a.json'}:2 (file 'two.jsonl', id 0)", "m", "two.jsonl", {"0": ai_message(None)}),
    ]
    assert read_results(folder / "other.jsonl", items, "chat") is None


def ai_message(text: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


# Pull ------------------------------------------------------------------------------------------------

FIELDS = 'description = "d"\n    input_parameters = {"a": {"type": "str"}}\n    output_parameters = {}'
PARTS = {
    "init_database/Stock.json": json.dumps(TABLES["Stock"]),
    "apis/wiki.py": f"import os\n\nclass Wiki(API):\n    {FIELDS}\n    other = os\n\nclass Late:\n    pass\n",
    "apis/adder.py": f"class Adder(API):\n    {FIELDS}\n",
    f"lv1-lv2-samples/{LEVEL_1}/a.jsonl": '{"role": "User"}\n\n{"role": "AI"}\n',
    f"lv1-lv2-samples/{LEVEL_2}/b.jsonl": '{"role": "API"}\n',
}
ABOUT = {"description": "d", "input_parameters": {"a": {"type": "str"}}, "output_parameters": {}}
JOINED: dict[str, Any] = {
    LEVEL_1: [{"file": "a.jsonl", "turns": [{"role": "User"}, {"role": "AI"}]}],
    LEVEL_2: [{"file": "b.jsonl", "turns": [{"role": "API"}]}],
    "init_database": {"Stock": TABLES["Stock"]},
    "api_descriptions": {"Adder": {"name": "Adder", **ABOUT}, "Wiki": {"name": "Wiki", **ABOUT}},
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of few files, which are taken for the pinned ones."""
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(pulling, "part_paths", lambda: [Path(name) for name in PARTS])
    monkeypatch.setattr(
        pulling, "CONTENT_DIGESTS", {name: digest_of(value) for name, value in JOINED.items()}
    )
    for name, text in PARTS.items():
        path = tmp_path / "checkout" / "api-bank" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "checkout"


def pull(file: Path) -> list[str]:
    lines: list[str] = []
    assert APIBANK.data.pull(file=file, mirror=None, report=lines.append) == official_folder("apibank")
    return lines


def test_a_split_or_folder_that_is_not_there_is_named(checkout: Path, tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    assert [APIBANK.data.locate(str(folder), level).path for level in DIALOGUE_LEVELS] == [folder] * 2
    with pytest.raises(DataError, match=f"^unknown split 'level-3' \\(known: {LEVEL_1}, {LEVEL_2}\\)$"):
        APIBANK.data.locate(str(folder), "level-3")
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(DataError) as caught:
        pull(place)
    assert str(caught.value) == (
        f"{place}: no folder; --from takes a checkout of {pulling.REPOSITORY} or a folder with {LEVEL_1}, {LEVEL_2},"
        " init_database, api_descriptions"
    )
