"""Audits over cases that a benchmark really gives."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app

RULE = Path(__file__).resolve().parents[2] / "docs" / "rule_judge.py"


def audited(line: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, shlex.split(f"audit wild-mini {line} --json -q"), prog_name="wildtool")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["audits"][0]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.long
def test_who_knows_the_labels_reaches_a_gate_of_nine_in_ten():
    asked = "--judge baseline/gold --cases 800 --twins none --require tp:0.9,tn:0.9"
    assert [audited(f"{asked} --style {style}")["j"][0] for style in ("pass-fail", "checker")] == [1, 1]


@pytest.mark.long
def test_a_rule_sees_wrong_names_and_no_wrong_words():
    kinds = {
        kind["kind"]: kind["share"]["value"]
        for kind in audited(f"--judge {RULE} --cases 400 --twins none")["figures"]["wrong"]["kinds"]
    }
    assert kinds["required argument left out"] == 1 and kinds["wrong name"] > 0.5
    assert kinds["false figure in the words"] == kinds["needless refusal"] == 0


@pytest.mark.long
def test_the_judge_of_training_is_asked_about_texts_of_both_labels():
    found = audited("--judge baseline/gold --style training --cases 1600 --twins none")["figures"]
    assert found["right"]["share"]["value"] == found["wrong"]["share"]["value"] == 1
