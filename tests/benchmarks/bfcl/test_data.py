"""BFCL's files: what a broken one is told, what the lint says of entries, numbers of data, results of the original."""

import json
from pathlib import Path
from typing import Any

from benchmarks.bfcl.bfcl_build import BOOK, RING, write_data
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.results import read_results
from wildtool.declared import lint
from wildtool.types import Item, Source


def items_of(folder: Path, split: str | None = None) -> list[Item]:
    return list(BFCL_BENCHMARK.load(Source("x", folder, ""), split=split))


def findings(folder: Path) -> list[tuple[str, str, str]]:
    """Place in the folder, rule and message."""
    return [
        (finding.where.removeprefix(f"{folder}: "), finding.rule, finding.message)
        for finding in lint(BFCL_BENCHMARK, Source("x", folder, ""))
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
