"""API-Bank's files: items, recorded answers and searches by words, what the lint says, results, and what is pulled."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apibank.apibank_build import (
    DIALOGUE_LEVELS,
    FOUND,
    TABLES,
    ai,
    api,
    described,
    user,
    write_data,
)
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank import source as pulling
from wildtool.benchmarks.apibank.data import Sample, ToolLibrary, read_tool_library
from wildtool.benchmarks.apibank.results import read_results
from wildtool.benchmarks.apibank.tools import CallResult, execute
from wildtool.data.pinned import official_folder
from wildtool.data.prompt_files import digest_of
from wildtool.declared import lint
from wildtool.errors import DataError
from wildtool.types import Item

LEVEL_1, LEVEL_2 = DIALOGUE_LEVELS
STOCK = {"stock_code": "ABC", "date": "2022-01-05"}


def write_level(folder: Path, level: str, *dialogues: tuple[str, list[dict[str, Any]]]) -> Path:
    rows = (json.dumps({"file": file, "turns": turns}) for file, turns in dialogues)
    path = folder / f"{level}.jsonl"
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return path


def items_of(folder: Path, mode: str = "chat", **chosen: str) -> list[Item]:
    return list(APIBANK.in_mode(mode).load(APIBANK.data.locate(str(folder)), **chosen))


# Items -----------------------------------------------------------------------------------------------


def test_samples_are_numbered_over_all_turns_that_follow_calls(tmp_path: Path) -> None:
    one, two = items_of(write_data(tmp_path))
    assert (one.id, one.split, one.data.level, one.data.file) == (
        f"{LEVEL_1}/one",
        LEVEL_1,
        LEVEL_1,
        "one.jsonl",
    )
    assert one.units == (*map(str, range(9)), "10", "11", "12", "13") == tuple(one.data.samples)
    assert two.units == ("0", "1", "2", "3")
    assert list(two.data.samples.values()) == [
        Sample(0, 1, "call", False),
        Sample(1, 2, "call", False),
        Sample(2, 2, "call", True),
        Sample(3, 3, "reply", False),
    ]
    assert [APIBANK.fields(two, unit) for unit in two.units] == [
        {"task": "call", "api": "ToolSearcher", "repeated": False},
        {"task": "call", "api": "QueryStock", "repeated": False},
        {"task": "call", "api": "QueryStock", "repeated": True},
        {"task": "reply", "api": "QueryStock", "repeated": False},
    ]
    assert two.data.apis == ["QueryStock", "ToolSearcher"]


def test_splits_modes_and_languages_choose_items(tmp_path: Path) -> None:
    folder = write_data(tmp_path)
    assert [item.id for item in items_of(folder, split=LEVEL_2, lang="en")] == [f"{LEVEL_2}/one"]
    assert items_of(folder, lang="zh") == []
    replies = items_of(folder, "replies")
    assert [item.units for item in replies] == [("3", "5", "7", "13"), ("3",)]
    write_level(folder, LEVEL_1, ("a.jsonl", [user("Hi"), ai("Hello")]), ("b.jsonl", [api("GetToday")]))
    assert [(item.id, item.units) for item in items_of(folder)] == [
        (f"{LEVEL_1}/b", ("0",)),
        (f"{LEVEL_2}/one", ("0", "1", "2", "3")),
    ]
    assert [item.id for item in items_of(folder, "replies")] == [f"{LEVEL_2}/one"]


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


def test_the_first_recorded_answer_counts(tmp_path: Path) -> None:
    own = library()
    both = [{"name": "GetUserToken"}, {"name": "QueryBalance"}]
    own.record(
        [
            api("ToolSearcher", FOUND, keywords="Stock price "),
            api("ToolSearcher", {"name": "Other"}, keywords="stock price"),
            api("ToolSearcher", both, keywords="money"),
            api("Dictionary", "a word", keyword="tide"),
            api("GetToday", "never"),
            user("Hello"),
        ]
    )
    tables = own.fresh()
    assert execute(tables, "ToolSearcher", {"keywords": "stock PRICE"}).output == FOUND
    assert execute(tables, "Dictionary", {"keyword": "Tide"}).output == "a word"
    assert execute(tables, "GetToday", {}).output == "2023-03-31"
    assert not tables.searched
    # A search by words gives what was recorded of the same tools.
    assert execute(tables, "ToolSearcher", {"keywords": "QueryBalance"}).output == both
    assert tables.searched


# Faults ----------------------------------------------------------------------------------------------


def test_lint_names_calls_samples_and_files(tmp_path: Path) -> None:
    folder = write_data(tmp_path)
    path = write_level(
        folder,
        LEVEL_2,
        ("a.jsonl", [api("QueryStock", 12.5, zz="1", **STOCK), user("Thanks")]),
        ("a.jsonl", [user("Hi")]),
        ("b.jsonl", [api("QueryStock", 12.5, **STOCK), api("GetToday"), ai("Done.")]),
    )
    write_level(folder, LEVEL_1)
    findings = list(lint(APIBANK, APIBANK.data.locate(str(folder))))
    twice = "asks the same as the one before; only `fixed` counts it once (Q10)"
    assert [(f.where.removeprefix(f"{path}: "), f.rule, f.message) for f in findings] == [
        ("a.jsonl: turns[0]", "unknown parameter", "QueryStock declares no 'zz'; the call is always refused (Q6)"),
        ("a.jsonl", "user turn as target", "sample 1 wants a user's turn; it is not asked"),
        ("a.jsonl", "repeated file", "another dialogue has this name; give each its own"),
        ("a.jsonl", "no call", "nothing is asked; the dialogue only counts in ToLeaP's weights"),
        ("b.jsonl", "sample asked twice", f"sample 2 {twice}"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"role": "Bot"}, "field role: expected User, AI or API, found 'Bot'"),
        ({"role": 5}, "field role: expected a text, found a number"),
        ({"role": "User"}, "field text: expected a text, found null"),
        ({"role": "AI", "text": 5}, "field text: expected a text, found a number"),
        ({"role": "API", "api_name": "No"}, "field api_name: 'No' is none of the 53 tools"),
        ({"role": "API", "api_name": 5}, "field api_name: expected a text, found a number"),
        (
            {"role": "API", "api_name": "Wiki", "param_dict": []},
            "field param_dict: expected an object, found a list",
        ),
        (
            {"role": "API", "api_name": "Wiki", "param_dict": {}},
            "field result: expected an object, found null",
        ),
        *(
            (
                {
                    "role": "API",
                    "api_name": "Wiki",
                    "param_dict": {},
                    "result": {k: 1 for k in keys if k != lost},
                },
                f"result.{lost} is missing",
            )
            for keys in [("input", "output", "exception")]
            for lost in keys
        ),
    ],
)
def test_a_broken_turn_is_named_with_its_place(tmp_path: Path, turn: dict[str, Any], message: str) -> None:
    folder = write_data(tmp_path)
    path = write_level(folder, LEVEL_1, ("a.jsonl", []), ("b.jsonl", [user("Hi"), turn]))
    with pytest.raises(DataError) as caught:
        items_of(folder)
    assert str(caught.value) == f"{path}:2 (b.jsonl): turns[1]: {message}"


def test_turns_must_be_a_list(tmp_path: Path) -> None:
    folder = write_data(tmp_path)
    path = folder / f"{LEVEL_1}.jsonl"
    path.write_text('{"file": "a.jsonl", "turns": {}}\n', "utf-8")
    with pytest.raises(DataError) as caught:
        items_of(folder)
    assert str(caught.value) == f"{path}:1 (a.jsonl): field turns: expected a list, found an object"


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({}, "field description: expected a text, found null"),
        ({"description": "x"}, "field input_parameters: expected an object, found null"),
        ({"description": "x", "input_parameters": {"a": {}}}, "a: field type: expected a text, found null"),
    ],
)
def test_a_broken_description_is_named(tmp_path: Path, own: dict[str, Any], message: str) -> None:
    folder = write_data(tmp_path)
    path = folder / "api_descriptions.json"
    path.write_text(json.dumps({**described(), "Wiki": own}), "utf-8")
    with pytest.raises(DataError) as caught:
        read_tool_library(folder)
    assert str(caught.value) == f"{path}: Wiki: {message}"


@pytest.mark.parametrize(
    "name", [f"{LEVEL_1}.jsonl", f"{LEVEL_2}.jsonl", "init_database.json", "api_descriptions.json"]
)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_data(tmp_path)
    (folder / name).unlink()
    with pytest.raises(DataError) as caught:
        APIBANK.data.locate(str(folder))
    assert str(caught.value) == (
        f"{folder}: {name} is missing; `wildtool data pull apibank` fetches it, or name a folder with --data"
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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"file": "one.jsonl", "id": 0, "pred": ""},
            f" (file 'one.jsonl', id 0): {LEVEL_1}/one and {LEVEL_2}/one have this file; choose one with --split",
        ),
        ({"file": 5, "id": 0, "pred": ""}, ": field file: expected a text, found a number"),
        ({"file": "x", "id": "0", "pred": ""}, ": field id: expected a whole number, found a text"),
        (
            {"file": "x", "id": 0, "pred": 5},
            " (file 'x', id 0): field pred: expected the text of a reply, or null, found a number",
        ),
    ],
)
def test_a_prediction_without_its_place_is_named(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    items = {item.id: item for item in items_of(write_data(tmp_path / "data"))}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line), "utf-8")
    results = read_results(path, items, "chat")
    assert results is not None
    with pytest.raises(DataError) as caught:
        list(results.rows)
    assert str(caught.value) == f"{path}:1{message}"


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


def contents(folder: Path) -> dict[str, Any]:
    return {
        path.stem: json.loads(path.read_text("utf-8"))
        if path.suffix == ".json"
        else [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("below", ["", "api-bank"])
def test_a_checkout_is_joined_into_four_files(checkout: Path, tmp_path: Path, below: str) -> None:
    folder = tmp_path / "cache" / "apibank"
    assert pull(checkout / below) == [
        f"{folder}: 4 files, verified by SHA-256 of their contents",
        f"source: {pulling.REPOSITORY}, folder api-bank, at commit {pulling.COMMIT}; licence: Apache-2.0",
    ]
    assert contents(folder) == JOINED
    assert list(contents(folder)["api_descriptions"]) == ["Adder", "Wiki"]
    assert pull(tmp_path / "nowhere") == [f"{folder}: all files are there and verified"]
    # A folder of joined files is taken, too, and brings a damaged one again.
    copied = folder.rename(tmp_path / "joined")
    write_level(folder.parent, "x")
    assert pull(copied)[0] == f"{folder}: 4 files, verified by SHA-256 of their contents"
    assert contents(folder) == JOINED
    (folder / "init_database.json").write_text("{", "utf-8")
    assert len(pull(copied)) == 2
    assert contents(folder) == JOINED


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("apis/wiki.py", "x = 1\n", "apis/wiki.py: holds no class"),
        (
            "apis/wiki.py",
            "class Wiki:\n    description = f()\n",
            "apis/wiki.py: the class Wiki lacks a plain description or input_parameters or output_parameters",
        ),
        (
            "apis/wiki.py",
            f"class Wiki:\n    {FIELDS.replace('output', 'out')}\n",
            "apis/wiki.py: the class Wiki lacks a plain description or input_parameters or output_parameters",
        ),
        (
            "init_database/Stock.json",
            "{}",
            "{file}: init_database is not that of commit {commit}; nothing was installed. Name other data at a run"
            " with --data FOLDER",
        ),
    ],
)
def test_other_files_are_not_installed(
    checkout: Path, name: str, text: str, message: str, tmp_path: Path
) -> None:
    (checkout / "api-bank" / name).write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        pull(checkout)
    assert str(caught.value) == message.format(file=checkout, commit=pulling.COMMIT)
    assert not (tmp_path / "cache" / "apibank").exists()


def test_a_file_that_is_not_json_is_named(checkout: Path) -> None:
    (checkout / "api-bank" / "init_database" / "Stock.json").write_text("{", "utf-8")
    with pytest.raises(DataError, match=r"^init_database/Stock\.json: not JSON \(.+\)$"):
        pull(checkout)


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


def test_a_folder_of_other_files_is_refused(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        pull(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: holds neither api-bank/lv1-lv2-samples nor {LEVEL_1}.jsonl; --from takes a checkout of"
        f" {pulling.REPOSITORY} or a folder with {LEVEL_1}, {LEVEL_2}, init_database, api_descriptions"
    )
