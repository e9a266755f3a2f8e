"""`--failures` through the command: run, resume, score, show, compare, export."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.engine.score.verdict_table import relation


def typed(*words: object) -> tuple[int, str]:
    """Types `wildtool WORDS`; its exit status, and its output on one line with all that it says of errors."""
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def run(out: Path, *more: object, model: str = "gold") -> tuple[int, str]:
    return typed("run", "wild-mini", "--model", f"baseline/{model}", "--out", out, "--quiet", *more)


def numbers(folder: Path) -> dict[str, tuple[float, float]]:
    """Numerator and denominator of each number about failures, and of the accuracy."""
    status, text = typed("show", folder, "--json")
    assert status == 0
    return {
        metric["name"]: (metric["numerator"], metric["denominator"])
        for metric in json.loads(text)["runs"][0]["metrics"]
        if metric["group"] == "failures" or (metric["group"], metric["name"]) == ("accuracy", "task")
    }


@pytest.mark.long
def test_the_scores_of_the_known_policies(tmp_path: Path):
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for model in ("gold", "always-retries", "never-retries", "chat"):
        assert run(tmp_path / model, "--failures", "first-call", model=model)[0] == 0
        scores[model] = numbers(tmp_path / model)
    shown = {
        name: [scores[model][name] for model in scores]
        for name in scores["gold"]
        if not name.startswith("handled:")
    }
    assert shown == {
        "task": [(128, 128), (95, 128), (82, 128), (32, 128)],
        "handled": [(96, 96), (63, 96), (33, 96), (0, 0)],
        "tried again where it helps": [(63, 63), (63, 63), (0, 63), (0, 0)],
        "tried again where it cannot help": [(0, 33), (33, 33), (0, 33), (0, 0)],
        "reported the missing result": [(0, 0), (0, 0), (63, 63), (0, 0)],
        "invented a value": [(0, 0), (0, 0), (0, 63), (0, 0)],
        "wrote twice": [(0, 45), (30, 45), (0, 45), (0, 0)],
        "correct after a failure": [(96, 96), (63, 96), (50, 96), (0, 0)],
        "reported a failure where none was left": [(0, 128), (0, 95), (0, 65), (128, 128)],
        "ended without words": [(0, 96), (0, 96), (0, 96), (0, 0)],
        "reached by a failure": [(96, 128), (96, 128), (96, 128), (0, 128)],
    }
    kinds = [count for name, count in scores["gold"].items() if name.startswith("handled: ")]
    assert (len(kinds), sum(of for _, of in kinds)) == (8, 96)


@pytest.mark.long
def test_a_run_is_named_scored_resumed_and_compared(tmp_path: Path):
    failures = ("--failures", "flaky:0.5,stale,timeout", "--failures-seed", 5, "--limit", 4)
    assert run(tmp_path / "clean", "--limit", 4)[0] == 0
    status, table = run(tmp_path / "gold", *failures)
    assert status == 0
    assert "failures flaky:0.5,timeout,stale, seed 5" in table
    identity = json.loads((tmp_path / "gold" / "run.json").read_text())["identity"]
    assert identity["failures"] == {"schedule": "flaky:0.5,timeout,stale", "seed": 5}
    assert run(tmp_path / "gold", *failures) == (status, table)
    status, reason = run(tmp_path / "gold", *failures[:2], "--limit", 4)
    assert status == 2
    assert "failures.seed" in reason
    before = numbers(tmp_path / "gold")
    assert before["handled"][0] == before["handled"][1] > 0
    for profile in ("fixed", "paper"):
        status, text = typed("score", tmp_path / "gold", "--profile", profile)
        assert status == 0
        assert f"played official, judged {profile}" in text
    assert run(tmp_path / "never", *failures, model="never-retries")[0] == 0
    status, text = typed("compare", tmp_path / "clean", tmp_path / "never")
    assert status == 0
    assert "tools failed: none; flaky:0.5,timeout,stale, seed 5" in text
    status, text = typed("compare", tmp_path / "clean", tmp_path / "never", "--json")
    (pair,) = json.loads(text)["comparisons"]
    whole = pair["whole"]
    assert whole["low"] <= whole["difference"] <= whole["high"] < 0
    # What refuses published figures beside a run reads the same.
    assert typed("export", tmp_path / "gold", "--format", "passport", "-o", tmp_path / "p.json")[0] == 0
    assert "failures flaky:0.5,timeout,stale, seed 5" in (tmp_path / "p.json").read_text()


def test_the_folder_of_a_run_says_what_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", 1, "--quiet")
    assert typed(*words, "--failures", "flaky:0.2,empty", "--failures-seed", 3)[0] == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [
        "wild-mini-failures-flaky-0.2-empty-seed-3"
    ]


def test_a_dataset_page_names_the_failures_and_their_columns(tmp_path: Path):
    run(tmp_path / "run", "--failures", "down", "--limit", 4)
    status, _ = typed("export", tmp_path / "run", "--to", "hf-card", "-o", tmp_path / "card")
    assert status == 0
    page = (tmp_path / "card" / "README.md").read_text()
    assert "failures down" in page
    columns = relation([tmp_path / "card" / "verdicts-official.parquet"]).columns
    assert {"failures", "failure_kind", "failure_end", "failure_invented"} <= set(columns)
    assert [column for column in columns if f"| {column.replace('_', chr(92) + '_')} |" not in page] == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("wild-mini", "--failures", "flakey:0.2"), "did you mean 'flaky'?"),
        (("wild-mini", "--failures", "flaky"), "write flaky:0.2"),
        (("toleap", "--failures", "down"), "--failures belongs to one benchmark"),
        (
            ("acebench", "--split", "agent_finance", "--failures", "down"),
            "none of the selected items of acebench shows the model one in mode text",
        ),
    ],
)
def test_what_cannot_fail_is_refused_before_the_run(tmp_path: Path, words: tuple[object, ...], reason: str):
    status, text = typed("run", *words, "--model", "baseline/gold", "--out", tmp_path / "run")
    assert status == 2
    assert reason in text
    assert not (tmp_path / "run").exists()
