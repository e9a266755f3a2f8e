"""Writes the records that a selection keeps, a random arm of the same size, and an audit file with every decision."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.stats.describe import share_metric
from wildtool.training.files import read_rows
from wildtool.training.procedures.pairs import reply_turn
from wildtool.training.record import TrainingRecord
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Metric
from wildtool_data.make.core.files import YIELD_FILE, write_metrics
from wildtool_data.make.training.audit_files import AUDIT_FILE, LineWriter, line_writer, reply_as_turn
from wildtool_data.make.training.selection import (
    AskedRecord,
    KeepDecision,
    SelectionReplies,
    SelectionSpec,
    decision,
    random_arm,
)
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

KEPT_FILE, RANDOM_FILE = "kept.jsonl", "random.jsonl"
AS_THEY_ARE = "same"
"""Form of records that are written as their file has them."""


@dataclass(frozen=True, slots=True)
class WrittenSelection:
    """What came of a selection."""

    kept: int
    shared: int
    """Kept records that the random arm has, too: the more, the less training on both can differ."""
    scored: int
    """Records with a score, or with tries."""
    asked: int
    unfinished: int
    metrics: tuple[Metric, ...]


def write_selection(
    answered: Iterable[tuple[AskedRecord, SelectionReplies | None]],
    out: Path,
    spec: SelectionSpec,
    model: str,
    form: str,
    benchmark_data: Sequence[str] = (),
) -> WrittenSelection:
    """Writes kept records, the random arm and the audit file into a folder, and the counts.

    Args:
        answered: each record with what the model said or made of it; None for an unfinished one.
        model: the one that was asked.
        form: `same`, or a form of training files.
        benchmark_data: names of benchmarks whose data are used, written into each line of the audit file and into each
            written record that is not `same`.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    by_set: dict[str, list[tuple[AskedRecord, SelectionReplies, KeepDecision]]] = {}
    unfinished = shared = scored = 0
    for record, replies in answered:
        rows = by_set.setdefault(record.set, [])
        if replies is None:
            unfinished += 1
        else:
            rows.append((record, replies, decision(replies, spec)))
    metrics: list[Metric] = []
    kept_records: list[TrainingRecord] = []
    random_records: list[TrainingRecord] = []
    with line_writer(out, KEPT_FILE, RANDOM_FILE, AUDIT_FILE, benchmark_data=benchmark_data) as files:
        for name, rows in by_set.items():
            records = [of_set.record for of_set, _, decided in rows if decided.kept]
            control = random_arm([of_set.name for of_set, _, _ in rows], len(records), spec.draw_seed)
            kept_records += records
            random_records += [of_set.record for of_set, _, _ in rows if of_set.name in control]
            for record, replies, decided in rows:
                shared += decided.kept and record.name in control
                scored += replies.score is not None or bool(replies.tries)
                origin = {"round": spec.round, "model": model, "by": spec.by}
                files.write_marked(AUDIT_FILE, _audit_row(record, replies, decided, control) | origin)
            metrics += _metrics(name, rows, spec)
        _write_records(files, KEPT_FILE, kept_records, form)
        _write_records(files, RANDOM_FILE, random_records, form)
    write_metrics(out / YIELD_FILE, metrics)
    asked = sum(map(len, by_set.values()))
    return WrittenSelection(len(kept_records), shared, scored, asked, unfinished, tuple(metrics))


def _write_records(files: LineWriter, name: str, records: Sequence[TrainingRecord], form: str) -> None:
    """Writes records in the order of their files."""
    ordered = sorted(records, key=lambda record: (record.source, record.row))
    rows = (
        _rows_of_files(ordered)
        if form == AS_THEY_ARE
        else (TRAINING_FORMS[form].write(record, DEFAULT_WRITING) for record in ordered)
    )
    for row in rows:
        files.write_marked(name, row)


def _rows_of_files(records: Sequence[TrainingRecord]) -> Iterator[Mapping[str, Any]]:
    """The rows of records as their files have them; values that JSON lacks, such as dates, as texts."""
    numbers_of_file: dict[str, set[int]] = {}
    for record in records:
        numbers_of_file.setdefault(record.source, set()).add(record.row)
    for source, numbers in numbers_of_file.items():
        for row in read_rows(Path(source)):
            if row.number in numbers:
                yield json.loads(json.dumps(row.value, default=str))


def _audit_row(
    record: AskedRecord, replies: SelectionReplies, decided: KeepDecision, control: Collection[str]
) -> dict[str, Any]:
    outcome: dict[str, Any] = {"reply": replies.text, "score": replies.score}
    if replies.tries:
        outcome = {
            "tries": [
                {
                    "right": attempt.right,
                    "turn": attempt.turn,
                    "why": attempt.why,
                    "reply": reply_as_turn(reply_turn(attempt.reply)),
                }
                for attempt in replies.tries
            ]
        }
    return {
        "set": record.set,
        "record": record.name,
        "source": record.record.source,
        "row": record.record.row,
        **outcome,
        "kept": decided.kept,
        "reason": decided.reason,
        "random": record.name in control,
    }


def _metrics(
    name: str, rows: Sequence[tuple[AskedRecord, SelectionReplies, KeepDecision]], spec: SelectionSpec
) -> Iterator[Metric]:
    kept_count, count = sum(decided.kept for _, _, decided in rows), len(rows)
    yield share_metric(name, "kept", kept_count, count)
    if spec.by == "tries":
        right = Counter(sum(attempt.right for attempt in replies.tries) for _, replies, _ in rows)
        for number in range(spec.tries + 1):
            yield share_metric(name, f"right in {number} of {spec.tries}", right[number], count)
        return
    scores = Counter(round(replies.score) for _, replies, _ in rows if replies.score is not None)
    yield share_metric(name, "unreadable", count - scores.total(), count)
    for score in range(11):
        yield share_metric(name, f"score {score}", scores[score], count)
