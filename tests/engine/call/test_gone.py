"""An endpoint that has answered and then is down: for a moment, or for good; by a clock that jumps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, plan_of
from engine.instant_time import NetworkModel, now, run_instantly
from wildtool.engine.call.client import RESTART_S, RetryPolicy
from wildtool.engine.observer import Observer
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.errors import CallError, LimitOf
from wildtool.types import Request

DOWN = CallError("network", "no answer: Connection refused")
MANY = EchoBenchmark(items=50, units=4, steps=1)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    run_instantly(monkeypatch)


def go(
    model: NetworkModel, out: Path, *, benchmark: Any = MANY, concurrency: int = 16, **more: Any
) -> RunResult:
    policy = RetryPolicy(600.0, more.pop("tries", 6), jitter=lambda: 0.5)
    plan = plan_of(benchmark, model, concurrency=concurrency)
    return run_plan(plan, out, command=["wildtool", "run"], policy=policy, **more)


def dying(after: int, failure: CallError = DOWN, back_at: float = 1e9) -> Callable[[Request], Any]:
    """Answers so many calls, then fails at each until it is back."""
    left = iter(range(after))
    return lambda request: "right" if next(left, None) is not None or now() >= back_at else failure


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [1, 4, 64])
@pytest.mark.parametrize(
    "failure",
    [
        DOWN,
        CallError("http 502", "bad gateway"),
        CallError("http 503", "x"),
    ],
)
def test_a_run_whose_endpoint_dies_stops_soon_and_says_until_when_it_answered(
    tmp_path: Path, failure: CallError, concurrency: int
):
    model = NetworkModel(dying(60, failure))
    result = go(model, tmp_path, concurrency=concurrency)
    assert (result.status, result.exit_status, result.limit_of) == ("limit reached", 3, LimitOf.DOWN)
    assert "answered until" in (result.limit or "") and str(failure) in (result.limit or "")
    assert result.counts.correct == 60
    # Only what was under way, four units an item, can have been tried often enough to have failed.
    assert result.counts.infra_error <= 4 * concurrency
    assert result.counts.unplayed == 140 - result.counts.infra_error > 0
    assert model.ended <= 3 * RESTART_S
    assert len(model.asked) < 60 + 400


def test_the_same_command_continues_where_the_endpoint_died(tmp_path: Path):
    go(NetworkModel(dying(60)), tmp_path)
    model = NetworkModel()
    result = go(model, tmp_path)
    assert (result.status, result.counts.correct, result.replayed) == ("done", 200, 60)
    assert len(model.asked) == 140


@pytest.mark.parametrize("seconds", [5.0, 30.0, 50.0])
def test_an_endpoint_that_restarts_within_a_minute_costs_a_run_nothing(tmp_path: Path, seconds: float):
    model = NetworkModel(dying(60, back_at=seconds))
    result = go(model, tmp_path)
    assert (result.status, result.counts.correct) == ("done", 200)
    assert model.ended <= seconds + 10


def test_a_call_that_alone_fails_at_the_end_of_a_run_is_a_failed_call_and_no_dead_endpoint(tmp_path: Path):
    model = NetworkModel(
        lambda request: (
            DOWN if "I49/3" in str(request.messages) or "i49/3" in str(request.messages) else "right"
        )
    )
    result = go(model, tmp_path)
    assert (result.status, result.counts.correct, result.counts.infra_error) == ("infra errors", 199, 1)


class Watching(Observer):
    def __init__(self) -> None:
        self.said: list[str] = []

    def reply_noticed(self, text: str) -> None:
        self.said.append(text)

    def endpoint_down(self, answered: str, wait_s: float) -> None:
        self.said.append(answered)


def test_a_connection_that_breaks_once_is_no_endpoint_that_is_down(tmp_path: Path):
    watching, broken = Watching(), iter([False] * 20 + [True] + [False] * 180)
    model = NetworkModel(lambda request: DOWN if next(broken, False) else "right")
    assert go(model, tmp_path, observer=watching).counts.correct == 200
    assert watching.said == []


def test_without_retries_a_dead_endpoint_fails_each_call_at_once(tmp_path: Path):
    result = go(NetworkModel(dying(60)), tmp_path, tries=1)
    assert (result.counts.correct, result.counts.infra_error) == (60, 140)
