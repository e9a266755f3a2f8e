"""Looks for the texts of benchmarks in training records: an index of the benchmarks in memory, records one at a time."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from wildtool.json_codec import as_object
from wildtool.training.overlap.benchmark import (
    BenchmarkItem,
    OverlapKind,
    ToolSignature,
    call_text,
    tool_signature,
)
from wildtool.training.overlap.lookalikes import token_readings
from wildtool.training.record import TrainingRecord
from wildtool.training.tokens import (
    CONTAINED_TOKENS,
    SHORTEST_CONTAINED,
    OverlapFlag,
    TextOverlap,
    compare_tokens,
    sequences,
)

FLAGS: tuple[OverlapFlag, ...] = ("exact", "near", "long", "contained")
"""From the clearest to the weakest."""
REMOVED_FLAGS: tuple[OverlapFlag, ...] = ("exact", "near", "long")
"""Flags whose records `data mix` leaves out by default."""
WORST_PAIRS = 10
SearchedPart = Literal["user", "call", "reply", "system"]
"""Where in a training record a text is. User texts of a benchmark are looked for in all but calls, its calls in calls."""
_LONG_RUN = 6
"""Sequences of 8 tokens in one of 13."""


@dataclass(frozen=True, slots=True)
class OverlapPair:
    """A benchmark's text and the text of a training record that is like it."""

    benchmark: str
    item: str
    kind: OverlapKind
    flag: OverlapFlag
    share8: float
    jaccard5: float
    common13: bool
    place: str
    """File and row of the record."""
    part: SearchedPart
    benchmark_text: str
    training_text: str

    @property
    def closeness(self) -> tuple[int, float, float]:
        """Larger for worse pairs."""
        return -FLAGS.index(self.flag), self.jaccard5, self.share8


@dataclass(slots=True)
class BenchmarkOverlap:
    """What training files have in common with one benchmark."""

    benchmark: str
    items: int = 0
    texts: int = 0
    short: int = 0
    """Texts of fewer than 3 tokens, such as `Yes`, which are not looked for."""
    touched: dict[str, OverlapFlag] = field(default_factory=dict[str, OverlapFlag])
    """Item to the clearest flag of its texts."""
    rows: Counter[OverlapFlag] = field(default_factory=Counter[OverlapFlag])
    """Training records by their clearest flag."""
    seen_tools: set[str] = field(default_factory=set[str])
    """Names of its tools that occur in training with the same parameter names."""
    tools: int = 0
    kept: list[tuple[tuple[int, float, float], int, OverlapPair]] = field(
        default_factory=list[tuple[tuple[int, float, float], int, OverlapPair]]
    )

    def pairs(self) -> list[OverlapPair]:
        """The pairs that were kept, the worst first."""
        return [pair for _, _, pair in sorted(self.kept, key=lambda entry: entry[:2], reverse=True)]


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A text of a benchmark in the index."""

    benchmark: int
    item: str
    kind: OverlapKind
    text: str
    tokens: tuple[str, ...]
    eights: int
    """Different sequences of 8 tokens."""
    repeats: bool
    """Whether a sequence comes twice, so that counting different ones says little about runs."""


class OverlapSearch:
    """Benchmarks whose texts are looked for."""

    def __init__(self, keep: float = WORST_PAIRS) -> None:
        """
        Args:
            keep: pairs of each benchmark to keep, the worst ones; `inf` for all.
        """
        self.keep = keep
        self.results: list[BenchmarkOverlap] = []
        self._texts: list[_Indexed] = []
        self._eights: dict[int, list[int]] = {}
        """Hash of kind and 8 tokens to the texts that have them."""
        self._short: dict[tuple[str, ...], list[int]] = {}
        """Kind and first 3 tokens of texts of 3 to 7 tokens to these texts."""
        self._tools: dict[ToolSignature, set[int]] = {}
        self._found = 0

    def add(self, name: str, items: Iterable[BenchmarkItem]) -> None:
        """Adds the items of a benchmark."""
        result, number = BenchmarkOverlap(name), len(self.results)
        self.results.append(result)
        names: set[ToolSignature] = set()
        for item in items:
            result.items += 1
            for found in item.texts:
                result.texts += 1
                readings = token_readings(found.text)
                result.short += len(readings[0]) < SHORTEST_CONTAINED
                for tokens in readings:
                    if len(tokens) >= SHORTEST_CONTAINED:
                        self._index(number, item.id, found.kind, found.text, tokens)
            names |= item.tools
        result.tools = len(names)
        for tool in names:
            self._tools.setdefault(tool, set()).add(number)

    def _index(
        self, benchmark: int, item: str, kind: OverlapKind, text: str, tokens: tuple[str, ...]
    ) -> None:
        eights = {hash((kind, *part)) for part in sequences(tokens, CONTAINED_TOKENS)}
        repeats = len(eights) < len(tokens) - CONTAINED_TOKENS + 1
        place = len(self._texts)
        self._texts.append(_Indexed(benchmark, item, kind, text, tokens, len(eights), repeats))
        for found in eights:
            self._eights.setdefault(found, []).append(place)
        if not eights:
            self._short.setdefault((kind, *tokens[:SHORTEST_CONTAINED]), []).append(place)

    def look(self, record: TrainingRecord) -> OverlapFlag:
        """Notes what a record has in common with the benchmarks; the clearest flag."""
        clearest: dict[int, OverlapFlag] = {}
        for part, text in _texts_of(record):
            for known, overlap in self._overlaps("call" if part == "call" else "user", text):
                self._note(known, overlap, part, text, record)
                clearest[known.benchmark] = _clearer(overlap.flag, clearest.get(known.benchmark))
        for benchmark, flag in clearest.items():
            self.results[benchmark].rows[flag] += 1
        for function in record.functions if self._tools else ():
            tool = tool_signature(function["name"], function.get("parameters"))
            for benchmark in self._tools.get(tool, ()):
                self.results[benchmark].seen_tools.add(tool[0])
        return _clearest(clearest.values())

    def _overlaps(self, kind: OverlapKind, text: str) -> Iterator[tuple[_Indexed, TextOverlap]]:
        """The texts of benchmarks that a training text is like, each with its clearest overlap of all readings."""
        overlaps: dict[tuple[int, str, str], tuple[_Indexed, TextOverlap]] = {}
        for tokens in token_readings(text):
            for place in self._candidates(kind, tokens):
                known = self._texts[place]
                overlap = compare_tokens(known.tokens, tokens)
                key = known.benchmark, known.item, known.text
                if overlap.flag != "clean" and (
                    key not in overlaps
                    or _clearest((overlap.flag, overlaps[key][1].flag)) != overlaps[key][1].flag
                ):
                    overlaps[key] = known, overlap
        return iter(overlaps.values())

    def _candidates(self, kind: OverlapKind, tokens: Sequence[str]) -> list[int]:
        """The texts that may be flagged beside a training text."""
        shared: Counter[int] = Counter()
        index = self._eights
        for part in {hash((kind, *part)) for part in sequences(tokens, CONTAINED_TOKENS)}:
            if part in index:
                shared.update(index[part])
        # Fewer shared sequences are neither half of the text nor 13 tokens in a row; texts with an index of 0.8 over
        # sequences of 5 share far more than half of those of 8.
        found = [
            place
            for place, count in shared.items()
            if count >= _LONG_RUN or 2 * count >= self._texts[place].eights or self._texts[place].repeats
        ]
        for start in sequences(tokens, SHORTEST_CONTAINED):
            found += self._short.get((kind, *start), ())
        return sorted(set(found))

    def _note(
        self, known: _Indexed, overlap: TextOverlap, part: SearchedPart, text: str, record: TrainingRecord
    ) -> None:
        result = self.results[known.benchmark]
        result.touched[known.item] = _clearer(overlap.flag, result.touched.get(known.item))
        pair = OverlapPair(
            benchmark=result.benchmark,
            item=known.item,
            kind=known.kind,
            flag=overlap.flag,
            share8=overlap.share8,
            jaccard5=overlap.jaccard5,
            common13=overlap.common13,
            place=f"{record.source}:{record.row}",
            part=part,
            benchmark_text=known.text,
            training_text=text,
        )
        self._found += 1
        entry = (pair.closeness, -self._found, pair)  # of equals the first found stays
        if len(result.kept) < self.keep:
            heapq.heappush(result.kept, entry)
        else:
            heapq.heappushpop(result.kept, entry)


def _texts_of(record: TrainingRecord) -> Iterator[tuple[SearchedPart, str]]:
    for text in record.user_texts:
        yield "user", text
    if record.system:
        yield "system", record.system
    for reply in record.replies:
        for text in (reply.text, reply.reasoning):
            if text:
                yield "reply", text
    for call in record.calls:
        yield "call", call_text(call.name, as_object(call.arguments))


def _clearest(flags: Iterable[OverlapFlag]) -> OverlapFlag:
    found = set(flags)
    for flag in FLAGS:
        if flag in found:
            return flag
    return "clean"


def _clearer(flag: OverlapFlag, other: OverlapFlag | None) -> OverlapFlag:
    return flag if other is None else _clearest((flag, other))
