"""Describes a training file in numbers (specification of training data, 3.10)."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wildtool.json_codec import as_object, dumps, json_type
from wildtool.stats.describe import count_metrics, mean_metric, share_metric
from wildtool.toolcall.text.mentions import mention, spelled
from wildtool.training.record import AssistantTurn, ResultTurn, TrainingRecord, UserTurn
from wildtool.types import Metric
from wildtool_data.prepare.check.file import CHARACTERS_PER_TOKEN, FileCheck, check_training_file
from wildtool_data.prepare.mix.origins import origin_of
from wildtool_data.prepare.reach import FAR_TURNS, reach

ALL_SETS = "all sets"
MAX_SETS = 50
"""Names of sets above which they are taken for something else, such as addresses."""
TOKEN_LENGTHS = (2048, 4096, 8192)
_OFFERED = ((0, "none"), (1, "1"), (5, "2 to 5"), (20, "6 to 20"))
_MORE = "more than 20"
_CALL_KINDS = (
    "without a call",
    "with one call",
    "with several calls in one turn",
    "with calls in several turns",
)
_PLACES = ("a user text", "an earlier result", "neither")
_SCRIPTS = {
    "LATIN": "Latin",
    "CJK": "Han",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "HANGUL": "Hangul",
    "CYRILLIC": "Cyrillic",
    "ARABIC": "Arabic",
}
_LETTERS = 200
"""Letters of a record's user texts that tell its script."""


@dataclass(slots=True)
class SetStats:
    """Counts over the records of one set of a file."""

    records: int = 0
    turns: int = 0
    calls: int = 0
    """Calls in its replies."""
    plain: int = 0
    """Records without a call."""
    stepwise: int = 0
    """Records with calls in several turns."""
    tokens: int = 0
    """Perhaps estimated."""

    def metrics(self, group: str, of: int) -> Iterator[Metric]:
        """Its numbers. Args: of: the records of all sets."""
        n = self.records
        yield share_metric(group, "records", n, of)
        for name, total in (("turns", self.turns), ("calls", self.calls), ("tokens", self.tokens)):
            yield Metric(group, f"{name}: mean", total / n if n else None, total, n, kind="mean")
        yield share_metric(group, "without a call", self.plain, n)
        yield share_metric(group, "with calls in several turns", self.stepwise, n)


class TrainingStats:
    """Counts over the records of a file, taken one at a time."""

    def __init__(self, tokens: Callable[[str], int] | None = None) -> None:
        """Args: tokens: counts the tokens of a text; None estimates them."""
        self._tokens = tokens
        self._records = 0
        self._turns, self._user_turns = array("I"), array("I")
        self._characters, self._lengths = array("Q"), array("Q")
        self._calls: Counter[str] = Counter()
        self._tools: Counter[str] = Counter()
        self._offered: Counter[str] = Counter()
        self._types: Counter[str] = Counter()
        self._values: Counter[str] = Counter()
        self._scripts: Counter[str] = Counter()
        self._sets: dict[str, SetStats] = {}
        self._results = self._texts = self._questions = self._long = 0

    def add(self, record: TrainingRecord, origin: str = "") -> None:
        """Takes a record. Args: origin: the set that it is from; empty where that does not matter."""
        self._records += 1
        self._turns.append(len(record.turns) + (record.chosen is not None))
        self._user_turns.append(len(record.user_texts))
        replies = [turn for turn in record.replies if turn is not record.rejected]
        batches = [len(turn.calls) for turn in replies if turn.calls]
        kinds = not batches, sum(batches) == 1, any(count > 1 for count in batches), len(batches) > 1
        self._calls.update(name for name, holds in zip(_CALL_KINDS, kinds, strict=True) if holds)
        self._tools.update(call.name for turn in replies for call in turn.calls)
        count = len(record.tools)
        self._offered[next((name for most, name in _OFFERED if count <= most), _MORE)] += 1
        self._scripts[_script(record.user_texts)] += 1
        texts = list(_visible_texts(record))
        self._characters.append(sum(map(len, texts)))
        if self._tokens:
            self._lengths.append(self._tokens("\n".join(texts)))
        else:
            self._lengths.append(int(self._characters[-1] / CHARACTERS_PER_TOKEN))
        self._long += reach(record) >= FAR_TURNS
        if origin and (origin in self._sets or len(self._sets) <= MAX_SETS):
            stats = self._sets.setdefault(origin, SetStats())
            stats.records += 1
            stats.turns += self._turns[-1]
            stats.calls += sum(batches)
            stats.plain += not batches
            stats.stepwise += len(batches) > 1
            stats.tokens += self._lengths[-1]
        self._follow(record)

    def _follow(self, record: TrainingRecord) -> None:
        """Goes through the turns: what a reply could know when it was said."""
        user, results = "", ""
        has_called = False
        for turn in record.told_turns:
            if isinstance(turn, UserTurn):
                user, has_called = f"{user}\n{turn.text}", False
            elif isinstance(turn, ResultTurn):
                self._results += len(turn.results)
                results = "\n".join([results, *(result.text for result in turn.results)])
            else:
                self._take_reply(turn, user, results, has_called)
                has_called = has_called or bool(turn.calls)

    def _take_reply(self, turn: AssistantTurn, user: str, results: str, has_called: bool) -> None:
        if not turn.calls:
            self._texts += 1
            self._questions += not has_called and (turn.text or "").rstrip().endswith(("?", "？"))
        for call in turn.calls:
            for value in as_object(call.arguments).values():
                self._types[json_type(value)] += 1
                if isinstance(value, bool) or not isinstance(value, str | int | float):
                    continue
                if word := spelled(value):
                    texts = zip(_PLACES, (user, results), strict=False)
                    mentions = (place for place, text in texts if mention(word, text) is not None)
                    self._values[next(mentions, _PLACES[-1])] += 1

    def sets(self) -> dict[str, list[Metric]]:
        """The numbers of each set, the largest first, and of all; none where all records are of one set, or of more
        than `MAX_SETS`."""
        if not 1 < len(self._sets) <= MAX_SETS:
            return {}
        largest = sorted(self._sets.items(), key=lambda entry: (-entry[1].records, entry[0]))
        total = SetStats()
        for stats in self._sets.values():
            for name in SetStats.__slots__:
                setattr(total, name, getattr(total, name) + getattr(stats, name))
        rows = {**{f"set {name}": counts for name, counts in largest}, ALL_SETS: total}
        return {group: list(counts.metrics(group, self._records)) for group, counts in rows.items()}

    def metrics(self) -> Iterator[Metric]:
        """The numbers, group by group."""
        n, calls = self._records, self._tools.total()
        yield from count_metrics("size", {"records": n, "results": self._results}, total=n)
        yield from _spread("size", "turns", self._turns)
        yield from _spread("size", "user turns", self._user_turns)
        for name in _CALL_KINDS:
            yield share_metric("records", name, self._calls[name], n)
        yield share_metric(
            "records", f"with an argument last said {FAR_TURNS} turns back or more", self._long, n
        )
        yield share_metric("replies", "texts that ask back, before any call", self._questions, self._texts)
        yield from count_metrics("calls", {"calls": calls, "different tools": len(self._tools)}, total=calls)
        yield mean_metric("calls", "calls per tool", list(self._tools.values()))
        top = sum(count for _, count in self._tools.most_common(10))
        yield share_metric("calls", "of the ten commonest tools", top, calls)
        for name in (*(name for _, name in _OFFERED), _MORE):
            yield share_metric("tools offered", name, self._offered[name], n)
        yield from _shares("argument types", self._types)
        for name in _PLACES:
            yield share_metric("argument values occur in", name, self._values[name], self._values.total())
        yield from _spread("length", "characters", self._characters)
        tokens = "tokens" if self._tokens else "tokens, estimated"
        yield from _spread("length", tokens, self._lengths)
        for most in TOKEN_LENGTHS:
            longer = sum(length > most for length in self._lengths)
            yield share_metric("length", f"more than {most:,} {tokens}", longer, n)
        yield from _shares("script of the user texts", self._scripts)


@dataclass(frozen=True, slots=True)
class FileStats:
    """The numbers of a training file."""

    metrics: list[Metric]
    sets: dict[str, list[Metric]]
    """By `set NAME` and for `all sets`, where the file has several."""
    check: FileCheck


def training_stats(path: Path, tokens: Callable[[str], int] | None = None) -> FileStats:
    """The numbers of a training file, and the counts of its check. Raises DataError."""
    stats, check, rules = TrainingStats(tokens), FileCheck(), Counter[str]()
    origin = origin_of(path)

    def take(record: TrainingRecord) -> None:
        stats.add(record, origin(record))

    for finding in check_training_file(path, check, tokens=tokens, take=take):
        rules[finding.rule] += 1
    metrics = [*stats.metrics(), *count_metrics("findings", dict(sorted(rules.items())))]
    return FileStats(metrics, stats.sets(), check)


def _visible_texts(record: TrainingRecord) -> Iterator[str]:
    yield record.system or ""
    if record.tools:
        yield dumps(record.tools).decode("utf-8", "replace")
    for turn in record.told_turns:
        if isinstance(turn, UserTurn):
            yield turn.text
        elif isinstance(turn, ResultTurn):
            yield from (result.text for result in turn.results)
        else:
            yield turn.text or ""
            yield from (f"{call.name} {call.arguments_text}" for call in turn.calls)


def _script(texts: Sequence[str]) -> str:
    """The commonest script among the first letters of some texts."""
    letters = [c for text in texts for c in text[:_LETTERS] if c.isalpha()][:_LETTERS]
    if all(c.isascii() for c in letters):
        return "Latin" if letters else "none"
    words = (unicodedata.name(c, "?").partition(" ")[0] for c in letters)
    return Counter(_SCRIPTS.get(word, "another") for word in words).most_common(1)[0][0]


def _shares(group: str, counts: Counter[str]) -> Iterator[Metric]:
    for name, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        yield share_metric(group, name, count, counts.total())


def _spread(group: str, name: str, values: Sequence[int]) -> Iterator[Metric]:
    """Mean, median and 95 % point of numbers."""
    yield mean_metric(group, f"{name}: mean", values)
    if len(values):
        ranked = sorted(values)
        middle, high = median(ranked), ranked[int(0.95 * len(ranked))]
        yield Metric(group, f"{name}: median", middle, middle, 1, kind="mean")
        yield Metric(group, f"{name}: 95 %", high, high, 1, kind="mean")
