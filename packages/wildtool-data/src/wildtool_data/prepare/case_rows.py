"""The turns of case files as rows of training data: each that says a whole answer, with what comes before it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import cases_in
from wildtool.engine.score.results import run_folders
from wildtool.errors import RecordError, UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.history import gold_messages
from wildtool.own_cases.records import CallPattern, CaseUnit
from wildtool.training.files import FileRow

NOT_WHOLE = "turns of cases without a whole answer"
CASE_NOTES: Mapping[str, str] = {
    NOT_WHOLE: "say no whole answer, such as a call by a pattern or a text by what it contains, and teach nothing",
}
"""What is counted while cases are read."""
_SAYS_A_VALUE = frozenset({"$is", "$exact", "$one_of", "$maybe", "$date", "$absent", "$unordered"})
"""Matchers that name a right value."""


def cases_of(path: Path) -> Benchmark | None:
    """The benchmark of a case file or of a folder of them; None for any other file and for runs.

    Raises UsageError for a folder that holds both, RecordError for one that holds neither.
    """
    cases = cases_in(path)
    if not path.is_dir():
        return cases
    try:
        run_folders(path)
    except RecordError as error:
        if cases is None:
            raise RecordError(f"{error}, or a folder of case files") from None
        return cases
    if cases is not None:
        raise UsageError(f"{path}: holds runs and case files; name the runs or the cases")
    return None


def case_rows(benchmark: Benchmark, notes: Counter[str]) -> Iterator[FileRow]:
    """A row for each turn, in which the replies of earlier turns have weight 0.

    Args:
        notes: gets the counts of `CASE_NOTES`.

    Raises DataError where the cases have a fault.
    """
    number = 0
    for item in benchmark.load(data_of(benchmark).locate(None)):
        seen: set[int] = set()
        for name, unit in item.data.units.items():
            # Repeated tries of a turn teach the same.
            if unit.turn in seen:
                continue
            seen.add(unit.turn)
            said = gold_messages(unit) if _is_whole(unit) else []
            if not said:
                notes[NOT_WHOLE] += 1
                continue
            number += 1
            before = [
                {**message, "weight": 0} if message.get("role") == "assistant" else message
                for message in unit.messages
            ]
            row = {"id": f"{item.id}/{name}", "messages": [*before, *said], "tools": list(unit.tools)}
            yield FileRow(number, row)


def _is_whole(unit: CaseUnit) -> bool:
    """Whether each expected call is there in full."""
    if unit.gold is not None:
        return True
    patterns = [slot.patterns[0] for slot in unit.expectation.slots if slot.least]
    return unit.expectation.alternatives is not None and all(map(_is_said, patterns))


def _is_said(pattern: CallPattern) -> bool:
    is_open = pattern.arguments is None or pattern.extra or pattern.ignore or "*" in pattern.name
    return not is_open and _says_values(dict(pattern.arguments or {}))


def _says_values(value: Any) -> bool:
    held = as_object(value)
    if any(key.startswith("$") and key not in _SAYS_A_VALUE for key in held):
        return False
    return all(map(_says_values, as_list(value) or held.values()))
