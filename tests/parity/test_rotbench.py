"""Equality with RoTBench's two evaluators, case by case and run by run."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmark import Check
from wildtool.benchmarks.rotbench.data import SCENARIOS, RotRecord, parse_record
from wildtool.benchmarks.rotbench.judge import LEVELS, NO_OUTPUT, PARSING, PROFILES, RoTRules
from wildtool.data.files import read_record_list

CLASSES = (NO_OUTPUT, PARSING)
MEASURES = {"Tool Selection": 1, "Parameter Identification": 2, "Content Filling": 3}


@pytest.fixture(scope="session")
def folder() -> Path:
    return present(oracle_folder("rotbench"))


@cache
def environment(folder: Path, name: str) -> list[RotRecord]:
    path = present(folder.parents[1] / "data" / "rotbench") / "First_Turn" / f"{name}.json.gz"
    records = list(read_record_list(path))
    half = len(records) // 2
    return [parse_record(record, name, 1 + (i >= half), where) for i, (where, record) in enumerate(records)]


def check(folder: Path, profile: str, split: str, index: int, output: str | None) -> Check:
    return RoTRules(*PROFILES[profile]).check(output, environment(folder, split)[index])


def level(check: Check) -> int:
    found = check.fields["level"]
    assert isinstance(found, int)
    return found


def classes(check: Check) -> list[str]:
    """The failure classes as ToLeaP lists them: an unreadable reply alone, else each level that is not reached."""
    return [check.error] if check.error in CLASSES else list(LEVELS[level(check) :])


def scores(level: int) -> dict[str, int]:
    return {name: int(level >= least) for name, least in (("TS", 1), ("PI", 2), ("CF", 3))}


def test_every_case_gets_toleaps_scores_and_failure_classes(folder: Path) -> None:
    cases = list(rows(folder / "cases.jsonl"))
    assert cases
    for case in cases:
        expected = case["expected_toleap"]
        found = check(folder, "toleap", case["split"], case["index"], case["output"])
        wanted = {key: expected[key] for key in ("TS", "PI", "CF")}
        assert (scores(level(found)), classes(found)) == (wanted, expected["errors"]), case["case_id"]
        if expected.get("parsed_input"):
            call = {"name": expected["parsed_action"], "input": expected["parsed_input"]}
            assert found.detail == call, case["case_id"]


def test_every_case_gets_the_authors_scores_and_a_crash_is_a_wrong_reply(folder: Path) -> None:
    for case in rows(folder / "cases.jsonl"):
        expected = case["expected_original"]
        found = check(folder, "original", case["split"], case["index"], case["output"])
        assert found.fields["reference_error"] == expected["crash"], case["case_id"]
        if expected["crash"] is None:
            assert scores(level(found)) == {key: expected[key] for key in ("TS", "PI", "CF")}, case["case_id"]
        else:
            assert not found.correct and level(found) == 0, case["case_id"]


def runs(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    found = json.loads((folder / "runs.json").read_text("utf-8"))
    return [(split, run) for splits in found.values() for split, run in splits.items()]


def test_every_run_gets_toleaps_metrics_and_error_counts(folder: Path) -> None:
    assert runs(folder)
    for split, run in runs(folder):
        found = [
            check(folder, "toleap", split, index, output)
            for index, output in zip(run["indices"], run["outputs"], strict=True)
        ]
        shares = {
            name: f"{sum(level(c) >= least for c in found) / len(found):.4f}"
            for name, least in MEASURES.items()
        }
        assert shares == run["expected_toleap_metrics"]
        counts = {name: sum(name in classes(c) for c in found) for name in (*LEVELS, *CLASSES)}
        assert counts == run["expected_toleap_error_counts"]
        bad = {str(place): classes(c) for place, c in enumerate(found) if not c.correct}
        assert bad == run["expected_toleap_bad_cases"]


def test_every_run_gets_the_authors_hits_by_scenario(folder: Path) -> None:
    compared = 0
    for split, run in runs(folder):
        if "expected_original_check_list" not in run:
            continue
        compared += 1
        records = environment(folder, split)
        found = [
            (records[index].scenario, level(check(folder, "original", split, index, output)))
            for index, output in zip(run["indices"], run["outputs"], strict=True)
        ]
        hits = [
            [
                sum(reached >= least for _, reached in found),
                *(sum(reached >= least for its, reached in found if its == one) for one in SCENARIOS),
            ]
            for least in MEASURES.values()
        ]
        assert hits == run["expected_original_check_list"]
    assert compared
