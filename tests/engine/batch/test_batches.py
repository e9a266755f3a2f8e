"""Rounds of batches over whole runs: what is asked together, what it costs, what is recorded."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.batch.batch_play import (
    KEY,
    RIGHT,
    model,
    plan,
    played,
    refusal,
    right,
    steps_of,
)
from engine.echo_benchmark import PATIENT, ScriptedModel, plan_of
from faults.batch_server import BatchServer, Body
from faults.server import Answer
from models.options import client_options
from models.peers import PROTOCOLS, Peer
from wildtool.engine.batch.rounds import QUIET_PASSES, Activity, BatchScheduler, RoundProgress
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import Invocation, RetryPolicy
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import RunJob, RunResult, run_plan, run_plans
from wildtool.errors import UsageError
from wildtool.models.baselines import make_baseline
from wildtool.models.prompted import PromptedModel
from wildtool.models.providers.gemini import GeminiModel
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.providers.openai_responses import ResponsesModel
from wildtool.models.token_usage import Price
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import Message


def cached(plan: Plan, folder: Path, name: str) -> RunResult:
    """Plays with a cache that the runs of the folder share."""
    cache = ReplyCache(folder / "cache")
    result = run_plan(
        plan, folder / name, command=["test"], policy=PATIENT, invocation=Invocation(cache=cache)
    )
    cache.close()
    return result


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

    unsteady = {"time", "latency_s", "batched", "sends", "synced", "crc32"}
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


async def test_files_hold_no_more_than_the_provider_takes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with BatchServer(kind, right) as server:
        api = model(server).use_batches(None)  # pyright: ignore[reportArgumentType]
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


async def test_a_limit_of_money_is_checked_before_a_batch_goes_and_counts_the_batch_price(
    kind: str, tmp_path: Path
):
    price = Price(input=1000, output=1000, batch=0.5)
    async with BatchServer(kind, right) as server:
        whole = await played(
            plan(server, prices={"agent": price}),
            tmp_path / "all",
            invocation=Invocation(Budget(SpendingLimits(max_cost=9e9))),
        )
        tokens = whole.spent.tokens
        assert whole.spent.cost == pytest.approx(tokens * 1000 * 0.5 / 1e6)
        server.batches.clear()
        budget = Budget(SpendingLimits(max_cost=0.25))
        part = await played(
            plan(server, prices={"agent": price}), tmp_path / "part", invocation=Invocation(budget)
        )
        assert part.status == "limit reached" and part.limit is not None and "--max-cost" in part.limit
        assert 0 < sum(len(batch.requests) for batch in server.batches.values()) < 8
        again = Budget(SpendingLimits(max_cost=part.spent.cost))
        assert (
            await played(
                plan(server, prices={"agent": price}), tmp_path / "part", invocation=Invocation(again)
            )
        ).calls == 0
    assert again.spent.cost == pytest.approx(part.spent.cost)


async def test_the_cache_comes_before_the_batch(kind: str, tmp_path: Path):
    async with BatchServer(kind, right) as server:
        results = [await asyncio.to_thread(cached, plan(server), tmp_path, name) for name in ("one", "two")]
    assert [(result.cached, result.calls) for result in results] == [(0, 8), (8, 0)]
    assert len(server.batches) == 2


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
        prompted = PromptedModel(model(server), CALL_FORMATS["hermes"])
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


async def test_the_state_is_asked_for_ever_more_seldom_and_not_sooner_than_the_server_says(tmp_path: Path):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with BatchServer("chat", right) as server:
        server.polls = 15
        slow = refusal(429, "slow", "Retry-After: 37")
        server.spoil = lambda name, number: slow if (name, number) == ("state", 2) else None
        await played(plan(server, items=1, steps=1), tmp_path / "run", replace(PATIENT, sleep=sleep))
    assert slept == [0.5, 0.75, 37.0, 55.5, *[60.0] * 12]
    assert server.counts["state"] == 16


async def test_models_at_one_endpoint_are_played_at_the_same_time(tmp_path: Path):
    async with BatchServer("chat", right) as server:
        server.frozen = True
        jobs = [
            RunJob(
                plan(server, steps=1, models={"agent": OpenAIModel(name, server.base_url, KEY)}),
                tmp_path / name,
            )
            for name in ("a", "b")
        ]
        playing = asyncio.create_task(
            asyncio.to_thread(run_plans, jobs, command=["test"], policy=RetryPolicy(5.0, 3))
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
        OpenAIModel("m", url, KEY, **client_options(stream=True)),
    ):
        with pytest.raises(UsageError, match=f"{refused.name} cannot be asked by batches"):
            plan_of(model=refused, batched=frozenset({"agent"})).check_settings()
    with pytest.raises(UsageError, match="--order prefix"):
        plan_of(
            model=OpenAIModel("m", url, KEY), batched=frozenset({"agent"}), in_order=True
        ).check_settings()


class Script:
    """A lane's sender that does what it is told when its turn comes."""

    def __init__(self, turn: Callable[[], None]) -> None:
        self.turn = turn

    async def send_batches(self) -> None:
        self.turn()


async def test_a_round_begins_only_when_everything_waits_for_it():
    begun: list[str] = []

    async def sync() -> None:
        pass

    script: Any = Script(lambda: begun.append("round"))
    rounds = Activity()
    scheduler = BatchScheduler(rounds, [], [script], RoundProgress([], lambda state: None), sync)
    watching = asyncio.create_task(scheduler.play())

    async def turns() -> None:
        for _ in range(3 * QUIET_PASSES):
            await asyncio.sleep(0)

    rounds.job_started("a")
    with rounds.asking("a"), rounds.waiting():
        await turns()
        assert not begun, "more items may come"
        rounds.job_started("b")
        rounds.all_jobs_started()
        await turns()
        assert not begun, "b has asked nothing yet"
        with rounds.asking("b"):
            await turns()
            assert not begun, "b asks elsewhere"
            with rounds.waiting():
                await turns()
                assert begun == ["round"]
    watching.cancel()
