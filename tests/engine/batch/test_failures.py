"""Batches of which something goes wrong: each failure costs what it must, and no reply is lost."""

import errno
import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents
from engine.batch.batch_play import (
    HALF,
    HTML,
    KEY,
    MODELS,
    RIGHT,
    UPLOAD,
    journal,
    model,
    plan,
    played,
    refusal,
    right,
    steps_of,
)
from engine.echo_benchmark import PATIENT
from faults.batch_server import BatchServer, Body, Held
from faults.server import Answer, http
from wildtool.errors import StorageError, UsageError
from wildtool.types import Message


async def test_expired_requests_go_into_the_next_batch(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:

        def begin(batch: Held) -> None:
            if batch.id == "b1":
                batch.expired = set(list(batch.requests)[:3])

        server.begin = begin
        result = await played(plan(server, steps=1), tmp_path / "run")
        assert result.status == "done"
        expired = server.batches["b1"].expired
        assert set(server.batches["b2"].requests) == expired
    assert sorted(step.reply.attempts for step in steps_of(tmp_path / "run")) == [1, 2, 2, 2]


@pytest.mark.long
@pytest.mark.parametrize("status", [429, 500, 529])
async def test_requests_that_failed_for_now_are_tried_as_often_as_usual(
    kind: str, status: int, tmp_path: Path
):
    async with BatchServer(kind, lambda body, digest: refusal(status)) as server:
        result = await played(plan(server, items=1, steps=1), tmp_path / "run")
        assert len(server.batches) == PATIENT.max_attempts
        assert result.status == "infra errors"
        server.said = right
        assert (await played(plan(server, items=1, steps=1), tmp_path / "run")).status == "done"
    assert len(server.batches) == PATIENT.max_attempts + 1


async def test_a_request_that_is_refused_for_good_is_tried_once_and_stops_only_its_unit(
    kind: str, tmp_path: Path
):
    def some(body: Body, digest: str) -> Message | Answer:
        bad = "i0/0" in json.dumps(body)
        return refusal(400, "too long") if bad else RIGHT

    async with BatchServer(kind, some) as server:
        if kind == "anthropic":
            bad = json.dumps(
                {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
            )
            server.said = lambda body, digest: (
                Answer(http(400, bad.encode())) if "i0/0" in json.dumps(body) else RIGHT
            )
        result = await played(plan(server), tmp_path / "run")
    assert (result.status, result.counts.infra_error) == ("infra errors", 1)
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 3]


async def test_a_run_whose_requests_are_all_refused_stops_and_says_why(kind: str, tmp_path: Path):
    bad = json.dumps({"type": "error", "error": {"type": "not_found_error", "message": "no such model"}})
    async with BatchServer(kind, lambda body, digest: Answer(http(404, bad.encode()))) as server:
        with pytest.raises(UsageError, match=r"every call was refused .*no such model"):
            await played(plan(server, items=8), tmp_path / "run")
        assert len(server.batches) == 1
        server.said = right
        assert (await played(plan(server, items=8), tmp_path / "run")).status == "done"
    assert len(server.batches) == 3


async def test_odd_results_are_sorted_out(kind: str, tmp_path: Path):
    """Repeated, foreign and missing custom ids: the first counts, nobody's is dropped, what lacks is asked again."""

    def write(batch: Held, rows: list[dict[str, Any]]) -> list[Any]:
        if batch.id != "b1" or not rows:
            return list(rows)
        wrong = json.loads(json.dumps(rows[1]).replace('"right"', '"wrong"'))
        return [rows[1], wrong, {**rows[2], "custom_id": "wt_foreign"}, *rows[2:]]

    async with BatchServer(kind, right) as server:
        server.write = write
        result = await played(plan(server, steps=1), tmp_path / "run")
    assert result.status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 1]
    assert {step.reply.message["content"] for step in steps_of(tmp_path / "run")} == {"right"}
    over = next(row for row in journal(tmp_path / "run") if row["row"] == "over")
    assert (over["missing"], over["repeated"], over["unknown"]) == (1, 1, 1)


@pytest.mark.long
@pytest.mark.parametrize(
    "line", [b"<html>", b'{"custom_id":"wt_', b"[]", b"null", b'{"custom_id":7}', b"\xff\xfe"]
)
async def test_results_that_cannot_be_read_are_read_again_and_never_paid_for_again(
    kind: str, line: bytes, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.write = lambda batch, rows: [line, *rows[1:]] if rows else []
        result = await played(plan(server, steps=1), tmp_path / "run")
        assert (result.status, result.counts.infra_error) == ("infra errors", 1)
        assert server.counts["content"] >= PATIENT.max_attempts
        server.write = lambda batch, rows: list(rows)
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    assert len(server.batches) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "spoilt",
    [refusal(429, "slow", "Retry-After: 0"), refusal(500), refusal(503), HTML, Answer(b"", close=True), HALF],
    ids=["429", "500", "503", "html", "closed", "half"],
)
@pytest.mark.parametrize(("kind", "endpoint"), [*product(MODELS, ("create", "state", "content")), UPLOAD])
async def test_an_endpoint_that_fails_twice_costs_two_tries(
    kind: str, endpoint: str, spoilt: Answer, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.spoil = lambda name, number: spoilt if name == endpoint and number <= 2 else None
        result = await played(plan(server, items=1, steps=1), tmp_path / "run")
    assert result.status == "done", result
    assert (len(server.batches), len(server.digests)) == (1, 2)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "endpoint"), [*product(MODELS, ("create", "content")), UPLOAD])
async def test_an_endpoint_that_keeps_failing_ends_the_units_and_the_next_run_goes_on(
    kind: str, endpoint: str, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.spoil = lambda name, number: refusal(500) if name == endpoint else None
        result = await played(plan(server, items=1, steps=1), tmp_path / "run")
        assert (result.status, result.counts.infra_error) == ("infra errors", 2)
        server.spoil = lambda name, number: None
        assert (await played(plan(server, items=1, steps=1), tmp_path / "run")).status == "done"
    assert (len(server.batches), len(server.digests)) == (1, 2)


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_wrong_key_or_an_endpoint_without_batches_stops_the_run(
    kind: str, status: int, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.spoil = lambda name, number: refusal(status, "no access")
        with pytest.raises(UsageError, match="no access"):
            await played(plan(server, items=4), tmp_path / "run")
    assert server.received == 1


async def test_a_refusal_that_names_what_mends_it_is_followed_by_nothing_else_to_do(
    kind: str, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.spoil = lambda name, number: Answer(http(403, b"<html>not here"))
        with pytest.raises(UsageError, match="this is a web page; check the base URL") as refused:
            await played(plan(server, items=1), tmp_path / "run")
    assert "check the key" not in str(refused.value)


async def test_a_batch_that_asks_too_much_at_once_is_sent_in_parts_one_after_another(tmp_path: Path):
    full = {
        "code": "token_limit_exceeded",
        "message": "Enqueued token limit reached",
        "param": None,
        "line": None,
    }
    under_way: list[int] = []

    async with BatchServer("chat", right) as server:

        def begin(batch: Held) -> None:
            if len(batch.requests) > 3:
                batch.failure = [full]
            pending = [held for held in server.batches.values() if held.polls < server.polls]
            under_way.append(len(pending))

        server.begin = begin
        result = await played(plan(server, items=5, steps=2), tmp_path / "run")
    assert result.status == "done"
    sizes = [len(batch.requests) for batch in server.batches.values() if not batch.failure]
    assert sum(sizes) == 20 and max(sizes) <= 3
    assert set(under_way) == {1}


async def test_a_refused_batch_names_the_requests_at_fault_and_sends_the_others_again(tmp_path: Path):
    async with BatchServer("chat", right) as server:

        def begin(batch: Held) -> None:
            if batch.id == "b1":
                batch.failure = [
                    {"code": "invalid_request", "message": "line 2 is bad", "param": None, "line": 2}
                ]

        server.begin = begin
        result = await played(plan(server, steps=1), tmp_path / "run")
    assert (result.status, result.counts.infra_error) == ("infra errors", 1)
    first, second = server.batches.values()
    assert list(second.requests) == [id_ for number, id_ in enumerate(first.requests) if number != 1]


async def test_a_refused_batch_without_such_a_name_stops_the_run(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        failure = {"code": "billing_hard_limit_reached", "message": "pay first", "param": None, "line": None}
        server.begin = lambda batch: batch.failure.append(failure)
        with pytest.raises(UsageError, match="billing_hard_limit_reached: pay first"):
            await played(plan(server, items=4), tmp_path / "run")
    assert len(server.batches) == 1


async def test_a_canceled_batch_is_not_sent_again_by_itself(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:

        def begin(batch: Held) -> None:
            batch.canceled = batch.id == "b1"

        server.begin = begin
        result = await played(plan(server, items=1, steps=1), tmp_path / "run")
        assert (result.status, result.counts.infra_error, len(server.batches)) == ("infra errors", 2, 1)
        assert (await played(plan(server, items=1, steps=1), tmp_path / "run")).status == "done"
    assert len(server.batches) == 2


async def test_a_request_longer_than_any_file_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with BatchServer("chat", right) as server:
        api = model(server).use_batches(None)  # pyright: ignore[reportArgumentType]
        monkeypatch.setattr(type(api), "most_bytes", 100)
        with pytest.raises(UsageError, match="a batch at most 100"):
            await played(plan(server, items=4), tmp_path / "run")
    assert server.received == 0


async def test_a_disk_without_room_stops_the_run_and_keeps_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(**settings: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with BatchServer("chat", right) as server:

        def begin(batch: Held) -> None:
            if batch.id == "b2":
                monkeypatch.setattr("tempfile.TemporaryFile", full)

        server.begin = begin
        with pytest.raises(StorageError, match="Make room"):
            await played(plan(server, steps=3), tmp_path / "run")
        assert len(steps_of(tmp_path / "run")) == 4
        monkeypatch.undo()
        assert (await played(plan(server, steps=3), tmp_path / "run")).status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 4, 4]


async def test_no_key_is_recorded_or_told_though_the_server_repeats_it(kind: str, tmp_path: Path):
    def leaking(body: Body, digest: str) -> Message | Answer:
        text = json.dumps(body)
        return refusal(400, f"wrong key {KEY}") if "i0/0" in text else {**RIGHT, "content": KEY}

    async with BatchServer(kind, leaking) as server:
        assert (await played(plan(server, steps=1), tmp_path / "run")).counts.infra_error == 1
        server.spoil = lambda name, number: refusal(401, f"no such key: {KEY}")
        with pytest.raises(UsageError) as refused:
            await played(plan(server, items=4, steps=1), tmp_path / "other")
    assert KEY not in str(refused.value) and "[key]" in str(refused.value)
    left = contents(tmp_path)
    assert len(left) > 5 and not any(KEY.encode() in content for content in left.values())
