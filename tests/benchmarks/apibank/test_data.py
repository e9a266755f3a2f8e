"""API-Bank's files: items, recorded answers and searches by words, what the lint says, results, and what is pulled."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apibank.apibank_build import (
    DIALOGUE_LEVELS,
    TABLES,
    write_data,
)
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank import source as pulling
from wildtool.data.pinned import official_folder
from wildtool.data.prompt_files import digest_of
from wildtool.errors import DataError

LEVEL_1, LEVEL_2 = DIALOGUE_LEVELS


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
