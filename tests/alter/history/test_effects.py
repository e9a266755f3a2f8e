"""What comparisons say of planted policies: of one that a mistake leads to the next, and of one that it does not."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from alter.history.session_play import REFUSE
from wildtool.alter.base import Alteration
from wildtool.data.data_set import data_of
from wildtool.engine.compare.comparison import ComparisonPart, compare_all
from wildtool.engine.compare.load import load_compared_runs
from wildtool.engine.plan import Plan
from wildtool.engine.registry import load_benchmark
from wildtool.engine.run.runner import run_plan
from wildtool.models.baselines import FunctionModel
from wildtool.types import Message, Request

REFUSAL = "I am afraid I cannot do that."


def errs_first(request: Request) -> Message:
    """Wrong in the first task of a session where it begins with a call, right in all others whatever its history is."""
    assert request.gold is not None and request.address is not None
    right = request.gold("parallel")
    errs = request.address.unit == "0" and right.get("tool_calls")
    return {"role": "assistant", "content": REFUSAL} if errs else right


def repeats_itself(request: Request) -> Message:
    """The same, and wrong wherever its history shows that it has failed before."""
    failed = any(message.get("content") == REFUSAL for message in request.messages)
    return {"role": "assistant", "content": REFUSAL} if failed else errs_first(request)


def run(
    folder: Path, answer: Callable[[Request], Message], alterations: tuple[Alteration, ...], repeats: int
) -> Path:
    benchmark = load_benchmark("wild-mini")
    plan = Plan(
        benchmark=benchmark,
        source=data_of(benchmark).locate(None),
        models={"agent": FunctionModel("policy", answer)},
        profile="fixed",
        alterations=alterations,
        repeats=repeats,
    )
    run_plan(plan, folder, command=[])
    return folder


def effects(
    folder: Path, answer: Callable[[Request], Message], repeats: int = 1
) -> dict[str, ComparisonPart]:
    folders: Sequence[Path] = [
        run(folder / "gold", answer, (), repeats),
        run(folder / "own", answer, (REFUSE,), repeats),
    ]
    (comparison,) = compare_all(load_compared_runs(folders))
    return {part.name: part for part in comparison.cuts["history"]}


@pytest.mark.long
def test_a_policy_that_no_mistake_disturbs_loses_only_unsettled_tasks(tmp_path: Path):
    cuts = effects(tmp_path, errs_first)
    assert cuts["settled, the task before wrong"].difference == 0
    assert cuts["later tasks, settled"].difference == 0
    assert cuts["later tasks, settled"].units + cuts["later tasks, unsettled"].units == 96


@pytest.mark.long
def test_a_policy_that_repeats_its_mistakes_loses_every_task_after_one(tmp_path: Path):
    cuts = effects(tmp_path, repeats_itself, repeats=2)
    after = cuts["settled, an earlier task wrong"]
    # Not -1: where the user asks for nothing but words, the same words are right.
    assert after.difference < -0.4
    assert after.high < 0
    assert after.baseline_accuracy.value == 1
    assert cuts["task 1"].difference == 0
    assert cuts["settled, every earlier task right"].difference == 0


@pytest.mark.long
def test_the_settled_tasks_are_divided_by_kind_and_outcome_of_the_task_before(tmp_path: Path):
    cuts = effects(tmp_path, errs_first)
    after = {name: part.units for name, part in cuts.items() if name.startswith("settled, after ")}
    assert {name.rpartition(", ")[2] for name in after} == {"right", "wrong"}
    assert sum(after.values()) == cuts["later tasks, settled"].units
    wrong = sum(units for name, units in after.items() if name.endswith("wrong"))
    assert wrong == cuts["settled, the task before wrong"].units
