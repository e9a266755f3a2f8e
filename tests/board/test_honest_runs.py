"""Runs of an endpoint are recomputed however they were made; who hides how, loses the mark."""

import asyncio
import json
from pathlib import Path

import pytest

from board.board_page import built, command
from board.small_official import two_official_sessions
from board.test_marks import seal, sent
from faults.server import FaultServer

WAYS = {
    "plain": (),
    "two repeats": ("--repeats", "2"),
    "a stream": ("--stream",),
    "calls in text": ("--tool-format", "hermes"),
    "a seed": ("--seed", "3"),
}
HELPED = {
    "noise": ("--noise", "names:slight"),
    "catalogue": ("--among", "12"),
    "failures": ("--failures", "first-call"),
    "injection": ("--inject", "base"),
    "history": ("--history", "own"),
    "history_left_out": ("--history", "none"),
    "hints": ("--hints", "hints.jsonl"),
}
"""By the entry of `run.json` that tells it."""


async def played(folder: Path, *words: str) -> Path:
    """A run of all official sessions, of which there are two here."""
    run = folder / "run"
    async with FaultServer("ok") as server:
        address = ("--base-url", server.base_url, "-o", run, "-q")
        status, output = await asyncio.to_thread(
            command, "run", "wild-mini", "-m", "loopback", *address, *words
        )
    assert status == 0, output
    return run


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
async def test_every_way_to_ask_an_endpoint_is_recomputed(way: str, tmp_path: Path):
    with two_official_sessions(tmp_path):
        run = await played(tmp_path, *WAYS[way])
        await asyncio.to_thread(sent, tmp_path / "sent", run)
        page, lines = await asyncio.to_thread(built, tmp_path / "sent")
    assert (page.entries["run"].mark, page.entries["run"].rank, lines) == ("recomputed", "1", [])


@pytest.mark.long
@pytest.mark.parametrize("way", HELPED)
async def test_who_hides_what_was_altered_loses_the_mark(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with two_official_sessions(tmp_path):
        if way == "hints":
            status, output = command("audit", "wild-mini", "--hints", "gold", "-o", "hints.jsonl")
            assert status == 0, output
        run = await played(tmp_path, *HELPED[way])
        bundle = await asyncio.to_thread(sent, tmp_path / "sent", run)
        page, _ = await asyncio.to_thread(built, tmp_path / "sent")
        assert page.entries["run"].mark == "recomputed"

        def hide(members: dict[str, bytes]) -> None:
            value = json.loads(members["run.json"])
            del value["identity"][way]
            members["run.json"] = json.dumps(value).encode()
            del members["verdicts-official.parquet"]

        seal(bundle, hide)
        page, lines = await asyncio.to_thread(built, tmp_path / "sent")
    entry = page.entries.get("run")
    assert lines if entry is None else entry.mark.startswith("as submitted") and not entry.rank
