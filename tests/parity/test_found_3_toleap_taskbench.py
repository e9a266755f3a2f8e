"""Equality with TaskBench's evaluators on odd labels and odd steps, each sample scored as a run of its own."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.test_taskbench import ORIGINAL, TOLEAP
from wildtool.benchmarks.taskbench import PARTS
from wildtool.benchmarks.taskbench.data import Library, ToolPlan, library_file, read_library
from wildtool.benchmarks.taskbench.original import score_original
from wildtool.benchmarks.taskbench.rules import taskbench_rules
from wildtool.benchmarks.taskbench.scores import ScoreReply
from wildtool.benchmarks.taskbench.toleap import NO_JSON, score_toleap

FILES = ("odd_labels.jsonl", "odd_steps.jsonl")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "toleap_3" / "taskbench")


@cache
def library(folder: Path, domain: str) -> Library:
    data = present(folder.parents[3] / "data" / "taskbench")
    return read_library(library_file(data / f"synthetic_{domain}.jsonl", domain, data), domain)


def label(case: dict[str, Any]) -> ToolPlan:
    return ToolPlan(*(case["label"].get(f"task_{part}") for part in ("steps", "nodes", "links")))


def score(folder: Path, case: dict[str, Any], rules: ScoreReply) -> Any:
    return rules(case["output"], label(case), library(folder, case["domain"]))


@pytest.mark.parametrize("file", FILES)
def test_toleap_gives_each_sample_its_scores(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        expected, found = case["expected_toleap"], score(folder, case, score_toleap)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        values = {part: getattr(found, part).f1 for part in PARTS}
        if found.raised:
            assert not any((*values.values(), found.rouge_1, found.rouge_2))
            continue
        ours = {"rouge_1": found.rouge_1, "rouge_2": found.rouge_2, "unparsed": found.fault == NO_JSON}
        ours |= {name: values[part] for name, part in TOLEAP.items()}
        assert ours == pytest.approx(expected, abs=1e-9), case["case_id"]


@pytest.mark.parametrize("file", FILES)
def test_the_original_counts_each_sample_alike(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        expected, found = case["expected_original"], score(folder, case, score_original)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        if found.raised:
            assert not any((found.rouge_1, found.rouge_2, found.similarity, found.node.hits, found.edge.hits))
            continue
        supports = [expected[f"{name}_supports"] for name in ("step", "argument", "node")]
        assert list(found.counts) == [bool(count) for count in supports], case["case_id"]
        ours = {name: getattr(found, part).f1 for part, name in ORIGINAL.items()}
        ours |= {"step_rouge1": found.rouge_1, "step_rouge2": found.rouge_2}
        if found.similarity is not None:
            ours["edit_distance"] = 1 - found.similarity
        values = {name: expected[name] for name in (*ORIGINAL.values(), "edit_distance") if name in expected}
        values |= {name: expected[name] for name in ("step_rouge1", "step_rouge2") if name in expected}
        assert {name: ours[name] for name in values} == pytest.approx(values, abs=1e-9), case["case_id"]


@pytest.mark.parametrize("file", FILES)
def test_fixed_gives_each_label_all_of_its_own_points(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        gold = {**case, "output": label(case).as_json()}
        found = score(folder, gold, taskbench_rules("fixed", "chat").score)
        assert all(found.f1(getattr(found, part)) == 1 for part in PARTS), case["case_id"]
