"""What a run would take, in numbers: calls, tokens, money and time."""

from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from wildtool.engine.call.budget import estimate_tokens, tokens_of
from wildtool.engine.run.estimate import (
    RoleEstimate,
    RunTotals,
    Usage,
    estimate_run,
    run_totals,
    seconds_of,
    usages_of,
)
from wildtool.models.prompted import PromptedModel
from wildtool.models.settings import Rates
from wildtool.models.token_usage import Price
from wildtool.tool_formats import CALL_FORMATS


class Remote(ScriptedModel):
    limit: Any = None
    url = "http://h/v1"

    def settings(self) -> Any:
        return {"base_url": self.url, "max_tokens": self.limit}


LOW, HIGH = Usage(10, 1000.4, 100.6, 4), Usage(12, 900.0, 300.0, 5)
ESTIMATE = RoleEstimate(LOW, HIGH)


def test_calls_are_added_to_a_usage():
    once = Usage().add_call(5.0, 2.0, 1)
    assert once == Usage(1, 5.0, 2.0, 1)
    assert once.add_call(1.0, 1.0, 3).add_call(0.0, 0.0, 2) == Usage(3, 6.0, 3.0, 3)


def test_a_reply_is_as_long_as_the_user_allows_at_most():
    model = Remote()
    plan = plan_of(model=model)
    low, high = (
        {"prompt_tokens": 1000, "completion_tokens": 101},
        {"prompt_tokens": 900, "completion_tokens": 300},
    )
    assert usages_of(plan, "agent", ESTIMATE) == (low, high)
    model.limit = 30
    assert usages_of(plan, "agent", ESTIMATE) == (low, {**high, "completion_tokens": 360})
    model.limit = 5
    assert usages_of(plan, "agent", ESTIMATE) == (low, high)


def totals(**settings: Any) -> RunTotals:
    return run_totals(plan_of(model=Remote(), **settings), {"agent": ESTIMATE})


def test_what_a_run_takes_in_tokens_money_and_time():
    price = Price(input=1.0, output=10.0, batch=0.5)
    assert totals(concurrency=2, prices={"agent": price}) == RunTotals(
        tokens=(1101.0, 1200.0),
        cost=(pytest.approx((1000 + 1010) / 1e6), pytest.approx((900 + 3000) / 1e6)),  # pyright: ignore
        seconds=(25.0, 30.0),
        endpoint="http://h/v1",
    )
    assert (totals().cost, totals(concurrency=100).seconds) == (None, (20.0, 25.0))
    batched = totals(prices={"agent": price}, batched=frozenset({"agent"}))
    assert batched.seconds is None
    assert batched.cost == pytest.approx((1005 / 1e6, 1950 / 1e6))
    assert totals(concurrency=100, rates={"agent": Rates(rpm=2)}).seconds == (300.0, 360.0)
    assert totals(concurrency=100, rates={"agent": Rates(tpm=600)}).seconds == (pytest.approx(110.1), 120.0)
    models = {"agent": Remote(), "user": Remote()}
    both = run_totals(
        plan_of(models=models, prices=dict.fromkeys(models, price)),
        {"agent": ESTIMATE, "user": RoleEstimate(HIGH, LOW)},
    )
    assert both.tokens == (1101.0 + 1101.0, 1200.0 + 1200.0)
    assert both.cost == pytest.approx((2 * 2010 / 1e6, 2 * 3900 / 1e6))
    unpriced = plan_of(models=models, prices={"user": price})
    assert run_totals(unpriced, {"agent": ESTIMATE, "user": ESTIMATE}).cost is None
    local = run_totals(plan_of(), {"agent": ESTIMATE})
    assert (local.seconds, local.endpoint) == ((0.0, 0.0), None)


def test_runs_at_one_endpoint_follow_each_other():
    def one(endpoint: str, seconds: Any) -> RunTotals:
        return RunTotals(tokens=(0, 0), cost=None, seconds=seconds, endpoint=endpoint)

    assert seconds_of([one("a", (1, 2)), one("b", (4, 5)), one("a", (1, 6))]) == (4, 8)
    assert seconds_of([one("a", (1, 2)), one("b", None)]) is None


class Styled(EchoBenchmark):
    gold_styles = ("parallel", "serial")

    def rules(self, profile: str) -> Any:
        rules = super().rules(profile)
        episode = rules.episode

        def styled(item: Any, unit: str) -> Any:
            made = episode(item, unit)
            request = made.request
            made.request = lambda: self.with_style(request())
            return made

        vars(rules)["episode"] = styled
        return rules

    def with_style(self, request: Any) -> Any:
        from dataclasses import replace

        return request and replace(
            request, gold=lambda style: {"content": "x" * (400 if style == "serial" else 4)}
        )


def test_gold_answers_are_played_in_every_style():
    estimates = estimate_run(plan_of(Styled(items=3, units=2, steps=2), repeats=5))
    usage = estimates["agent"]
    assert [*estimates] == ["agent"]
    assert (usage.low.calls, usage.low.longest_unit_calls) == (60, 2)
    assert usage.low.reply_tokens == pytest.approx(60 * tokens_of({"content": "xxxx"}))
    assert usage.high.reply_tokens == pytest.approx(60 * tokens_of({"content": "x" * 400}))
    assert usage.low.prompt_tokens < usage.high.prompt_tokens


def test_another_role_is_counted_by_itself_and_a_format_by_what_is_sent():
    models = {"agent": PromptedModel(ScriptedModel(), CALL_FORMATS["hermes"]), "user": ScriptedModel()}
    benchmark = EchoBenchmark(items=2, units=1, steps=1, with_user=1)
    estimates = estimate_run(plan_of(benchmark, models=models))
    assert {role: each.low.calls for role, each in estimates.items()} == {"agent": 2, "user": 1}
    plain = estimate_run(plan_of(benchmark, models={**models, "agent": ScriptedModel()}))
    assert estimates["agent"].low.prompt_tokens > plain["agent"].low.prompt_tokens
    item = next(iter(benchmark.load(plan_of(benchmark).source)))
    request = benchmark.rules("official").episode(item, "0").request()
    assert request is not None
    single = EchoBenchmark(items=1, units=1, steps=1)
    assert estimate_run(plan_of(single))["agent"].low.prompt_tokens == estimate_tokens(request)
