"""Rounds of batches over whole runs against a server with the providers' endpoints: whatever goes wrong, none is lost."""

import asyncio
import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of

from e2e.command import contents
from faults.batch_server import BatchServer, Body, Held
from faults.server import Answer, http
from models.peers import PROTOCOLS, Peer
from wildtool.engine.attempts import Patience
from wildtool.engine.batch_journal import FILE, BatchJournal
from wildtool.engine.budget import Budget, Limits
from wildtool.engine.cache import Cache
from wildtool.engine.plan import Plan
from wildtool.engine.prices import Price
from wildtool.engine.record import RecordReader, Step
from wildtool.engine.rounds import PASSES, Rounds
from wildtool.engine.run import Job, RunResult, run, run_all
from wildtool.engine.sitting import Sitting
from wildtool.errors import RecordError, StorageError, UsageError
from wildtool.models.anthropic import AnthropicModel
from wildtool.models.baseline import make_baseline
from wildtool.models.formats import FORMATS
from wildtool.models.gemini import GeminiModel
from wildtool.models.http_model import HttpModel
from wildtool.models.openai import OpenAIModel
from wildtool.models.prompted import PromptedModel
from wildtool.models.responses import ResponsesModel
from wildtool.types import Message

KEY = "sk-engine-5512aa90"
MODELS: dict[str, type[HttpModel]] = {"chat": OpenAIModel, "anthropic": AnthropicModel}
UPLOAD = ("chat", "upload")
"""With Anthropic the requests go with the creation."""
HTML = Answer(http(200, b"<html><body>Sign in</body></html>", kind="text/html"))
HALF = Answer(http(200, b'{"id":"b1","custom_id":"wt_', length=1000), close=True)
RIGHT: Message = {"role": "assistant", "content": "right"}


def right(body: Body, digest: str) -> Message:
    return RIGHT


def refusal(status: int, why: str = "as asked", *headers: str) -> Answer:
    return Answer(
        http(status, json.dumps({"error": {"message": why, "type": "api_error"}}).encode(), *headers)
    )


def model(server: BatchServer, **settings: Any) -> HttpModel:
    return MODELS[server.kind]("m", server.base_url, KEY, **settings)


def plan(server: Any, *, items: int = 2, steps: int = 2, **settings: Any) -> Plan:
    """Items of two units, each asked so many times."""
    settings["models"] = settings.get("models") or {"agent": model(server)}
    settings.setdefault("batched", frozenset({"agent"}))
    return plan_of(EchoBenchmark(items, 2, steps, settings.pop("with_user", 0)), **settings)


async def played(
    plan: Plan, out: Path, patience: Patience = PATIENT, sitting: Sitting | None = None
) -> RunResult:
    """Plays in a thread of its own, since the server is in this one."""
    return await asyncio.to_thread(run, plan, out, command=["test"], patience=patience, sitting=sitting)


def cached(plan: Plan, folder: Path, name: str) -> RunResult:
    """Plays with a cache that the runs of the folder share."""
    cache = Cache(folder / "cache")
    result = run(plan, folder / name, command=["test"], patience=PATIENT, sitting=Sitting(cache=cache))
    cache.close()
    return result


def steps_of(out: Path) -> list[Step]:
    with RecordReader(out) as reader:
        logs = [reader.log(item, repeat) for item, repeat in reader.jobs()]
    return [s for log in logs for unit in log.values() for s in unit.values() if isinstance(s, Step)]


def journal(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / FILE).read_bytes().splitlines()]


@pytest.fixture(params=list(MODELS))
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


async def test_each_step_of_all_units_is_one_batch(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        result = await played(plan(server, items=5, steps=3, concurrency=1), tmp_path / "run")
    assert (result.status, result.calls) == ("done", 30)
    assert [len(batch.requests) for batch in server.batches.values()] == [10, 10, 10]
    assert server.mistakes == []
    assert all(step.reply.batched for step in steps_of(tmp_path / "run"))


@pytest.mark.parametrize("protocol", ["chat", "anthropic", "responses"])
async def test_the_record_is_that_of_a_run_without_batches(protocol: str, tmp_path: Path):
    """But for when a reply came, how its text is written, and that it came by a batch."""

    def said(body: Body, digest: str) -> Message:
        call = {"id": f"call_{digest}", "type": "function", "function": {"name": "add", "arguments": "{}"}}
        return {
            "role": "assistant",
            "content": f"我 {digest}",
            "tool_calls": [call] if "go on" in json.dumps(body) else None,
        }

    unsteady = {"time", "latency_s", "batched", "sends"}
    found: list[dict[Any, Any]] = []
    async with BatchServer(protocol, said) as server, Peer(protocol, said) as peer:
        for at, batched in ((server, frozenset({"agent"})), (peer, frozenset[str]())):
            asked = PROTOCOLS[protocol].model("m", at.base_url, KEY)
            out = tmp_path / type(at).__name__
            assert (
                await played(plan(server, models={"agent": asked}, batched=batched), out)
            ).status == "done"
            lines = map(json.loads, (out / "record-0001.jsonl").read_bytes().splitlines()[1:])
            rows = {(row["item"], row["unit"], row["step"]): row for row in lines}
            for row in rows.values():
                assert row.get("batched", False) is bool(batched)
                row["raw"] = json.loads(row["raw"])
            found.append(
                {place: {k: v for k, v in row.items() if k not in unsteady} for place, row in rows.items()}
            )
    assert found[0] == found[1] and len(found[0]) == 8


async def test_repeats_of_one_request_are_requests_of_their_own(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        result = await played(plan(server, items=1, steps=1, repeats=3), tmp_path / "run")
    assert result.status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [6]
    assert len({json.dumps(body) for body in server.batches["b1"].requests.values()}) == 2


async def test_what_the_batch_bears_is_recorded_as_it_would_be_alone(kind: str, tmp_path: Path):
    text = "…\ud800 \u2028 99999999999999999999 你好"

    async with BatchServer(kind, lambda body, digest: {"role": "assistant", "content": text}) as server:
        await played(plan(server, items=1, steps=1), tmp_path / "run")
    assert [step.reply.message["content"] for step in steps_of(tmp_path / "run")] == [text, text]


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


async def test_files_hold_no_more_than_the_provider_takes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with BatchServer(kind, right) as server:
        api = model(server).by_batches(None)  # pyright: ignore[reportArgumentType]
        monkeypatch.setattr(type(api), "most_requests", 3)
        assert (await played(plan(server, items=4, steps=1), tmp_path / "a")).status == "done"
        assert sorted(len(batch.requests) for batch in server.batches.values()) == [2, 3, 3]
        server.batches.clear()
        line = max(map(len, server.files.values()), default=0)
        monkeypatch.setattr(type(api), "most_requests", 1000)
        monkeypatch.setattr(type(api), "most_bytes", line * 2 or 1000)
        assert (await played(plan(server, items=4, steps=1), tmp_path / "b")).status == "done"
        assert len(server.batches) > 1
    assert server.mistakes == []


async def test_a_request_longer_than_any_file_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with BatchServer("chat", right) as server:
        api = model(server).by_batches(None)  # pyright: ignore[reportArgumentType]
        monkeypatch.setattr(type(api), "most_bytes", 100)
        with pytest.raises(UsageError, match="a batch at most 100"):
            await played(plan(server, items=4), tmp_path / "run")
    assert server.received == 0


async def test_results_of_a_batch_that_was_left_pending_are_used_by_a_later_run(kind: str, tmp_path: Path):
    limits = Limits(deadline_s=0.3)
    async with BatchServer(kind, right) as server:
        server.frozen = True
        result = await played(plan(server, steps=1), tmp_path / "run", sitting=Sitting(Budget(limits)))
        assert (result.status, result.counts.unplayed, result.calls) == ("limit reached", 4, 0)
        assert [(batch.id, batch.requests) for batch in result.pending] == [("b1", 4)]
        assert steps_of(tmp_path / "run") == []
        server.frozen = False
        later = await played(plan(server, steps=1), tmp_path / "run")
        assert (later.status, later.calls, later.pending) == ("done", 4, ())
    assert (len(server.batches), server.counts["create"]) == (1, 1)


@pytest.mark.parametrize("how", ["canceled", "expired", "refused"])
async def test_what_failed_in_a_batch_left_pending_is_sent_anew_by_the_next_run(
    kind: str, how: str, tmp_path: Path
):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(plan(server, steps=1), tmp_path / "run", sitting=Sitting(Budget(Limits(deadline_s=0.3))))
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


async def test_a_narrower_run_leaves_the_other_results_to_a_wider_one(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(plan(server, steps=1), tmp_path / "run", sitting=Sitting(Budget(Limits(deadline_s=0.3))))
        server.frozen = False
        narrow = await played(plan(server, steps=1, limit=1), tmp_path / "run")
        assert (narrow.status, narrow.calls) == ("done", 2)
        wide = await played(plan(server, steps=1), tmp_path / "run")
        assert (wide.status, wide.calls, wide.replayed) == ("done", 2, 2)
    assert len(server.batches) == 1


async def test_a_batch_that_is_gone_is_named_and_not_paid_for_again(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(plan(server, items=4), tmp_path / "run", sitting=Sitting(Budget(Limits(deadline_s=0.3))))
        server.batches.clear()
        server.frozen = False
        with pytest.raises(UsageError, match=f"is gone|are gone.*delete .*{FILE}"):
            await played(plan(server, items=4), tmp_path / "run")
        assert not server.batches
        (tmp_path / "run" / FILE).unlink()
        assert (await played(plan(server, items=4), tmp_path / "run")).status == "done"


async def test_a_limit_of_money_is_checked_before_a_batch_goes_and_counts_the_batch_price(
    kind: str, tmp_path: Path
):
    price = Price(input=1000, output=1000, batch=0.5)
    async with BatchServer(kind, right) as server:
        whole = await played(
            plan(server, prices={"agent": price}),
            tmp_path / "all",
            sitting=Sitting(Budget(Limits(max_cost=9e9))),
        )
        tokens = whole.spent.tokens
        assert whole.spent.cost == pytest.approx(tokens * 1000 * 0.5 / 1e6)
        server.batches.clear()
        budget = Budget(Limits(max_cost=0.25))
        part = await played(plan(server, prices={"agent": price}), tmp_path / "part", sitting=Sitting(budget))
        assert part.status == "limit reached" and part.limit is not None and "--max-cost" in part.limit
        assert 0 < sum(len(batch.requests) for batch in server.batches.values()) < 8
        again = Budget(Limits(max_cost=part.spent.cost))
        assert (
            await played(plan(server, prices={"agent": price}), tmp_path / "part", sitting=Sitting(again))
        ).calls == 0
    assert again.spent.cost == pytest.approx(part.spent.cost)


async def test_paid_replies_are_taken_although_a_limit_of_money_is_reached(kind: str, tmp_path: Path):
    price = {"agent": Price(input=1000, output=1000, batch=0.5)}
    async with BatchServer(kind, right) as server:
        server.frozen = True
        await played(
            plan(server, steps=1, prices=price),
            tmp_path / "run",
            sitting=Sitting(Budget(Limits(deadline_s=0.3))),
        )
        server.frozen = False
        sitting = Sitting(Budget(Limits(max_cost=0.0)))
        result = await played(plan(server, steps=1, prices=price), tmp_path / "run", sitting=sitting)
    assert (result.status, result.calls, len(server.batches)) == ("done", 4, 1)


async def test_the_cache_comes_before_the_batch(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        results = [await asyncio.to_thread(cached, plan(server), tmp_path, name) for name in ("one", "two")]
    assert [(result.cached, result.calls) for result in results] == [(0, 8), (8, 0)]
    assert len(server.batches) == 2


async def test_a_run_begun_without_batches_goes_on_with_them_and_back(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        first = await played(plan(server, steps=1, limit=1), tmp_path / "run")
        assert (first.status, len(server.batches)) == ("done", 1)
        with pytest.raises(UsageError, match="every call was refused"):
            # This server knows no calls but by batches.
            await played(plan(server, items=9, steps=1, batched=frozenset()), tmp_path / "run")
        assert (await played(plan(server, steps=1), tmp_path / "run")).replayed == 2


async def test_a_user_asked_directly_answers_within_a_round(tmp_path: Path):
    user = ScriptedModel(lambda request: "please")
    async with BatchServer("chat", right) as server:
        models = {"agent": model(server), "user": user}
        result = await played(plan(server, with_user=2, models=models), tmp_path / "run")
    assert (result.status, len(user.asked), len(server.batches)) == ("done", 4, 2)


async def test_two_roles_by_batches_wait_for_each_other(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        models = {"agent": model(server), "user": OpenAIModel("user", server.base_url, KEY)}
        batched = frozenset({"agent", "user"})
        result = await played(plan(server, with_user=1, models=models, batched=batched), tmp_path / "run")
    assert result.status == "done"
    asked = [(next(iter(b.requests.values()))["model"], len(b.requests)) for b in server.batches.values()]
    assert sorted(asked[:2]) == [("m", 2), ("user", 2)] and asked[2:] == [("m", 4), ("m", 2)]


async def test_a_model_behind_a_format_goes_by_batches(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        prompted = PromptedModel(model(server), FORMATS["hermes"])
        result = await played(plan(server, models={"agent": prompted}), tmp_path / "run")
    assert (result.status, len(server.batches)) == ("done", 2)
    assert all("format:hermes" in step.reply.changes for step in steps_of(tmp_path / "run"))


async def test_a_model_that_cannot_encrypt_its_reasoning_costs_one_round_more(tmp_path: Path):
    def without(body: Body, digest: str) -> Message | Answer:
        return (
            refusal(400, "Encrypted content is not supported with this model.")
            if "include" in body
            else RIGHT
        )

    async with BatchServer("responses", without) as server:
        models = {"agent": ResponsesModel("m", server.base_url, KEY)}
        assert (await played(plan(server, models=models), tmp_path / "run")).status == "done"
    assert [len(batch.requests) for batch in server.batches.values()] == [4, 4, 4]


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


async def test_the_state_is_asked_for_ever_more_seldom_and_not_sooner_than_the_server_says(tmp_path: Path):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with BatchServer("chat", right) as server:
        server.polls = 15
        slow = refusal(429, "slow", "Retry-After: 37")
        server.spoil = lambda name, number: slow if (name, number) == ("state", 2) else None
        await played(plan(server, items=1, steps=1), tmp_path / "run", replace(PATIENT, sleep=sleep))
    assert slept[:3] == [0.5, 0.75, 55.5]
    assert slept[3:] == [60.0] * (len(slept) - 3) and len(slept) == 16
    assert server.counts["state"] == 16


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


async def test_models_at_one_endpoint_are_played_at_the_same_time(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        server.frozen = True
        jobs = [
            Job(
                plan(server, steps=1, models={"agent": OpenAIModel(name, server.base_url, KEY)}),
                tmp_path / name,
            )
            for name in ("a", "b")
        ]
        playing = asyncio.create_task(
            asyncio.to_thread(run_all, jobs, command=["test"], patience=Patience(5.0, 3))
        )
        while len(server.batches) < 2:
            await asyncio.wait([playing], timeout=0.01)
            assert not playing.done(), playing.result()
        server.frozen = False
        assert [isinstance(outcome, RunResult) for outcome in await playing] == [True, True]


def test_models_without_batches_are_refused_by_name(tmp_path: Path):
    url = "http://127.0.0.1:1/v1"
    for refused in (
        make_baseline("baseline/gold", 0),
        GeminiModel("m", url, KEY),
        OpenAIModel("m", url, KEY, stream=True),
    ):
        with pytest.raises(UsageError, match=f"{refused.name} cannot be asked by batches"):
            plan_of(model=refused, batched=frozenset({"agent"})).check_settings()
    with pytest.raises(UsageError, match="--order prefix"):
        plan_of(
            model=OpenAIModel("m", url, KEY), batched=frozenset({"agent"}), in_order=True
        ).check_settings()


def test_a_journal_survives_a_torn_line_and_names_a_damaged_one(tmp_path: Path):
    first = BatchJournal(tmp_path)
    begun = first.begin("wildtool-1", "agent", "http://127.0.0.1:1/v1", {"wt_1": "d1", "wt_2": "d2"})
    first.created(begun, "b1")
    first.read(begun, ["wt_1"])
    whole = (tmp_path / FILE).read_bytes()
    for length in range(whole.index(b'"wildtool-1"') + 200, len(whole)):
        (tmp_path / FILE).write_bytes(whole[:length])
        again = BatchJournal(tmp_path)
        assert again.key == first.key
        again.end(again.open_batches("agent")[0], "gone")
        assert BatchJournal(tmp_path).open_batches("agent") == []
    (tmp_path / FILE).write_bytes(whole.replace(b'"created"', b'"creatid"'))
    with pytest.raises(RecordError, match=f"{FILE}, line 3: damaged"):
        BatchJournal(tmp_path)
    (tmp_path / FILE).write_bytes(whole)
    (left,) = BatchJournal(tmp_path).open_batches("agent")
    assert (left.id, left.requests) == ("b1", {"wt_2": "d2"})


class Script:
    """A lane's sender that does what it is told when its turn comes."""

    def __init__(self, turn: Callable[[], None]) -> None:
        self.turn = turn

    async def play(self) -> None:
        self.turn()


async def test_a_round_begins_only_when_everything_waits_for_it():
    begun: list[str] = []

    async def sync() -> None:
        pass

    script: Any = Script(lambda: begun.append("round"))
    rounds = Rounds([], [script], sync)
    watching = asyncio.create_task(rounds.play())

    async def turns() -> None:
        for _ in range(3 * PASSES):
            await asyncio.sleep(0)

    rounds.job_begun("a")
    with rounds.asking("a"), rounds.parked():
        await turns()
        assert not begun, "more items may come"
        rounds.job_begun("b")
        rounds.all_begun()
        await turns()
        assert not begun, "b has asked nothing yet"
        with rounds.asking("b"):
            await turns()
            assert not begun, "b asks elsewhere"
            with rounds.parked():
                await turns()
                assert begun == ["round"]
    watching.cancel()
