"""Writes preference pairs with their audit file, and counts what came of every turn."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.generate.core.files import YIELD_FILE, write_metrics
from wildtool.generate.training.audit_files import AUDIT_FILE, line_writer, reply_as_turn
from wildtool.generate.training.pairs import TurnTries
from wildtool.stats.describe import share_metric
from wildtool.training.converted_files import info_entry, read_info, set_name, write_info
from wildtool.training.lines import training_line
from wildtool.training.procedures.pairs import (
    NoPair,
    PairRules,
    SideLengths,
    TrainingPair,
    Try,
    pair_of,
    side_lengths_of,
)
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.record import RowError
from wildtool.training.writers.forms import TRAINING_FORMS
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Metric

PAIRS_FILE = "pairs.jsonl"
PAIR_FORMS = ("sharegpt", "openai", "trl", "llamafactory")
"""Forms that hold preference pairs."""


@dataclass(frozen=True, slots=True)
class WrittenPairs:
    """What came of all turns."""

    pairs: int
    unfinished: int
    """Turns whose replies are not all recorded."""
    metrics: tuple[Metric, ...]
    lengths: SideLengths | None
    solved: int
    """Pairs of turns that some try solved."""


def write_pairs(
    tried: Iterable[tuple[str, SupervisedTurn, TurnTries | None]],
    out: Path,
    rules: PairRules,
    form: str,
    benchmark_data: Sequence[str] = (),
) -> WrittenPairs:
    """Writes pairs and audit file into a folder, and the counts.

    Args:
        tried: name, turn and tries; None for a turn that is unfinished.
        form: one of `PAIR_FORMS`.
        benchmark_data: names of benchmarks whose data are used, written into each line.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    counts, errors = Counter[str](), Counter[str]()
    lengths: list[tuple[int, int]] = []
    mark: dict[str, Any] = {"benchmark_data": [*benchmark_data]} if benchmark_data else {}
    with line_writer(out, PAIRS_FILE, AUDIT_FILE) as files:
        for name, turn, found in tried:
            if found is None:
                counts["unfinished"] += 1
                continue
            pair = pair_of(turn, found.tries, rules)
            if isinstance(pair, TrainingPair) and not _is_loadable(pair, form):
                pair = NoPair.broken
            counts.update(_counted(found, pair))
            errors.update(one.error for one in found.tries[:1] if one.error is not None)
            if isinstance(pair, TrainingPair):
                about = mark if TRAINING_FORMS[form].folder else {**pair.meta, **mark}
                files.write(PAIRS_FILE, pair_row(pair, form) | ({"meta": about} if about else {}))
                lengths.append(pair.lengths)
            files.write(AUDIT_FILE, _audit_row(name, turn, found, pair) | mark)
    metrics = tuple(_metrics(counts, errors))
    write_metrics(out / YIELD_FILE, metrics)
    means = side_lengths_of(lengths)
    return WrittenPairs(
        counts["pairs"], counts["unfinished"], metrics, means, counts["pairs of solved turns"]
    )


def pair_row(pair: TrainingPair, form: str) -> dict[str, Any]:
    """A pair as a line of a preference file."""
    return TRAINING_FORMS[form].write(pair.record, DEFAULT_WRITING)


def write_pairs_info(out: Path, file: Path, form: str) -> str | None:
    """Names the pairs in the folder's `dataset_info.json`, for LLaMA-Factory; of another form removes what an earlier
    command named.

    Args:
        file: the training file that the pairs are made of; its name is in that of the data set.

    Returns the name of the data set, None for other forms. Raises DataError if `dataset_info.json` cannot be read.
    """
    name = f"{set_name(file)}_dpo"
    entries = read_info(out)
    wanted = {name: info_entry(PAIRS_FILE, ranking=True)} if TRAINING_FORMS[form].folder else {}
    if entries or wanted:
        others = {other: about for other, about in entries.items() if other != name}
        write_info(out, {**others, **wanted})
    return name if wanted else None


def _is_loadable(pair: TrainingPair, form: str) -> bool:
    """Whether loaders read the line of a pair: a reply may hold NUL or half a surrogate pair."""
    try:
        training_line(pair_row(pair, form))
    except RowError:
        return False
    return True


def _counted(found: TurnTries, pair: TrainingPair | NoPair) -> list[str]:
    tries = found.tries
    solved = any(one.right for one in tries)
    outcome = "not judged" if not tries else "right at once" if tries[0].right else "solved later"
    events = ["asked", "never solved" if tries and not solved else outcome]
    if isinstance(pair, NoPair):
        return [*events, f"no pair: {pair}"]
    return [*events, "pairs", *(["pairs of solved turns"] if pair.solved else [])]


def _metrics(counts: Counter[str], errors: Counter[str]) -> Iterable[Metric]:
    asked = counts["asked"]
    for name in ("right at once", "solved later", "never solved", "not judged"):
        yield share_metric("turns", name, counts[name], asked)
    yield share_metric("pairs", "pairs", counts["pairs"], asked)
    yield share_metric("pairs", "of solved turns", counts["pairs of solved turns"], counts["pairs"])
    for reason in NoPair:
        if count := counts[f"no pair: {reason}"]:
            yield share_metric("no pair", str(reason), count, asked)
    for error, count in errors.most_common():
        yield share_metric("first try", error, count, asked)


def _audit_row(
    name: str, turn: SupervisedTurn, found: TurnTries, pair: TrainingPair | NoPair
) -> dict[str, Any]:
    return {
        "item": name,
        "source": turn.record.source,
        "row": turn.record.row,
        "turn": turn.place,
        "tries": [_audit_try(one) for one in found.tries],
        "unjudged": found.unjudged,
        "pair": isinstance(pair, TrainingPair),
        "reason": str(pair) if isinstance(pair, NoPair) else "wrong, and not equal to the record",
    }


def _audit_try(one: Try) -> dict[str, Any]:
    return {
        "reply": reply_as_turn(one.reply),
        "right": one.right,
        "error": one.error,
        "why": one.why,
        "broken": one.broken,
    }
