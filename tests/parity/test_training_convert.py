"""Equality with the cases of training data: every set in three forms, repairs, rejects, types, the flat variant."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parity.cases import oracle_folder, present, rows
from wildtool.cli import app
from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import ReadOptions
from wildtool.training.reading import read_row
from wildtool.training.record import RejectedRow, TrainingRecord
from wildtool.training.tools import read_type
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.writers.forms import TRAINING_FORMS
from wildtool_data.prepare.writers.sharegpt import flat_row

FORMS = ("sharegpt", "openai", "trl")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("training"))


def read(case: dict[str, Any]) -> TrainingRecord | RejectedRow:
    options = case.get("options") or {}
    reading = ReadOptions(
        keep_system=options.get("system") == "keep", keep_finish=options.get("finish") == "keep"
    )
    return read_row(FileRow(1, case["raw"]), DATA_SETS[case["dataset"]], "raw", reading)


def accepted(folder: Path) -> Iterator[tuple[dict[str, Any], TrainingRecord]]:
    for case in rows(folder / "conversion_cases.jsonl"):
        found = read(case)
        if isinstance(found, TrainingRecord):
            yield case, found


def test_rows_are_rejected_for_the_expected_reasons(folder: Path) -> None:
    for case in rows(folder / "conversion_cases.jsonl"):
        found = read(case)
        reason = found.reason if isinstance(found, RejectedRow) else None
        assert reason == case.get("expected_reject"), case["case"]


def test_every_set_is_covered_but_the_ones_with_tools_alone(folder: Path) -> None:
    assert set(DATA_SETS) - {case["dataset"] for case, _ in accepted(folder)} == {"python-tools"}


def test_repairs_have_the_expected_names(folder: Path) -> None:
    for case, record in accepted(folder):
        assert list(record.repairs) == case["repairs"], case["case"]
        assert record.kind == case.get("kind", "sft")


@pytest.mark.parametrize("form", FORMS)
def test_records_are_written_as_expected(folder: Path, form: str) -> None:
    for case, record in accepted(folder):
        text = (case.get("options") or {}).get("text_with_calls", "drop")
        written = TRAINING_FORMS[form].write(record, WriteOptions(text_with_calls=text))
        assert written == case[f"expected_{form}"], case["case"]


def test_types_have_the_expected_schemas(folder: Path) -> None:
    for case in rows(folder / "type_texts.jsonl"):
        found = read_type(case["text"])
        assert (found.schema, found.optional) == (case["schema"], case["optional"]), case["text"]


def test_the_flat_variant_is_as_expected(folder: Path) -> None:
    for case in rows(folder / "flat_cases.jsonl"):
        assert flat_row(case["record"]) == case["flat"]


def test_the_command_gives_the_expected_records_for_each_set(folder: Path, tmp_path: Path) -> None:
    by_set: dict[str, list[dict[str, Any]]] = {}
    for case in rows(folder / "conversion_cases.jsonl"):
        if not case.get("options"):
            by_set.setdefault(case["dataset"], []).append(case)
    for name, cases in by_set.items():
        source, out = tmp_path / f"{name}.json", tmp_path / f"{name}.jsonl"
        source.write_text(json.dumps([case["raw"] for case in cases], ensure_ascii=False), encoding="utf-8")
        line = ["data", "convert", str(source), "--from", name, "--to", "openai", "-o", str(out)]
        ended = CliRunner().invoke(app, line, prog_name="wildtool")
        assert ended.exit_code == 0, ended.output
        # Step records of one solution: the shorter one is contained in the longer.
        expected = [case["expected_openai"] for case in cases if case["expected_openai"]]
        if name == "toolbench":
            expected = [row for row in expected if len(row["messages"]) > 2]
        assert [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()] == expected, name
