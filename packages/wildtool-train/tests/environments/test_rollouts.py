"""Rollout files of training frameworks get our verdicts, from the policy's messages alone."""

import json
from pathlib import Path
from typing import Any

import pytest

import wildtool
from environments.bridges.page import DOCS, blocks
from environments.test_evaluation import command
from wildtool.errors import DataError, UsageError
from wildtool_train.bridges.responses import response_items
from wildtool_train.core import UnitEnvironment
from wildtool_train.rollouts import judge_rollouts, write_replies
from wildtool_train.sources import benchmark_units

UNITS = benchmark_units("wild-mini", evaluation=True)
NAMES = UNITS.names[:12]


def conversation(name: str, *, gold: bool) -> list[dict[str, Any]]:
    environment, messages = UnitEnvironment(UNITS), list[dict[str, Any]]()
    messages += environment.open(name).messages
    while not environment.is_over:
        message = (environment.gold() or {}) if gold else {"content": "I cannot."}
        messages += [
            {"role": "assistant", **message},
            *environment.step({"role": "assistant", **message}).observation.messages,
        ]
    return messages


def beside(message: dict[str, Any], key: str) -> dict[str, Any]:
    """A message whose calls have their name beside the arguments."""
    calls = [{"id": call["id"], key: call["function"]["name"], "arguments": call["function"]["arguments"]}
             for call in message.get("tool_calls") or ()]  # fmt: skip
    return {**message, "tool_calls": calls}


def gym(name: str, messages: list[dict[str, Any]], start: int, reward: float) -> dict[str, Any]:
    output = [{"type": "message", **item} if "role" in item else item
              for message in messages[start:] for item in response_items(message)]  # fmt: skip
    return {"unit": name, "responses_create_params": {}, "response": {"output": output}, "reward": reward}


def trace(name: str, messages: list[dict[str, Any]], start: int, reward: float) -> dict[str, Any]:
    nodes = [{"message": beside(message, "name"), "sampled": place >= start and message["role"] == "assistant"}
             for place, message in enumerate(messages)]  # fmt: skip
    rewards = {"episode_reward": {"score": reward, "weight": 1.0}}
    return {"traces": [{"nodes": nodes, "rewards": rewards, "info": {"unit": name}, "errors": []}]}


def sample(name: str, messages: list[dict[str, Any]], start: int, reward: float) -> dict[str, Any]:
    shown = [beside(message, "function") for message in messages]
    return {"id": name, "epoch": 1, "messages": shown, "scores": {"mine": {"value": "C" if reward else "I"}}}


def row(name: str, messages: list[dict[str, Any]], start: int, reward: float) -> dict[str, Any]:
    """A conversation with its unit, whose replies have Anthropic's shape."""

    def blocks_of(message: dict[str, Any]) -> dict[str, Any]:
        if message["role"] != "assistant":
            return message
        text = [{"type": "text", "text": message["content"]}] if message.get("content") else []
        functions = [call["function"] | {"id": call["id"]} for call in message.get("tool_calls") or ()]
        calls = [
            {
                "type": "tool_use",
                "id": each["id"],
                "name": each["name"],
                "input": json.loads(each["arguments"]),
            }
            for each in functions
        ]
        return {"role": "assistant", "content": [*text, *calls]}

    return {"unit": name, "messages": [*map(blocks_of, messages)], "reward": reward}


@pytest.mark.long
@pytest.mark.parametrize("kind", [trace, sample, gym, row])
def test_every_verdict_is_ours_and_what_disagrees_is_named(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows: list[dict[str, Any]] = []
    rights: list[bool] = []
    for place, name in enumerate(NAMES):
        opening = len(UnitEnvironment(UNITS).open(name).messages)
        messages = conversation(name, gold=place % 2 == 0)
        # A response of NeMo Gym has no user turns, so units with questions end early there.
        asks = any(message["role"] == "user" for message in messages[opening:])
        environment = UnitEnvironment(UNITS)
        environment.open(name)
        if kind is gym and asks:
            continue
        for message in messages[opening:]:
            if message["role"] == "assistant":
                environment.step(message)
        rights.append(environment.steps[-1]["verdict"] == 1)
        lies = len(rights) == 3
        rows.append(kind(name, messages, opening, float(rights[-1] is not lies)))
    path = tmp_path / ("log.json" if kind is sample else "rollouts.jsonl")
    text = json.dumps({"samples": rows}) if kind is sample else "\n".join(map(json.dumps, rows))
    path.write_text(text, encoding="utf-8")
    judged = list(judge_rollouts(UNITS, path))
    assert [rollout.verdict for rollout in judged] == rights and {*rights} == {True, False}
    assert [place for place, rollout in enumerate(judged) if rollout.disagrees] == [2]
    # They become runs, which the verbs read.
    write_replies(judged, tmp_path / "replies.jsonl")
    monkeypatch.chdir(tmp_path)
    command("score --data wild-mini --replies replies.jsonl --profile fixed --out run")
    (run,) = (tmp_path / "run").iterdir()
    rows = {f"{row['item']}/{row['unit']}": row for row in wildtool.Run(run).verdicts().rows()}
    assert [rows[rollout.unit]["correct"] for rollout in judged] == rights


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    command("generate --model procedural --sessions 1 -o made.jsonl")
    units = benchmark_units("wildtoolbench", "made.jsonl")
    row = trace(units.names[0], [{"role": "assistant", "content": ""}], 0, 1.0)
    (tmp_path / "rollouts.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (code,) = blocks("Rollouts of others, judged again", DOCS / "environments.md")
    exec(code, {})
    assert capsys.readouterr().out.startswith(f"rollouts.jsonl:1 {units.names[0]} 1.0 False")
    assert "rollouts" in command("score --data made.jsonl --replies replies.jsonl --out judged")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", '{"x": 1}', ":1: expected a log of Inspect.*has x"),
        ("a.jsonl", "", "holds no"),
        (
            "a.jsonl",
            '{"unit": "none/0", "responses_create_params": {}, "response": {"output": []}}',
            ":1: no unit",
        ),
        ("a.json", "{}", "holds no rollout"),
        (
            "a.jsonl",
            '{"nodes": [{"sampled": true}]}',
            ":1: nodes: field message: expected an object, found null",
        ),
        (
            "a.jsonl",
            '{"nodes": [{"sampled": true, "message": "hi"}]}',
            ":1: nodes: field message: .* found a text",
        ),
        (
            "a.jsonl",
            '{"nodes": [], "rewards": {"a": {"score": "0.5"}}}',
            ":1: rewards: field score: expected a number, found a text",
        ),
    ],
)
def test_bad_files_are_errors_that_name_the_place(name: str, text: str, words: str, tmp_path: Path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises((DataError, UsageError), match=words):
        list(judge_rollouts(UNITS, tmp_path / name))


def test_a_call_under_an_unknown_key_ends_the_reading_with_its_place(tmp_path: Path):
    reply = {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "argz": {"a": 1}}]}
    (tmp_path / "a.jsonl").write_text(json.dumps({"unit": NAMES[0], "messages": [reply]}), encoding="utf-8")
    with pytest.raises(DataError, match=":1: message 1: call 1: call of 'f': `argz` here"):
        list(judge_rollouts(UNITS, tmp_path / "a.jsonl"))


def test_a_rollout_that_failed_or_stopped_early_is_said_to(tmp_path: Path):
    rows = [
        {"unit": NAMES[0], "responses_create_params": {}, "response": {}, "_ng_failure_class": "timeout"},
        {"unit": NAMES[0], "responses_create_params": {}, "response": {"output": []}, "reward": 0.0},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    failed, early = judge_rollouts(UNITS, tmp_path / "a.jsonl")
    assert (failed.verdict, failed.problem) == (None, "timeout")
    assert early.verdict is False and early.reason == "the rollout ends before the unit does"


def test_a_unit_that_cannot_be_opened_does_not_end_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened = UnitEnvironment.open

    def open_(self: UnitEnvironment, name: str) -> Any:
        if name == NAMES[0]:
            raise DataError(f"{name}: under the profile fixed no answer to it is right")
        return opened(self, name)

    monkeypatch.setattr(UnitEnvironment, "open", open_)
    rows = [trace(name, [{"role": "assistant", "content": "x"}], 0, 0.0) for name in NAMES[:2]]
    rows[1]["traces"][0]["rewards"] = {"a": {"score": None}}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    closed, judged = judge_rollouts(UNITS, tmp_path / "a.jsonl")
    assert closed.verdict is None and closed.problem.endswith("no answer to it is right")
    assert judged.verdict is not None and judged.reward is None


def as_inspect_has_it(message: Any) -> dict[str, Any]:
    calls = [
        {
            "id": call["id"],
            "function": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls") or ()
    ]
    return {
        "role": message["role"],
        "content": message.get("content") or "",
        **({"tool_calls": calls} if calls else {}),
    }


def test_a_log_of_a_run_is_judged_by_its_own_profile_and_without_its_opening(tmp_path: Path):
    """Under `official` gold history is shown in other steps than under `fixed`."""
    environment, samples = UnitEnvironment(UNITS, "official"), list[dict[str, Any]]()
    for name in UNITS.names:
        opening = [*map(as_inspect_has_it, environment.open(name).messages)]
        own: list[Any] = []
        while (gold := environment.gold()) is not None:
            own.append(as_inspect_has_it(gold))
            environment.step(gold)
        samples.append(
            {"id": name, "input": opening, "messages": [*opening, *own], "scores": {"s": {"value": "C"}}}
        )
    log = {"eval": {"packages": {"wildtool": "1"}, "metadata": {"profile": "official"}}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    judged = list(judge_rollouts(UNITS, tmp_path / "log.json"))
    assert len(judged) == len(samples) > 100
    assert [each.unit for each in judged if each.disagrees] == []
    by_fixed = judge_rollouts(UNITS, tmp_path / "log.json", "fixed")
    assert {each.profile for each in by_fixed} == {"official"}
