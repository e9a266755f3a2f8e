"""A model without native calls, played by a server that writes gold answers in its format, reaches 100 %."""

import json
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from e2e.command import lines, recorded, verdicts, wildtool
from faults.server import FaultServer, request_digest
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.models.prompted import PromptedModel
from wildtool.tool_formats import CALL_FORMATS, CallFormat
from wildtool.types import Item, Reply, Request, Transcript, Verdict

LIMIT = 4
"""Items that commands run; all of the embedded set are played and judged without one."""


class GoldPeer:
    """Writes the gold answer in a format, and remembers what it answered to what."""

    name = "m"

    def __init__(self, format: CallFormat) -> None:
        self.format = format
        self.answers: dict[str, dict[str, Any]] = {}

    def settings(self) -> dict[str, Any]:
        return {}

    async def complete(self, request: Request) -> Reply:
        assert request.gold is not None and not request.tools
        gold = request.gold("parallel")
        calls = list(_calls(gold))
        said = self.format.write(gold.get("content") or "", calls)
        message = {"role": "assistant", "content": f"<think>\nEasy.\n</think>\n\n{said}"}
        self.answers[request_digest(request.messages)] = message
        return Reply(message)

    async def close(self) -> None: ...


def _calls(message: dict[str, Any]) -> Any:
    from wildtool.tool_formats import ToolCall

    for call in message.get("tool_calls") or []:
        yield ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]))


async def play(peer: GoldPeer, items: Iterable[Item]) -> AsyncIterator[Verdict]:
    """What the rules say of a peer's answers as they are read back."""
    model = PromptedModel(peer, peer.format)
    for item in items:
        replies: dict[str, list[Reply]] = {unit: [] for unit in item.units}

        async def ask(unit: str, request: Request, replies: dict[str, list[Reply]] = replies) -> Reply:
            replies[unit].append(await model.complete(request))
            return replies[unit][-1]

        await WILD_MINI.play(item, ask, "official")
        transcripts = {unit: Transcript(tuple(its)) for unit, its in replies.items()}
        for verdict in WILD_MINI.judge(item, transcripts, "official"):
            yield verdict


async def gold_answers(format: CallFormat, file: Path) -> Path:
    """What a peer says to each request of the first items, as a file for the server."""
    peer = GoldPeer(format)
    items = islice(WILD_MINI.load(WILD_MINI.data.locate(None)), LIMIT)
    assert {verdict.outcome async for verdict in play(peer, items)} == {"correct"}
    file.write_text(json.dumps(peer.answers), "utf-8")  # noqa: ASYNC240 - a test may wait
    return file


def run(server: FaultServer, out: Path, format: str, model: str = "m") -> list[object]:
    words = ["run", "wild-mini", "--model", model, "--base-url", server.base_url, "--format", format]
    return [*words, "--out", out, "--limit", LIMIT, "--retries", 0]


def halve(folder: Path) -> None:
    """Cuts a record in the middle, as a killed process leaves it."""
    record = folder / "record-0001.jsonl"
    whole = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(whole[: len(whole) // 2]))


@pytest.mark.long
@pytest.mark.parametrize("format", CALL_FORMATS.values(), ids=list(CALL_FORMATS))
async def test_gold_in_a_format_is_all_correct(format: CallFormat):
    items = WILD_MINI.load(WILD_MINI.data.locate(None))
    outcomes = [verdict.outcome async for verdict in play(GoldPeer(format), items)]
    assert outcomes == ["correct"] * 128


@pytest.mark.long
@pytest.mark.parametrize("format", CALL_FORMATS.values(), ids=list(CALL_FORMATS))
async def test_a_run_in_a_format_is_all_correct_and_a_broken_one_goes_on(format: CallFormat, tmp_path: Path):
    answers = await gold_answers(format, tmp_path / "answers.json")
    folder = tmp_path / "run"
    async with FaultServer(f"gold:{answers}") as server:
        words = run(server, folder, format.name)
        ended = await wildtool(*words, cwd=tmp_path)
        assert all(b'"tools"' not in body for body in server.bodies)
        assert ended.status == 0, ended.err
        steps, rows = len(recorded(folder)), verdicts(folder)
        assert {row["outcome"] for row in rows} == {"correct"} and len(rows) == 4 * LIMIT
        halve(folder)
        left = steps - (lines(folder) - 1)
        server.received = 0
        assert (await wildtool(*words, cwd=tmp_path)).status == 0
        assert server.received == left > 0
    assert verdicts(folder) == rows


async def test_a_format_told_by_the_name_is_said_and_what_was_said_is_kept(tmp_path: Path):
    answers = await gold_answers(CALL_FORMATS["hermes"], tmp_path / "answers.json")
    folder = tmp_path / "run"
    async with FaultServer(f"gold:{answers}") as server:
        ended = await wildtool(*run(server, folder, "auto", "Qwen/Qwen3-8B"), cwd=tmp_path)
        assert "hermes, chosen by the model's name" in ended.err
    record = folder / "record-0001.jsonl"
    called = [
        row
        for row in map(json.loads, record.read_bytes().splitlines())
        if row.get("message", {}).get("tool_calls")
    ]
    for row in called:
        assert row["changes"][0] == "format:hermes"
        assert row["message"]["raw_content"] in json.loads(row["raw"])["choices"][0]["message"]["content"]
        assert row["message"]["reasoning_content"] == "Easy."
    settings = json.loads((folder / "run.json").read_text("utf-8"))["identity"]["models"]["agent"]["settings"]
    assert (settings["format"], settings["format_chosen"]) == ("hermes", "auto")


async def test_another_format_does_not_go_on_with_a_run(tmp_path: Path):
    answers = await gold_answers(CALL_FORMATS["hermes"], tmp_path / "answers.json")
    async with FaultServer(f"gold:{answers}") as server:
        assert (await wildtool(*run(server, tmp_path / "run", "hermes"), cwd=tmp_path)).status == 0
        ended = await wildtool(*run(server, tmp_path / "run", "glm"), cwd=tmp_path)
    assert ended.status == 2
    assert "format" in ended.err


async def test_formats_are_listed_and_an_unknown_one_is_refused(tmp_path: Path):
    listed = await wildtool("list", "formats", cwd=tmp_path)
    assert [line.split()[0] for line in listed.out.splitlines() if line[0] != " "] == list(CALL_FORMATS)
    words = (
        "run",
        "wild-mini",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--format",
        "nonsense",
    )
    refused = await wildtool(*words, cwd=tmp_path)
    assert refused.status == 2
    assert "(known: hermes" in refused.err


async def test_repairs_are_counted_in_the_numbers_of_a_run(tmp_path: Path):
    answers = await gold_answers(CALL_FORMATS["hermes"], tmp_path / "answers.json")
    said = json.loads(answers.read_text("utf-8"))
    for message in said.values():
        message["content"] = message["content"].replace("}\n</tool_call>", "}}\n</tool_call>")
    answers.write_text(json.dumps(said), "utf-8")
    calls = sum(message["content"].count("</tool_call>") for message in said.values())
    mended = sum("</tool_call>" in message["content"] for message in said.values())
    async with FaultServer(f"gold:{answers}") as server:
        assert (await wildtool(*run(server, tmp_path / "run", "hermes"), cwd=tmp_path)).status == 0
    group = ("--group", "calls read from text")
    shown = await wildtool("show", tmp_path / "run", *group, cwd=tmp_path)
    (result,) = json.loads((await wildtool("show", tmp_path / "run", *group, "--json", cwd=tmp_path)).out)[
        "runs"
    ]
    counted = {metric["name"]: (metric["numerator"], metric["denominator"]) for metric in result["metrics"]}
    assert calls > mended > 0
    assert counted["repair: extra-bracket"] == (calls, calls)
    assert counted["replies that were mended"] == (mended, len(said))
    assert f"{calls} of {calls}" in " ".join(shown.out.split())
