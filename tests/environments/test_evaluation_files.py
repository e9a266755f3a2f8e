"""When a policy is evaluated, and what is written of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import wildtool
from environments.test_evaluation import silent
from wildtool.environments import evaluate, evaluation
from wildtool.environments.evaluation import Evaluation, Evaluator
from wildtool.errors import UsageError


async def told(messages: Any, tools: Any) -> dict[str, Any]:
    """A policy that tells its tokens."""
    message = {"role": "assistant", "content": "All set."}
    return {"choices": [{"message": message}], "usage": {"completion_tokens": 3}}


def of(step: int, accuracy: float | None = 0.5, **changes: Any) -> Evaluation:
    counts: dict[str, Any] = {"units": 4, "correct": 2, "failed": 0, "low": 0.25, "high": 0.75}
    means: dict[str, Any] = {"calls": 1.5, "messages": 2.0, "tokens": None}
    components: Mapping[str, Any] = {"components": {"name": 0.5}, "tested": {"name": 2}}
    fields = {**counts, **means, **components, **changes}
    return Evaluation(step=step, run=f"run-{step}", accuracy=accuracy, **fields)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> dict[int, Evaluation]:
    """What each step is worth: no run is played."""
    worth: dict[int, Evaluation] = {}

    def run(bench: Any, *, model: Any, quiet: bool, out: Path, **options: Any) -> Any:
        assert quiet
        out.mkdir(parents=True, exist_ok=True)
        (out / "model").write_text(f"{model.name} {model.settings()} {options}")

    monkeypatch.setattr(evaluation, "run", run)
    monkeypatch.setattr(evaluation, "_evaluation", lambda step, finished, bench: worth.get(step, of(step)))
    return worth


def test_the_table_and_the_series_have_all_evaluations(tmp_path: Path):
    held_out = evaluate(told, "wild-mini", every=5, out=tmp_path, limit=4)
    whole = held_out(0)
    assert whole is not None
    assert (whole.low, whole.high) == pytest.approx((0.03497748774324047, 0.36022827265758695))
    assert whole == Evaluation(
        step=0,
        run=str(tmp_path / "step-000000"),
        units=16,
        correct=2,
        failed=0,
        accuracy=0.125,
        low=whole.low,
        high=whole.high,
        calls=0.0,
        messages=1.4375,
        tokens=4.3125,
        components={"refusal": 0.125, "verdict": 0.125, "progress": 0.0},
        tested={"refusal": 16, "verdict": 16, "progress": 14},
    )
    assert whole.complete
    assert held_out.evaluations == {0: whole}
    document = (tmp_path / "step-000000" / "run.json").read_text("utf-8")
    assert '"policy": "policy"' in document
    assert wildtool.Run(tmp_path / "step-000000").model == "policy@0"


def test_a_table_has_a_column_for_each_component_and_for_the_units_behind_it(
    tmp_path: Path, played: dict[int, Evaluation]
):
    held_out = evaluate(silent, "wild-mini", every=5, out=tmp_path, repeats=2, lang="zh", name="mine")
    played[5] = of(5, components={"order": 1.0, "name": 0.0}, tested={"order": 1, "name": 4}, tokens=7.5)
    assert held_out(5) == played[5]
    assert not (tmp_path / "series.toml").exists(), "the beginning is missing"
    assert held_out(4) is None
    assert held_out(0) == of(0)
    assert (tmp_path / "evaluations.csv").read_text("utf-8") == (
        "step,run,units,correct,failed,accuracy,low,high,calls,messages,tokens,name,name units,order,order units\n"
        "0,run-0,4,2,0,0.5,0.25,0.75,1.5,2.0,,0.5,2,,\n"
        "5,run-5,4,2,0,0.5,0.25,0.75,1.5,2.0,7.5,0.0,4,1.0,1\n"
    )
    played[10] = of(10, None, failed=1)
    assert not played[10].complete
    held_out(10)
    entry = '{name = "wild-mini", mode = "fc", lang = "zh", profile = "fixed"}'
    points = "".join(
        f'\n[[point]]\nname = "{step}"\nmodel = "replay:{tmp_path.resolve()}/step-{step:06}"\n'
        f"size = {step}\nsteps = {step}\n"
        for step in (0, 5)
    )
    series = f"[series]\nbenchmarks = [{entry}]\nrepeats = 2\n{points}"
    assert (tmp_path / "series.toml").read_text("utf-8") == series
    assert (tmp_path / "evaluations.csv").read_text("utf-8").splitlines()[-1] == (
        "10,run-10,4,2,1,,0.25,0.75,1.5,2.0,,0.5,2,,"
    )
    options = {"repeats": 2, "profile": "fixed", "concurrency": 1}
    assert (tmp_path / "step-000005" / "model").read_text() == (
        f"mine@5 {{'policy': 'mine', 'step': 5}} {options}"
    )


def test_a_set_of_ones_own_is_named_in_the_series(tmp_path: Path, played: dict[int, Evaluation]):
    data = wildtool.load("wild-mini").source.path
    (tmp_path / "my set.jsonl").write_bytes(data.read_bytes())
    own = evaluate(
        silent,
        "wildtoolbench",
        data=str(tmp_path / "my set.jsonl"),
        every=1,
        out=tmp_path / "e",
        profile="official",
    )
    own(0)
    own(1)
    lines = (tmp_path / "e" / "series.toml").read_text("utf-8").splitlines()
    assert lines[1] == (
        f'benchmarks = [{{name = "wildtoolbench", data = "{tmp_path.resolve()}/my set.jsonl", mode = "fc",'
        ' profile = "official"}]'
    )
    assert lines[2] == "repeats = 1"


def test_a_series_needs_the_beginning_and_a_later_evaluation(tmp_path: Path, played: dict[int, Evaluation]):
    for number, steps in enumerate([(0,), (1, 2), (0, 1), (1, 0)]):
        held_out = evaluate(silent, "wild-mini", every=1, out=tmp_path / str(number))
        for step in steps:
            held_out(step)
    assert [place.parent.name for place in sorted(tmp_path.glob("*/series.toml"))] == ["2", "3"]
    assert evaluation._toml('a "set" 你😀') == '"a \\"set\\" 你😀"'


def test_what_came_after_the_start_is_set_aside_and_leaves_the_table(
    tmp_path: Path, played: dict[int, Evaluation], caplog: pytest.LogCaptureFixture
):
    held_out = evaluate(silent, "wild-mini", every=1, out=tmp_path)
    for step in (0, 1, 2):
        held_out(step)
    for name in ("step-000002-earlier-1", "step-x"):
        (tmp_path / name).mkdir()
    held_out.begin(1)
    assert sorted(each.name for each in tmp_path.glob("step-*")) == [
        "step-000000",
        "step-000001",
        "step-000002-earlier-1",
        "step-000002-earlier-2",
        "step-x",
    ]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}/step-000002 is set aside as step-000002-earlier-2"
    ]
    held_out(1)
    rows = (tmp_path / "evaluations.csv").read_text("utf-8").splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == ["0", "1"]


def test_an_unfinished_evaluation_of_another_process_is_set_aside(
    tmp_path: Path, played: dict[int, Evaluation], caplog: pytest.LogCaptureFixture
):
    (tmp_path / "step-000001").mkdir()
    held_out = evaluate(silent, "wild-mini", every=1, out=tmp_path)
    held_out(1)
    held_out(1)
    assert sorted(each.name for each in tmp_path.glob("step-*")) == [
        "step-000001",
        "step-000001-unfinished-1",
    ]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}/step-000001 is set aside as step-000001-unfinished-1"
    ]


class AsyncPolicy:
    async def __call__(self, messages: Any, tools: Any) -> str:
        return "All set."


def test_a_coroutine_function_is_asked_many_things_at_once(tmp_path: Path):
    def options(policy: Any, **more: Any) -> Any:
        evaluator = evaluate(policy, "wild-mini", every=1, out=tmp_path, **more)
        assert isinstance(evaluator, Evaluator)
        return evaluator._options  # pyright: ignore[reportPrivateUsage]

    assert options(silent) == {"profile": "fixed", "concurrency": 1}
    assert options(told) == options(AsyncPolicy()) == {"profile": "fixed", "concurrency": 32}
    assert options(told, concurrency=2, profile="paper") == {"profile": "paper", "concurrency": 2}


def test_what_makes_no_sense_while_training_is_named(tmp_path: Path):
    for options, error in (
        ({"every": 0}, "every is 0; it is a number of steps, 1 or more"),
        (
            {"every": 1, "on": "local:2", "batch": True},
            "evaluate takes no 'batch': model, on, batch, dry_run, noise, inject, hints, rationale make no sense while"
            " training",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            evaluate(silent, "wild-mini", out=tmp_path, **options)  # pyright: ignore
        assert str(caught.value) == error
