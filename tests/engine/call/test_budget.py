"""Limits of money, tokens and time over whole runs: what was asked is kept, the rest is unplayed, and a run goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from wildtool.engine.call.budget import (
    Budget,
    Spend,
    SpendingLimits,
    UsageEstimator,
    estimate_tokens,
    read_prices,
)
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import Invocation
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.run.runner import RunJob, RunResult, run_plan, run_plans
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import CallError, LimitError, LimitOf, UsageError
from wildtool.models.settings import Rates
from wildtool.models.token_usage import Price
from wildtool.types import Request

REQUEST = Request([{"role": "user", "content": "hi"}])
CALL = {"prompt_tokens": 10, "completion_tokens": 2}
"""What a scripted model reports of each call."""


class Remote(ScriptedModel):
    """A scripted model with an address, as one over a network has."""

    url = "http://127.0.0.1:1/v1"

    def settings(self) -> dict[str, Any]:
        return {"base_url": self.url}


class Silent(Remote):
    """Reports no tokens."""

    async def complete(self, request: Request) -> Any:
        from dataclasses import replace

        return replace(await super().complete(request), usage={})


def go(
    out: Path, limits: SpendingLimits, model: Any = None, cache: ReplyCache | None = None, **settings: Any
) -> RunResult:
    settings.setdefault("concurrency", 1)
    benchmark = EchoBenchmark(items=settings.pop("items", 4), units=1, steps=2)
    plan = plan_of(benchmark, model or Remote(), **settings)
    return run_plan(
        plan, out, command=["wildtool"], policy=PATIENT, invocation=Invocation(Budget(limits), cache)
    )


def outcomes(result: RunResult) -> list[str]:
    assert result.verdicts is not None
    return [row[0] for row in relation([result.verdicts]).project("outcome").fetchall()]


def test_a_limit_of_tokens_ends_a_run_with_the_rest_unplayed(tmp_path: Path):
    result = go(tmp_path, SpendingLimits(max_tokens_total=420), items=40)
    assert 0 < result.calls < 80
    assert 380 < result.spent.tokens == 12 * result.calls <= 420
    assert set(outcomes(result)) == {"correct", "unplayed"}
    assert (result.status, result.exit_status, result.limit_of) == ("limit reached", 3, LimitOf.USER)
    assert result.limit == "the limit of 420 tokens (--max-tokens-total) leaves no room for the next call"


def test_the_same_run_with_a_higher_limit_asks_only_what_is_missing(tmp_path: Path):
    first = go(tmp_path, SpendingLimits(max_tokens_total=420), items=40)
    again = go(tmp_path, SpendingLimits(max_tokens_total=10_000), items=40)
    assert (again.replayed, again.calls + first.calls) == (first.calls, 80)
    assert (outcomes(again), again.exit_status) == (["correct"] * 40, 0)


def test_what_the_record_has_taken_counts(tmp_path: Path):
    spent = go(tmp_path, SpendingLimits(max_tokens_total=420), items=40).spent.tokens
    result = go(tmp_path, SpendingLimits(max_tokens_total=spent + 5), items=40)
    assert (result.calls, result.status) == (0, "limit reached")


def test_a_limit_of_money_counts_prompts_and_replies_at_their_prices(tmp_path: Path):
    price = Price(input=1000.0, output=50_000.0)
    result = go(tmp_path, SpendingLimits(max_cost=10.0), prices={"agent": price})
    # The first reply is guessed at 200 tokens, of 10 USD.
    assert (result.calls, result.status) == (0, "limit reached")
    result = go(tmp_path, SpendingLimits(max_cost=10.5), prices={"agent": price})
    assert result.spent.cost == pytest.approx(result.calls * 0.11)
    assert result.calls > 0


def unfinished(request: Request) -> CallError:
    """The error of a reply that its provider did not finish, and has tokens for."""
    error = CallError("reply unfinished", "the reply ended with the finish reason abort")
    error.usage = {"prompt_tokens": 10, "completion_tokens": 30, "cache": {"read": 4}}
    return error


def test_tokens_of_attempts_that_were_not_finished_count(tmp_path: Path):
    price = Price(input=1_000_000.0, output=1_000_000.0)
    model = Remote(lambda request: unfinished(request) if len(model.asked) % 3 else "right")
    result = go(tmp_path, SpendingLimits(max_cost=10_000), model, items=1, prices={"agent": price})
    assert (result.status, result.calls) == ("done", 2)
    assert result.spent.cost == pytest.approx(2 * (2 * 40 + 12))
    rows = [json.loads(line) for line in (tmp_path / "record-0001.jsonl").read_text("utf-8").splitlines()]
    assert rows[1]["lost_usage"] == {"prompt_tokens": 20, "completion_tokens": 60, "cache": {"read": 8}}
    assert rows[1]["usage"] == CALL


def test_tokens_of_calls_that_were_never_finished_count_in_the_next_run_too(tmp_path: Path):
    price = Price(input=1_000_000.0, output=1_000_000.0)
    limits, prices = SpendingLimits(max_cost=10_000), {"agent": price}
    # A model that never answers has no result of any kind.
    model = Remote(lambda request: "right" if len(model.asked) == 1 else unfinished(request))
    first = go(tmp_path, limits, model, items=2, prices=prices)
    assert (first.status, first.spent.cost) == ("infra errors", pytest.approx(12 + 2 * 3 * 40))
    budget = Budget(limits)
    plan = plan_of(EchoBenchmark(2, 1, 2), Remote(), prices=prices, concurrency=1)
    again = run_plan(plan, tmp_path, command=["wildtool"], policy=PATIENT, invocation=Invocation(budget))
    assert (again.status, again.calls, again.spent.cost) == ("done", 3, pytest.approx(36))
    assert budget.spent.cost == pytest.approx(first.spent.cost + again.spent.cost)


def test_cache_writes_of_claude_models_follow_one_rule_and_own_prices_replace_them(tmp_path: Path):
    builtin = read_prices(None)
    claude = {name: price for name, price in builtin.items() if name.startswith("claude")}
    assert claude
    for price in claude.values():
        assert (price.cache_write, price.cache_write_1h) == (1.25 * price.input, 2 * price.input)
    (tmp_path / "prices.toml").write_text(
        '[models."claude-opus-5"]\ninput = 4\noutput = 20\ncache_write = 7\n'
    )
    own = read_prices(tmp_path / "prices.toml")["claude-opus-5"]
    assert (own.input, own.cache_write, own.cache_write_1h, own.cached_input) == (4, 7, None, None)


def test_calls_that_do_not_fit_beside_those_under_way_wait_for_them(tmp_path: Path):
    # 80 calls take 960 tokens; the first replies are guessed at 200 tokens each.
    result = go(tmp_path, SpendingLimits(max_tokens_total=1000), items=40, concurrency=32)
    assert (result.status, result.spent.tokens) == ("done", 960)


def test_a_limit_is_reached_where_what_is_spent_leaves_no_room_however_many_calls_are_under_way(
    tmp_path: Path,
):
    result = go(tmp_path, SpendingLimits(max_tokens_total=900), items=40, concurrency=32)
    assert result.limit_of == LimitOf.USER
    assert 850 < result.spent.tokens <= 900


def test_money_is_no_limit_where_a_price_is_nothing(tmp_path: Path):
    free = Price(input=0.0, output=0.0)
    assert go(tmp_path, SpendingLimits(max_cost=0.0), prices={"agent": free}).status == "done"


def test_an_endpoint_that_tells_no_tokens_reaches_the_limit_by_our_guess(tmp_path: Path):
    result = go(tmp_path, SpendingLimits(max_tokens_total=700), Silent())
    assert 0 < result.calls < 8


def test_after_the_deadline_no_call_begins(tmp_path: Path):
    now = [0.0]

    def answer(request: Request) -> str:
        now[0] += 10
        return "right"

    budget = Budget(SpendingLimits(deadline_s=25), clock=lambda: now[0])
    plan = plan_of(EchoBenchmark(items=4, units=1, steps=2), Remote(answer), concurrency=1)
    result = run_plan(plan, tmp_path, command=[], policy=PATIENT, invocation=Invocation(budget))
    assert (result.calls, result.limit) == (3, "the deadline of 25 s is over (--deadline)")
    assert outcomes(result) == ["correct", "unplayed", "unplayed", "unplayed"]


def test_a_run_that_ends_just_within_its_limit_is_done(tmp_path: Path):
    assert go(tmp_path, SpendingLimits(max_tokens_total=100_000)).status == "done"


def test_calls_under_way_finish_and_are_recorded_when_a_limit_is_reached(tmp_path: Path):
    result = go(tmp_path, SpendingLimits(max_tokens_total=900), concurrency=4)
    with LogReader(tmp_path) as reader:
        steps = [s for job in reader.jobs() for unit in reader.log(*job).values() for s in unit.values()]
    assert all(isinstance(step, LoggedReply) for step in steps)
    assert len(steps) == result.calls > 0


def test_calls_that_wait_for_their_turn_give_up_when_a_limit_is_reached(tmp_path: Path):
    # One call a day: without giving up the second would wait so long.
    rates = {"agent": Rates(rpm=1 / 1440)}
    budget = Budget(SpendingLimits(max_tokens_total=100_000))

    def answer(request: Request) -> str:
        asyncio.get_running_loop().call_soon(budget.stop, "enough")
        return "right"

    plan = plan_of(EchoBenchmark(items=2, units=2, steps=2), Remote(answer), rates=rates)
    result = run_plan(plan, tmp_path, command=[], policy=PATIENT, invocation=Invocation(budget))
    assert (result.calls, result.limit) == (1, "enough")


def test_run_json_tells_what_each_sitting_took(tmp_path: Path):
    go(tmp_path, SpendingLimits(), prices={"agent": Price(input=1.0, output=2.0)})
    taken = read_run(tmp_path)["sittings"][-1]["spent"]
    used = {"calls": 8, "cached": 0, "prompt_tokens": 80, "completion_tokens": 16}
    assert taken == used | {"usd": pytest.approx(112e-6)}


def test_the_cost_of_tokens_without_a_price_is_told_as_unknown(tmp_path: Path):
    go(tmp_path, SpendingLimits())
    assert read_run(tmp_path)["sittings"][-1]["spent"]["usd"] is None


def test_another_run_takes_its_replies_from_the_cache_and_its_record_says_so(tmp_path: Path):
    cache, model = ReplyCache(tmp_path / "cache"), Remote()
    go(tmp_path / "one", SpendingLimits(), cache=cache)
    result = go(tmp_path / "two", SpendingLimits(), model, cache=cache)
    assert (model.asked, result.cached, result.calls, result.spent) == ([], 8, 0, Spend())
    assert outcomes(result) == ["correct"] * 4
    rows = (tmp_path / "two" / "record-0001.jsonl").read_text().splitlines()[1:]
    assert all(json.loads(row)["cached"] for row in rows)


def test_repeats_after_the_first_are_asked_anew_and_not_kept(tmp_path: Path):
    cache, model = ReplyCache(tmp_path / "cache"), Remote()
    go(tmp_path / "one", SpendingLimits(), cache=cache, repeats=3)
    again = go(tmp_path / "two", SpendingLimits(), model, cache=cache, repeats=3)
    assert again.cached == 8
    assert [request.address.repeat > 0 for request in model.asked if request.address] == [True] * 16


def test_calls_that_failed_are_not_kept(tmp_path: Path):
    cache = ReplyCache(tmp_path / "cache")
    go(tmp_path / "one", SpendingLimits(), Remote(lambda request: CallError("http 500", "down")), cache=cache)
    assert go(tmp_path / "two", SpendingLimits(), cache=cache).cached == 0


def test_models_that_are_asked_over_no_network_are_not_kept(tmp_path: Path):
    cache = ReplyCache(tmp_path / "cache")
    go(tmp_path / "one", SpendingLimits(), ScriptedModel(), cache=cache)
    assert go(tmp_path / "two", SpendingLimits(), ScriptedModel(), cache=cache).cached == 0


def test_replies_from_the_cache_cost_nothing_when_a_run_goes_on(tmp_path: Path):
    cache = ReplyCache(tmp_path / "cache")
    go(tmp_path / "one", SpendingLimits(), cache=cache)
    go(tmp_path / "two", SpendingLimits(), cache=cache, limit=2)
    assert go(tmp_path / "two", SpendingLimits(max_tokens_total=1), cache=cache).status == "done"


def at(url: str, seen: list[str], name: str) -> Remote:
    def answer(request: Request) -> str:
        seen.append(name)
        return "right"

    model = Remote(answer, name)
    model.url = url
    return model


def all_of(models: list[Remote], folder: Path) -> list[Any]:
    plans = [plan_of(EchoBenchmark(items=6, units=1, steps=3), model, concurrency=1) for model in models]
    jobs = [RunJob(plan, folder / plan.models["agent"].name) for plan in plans]
    return run_plans(jobs, command=[], policy=PATIENT)


def test_models_at_different_endpoints_are_played_at_the_same_time(tmp_path: Path):
    seen: list[str] = []
    all_of([at("http://one", seen, "a"), at("http://two", seen, "b")], tmp_path)
    assert {"a", "b"} == set(seen[: len(seen) // 2])


def test_models_at_one_endpoint_are_played_in_turn(tmp_path: Path):
    seen: list[str] = []
    all_of([at("http://one", seen, "a"), at("http://one", seen, "b")], tmp_path)
    assert seen == ["a"] * 18 + ["b"] * 18


def test_a_model_that_fails_does_not_stop_those_beside_and_after_it(tmp_path: Path):
    seen: list[str] = []
    broken = Remote(lambda request: RuntimeError("broken"), "broken")
    broken.url = "http://one"
    failed, beside, after = all_of(
        [broken, at("http://two", seen, "b"), at("http://one", seen, "c")], tmp_path
    )
    assert isinstance(failed, RuntimeError)
    assert (beside.status, after.status) == ("done", "done")


def test_a_limit_holds_for_all_models_of_a_command_together(tmp_path: Path):
    seen: list[str] = []
    models = [at("http://one", seen, "a"), at("http://two", seen, "b")]
    jobs = [
        RunJob(plan_of(EchoBenchmark(items=6, units=1), model), tmp_path / model.name) for model in models
    ]
    budget = Budget(SpendingLimits(max_tokens_total=500))
    run_plans(jobs, command=[], policy=PATIENT, invocation=Invocation(budget))
    assert budget.spent.tokens == 12 * len(seen) <= 500


def test_what_is_set_aside_for_calls_under_way_counts():
    budget = Budget(SpendingLimits(max_tokens_total=500))
    expected = UsageEstimator(None).estimate(REQUEST)
    budget.reserve(expected)
    budget.reserve(expected)
    with pytest.raises(LimitError):
        budget.reserve(expected)


def test_a_forecast_learns_the_tokenizer_and_the_length_of_replies():
    forecast = UsageEstimator(None)
    before = forecast.estimate(REQUEST)
    for _ in range(200):
        forecast.update(
            before, {"prompt_tokens": round(3 * before.character_estimate), "completion_tokens": 20}
        )
    assert forecast.estimate(REQUEST).usage["completion_tokens"] < 25
    assert forecast.estimate(REQUEST).usage["prompt_tokens"] == pytest.approx(
        3 * before.character_estimate, rel=0.1
    )


@pytest.mark.parametrize(
    "told", [{}, {"prompt_tokens": "many"}, {"prompt_tokens": -5}, {"prompt_tokens": True}]
)
def test_nonsense_that_an_endpoint_reports_counts_as_a_call_without_a_count(told: dict[str, Any]):
    spent = Spend()
    spent.add(told, Price(input=1.0, output=1.0))
    assert spent == Spend(uncounted=1)


def test_tokens_that_the_endpoint_had_cached_have_their_own_price():
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    price = Price(input=10.0, output=20.0, cached_input=1.0)
    assert price.cost(usage) == pytest.approx((600 + 40 + 200) / 1e6)


def test_chinese_has_more_tokens_a_letter_than_english():
    assert estimate_tokens(Request([{"content": "天" * 400}])) > 2.5 * estimate_tokens(
        Request([{"content": "a" * 400}])
    )


def test_a_forecast_learns_what_the_endpoint_caches():
    forecast = UsageEstimator(Price(input=10.0, output=10.0, cached_input=1.0))
    before = forecast.estimate(REQUEST)
    cached = {"prompt_tokens": 1000, "completion_tokens": 0, "cache_read_input_tokens": 1000}
    for _ in range(50):
        forecast.update(before, cached)
    after = forecast.estimate(REQUEST)
    assert after.cost / after.tokens == pytest.approx(before.cost / before.tokens / 10, rel=0.1)


def test_the_shipped_prices_are_sound_and_say_of_when_they_are():
    prices = read_prices(None).values()
    assert prices
    assert all("of 20" in price.origin and price.output >= price.input for price in prices)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("p.json", '{"models": {"m": {"input": 1}}}', "models.m.output: must be a number from 0"),
        (
            "p.json",
            '{"models": {"m": {"input": -1, "output": 1}}}',
            "models.m.input: must be a number from 0",
        ),
        ("p.json", '{"models": {"m": {"input": 1, "output": 1, "x": 1}}}', "models.m.x: unknown key"),
        ("p.json", '{"models": {"m": 3}}', "models.m: must be a table"),
        ("p.json", "[]", "no table `models`"),
        ("p.toml", "models = ", "not valid TOML"),
        ("p.toml", "[models.m]\ninput = nan\noutput = 1", "models.m.input: must be a number"),
    ],
)
def test_a_price_file_that_cannot_be_meant_is_refused_by_place(
    tmp_path: Path, name: str, text: str, told: str
):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as caught:
        read_prices(tmp_path / name)
    assert told in str(caught.value)


def test_a_users_price_goes_before_the_shipped_one(tmp_path: Path):
    (tmp_path / "p.toml").write_text("[models.gpt-4o]\ninput = 7\noutput = 8\n")
    assert read_prices(tmp_path / "p.toml")["gpt-4o"].input == 7


def test_a_cost_that_the_endpoint_reports_counts_before_any_price():
    spent = Spend()
    spent.add({"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.5}, None)
    spent.add({"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.25}, Price(input=1e6, output=1e6))
    spent.add({"prompt_tokens": 1, "completion_tokens": 0}, Price(input=1e6, output=0.0))
    assert (spent.cost, spent.reported, spent.unpriced) == (1.75, 0.75, 0)
