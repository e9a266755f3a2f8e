"""A set that is whole is no part, however its items were named: by `--ids`, by `--limit` or by a file of replies."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.score.results import load_result
from wildtool.episode import gold_replies

ITEMS = list(WILD_MINI.load(data_of(WILD_MINI).locate(None)))
IDS = [item.id for item in ITEMS]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def part_after(*words: str) -> str:
    """What the table says the run is a part by."""
    ended = CliRunner().invoke(app, list(words), prog_name="wildtool")
    assert ended.exit_code == 0, ended.output
    folder = next(Path.cwd().rglob("run.json")).parent
    part = load_result(folder).part
    shown = CliRunner().invoke(app, ["show", str(folder)], prog_name="wildtool")
    assert ("Not all items" in shown.output) == bool(part)
    return part


@pytest.mark.long
@pytest.mark.parametrize(
    ("selection", "part"),
    [
        (["--ids", ",".join(IDS)], ""),
        (["--limit", str(len(IDS))], ""),
        (["--ids", ",".join(IDS), "--limit", str(len(IDS))], ""),
        (["--ids", ",".join(IDS[1:])], f"--ids of {len(IDS) - 1}"),
        (["--limit", str(len(IDS) - 1)], f"--limit {len(IDS) - 1}"),
        (["--ids", ",".join(IDS), "--limit", "2"], "--ids of 2"),
    ],
)
def test_a_selection_that_leaves_nothing_out_is_no_part(selection: list[str], part: str):
    assert part_after("run", "wild-mini", "--quiet", "--model", "baseline/gold", *selection) == part


@pytest.mark.long
@pytest.mark.parametrize(("held", "part"), [(len(IDS), ""), (len(IDS) - 1, "31 of 32 items in the file")])
def test_a_file_of_replies_to_all_items_is_no_part(held: int, part: str):
    rules = WILD_MINI.rules("official")
    rows = [
        {
            "item": item.id,
            "units": {unit: gold_replies(rules.episode(item, unit)) for unit in item.units},
        }
        for item in ITEMS[:held]
    ]
    Path("replies.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert part_after("score", "--data", "wild-mini", "--replies", "replies.jsonl", "--out", "scored") == part
