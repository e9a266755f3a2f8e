"""Equality of BFCL's simulated classes with the reference: every result and final state of the ground truths."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.bfcl.simulated import SimulatedApis

pytestmark = pytest.mark.usefixtures("bfcl_package")
CATEGORIES = ("base", "miss_func", "miss_param", "long_context")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("bfcl"))


@cache
def entries(folder: Path) -> dict[str, tuple[dict[str, Any], list[list[str]]]]:
    """Id to the question and its ground truth."""
    data, found = folder.parents[1] / "data" / "bfcl", {}
    for category in CATEGORIES:
        for question, answer in zip(
            *(
                lines(data / part, f"BFCL_v4_multi_turn_{category}")
                for part in ("question", "possible_answer")
            ),
            strict=True,
        ):
            found[question["id"]] = question, answer["ground_truth"]
    assert found
    return found


def lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    return rows(next(folder.glob(f"{name}.json*")))


def plain(value: Any) -> Any:
    """A state as the oracle writes it."""
    if not isinstance(value, dict):
        return value
    if value.keys() == {"name", "contents"}:
        return {
            "name": value["name"],
            "directory": {name: plain(one) for name, one in value["contents"].items()},
        }
    if value.keys() == {"name", "content"}:
        return {"name": value["name"], "file": value["content"]}
    return {key: plain(part) for key, part in value.items()}


def shortened(text: str) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "length": len(text)}


def test_ground_truths_give_the_references_results_and_states(folder: Path) -> None:
    wrong, compared = [], 0
    for case in rows(folder / "multi_turn_ground_truth_traces.jsonl.gz"):
        question, turns = entries(folder)[case["test_id"]]
        apis = SimulatedApis(
            question["involved_classes"],
            question["initial_config"],
            long_context=case["category"] == "multi_turn_long_context",
        )
        for turn, (calls, results) in enumerate(zip(turns, case["turn_results"], strict=True)):
            for call, result, found in zip(calls, results, apis.execute(calls), strict=True):
                compared += 1
                if found != result and shortened(found) != result:
                    wrong.append(
                        f"{case['test_id']} turn {turn}: {call}\n  {found[:300]}\n  {str(result)[:300]}"
                    )
        for name, expected in case["final_public_state"].items():
            state = plain(apis.states()[name])
            compared += 1
            if state != expected and shortened(json.dumps(state, sort_keys=True)) != expected:
                wrong.append(
                    f"{case['test_id']}: state of {name}\n  {str(state)[:600]}\n  {str(expected)[:600]}"
                )
    assert compared > 2000
    assert not wrong, f"{len(wrong)} of {compared} differ\n" + "\n".join(wrong[:20])


def test_every_ground_truth_runs_without_an_error(folder: Path) -> None:
    for identifier, (question, turns) in entries(folder).items():
        apis = SimulatedApis(
            question["involved_classes"],
            question["initial_config"],
            long_context="long_context" in identifier,
        )
        made = [call for calls in turns for call in calls]
        for call, text in zip(made, apis.execute(made), strict=True):
            assert not text.startswith(("Error during execution", '{"error"')), (identifier, call, text)
