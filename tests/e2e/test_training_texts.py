"""What `data convert --to text` writes is what a run sends, and what it reads as the gold answer."""

import json
from pathlib import Path

import pytest

from e2e.command import verdicts, wildtool
from faults.server import FaultServer, request_digest


@pytest.mark.long
@pytest.mark.parametrize("tool_format", ["hermes", "react", "pythonic", "glm"])
async def test_a_server_that_learned_the_rows_by_heart_gets_everything_right(
    tmp_path: Path, tool_format: str
):
    generate = "generate --model procedural --sessions 6 --hold-out-tools 0.25 --out made.jsonl"
    play = "run wildtoolbench --data made.jsonl --model baseline/gold --profile fixed --out gold"
    convert = f"data convert gold --to text --tool-format {tool_format} --out rows.jsonl"
    for line in (generate, play, convert):
        ended = await wildtool(*line.split(), cwd=tmp_path)
        assert ended.status == 0, ended.err
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    answers = {request_digest(row["prompt"]): row["completion"][0] for row in rows}
    assert len(answers) == len(rows)
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf-8")
    async with FaultServer(f"gold:{tmp_path / 'answers.json'}") as server:
        run = "run wildtoolbench --data made.jsonl --model m --profile fixed --retries 0 --out run"
        words = (*run.split(), "--base-url", server.base_url, "--tool-format", tool_format)
        ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 0, ended.err
    outcomes = [row["outcome"] for row in verdicts(tmp_path / "run", "fixed")]
    assert outcomes == ["correct"] * 16
