"""How runs end: in which words and with which exit status, with data that were edited meanwhile, one after another."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from engine.instant_time import NetworkModel, instantly
from wildtool.engine.call.budget import Spend
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.run import runner
from wildtool.engine.run.runner import RunJob, RunResult, play_plans, run_plan, run_plans
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import CallError, DataError
from wildtool.types import Request


def ended(**fields: Any) -> RunResult:
    plain: dict[str, Any] = {
        "counts": OutcomeCounts(),
        "calls": 3,
        "replayed": 2,
        "cached": 1,
        "spent": Spend(),
    }
    plain |= {"limit": None, "limit_of_endpoint": False, "faults": (), "interrupted": False}
    return RunResult(folder=Path("runs"), verdicts=None, **(plain | fields))


FAILED = OutcomeCounts(infra_error=1)


@pytest.mark.parametrize(
    ("fields", "status", "exit_status"),
    [
        ({}, "done", 0),
        ({"counts": FAILED}, "infra errors", 3),
        ({"counts": FAILED, "limit": "enough"}, "limit reached", 3),
        ({"counts": FAILED, "limit": "", "faults": ("i0: bug",)}, "judge faults", 1),
        ({"limit": ""}, "limit reached", 3),
        ({"limit": "enough", "faults": ("i0: bug",), "interrupted": True}, "interrupted", 130),
    ],
)
def test_the_worst_of_what_happened_is_how_a_run_ended(fields: Any, status: str, exit_status: int):
    result = ended(**fields)
    assert (result.status, result.exit_status) == (status, exit_status)
    assert (result.remarks, result.pending) == ((), ())


def test_money_is_unknown_where_any_token_has_no_price():
    spent = Spend(10, 2, 0.12345678)
    summary = {"calls": 3, "cached": 1, "prompt_tokens": 10, "completion_tokens": 2, "usd": 0.123457}
    assert ended(spent=spent).spend_summary() == summary
    assert ended(spent=replace(spent, unpriced=1)).spend_summary() == {**summary, "usd": None}


STAMP = (("echo.jsonl", 1, 2, 3, 4),)


@pytest.mark.parametrize(
    ("before", "after", "digest", "end"),
    [
        (STAMP, STAMP, "edited", []),
        (STAMP, (), None, "gone"),
        ((), (), None, "gone"),
        (STAMP, (), "same", []),
        ((), (), "same", []),
        (STAMP, (("echo.jsonl", 1, 2, 9, 4),), "edited", "changed"),
        ((), (), "edited", "changed"),
    ],
)
def test_data_are_read_again_where_their_files_may_have_changed(
    before: Any, after: Any, digest: str | None, end: Any, monkeypatch: pytest.MonkeyPatch
):
    plan = plan_of()
    sha256 = plan.source.sha256
    monkeypatch.setattr(runner, "data_stamp", {plan.source.path: after}.get)
    monkeypatch.setattr(runner, "digest_now", lambda *asked: sha256 if digest == "same" else digest)
    items: Any = SimpleNamespace(stamp=before)
    check: Callable[..., list[str]] = runner._check_data
    if end == "changed":
        with pytest.raises(DataError) as raised:
            check(plan, items)
        assert str(raised.value) == (
            f"echo.jsonl: changed during the run (SHA-256 edited instead of {sha256}), so nothing is judged; replies are"
            " recorded. Restore the data and run the same command, or use another --out"
        )
    else:
        gone = (
            "echo.jsonl: not found at the end of the run, so changes to the data during it would go unnoticed"
        )
        assert check(plan, items) == ([gone] if end == "gone" else end)


def test_calls_are_tried_as_the_plan_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("asyncio.run", instantly)
    for name, model in {
        "fails": NetworkModel(lambda request: CallError("http 500", "broken")),
        "slow": NetworkModel(seconds=lambda request: 8.0),
    }.items():
        plan = plan_of(EchoBenchmark(1, 1, 1), model, max_attempts=2, timeout_s=7.0)
        result = run_plan(plan, tmp_path / name, command=["wildtool"])
        assert (result.status, len(model.times)) == ("infra errors", 2)
        assert name == "fails" or model.ended >= 14.0
    assert read_run(tmp_path / "slow")["sittings"][0]["command"] == ["wildtool"]


def interrupting(request: Request) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "right"


def test_after_ctrl_c_no_further_run_of_an_endpoint_begins(tmp_path: Path):
    models = [NetworkModel(interrupting, lambda request: 0.0, "a"), NetworkModel(name="b")]
    jobs = [RunJob(plan_of(EchoBenchmark(1, 1, 2), model), tmp_path / model.name) for model in models]
    first, second = run_plans(jobs, command=["wildtool"], policy=PATIENT)
    assert isinstance(first, RunResult)
    assert (first.interrupted, first.verdicts, second) == (True, None, None)
    assert not (tmp_path / "b").exists()


def test_ctrl_c_before_a_run_begins_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(task: Any) -> None:
        task.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan_of(), tmp_path, command=[])


def test_plans_in_a_loop_of_the_caller_have_an_outcome_each(tmp_path: Path):
    def broken(request: Request) -> Exception:
        return RuntimeError("broken")

    models = [ScriptedModel(broken), ScriptedModel()]
    jobs = [RunJob(plan_of(model=model), tmp_path / str(n)) for n, model in enumerate(models)]
    failure, result = instantly(play_plans(jobs, command=["wildtool"], policy=PATIENT))
    assert isinstance(failure, RuntimeError)
    assert isinstance(result, RunResult)
    assert (result.folder, result.status, result.calls) == (tmp_path / "1", "done", 8)
    assert not result.limit_of_endpoint
    assert read_run(tmp_path / "0")["sittings"][0]["status"] == "stopped: RuntimeError"
