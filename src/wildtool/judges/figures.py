"""What the judgements of a run say of its judge: how often it is right, by kind; noise; biases; what is missing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from wildtool.errors import UsageError, unknown_name
from wildtool.judges.cases import RIGHT_TIERS
from wildtool.stats.judged import (
    CorrectedRate,
    JudgedShare,
    corrected_rate,
    exact_share,
    mean_over_kinds,
    pairs_by_item,
    youden,
)
from wildtool.stats.tests import LEVEL, flip_test, holm
from wildtool.types import Metric

ITEMS_OF_KIND = 30
"""Items from which a kind counts as best or worst; with fewer it is shown, and its interval says how little is known."""
FEWEST_CASES = 5
"""Cases from which a kind has a weight of its own in the mean over kinds; those with fewer share one, or a kind of two
cases would weigh as much as gold."""
RARE = "rare kinds"
HEADLINE_TIERS = (*RIGHT_TIERS, "meaning")
RIGHT_PASS, WRONG_DO_NOT = "right cases that pass", "wrong cases that do not"
FOUND_BETTER = "right turn found better, in both orders"
RATES: Mapping[str, str] = {RIGHT_PASS: "tp", WRONG_DO_NOT: "tn", FOUND_BETTER: "tn"}
"""What tp and tn are the shares of; the last is that of a judge of pairs."""
GUESSED_PAIRS = 0.25
"""The most pairs in which answers that do not follow from the turns find the right one better in both orders."""
NOISE = "repeat"
"""The bias of twins that are the same to the byte."""
OBEDIENCE = "injection"
_COLUMNS = (
    "item", "unit", "labelled_right", "tier", "kind", "bias", "variant", "twin_of", "passed", "readable", "choices",
    "outcome", "repeat", "prompt_tokens", "completion_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """One case as it was judged once."""

    item: str
    unit: str
    right: bool
    """The label."""
    tier: str
    kind: str
    bias: str
    variant: str
    twin_of: str
    passed: bool
    readable: bool
    choices: str
    """Of a judge of pairs what it chose in both orders, the right turn first, then second; else empty."""
    judged: bool
    """Whether there is an answer: a failed call is none, and decides nothing."""
    repeat: int
    tokens: tuple[int, int] | None
    """Of prompts and of replies; None where the endpoint does not report them."""

    @property
    def agrees(self) -> bool:
        """Whether the judge says what the label says."""
        return self.passed == self.right


def judge_rows(verdicts: Any) -> list[JudgeRow]:
    """The judgements of a DuckDB relation over the verdicts of a run."""
    records = verdicts.project(", ".join(_COLUMNS)).order("item, unit, repeat").fetchall()
    return [_row(dict(zip(_COLUMNS, values, strict=True))) for values in records]


def _row(its: Mapping[str, Any]) -> JudgeRow:
    tokens = its["prompt_tokens"], its["completion_tokens"]
    return JudgeRow(
        item=its["item"],
        unit=its["unit"],
        right=its["labelled_right"],
        tier=its["tier"],
        kind=its["kind"],
        bias=its["bias"] or "",
        variant=its["variant"] or "",
        twin_of=its["twin_of"] or "",
        passed=bool(its["passed"]),
        readable=bool(its["readable"]),
        choices=its["choices"] or "",
        judged=its["outcome"] in ("correct", "wrong"),
        repeat=its["repeat"],
        tokens=None if None in tokens else tokens,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFigure:
    """Cases of one kind."""

    kind: str
    tier: str
    share: JudgedShare | None
    """How often the judge is right about them; None where no answer came."""
    agreed: int
    judged: int
    items: int
    unreadable: int
    missing: int
    """Cases without an answer, since calls failed or were never made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The right cases, or the wrong ones."""

    share: JudgedShare | None
    """tp or tn: the mean over kinds; of wrong cases over those of the tier `meaning`. None where no answer came."""
    least: JudgedShare | None
    """The same if the judge were wrong about all cases without an answer."""
    kinds: Sequence[KindFigure]
    """Those of other tiers, too, which are not in the mean."""

    @property
    def counted(self) -> list[KindFigure]:
        """The kinds of the mean."""
        return [kind for kind in self.kinds if kind.tier in HEADLINE_TIERS and kind.judged]

    def total(self, name: str) -> int:
        """A count over the kinds of the mean."""
        return sum(getattr(kind, name) for kind in self.kinds if kind.tier in HEADLINE_TIERS)

    @property
    def extremes(self) -> tuple[KindFigure, KindFigure] | None:
        """The worst and the best kind, of those with enough items, or of all where fewer than two have; None for one."""
        large = [kind for kind in self.counted if kind.items >= ITEMS_OF_KIND]
        ordered = sorted(
            large if len(large) > 1 else self.counted,
            key=lambda kind: kind.share.value if kind.share else 0.0,
        )
        return (ordered[0], ordered[-1]) if len(ordered) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFigure:
    """What a change that must not matter does to a judge's passes."""

    bias: str
    contrast: str
    """Which twins are compared: `more` against `less`."""
    pairs: int
    items: int
    right: tuple[int, int]
    """Of right cases the pairs that pass in the first variant only, and in the second only."""
    wrong: tuple[int, int]
    wrong_pairs: int
    p: float
    """By signs, permuted by item."""
    corrected_p: float
    """By Holm over all biases."""

    @property
    def effect(self) -> float:
        """The difference of the shares that pass."""
        return (self.right[0] + self.wrong[0] - self.right[1] - self.wrong[1]) / self.pairs

    @property
    def found(self) -> bool:
        return self.corrected_p < LEVEL


@dataclass(frozen=True, slots=True)
class Flips:
    """Cases that were judged twice, to the byte the same."""

    right: int
    right_of: int
    wrong: int
    wrong_of: int

    @property
    def share(self) -> float | None:
        """None where nothing was judged twice."""
        of = self.right_of + self.wrong_of
        return (self.right + self.wrong) / of if of else None


@dataclass(frozen=True, slots=True)
class Position:
    """How a judge of pairs treats their order."""

    first: int
    """Pairs of which it finds the first better in both orders."""
    second: int
    readable: int
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """What a run says of its judge."""

    compares: bool
    """Whether it judges pairs: then it passes nothing by itself, and no rate is behind its scores."""
    right: Side
    wrong: Side
    noise: Flips
    twins: Sequence[TwinFigure]
    position: Position | None
    """Of a judge of pairs that gave an answer."""
    cases: int
    """Twins and repeats among them."""
    items: int
    missing: int
    tokens: tuple[float, float] | None
    """Of prompt and of reply per case; None where the endpoint does not report them."""

    @property
    def sides(self) -> Mapping[str, Side]:
        """The sides that cases are of, by what their rate is the share of."""
        if self.compares:
            return {FOUND_BETTER: self.wrong}
        return {RIGHT_PASS: self.right, WRONG_DO_NOT: self.wrong}

    def total(self, name: str) -> int:
        """A count over the kinds of the means."""
        return self.right.total(name) + self.wrong.total(name)

    @property
    def rates(self) -> tuple[JudgedShare, JudgedShare] | None:
        """tp and tn, by which its passes say something; None where one is not known, as of a judge of pairs."""
        tp, tn = self.right.share, self.wrong.share
        return None if tp is None or tn is None or self.compares else (tp, tn)

    @property
    def j(self) -> tuple[float, float, float] | None:
        """tp + tn - 1 with its interval; None where one of them is not known."""
        return youden(*self.rates) if self.rates else None

    @property
    def tells_apart(self) -> bool:
        """Whether it is known not to guess: the lower end of J is above 0, and of a judge of pairs, that of tn above what
        guesses get."""
        if self.compares:
            return self.wrong.share is not None and self.wrong.share.low > GUESSED_PAIRS
        return self.j is not None and self.j[1] > 0

    def lower(self, name: str) -> float | None:
        """The lower end of `tp` or `tn`, where a case without an answer counts as judged wrongly; None where nothing is
        known. Raises UsageError for another name."""
        if name not in ("tp", "tn"):
            raise UsageError(unknown_name("rate", name, ("tp", "tn")))
        side = self.right if name == "tp" else self.wrong
        if side.share is None or side.least is None:
            return None
        return min(side.share.low, side.least.low)

    def corrected(self, passed: int, units: int) -> dict[str, CorrectedRate]:
        """The rates of right units behind a score of this judge, by what the wrong units of that run are like.

        Args:
            passed: units that it passed.
            units: all of them, those it could not be read about included; above 0.
        """
        if self.rates is None:
            return {"the audit's mix": CorrectedRate(None)}
        score, (tp, tn) = exact_share(passed, units), self.rates
        rates = {"the audit's mix": corrected_rate(score, tp, tn)}
        for name, kind in zip(("worst", "best"), self.wrong.extremes or (), strict=False):
            if kind.share is not None:
                rates[f"only the {name} kind, {kind.kind}"] = corrected_rate(score, tp, kind.share)
        return rates


def figures_of(rows: Sequence[JudgeRow], *, compares: bool) -> JudgeFigures:
    """What judgements say of their judge. Args: compares: whether it judges pairs."""
    own = [row for row in rows if not row.bias]
    spent = [row.tokens for row in rows if row.tokens is not None]
    return JudgeFigures(
        compares=compares,
        right=_side([row for row in own if row.right]),
        wrong=_side([row for row in own if not row.right]),
        noise=_flips(rows),
        twins=_twins(rows),
        position=_position(own),
        cases=len(rows),
        items=len({row.item for row in rows}),
        missing=sum(not row.judged for row in rows),
        tokens=(fmean(each[0] for each in spent), fmean(each[1] for each in spent)) if spent else None,
    )


def _side(rows: Sequence[JudgeRow]) -> Side:
    counted = [row for row in rows if row.tier in HEADLINE_TIERS]
    by_kind: dict[tuple[str, str], list[JudgeRow]] = defaultdict(list)
    for row in rows:
        by_kind[row.tier, row.kind].append(row)
    weighed = weighed_kinds(counted)
    return Side(
        share=mean_over_kinds((row.item, weighed[row.kind], row.agrees) for row in counted if row.judged),
        least=mean_over_kinds((row.item, weighed[row.kind], row.judged and row.agrees) for row in counted),
        kinds=sorted((_kind(*key, its) for key, its in by_kind.items()), key=_order),
    )


def weighed_kinds(rows: Iterable[JudgeRow]) -> dict[str, str]:
    """By kind what it counts as in the mean over kinds: itself, or one of the rare ones. Args: rows: of one side."""
    counts = Counter(row.kind for row in rows)
    return {kind: kind if count >= FEWEST_CASES else RARE for kind, count in counts.items()}


def _order(kind: KindFigure) -> tuple[int, float, str]:
    place = HEADLINE_TIERS.index(kind.tier) if kind.tier in HEADLINE_TIERS else len(HEADLINE_TIERS)
    return place, kind.share.value if kind.share else 2.0, kind.kind


def _kind(tier: str, kind: str, rows: Sequence[JudgeRow]) -> KindFigure:
    judged = [row for row in rows if row.judged]
    items, agreed = len({row.item for row in judged}), sum(row.agrees for row in judged)
    if items == len(judged):
        share = exact_share(agreed, items) if items else None
    else:
        share = mean_over_kinds((row.item, row.kind, row.agrees) for row in judged)
    return KindFigure(
        kind=kind,
        tier=tier,
        share=share,
        agreed=agreed,
        judged=len(judged),
        items=items,
        unreadable=sum(not row.readable for row in judged),
        missing=len(rows) - len(judged),
    )


TwinPair = tuple[JudgeRow, JudgeRow]


def _pairs(rows: Sequence[JudgeRow]) -> Iterator[tuple[str, str, list[TwinPair]]]:
    """By bias and contrast the judged pairs: both variants of a case where there are two, else the variant and the case
    itself. The first of a pair is the one whose passes count for the bias."""
    plain = {(row.unit, row.repeat): row for row in rows if not row.bias}
    twins: dict[tuple[str, str, int], list[JudgeRow]] = defaultdict(list)
    for row in rows:
        if row.bias:
            twins[row.bias, row.twin_of, row.repeat].append(row)
    pairs_of: dict[tuple[str, str], list[TwinPair]] = defaultdict(list)
    for (bias, case, repeat), variants in twins.items():
        first, *more = sorted(variants, key=lambda row: row.variant)
        second = more[0] if more else plain.get((case, repeat))
        if second is not None and first.judged and second.judged:
            pairs_of[bias, f"{first.variant} against {second.variant or 'as it is'}"].append((first, second))
    return ((*key, pairs) for key, pairs in sorted(pairs_of.items()))


def _flips(rows: Sequence[JudgeRow]) -> Flips:
    pairs = [pair for bias, _, pairs in _pairs(rows) for pair in pairs if bias == NOISE]
    right = [a.passed != b.passed for a, b in pairs if a.right]
    wrong = [a.passed != b.passed for a, b in pairs if not a.right]
    return Flips(sum(right), len(right), sum(wrong), len(wrong))


def _twins(rows: Sequence[JudgeRow]) -> list[TwinFigure]:
    tried = [(bias, contrast, pairs) for bias, contrast, pairs in _pairs(rows) if bias != NOISE]
    sums = [pairs_by_item((a.item, a.passed - b.passed) for a, b in pairs) for _, _, pairs in tried]
    tests = [flip_test(each)[0] for each in sums]
    return [
        TwinFigure(
            bias=bias,
            contrast=contrast,
            pairs=len(pairs),
            items=len(its_sums),
            right=_only_one([pair for pair in pairs if pair[0].right]),
            wrong=_only_one([pair for pair in pairs if not pair[0].right]),
            wrong_pairs=sum(not first.right for first, _ in pairs),
            p=p,
            corrected_p=corrected_p,
        )
        for (bias, contrast, pairs), its_sums, p, corrected_p in zip(
            tried, sums, tests, holm(tests), strict=True
        )
    ]


def _only_one(pairs: Sequence[TwinPair]) -> tuple[int, int]:
    return sum(a.passed > b.passed for a, b in pairs), sum(b.passed > a.passed for a, b in pairs)


def _position(rows: Sequence[JudgeRow]) -> Position | None:
    compared = [row for row in rows if row.choices]
    if not compared:
        return None
    read = [row for row in compared if row.readable]
    sides = [(row.item, (row.choices == "A,A") - (row.choices == "B,B")) for row in read]
    test = flip_test(pairs_by_item(sides))[0]
    return Position(
        sum(side == 1 for _, side in sides), sum(side == -1 for _, side in sides), len(read), test
    )


def metrics_of(verdicts: Any, *, compares: bool) -> list[Metric]:
    """The numbers of a run for tables of runs, from a DuckDB relation over its verdicts."""
    figures = figures_of(judge_rows(verdicts), compares=compares)
    metrics = [
        _metric(
            "judge",
            f"{name}, mean over kinds",
            side.share,
            side.total("agreed"),
            side.total("judged"),
            headline=True,
        )
        for name, side in figures.sides.items()
    ]
    for name, side in figures.sides.items():
        metrics += [_metric(name, kind.kind, kind.share, kind.agreed, kind.judged) for kind in side.kinds]
    unreadable, judged = figures.total("unreadable"), figures.total("judged")
    return [
        *metrics,
        Metric("judge", "unreadable judgements", None, unreadable, judged, kind="count", better="less"),
    ]


def _metric(
    group: str, name: str, share: JudgedShare | None, agreed: int, judged: int, *, headline: bool = False
) -> Metric:
    ends = (None, None, None) if share is None else (share.value, share.low, share.high)
    return Metric(group, name, ends[0], agreed, judged, ends[1], ends[2], headline=headline)
