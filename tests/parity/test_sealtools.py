"""Equality with Seal-Tools' two evaluators, case by case and run by run."""

import json
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.benchmarks.sealtools.data import SealRecord
from wildtool.benchmarks.sealtools.judge import SCORERS, Counts, gold_counts, ratios
from wildtool.types import Source

ITEM_ERRORS = ("missing_api", "wrong_api", "unknown_param", "wrong_value")
BAD_FORMAT = "None of the listed tools can do this."


@pytest.fixture(scope="session")
def folder() -> Path:
    return present(oracle_folder("sealtools"))


@cache
def records(folder: Path, split: str) -> dict[str, SealRecord]:
    data = present(folder.parents[1] / "data" / "sealtools")
    return {item.id: item.data for item in SEALTOOLS.load(Source("official", data, ""), split=split)}


def record(folder: Path, split: str, index: int) -> tuple[str, SealRecord]:
    return list(records(folder, split).items())[index]


def numbers(counts: Counts, failed: int, records: int) -> dict[str, Any]:
    """What ToLeaP prints."""
    errors = {"format_error": failed, **{name: getattr(counts, name) for name in ITEM_ERRORS}}
    return {**ratios(counts, records), "error_counts": errors}


def is_bad(counts: Counts) -> bool:
    """Whether ToLeaP lists the record as a bad case."""
    return not counts.parsed or any(getattr(counts, name) for name in ITEM_ERRORS)


def approximately(expected: dict[str, Any]) -> Any:
    return {
        key: pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
        for key, value in expected.items()
    }


def test_every_case_gets_toleaps_calls_numbers_and_errors(folder: Path) -> None:
    cases = list(rows(folder / "cases.jsonl"))
    assert cases
    for case in cases:
        id_, wanted = record(folder, case["split"], case["index"])
        assert id_ == case["id"]
        counts, raised, calls = SCORERS["toleap"].counts(case["output"], wanted)
        assert calls == (None if case["toleap_parsed"] == -1 else case["toleap_parsed"]), case["case_id"]
        expected = case["expected_toleap"]
        assert raised == expected.get("crash"), case["case_id"]
        if raised is None:
            found = numbers(counts, int(calls is None), 1)
            assert found == approximately(expected), case["case_id"]
            assert is_bad(counts) == case["toleap_bad_case"], case["case_id"]
        else:
            assert counts.missing_api and not SCORERS["toleap"].check(case["output"], wanted).correct


def test_every_case_gets_the_authors_numbers(folder: Path) -> None:
    for case in rows(folder / "cases.jsonl"):
        _, wanted = record(folder, case["split"], case["index"])
        counts, raised, calls = SCORERS["original"].counts(case["output"], wanted)
        assert (calls is not None) == case["original_parsed_ok"], case["case_id"]
        expected = case["expected_original"]
        assert raised == expected.get("crash"), case["case_id"]
        if raised is None:
            assert ratios(counts, 1) == approximately(expected), case["case_id"]


def outputs(name: str, run: dict[str, Any], of: list[SealRecord]) -> list[str]:
    if run["outputs"] is not None:
        return run["outputs"]
    made = {
        "all_perfect_json": lambda record: json.dumps(record.gold, ensure_ascii=False),
        "all_perfect_literal": lambda record: record.gold_text,
        "all_bad_format": lambda record: BAD_FORMAT,
    }[name]
    return [made(record) for record in of]


def test_every_run_gets_both_evaluators_numbers(folder: Path) -> None:
    runs = json.loads((folder / "runs.json").read_text("utf-8"))
    assert runs
    for name, splits in runs.items():
        for split, run in splits.items():
            everything = list(records(folder, split).items())
            chosen = [everything[index] for index in run["indices"]]
            texts = outputs(name, run, [record for _, record in chosen])
            for profile in ("toleap", "original"):
                scored = [
                    SCORERS[profile].counts(text, wanted)[0]
                    for text, (_, wanted) in zip(texts, chosen, strict=True)
                ]
                total = reduce(add, scored)
                assert total.gold_api == sum(gold_counts(wanted).gold_api for _, wanted in chosen)
                if profile == "original":
                    assert ratios(total, len(chosen)) == approximately(run["expected_original"]), (
                        name,
                        split,
                    )
                    continue
                found = numbers(total, sum(not counts.parsed for counts in scored), len(chosen))
                assert found == approximately(run["expected_toleap"]), (name, split)
                bad = [id_ for counts, (id_, _) in zip(scored, chosen, strict=True) if is_bad(counts)]
                assert bad == run["expected_toleap_bad_case_ids"], (name, split)
