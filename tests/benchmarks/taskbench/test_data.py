"""TaskBench's files: which are read, what is refused and how, lint, what a pull says, and result files."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from benchmarks.taskbench.plan_build import (
    write_data,
)
from wildtool.benchmarks.taskbench import TASKBENCH
from wildtool.benchmarks.taskbench.data import (
    load,
)
from wildtool.benchmarks.taskbench.results import read_results
from wildtool.data.data_set import ResultRow
from wildtool.types import Item, Reply, Source, Transcript


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return write_data(tmp_path / "data")


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


# Result files ----------------------------------------------------------------------------------------


def rows(path: Path, by_id: dict[str, Item]) -> list[ResultRow]:
    results = read_results(path, by_id, "chat")
    assert results is not None
    return list(results.rows)


def test_results_of_both_kinds_are_read(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in load(TASKBENCH, Source("x", folder, ""))}
    results = tmp_path / "results"
    listed = results / "gpt_4_huggingface_results.json"
    results.mkdir()
    listed.write_text(json.dumps(["a", None]), "utf-8")
    lines = write(
        results / "data_dailylifeapis" / "predictions_use" / "llama.json",
        {"id": "timed", "result": "text"},
        {"id": "timed", "result": {"ü": 1}},
        {"id": "timed", "result": [1]},
    )
    write(results / "data_dailylifeapis" / "other" / "llama.json", {})

    def row(where: str, model: str, item: str, text: str | None) -> ResultRow:
        reply = Reply({"role": "assistant", "content": text})
        return ResultRow(where, model, item, {"0": Transcript((reply,))})

    assert rows(results, by_id) == [
        row(f"{listed}: reply 0 (huggingface/one)", "gpt_4", "huggingface/one", "a"),
        row(f"{listed}: reply 1 (huggingface/three)", "gpt_4", "huggingface/three", None),
        row(f"{lines}:1 (id 'timed')", "llama", "dailylifeapis/timed", "text"),
        row(f"{lines}:2 (id 'timed')", "llama", "dailylifeapis/timed", '{"ü":1}'),
        row(f"{lines}:3 (id 'timed')", "llama", "dailylifeapis/timed", "[1]"),
    ]
    assert len(rows(listed, by_id)) == 2 and len(rows(lines, by_id)) == 3
    assert read_results(folder, by_id, "chat") is None
    broken = write(results / "data_dailylifeapis" / "predictions" / "x.json", {"id": "timed", "result": 3})
    assert fault_of(lambda: rows(broken, by_id)) == (
        f"{broken}:1 (id 'timed'): field result: expected a plan, as JSON or as text"
    )
    lost = write(results / "predictions" / "x.json", {"id": "timed", "result": "x"})
    assert (
        fault_of(lambda: rows(lost, by_id))
        == f"{lost}: which domain is it of? Put it into data_DOMAIN/predictions"
    )
    nameless = write(results / "data_dailylifeapis" / "predictions" / "x.json", {"result": "x"})
    assert fault_of(lambda: rows(nameless, by_id)) == f"{nameless}:1: field id: expected a text, found null"
