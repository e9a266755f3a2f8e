"""What procedures over training files would take, before anything is sent."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from training.procedures.training_files import call, row, wrote
from wildtool.cli import app

HUSUM = call(station="Husum")


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("pairs a.jsonl", {"agent": "3", "retry": "0 – 3"}),
        ("pairs a.jsonl --tries 3", {"agent": "3", "retry": "0 – 6"}),
        ("pairs a.jsonl --turns all --critic c", {"agent": "6", "retry": "0 – 6", "critic": "3 – 6"}),
        ("select a.jsonl", {"agent": "3"}),
        ("select a.jsonl --by tries --tries 5", {"agent": "15 – 30"}),
        ("rationales a.jsonl", {"agent": "3", "check": "3"}),
        ("rationales a.jsonl --no-check", {"agent": "3"}),
    ],
)
def test_calls_are_estimated_for_each_role(
    words: str, calls: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    wrote(Path("a.jsonl"), *(row(HUSUM, user=f"Level at Husum? {number}") for number in range(3)))
    line = f"generate {words} --model m --base-url http://127.0.0.1:1/v1 -o out --dry-run"
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert (ended.exit_code, Path("out").exists()) == (0, False), ended.stderr
    found = re.findall(r"^(\w+) \(\w+\)\n  calls +(.+)$", ended.stdout, re.MULTILINE)
    assert dict(found) == calls, json.dumps(found)
    assert not re.search(r"prompt tokens  0$", ended.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("verb", "name"),
    [("pairs", "pairs"), ("select", "kept"), ("select", "random"), ("rationales", "reasoned")],
)
def test_a_file_that_is_read_is_never_written(
    verb: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    wrote(Path(f"{name}.jsonl"), row(HUSUM))
    line = f"generate {verb} {name}.jsonl --model m --base-url http://127.0.0.1:1/v1 -o . --force"
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert (ended.exit_code, f"{name}.jsonl: is read and would" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.jsonl"]
