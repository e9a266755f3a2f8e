"""Plants faults of known parties into ACEBench's finance episodes, asks `audit --blame` whose they were, and prints
tables in Markdown.

    python bench/blame.py               about ten minutes
    python bench/blame.py --worlds 1    a seventh of it

The parties are scripts (`tests/blame/planted.py`), so it needs no network. The truth is the smallest set of parties whose
faults, taken out of the world, make the unit right: a fault that does nothing is not counted.
"""

import argparse
import sys
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

# In place of this folder, in which a module has the name of the tests' package.
sys.path[0] = str(Path(__file__).resolve().parents[1] / "tests")

from blame.planted import MODEL, PARTIES, World, blame_world, in_turn, mended_by  # noqa: E402

ERRORS = 0.15
"""Share of the model's plays with an error that nobody planted."""


def singles(folder: Path, worlds: int, error_rate: float, plays: int) -> Counter[tuple[str, str]]:
    """Answers for one planted fault a unit, by party."""
    answers: Counter[tuple[str, str]] = Counter()
    for seed in range(worlds):
        world = World(in_turn([frozenset({party}) for party in PARTIES], seed), seed, error_rate)
        blamed = blame_world(world, folder / f"one-{error_rate}-{seed}", plays)
        for item, cause in blamed.causes.items():
            answers[next(iter(world.faults[item])), cause] += 1
    return answers


def pairs(folder: Path, worlds: int) -> Counter[tuple[str, str]]:
    """Answers for two planted faults a unit that are both needed to mend it, by pair."""
    answers: Counter[tuple[str, str]] = Counter()
    planted = [frozenset(pair) for pair in combinations(PARTIES, 2)]
    for seed in range(worlds):
        world = World(in_turn(planted, 3 * seed), seed)
        place = folder / f"two-{seed}"
        one_is_enough = frozenset[str]()
        for party in PARTIES:
            its = {item for item, faults in world.faults.items() if party in faults}
            one_is_enough |= mended_by(world, place / f"without-{party}", party) & its
        for item, cause in blame_world(world, place).causes.items():
            if item not in one_is_enough:
                answers[" and ".join(p for p in PARTIES if p in world.faults[item]), cause] += 1
    return answers


def table(title: str, answers: Counter[tuple[str, str]]) -> None:
    print(f"\n{title}\n")
    print("| planted | units | answers |\n|---|---|---|")
    for planted in dict.fromkeys(planted for planted, _ in answers):
        its = Counter({cause: count for (party, cause), count in answers.items() if party == planted})
        print(f"| {planted} | {its.total()} | {', '.join(f'{c} {n}' for c, n in its.most_common())} |")
    right = sum(count for (party, cause), count in answers.items() if names(party, cause))
    print(f"\nRight: {right} of {answers.total()}.")


def names(planted: str, cause: str) -> bool:
    """Whether an answer names what was planted; of a pair with the model it may say that others are not excluded."""
    return cause.split(",")[0] in (planted, MODEL if MODEL in planted else planted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=7)
    worlds = parser.parse_args().worlds
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table("One fault, no noise, one play", singles(folder, worlds, 0.0, 1))
        table("Two faults, no noise, one play", pairs(folder, worlds))
        table("One fault, 15 % random errors, five plays", singles(folder, worlds, ERRORS, 5))


if __name__ == "__main__":
    main()
