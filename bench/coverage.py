"""Simulates what the statistics promise: coverage of intervals, level of tests, power. Prints a table in Markdown.

python bench/coverage.py            # the table of docs/statistics.md; about ten minutes
python bench/coverage.py --quick    # a tenth of the draws
"""

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from stats.paired_draws import two_runs
from wildtool.stats.intervals import bootstrap_interval, clustered_rate
from wildtool.stats.metrics import pass_all, pass_at
from wildtool.stats.power import detectable
from wildtool.stats.tests import ItemPair, difference, flip_test

Interval = tuple[float, float] | None
OF_ITEMS, OF_RUNS = 0.3, 0.5
SETS = ((256, 4), (32, 4), (256, 1))
RATES = ((0.5, 0.5), (0.5, 0.6), (0.1, 0.3), (0.9, 0.95))
SEED = 20261120


def main(draws: int) -> None:
    print("| routine | items × units | true rates | promised | found |\n|---|---|---|---|---|")
    for routine, items, units, rates, promised, found in lines(draws):
        shown = " → ".join(f"{rate:.2f}" for rate in rates)
        print(f"| {routine} | {items} × {units} | {shown} | {promised:.1%} | {found:.1%} |", flush=True)


def lines(draws: int) -> Iterator[tuple[str, int, int, Sequence[float], float, float]]:
    for items, units in SETS:
        for rates in RATES:
            a, b = two_runs(
                np.random.default_rng(SEED), draws, items, units, rates, of_items=OF_ITEMS, of_runs=OF_RUNS
            )
            gaps, gap = (b - a).tolist(), rates[1] - rates[0]

            def line(
                name: str, promised: float, found: float
            ) -> tuple[str, int, int, Sequence[float], float, float]:
                return name, items, units, rates, promised, found  # noqa: B023 - called in its own turn

            if rates[0] != rates[1]:
                ends = [clustered_rate([(x, units) for x in row]) for row in b.tolist()]
                yield line("accuracy, clustered Wilson (second rate)", 0.95, held(rates[1], ends, 1))
            yield line("difference, sandwich", 0.95, held(gap, [sandwich(row, units) for row in gaps]))
            if units > 1 and rates[0] != rates[1]:
                ends = [bootstrap_interval([(x, units) for x in row], resamples=400) for row in gaps]
                yield line("difference, cluster bootstrap", 0.95, held(gap, ends))
            if rates[0] == rates[1]:
                yield line("false findings of the exact test", 0.05, rejected(gaps, units))
    yield from power(draws)
    yield from repeated(draws)
    yield from micro_f1(draws)


def power(draws: int) -> Iterator[tuple[str, int, int, Sequence[float], float, float]]:
    """How often a difference is found that the error of equal models gives as detectable."""
    for items, units in SETS:
        a, b = two_runs(
            np.random.default_rng(SEED), 500, items, units, (0.5, 0.5), of_items=OF_ITEMS, of_runs=OF_RUNS
        )
        errors = [found.error for row in (b - a).tolist() if (found := difference(pairs(row, units)))]
        gap = detectable(float(np.mean(errors)), items)
        rates = (0.5 - gap / 2, 0.5 + gap / 2)
        a, b = two_runs(
            np.random.default_rng(SEED + 1), draws, items, units, rates, of_items=OF_ITEMS, of_runs=OF_RUNS
        )
        yield (
            "power at the detectable difference",
            items,
            units,
            rates,
            0.8,
            rejected((b - a).tolist(), units),
        )


def repeated(draws: int) -> Iterator[tuple[str, int, int, Sequence[float], float, float]]:
    """pass@2 and pass^2 of five tries: every unit has a chance of its own, drawn around that of its item."""
    random, items, units, tries, k = np.random.default_rng(SEED), 256, 4, 5, 2
    for name, chance, true in (
        # Chances are of beta(1, 1) by item, and the same for its units.
        ("pass@2", pass_at, 2 / 3),
        ("pass^2", pass_all, 1 / 3),
    ):
        ends: list[tuple[float, ...] | None] = []
        for _ in range(draws):
            right = random.binomial(tries, random.random((items, 1)), (items, units))
            values = [[chance(k, c, tries) for c in row] for row in right.tolist()]
            ends.append(clustered_rate([(sum(row), units) for row in values]))
        yield f"{name} of {tries} repeats, clustered Wilson", items, units, (true,), 0.95, held(true, ends, 1)


def micro_f1(draws: int) -> Iterator[tuple[str, int, int, Sequence[float], float, float]]:
    """F1 over lists of one to four gold elements: a list is unreadable, or its elements share a chance; half of the
    wrong ones are answered otherwise. Of Beta's two parameters the sum is 4."""
    readable, otherwise, sizes = 0.9, 0.5, np.array([1, 1, 3, 3, 3, 4])
    for items in (300, 40):
        for chance in (0.5, 0.9):
            random = np.random.default_rng(SEED)
            # Twice the right elements of those made and gold: both expectations are multiples of the mean size.
            made = readable * (chance + (1 - chance) * otherwise)
            true = 2 * readable * chance / (1 + made)
            ends: list[tuple[float, ...] | None] = []
            for _ in range(draws):
                gold = random.choice(sizes, items)
                shared = random.beta(4 * chance, 4 * (1 - chance), items)
                seen = random.random(items) < readable
                right = random.binomial(gold, shared) * seen
                wrong = random.binomial(gold - right, otherwise) * seen
                sums = zip((2 * right).tolist(), (right + wrong + gold).tolist(), strict=True)
                ends.append(clustered_rate(list(sums)))
            yield "F1 over a split, clustered Wilson", items, 1, (true,), 0.95, held(true, ends, 1)


def sandwich(row: Sequence[int], units: int) -> Interval:
    found = difference(pairs(row, units))
    return None if found is None else (found.low, found.high)


def pairs(row: Sequence[int], units: int) -> list[ItemPair]:
    return [ItemPair(Fraction(each), units) for each in row]


def rejected(rows: Sequence[Sequence[int]], units: int) -> float:
    return float(np.mean([flip_test(pairs(row, units))[0] < 0.05 for row in rows]))


def held(true: float, intervals: Sequence[Sequence[float] | None], first: int = 0) -> float:
    """Share of intervals that hold the true value; `first` is the place of the lower end."""
    low, high = true - 1e-9, true + 1e-9
    return float(np.mean([it is not None and it[first] <= high and low <= it[first + 1] for it in intervals]))


if __name__ == "__main__":
    main(400 if "--quick" in sys.argv else 4_000)
