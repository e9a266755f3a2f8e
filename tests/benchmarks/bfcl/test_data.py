"""BFCL's files: what a broken one is told, what the lint says of entries, numbers of data, results of the original."""

import json
from pathlib import Path
from typing import Any

from benchmarks.bfcl.bfcl_build import BOOK, RING, write_data
from benchmarks.bfcl.test_memory import data_folder as memory_folder
from benchmarks.number_lines import number_lines
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.results import read_results
from wildtool.declared import describe, lint
from wildtool.types import Item, Source


def items_of(folder: Path, split: str | None = None) -> list[Item]:
    return list(BFCL_BENCHMARK.load(Source("x", folder, ""), split=split))


def findings(folder: Path) -> list[tuple[str, str, str]]:
    """Place in the folder, rule and message."""
    return [
        (finding.where.removeprefix(f"{folder}: "), finding.rule, finding.message)
        for finding in lint(BFCL_BENCHMARK, Source("x", folder, ""))
    ]


# Single turns ----------------------------------------------------------------------------------------


def test_data_are_described_by_category(tmp_path: Path) -> None:
    assert number_lines(describe(BFCL_BENCHMARK, Source("x", write_data(tmp_path / "data"), ""))) == [
        "entries: simple_python 1 of 8, simple_java 1 of 8, simple_javascript 1 of 8, multiple 1 of 8, parallel 1 of 8,"
        " parallel_multiple 1 of 8, irrelevance 1 of 8, live_relevance 1 of 8",
        "functions: simple_python 1 of 10, simple_java 1 of 10, simple_javascript 1 of 10, multiple 2 of 10,"
        " parallel 1 of 10, parallel_multiple 2 of 10, irrelevance 1 of 10, live_relevance 1 of 10",
        "expected calls: simple_python 1 of 8, simple_java 1 of 8, simple_javascript 1 of 8, multiple 1 of 8,"
        " parallel 2 of 8, parallel_multiple 2 of 8, irrelevance 0 of 8, live_relevance 0 of 8",
    ]


# Memory ----------------------------------------------------------------------------------------------


def test_an_answer_that_is_not_in_itself_is_a_finding(tmp_path: Path) -> None:
    folder = memory_folder(tmp_path)
    truths = [{"ground_truth": ["C++"]}, {"ground_truth": ["C++", "C"]}]
    (folder / "possible_answer/BFCL_v4_memory.json").write_text("\n".join(map(json.dumps, truths)), "utf-8")
    assert findings(folder) == [
        (
            f"memory_{kind}:customer",
            "answer never found",
            f"memory_{kind}_0-customer-0: 'C++' is not found in itself",
        )
        for kind in ("kv", "vector", "rec_sum")
    ]


# Results of the original -----------------------------------------------------------------------------


def results(path: Path, mode: str, *splits: str) -> tuple[list[Any], list[str]]:
    items = {split: Item(split, ("0",), None, split=split) for split in splits}
    own = read_results(path, items, mode)
    assert own is not None
    rows = [
        (
            row.where.removeprefix(f"{path}/"),
            row.model,
            row.item,
            unit,
            record.infra_error,
            [reply.message for reply in record.replies],
        )
        for row in own.rows
        for unit, record in row.units.items()
    ]
    return rows, [line.removeprefix(f"{path}/") for line in own.left_out]


TWICE = {
    "live_relevance": [
        ("live_relevance_3-3-0", [RING], None),
        ("live_relevance_4-4-0", [RING], None),
        ("live_relevance_3-3-0", [BOOK], None),
    ]
}
"""As in version 3, where two entries have one id."""


def test_two_entries_of_one_id_are_both_run_as_version_3_has_and_counts_them(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data", "v3", TWICE)
    found = {item.id: item.data.functions for item in items_of(folder)}
    assert found == {
        "live_relevance_3-3-0": (RING,),
        "live_relevance_4-4-0": (RING,),
        "live_relevance_3-3-0#2": (BOOK,),
    }
    assert ("live_relevance_3-3-0", "repeated id", "an earlier entry has it too") in findings(folder)


def test_results_of_two_entries_of_one_id_belong_to_them_in_order(tmp_path: Path) -> None:
    items = {item.id: item for item in items_of(write_data(tmp_path / "data", "v3", TWICE))}
    path = tmp_path / "some-model" / "BFCL_v3_live_relevance_result.json"
    path.parent.mkdir()
    lines = [("live_relevance_3-3-0", "First."), ("live_relevance_3-3-0", "Second.")]
    path.write_text("\n".join(json.dumps({"id": id_, "result": result}) for id_, result in lines))
    results = read_results(path, items, "fc")
    assert results is not None
    said = {row.item: row.units["0"].replies[0].message["content"] for row in results.rows}
    assert said == {"live_relevance_3-3-0": "First.", "live_relevance_3-3-0#2": "Second."}
