"""Writes the records of a training file with reasoning beside their calls, and an audit file with every decision."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.generate.core.files import YIELD_FILE, write_metrics
from wildtool.generate.training.audit_files import AUDIT_FILE, LineWriter, line_writer
from wildtool.generate.training.rationales import Reasoning, RecordTurn
from wildtool.stats.describe import share_metric
from wildtool.training.procedures.rationales import with_reasoning
from wildtool.training.record import TrainingRecord
from wildtool.training.writers.forms import TRAINING_FORMS
from wildtool.training.writers.options import WriteOptions
from wildtool.types import Metric

REASONED_FILE = "reasoned.jsonl"
_REPEATED = "equal to the reasoning of another turn"


@dataclass(frozen=True, slots=True)
class WrittenRationales:
    """What came of all turns."""

    records: int
    turns: int
    """Turns that have reasoning in the written records."""
    asked: int
    unfinished: int
    metrics: tuple[Metric, ...]


def write_rationales(
    thought: Iterable[tuple[RecordTurn, Reasoning | None]],
    out: Path,
    form: str,
    writing: WriteOptions,
    benchmark_data: Sequence[str] = (),
) -> WrittenRationales:
    """Writes records with reasoning, and the audit file, into a folder, and the counts.

    Args:
        thought: the turns of each record together, in their order; None for an unfinished one.
        form: a form of training files.
        benchmark_data: names of benchmarks whose data are used, written into each line.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    mark: dict[str, Any] = {"benchmark_data": [*benchmark_data]} if benchmark_data else {}
    counts, reasons, seen = Counter[str](), Counter[str](), set[str]()

    def write_record(record: TrainingRecord, reasoning: dict[int, str], files: LineWriter) -> None:
        made = with_reasoning(record, reasoning)
        if made is not None:
            files.write(REASONED_FILE, TRAINING_FORMS[form].write(made, writing) | mark)
            counts["records"] += 1
            counts["written"] += sum(place < len(made.turns) for place in reasoning)

    with line_writer(out, REASONED_FILE, AUDIT_FILE) as files:
        for record, turns in _by_record(thought):
            reasoning: dict[int, str] = {}
            for one, found in turns:
                if found is None:
                    counts["unfinished"] += 1
                    continue
                counts["asked"] += 1
                key = " ".join(found.text.split()).casefold()
                fault = found.fault or (_REPEATED if key in seen else "")
                seen.add(key)
                if fault:
                    reasons[fault.partition(":")[0]] += 1
                else:
                    reasoning[one.turn.place] = found.text
                files.write(AUDIT_FILE, _audit_row(one, found, fault) | mark)
            write_record(record, reasoning, files)
    metrics = tuple(_metrics(counts, reasons))
    write_metrics(out / YIELD_FILE, metrics)
    return WrittenRationales(
        counts["records"], counts["written"], counts["asked"], counts["unfinished"], metrics
    )


_Thought = tuple[RecordTurn, Reasoning | None]


def _by_record(thought: Iterable[_Thought]) -> Iterator[tuple[TrainingRecord, list[_Thought]]]:
    """The turns of each record, in order."""
    group: list[_Thought] = []
    for one in thought:
        if group and one[0].record != group[0][0].record:
            yield group[0][0].turn.record, group
            group = []
        group.append(one)
    if group:
        yield group[0][0].turn.record, group


def _metrics(counts: Counter[str], reasons: Counter[str]) -> Iterator[Metric]:
    asked = counts["asked"]
    fit = asked - reasons.total()
    for group, name, count, of in (
        ("turns", "fit", fit, asked),
        ("turns", "in written records", counts["written"], asked),
        *(("left out", reason, count, asked) for reason, count in reasons.most_common()),
    ):
        yield share_metric(group, name, count, of)


def _audit_row(one: RecordTurn, found: Reasoning, fault: str) -> dict[str, Any]:
    return {
        "record": one.record,
        "source": one.turn.record.source,
        "row": one.turn.record.row,
        "turn": one.turn.place,
        "reply": found.text,
        "check": found.checked,
        "kept": not fault,
        "reason": fault or "breaks no rule",
    }
