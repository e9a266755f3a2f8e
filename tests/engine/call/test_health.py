"""When a model that never answers is given up, and when it must not be; by a clock that jumps."""

import asyncio
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from engine.instant_time import NetworkModel, run_instantly
from long import a_fiftieth_of
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.client import (
    MAX_FAILED_CALLS,
    AllRefusedError,
    GivenUpError,
    Invocation,
    RetryPolicy,
)
from wildtool.engine.call.rate_limit import PROBE_CONCURRENCY
from wildtool.engine.run.runner import RunJob, RunResult, run_plan, run_plans
from wildtool.errors import BLOCKED_PROMPT, CallError, LimitOf
from wildtool.types import Request

DOWN = CallError("network", "no answer: Connection refused")
WRONG_KEY = CallError("http 401", "no such key", final=True)
TOO_MUCH = CallError("http 429", "slow down")
MANY = EchoBenchmark(items=100, units=2, steps=1)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    run_instantly(monkeypatch)


def go(plan: Any, out: Path, tries: int = 6, timeout: float = 600.0, **options: Any) -> RunResult:
    policy = RetryPolicy(timeout, tries, jitter=lambda: 0.5)
    return run_plan(plan, out, command=["wildtool", "run"], policy=policy, **options)


def recorded(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "record-0001.jsonl").read_text().splitlines()[1:]]


def quota(calls: int) -> Any:
    """Answers that many calls, and turns the others away."""
    left = iter(range(calls))
    return lambda request: TOO_MUCH if next(left, None) is None else "right"


def is_first(request: Request) -> bool:
    return request.address is not None and (request.address.item, request.address.unit) == ("i0", "0")


@pytest.mark.parametrize(
    ("concurrency", "seconds"),
    [(1, 0.0), *((many, each) for many in (8, 32, 500) for each in (0.0, 2.0, 9.9))],
)
def test_a_model_that_fails_at_every_try_is_given_up_within_15_seconds(
    tmp_path: Path, concurrency: int, seconds: float
):
    model = NetworkModel(lambda request: DOWN, lambda request: seconds)
    with pytest.raises(GivenUpError, match=r"never answered.*Connection refused") as caught:
        go(plan_of(MANY, model, concurrency=concurrency), tmp_path)
    assert caught.value.exit_status == 3
    assert 9 < model.ended < 15 + seconds
    assert (recorded(tmp_path), list(tmp_path.glob("*.parquet"))) == ([], [])


def test_calls_that_are_not_tried_again_are_given_up_at_once(tmp_path: Path):
    model = NetworkModel(lambda request: DOWN)
    with pytest.raises(GivenUpError):
        go(plan_of(MANY, model), tmp_path, tries=1)
    assert (model.ended < 1, len(model.asked) < 20) == (True, True)


@pytest.mark.parametrize(("tries", "concurrency"), [(1, 1), (1, 8), (6, 1), (6, 8)])
def test_each_try_of_a_model_that_is_given_up_counts_once(tmp_path: Path, tries: int, concurrency: int):
    model = NetworkModel(lambda request: DOWN)
    with pytest.raises(GivenUpError) as caught:
        go(plan_of(MANY, model, concurrency=concurrency), tmp_path, tries=tries)
    assert f"all {len(model.asked)} tries failed" in str(caught.value)
    assert tries > 1 or len(model.asked) >= MAX_FAILED_CALLS


def test_a_server_that_starts_within_the_patience_loses_nothing(tmp_path: Path):
    model = NetworkModel(lambda request: "right" if model.times[-1] > 6 else DOWN)
    result = go(plan_of(MANY, model, concurrency=32), tmp_path)
    assert (result.counts.correct, result.exit_status) == (200, 0)


def test_timeouts_of_all_first_calls_are_enough(tmp_path: Path):
    model = NetworkModel(seconds=lambda request: 1e6)
    with pytest.raises(GivenUpError, match="no complete answer within 600 s"):
        go(plan_of(MANY, model), tmp_path)
    assert model.ended < 604


@pytest.mark.long
@pytest.mark.parametrize("kind", [NetworkModel, ScriptedModel])
@pytest.mark.parametrize("concurrency", [2, 32])
def test_quick_refusals_do_not_overtake_a_slow_good_answer(tmp_path: Path, kind: Any, concurrency: int):
    class Slow(kind):
        async def complete(self, request: Request) -> Any:
            if is_first(request):
                await asyncio.sleep(40)
            return await super().complete(request)

    model = Slow(lambda request: "right" if is_first(request) else WRONG_KEY)
    result = go(plan_of(MANY, model, concurrency=concurrency), tmp_path)
    assert (result.counts.correct, result.counts.infra_error) == (1, 199)


def test_refusals_of_all_but_a_slow_call_stop_the_run_once_that_fails_too(tmp_path: Path):
    model = NetworkModel(lambda request: WRONG_KEY, lambda request: 40.0 if is_first(request) else 0.0)
    with pytest.raises(AllRefusedError, match="every call was refused"):
        go(plan_of(MANY, model, concurrency=32), tmp_path)
    assert 40 <= model.ended < 60
    assert len(model.asked) <= 60
    assert recorded(tmp_path) == []


OUTCOMES = st.sampled_from(["right", "right", DOWN, WRONG_KEY, CallError("http 500", "broken")])


@settings(
    max_examples=a_fiftieth_of(500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    first=st.floats(0, 100),
    others=st.lists(st.tuples(st.floats(0, 100), OUTCOMES), min_size=1, max_size=12),
    concurrency=st.integers(1, 40),
)
def test_a_model_that_answers_the_first_call_is_never_given_up(
    tmp_path_factory: pytest.TempPathFactory,
    first: float,
    others: list[tuple[float, Any]],
    concurrency: int,
):
    def of(request: Request) -> tuple[float, Any]:
        place = request.address
        assert place is not None
        return (
            (first, "right")
            if is_first(request)
            else others[crc32(f"{place.item}/{place.unit}".encode()) % len(others)]
        )

    model = NetworkModel(lambda request: of(request)[1], lambda request: of(request)[0])
    plan = plan_of(EchoBenchmark(items=20, units=2, steps=1), model, concurrency=concurrency)
    result = go(plan, tmp_path_factory.mktemp("run"), tries=2)
    assert result.counts.units == 40
    assert result.counts.correct == sum(row["row"] == "step" for row in recorded(result.folder))
    assert result.counts.infra_error == sum(row["row"] == "error" for row in recorded(result.folder))


def test_a_handful_of_calls_goes_out_first_and_nothing_is_asked_besides_the_run(tmp_path: Path):
    model = NetworkModel(seconds=lambda request: 1.0)
    result = go(plan_of(MANY, model, concurrency=32), tmp_path)
    assert model.times[:PROBE_CONCURRENCY] == [0] * PROBE_CONCURRENCY
    assert model.times[PROBE_CONCURRENCY] == pytest.approx(1.0)
    assert model.most_in_flight >= 32
    assert len(model.asked) == result.calls == 200


def test_a_slow_first_reply_holds_the_others_back_for_seconds_only(tmp_path: Path):
    model = NetworkModel(seconds=lambda request: 120.0)
    go(plan_of(MANY, model, concurrency=200), tmp_path)
    assert model.ended <= 124


def test_a_few_calls_only_go_to_an_endpoint_that_refuses_them(tmp_path: Path):
    model = NetworkModel(lambda request: WRONG_KEY)
    with pytest.raises(AllRefusedError, match="no such key"):
        go(plan_of(MANY, model, concurrency=200), tmp_path)
    assert len(model.asked) <= 10


def test_a_scripted_user_does_not_hide_that_the_model_under_test_never_answers(tmp_path: Path):
    models = {"agent": NetworkModel(lambda request: DOWN), "user": ScriptedModel()}
    benchmark = EchoBenchmark(items=50, units=1, steps=1, with_user=50)
    with pytest.raises(GivenUpError):
        go(plan_of(benchmark, models=models), tmp_path)


def test_a_model_of_several_roles_is_given_up_only_if_it_answers_in_none(tmp_path: Path):
    model = NetworkModel(lambda request: "go on" if request.role == "user" else WRONG_KEY)
    benchmark = EchoBenchmark(items=10, units=1, steps=1, with_user=10)
    result = go(plan_of(benchmark, models={"agent": model, "user": model}), tmp_path)
    assert result.counts.infra_error == 10


def test_the_dead_one_of_several_models_stops_and_the_others_go_on(tmp_path: Path):
    dead, good = NetworkModel(lambda request: DOWN), ScriptedModel()
    jobs = [RunJob(plan_of(MANY, model), tmp_path / str(number)) for number, model in enumerate((dead, good))]
    first, second = run_plans(jobs, command=["wildtool"], policy=RetryPolicy(5.0, 6, jitter=lambda: 0.5))
    assert isinstance(first, GivenUpError)
    assert isinstance(second, RunResult)
    assert second.counts.correct == 200


def test_a_run_with_answers_in_its_record_stops_too_and_loses_none(tmp_path: Path):
    go(plan_of(MANY, NetworkModel(), limit=10), tmp_path)
    before = recorded(tmp_path)
    with pytest.raises(GivenUpError):
        go(plan_of(MANY, NetworkModel(lambda request: DOWN)), tmp_path)
    assert recorded(tmp_path) == before


@pytest.mark.parametrize("error", [DOWN, CallError("http 400", "too long", final=True)])
def test_units_that_always_fail_do_not_hide_the_others_when_they_are_tried_again(tmp_path: Path, error: Any):
    def answer(request: Request) -> Any:
        return error if request.address and request.address.unit == "1" else "right"

    plan = EchoBenchmark(items=20, units=2, steps=1)
    go(plan_of(plan, NetworkModel(answer)), tmp_path)
    again = go(plan_of(plan, NetworkModel(answer)), tmp_path)
    assert (again.counts.correct, again.counts.units, again.exit_status) == (20, 40, 3)
    assert again.verdicts is not None


def test_a_short_run_that_never_got_an_answer_ends_with_its_failures_recorded(tmp_path: Path):
    result = go(plan_of(EchoBenchmark(items=1, units=1), NetworkModel(lambda request: DOWN)), tmp_path)
    assert (result.exit_status, result.counts.infra_error) == (3, 1)
    assert [row["kind"] for row in recorded(tmp_path)] == ["network"]


def test_blocked_prompts_are_not_tried_again_and_count_against_no_key(tmp_path: Path):
    blocked = CallError(BLOCKED_PROMPT, "the filter found violence", final=True)
    model = NetworkModel(lambda request: blocked)
    result = go(plan_of(MANY, model, concurrency=32), tmp_path)
    assert (result.counts.infra_error, result.exit_status) == (200, 3)
    assert len(model.asked) == 200
    assert model.most_in_flight >= 32
    assert {(row["kind"], row["attempts"]) for row in recorded(tmp_path)} == {(BLOCKED_PROMPT, 1)}


def test_an_endpoint_that_turns_every_call_away_is_given_up_after_two_minutes(tmp_path: Path):
    model = NetworkModel(lambda request: TOO_MUCH)
    with pytest.raises(GivenUpError, match=r"http 429 \(slow down\)"):
        go(plan_of(MANY, model), tmp_path)
    assert 120 <= model.ended <= 180
    assert len(model.asked) < 30


def test_a_quota_that_is_used_up_ends_the_run_with_no_unit_lost(tmp_path: Path):
    model = NetworkModel(quota(50))
    result = go(plan_of(MANY, model), tmp_path)
    assert (result.counts.correct, result.counts.unplayed, result.counts.infra_error) == (50, 150, 0)
    assert (result.status, result.limit_of) == ("limit reached", LimitOf.ENDPOINT)
    assert "for 30 minutes every call was turned away (slow down)" in (result.limit or "")
    assert 1800 <= model.ended < 2000


@pytest.mark.long
def test_a_call_that_alone_is_turned_away_fails_in_the_end_and_the_others_do_not(tmp_path: Path):
    model = NetworkModel(lambda request: TOO_MUCH if is_first(request) else "right")
    result = go(plan_of(EchoBenchmark(items=600, units=2, steps=1), model, concurrency=4), tmp_path)
    assert (result.counts.correct, result.counts.infra_error) == (1199, 1)


def test_a_throttled_run_ends_at_its_deadline(tmp_path: Path):
    model = NetworkModel(quota(50))

    def clock() -> float:
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:
            return 0.0

    invocation = Invocation(Budget(SpendingLimits(deadline_s=300), clock=clock))
    result = go(plan_of(MANY, model), tmp_path, invocation=invocation)
    assert (result.counts.infra_error, result.counts.unplayed) == (0, 150)
    assert "--deadline" in (result.limit or "")
    assert model.ended <= 301


def test_without_tries_a_call_that_is_turned_away_fails_at_once(tmp_path: Path):
    model = NetworkModel(lambda request: TOO_MUCH if is_first(request) else "right")
    result = go(plan_of(MANY, model), tmp_path, tries=1)
    assert (result.counts.infra_error, result.counts.correct) == (1, 199)
