"""A small real model on a real server: what it writes is read, judged and said without an internal error."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import real_model
from real_model import NAME, Server

from e2e.command import lines, start, verdicts, wildtool

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        bool(real_model.missing_packages()),
        reason=f"not installed: {', '.join(real_model.missing_packages())}; python scripts/real_model.py install",
    ),
]
ITEM = "wild_mini_29"
"""A session with short tools."""
BOUNDS = ("--timeout", 120, "--deadline", "5m")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with real_model.serving(context=4096, slots=1, threads=1) as serving:
        yield serving


def words(server: Server, out: Path, *more: object) -> list[object]:
    """A run of one session, with replies short enough for any machine; each prompt begins with the one before.

    It ends in any case: a call in flight is given up after its timeout, and none starts after the deadline.
    """
    model = ("--model", NAME, "--base-url", server.base_url, "--order", "prefix", *BOUNDS)
    return ["run", "wild-mini", *model, "--ids", ITEM, "--max-tokens", 6, "--out", out, *more]


async def test_without_a_parser_no_call_is_made_and_the_table_says_so(server: Server, tmp_path: Path):
    ended = await wildtool(*words(server, tmp_path / "run"), cwd=tmp_path)
    assert ended.status == 0, ended.err
    rows = verdicts(tmp_path / "run")
    assert len(rows) == 4
    assert {row["outcome"] for row in rows} <= {"correct", "wrong"}
    assert all(row["prompt_tokens"] > 0 for row in rows)
    assert re.search(r"no call in \d replies, although tools were offered", " ".join(ended.out.split()))


async def test_calls_as_text_are_read_from_what_it_writes(server: Server, tmp_path: Path):
    ended = await wildtool(*words(server, tmp_path / "run", "--tool-format", "hermes"), cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert len(verdicts(tmp_path / "run")) == 4
    shown = await wildtool("show", tmp_path / "run", "--all", cwd=tmp_path)
    assert shown.status == 0, shown.err
    assert "replies in the format hermes" in shown.out


async def test_a_prompt_that_does_not_fit_is_no_wrong_answer(tmp_path: Path):
    with real_model.serving(context=768, slots=1, threads=1) as small:
        run = words(small, tmp_path / "run", "--tool-format", "hermes")
        ended = await wildtool(*run, cwd=tmp_path)
    assert ended.status == 3
    assert "the context overflowed; serve the model with a longer context" in " ".join(ended.err.split())


async def test_a_server_that_is_gone_for_a_moment_costs_no_task(tmp_path: Path):
    with real_model.serving(context=4096, slots=1, threads=1) as first:
        run = words(first, tmp_path / "run", "--concurrency", 1)
        process = await start(*run, cwd=tmp_path)
        ended = asyncio.create_task(process.communicate())
        while lines(tmp_path / "run") < 2:
            assert not ended.done(), await ended
            await asyncio.sleep(0.01)
        first.stop()
        with real_model.serving(context=4096, slots=1, threads=1, port=first.port):
            _, err = await ended
    assert "the endpoint is down" in err.decode()
    assert process.returncode == 0, err
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} <= {"correct", "wrong"}
