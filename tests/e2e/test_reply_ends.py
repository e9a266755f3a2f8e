"""Replies that were filtered, refused or never finished, from the endpoint to the table."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Ended, lines, playing, verdicts, wildtool
from faults.server import Answer, Call, FaultServer, http


def answer(reason: Any, text: str = "Certainly! Here is what I found:", **more: Any) -> Answer:
    message = {"role": "assistant", "content": text, **more}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return Answer(http(200, json.dumps({"choices": [choice], "usage": usage}).encode()))


async def played(folder: Path, said: Answer, *more: object, retries: int = 0) -> Ended:
    async with FaultServer("ok") as server:
        server.behave = lambda call: said
        return await wildtool(
            *playing(server, folder / "run", *more, limit=4, retries=retries), cwd=folder, COLUMNS="120"
        )


@pytest.mark.long
@pytest.mark.parametrize(
    ("said", "error"),
    [
        (answer("content_filter"), "reply filtered"),
        (answer("sensitive"), "reply filtered"),
        (answer("refusal"), "reply refused"),
        (answer("malformed_function_call"), "reply malformed"),
    ],
)
@pytest.mark.parametrize("profile", ["official", "fixed"])
async def test_text_before_a_filter_or_a_refusal_is_right_nowhere_and_the_table_names_it(
    tmp_path: Path, said: Answer, error: str, profile: str
):
    ended = await played(tmp_path, said, "--profile", profile)
    rows = verdicts(tmp_path / "run", profile)
    assert ended.status == 0 and len(rows) == 16
    assert {(row["outcome"], row["error"], row["score"]) for row in rows} == {("wrong", error, 0.0)}
    assert {row["steps"] for row in rows} == {1}
    shown = await wildtool("show", tmp_path / "run", "--all", cwd=tmp_path)
    assert re.search(f"{error} +16 of 16", shown.out)


@pytest.mark.parametrize(
    ("profile", "errors"), [("official", {None, "Refusal"}), ("fixed", {"reply refused"})]
)
async def test_a_refusal_beside_a_text_decides_only_where_no_published_evaluator_judges(
    tmp_path: Path, profile: str, errors: set[str | None]
):
    await played(tmp_path, answer("stop", refusal="I cannot."), "--profile", profile)
    assert {row["error"] for row in verdicts(tmp_path / "run", profile)} == errors


@pytest.mark.long
@pytest.mark.parametrize("reason", ["stop", "length", None, "brand new"])
async def test_a_reply_that_ends_otherwise_is_judged_as_it_is(tmp_path: Path, reason: Any):
    await played(tmp_path, answer(reason))
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} == {"correct", "wrong"}


async def test_a_reply_that_was_not_finished_is_a_failed_call_that_is_tried_again(tmp_path: Path):
    async with FaultServer("ok") as server:

        def behave(call: Call) -> Answer:
            return answer("abort") if call.attempt == 0 else answer("stop")

        server.behave = behave
        ended = await wildtool(*playing(server, tmp_path / "run", retries=2), cwd=tmp_path)
    assert ended.status == 0
    assert {row["outcome"] for row in verdicts(tmp_path / "run")} <= {"correct", "wrong"}
    assert all(count > 1 for count in server.asked.values())


def as_recorded_before(folder: Path, reason: str) -> None:
    """Rewrites a record as earlier versions wrote it: with this end of its replies, and no checksums."""
    (record,) = folder.glob("record*")
    rows = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    for row in rows:
        row.pop("crc32", None)
        row.pop("synced", None)
        if row["row"] == "step":
            row["finish_reason"] = reason
    record.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


async def test_what_an_earlier_version_recorded_of_an_unfinished_reply_is_asked_again(tmp_path: Path):
    folder = tmp_path / "run"
    async with FaultServer("calls") as server:

        async def run() -> Ended:
            return await wildtool(*playing(server, folder, limit=4), cwd=tmp_path)

        await run()
        first, before = verdicts(folder), lines(folder)
        as_recorded_before(folder, "OTHER")
        scored = await wildtool("score", folder, cwd=tmp_path)
        assert {row["outcome"] for row in verdicts(folder)} == {"infra_error"}, scored.err
        assert (await run()).status == 0
        assert verdicts(folder) == first and lines(folder) > before
        total = lines(folder)
        assert (await run()).status == 0 and lines(folder) == total
