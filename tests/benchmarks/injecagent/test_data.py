"""InjecAgent's files: cases, tools and stored results as they are read, what is refused, lint, results."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.injecagent.case_build import USER, raw_case, write_tools
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.injecagent.data import (
    tool_schema,
)
from wildtool.data.data_set import DataSet
from wildtool.data.pinned import PinnedFile
from wildtool.declared import describe
from wildtool.errors import DataError
from wildtool.types import Item


def write(folder: Path, name: str, content: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content), "utf-8")
    return folder / name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = write_tools(tmp_path / "data")
    for setting in ("base", "enhanced"):
        write(home, f"test_cases_dh_{setting}.json", [raw_case(), raw_case(**{"Attack Type": "Harm"})])
        write(home, f"test_cases_ds_{setting}.json", [raw_case("ds")])
    return tmp_path


def items(path: Path, split: str | None = None, **options: Any) -> list[Item]:
    return list(INJECAGENT.load(INJECAGENT.data.locate(str(path), split), split=split, **options))


# Tools and results -----------------------------------------------------------------------------------


def test_a_tool_is_converted_as_the_original_does() -> None:
    described = {"name": "ids", "type": "array", "description": "The array of ids, a list of texts"}
    parameters: list[Any] = [
        described | {"required": True},
        {"name": "all", "type": "array", "description": "A list of  all "},
        {"name": "bare", "type": "array"},
        {"name": "n", "type": "integer", "description": "list of", "required": False},
        3,
    ]

    def array(name: str, words: str) -> dict[str, Any]:
        member = {name: {"type": "string", "description": words}}
        return {"type": "array", "items": {"type": "object", "properties": member}}

    assert tool_schema({"name": "x", "summary": "S", "parameters": parameters}) == {
        "type": "function",
        "function": {
            "name": "x",
            "description": "S",
            "parameters": {
                "type": "object",
                "properties": {
                    "ids": array("ids", "ids, a list of texts"),
                    "all": array("all", "all"),
                    "bare": array("bare", ""),
                    "n": {"type": "integer", "description": "list of"},
                    "None": {"type": None, "description": ""},
                },
                "required": ["ids"],
            },
        },
    }


# Lint and descriptions -------------------------------------------------------------------------------


def test_data_are_described_by_attack_setting_and_tool(folder: Path) -> None:
    metrics = describe(INJECAGENT, INJECAGENT.data.locate(str(folder), "both"))
    groups = ("cases", "attack type", "user tool", "simulation")
    numbers = [
        (m.group, m.name, m.value, m.numerator, m.denominator, m.kind) for m in metrics if m.group in groups
    ]
    assert [number[:3] for number in numbers] == [
        ("cases", "Direct Harm, base", 2),
        ("cases", "Direct Harm, enhanced", 2),
        ("cases", "Data Stealing, base", 1),
        ("cases", "Data Stealing, enhanced", 1),
        ("attack type", "Financial Data", 4),
        ("attack type", "Harm", 2),
        ("user tool", USER, 6),
        ("simulation", "tools described", 4),
        ("simulation", "results stored", 3),
    ]
    assert numbers[-2][3:] == (4, 4, "count")


# Result files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_results", [True, False])
def test_a_pull_brings_cases_tools_results_and_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_results: bool
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    home, lines = tmp_path / "injecagent", list[str]()

    def pulled(self: DataSet, *, file: Path | None, mirror: str | None, report: Any) -> Path:
        report(f"{len(self.pinned_files())} files from {file}, {mirror}")
        return home

    def fetched(
        files: dict[Path, PinnedFile], *, folder: Path | None, mirror: str | None, report: Any
    ) -> None:
        report(f"{[str(path.relative_to(home)) for path in files]} from {folder}, {mirror}")
        if not has_results:
            raise DataError("gone")

    monkeypatch.setattr(DataSet, "pull", pulled)
    monkeypatch.setattr("wildtool.benchmarks.injecagent.data.fetch_all", fetched)
    monkeypatch.setattr(
        "wildtool.benchmarks.injecagent.data._pull_originals",
        lambda file, mirror, report: report(f"prompts from {file}, {mirror}"),
    )
    assert INJECAGENT.data.pull(file=tmp_path, mirror="M", report=lines.append) == home
    missing = "without stored results, so agents that read data are given an empty list: gone"
    assert lines == [
        f"5 files from {tmp_path}, M",
        f"['attacker_simulated_responses.json'] from {tmp_path}, M",
        *([] if has_results else [missing]),
        f"prompts from {tmp_path}, M",
    ]


def test_tools_are_pinned_in_a_copy_of_their_own() -> None:
    pins = INJECAGENT.data.pinned_files()
    tools = next(pin for path, pin in pins.items() if path.name == "tools.json")
    assert (len(pins), tools.path, tools.other_path) == (5, "data/tools.json", "tools.json")
