"""Short forms of training records, and rows as their readers read them."""

from typing import Any

from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS, ReadOptions
from wildtool.training.reading import read_row
from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    RejectedRow,
    ResultTurn,
    TrainingCall,
    TrainingRecord,
    TrainingTurn,
)
from wildtool.types import Tool


def call(name: str, number: int | str = 1, spelling: str | None = None, /, **arguments: Any) -> TrainingCall:
    """A call, by default the first that was numbered."""
    own_id = number if isinstance(number, str) else f"call_{number}"
    return TrainingCall(name, arguments, own_id, spelling)


def calls(*entries: TrainingCall, text: str | None = None, **more: Any) -> AssistantTurn:
    """A turn of calls."""
    return AssistantTurn(text, entries, **more)


def results(*texts: str) -> ResultTurn:
    """The results of the calls before."""
    return ResultTurn(tuple(map(ObservedResult, texts)))


def tool(name: str, *required: str, description: Any = "", **properties: Any) -> Tool:
    """A tool in OpenAI's shape."""
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def record(*turns: TrainingTurn, **more: Any) -> TrainingRecord:
    """The record that is read from row 7 of the file `f`."""
    return TrainingRecord(turns=turns, source="f", row=7, **more)


def read(row: Any, data_set: str, options: ReadOptions = DEFAULT_OPTIONS) -> TrainingRecord | RejectedRow:
    """What the reader of a set makes of row 7 of the file `f`."""
    return read_row(FileRow(7, row), DATA_SETS[data_set], "f", options)


def refusal(row: Any, data_set: str, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[str, str]:
    """Reason and detail of a row that is no record."""
    rejected = read(row, data_set, options)
    assert isinstance(rejected, RejectedRow), rejected
    assert (rejected.source, rejected.row, rejected.raw) == ("f", 7, row)
    return rejected.reason, rejected.detail


def turns(row: Any, data_set: str, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[TrainingTurn, ...]:
    """The turns of a row that is a record."""
    found = read(row, data_set, options)
    assert isinstance(found, TrainingRecord), found
    return found.turns
