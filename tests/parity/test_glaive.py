"""Equality with ToLeaP's evaluation and conversion of Glaive, case by case and run by run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.glaive.data import GlaiveRecord, convert
from wildtool.benchmarks.glaive.judge import GlaiveCounts, first_json, normalized, published_counts
from wildtool.benchmarks.glaive.summary import PLATFORM_COUNTS


@pytest.fixture(scope="session")
def folder() -> Path:
    return present(oracle_folder("glaive"))


def result(golds: Sequence[str], outputs: Sequence[str]) -> dict[str, Any]:
    """What ToLeaP reports of a run."""
    found = [
        published_counts(output, GlaiveRecord("", "", gold))
        for gold, output in zip(golds, outputs, strict=True)
    ]
    counts = {name: sum(getattr(one, column) for one in found) for name, column in PLATFORM_COUNTS.items()}
    total = counts["total_samples"]
    shares = {
        f"{name}_accuracy": round(counts[f"{name}_correct"] / total, 4)
        for name in ("function", "argument_name", "argument_value")
    }
    return {**shares, **counts}


def test_every_case_gets_toleaps_counts(folder: Path) -> None:
    cases = list(rows(folder / "evaluation_cases.jsonl"))
    assert cases
    for case in cases:
        assert result([case["ground_truth"]], [case["model_output"]]) == case["result"], case["mutation"]
        assert first_json(case["model_output"]) == case["first_json"], case["mutation"]


def test_every_run_gets_toleaps_report(folder: Path) -> None:
    runs = list(rows(folder / "evaluation_runs.jsonl"))
    assert runs
    for run in runs:
        assert result(run["ground_truths"], run["model_outputs"]) == run["result"]


def test_the_first_json_of_a_text_is_the_same(folder: Path) -> None:
    for case in rows(folder / "first_json_cases.jsonl"):
        assert first_json(case["text"]) == case["first_json"], case["text"]


def test_values_are_normalised_alike(folder: Path) -> None:
    for case in rows(folder / "normalize_cases.jsonl"):
        assert repr(normalized(case["value"])) == case["normalized"], case["value"]


def test_dialogues_become_the_same_sharegpt_records(folder: Path) -> None:
    data = present(folder.parents[1] / "data" / "glaive")
    samples = [row["sample"] for row in rows(data / "synthetic_raw.jsonl")]
    assert convert(samples) == json.loads((data / "synthetic_sharegpt.json").read_text("utf-8"))


def test_gold_arguments_that_are_a_text_count_a_function_and_no_sample() -> None:
    gold = json.dumps({"name": "f", "arguments": "{}"})
    assert published_counts('{"name": "f", "arguments": {}}', GlaiveRecord("", "", gold)) == GlaiveCounts(
        0, 1
    )
