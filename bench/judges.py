"""Scripted judges of known rates: does what an audit says of them hold? Prints tables in Markdown.

python bench/judges.py            # the tables of docs/judges.md; about ten minutes
python bench/judges.py --quick    # a fiftieth of the draws
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from stats.judge_draws import (
    Cell,
    biases,
    corrected,
    differences,
    headline,
    labels,
    smallest,
    unreadable,
)
from wildtool.stats.beta import beta_probability
from wildtool.stats.judged import corrected_rate, exact_share

DRAWS = 1_000
SIZES = range(5, 3_000, 5)
"""Numbers of cases that are tried."""


def transport() -> None:
    """A judge that notices 98 % of one kind and half of another, audited on as many of either."""
    tp, shares = (
        exact_share(980.0, 1000),
        {"noticed": exact_share(490.0, 500), "missed": exact_share(250.0, 500)},
    )
    mix = exact_share(740.0, 1000)
    print(
        "\n| the wrong units of the run are | passed | under the audit's mix | as the best kind | as the worst kind |"
    )
    print("|---|---|---|---|---|")
    for name, seen in (
        ("all of the noticed kind", 0.98),
        ("half of either", 0.74),
        ("all of the missed kind", 0.5),
    ):
        passes = 0.6 * 0.98 + 0.4 * (1 - seen)
        score = exact_share(passes * 1000, 1000)
        under = [corrected_rate(score, tp, tn) for tn in (mix, *shares.values())]
        cells = [f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in under]
        print(f"| {name}; 0.600 are right | {passes:.3f} | {' | '.join(cells)} |")


def gates() -> None:
    """What a gate of few labels decides, and how many wrong cases show that tn is above 0.9 four times out of five."""
    passes, fails = reaching(43, 50, 0.8), 1 - reaching(43, 50, 0.9)
    print(
        f"\n50 labels and an agreement of 0.85 pass a judge of 0.80 in {passes:.1%}, and fail one of 0.90 in {fails:.1%}."
    )
    needed = {size: least_above(0.9, size) for size in SIZES}
    print("\n| true tn | wrong cases of different items |\n|---|---|")
    for rate in (0.92, 0.95, 0.97, 0.99):
        enough = next(size for size, least in needed.items() if reaching(least, size, rate) >= 0.8)
        print(f"| {rate} | {enough:,} |")


def reaching(least: int, size: int, rate: float) -> float:
    """The probability that at least that many of a number of independent cases are judged rightly."""
    return beta_probability(rate, least, size - least + 1) if least <= size else 0.0


def least_above(bound: float, size: int) -> int:
    """The fewest right judgements whose exact interval lies above a bound."""
    likely = range(max(1, int(bound * size)), size + 2)
    return next(right for right in likely if reaching(right, size, bound) < 0.025)


def main(draws: int) -> None:
    print("| figure | cases | setting | the interval holds the truth |\n|---|---|---|---|")
    intervals = (headline, corrected, differences, labels, unreadable)
    for table in intervals:
        cells = list(_shown(table(draws)))
        mean, least = fmean(cell.found for cell in cells), min(cells, key=lambda cell: cell.found)
        about = f"least: {least.size:,}, {least.setting} ({100 * least.found:.1f} %)"
        print(f"| **{cells[0].what}: mean of {len(cells)}** | | {about} | **{100 * mean:.1f} %** |")
    print("\n| test | units | setting | finds something in |\n|---|---|---|---|")
    for table in (smallest, biases):
        list(_shown(table(draws)))
    transport()
    gates()


def _shown(cells: Iterator[Cell]) -> Iterator[Cell]:
    for cell in cells:
        print(cell, flush=True)
        yield cell


if __name__ == "__main__":
    main(DRAWS // 50 if "--quick" in sys.argv else DRAWS)
