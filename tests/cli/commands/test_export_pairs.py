"""Preference pairs from the wrong units of a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from training.procedures.training_files import call, row, wrote
from wildtool.cli import app

HUSUM, KIEL = call(station="Husum"), call(station="Kiel")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def lines(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def test_a_played_file_gives_the_pairs_of_its_wrong_turns():
    wrote(Path("a.jsonl"), row(HUSUM, user="Husum?"), row(KIEL, HUSUM, user="Both?"))
    type_("run training --data a.jsonl --model baseline/chat --out run -q")
    ended = type_("export run --to pairs -o p.jsonl")
    assert (ended.exit_code, ended.stdout) == (0, "p.jsonl\n")
    first, second = lines("p.jsonl")
    assert [one["value"] for one in first["conversations"]] == ["Husum?"]
    assert json.loads(first["chosen"]["value"]) == HUSUM
    assert first["rejected"]["from"] == "gpt"
    assert first["meta"] == {"turn": 1, "tries": 1, "solved": False}
    assert json.loads(second["chosen"]["value"]) == [KIEL, HUSUM]
    assert [one["reason"] for one in lines("p.audit.jsonl")] == [
        "wrong, and not equal to the gold reply",
        "correct",
        "wrong, and not equal to the gold reply",
        "correct",
    ]


def test_made_sessions_give_pairs_where_the_wrong_step_has_one_gold_reply():
    type_("generate --model procedural --sessions 3 -o made")
    (made,) = Path("made").glob("*.jsonl") if Path("made").is_dir() else [Path("made")]
    type_(f"run wildtoolbench --data {made} --model baseline/chat --out run -q")
    assert type_("export run --to pairs -o p.jsonl").exit_code == 0
    pairs, audit = lines("p.jsonl"), lines("p.audit.jsonl")
    assert pairs
    assert len(pairs) == sum(one["pair"] for one in audit)
    assert {one["outcome"] for one in audit if one["pair"]} == {"wrong"}
    assert all(one["conversations"][-1]["from"] in ("human", "observation") for one in pairs)


def test_a_benchmarks_own_data_are_refused():
    type_("run wild-mini --limit 1 --model baseline/chat --out run -q")
    refused = type_("export run --to pairs -o p.jsonl")
    assert (refused.exit_code, Path("p.jsonl").exists()) == (2, False)
    assert "is a benchmark: scores on it would mean nothing afterwards" in refused.stderr
    assert type_("export run --to pairs --allow-benchmark-data -o p.jsonl").exit_code == 0
    assert all(one["meta"]["benchmark_data"] == ["wild-mini"] for one in lines("p.jsonl"))
    assert lines("p.audit.jsonl")[0]["benchmark_data"] == ["wild-mini"]
