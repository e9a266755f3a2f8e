"""Cases from texts, for tests: written to a file and read as a user's file is."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wildtool.own_cases.case_files import CaseFile, read_case_file
from wildtool.own_cases.judging import MadeCall, judge_turn
from wildtool.own_cases.records import CaseUnit


def k(name: str, **arguments: Any) -> MadeCall:
    """A call that a model made."""
    return name, arguments


def read(folder: Path, text: str, name: str = "own.cases.yaml") -> CaseFile:
    (folder / name).write_text(text, encoding="utf-8")
    return read_case_file(folder / name)


def unit_of(folder: Path, case: dict[str, Any]) -> CaseUnit:
    """The only turn of a case without faults."""
    found = read(folder, json.dumps(case), "own.cases.jsonl")
    assert not found.errors, [*map(str, found.errors)]
    ((_, unit),) = found.cases[0].units.items()
    return unit


def is_right(unit: CaseUnit, calls: Sequence[MadeCall], text: str = "") -> bool:
    return judge_turn(unit.expectation, calls, text, unit.parameters).error is None
