"""A file of own cases as an environment: a policy earns what its run scores."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from wildtool.engine import benchmark_file
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import outcome_reward
from wildtool_train.sources import benchmark_units

CASES = """
defaults:
  tools:
  - {name: find, parameters: {type: object, properties: {id: {type: string}}, required: [id]}}
  - {name: pay, parameters: {type: object, properties: {id: {type: string}, cents: {type: integer}}}}
cases:
- id: one
  turns:
  - {input: where is A-1, expect: {find: {id: A-1}, returns: {status: late}}, answer: It is late.}
  - {input: pay A-1, expect: {pay: {id: A-1, cents: {$gte: 5}}}}
- {id: two, input: "find A-2, A-3", expect: [find(id="A-2"), find(id="A-3")], also: [pay]}
- {id: three, input: bye, expect: none, never: [pay], repeat: 2}
- {id: four, input: hello, says: hello}
"""
Policy = Callable[[list[Mapping[str, Any]]], Mapping[str, Any]]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("own.cases.yaml").write_text(CASES, encoding="utf-8")
    yield
    benchmark_file.BY_NAME.clear()


def calls(*made: tuple[str, str]) -> Mapping[str, Any]:
    entries = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(made)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


def text(words: str) -> Mapping[str, Any]:
    return {"role": "assistant", "content": words}


FIRST_FIND = ("find", '{"id": "A-1"}')
POLICIES: Mapping[str, Policy] = {
    "talks": lambda messages: text("hello"),
    "finds once": lambda messages: text("Late.") if messages[-1]["role"] == "tool" else calls(FIRST_FIND),
    "finds two": lambda messages: calls(("find", '{"id": "A-3"}'), ("find", '{"id": "A-2"}')),
    "pays": lambda messages: calls(("pay", '{"id": "A-1", "cents": 7}')),
    "writes no JSON": lambda messages: calls(("find", "{id")),
}


@pytest.mark.long
@pytest.mark.parametrize("policy", [*POLICIES.values()], ids=[*POLICIES])
def test_the_reward_of_each_unit_is_the_score_of_the_run(policy: Policy):
    run = wt.run("own.cases.yaml", model=lambda messages, tools: dict(policy(messages)), out="out")
    scored = {f"{row['item']}/{row['unit']}": row["correct"] for row in run.verdicts().rows()}
    units = benchmark_units("own.cases.yaml")
    assert sorted(units.names) == sorted(scored)
    for name in units.names:
        environment = UnitEnvironment(units)
        shown = list(environment.open(name).messages)
        while True:
            reply = policy(shown)
            transition = environment.step(dict(reply))
            if transition.done:
                break
            shown += [reply, *transition.observation.messages]
        verdict = transition.components["verdict"]
        assert verdict == float(scored[name]), name
        assert (outcome_reward(environment.steps) == 1) is scored[name], name
