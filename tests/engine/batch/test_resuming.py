"""Batches that a process left pending, or whose creation nobody knows of: the next finds them and pays for none twice."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.batch.batch_play import HALF, HTML, RIGHT, journal, plan, played, refusal, right, steps_of
from engine.echo_benchmark import PATIENT
from faults.batch_server import BatchServer, Body, Held
from faults.server import Answer, http
from wildtool.engine.batch.journal import JOURNAL_FILE, BatchJournal
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.client import Invocation
from wildtool.errors import RecordError, UsageError
from wildtool.models.token_usage import Price
from wildtool.types import Message


async def test_a_batch_whose_creation_was_not_answered_is_found_again(kind: str, tmp_path: Path):
    async with BatchServer(kind, right, now=time.time()) as server:
        server.lose = {1}
        assert (await played(plan(server, steps=2), tmp_path / "run")).status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 4]
    assert server.counts["create"] == 2 and server.counts["list"] == 1


@pytest.mark.parametrize(
    "spoilt", [refusal(429), refusal(500), HTML, HALF], ids=["429", "500", "html", "half"]
)
async def test_no_batch_is_created_again_before_somebody_could_look_for_the_first(
    kind: str, spoilt: Answer, tmp_path: Path
):
    async with BatchServer(kind, right, now=time.time()) as server:
        server.lose = {1}
        server.spoil = lambda name, number: spoilt if name == "list" and number <= 2 else None
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    assert (server.counts["create"], server.counts["list"]) == (1, 3)


async def test_a_batch_that_nobody_could_look_for_is_found_by_the_next_run(kind: str, tmp_path: Path):
    async with BatchServer(kind, right, now=time.time()) as server:
        server.lose = {1}
        server.spoil = lambda name, number: refusal(500) if name == "list" else None
        result = await played(plan(server, steps=1), tmp_path / "run")
        assert (result.status, len(server.batches)) == ("infra errors", 1)
        assert [row["row"] for row in journal(tmp_path / "run")][-1] in ("begun", "uploaded")
        server.spoil = lambda name, number: None
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    assert (server.counts["create"], len(server.batches)) == (1, 1)


async def test_a_run_that_ended_before_it_sent_its_batch_sends_it_then(kind: str, tmp_path: Path):
    """As a process killed right after its journal was written."""
    async with BatchServer(kind, right, now=time.time()) as server:
        server.spoil = lambda name, number: refusal(429) if name in ("upload", "create") else None
        await played(plan(server, steps=1), tmp_path / "run")
        assert journal(tmp_path / "run")[-1]["row"] == "begun" or kind == "anthropic"
        server.spoil = lambda name, number: None
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4]


async def test_a_batch_of_somebody_else_is_not_taken_for_ours(kind: str, tmp_path: Path):
    async with BatchServer(kind, right, now=time.time()) as server:
        ours: list[Held] = []

        def begin(batch: Held) -> None:
            if batch.id == "b1":
                # As many requests, at the same time, of another run: newer than ours.
                ids = [f"other_{number}" for number in range(len(batch.requests))]
                other = replace(batch, id="b2", requests=dict(zip(ids, batch.requests.values(), strict=True)))
                other.metadata = {"wildtool": "another"}
                server.batches["b2"] = other
                ours.append(batch)

        server.begin = begin
        server.lose = {1}
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    created = next(row for row in journal(tmp_path / "run") if row["row"] == "created")
    assert created["id"] == ours[0].id == "b1"
    assert server.counts["create"] == 1


async def test_a_creation_that_never_arrived_is_made_again(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        server.spoil = lambda name, number: (
            Answer(b"", close=True) if (name, number) == ("create", 1) else None
        )
        assert (await played(plan(server, steps=1), tmp_path / "run")).status == "done"
    assert (server.counts["create"], server.counts["list"], len(server.batches)) == (2, 1, 1)


@pytest.mark.long
async def test_results_of_a_batch_that_was_left_pending_are_used_by_a_later_run(kind: str, tmp_path: Path):
    limits = SpendingLimits(deadline_s=0.6)
    async with BatchServer(kind, right) as server:
        server.frozen = True
        result = await played(plan(server, steps=1), tmp_path / "run", invocation=Invocation(Budget(limits)))
        assert (result.status, result.counts.unplayed, result.calls) == ("limit reached", 4, 0)
        assert [(batch.id, batch.requests) for batch in result.pending] == [("b1", 4)]
        assert steps_of(tmp_path / "run") == []
        server.frozen = False
        later = await played(plan(server, steps=1), tmp_path / "run")
        assert (later.status, later.calls, later.pending) == ("done", 4, ())
    assert (len(server.batches), server.counts["create"]) == (1, 1)


@pytest.mark.long
@pytest.mark.parametrize("how", ["canceled", "expired", "refused"])
async def test_what_failed_in_a_batch_left_pending_is_sent_anew_by_the_next_run(
    kind: str, how: str, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(
            plan(server, steps=1),
            tmp_path / "run",
            invocation=Invocation(Budget(SpendingLimits(deadline_s=0.6))),
        )
        server.frozen = False
        batch = server.batches["b1"]
        batch.canceled = how == "canceled"
        batch.expired = set(batch.requests) if how == "expired" else set()
        server.said = lambda body, digest: right(body, digest) if len(server.batches) > 1 else refusal(400)
        if how != "refused":
            server.said = right
        once = replace(PATIENT, max_attempts=1)
        assert (await played(plan(server, steps=1), tmp_path / "run", once)).status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 4]


def paused_once(body: Body, digest: str) -> Message | Answer:
    """A turn that the provider pauses; what comes after it goes on with `right`."""
    if body["messages"][-1]["role"] == "assistant":
        return RIGHT
    search = {"type": "server_tool_use", "id": f"srv_{digest}", "name": "web_search", "input": {}}
    usage = {"input_tokens": 5, "output_tokens": 3}
    turn = {"type": "message", "content": [search], "stop_reason": "pause_turn", "usage": usage}
    return Answer(http(200, json.dumps(turn).encode()))


async def test_a_paused_turn_goes_on_in_the_next_batch(tmp_path: Path):
    async with BatchServer("anthropic", paused_once) as server:
        result = await played(plan(server, steps=2), tmp_path / "run")
        assert (result.status, result.calls, server.mistakes) == ("done", 8, [])
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 4, 4, 4]
    assert {step.reply.usage["completion_tokens"] for step in steps_of(tmp_path / "run")} == {3 + 7}
    assert {step.reply.attempts for step in steps_of(tmp_path / "run")} == {1}
    assert BatchJournal(tmp_path / "run").open_batches("agent") == []


async def test_a_paused_turn_that_is_left_pending_is_paid_for_once(tmp_path: Path):
    now = [0.0]
    budget = Budget(SpendingLimits(deadline_s=0.1), clock=lambda: now[0])
    # The limit may come before the second batch is known to be there; it is looked for by the time then.
    async with BatchServer("anthropic", paused_once, now=time.time()) as server:

        def begin(batch: Held) -> None:
            server.frozen = batch.id == "b2"
            now[0] = float(server.frozen)

        server.begin = begin
        result = await played(plan(server, steps=1), tmp_path / "run", invocation=Invocation(budget))
        assert (result.status, result.calls, len(server.batches)) == ("limit reached", 0, 2)
        server.frozen = False
        later = await played(plan(server, steps=1), tmp_path / "run")
        assert (later.status, later.calls, len(server.batches)) == ("done", 4, 2)
    assert BatchJournal(tmp_path / "run").open_batches("agent") == []


async def test_a_part_of_a_paused_turn_is_not_sent_again_where_the_next_fails(tmp_path: Path):
    failures = iter([refusal(500)])

    def said(body: Body, digest: str) -> Message | Answer:
        return (next(failures, None) if len(body["messages"]) > 1 else None) or paused_once(body, digest)

    async with BatchServer("anthropic", said) as server:
        result = await played(plan(server, items=1, steps=1), tmp_path / "run")
        assert (result.status, result.calls) == ("done", 2)
    assert [len(batch.requests) for batch in server.batches.values()] == [2, 2, 1]


@pytest.mark.long
async def test_a_narrower_run_leaves_the_other_results_to_a_wider_one(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(
            plan(server, steps=1),
            tmp_path / "run",
            invocation=Invocation(Budget(SpendingLimits(deadline_s=0.6))),
        )
        server.frozen = False
        narrow = await played(plan(server, steps=1, limit=1), tmp_path / "run")
        assert (narrow.status, narrow.calls) == ("done", 2)
        wide = await played(plan(server, steps=1), tmp_path / "run")
        assert (wide.status, wide.calls, wide.replayed) == ("done", 2, 2)
    assert len(server.batches) == 1


@pytest.mark.long
async def test_a_batch_that_is_gone_is_named_and_not_paid_for_again(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(
            plan(server, items=4),
            tmp_path / "run",
            invocation=Invocation(Budget(SpendingLimits(deadline_s=0.6))),
        )
        server.batches.clear()
        server.frozen = False
        with pytest.raises(UsageError, match=f"is gone|are gone.*delete .*{JOURNAL_FILE}"):
            await played(plan(server, items=4), tmp_path / "run")
        assert not server.batches
        (tmp_path / "run" / JOURNAL_FILE).unlink()
        assert (await played(plan(server, items=4), tmp_path / "run")).status == "done"


async def test_paid_replies_are_taken_although_a_limit_of_money_is_reached(kind: str, tmp_path: Path):
    price = {"agent": Price(input=1000, output=1000, batch=0.5)}
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(
            plan(server, steps=1, prices=price),
            tmp_path / "run",
            invocation=Invocation(Budget(SpendingLimits(deadline_s=0.6))),
        )
        server.frozen = False
        invocation = Invocation(Budget(SpendingLimits(max_cost=0.0)))
        result = await played(plan(server, steps=1, prices=price), tmp_path / "run", invocation=invocation)
    assert (result.status, result.calls, len(server.batches)) == ("done", 4, 1)


async def test_a_run_begun_without_batches_goes_on_with_them_and_back(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        first = await played(plan(server, steps=1, limit=1), tmp_path / "run")
        assert (first.status, len(server.batches)) == ("done", 1)
        with pytest.raises(UsageError, match="every call was refused"):
            # This server knows no calls but by batches.
            await played(plan(server, items=9, steps=1, batched=frozenset()), tmp_path / "run")
        assert (await played(plan(server, steps=1), tmp_path / "run")).replayed == 2


def test_a_journal_survives_a_torn_line_and_names_a_damaged_one(tmp_path: Path):
    first = BatchJournal(tmp_path)
    begun = first.begin("wildtool-1", "agent", "http://127.0.0.1:1/v1", {"wt_1": "d1", "wt_2": "d2"})
    first.created(begun, "b1")
    first.read(begun, ["wt_1"])
    whole = (tmp_path / JOURNAL_FILE).read_bytes()
    for length in range(whole.index(b'"wildtool-1"') + 200, len(whole)):
        (tmp_path / JOURNAL_FILE).write_bytes(whole[:length])
        again = BatchJournal(tmp_path)
        assert again.key == first.key
        again.end(again.open_batches("agent")[0], "gone")
        assert BatchJournal(tmp_path).open_batches("agent") == []
    (tmp_path / JOURNAL_FILE).write_bytes(whole.replace(b'"created"', b'"creatid"'))
    with pytest.raises(RecordError, match=f"{JOURNAL_FILE}, line 3: damaged"):
        BatchJournal(tmp_path)
    (tmp_path / JOURNAL_FILE).write_bytes(whole)
    (left,) = BatchJournal(tmp_path).open_batches("agent")
    assert (left.id, left.requests) == ("b1", {"wt_2": "d2"})
