"""Equality with TaskBench's two evaluators: every sample alone, every run, every structure."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.judging import judge_metrics
from wildtool.benchmarks.taskbench import PARTS, TASKBENCH
from wildtool.benchmarks.taskbench.data import DOMAINS, TaskRecord, library_file, read_labels, read_library
from wildtool.benchmarks.taskbench.original import score_original
from wildtool.benchmarks.taskbench.summary import ORDER
from wildtool.benchmarks.taskbench.toleap import NO_JSON, score_toleap
from wildtool.types import Item

TOLEAP = {"name_f1": "node", "link_f1": "edge", "t_f1": "name", "v_f1": "value"}
ORIGINAL = {
    "node": "node_micro_f1_no_matching",
    "edge": "link_binary_f1",
    "name": "argument_task_argname_binary_f1_no_matching",
    "value": "argument_task_argname_value_binary_f1_no_matching",
}
RUNS = ("mixed", "mostly_right", "all_perfect", "all_bad_format")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("taskbench"))


@cache
def items(folder: Path) -> dict[str, Item]:
    data = present(folder.parents[1] / "data" / "taskbench")
    found: dict[str, Item] = {}
    for domain in DOMAINS:
        for labels in (data / f"synthetic_{domain}.jsonl", data / f"official_excerpt_{domain}.jsonl"):
            library = read_library(library_file(labels, domain, data), domain)
            found |= {item.id: item for item in read_labels(labels, library)}
    return found


def samples(folder: Path) -> Iterator[tuple[dict[str, Any], TaskRecord]]:
    for case in rows(folder / "cases.jsonl"):
        yield case, items(folder)[f"{case['domain']}/{case['id']}"].data


def test_toleap_gives_each_sample_its_scores(folder: Path) -> None:
    for case, record in samples(folder):
        expected = case["expected_toleap"]
        found = score_toleap(case["output"], record.gold, record.library)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        if found.raised:
            assert not any(getattr(found, part).f1 for part in PARTS)
            continue
        ours = {"rouge_1": found.rouge_1, "rouge_2": found.rouge_2, "unparsed": found.fault == NO_JSON}
        ours |= {name: getattr(found, part).f1 for name, part in TOLEAP.items()}
        assert ours == pytest.approx(expected, abs=1e-9), case["case_id"]


def test_the_original_counts_each_sample_alike(folder: Path) -> None:
    for case, record in samples(folder):
        expected = case["expected_original"]
        found = score_original(case["output"], record.gold, record.library)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        if found.raised:
            continue
        supports = [expected[f"{name}_supports"] for name in ("step", "argument", "node")]
        assert list(found.counts) == [bool(count) for count in supports], case["case_id"]
        assert expected["link_supports"] == expected["node_supports"]
        for part, name in ORIGINAL.items():
            if name in expected:
                assert getattr(found, part).f1 == pytest.approx(expected[name], abs=1e-9), case["case_id"]
        if "edit_distance" in expected:
            assert found.similarity == pytest.approx(1 - expected["edit_distance"], abs=1e-9)
        if "step_rouge1" in expected:
            rouge = expected["step_rouge1"], expected["step_rouge2"]
            assert (found.rouge_1, found.rouge_2) == pytest.approx(rouge, abs=1e-9), case["case_id"]


def outputs(run: str, expected: dict[str, Any], domain: str, known: dict[str, Item]) -> dict[str, str]:
    """The replies of a run by item."""
    names = [f"{domain}/{id_}" for id_ in expected["ids"]]
    made = expected["outputs"] or [
        known[name].data.gold.as_json() if run == "all_perfect" else "I cannot build a plan for this."
        for name in names
    ]
    return dict(zip(names, made, strict=True))


@pytest.mark.parametrize("run", RUNS)
def test_runs_have_the_references_numbers(folder: Path, tmp_path: Path, run: str) -> None:
    known = items(folder)
    for domain, expected in json.loads((folder / "runs.json").read_text("utf-8"))[run].items():
        replies = outputs(run, expected, domain, known)
        selected = [known[name] for name in replies]
        toleap = judge_metrics(TASKBENCH, selected, replies, "toleap", tmp_path)
        names = {"rouge_1": "ROUGE-1", "rouge_2": "ROUGE-2", "name_f1": "Node F1", "link_f1": "Edge F1"}
        names |= {"t_f1": "Parameter Name F1", "v_f1": "Parameter Name & Value F1"}
        for name, title in names.items():
            assert toleap[domain, title].value == pytest.approx(expected["expected_toleap"][name], abs=1e-9)
        original = judge_metrics(TASKBENCH, selected, replies, "original", tmp_path)
        for structure, numbers in expected["expected_original_by_structure"].items():
            shape = structure.removesuffix("_overall")
            group = domain if shape == "overall" else f"{domain} ({shape})"
            check_structure(original, group, numbers)


def check_structure(metrics: dict[tuple[str, str], Any], group: str, expected: dict[str, Any]) -> None:
    titles = ("Node F1", "Edge F1", "Parameter Name F1", "Parameter Name & Value F1")
    for name, title in zip(ORIGINAL.values(), titles, strict=True):
        metric = metrics.get((group, title))
        # Where there is nothing to count we give no number, and the original 0.
        value = (metric.value if metric else None) or 0.0
        assert value == pytest.approx(expected.get(name, 0.0), abs=1e-9), (group, title)
    steps = metrics.get((group, "ROUGE-1"))
    assert (steps.denominator if steps else 0) == expected["step_supports"]
    order = metrics.get((group, ORDER))
    assert (order.denominator if order else 0) == expected["node_supports"]
    if order is not None and "edit_distance" in expected:
        assert order.value == pytest.approx(1 - expected["edit_distance"], abs=1e-9)
