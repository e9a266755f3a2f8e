"""Rounds of review: samples by type and subtype, pairs of reviewers, the quality found, and when to stop.

A round draws a fifth of the items, none twice until every item was in a round; later ones draw fresh samples. The quality
of a round is the share of its items in which the review found no error. Section 6.2 of the generation specification.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from wildtool.draws import seeded_draw
from wildtool.errors import UsageError
from wildtool.stats.intervals import wilson
from wildtool_review.state import RoundState, State

PUBLISHED_QUALITY = (0.62, 0.78, 0.86, 0.94, 1.0)
"""Quality that the five samples of the published set found (WildToolBench paper, data curation)."""
Pair = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundSample:
    """The items of a round."""

    items: tuple[str, ...]
    """In the order in which they are dealt to people."""
    fresh: bool
    """True if every item had been in a round before."""


def draw_sample(state: State, share: float, seed: str) -> RoundSample:
    """A sample of the items that are not rejected and have no open review, in proportion to types and subtypes.

    An item has several types: the rarest ones are served first, each with its share (iterative stratification).

    Args:
        share: of all items, above 0 and at most 1.
        seed: the same seed on the same state gives the same sample.
    """
    if not 0 < share <= 1:
        raise UsageError("a sample is a share above 0 and at most 1 of the items, not {0}", f"{share:g}")
    sweep = [round_ for round_ in state.rounds if not round_.fresh]
    covered = {item for round_ in sweep for item in round_.items}
    # What was rejected is no part of the set any more; drawn again, it would be an error for ever.
    candidates = [item for item in state.items.values() if item.stage != "rejected"]
    free = [item for item in candidates if item.open is None]
    fresh = all(item.id in covered for item in candidates)
    pool = free if fresh else [item for item in free if item.id not in covered]
    most = math.ceil(share * len(candidates if fresh else state.items) - 1e-9)
    size = most
    if not fresh:
        # The last round of a sweep takes what rounding left over.
        rounds_left = max(1, math.ceil(1 / share - 1e-9) - len(sweep))
        size = min(most, math.floor(len(pool) / rounds_left + 0.5) or 1)
    draw = seeded_draw(seed)
    shuffled = draw.sample(pool, len(pool))
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    strata = {item.id: set(item.strata) or {("", "")} for item in shuffled}
    for item in shuffled:
        for stratum in strata[item.id]:
            members[stratum].append(item.id)
    sample: dict[str, None] = {}
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for stratum in sorted(members, key=lambda stratum: (len(members[stratum]), stratum)):
        due = len(members[stratum]) * size / len(pool)
        for id_ in members[stratum]:
            if len(sample) >= size or counts[stratum] + 0.5 > due:
                break
            if id_ not in sample:
                sample[id_] = None
                for other in strata[id_]:
                    counts[other] += 1
    for item in shuffled:
        if len(sample) < size:
            sample.setdefault(item.id)
    return RoundSample(tuple(draw.sample(list(sample), len(sample))), fresh)


def assigned_pairs(people: Sequence[str], number: int, last: Sequence[Pair], *, size: int = 2) -> list[Pair]:
    """Who reviews together in a round: everyone in one pair (one person pauses where their number is odd), and no pair of
    the round before if there are other ones. With two or three people pairs are few, so they do come again.

    Args:
        number: of the round; pairs rotate with it.
        last: pairs of the round before.
        size: people per item, 1 or 2.
    """
    names = list(dict.fromkeys(people))
    if size not in (1, 2) or len(names) < size:
        raise UsageError(
            "{0} reviewers per item need at least that many people; {1} are named", size, len(names)
        )
    if size == 1:
        return [(name,) for name in names]
    before = {frozenset(pair) for pair in last}
    rounds = _matchings(names)
    ordered = [rounds[(number - 1 + k) % len(rounds)] for k in range(len(rounds))]
    return min(ordered, key=lambda pairs: sum(frozenset(pair) in before for pair in pairs))


def _matchings(names: Sequence[str]) -> list[list[Pair]]:
    """All rounds of a round-robin tournament (circle method): each pair meets in exactly one."""
    circle: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    rounds: list[list[Pair]] = []
    for _ in range(len(circle) - 1):
        halves = zip(circle[: len(circle) // 2], reversed(circle[len(circle) // 2 :]), strict=True)
        rounds.append([(first, other) for first, other in halves if first is not None and other is not None])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


@dataclass(frozen=True, slots=True)
class RoundQuality:
    """What a round found."""

    number: int
    sampled: int
    ended: int
    """Items whose review has ended."""
    errors: int
    """Of these, items that were changed or rejected."""
    rate: float | None
    """Share of those without error; None while none has ended."""
    low: float | None
    """Lower end of its 95 % interval (Wilson)."""
    high: float | None
    conflicts: int
    """Items that an adjudicator had to decide, or has to."""
    published: float | None
    """Quality of the published set at this point; None after its last one."""
    fresh: bool
    closed: bool


@dataclass(frozen=True, slots=True)
class StopRule:
    """Whether the review may end."""

    covered: int
    """Items whose review in a round has ended at least once; in or outside of one where one reviewer is enough."""
    total: int
    open_conflicts: int
    last_errors: int | None
    """Items with an error in the last round; None if there is none, or it has not ended."""
    upper: float | None
    """Upper end of the 95 % interval of the error rate of the last round."""
    bound: float | None
    """What `upper` must not exceed; None for no such rule."""
    asks_round: bool = True
    """Whether a round without errors is asked; False where one reviewer is enough and no round was opened."""

    @property
    def met(self) -> bool:
        """True if everything is covered, no conflict is open, and the last round found no error."""
        within = self.bound is None or (self.upper is not None and self.upper <= self.bound)
        full = self.covered == self.total > 0
        no_errors = self.last_errors == 0 or not self.asks_round
        return full and self.open_conflicts == 0 and no_errors and within


def round_qualities(state: State) -> list[RoundQuality]:
    """What each round found, in order."""
    return [_quality(state, round_, position) for position, round_ in enumerate(state.rounds)]


def stop_rule(state: State, bound: float | None = None) -> StopRule:
    """Whether the review may end.

    Where the set says that one reviewer is enough, reviews outside of rounds count, too.

    Args: bound: largest error rate that the last round must leave possible, from 0 to 1; None asks only for zero errors.
    """
    is_one_enough = state.reviewers == 1
    covered = sum(
        any(past.ended and (past.round or is_one_enough) for past in item.passes)
        for item in state.items.values()
    )
    conflicts = sum(bool(item.conflicts) for item in state.items.values())
    last = round_qualities(state)[-1:]
    is_complete = last and last[0].ended == last[0].sampled
    upper = 1 - last[0].low if is_complete and last[0].low is not None else None
    errors = last[0].errors if is_complete else None
    asks_round = bool(state.rounds) or not is_one_enough
    return StopRule(covered, len(state.items), conflicts, errors, upper, bound, asks_round)


def _quality(state: State, round_: RoundState, position: int) -> RoundQuality:
    passes = [
        past for item in round_.items for past in state.items[item].passes if past.round == round_.number
    ]
    ended = [past for past in passes if past.ended]
    errors = sum(past.error is True for past in ended)
    rate = (len(ended) - errors) / len(ended) if ended else None
    low, high = wilson(rate, len(ended)) if rate is not None else (None, None)
    published = PUBLISHED_QUALITY[position] if position < len(PUBLISHED_QUALITY) else None
    conflicts = sum(past.conflict for past in passes)
    return RoundQuality(
        round_.number,
        len(round_.items),
        len(ended),
        errors,
        rate,
        low,
        high,
        conflicts,
        published,
        round_.fresh,
        bool(round_.closed),
    )
