"""Equality with T-Eval's evaluators on ties and empty objects, and arguments of plans under `fixed`."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.teval import TEVAL
from wildtool.benchmarks.teval.data import TevalRecord
from wildtool.benchmarks.teval.reading import read_plan_steps, without_finish
from wildtool.benchmarks.teval.scores import EVALUATORS, AnswerScores
from wildtool.data.embeddings import LexicalEncoder
from wildtool.toolcall.assignment import max_weight_matching
from wildtool.types import Source

NAMES = {"f1": "f1_score"}


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "toleap_3" / "teval")


@cache
def records(folder: Path) -> dict[str, TevalRecord]:
    data = present(folder.parents[3] / "data" / "teval")
    return {item.id: item.data for item in TEVAL.load(Source("official", data, ""))}


def record_of(folder: Path, case: dict[str, Any]) -> TevalRecord:
    return records(folder)[f"{case['set']}/{case['key']}"]


def scores(folder: Path, case: dict[str, Any], profile: str) -> AnswerScores:
    return EVALUATORS[profile](LexicalEncoder()).score(case["prediction"], record_of(folder, case))


@pytest.mark.parametrize("file", ["matching.jsonl", "plan_ties.jsonl.gz"])
def test_the_same_pairs_are_matched(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        found = max_weight_matching({(left, right): weight for left, right, weight in case["edges"]})
        assert sorted(map(list, found.items())) == sorted(case["matched"]), case["case_id"]


def test_steps_weigh_the_same_to_the_last_bit(folder: Path) -> None:
    evaluator = EVALUATORS["toleap"](LexicalEncoder())
    for case in rows(folder / "plan_ties.jsonl.gz"):
        record = record_of(folder, case)
        steps = without_finish(evaluator.read_steps(case["prediction"], record))
        found = evaluator.weights(steps, without_finish(read_plan_steps(record.gold)))
        assert [[*pair, weight] for pair, weight in found.items()] == case["edges"], case["case_id"]


@pytest.mark.parametrize("profile", ["toleap", "original"])
@pytest.mark.parametrize("file", ["plan_ties.jsonl.gz", "empty_objects.jsonl", "plan_arguments.jsonl"])
def test_each_answer_has_the_references_scores(folder: Path, file: str, profile: str) -> None:
    for case in rows(folder / file):
        expected, found = case[f"expected_{profile}"], scores(folder, case, profile)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        if not found.raised:
            ours = {NAMES.get(name, name): value for name, value in found.values.items()}
            ours["parse_rate"] = float(found.parsed)
            values = {name: value for name, value in expected.items() if value is not None}
            assert {name: ours.get(name, 0.0) for name in values} == pytest.approx(values, abs=1e-6), case[
                "case_id"
            ]


def test_only_plans_with_right_arguments_are_right_under_fixed(folder: Path) -> None:
    for case in rows(folder / "plan_arguments.jsonl"):
        if case["fixed_should"] is not None:
            right = scores(folder, case, "fixed").values["f1"] == 1
            assert right == (case["fixed_should"] == "right"), (case["case_id"], case["kind"])
