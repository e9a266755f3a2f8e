"""verifiers plays units as the core does, through its own command and endpoint."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from environments.bridges.page import blocks
from environments.bridges.scripted_endpoint import ScriptedPolicy, serving
from environments.bridges.sources import EPISODES, SETTINGS, SOURCES, replayed
from wildtool.benchmark import judge_unit
from wildtool.errors import UsageError
from wildtool.types import Message, Reply
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import lowest

pytest.importorskip("verifiers.v1", reason="the extra [verifiers] is not installed")
bridge: Any = pytest.importorskip("wildtool_train.bridges.verifiers")

UNITS = SOURCES["wild-mini"]


def run(folder: Path, command: str, *words: str) -> str:
    (folder / "wild.py").write_text(blocks("verifiers")[0], encoding="utf-8")
    beside = Path(sys.executable).parent / command
    ended = subprocess.run(
        [beside, "wild", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:] + ended.stdout[-2000:]
    return ended.stdout


def evaluated(
    folder: Path, policy: ScriptedPolicy, *words: str, source: str = "wild-mini"
) -> list[dict[str, Any]]:
    settings = [
        word
        for name, value in SETTINGS[source].items()
        for word in (f"--env.taskset.{name}", str(value).lower())
    ]
    runtime = ("-c", "16", "--no-push", "--env.agent.runtime.type", "subprocess", "--run.dir", "mine")
    with serving(policy) as url:
        model = ("-m", "scripted", "--client.base-url", url, "--client.api-key-var", "NO_KEY")
        run(folder, "vf-eval", *model, *settings, *runtime, *words)
    lines = (folder / "outputs/mine/traces.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["traces"][0] for line in lines]


def replies(trace: dict[str, Any]) -> list[Reply]:
    """What the trace says that the model said."""
    return [Reply(as_message(node["message"])) for node in trace["nodes"] if node["sampled"]]


def as_message(message: Message) -> Message:
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in message.get("tool_calls") or ()
    ]
    return {
        "role": "assistant",
        "content": message.get("content"),
        **({"tool_calls": calls} if calls else {}),
    }


@pytest.mark.parametrize("source", SOURCES)
def test_random_episodes_have_the_judges_verdict_as_reward(source: str, tmp_path: Path):
    units = SOURCES[source]
    rounds = str(-(-EPISODES // len(units.names)))
    traces = evaluated(tmp_path, ScriptedPolicy(units), "-r", rounds, source=source)
    judged: list[bool] = []
    for trace in traces:
        assert not trace["errors"]
        name = trace["task"]["key"]
        transcript = replayed(units, name, replies(trace)).transcript()
        verdict = judge_unit(units.benchmark, *units.find(name), transcript, "fixed")
        judged.append(verdict.outcome == "correct")
        assert trace["rewards"]["episode_reward"] == {"score": float(judged[-1]), "weight": 1.0}
    assert len(judged) >= EPISODES and {*judged} == {True, False}


def test_gold_is_right_and_each_turn_has_its_metrics(tmp_path: Path):
    weights = '{"verdict": 0.5, "name": 0.5}'
    traces = evaluated(tmp_path, ScriptedPolicy(UNITS, gold=True), "--env.taskset.task.weights", weights)
    assert {trace["task"]["key"] for trace in traces} == set(UNITS.names)
    mirror = UnitEnvironment(UNITS)
    for trace in traces:
        mirror.open(trace["task"]["key"])
        steps = [dict(mirror.step(reply.message).components) for reply in replies(trace)]
        turns = {f"turn_{n}/{name}": value for n, step in enumerate(steps) for name, value in step.items()}
        assert trace["info"]["steps"] == steps and trace["info"]["done"]
        assert trace["metrics"] == {**lowest(steps), **turns}
        assert trace["rewards"]["episode_reward"]["score"] == (1.0 if "name" in lowest(steps) else 0.5)


def test_verifiers_own_check_accepts_the_gold_of_every_unit(tmp_path: Path):
    settings = ("--taskset.benchmark", "wild-mini", "--taskset.evaluation", "true")
    run(tmp_path, "vf-validate", "--runtime.type", "subprocess", *settings)
    (summary,) = tmp_path.glob("outputs/*/summary.json")
    counts = json.loads(summary.read_text(encoding="utf-8"))
    assert counts["valid_rate"] == 1 and counts["total"] == 128


def test_a_taskset_is_endless_or_bounded_as_its_units_are():
    stream = bridge.WildTaskset(bridge.WildConfig(seed="9"))
    assert not stream.bounded and [task.key for task in stream.take(3)] == ["0-0/0", "0-0/1", "0-0/2"]
    mini = bridge.WildTaskset(bridge.WildConfig(benchmark="wild-mini", evaluation=True))
    assert mini.bounded and sorted(task.key for task in mini) == sorted(UNITS.names)
    assert len({task.hash for task in mini}) == 128


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"benchmark": "wild-mini"}, "evaluation=True"),
        ({"profile": "strict"}, "has no profile"),
        ({"task": {"weights": {"verdit": 1}}}, "no component 'verdit'"),
        ({"system_prompt": Path(__file__)}, "own prompts"),
    ],
)
def test_wrong_settings_are_refused_at_the_start(settings: dict[str, Any], text: str):
    with pytest.raises(UsageError, match=text):
        bridge.WildTaskset(bridge.WildConfig.model_validate(settings))
