"""Preference pairs from the wrong units of a run, for data that are the user's own.

A unit gives a pair if its first wrong step has one gold reply only: that is chosen, the model's is rejected. A text that
a judge refused is such a step. Which pair, and why a unit gives none, is in an audit file beside.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.engine.record.reader import LoggedReply
from wildtool.episode import said_alone
from wildtool.export import ExportRequest
from wildtool.export.files import write_json_lines
from wildtool.export.trajectory import RecordedRun, RecordedUnit
from wildtool.training.procedures.agreement import agreement
from wildtool.training.procedures.judging import WRONG_TEXT
from wildtool.training.procedures.official import refusal
from wildtool.training.procedures.pairs import (
    NoPair,
    TrainingPair,
    judged_try,
    pair_of,
    reply_turn,
    says_the_same,
    side_lengths_of,
)
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.readers.openai import read_openai
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.record import RowError, TrainingRecord
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Message, Reply, Request
from wildtool_data.prepare.run_rows import data_owner
from wildtool_data.prepare.writers.sharegpt import sharegpt_row

_AGENT = "agent"
AUDIT_SUFFIX = ".audit.jsonl"


@dataclass(frozen=True, slots=True)
class _WrongStep:
    """The first reply of a unit that no gold reply agrees with."""

    request: Request
    gold: Message
    reply: Reply


def export(request: ExportRequest, target: Path) -> None:
    """Writes one pair per line, and beside it what became of each unit.

    Raises:
        UsageError: the run's data are a benchmark's own, and `allow_benchmark_data` is off.
    """
    run = RecordedRun(request)
    owner = data_owner(run)
    if owner is not None and not request.allow_benchmark_data:
        raise refusal(owner)
    mark: Mapping[str, Any] = {} if owner is None else {"benchmark_data": [owner]}
    pairs: dict[tuple[str, str], TrainingPair] = {}
    tries: dict[tuple[str, str], list[bool]] = {}
    audit: list[dict[str, Any]] = []
    for unit in run.units():
        place = unit.item.id, unit.verdict.unit
        tries.setdefault(place, []).append(unit.verdict.outcome == "correct")
        pair = _unit_pair(run, unit)
        audit.append(_audit_row(unit, pair) | mark)
        if isinstance(pair, TrainingPair):
            pairs.setdefault(place, pair)
    write_json_lines(target.with_name(target.name.removesuffix(".jsonl") + AUDIT_SUFFIX), audit)
    write_json_lines(target, _rows(pairs, tries, mark))
    lengths = side_lengths_of([pair.lengths for pair in pairs.values()])
    if lengths is not None and lengths.biased:
        logging.getLogger("wildtool").warning(
            "mean length: chosen %.0f, rejected %.0f characters; preference training may learn the length instead",
            lengths.chosen,
            lengths.rejected,
        )


def _rows(
    pairs: Mapping[tuple[str, str], TrainingPair],
    tries: Mapping[tuple[str, str], list[bool]],
    mark: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    for place, pair in pairs.items():
        attempts = tries[place]
        meta = {"turn": pair.turn.place, "tries": len(attempts), "solved": any(attempts)}
        yield sharegpt_row(pair.record, DEFAULT_WRITING) | {"meta": {**meta, **mark}}


def _audit_row(unit: RecordedUnit, pair: TrainingPair | str) -> dict[str, Any]:
    return {
        "item": unit.item.id,
        "unit": unit.verdict.unit,
        "repeat": unit.repeat,
        "outcome": unit.verdict.outcome,
        "why": unit.verdict.reason,
        "pair": isinstance(pair, TrainingPair),
        "reason": pair if isinstance(pair, str) else "wrong, and not equal to the gold reply",
    }


def _unit_pair(run: RecordedRun, unit: RecordedUnit) -> TrainingPair | str:
    """The pair of a unit, or why it gives none."""
    if unit.verdict.outcome != "wrong":
        return unit.verdict.outcome
    step = _first_wrong(run, unit)
    if isinstance(step, str):
        return step
    try:
        record = _preference_record(step)
    except RowError as error:
        return str(NoPair.equal) if error.reason == "same-pair" else str(error)
    assert record.chosen is not None
    turn = SupervisedTurn(record, len(record.turns), record.chosen)
    attempt = judged_try(step.reply, turn)
    if unit.verdict.error == WRONG_TEXT:
        attempt = replace(attempt, right=False, error=WRONG_TEXT, why=unit.verdict.reason)
    pair = pair_of(turn, [attempt])
    return str(pair) if isinstance(pair, NoPair) else pair


def _preference_record(step: _WrongStep) -> TrainingRecord:
    """Prompt, gold reply and the model's reply as a record. Raises RowError if they make none."""
    row = {
        "messages": list(step.request.messages),
        "tools": list(step.request.tools),
        "chosen": step.gold,
        "rejected": {"role": "assistant", **step.reply.message},
    }
    return read_openai(row, DEFAULT_OPTIONS)


def _first_wrong(run: RecordedRun, unit: RecordedUnit) -> _WrongStep | str:
    """The first wrong step, or why there is none that could be learned from."""
    profile: str = run.run.run_json["identity"]["profile"] or run.run.run_info.profile
    variant = run.run.variant
    episode = variant.episode(unit.item, unit.verdict.unit, profile)
    refused_by_judge = unit.verdict.error == WRONG_TEXT
    for step in unit.steps:
        request = episode.request()
        if request is None or not isinstance(step.result, LoggedReply):
            break
        reply = step.result.reply
        if request.role == _AGENT:
            if request.gold is None:
                return "no gold reply is known"
            golds = [request.gold(style) for style in variant.benchmark.gold_styles]
            if refused_by_judge or not any(_agrees(reply.message, gold, request) for gold in golds):
                first = reply_turn(golds[0])
                if not all(says_the_same(first, reply_turn(gold)) for gold in golds[1:]):
                    return "several gold replies"
                return _WrongStep(request, golds[0], replace(reply, message=said_alone(reply.message)))
        episode.advance(reply.message)
    return "no wrong step was found"


def _agrees(reply: Message, gold: Message, request: Request) -> bool:
    record = TrainingRecord(turns=(), tools=tuple(request.tools))
    return agreement(reply, SupervisedTurn(record, 0, reply_turn(gold))).right
