"""Conversations of any shape as cases: each recorded turn of the assistant is judged after what came before it."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool.cases.foreign.literal import literal_arguments
from wildtool.cases.records import CallPattern, Case, CaseUnit, Expectation, Slot
from wildtool.json_codec import as_list, as_object, canonical_json
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, supervised_turns
from wildtool.training.record import TrainingRecord


def conversation_cases(path: Path) -> Iterator[Case]:
    """The conversations of a file that have a turn with gold; one without any is passed over. Raises DataError."""
    for name, record in named_records(path):
        units = {
            str(turn.place): _unit(turn, number, record.columns)
            for number, turn in enumerate(supervised_turns(record), 1)
        }
        if units:
            yield Case(
                id=name,
                units=units,
                tags=tuple(map(str, _names(record.columns.get("tags")))),
                must=record.columns.get("must") is True,
                digest=_digest(record),
                line=record.row,
            )


def _unit(turn: SupervisedTurn, number: int, columns: Mapping[str, Any]) -> CaseUnit:
    """A turn; keys of our form beside its conversation say what is free and what does not count."""
    ignore = tuple(map(str, _names(columns.get("ignore"))))
    slots = tuple(
        Slot((CallPattern(call.name, literal_arguments(as_object(call.arguments)), ignore),))
        for call in turn.gold.calls
    )
    also = columns.get("also")
    expectation = Expectation(
        alternatives=(slots,),
        also=("*",) if also == "any" else tuple(map(str, _names(also))),
        never=tuple(CallPattern(str(name)) for name in _names(columns.get("never")) if isinstance(name, str)),
        in_order=columns.get("order") == "listed",
    )
    return CaseUnit(tuple(turn.messages), turn.tools, expectation, number, gold=turn.gold_message)


def _names(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else as_list(value)


def _digest(record: TrainingRecord) -> str:
    histories = [turn.messages for turn in supervised_turns(record)]
    return sha256(canonical_json([histories, list(record.tools)])).hexdigest()[:12]
