"""The order of comparable runs, best first: ranks, runs that cannot be told apart, and the finding in words.

Terminals, pages, `compare` and the board all take it from here. Runs are ordered by the headline. Two runs are told apart
by the paired test of the units that both hold (`pairs`), corrected by Holm's method over all pairs of ranked runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from wildtool.engine.compare.leaderboard import headline
from wildtool.engine.compare.pairs import (
    MAX_COMPARED_MODELS,
    PairwiseResult,
    UnitScores,
    compare_all_pairs,
)
from wildtool.engine.score.explain import metric_named
from wildtool.engine.score.formatting import (
    counted,
    first_names,
    format_counts,
    format_open,
    format_points,
    format_range,
    format_rate_ends,
    format_test,
    format_value,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.sanitize import single_line
from wildtool.stats.metrics import best_first
from wildtool.stats.tests import LEVEL, holm, smallest_p
from wildtool.types import Metric

Pairs = Mapping[tuple[int, int], PairwiseResult]
"""(baseline, run), by their places among the runs, to how the run compares."""
TIES_NOTE = (
    "Tied (=): no two models of one rank can be told apart by the paired difference of accuracy on the same units (exact"
    " test by item, Holm's correction over all pairs of ranked models)."
)
_MOST_NAMED = 3
"""Runs that a sentence names; of more it gives the number."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of one run among comparable ones."""

    rank: str
    """Such as `1`, with `=` where it is shared; empty where it has none."""
    tied: str
    """How it compares with the one above, where they cannot be told apart; else empty."""
    unranked: str
    """Why it has no rank; else empty."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Comparable runs by rank."""

    standings: tuple[Standing, ...]
    """Of each run, as they were given."""
    order: tuple[int, ...]
    """Their places in the order of `order_of`."""
    groups: tuple[tuple[int, int], ...]
    """First and last place, from 1, of runs next to each other of which no two can be told apart; those of one are left
    out."""
    finding: tuple[str, ...]
    """Who leads, by how much and how surely; what is undecided; what is missing. A sentence each."""

    @property
    def ranked(self) -> int:
        """How many runs, from the first, have a rank."""
        return sum(bool(standing.rank) for standing in self.standings)


SORT_ORDERS = ("rank", "model", "given")
"""What runs are sorted by, beside numbers."""


def places_by(results: Sequence[ScoreResult], sort: str, barred: Sequence[str] = ()) -> list[int]:
    """The places of comparable runs in the order that a reader wants to see them in.

    Args:
        sort: `rank`, `model` for their names, `given` for as they are, or a number as of `metric_named`, best first and
            those without it last. Raises UsageError where it is none of them.
        barred: as of `order_of`.
    """
    every = list(range(len(results)))
    if sort == "given":
        return every
    if sort == "model":
        return sorted(every, key=lambda place: results[place].model.casefold())
    if sort == "rank":
        return order_of(results, barred)
    known = {(metric.group, metric.name): metric for result in results for metric in result.metrics}
    number = metric_named(list(known.values()), sort, SORT_ORDERS)
    return sorted(order_of(results, barred), key=lambda place: _by_number(results[place], number))


def _by_number(result: ScoreResult, number: Metric) -> float:
    mine = next((m for m in result.metrics if (m.group, m.name) == (number.group, number.name)), None)
    if mine is None:
        return best_first(None, number.better)
    return best_first(mine.numerator if mine.kind == "count" else mine.value, number.better)


@dataclass(frozen=True, slots=True)
class RankedTable:
    """Comparable runs as a table shows them."""

    order: tuple[int, ...]
    """Their places among the given runs."""
    ranks: tuple[str, ...]
    """In that order; empty texts where they have none, or where nothing was compared."""
    finding: tuple[str, ...]
    """As of `Ranking`; empty where nothing was compared."""


def ranked_table(
    results: Sequence[ScoreResult],
    labels: Sequence[str],
    scores: Sequence[UnitScores | None],
    sort: str = "rank",
) -> RankedTable:
    """Runs with their ranks, in the order that a reader wants.

    Args:
        scores: how often each unit of a run is right; nothing is compared where one is None, or there is one run.
        sort: as of `places_by`.
    """
    shown = tuple(places_by(results, sort))
    known = [each for each in scores if each is not None]
    if len(results) < 2 or len(known) < len(results):
        return RankedTable(shown, ("",) * len(results), ())
    best_to_worst = order_of(results)
    pairs = compare_all_pairs([known[place] for place in best_to_worst])
    ranking = rank_runs(
        [results[place] for place in best_to_worst], [labels[place] for place in best_to_worst], pairs
    )
    ranks = {place: each.rank for place, each in zip(best_to_worst, ranking.standings, strict=True)}
    return RankedTable(shown, tuple(ranks[place] for place in shown), ranking.finding)


def order_of(results: Sequence[ScoreResult], barred: Sequence[str] = ()) -> list[int]:
    """The places of comparable runs in their order: those that may be ranked, best first, then the others.

    Args: barred: of each run why it may have no rank for another reason than its numbers; empty for none.
    """
    reasons = why_unranked(results, barred)

    def key(place: int) -> tuple[bool, float, str]:
        metric = headline(results[place])
        value = best_first(None, "") if metric is None else best_first(metric.value, metric.better)
        return bool(reasons[place]), value, results[place].model

    return sorted(range(len(results)), key=key)


def why_unranked(results: Sequence[ScoreResult], barred: Sequence[str] = ()) -> list[str]:
    """Why each of some comparable runs has no rank; empty for those that have one.

    Ranked are runs that nothing is missing from, on the largest set of items: of runs on other items nothing says which
    model is better, and where two sets of items are of one size, neither is ranked.

    Args: barred: as of `order_of`.
    """
    bars = barred or [""] * len(results)
    admitted = [result for result, bar in zip(results, bars, strict=True) if not bar]
    largest = max((result.items for result in admitted), default=0)
    sets = {result.items_md5 for result in admitted if result.items == largest}
    numbers = {_number_of(result) for result in admitted if result.evidence.complete}
    return [
        bar or _why_unfit(result) or _why_not_beside(result, sets, largest, len(numbers))
        for bar, result in zip(bars, results, strict=True)
    ]


def _number_of(result: ScoreResult) -> tuple[str, str] | None:
    """The number that a run is ranked by."""
    metric = headline(result)
    return None if metric is None else (metric.group, metric.name)


def _why_unfit(result: ScoreResult) -> str:
    """Why a run has no rank, whatever the others are; empty where nothing speaks against one."""
    metric, evidence = headline(result), result.evidence
    if not evidence.played:
        return f"none of its {counted(evidence.units, 'unit')} has a verdict"
    if not evidence.complete:
        span = None if metric is None else format_open(metric)
        possible = f", which leaves {' to '.join(span)} % possible" if span else ""
        return f"{evidence.missing:,} of its {counted(evidence.units, 'unit')} have no verdict{possible}"
    if metric is None or metric.value is None:
        return "it has no value of the number that models are ranked by"
    if not metric.better:
        return f"neither more nor less of {_named(metric)} is better"
    return ""


def _why_not_beside(result: ScoreResult, sets: set[str], largest: int, numbers: int) -> str:
    """Why a run has no rank among others; empty if it has.

    Args:
        sets: digests of the largest sets of items.
        largest: items of one of them.
        numbers: how many different numbers the runs would be ranked by.
    """
    if {result.items_md5} != sets:
        if len(sets) > 1:
            return f"two sets of {counted(largest, 'item')} are compared, and neither is larger"
        return f"its items are others than the {largest:,} of the largest run"
    return "the runs are ranked by different numbers" if numbers > 1 else ""


def _named(metric: Metric) -> str:
    return f"{metric.group}: {metric.name}"


def rank_runs(
    results: Sequence[ScoreResult], labels: Sequence[str], pairs: Pairs, barred: Sequence[str] = ()
) -> Ranking:
    """The ranking of comparable runs, in whatever order they are.

    Args:
        labels: names of the runs in sentences.
        pairs: every run against every other; those of runs without a rank change nothing.
        barred: as of `order_of`.
    """
    if len(results) > MAX_COMPARED_MODELS:
        barred = _bars_with_uncompared(barred or [""] * len(results), pairs)
    order = order_of(results, barred)
    places = {place: number for number, place in enumerate(order)}
    by_rank = {(places[first], places[second]): pair for (first, second), pair in pairs.items()}
    unranked = why_unranked(results, barred)
    ranking = _rank_ordered(
        [results[place] for place in order],
        [labels[place] for place in order],
        by_rank,
        [unranked[place] for place in order],
    )
    standings = tuple(ranking.standings[places[place]] for place in range(len(results)))
    return replace(ranking, standings=standings, order=tuple(order))


def _bars_with_uncompared(barred: Sequence[str], pairs: Pairs) -> list[str]:
    """Bars as of `order_of`, with one for each run that nothing was compared with."""
    compared = {place for pair in pairs for place in pair}
    reason = f"only {len(compared):,} of {len(barred):,} runs are compared with each other"
    return [bar or ("" if place in compared else reason) for place, bar in enumerate(barred)]


def _rank_ordered(
    results: Sequence[ScoreResult], labels: Sequence[str], pairs: Pairs, reasons: Sequence[str]
) -> Ranking:
    """The ranking of runs that are in the order of `order_of`. Args: reasons: as of `why_unranked`."""
    ranked = sum(not reason for reason in reasons)
    adjusted = _adjusted(pairs, ranked)
    groups = list(_groups(adjusted, ranked))
    standings = [
        Standing(
            f"={group[0] + 1}" if len(group) > 1 else str(group[0] + 1),
            _compared_with_above(pairs[place - 1, place], adjusted[place - 1, place])
            if place > group[0]
            else "",
            "",
        )
        for group in groups
        for place in group
    ]
    standings += [Standing("", "", reason) for reason in reasons[ranked:]]
    shared = tuple((group[0] + 1, group[-1] + 1) for group in groups if len(group) > 1)
    found = _Found(
        results[:ranked], [single_line(label) for label in labels], pairs, adjusted, shared, reasons
    )
    return Ranking(tuple(standings), tuple(range(len(results))), shared, tuple(found.sentences()))


def _adjusted(pairs: Pairs, ranked: int) -> dict[tuple[int, int], float]:
    """p of each two ranked runs, the better one first, by Holm's method over all of them."""
    compared = [pair for pair in combinations(range(ranked), 2) if pair in pairs]
    return dict(zip(compared, holm([pairs[pair].p for pair in compared]), strict=True))


def _groups(adjusted: Mapping[tuple[int, int], float], ranked: int) -> Iterator[range]:
    """The places, from 0, in groups of which no two can be told apart; each takes in all it can, the best group first."""
    first = 0
    for place in range(1, ranked + 1):
        if place == ranked or any(adjusted.get((other, place), 0.0) < LEVEL for other in range(first, place)):
            yield range(first, place)
            first = place


def _compared_with_above(result: PairwiseResult, p: float) -> str:
    ends = format_range(result.low, result.high, signed=True)
    return f"paired difference from the one above: {format_points(result.difference)} points {ends}, {format_test(p)}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What a ranking says, in sentences."""

    ranked: Sequence[ScoreResult]
    labels: Sequence[str]
    pairs: Pairs
    adjusted: Mapping[tuple[int, int], float]
    groups: Sequence[tuple[int, int]]
    reasons: Sequence[str]

    def sentences(self) -> Iterator[str]:
        if len(self.ranked) > 1:
            yield self._leader()
            yield from self._undecided()
            yield from self._too_few()
        elif self.ranked:
            others = (
                "no other has a rank" if len(self.labels) > 1 else "there is no other run to compare it with"
            )
            yield f"{self.labels[0]} has {self._value(0)}{self._rests_on(0)}; {others}."
        yield from self._missing()

    def _rests_on(self, place: int) -> str:
        """How sure a number is that is compared with no other: its interval and its counts."""
        metric = headline(self.ranked[place])
        assert metric is not None, "it is ranked by it"
        if metric.kind != "rate" or metric.low is None:
            return ""
        return f", {format_counts(metric)}, 95 % {format_rate_ends(metric)}"

    def _leader(self) -> str:
        first, second = self.labels[:2]
        lead = f"{first} has {self._value(0)}"
        if (0, 1) not in self.adjusted:
            return f"{lead}, {second} {self._value(1)}; they share no unit to compare them on."
        pair, p = self.pairs[0, 1], self.adjusted[0, 1]
        on = f"on the same {counted(pair.units, 'unit')}"
        ends = format_range(-pair.high, -pair.low, signed=True)
        how = f"{ends}; {format_test(p)} by Holm's method over {counted(len(self.adjusted), 'pair')}"
        points = f"{100 * abs(pair.difference):.1f} points"
        if p >= LEVEL:
            ahead = format_points(-pair.difference)
            return f"No leader: {lead}, but cannot be told apart from {second} {on}: {ahead} points {how}."
        if pair.difference > 0:
            return f"{lead} and is first by it, though {second} is right more often {on}, by {points} {how}."
        return f"{first} leads with {self._value(0)}, ahead of {second} by {points} {on} {how}."

    def _value(self, place: int) -> str:
        metric = headline(self.ranked[place])
        assert metric is not None, "a ranked run has the number"
        return f"{format_value(metric)} ({_named(metric)})" if place == 0 else format_value(metric)

    def _undecided(self) -> Iterator[str]:
        # Of two models the sentence about the leader has said it.
        if self.groups and len(self.ranked) > 2:
            spans = [
                f"{first} to {last}" if last - first > 1 else f"{first} and {last}"
                for first, last in self.groups
            ]
            nor = f", nor can {_listed(spans[1:])}" if len(spans) > 1 else ""
            yield f"Ranks {spans[0]} cannot be told apart{nor}."

    def _too_few(self) -> Iterator[str]:
        """Why no two of them can be told apart, where no test of so few items could do it."""
        items, pairs = self.ranked[0].items, len(self.adjusted)
        least = min(1.0, pairs * smallest_p(items))
        if self.adjusted and least >= LEVEL:
            fewer = ", or compare fewer models" if pairs > 1 else ""
            yield (
                f"{counted(items, 'item')} cannot show a difference, whatever the models do: with "
                f"{counted(pairs, 'pair')} no p by Holm's method is below {least:.4f}. Run more items{fewer}."
            )

    def _missing(self) -> Iterator[str]:
        unranked = list(zip(self.labels, self.reasons, strict=True))[len(self.ranked) :]
        if len(unranked) <= _MOST_NAMED:
            yield from (f"{label} has no rank: {reason}." for label, reason in unranked)
            return
        names = first_names([label for label, _ in unranked], _MOST_NAMED)
        yield f"{len(unranked):,} runs have no rank: {names}. Of {unranked[0][0]}: {unranked[0][1]}."


def _listed(texts: Sequence[str]) -> str:
    """Texts in a sentence: `a`, `a, and b`."""
    return ", and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
