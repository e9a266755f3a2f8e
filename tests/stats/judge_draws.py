"""Scripted judges of known rates: how often what an audit says of them holds. Each function gives cells of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean

import numpy as np

from wildtool.stats.judged import (
    JudgedShare,
    LabelledCase,
    corrected_difference,
    corrected_rate,
    discordance_of,
    exact_share,
    mean_over_kinds,
    pairs_by_item,
    rate_with_labels,
    smallest_difference,
)
from wildtool.stats.tests import flip_test, holm

SEED = 20261130
SIZES = (50, 100, 200, 400, 1000)
RATES = (0.7, 0.9, 0.97)
PER_ITEM = 4
"""Cases of an item, each of another kind, where cases are clustered."""
KINDS = 8
UNLIKE = 0.08
"""Kinds differ by so much to either side of a judge's rate, as far as there is room."""
LEVEL = 0.05
BIASES = 8


@dataclass(frozen=True)
class Cell:
    """One line of the table."""

    what: str
    size: int
    setting: str
    found: float

    def __str__(self) -> str:
        return f"| {self.what} | {self.size:,} | {self.setting} | {100 * self.found:.1f} % |"


def latent(draw: np.random.Generator, items: int, per_item: int, alike: float) -> np.ndarray:
    """Standard normal numbers, items × cases, of which two of an item correlate by `alike`."""
    own = draw.standard_normal((items, per_item))
    return sqrt(alike) * draw.standard_normal((items, 1)) + sqrt(1 - alike) * own


def kind_rates(rate: float) -> list[float]:
    room = min(UNLIKE, 1 - rate, rate)
    return [rate + room * (2 * kind / (KINDS - 1) - 1) for kind in range(KINDS)]


def scripted_cases(
    draw: np.random.Generator, size: int, rates: Sequence[float], alike: float
) -> list[LabelledCase]:
    """What a judge that is right about each kind with its rate says of `size` cases, one per item and kind."""
    per_item = PER_ITEM if alike else 1
    items = size // per_item
    bounds = [NormalDist().inv_cdf(min(1 - 1e-12, rate)) for rate in rates]
    numbers = latent(draw, items, per_item, alike)
    return [
        (str(item), str(kind), bool(numbers[item, place] < bounds[kind]))
        for item in range(items)
        for place in range(per_item)
        for kind in [(item * per_item + place + item // KINDS) % KINDS]
    ]


def holds(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def headline(draws: int) -> Iterator[Cell]:
    """The mean over kinds."""
    for size in SIZES:
        for rate in RATES:
            for alike in (0.0, 0.3):
                draw, rates = np.random.default_rng(SEED), kind_rates(rate)
                truth, inside = fmean(rates), 0
                for _ in range(draws):
                    share = mean_over_kinds(scripted_cases(draw, size, rates, alike))
                    inside += share is not None and holds((share.low, share.high), truth)
                setting = f"rate {rate}, {'4 cases an item' if alike else 'one case an item'}"
                yield Cell("tp or tn over kinds", size, setting, inside / draws)


def corrected(draws: int) -> Iterator[Cell]:
    """The rate behind a score of 1,000 units, and of as many as the audit has cases of either side."""
    for size in (100, 200, 400):
        for tp, tn in ((0.98, 0.9), (0.9, 0.7), (0.8, 0.6)):
            for alike in (0.0, 0.3):
                for rate in (0.05, 0.5, 0.9):
                    for units in (200, 1000):
                        found = _corrected(draws, size, tp, tn, alike, rate, units)
                        setting = f"tp {tp}, tn {tn}, {'' if alike else 'not '}clustered, true {rate}, {units} units"
                        yield Cell("corrected rate", size, setting, found)


def _audited(draw: np.random.Generator, size: int, rate: float, alike: float) -> JudgedShare:
    share = mean_over_kinds(scripted_cases(draw, size, kind_rates(rate), alike))
    assert share is not None
    return share


def _corrected(draws: int, size: int, tp: float, tn: float, alike: float, rate: float, units: int) -> float:
    draw, inside = np.random.default_rng(SEED), 0
    for _ in range(draws):
        right, wrong = _audited(draw, size, tp, alike), _audited(draw, size, tn, alike)
        passed = draw.binomial(units, rate * tp + (1 - rate) * (1 - tn))
        its = corrected_rate(exact_share(float(passed), units), right, wrong)
        inside += holds((its.low, its.high), rate)
    return inside / draws


def differences(draws: int) -> Iterator[Cell]:
    """The difference of two models behind one judge, and the power at the smallest difference."""
    for units in (200, 1000):
        for tp, tn in ((0.98, 0.9), (0.9, 0.7)):
            # Of the units the first model alone has 5 % right, the second alone 15 %, both 40 %.
            draw, inside = np.random.default_rng(SEED), 0
            for _ in range(draws):
                right, wrong = _audited(draw, 400, tp, 0.3), _audited(draw, 400, tn, 0.3)
                only = _only_one(draw, units, tp, tn, (0.05, 0.15, 0.4))
                its = corrected_difference(*only, units, right, wrong)
                inside += holds((its.low, its.high), 0.1)
            yield Cell("difference of two models", units, f"tp {tp}, tn {tn}", inside / draws)


def _only_one(
    draw: np.random.Generator, units: int, tp: float, tn: float, shares: tuple[float, float, float]
) -> tuple[int, int]:
    kinds = draw.choice(4, size=units, p=(*shares, 1 - sum(shares)))
    pass_first = np.where(np.isin(kinds, (0, 2)), tp, 1 - tn)
    pass_second = np.where(np.isin(kinds, (1, 2)), tp, 1 - tn)
    first, second = draw.random(units) < pass_first, draw.random(units) < pass_second
    return int((first & ~second).sum()), int((second & ~first).sum())


def smallest(draws: int) -> Iterator[Cell]:
    """How often a true difference as large as the smallest that can be shown is found."""
    for j in (0.9, 0.8, 0.6):
        rate = (1 + j) / 2
        gap = smallest_difference(discordance_of(rate, rate), 1000, j) or 0.0
        draw, found = np.random.default_rng(SEED), 0
        for _ in range(draws):
            first, second = _only_one(draw, 1000, rate, rate, ((0.2 - gap) / 2, (0.2 + gap) / 2, 0.4))
            found += (
                flip_test(
                    pairs_by_item(
                        [(str(n), 1) for n in range(second)] + [(f"-{n}", -1) for n in range(first)]
                    )
                )[0]
                < LEVEL
            )
        yield Cell("power at the smallest difference", 1000, f"J {j}: {100 * gap:.1f} points", found / draws)


def labels(draws: int) -> Iterator[Cell]:
    """PPI++ with some labels of the run."""
    for count in (50, 100, 200):
        for tp, tn in ((0.95, 0.9), (0.8, 0.6)):
            draw, inside = np.random.default_rng(SEED), 0
            for _ in range(draws):
                truth = draw.random(1000) < 0.6
                passed = draw.random(1000) < np.where(truth, tp, 1 - tn)
                its = rate_with_labels(
                    list(zip(truth[:count].tolist(), passed[:count].tolist(), strict=True)),
                    passed[count:].tolist(),
                )
                inside += holds((its.low, its.high), 0.6)
            yield Cell("with labels of this run", count, f"tp {tp}, tn {tn}", inside / draws)


def unreadable(draws: int) -> Iterator[Cell]:
    """A judge of which every seventh judgement cannot be read counts it as "not pass" in the audit and in the run."""
    lost, tp, tn, rate = 0.15, 0.95, 0.85, 0.6
    draw, inside = np.random.default_rng(SEED), 0
    for _ in range(draws):
        right = exact_share(float(draw.binomial(200, tp * (1 - lost))), 200)
        wrong = exact_share(float(draw.binomial(200, 1 - (1 - tn) * (1 - lost))), 200)
        passes = (1 - lost) * (rate * tp + (1 - rate) * (1 - tn))
        its = corrected_rate(exact_share(float(draw.binomial(1000, passes)), 1000), right, wrong)
        inside += holds((its.low, its.high), rate)
    yield Cell("corrected rate, 15 % unreadable", 200, "true 0.6, 1000 units", inside / draws)


def biases(draws: int) -> Iterator[Cell]:
    """Twins of 1,000 cases: a bias of five points is found, a fair judge is not accused."""
    for noise in (0.02, 0.1):
        for bias in (0.0, 0.05):
            for per_item in (1, PER_ITEM):
                draw, alone, corrected_ = np.random.default_rng(SEED), 0, 0
                for _ in range(draws):
                    p = _bias_p(draw, 1000, per_item, bias, noise)
                    alone += p < LEVEL
                    others = draw.random(BIASES - 1).tolist()
                    corrected_ += holm([p, *others])[0] < LEVEL
                what = f"bias of {100 * bias:.0f} points" if bias else "fair judge accused"
                shape = f"{'one pair' if per_item == 1 else '4 pairs'} an item, {100 * noise:.0f} % noise"
                yield Cell(f"{what}, one test", 1000, shape, alone / draws)
                yield Cell(f"{what}, Holm over {BIASES}", 1000, shape, corrected_ / draws)


def _bias_p(draw: np.random.Generator, pairs: int, per_item: int, bias: float, noise: float) -> float:
    """The p of twins of which a share flips by chance, where items differ in the side that they lean to."""
    items = pairs // per_item
    lean = draw.choice((-1, 1), size=(items, 1)) if per_item > 1 else np.zeros((items, 1))
    flips = draw.random((items, per_item)) < noise
    side = np.where(
        lean != 0,
        np.where(draw.random((items, per_item)) < 0.8, lean, -lean),
        draw.choice((-1, 1), size=(items, per_item)),
    )
    biased = draw.random((items, per_item)) < bias
    found = np.where(biased, 1, np.where(flips, side, 0))
    return flip_test(pairs_by_item((str(n), int(each)) for n in range(items) for each in found[n]))[0]
