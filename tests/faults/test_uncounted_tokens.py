"""An endpoint that counts the tokens of some calls, of none, or counts nonsense: no sum passes for the whole."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from faults.server import Answer, Call, FaultServer, http
from wildtool.cli import app

COUNTS = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def first_tool(call: Call, usage: object) -> Answer:
    """Calls the first tool, and says a text once that has a result."""
    message: dict[str, Any] = {"role": "assistant", "content": "Done."}
    if call.body["messages"][-1]["role"] != "tool":
        function = {"name": call.body["tools"][0]["function"]["name"], "arguments": "{}"}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    return Answer(http(200, json.dumps(answer).encode()))


async def ran(folder: Path, usage_of_call: Mapping[int, object], *words: str) -> str:
    """What `wildtool run` says; the endpoint reports by the number of the call, or by 0."""
    async with FaultServer() as server:
        server.behave = lambda call: first_tool(call, usage_of_call.get(server.received, usage_of_call[0]))
        command = ["run", "wild-mini", "--model", "m", "--base-url", server.base_url, "--out", str(folder)]
        ended = await asyncio.to_thread(
            CliRunner().invoke, app, [*command, "--limit", "2", *words], prog_name="wildtool"
        )
    assert ended.exit_code == 0, ended.stderr
    return ended.stderr


def spent(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text())["sittings"][-1]["spent"]


async def test_what_some_calls_took_is_given_as_the_least(tmp_path: Path):
    notes = await ran(tmp_path / "m", {0: COUNTS, 1: None, 2: {"prompt_tokens": 100}})
    calls = spent(tmp_path / "m")["calls"]
    line = next(line for line in notes.splitlines() if "spent" in line)
    assert f"at least {100 * (calls - 1):,} prompt and {20 * (calls - 2):,} reply tokens" in line
    assert line.endswith("for 2, cost unknown")


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "100", "completion_tokens": "20"}, {"prompt_tokens": -5}]
)
async def test_what_nobody_counted_is_not_free(usage: object, tmp_path: Path):
    prices = tmp_path / "prices.json"
    prices.write_text('{"models": {"m": {"input": 1, "output": 2}}}')
    notes = await ran(tmp_path / "m", {0: usage}, "--prices", str(prices))
    assert "tokens that the endpoint did not count" in notes and "cost unknown" in notes
    assert spent(tmp_path / "m")["usd"] is None


async def test_tokens_of_progress_are_those_of_the_last_line(tmp_path: Path):
    notes = await ran(tmp_path / "m", {0: {"prompt_tokens": -5, "completion_tokens": 10**30}})
    assert "spent tokens that the endpoint did not count" in notes
    assert "· 0 tokens" in notes


async def test_an_endpoint_that_reports_0_for_all_counts_nothing(tmp_path: Path):
    notes = await ran(tmp_path / "m", {0: {"prompt_tokens": 0, "completion_tokens": 0}})
    assert "spent tokens that the endpoint did not count" in notes
    scores = wt.Run(tmp_path / "m").scores
    assert scores["cost: prompt tokens per task"].denominator == 0
    assert scores["cost: completion tokens per task"].denominator == 0


async def test_a_unit_has_the_tokens_of_all_its_calls_or_none(tmp_path: Path):
    await ran(tmp_path / "m", {0: COUNTS, 1: None})
    run = wt.Run(tmp_path / "m")
    rows = run.verdicts().rows()
    unknown = [row for row in rows if row["prompt_tokens"] is None]
    assert len(unknown) == 1 and unknown[0]["completion_tokens"] is None
    assert all(row["prompt_tokens"] == 100 * row["steps"] for row in rows if row not in unknown)
    mean = run.scores["cost: prompt tokens per task"]
    assert mean.denominator == len(rows) - 1


async def exported(tmp_path: Path, kind: str, pattern: str) -> list[dict[str, Any]]:
    """The records of a run of which the first call was not counted."""
    await ran(tmp_path / "m", {0: COUNTS, 1: None})
    words = ["export", str(tmp_path / "m"), "--format", kind, "--out", str(tmp_path / "out")]
    ended = await asyncio.to_thread(CliRunner().invoke, app, words, prog_name="wildtool")
    assert ended.exit_code == 0, ended.stderr
    lines = [line for path in (tmp_path / "out").rglob(pattern) for line in documents_of(path)]
    return [json.loads(line) for line in lines]


def documents_of(path: Path) -> list[str]:
    """The JSON texts in a file."""
    text = path.read_text()
    return text.splitlines() if path.suffix == ".jsonl" else [text]


async def test_trajectories_leave_out_tokens_that_nobody_counted(tmp_path: Path):
    documents = await exported(tmp_path, "atif", "0*.json")
    totals = [document["final_metrics"].get("total_prompt_tokens") for document in documents]
    assert totals.count(None) == 1
    metrics = [step["metrics"] for document in documents for step in document["steps"] if "metrics" in step]
    assert sum("prompt_tokens" not in each for each in metrics) == 1
    assert {each.get("prompt_tokens") for each in metrics} == {None, 100}


async def test_records_of_every_eval_ever_leave_out_tokens_that_nobody_counted(tmp_path: Path):
    used = [row["token_usage"] for row in await exported(tmp_path, "eee", "*_samples.jsonl")]
    assert used.count(None) == 1
    assert all(each["input_tokens"] >= 100 for each in used if each)
