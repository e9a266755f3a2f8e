"""Conversations of any shape as cases: each recorded turn of the assistant is judged after what came before it."""

from collections.abc import Iterator
from pathlib import Path

from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.own_cases.expecting import read_expectation, read_name_list
from wildtool.own_cases.foreign.literal import literal_arguments
from wildtool.own_cases.places import CaseFault, CasePlace, CaseRecord
from wildtool.own_cases.records import Case, CaseUnit, case_digest
from wildtool.own_cases.unread_calls import unread_call
from wildtool.own_cases.values import Context
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, supervised_turns
from wildtool.training.record import TrainingRecord

_COLUMNS = ("also", "never", "order", "ignore", "tags", "must")
"""Keys of our form that a conversation may have beside its messages."""


def conversation_cases(path: Path) -> Iterator[Case]:
    """The conversations of a file that have a turn with gold; one without any is passed over. Raises DataError."""
    for name, record in named_records(path):
        faults: list[CaseFault] = []
        columns = {key: record.columns[key] for key in _COLUMNS if record.columns.get(key) is not None}
        place = CasePlace(CaseRecord(columns, path, record.row), faults)
        turns = supervised_turns(record)
        units = {str(turn.place): _unit(turn, number, place) for number, turn in enumerate(turns, 1)}
        tags = read_name_list(place.at("tags"))
        if not isinstance(columns.get("must", False), bool):
            place.at("must").fail("takes true or false")
        if faults:
            raise DataError("\n".join(map(str, faults)))
        if units:
            yield Case(
                name, units, tags, columns.get("must") is True, digest=_digest(record), line=record.row
            )


def _unit(turn: SupervisedTurn, number: int, place: CasePlace) -> CaseUnit:
    """A turn. Args: place: what the conversation says of all its turns."""
    expect = [
        {"name": call.name, "arguments": literal_arguments(as_object(call.arguments))}
        for call in turn.gold.calls
    ]
    written = "" if expect else unread_call(turn.gold.text or "", turn.tools)
    if written:
        place.at(f"turn {number} of the model").fail(
            f"has {written}, so it would be judged as an answer without a call; write it under `tool_calls`"
        )
    record = CaseRecord({**place.value, "expect": expect}, place.record.file, place.record.line)
    # The recorded calls are the gold, whether or not its tools allow them.
    context = Context(ignore=read_name_list(place.at("ignore")))
    expectation = read_expectation(CasePlace(record, place.faults), context, place.at)
    return CaseUnit(tuple(turn.messages), turn.tools, expectation, number, gold=turn.gold_message)


def _digest(record: TrainingRecord) -> str:
    turns = supervised_turns(record)
    messages = [message for turn in turns for message in (*turn.messages, turn.gold_message)]
    system = [message for message in messages if message.get("role") == "system"]
    judged = {key: record.columns.get(key) for key in ("also", "never", "order", "ignore")}
    asked = [message for message in messages if message not in system]
    return case_digest([asked, judged], [system[:1], list(record.tools)])
