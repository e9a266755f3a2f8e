"""Every finding of a whole file word by word, and the rows that are checked."""

from pathlib import Path
from typing import Any

import pytest

from training.training_rows import turn
from wildtool.training.files import FileRow
from wildtool.training.record import RejectedRow, TrainingRecord
from wildtool_data.prepare.check.rows import (
    CheckedRow,
    row_form,
    sound_record,
)

HUMAN, GPT = turn("human", "a"), turn("gpt", "b")
CALL = turn("function_call", '{"name": "level", "arguments": {"station": "A"}}')


def talk(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": list(turns), **more}


DROPS = "LLaMA-Factory drops this record"


REFUSED = RejectedRow(source="f", row=1, reason="no-user", detail="no user turn")
ENDLESS = RejectedRow(
    source="f", row=1, reason="S06", detail=f"ends with human: nothing to learn after it; {DROPS}"
)


@pytest.mark.parametrize(
    ("value", "record", "form", "result"),
    [
        (None, REFUSED, "sharegpt", REFUSED),
        ({"messages": []}, REFUSED, "messages", REFUSED),
        (talk(HUMAN), REFUSED, "sharegpt", ENDLESS),
        (talk(HUMAN), TrainingRecord(turns=(), source="f"), "sharegpt", ENDLESS),
        (None, TrainingRecord(turns=()), "messages", TrainingRecord(turns=())),
        (talk(HUMAN, CALL), REFUSED, "sharegpt", REFUSED),
        (talk(HUMAN, CALL), TrainingRecord(turns=()), "sharegpt", TrainingRecord(turns=())),
        (talk(HUMAN), TrainingRecord(turns=()), "messages", TrainingRecord(turns=())),
    ],
)
def test_why_a_row_must_not_be_trained_on(value: Any, record: Any, form: Any, result: Any):
    assert sound_record(CheckedRow(1, value, record), form) == result


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({"conversations": []}, "sharegpt"),
        ({"conversations": [{"from": "x"}]}, "sharegpt"),
        ({"conversations": [5, {"value": "x"}]}, "sharegpt"),
        ({"conversations": [{"role": "user", "content": "q"}]}, None),
        ({"messages": [], "conversations": "x"}, "messages"),
        ({"question": "q", "answer": "r"}, None),
    ],
)
def test_the_shape_of_a_file_is_that_of_its_first_rows(row: dict[str, Any], form: str | None):
    assert row_form(Path("f"), [FileRow(1, None, "x"), FileRow(2, row)]) == form
