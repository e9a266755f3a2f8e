"""A training file played like a benchmark: an item is a record, a unit a turn that a model learns to say."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import JUDGE, JUDGED, Benchmark, Check, Mutant, Rules
from wildtool.data.data_set import DataSet
from wildtool.episode import SingleReply
from wildtool.errors import DataError
from wildtool.training.procedures.agreement import agreement
from wildtool.training.procedures.judging import JUDGEMENTS, NOT_JUDGED, WRONG_TEXT, JudgedReply
from wildtool.training.procedures.records import named_records, training_source
from wildtool.training.procedures.supervised import SupervisedTurn, supervised_turns
from wildtool.types import Episode, FieldValue, Item, Metric, Request, Role, Source

FIXED = "fixed"
TEXT_NOTE = "any text without a call passes; nothing checks what it says"
"""What must be known of turns with text."""
JUDGED_NOTE = "a model judged these texts; read some of its verdicts before you rely on them"


class PlayedRules(Rules):
    """A turn with calls is right with the same calls, one with text by any text."""

    def episode(self, item: Item, unit: str) -> Episode:
        turn = _turn(item, unit)
        return SingleReply(lambda: Request(turn.messages, turn.tools, gold=lambda style: turn.gold_message))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        outcome = agreement(cast(SingleReply, episode).reply or {}, _turn(item, unit))
        return Check(outcome.right, outcome.error, outcome.reason)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        # What a text says is not judged, so another text is no mistake; another text as an argument is one.
        mutants = super().mutants(item)
        return (each for each in mutants if each.kind != "other text" or _turn(item, each.unit).gold.calls)


class JudgedRules(PlayedRules):
    """The same, and a text is right if a judge model finds it right."""

    def episode(self, item: Item, unit: str) -> Episode:
        return JudgedReply(_turn(item, unit))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        judged = cast(JudgedReply, episode)
        turn = _turn(item, unit)
        outcome = agreement(judged.reply or {}, turn)
        if turn.gold.calls or not outcome.right:
            return Check(outcome.right, outcome.error, outcome.reason)
        if judged.judgement is None:
            return Check(False, NOT_JUDGED, JUDGEMENTS[NOT_JUDGED])
        right, reason = judged.judgement
        return Check(right, None if right else WRONG_TEXT, f"the judge: {reason or 'gives no reason'}")

    def mutants(self, item: Item) -> Iterable[Mutant]:
        # A mistake in the judge's own reply is none of the model's.
        return PlayedRules().mutants(item)


@dataclass(frozen=True, kw_only=True)
class TrainingData(DataSet):
    """A file of the user's, in any layout."""

    def locate(self, data: str | None, split: str | None = None) -> Source:
        if data in (None, self.name):
            raise DataError("name a training file: --data FILE")
        return training_source(Path(str(data)))


class TrainingFile(Benchmark):
    """Training files of any layout that `data convert` reads; every supervised turn is shown the gold turns before it."""

    name = "training"
    title = "training: each turn of your training file that a model learns to say"
    profiles: Mapping[str, str] = {
        FIXED: "the calls of the record, arguments by meaning; any text for a text"
    }
    modes: Mapping[str, str] = {
        "chat": "messages and native tool calls; any text passes for a text",
        JUDGED: "the same, and a judge model compares texts with the file's (--judge)",
    }
    data = TrainingData(name="training")
    roles: Mapping[str, Role] = {JUDGE: Role("the model that judges texts", default="", max_tokens=4096)}
    columns: Mapping[str, str] = {"turn": "VARCHAR", "gold_calls": "VARCHAR", "place": "INTEGER"}
    groups = ("turn", "gold_calls")
    card = Path(__file__).parent / "card.md"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        for name, record in named_records(source.path):
            turns = supervised_turns(record)
            units = tuple(str(turn.place) for turn in turns)
            is_judged = self.mode == JUDGED and not all(turn.gold.calls for turn in turns)
            item = Item(name, units, record, roles=(JUDGE,) if is_judged else ())
            if units and split in (None, item.split) and lang in (None, item.lang):
                yield item

    def rules(self, profile: str) -> Rules:
        return JudgedRules() if self.mode == JUDGED else PlayedRules()

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        calls = len(_turn(item, unit).gold.calls)
        return {
            "turn": "call" if calls else "text",
            "gold_calls": "several" if calls > 1 else str(calls),
            "place": int(unit),
        }

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        # One number for both would rank a model that never calls above one that tries.
        metrics = super().summarize(verdicts, profile)
        note = JUDGED_NOTE if self.mode == JUDGED else TEXT_NOTE
        for metric in metrics:
            if (metric.group, metric.name) == ("errors", NOT_JUDGED) and metric.numerator:
                # A judge that fails must not pass for a model that is wrong.
                note += (
                    f"; on {metric.numerator:g} it gave no verdict that can be read, and they count as wrong"
                )
        turns = [
            replace(metric, headline=True, note=note if metric.name == "text" else metric.note)
            for metric in metrics
            if metric.group == "turn"
        ]
        return [*turns, *(replace(metric, headline=False) for metric in metrics if metric.group != "turn")]


def _turn(item: Item, unit: str) -> SupervisedTurn:
    return next(turn for turn in supervised_turns(item.data) if turn.place == int(unit))


TRAINING = TrainingFile()
