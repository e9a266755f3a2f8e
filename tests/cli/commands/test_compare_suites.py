"""`wildtool compare` as it is typed, on folders with runs of several benchmarks."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.cli.output.comparison import COMPARISON_CSV_COLUMNS


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def told(line: str) -> str:
    ended = type_(line)
    assert ended.exit_code == 0, ended.stderr
    return " ".join(ended.stdout.split())


def as_json(line: str) -> Any:
    ended = type_(f"compare {line} --json")
    assert ended.exit_code == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two benchmarks played by gold in `old`, by gold and a weaker model in `new`."""
    place = tmp_path_factory.mktemp("suites")
    for out, models in (("old", ["gold"]), ("new", ["gold", "chat"])):
        words = " ".join(f"--model baseline/{name}" for name in models)
        mini = f"run wild-mini --quiet --limit 8 {words} --out {place}/{out}/wild-mini"
        ace = f"run acebench --data finance --mode fc --quiet --limit 8 {words} --out {place}/{out}/acebench"
        for line in (mini, ace):
            assert type_(line).exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


ACEBENCH = "acebench (data finance), mode fc"
CHAT = "new/acebench/baseline--chat"


def unplay(run: str) -> None:
    """Takes all but the first replies from a run's record."""
    segment = Path(run) / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:4]))


@pytest.mark.long
def test_one_table_has_a_line_for_each_benchmark_and_one_for_all():
    text = told("compare new")
    assert "baseline/gold against baseline/chat: accuracy by unit" in text
    assert f"{ACEBENCH} 8 0.0 % 100.0 % +100.0" in text
    assert "wild-mini 32 " in text
    assert (
        f"Over 2 of 2 benchmarks ({ACEBENCH}, wild-mini), each counted once, baseline/gold is better" in text
    )


@pytest.mark.long
def test_models_of_two_folders_are_compared_with_the_only_one_of_the_first():
    text = told("compare old new")
    assert "baseline/gold (new) against baseline/gold (old)" in text
    assert "baseline/chat against baseline/gold (old)" in text
    assert "baseline/gold (new) and baseline/gold (old) are not distinguishable" in text


def test_a_difference_is_the_one_that_the_runs_alone_have():
    suite = as_json("new")
    for row in suite["comparisons"]:
        folder = "acebench" if row["benchmark"] == ACEBENCH else "wild-mini"
        (alone,) = as_json(f"new/{folder}/baseline--chat new/{folder}/baseline--gold")["comparisons"]
        assert (row["whole"], row["p"], row["flips"]) == (alone["whole"], alone["p"], alone["flips"])
        assert row["p_holm"] > alone["p_holm"]
    (overall,) = suite["overall"]
    parts = [row["whole"]["difference"] for row in suite["comparisons"]]
    assert overall["whole"]["difference"] == pytest.approx(sum(parts) / 2)
    assert overall["finding"] == "better"
    assert suite["left_out"] == []


def test_csv_has_the_columns_of_a_comparison_after_the_benchmark():
    ended = type_("compare new --csv")
    heads, *rows = csv.reader(io.StringIO(ended.stdout))
    assert heads == ["benchmark", *COMPARISON_CSV_COLUMNS]
    assert [row[0] for row in rows] == [ACEBENCH, "wild-mini", "overall"]
    assert {row[heads.index("finding")] for row in rows} == {"better"}


def test_what_is_left_out_is_said_with_the_reason():
    unplay(CHAT)
    shutil.rmtree("new/wild-mini/baseline--gold")
    ended = type_("compare new")
    assert ended.exit_code == 2
    assert "no benchmark can be compared" in ended.stderr
    assert "Left out: wild-mini: only in baseline/chat." in ended.stderr
    text = told("compare old new")
    assert f"Left out: {ACEBENCH}: baseline/chat incomplete; --only-played compares" in text
    assert "Left out: wild-mini: only in baseline/gold (old)" in text
    assert "No overall" in text
    assert f"{ACEBENCH} (incomplete)" not in told("compare old new --only-played")


def test_what_looks_inside_one_benchmark_is_refused():
    for option in ("--flips", "--group split"):
        ended = type_(f"compare new {option}")
        assert ended.exit_code == 2
        assert "looks inside one benchmark" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("line", ["compare new", "compare new/wild-mini"])
def test_a_rule_that_raises_has_the_exit_status_of_a_fault(line: str, monkeypatch: pytest.MonkeyPatch):
    for table in Path("new/wild-mini").rglob("verdicts-*"):
        table.unlink()

    def fails(*_: Any) -> Any:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(type(WILD_MINI.rules("official")), "verdict", fails)
    ended = type_(line)
    assert (ended.exit_code, "ZeroDivisionError" in ended.stderr) == (1, True)
