"""While a policy is trained: held-out evaluations that other verbs read, each step once, failures not taken for wrong
answers."""

import asyncio
import csv
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool
from environments.bridges.token_policy import Characters
from environments.linear_policy import LinearPolicy, tool_file
from wildtool.api.settings import Alterations
from wildtool.cli import app
from wildtool.errors import CallError, UsageError, WildtoolError
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_train import evaluate
from wildtool_train.evaluation import CURVE_FILE, SERIES_FILE
from wildtool_train.sources import ProceduralUnits

HELD_OUT = "held-out.jsonl"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(tool_file(), encoding="utf-8")
    return path


@pytest.fixture
def callback(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the callback for TRL, also where transformers is not installed."""
    name = "wildtool_train.bridges.trl_evaluation"
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(TrainerCallback=object))
    monkeypatch.delitem(sys.modules, name, raising=False)
    import_module(name)
    return sys.modules.pop(name)


def silent(messages: Any, tools: Any) -> str:
    return "All set."


class Policy:
    """Says a text; fails where it is told to, and counts what it is asked."""

    def __init__(self, fails: Callable[[str], bool] = lambda text: False) -> None:
        self.fails, self.asked = fails, 0

    def __call__(self, messages: Any, tools: Any) -> str:
        self.asked += 1
        text = next(str(message["content"]) for message in reversed(messages) if message["role"] == "user")
        if self.fails(text):
            raise ValueError("out of memory")
        return "All set."


def command(line: str) -> str:
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert ended.exit_code == 0, ended.output
    return ended.stdout


@pytest.mark.long
def test_the_held_out_score_rises_with_the_reward(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
):
    """A policy of a few weights learns to call three tools from the reward alone, and the verbs show it."""
    monkeypatch.chdir(tmp_path)
    command(f"generate --model procedural --tools {tools.name} --sessions 16 --seed held-out -o {HELD_OUT}")
    evaluations = tmp_path / "evaluations"
    data = str(tmp_path / HELD_OUT)
    policy = LinearPolicy()
    held_out = evaluate(policy, "wildtoolbench", data=data, every=400, out=evaluations, name="linear")
    units = ProceduralUnits("training", tools=tools)
    before = held_out(0)
    rewards: list[float] = []
    for step in range(100, 1201, 100):
        rewards.append(policy.learn(units, range(step - 100, step)))
        held_out(step)
    scores = [each.accuracy for _, each in sorted(held_out.evaluations.items())]
    assert sorted(held_out.evaluations) == [0, 400, 800, 1200]
    assert before is not None and before.accuracy is not None and scores[-1] is not None
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.2
    assert scores[-1] > before.accuracy + 0.1
    last = held_out.evaluations[1200]
    assert last.components["verdict"] == last.accuracy and last.calls > before.calls
    # What was written is what the verbs read.
    with (evaluations / CURVE_FILE).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["accuracy"]) for row in rows] == scores
    assert [int(row["verdict units"]) for row in rows] == [last.units] * 4
    assert "linear@1200" in command("show evaluations")
    command(f"curve evaluations/{SERIES_FILE} -o curve")
    with (tmp_path / "curve/curve.csv").open(encoding="utf-8") as file:
        drawn = {int(row["size"]): float(row["score"]) for row in csv.DictReader(file)}
    assert drawn == pytest.approx(dict(zip((0, 400, 800, 1200), scores, strict=True)))


@pytest.mark.long
def test_a_step_is_evaluated_once_whatever_happens_to_the_training(tmp_path: Path):
    first, again = Policy(), Policy()
    evaluation = evaluate(first, "wild-mini", every=5, out=tmp_path, limit=2)(5)
    resumed = evaluate(again, "wild-mini", every=5, out=tmp_path, limit=2)
    assert resumed(5) == evaluation and first.asked > 0
    assert again.asked == 0
    assert resumed(6) is None and again.asked == 0
    assert resumed(6, always=True) is not None and again.asked == first.asked


@pytest.mark.long
def test_evaluations_of_thrown_away_weights_are_not_those_of_a_resumed_training(
    callback: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """Killed at step 17 with a checkpoint of step 10: step 15 is played again, step 10 is read."""
    killed = evaluate(silent, "wild-mini", every=5, out=tmp_path, limit=1)
    assert all(killed(step) for step in (0, 5, 10, 15))
    resumed = Policy()
    monkeypatch.setattr(callback, "ModelPolicy", lambda model, tokenizer, **settings: resumed)
    held_out = callback.HeldOutEvaluation("wild-mini", max_new_tokens=4, every=5, out=tmp_path, limit=1)
    state = SimpleNamespace(global_step=10, is_world_process_zero=True, log_history=[])
    held_out.on_train_begin(None, state, None, model=None, processing_class=None)
    assert resumed.asked == 0 and not (tmp_path / "step-000015").exists()
    with (tmp_path / CURVE_FILE).open(encoding="utf-8") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["0", "5", "10"]
    state.global_step = 15
    held_out.on_step_end(None, state, None)
    assert resumed.asked > 0 and (tmp_path / "step-000015-earlier-1").exists()
    assert [record.getMessage().replace(f"{tmp_path}/", "") for record in caplog.records] == [
        "step-000015 is set aside as step-000015-earlier-1",
        "step-000010 is read, not played again. Move it away if the weights were others",
    ]


def test_failed_units_are_no_wrong_answers_and_are_asked_again(tmp_path: Path):
    policy = Policy(lambda text: len(text) % 3 == 0)
    held_out = evaluate(policy, "wild-mini", every=1, out=tmp_path, limit=8)
    partial = held_out(1)
    assert partial is not None and not partial.complete
    assert 0 < partial.failed < partial.units
    assert partial.accuracy is None and partial.low is None
    policy.fails = lambda text: False
    whole = held_out(1)
    assert whole is not None and whole.complete and whole.failed == 0
    sound = Policy()
    whole_at_once = evaluate(sound, "wild-mini", every=1, out=tmp_path / "other", limit=8)(1)
    assert whole_at_once is not None and policy.asked == sound.asked + partial.failed
    assert (whole.accuracy, whole.components) == (whole_at_once.accuracy, whole_at_once.components)


@pytest.mark.long
def test_what_an_earlier_process_left_unfinished_is_begun_again(tmp_path: Path):
    """The weights of a resumed training may be others, so its replies are not mixed with earlier ones."""
    policy = Policy(lambda text: len(text) % 3 == 0)
    partial = evaluate(policy, "wild-mini", every=1, out=tmp_path, limit=8)(1)
    resumed = Policy()
    whole = evaluate(resumed, "wild-mini", every=1, out=tmp_path, limit=8)(1)
    assert partial is not None and whole is not None and whole.complete
    assert resumed.asked >= whole.units
    assert wildtool.Run(tmp_path / "step-000001-unfinished-1").result.counts.infra_error == partial.failed


def test_a_policy_that_always_fails_is_an_error_that_says_why(tmp_path: Path):
    held_out = evaluate(Policy(lambda text: True), "wild-mini", every=1, out=tmp_path, limit=8)
    with pytest.raises(WildtoolError, match=r"no evaluation at step 3: .*ValueError: out of memory"):
        held_out(3)
    assert not (tmp_path / CURVE_FILE).exists()


@pytest.mark.long
def test_an_endpoints_failure_is_tried_again(tmp_path: Path):
    calls: list[int] = []

    def flaky(messages: Any, tools: Any) -> str:
        calls.append(1)
        if len(calls) == 2:
            raise CallError("http 503", "busy", retry_after_s=0.0)
        return "All set."

    evaluation = evaluate(flaky, "wild-mini", every=1, out=tmp_path, limit=2)(0)
    assert evaluation is not None and evaluation.complete


def test_a_policys_weights_are_no_part_of_its_name(tmp_path: Path):
    class Heavy(Policy):
        def __getattribute__(self, name: str) -> Any:
            assert name != "__dict__", "the weights are looked at"
            return super().__getattribute__(name)

    assert evaluate(Heavy(), "wild-mini", every=1, out=tmp_path, limit=1)(0) is not None


def test_a_coroutine_function_is_a_policy_too(tmp_path: Path):
    async def policy(messages: Any, tools: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": "All set."}
        return {"choices": [{"message": message}], "usage": {"completion_tokens": 3}}

    evaluation = evaluate(policy, "wild-mini", every=1, out=tmp_path, limit=2)(0)
    assert evaluation is not None and evaluation.tokens == pytest.approx(3 * evaluation.messages)


@pytest.mark.long
def test_the_components_are_those_of_the_environment_under_every_profile(tmp_path: Path):
    fixed = evaluate(silent, "wild-mini", every=1, out=tmp_path / "fixed")(0)
    official = evaluate(silent, "wild-mini", every=1, out=tmp_path / "official", profile="official")(0)
    for evaluation in (fixed, official):
        assert evaluation is not None
        assert (
            evaluation.components["verdict"] == evaluation.accuracy == evaluation.correct / evaluation.units
        )
        assert "name" not in evaluation.components and evaluation.tested["progress"] == 96


def test_a_unit_that_no_environment_opens_has_a_verdict_and_no_components(tmp_path: Path):
    """Nothing is right where gold calls depend on each other in a circle; the evaluation goes on."""
    (record,) = procedural_sessions(SessionGenerationSpec(1), lambda note: None)
    record = json.loads(json.dumps(record))
    task = next(task for task in record["english_answer_list"] if len(task) > 1)
    task[0]["dependency_list"], task[1]["dependency_list"] = [task[1]["idx"]], [task[0]["idx"]]
    (tmp_path / HELD_OUT).write_text(json.dumps(record) + "\n", encoding="utf-8")
    held_out = evaluate(silent, "wildtoolbench", data=str(tmp_path / HELD_OUT), every=1, out=tmp_path / "e")
    evaluation = held_out(0)
    assert evaluation is not None and evaluation.complete
    assert evaluation.tested["verdict"] == evaluation.units - 1


@pytest.mark.parametrize("in_one_loop", [False, True])
def test_requests_of_an_evaluation_that_was_given_up_hold_nothing_up(callback: Any, in_one_loop: bool):
    policy = callback.ModelPolicy(None, Characters(), max_new_tokens=4, tool_format="hermes")
    policy._generate = lambda prompts: [[ord("A"), 0]] * len(prompts)

    async def give_up() -> None:
        request = asyncio.ensure_future(policy([], []))
        await asyncio.sleep(0)
        request.cancel()

    async def ask() -> Any:
        if in_one_loop:
            await give_up()
        return await asyncio.wait_for(policy([], []), 10)

    if not in_one_loop:
        asyncio.run(give_up())
    assert asyncio.run(ask())["choices"][0]["message"]["content"] == "A"


def test_what_cannot_be_meant_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UsageError, match="every is 0"):
        evaluate(silent, "wild-mini", every=0, out=tmp_path)
    with pytest.raises(UsageError, match="no 'noise'"):
        evaluate(silent, "wild-mini", every=1, out=tmp_path, noise="names:slight")
    for altered in (
        Alterations(noise="names:slight"),
        Alterations(expose="code"),
        Alterations(failures="down"),
    ):
        with pytest.raises(UsageError, match="make no sense while training"):
            evaluate(silent, "wild-mini", every=1, out=tmp_path, alterations=altered)
    with pytest.raises(UsageError, match="unknown keyword 'limit_s'"):
        evaluate(silent, "wild-mini", every=1, out=tmp_path, limit_s=3)(0)  # pyright: ignore
    monkeypatch.chdir(tmp_path)
    Path("wildtool.toml").write_text('[run]\nnoise = "names:slight"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"line 2: run\.noise: .*make no sense while training"):
        evaluate(silent, "wild-mini", every=1, out=tmp_path)
