"""Looks for the texts of benchmarks in training records: an index of the benchmarks in memory, records one at a time."""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from wildtool.json_codec import as_object
from wildtool.toolcall.text.normal_form import normal_form
from wildtool.training.record import TrainingRecord
from wildtool.training.tokens import (
    CONTAINED_TOKENS,
    SHORTEST_CONTAINED,
    OverlapFlag,
    TextOverlap,
    compare_tokens,
    sequences,
    word_tokens,
)
from wildtool_data.prepare.overlap.benchmark import (
    BenchmarkItem,
    OverlapKind,
    ToolSignature,
    call_text,
    tool_signature,
)

# From Unicode's confusables.txt: letters and digits of living scripts whose look-alike is one ASCII character, unless
# NFKC reads them already. Besides them, small letters that Unicode takes for small capitals, such as Cyrillic в, к and т.
_LOOKALIKES = {
    "2": "\u01a7\u03e8\ua644\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab",
    "4": "\u13ce",
    "5": "\u01bc",
    "6": "\u0431\u13ee\u2cd2",
    "8": "\u0222\u0223",
    "9": "\u2cca\ua76e",
    "a": "\u0251\u0391\u03b1\u0410\u0430\u13aa\ua4ee",
    "b": "\u0184\u0392\u03b2\u0412\u042c\u0432\u13cf\u13f4\ua4d0\ua7b4",
    "c": "\u0421\u0441\u13df\u1d04\u2ca4\u2ca5\ua4da\uabaf",
    "d": "\u0501\u13a0\u13e7\ua4d2\ua4d3",
    "e": "\u0395\u03b5\u0415\u0435\u04bd\u13ac\ua4f0\uab32",
    "f": "\u03dc\u0584\u1e9d\ua4dd\ua798\ua799\uab35",
    "g": "\u018d\u0261\u050c\u0581\u13c0\u13f3\u1d83\ua4d6",
    "h": "\u0397\u041d\u043d\u04bb\u0570\u13bb\u13c2\u2c8e\ua4e7",
    "i": "\u0131\u0196\u0269\u026a\u0399\u03b9\u0406\u0456\u04c0\u04cf\u13a5\u2c92\ua4f2\ua647\uab75",
    "j": "\u037f\u03f3\u0408\u0458\u13ab\ua4d9\ua7b2",
    "k": "\u0138\u039a\u03ba\u041a\u043a\u13e6\u2c94\ua4d7",
    "l": "\u01c0\u13de\u2cd0\ua4e1",
    "m": "\u039c\u03fa\u041c\u043c\u13b7\u2c98\ua4df",
    "n": "\u039d\u03b7\u043f\u0578\u057c\u2c9a\ua4e0",
    "o": "\u039f\u03bf\u03c3\u041e\u043e\u0555\u0585\u1d0f\u1d11\u2c9e\u2c9f\ua4f3\uab3d",
    "p": "\u03a1\u03c1\u0420\u0440\u13e2\u2ca2\u2ca3\ua4d1",
    "q": "\u051b\u0563\u0566",
    "r": "\u01a6\u0433\u13a1\u13d2\u1d26\u2c85\ua4e3\uab47\uab48\uab81",
    "s": "\u01bd\u0405\u0455\u054f\u13d5\u13da\ua4e2\ua731\uabaa",
    "t": "\u03a4\u03c4\u0422\u0442\u13a2\u2ca6\ua4d4",
    "u": "\u028b\u03bc\u03c5\u0438\u054d\u057d\u1d1c\ua4f4\ua79f\uab4e\uab52",
    "v": "\u03bd\u0474\u0475\u13d9\u1d20\ua4e6\uaba9",
    "w": "\u026f\u03c9\u0448\u0461\u051c\u051d\u0561\u13b3\u13d4\u1d21\ua4ea\uab83",
    "x": "\u03a7\u03c7\u0425\u0445\u2cac\ua4eb\ua7b3",
    "y": "\u0263\u028f\u03a5\u03b3\u0423\u0443\u04ae\u04af\u13a9\u13bd\u1d8c\u1eff\u2ca8\ua4ec\uab5a",
    "z": "\u0396\u03b6\u13c3\u1d22\ua4dc\uab93",
}
_AS_SEEN = {ord(letter): latin for latin, letters in _LOOKALIKES.items() for letter in letters}
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
"""Marks above, below and through letters of these scripts."""
_MARK = re.compile(f"[{_MARKS}]")
_LETTERS = "".join(map(chr, _AS_SEEN))
_FOLDED = re.compile(f"[{_MARKS}{_LETTERS}{''.join(c for c in _LETTERS.upper() if not c.isascii())}]")


def token_readings(text: str) -> list[tuple[str, ...]]:
    """The tokens of a text as written, and as it looks where letters of other scripts or marks make that differ."""
    spelled = tuple(word_tokens(text))
    if text.isascii():
        return [spelled]
    parts = normal_form("NFKD", text)
    if _FOLDED.search(parts) is None:
        return [spelled]
    # Capitals first: Greek capital eta looks like H, its small letter like n.
    visible = _MARK.sub("", parts).translate(_AS_SEEN).casefold().translate(_AS_SEEN)
    as_seen = tuple(word_tokens(normal_form("NFC", visible)))
    return [spelled] if as_seen == spelled else [spelled, as_seen]


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
            for item_text in item.texts:
                result.texts += 1
                readings = token_readings(item_text.text)
                result.short += len(readings[0]) < SHORTEST_CONTAINED
                for tokens in readings:
                    if len(tokens) >= SHORTEST_CONTAINED:
                        self._index(number, item.id, item_text.kind, item_text.text, tokens)
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
        for eight in eights:
            self._eights.setdefault(eight, []).append(place)
        if not eights:
            self._short.setdefault((kind, *tokens[:SHORTEST_CONTAINED]), []).append(place)

    def look(self, record: TrainingRecord) -> OverlapFlag:
        """Notes what a record has in common with the benchmarks; the clearest flag."""
        clearest: dict[int, OverlapFlag] = {}
        for part, text in _texts_of(record):
            for indexed, overlap in self._overlaps("call" if part == "call" else "user", text):
                self._note(indexed, overlap, part, text, record)
                clearest[indexed.benchmark] = _clearest(
                    (overlap.flag, clearest.get(indexed.benchmark, "clean"))
                )
        for benchmark, flag in clearest.items():
            self.results[benchmark].rows[flag] += 1
        for function in record.functions:
            tool = tool_signature(function["name"], function.get("parameters"))
            for benchmark in self._tools.get(tool, ()):
                self.results[benchmark].seen_tools.add(tool[0])
        return _clearest(clearest.values())

    def _overlaps(self, kind: OverlapKind, text: str) -> Iterator[tuple[_Indexed, TextOverlap]]:
        """The texts of benchmarks that a training text is like, each with its clearest overlap of all readings."""
        overlaps: dict[tuple[int, str, str], tuple[_Indexed, TextOverlap]] = {}
        for tokens in token_readings(text):
            for place in self._candidates(kind, tokens):
                indexed = self._texts[place]
                overlap = compare_tokens(indexed.tokens, tokens)
                key = indexed.benchmark, indexed.item, indexed.text
                if overlap.flag != "clean" and (
                    key not in overlaps
                    or _clearest((overlap.flag, overlaps[key][1].flag)) != overlaps[key][1].flag
                ):
                    overlaps[key] = indexed, overlap
        return iter(overlaps.values())

    def _candidates(self, kind: OverlapKind, tokens: Sequence[str]) -> list[int]:
        """The texts that may be flagged beside a training text."""
        shared: Counter[int] = Counter()
        for part in {hash((kind, *part)) for part in sequences(tokens, CONTAINED_TOKENS)}:
            shared.update(self._eights.get(part, ()))
        # Fewer shared sequences are neither half of the text nor 13 tokens in a row; texts with an index of 0.8 over
        # sequences of 5 share far more than half of those of 8.
        places = [
            place
            for place, count in shared.items()
            if count >= _LONG_RUN or 2 * count >= self._texts[place].eights or self._texts[place].repeats
        ]
        for start in sequences(tokens, SHORTEST_CONTAINED):
            places += self._short.get((kind, *start), ())
        return sorted(set(places))

    def _note(
        self, indexed: _Indexed, overlap: TextOverlap, part: SearchedPart, text: str, record: TrainingRecord
    ) -> None:
        result = self.results[indexed.benchmark]
        result.touched[indexed.item] = _clearest((overlap.flag, result.touched.get(indexed.item, "clean")))
        pair = OverlapPair(
            benchmark=result.benchmark,
            item=indexed.item,
            kind=indexed.kind,
            flag=overlap.flag,
            share8=overlap.share8,
            jaccard5=overlap.jaccard5,
            common13=overlap.common13,
            place=f"{record.source}:{record.row}",
            part=part,
            benchmark_text=indexed.text,
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
    present = set(flags)
    for flag in FLAGS:
        if flag in present:
            return flag
    return "clean"
