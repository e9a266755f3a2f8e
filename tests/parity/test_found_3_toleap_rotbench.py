"""Equality with RoTBench's two evaluators on replies of other layouts, and where several answers are accepted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.test_rotbench import classes, environment, level, scores
from wildtool.benchmarks.rotbench.data import parse_answer
from wildtool.benchmarks.rotbench.judge import PROFILES, RoTRules

FILES = ("formats.jsonl.gz", "accepted_answers.jsonl")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "toleap_3" / "rotbench")


@pytest.mark.parametrize("file", FILES)
def test_every_reply_gets_the_levels_of_both_evaluators(folder: Path, file: str) -> None:
    wrong: list[Any] = []
    for case in rows(folder / file):
        record = environment(oracle_folder("rotbench"), case["split"])[case["index"]]
        if case.get("answers"):
            record = replace(record, answers=tuple(map(parse_answer, case["answers"])))
        original = RoTRules(*PROFILES["original"]).check(case["output"], record)
        authors = case["expected_original"]
        if (level(original), original.fields["reference_error"]) != (authors["level"], authors["crash"]):
            wrong.append((case["case_id"], "original", level(original), authors))
        toleap = RoTRules(*PROFILES["toleap"]).check(case["output"], record)
        expected = {key: case["expected_toleap"][key] for key in ("TS", "PI", "CF")}
        if (scores(level(toleap)), classes(toleap)) != (expected, case["expected_toleap"]["errors"]):
            wrong.append((case["case_id"], "toleap", level(toleap), case["expected_toleap"]))
    assert not wrong, (len(wrong), wrong[:10])
