"""Preference pairs from a model's failures at the turns of a training file: asking, judging one by one, writing."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from wildtool.stats.describe import share_metric
from wildtool.training.procedures.agreement import DISAGREEMENTS
from wildtool.training.procedures.judging import judged_material, judgement_of
from wildtool.training.procedures.pairs import (
    NoPair,
    PairRules,
    SideLengths,
    TrainingPair,
    Try,
    judged_try,
    pair_of,
    side_lengths_of,
)
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, WhichTurns, supervised_turns
from wildtool.training.record import RowError
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Item, Message, Metric, Request, Role
from wildtool_data.make.core.files import YIELD_FILE, write_metrics
from wildtool_data.make.core.parsing import reply_text
from wildtool_data.make.core.roles import RoleCoroutine
from wildtool_data.make.training.audit_files import AUDIT_FILE, line_writer, reply_as_turn
from wildtool_data.make.training.maker import TrainingMaker, role_instruction
from wildtool_data.prepare.converted_files import info_entry, read_info, set_name, write_info
from wildtool_data.prepare.lines import training_line
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

RetryStyle = Literal["plain", "feedback"]
"""Whether a later try is asked like the first, or is shown the one before and what was wrong."""
RETRY, CRITIC = "retry", "critic"
CRITICISED = "critic"
"""Error class of a text that the critic refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSpec:
    """Which pairs are wanted."""

    file: Path
    turns: WhichTurns = "calls"
    tries: int = 2
    retry: RetryStyle = "plain"
    critic: bool = False
    """Whether texts are judged, by the role `critic`; else turns with text are not asked."""


@dataclass(frozen=True, slots=True)
class TurnTries:
    """What came of one supervised turn."""

    tries: tuple[Try, ...]
    """Those that were judged."""
    unjudged: int = 0
    """Replies that the critic gave no readable verdict on."""


class PairMaker(TrainingMaker[TurnTries]):
    """An item is a supervised turn."""

    name = "pairs"
    title = "Preference pairs from a model's failures"
    nothing = "no turn to try: no reply that is learned has a call; texts need --turns all and --critic NAME"

    def __init__(self, spec: PairSpec) -> None:
        super().__init__([spec.file])
        self.spec = spec
        self.roles: Mapping[str, Role] = {
            **({RETRY: Role("the same model, for its later tries", "")} if spec.tries > 1 else {}),
            **({CRITIC: Role("judges texts", "")} if spec.critic else {}),
        }

    def settings(self) -> Sequence[Any]:
        """See TrainingMaker."""
        return [self.spec.turns, self.spec.tries, self.spec.retry, self.spec.critic]

    def planned(self) -> Iterator[Item]:
        """See TrainingMaker."""
        for name, record in named_records(self.spec.file):
            for turn in supervised_turns(record, self.spec.turns):
                if turn.gold.calls or self.spec.critic:
                    yield Item(f"{name}, turn {turn.place}", (self.unit,), turn, roles=tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[TurnTries]:
        """See TrainingMaker."""
        return _turn_script(item.data, self.spec)

    def why_lost(self, outcome: TurnTries) -> tuple[str, str] | None:
        """See TrainingMaker."""
        return None if outcome.tries else (str(NoPair.not_judged), "no reply of the critic can be read")

    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """See TrainingMaker. Most is asked after wrong replies."""
        turn: SupervisedTurn = item.data
        if request.role == CRITIC:
            return {"content": json.dumps({"right": not most, "why": "It leaves out what matters."})}
        if most and turn.gold.calls:
            return {"content": json.dumps(turn.gold_message["tool_calls"])}
        return turn.gold_message


def _turn_script(turn: SupervisedTurn, spec: PairSpec) -> RoleCoroutine[TurnTries]:
    tries: list[Try] = []
    unjudged = 0
    for number in range(spec.tries):
        messages = turn.messages
        if spec.retry == "feedback" and tries:
            messages.append(_feedback(tries[-1]))
        reply = yield Request(messages, turn.tools, role=RETRY if number else "agent")
        attempt = judged_try(reply, turn)
        if attempt.right and not turn.gold.calls:
            verdict = yield Request(_shown_to_critic(turn, reply.message), role=CRITIC)
            judged = _criticised(attempt, verdict.message)
            if judged is None:
                unjudged += 1
                continue
            attempt = judged
        tries.append(attempt)
        if attempt.right:
            break
    return TurnTries(tuple(tries), unjudged)


def _feedback(last: Try) -> Message:
    """What a model is sent about its last try; never the right answer, or a right try would show nothing."""
    reason = DISAGREEMENTS.get(last.error or "", last.why)
    calls = [{"name": call.name, "arguments": call.arguments} for call in last.reply.calls]
    reply = json.dumps(calls, ensure_ascii=False) if calls else last.reply.text or "(nothing)"
    text = role_instruction("retry").replace("{why}", reason).replace("{reply}", reply)
    return {"role": "user", "content": text}


def _shown_to_critic(turn: SupervisedTurn, reply: Message) -> list[Message]:
    return [
        {"role": "system", "content": role_instruction(CRITIC)},
        {"role": "user", "content": judged_material(turn, reply_text(reply))},
    ]


def _criticised(attempt: Try, verdict: Message) -> Try | None:
    """A try as the critic judges it; None if the critic's answer cannot be read."""
    judgement = judgement_of(verdict)
    if judgement is None:
        return None
    right, reason = judgement
    return replace(attempt, right=right, error=None if right else CRITICISED, why=reason)


PAIRS_FILE = "pairs.jsonl"


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
        form: a form that holds preference pairs.
        benchmark_data: names of benchmarks whose data are used, written into each line.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    counts, errors = Counter[str](), Counter[str]()
    lengths: list[tuple[int, int]] = []
    with line_writer(out, PAIRS_FILE, AUDIT_FILE, benchmark_data=benchmark_data) as files:
        for name, turn, tries in tried:
            if tries is None:
                counts["unfinished"] += 1
                continue
            pair = pair_of(turn, tries.tries, rules)
            if isinstance(pair, TrainingPair) and not _is_loadable(pair, form):
                pair = NoPair.broken
            counts.update(_counted(tries, pair))
            errors.update(attempt.error for attempt in tries.tries[:1] if attempt.error is not None)
            if isinstance(pair, TrainingPair):
                meta = {**({} if TRAINING_FORMS[form].folder else pair.meta), **files.mark}
                files.write(PAIRS_FILE, pair_row(pair, form) | ({"meta": meta} if meta else {}))
                lengths.append(pair.lengths)
            files.write_marked(AUDIT_FILE, _audit_row(name, turn, tries, pair))
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
    entry = {name: info_entry(PAIRS_FILE, ranking=True)} if TRAINING_FORMS[form].folder else {}
    if entries or entry:
        other_entries = {other: info for other, info in entries.items() if other != name}
        write_info(out, {**other_entries, **entry})
    return name if entry else None


def _is_loadable(pair: TrainingPair, form: str) -> bool:
    """Whether loaders read the line of a pair: a reply may hold NUL or half a surrogate pair."""
    try:
        training_line(pair_row(pair, form))
    except RowError:
        return False
    return True


def _counted(tries_of_turn: TurnTries, pair: TrainingPair | NoPair) -> list[str]:
    tries = tries_of_turn.tries
    solved = any(attempt.right for attempt in tries)
    outcome = "not judged" if not tries else "right at once" if tries[0].right else "solved later"
    events = ["asked", "never solved" if tries and not solved else outcome]
    if isinstance(pair, NoPair):
        return [*events, f"no pair: {pair}"]
    return [*events, "pairs", *(["pairs of solved turns"] if pair.solved else [])]


def _metrics(counts: Counter[str], errors: Counter[str]) -> Iterable[Metric]:
    total = counts["asked"]
    for name in ("right at once", "solved later", "never solved", "not judged"):
        yield share_metric("turns", name, counts[name], total)
    yield share_metric("pairs", "pairs", counts["pairs"], total)
    yield share_metric("pairs", "of solved turns", counts["pairs of solved turns"], counts["pairs"])
    for reason in NoPair:
        if count := counts[f"no pair: {reason}"]:
            yield share_metric("no pair", str(reason), count, total)
    for error, count in errors.most_common():
        yield share_metric("first try", error, count, total)


def _audit_row(
    name: str, turn: SupervisedTurn, tries_of_turn: TurnTries, pair: TrainingPair | NoPair
) -> dict[str, Any]:
    return {
        "item": name,
        "source": turn.record.source,
        "row": turn.record.row,
        "turn": turn.place,
        "tries": [_audit_try(attempt) for attempt in tries_of_turn.tries],
        "unjudged": tries_of_turn.unjudged,
        "pair": isinstance(pair, TrainingPair),
        "reason": str(pair) if isinstance(pair, NoPair) else "wrong, and not equal to the record",
    }


def _audit_try(attempt: Try) -> dict[str, Any]:
    return {
        "reply": reply_as_turn(attempt.reply),
        "right": attempt.right,
        "error": attempt.error,
        "why": attempt.why,
        "broken": attempt.broken,
    }
