"""What is read of each kind of rollout file, and what is written of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from wildtool.environments.rollouts import Rollout, judge_rollouts, read_rollouts, write_replies
from wildtool.environments.sources import benchmark_units
from wildtool.errors import DataError, UsageError

UNITS = benchmark_units("wild-mini", evaluation=True)
CHAT, CALL = "wild_mini_2/0", "wild_mini_0/1"


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def said(text: str | None, *calls: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    return {**message, "tool_calls": [*calls]} if calls else message


def call(arguments: Any = "{}", **entries: Any) -> dict[str, Any]:
    return {"id": "c", "arguments": arguments, **entries}


def sent(arguments: str = "{}", name: str | None = "f") -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_rollouts_of_nemo_gym_are_read_from_their_response(tmp_path: Path):
    output = [{"type": "message", "content": "Hi."}]
    path = lines(
        tmp_path / "a.jsonl",
        {
            "unit": "u/0",
            "id": "x",
            "responses_create_params": {},
            "response": {"output": output},
            "reward": 0.5,
        },
        {"id": "u/1", "responses_create_params": {}, "response": None, "reward": 1},
        {
            "id": "u/1",
            "responses_create_params": {},
            "response": {"output": []},
            "_ng_failure_class": "timeout",
        },
    )
    assert [*read_rollouts(path)] == [
        Rollout(f"{path}:1", "u/0", [said("Hi.")], 0.5, ""),
        Rollout(f"{path}:2", "u/1", [], 1, "it has no response"),
        Rollout(f"{path}:3", "u/1", [], None, "timeout"),
    ]


def test_traces_of_verifiers_are_read_from_what_was_sampled(tmp_path: Path):
    nodes = [
        {"message": said("shown")},
        {"message": said(None, call(name="f"), call({"a": "ä"}, name="f")), "sampled": True},
        {"message": {**said("Hi."), "x": 1}, "sampled": True},
    ]
    rewards = {"a": {"score": 0.5, "weight": 2}, "b": {"score": 0.25}, "c": {"score": None, "weight": 9}}
    whole = {"nodes": nodes, "rewards": rewards, "info": {"unit": "u/0"}, "task": {"data": {"id": "x"}}}
    errors = [{"message": "timeout"}, {"kind": "other"}]
    bare = {"nodes": [], "task": {"data": {"id": "u/1"}}, "errors": errors}
    path = lines(tmp_path / "a.jsonl", {"traces": [whole, bare]}, bare)
    calls = said(None, sent(), sent('{"a":"ä"}'))
    failed = "timeout; {'kind': 'other'}"
    assert [*read_rollouts(path)] == [
        Rollout(f"{path}:1", "u/0", [calls, said("Hi.")], 1.25, ""),
        Rollout(f"{path}:1", "u/1", [], None, failed),
        Rollout(f"{path}:2", "u/1", [], None, failed),
    ]


def test_samples_of_inspect_are_read_from_their_replies(tmp_path: Path):
    messages = [
        {"role": "user", "content": "x"},
        said("So.", call(function="f"), call(function="f", parse_error="{not")),
        said([{"type": "text", "text": "Hi."}]),  # pyright: ignore
    ]
    values: list[Any] = ["C", "I", "N", "P", 0.75, "high"]
    samples: list[dict[str, Any]] = [
        {"id": "u/0", "epoch": 2, "messages": messages, "scores": {"s": {"value": "C"}, "t": {"value": "I"}}},
        {"id": "u/1", "error": {"message": "timeout"}},
        *({"id": "u/2", "scores": {"s": {"value": value}}} for value in values),
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"samples": samples}), encoding="utf-8")
    first, second, *others = read_rollouts(path)
    replies = [said("So.", sent(), sent("{not")), said("Hi.")]
    assert first == Rollout(f"{path}, sample 'u/0', epoch 2", "u/0", replies, 1, "")
    assert second == Rollout(f"{path}, sample 'u/1', epoch None", "u/1", [], None, "timeout")
    assert [rollout.reward for rollout in others] == [1, 0, 0, 0.5, 0.75, "high"]


@pytest.mark.parametrize(
    ("verdict", "reward", "disagrees"),
    [
        (True, 1, False),
        (True, 1.0, False),
        (True, 0.9995, False),
        (True, 0.999, True),
        (True, 0, True),
        (False, 0.999, False),
        (False, 1, True),
        (False, True, True),
        (None, 1, False),
        (True, None, False),
        (False, "high", False),
    ],
)
def test_a_reward_of_1_says_that_it_is_right(verdict: bool | None, reward: Any, disagrees: bool):
    assert Rollout("p", "u", [], reward, verdict=verdict).disagrees is disagrees


def test_each_rollout_is_judged_from_the_policys_messages(tmp_path: Path):
    opening = {"message": said("shown"), "sampled": True}
    right, wrong = ({"message": said(text), "sampled": True} for text in ("Rest.", ""))
    rows: list[dict[str, Any]] = [
        {"nodes": [right], "info": {"unit": CHAT}, "rewards": {"a": {"score": 1}}},
        {"nodes": [wrong], "info": {"unit": CHAT}},
        {"nodes": [right, opening], "info": {"unit": CHAT}},
        {"nodes": [], "info": {"unit": CHAT}},
        {"nodes": [right], "info": {"unit": CALL}},
        {"nodes": [right], "info": {"unit": CHAT}, "errors": [{"message": "timeout"}]},
    ]
    path = lines(tmp_path / "a.jsonl", *rows)
    judged = [*judge_rollouts(UNITS, path)]
    assert [(each.verdict, each.reason, each.problem) for each in judged] == [
        (True, "", ""),
        (False, "an empty reply where an answer was due", ""),
        (True, "", ""),
        (False, "the rollout ends before the unit does", ""),
        (False, "text although a call was due", ""),
        (None, "", "timeout"),
    ]
    write_replies(judged, tmp_path / "replies.jsonl", model="mine")
    assert [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text().splitlines()] == [
        {"item": "wild_mini_2", "model": "mine", "repeat": 0, "units": {"0": [said("Rest.")]}},
        {"item": "wild_mini_2", "model": "mine", "repeat": 1, "units": {"0": [said("")]}},
        {"item": "wild_mini_2", "model": "mine", "repeat": 2, "units": {"0": [said("Rest."), said("shown")]}},
        {"item": "wild_mini_2", "model": "mine", "repeat": 3, "units": {"0": []}},
        {"item": "wild_mini_0", "model": "mine", "repeat": 0, "units": {"1": [said("Rest.")]}},
    ]
    write_replies(judged[:1], tmp_path / "other.jsonl")
    assert json.loads((tmp_path / "other.jsonl").read_text())["model"] == "rollouts"


def test_messages_of_the_opening_are_not_the_policys(tmp_path: Path):
    """The second unit of a session is shown with the replies of the first."""
    from wildtool.environments.core import UnitEnvironment

    environment = UnitEnvironment(UNITS)
    shown = [message for message in environment.open(CALL).messages if message["role"] == "assistant"]
    own: list[Any] = []
    while (gold := environment.gold()) is not None:
        own.append(gold)
        environment.step(gold)

    def node(message: Any) -> dict[str, Any]:
        calls = [{"id": each["id"], **each["function"]} for each in message.get("tool_calls") or ()]
        return {"sampled": True, "message": {**message, "tool_calls": calls}}

    rows = [{"nodes": [*map(node, nodes)], "info": {"unit": CALL}} for nodes in ([*shown, *own], own, shown)]
    path = lines(tmp_path / "a.jsonl", *rows)
    whole, alone, ended = judge_rollouts(UNITS, path)
    assert (whole.verdict, alone.verdict, ended.verdict) == (True, True, False)
    assert whole.messages == alone.messages
    assert (len(alone.messages), ended.messages) == (2, [])


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.jsonl", "", "{path}: holds no rollout; {expected}"),
        ("a.jsonl", '{"x": 1, "y": 2}', "{path}:1: {expected}; this one has x, y"),
        ("a.jsonl", "{}", "{path}:1: {expected}; this one has nothing"),
        (
            "a.jsonl",
            '{"nodes": [], "info": {"unit": "a/0"}}',
            "{path}:1: no unit 'a/0'; there are 128, such as 'wild_mini_0/0'. Give the data that were played",
        ),
    ],
)
def test_a_file_that_holds_no_rollouts_is_named(name: str, text: str, error: str, tmp_path: Path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    expected = (
        "expected a log of Inspect, or JSON lines: rollouts of NeMo Gym, traces of verifiers or conversations with their"
        " `unit`"
    )
    with pytest.raises(DataError) as caught:
        [*judge_rollouts(UNITS, tmp_path / name)]  # pyright: ignore
    assert str(caught.value) == error.format(path=tmp_path / name, expected=expected)


def test_a_compressed_log_needs_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import sys
    from types import SimpleNamespace

    path = tmp_path / "a.eval"
    path.touch()
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UsageError) as refused:
        [*read_rollouts(path)]  # pyright: ignore
    assert str(refused.value) == (
        f"{path}: only Inspect reads its compressed logs: pip install 'wildtool[inspect]', or convert it: inspect log"
        " convert --to json"
    )
    log: Any = SimpleNamespace(model_dump=lambda: {"samples": [{"id": "u/0", "epoch": 1}]})
    monkeypatch.setitem(sys.modules, "inspect_ai.log", SimpleNamespace(read_eval_log=lambda name: log))  # pyright: ignore
    assert [*read_rollouts(path)] == [Rollout(f"{path}, sample 'u/0', epoch 1", "u/0", [], None, "")]
    monkeypatch.setitem(sys.modules, "inspect_ai.log", SimpleNamespace(read_eval_log=int))  # pyright: ignore
    with pytest.raises(DataError, match=r"a\.eval: Inspect cannot read it as a log \(invalid literal"):
        [*read_rollouts(path)]  # pyright: ignore


def test_a_rollout_in_which_others_speak_is_not_judged(tmp_path: Path):
    units = benchmark_units("acebench", "finance", mode="fc", evaluation=True)
    name = next(name for name in units.names if "multi_turn" in name)
    row = {"nodes": [], "info": {"unit": name}}
    path = lines(tmp_path / "a.jsonl", row, {**row, "errors": [{"message": "timeout"}]})
    assert [(each.problem, each.verdict) for each in judge_rollouts(units, path)] == [
        ("another role speaks in it, which the file does not tell apart", None),
        ("timeout", None),
    ]
