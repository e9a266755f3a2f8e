"""Matchings of two lists by weight, and the longest ascent of one.

Written here since scipy's assignment costs every command that uses it 2 s (docs/decisions/0024-own-assignment.md).
Equality with it is a test.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from math import inf

PairWeights = Mapping[tuple[int, int], float]
"""Positive weight of each pair (left, right) that may be matched."""


def max_weight_matching(weights: PairWeights) -> dict[int, int]:
    """Left to right of the matching with the largest sum of weights, where each is matched at most once.

    Of several with that sum one is given, always the same for the same weights.
    """
    found: dict[int, int] = {}
    for pairs in _components(weights):
        found.update(_assign(pairs, weights))
    return found


def _components(weights: PairWeights) -> Iterator[list[tuple[int, int]]]:
    """The pairs that hang together; most components of two similar lists have one pair."""
    of_left: dict[int, list[int]] = {}
    of_right: dict[int, list[int]] = {}
    for left, right in weights:
        of_left.setdefault(left, []).append(right)
        of_right.setdefault(right, []).append(left)
    while of_left:
        open_lefts, pairs = [next(iter(of_left))], list[tuple[int, int]]()
        while open_lefts:
            left = open_lefts.pop()
            for right in of_left.pop(left, ()):
                pairs.append((left, right))
                open_lefts += of_right.pop(right, ())
        yield pairs


def _assign(pairs: Sequence[tuple[int, int]], weights: PairWeights) -> Iterator[tuple[int, int]]:
    if len(pairs) == 1:
        yield pairs[0]
        return
    lefts, rights = sorted({left for left, _ in pairs}), sorted({right for _, right in pairs})
    turned = len(lefts) > len(rights)
    rows, columns = (rights, lefts) if turned else (lefts, rights)
    costs = [[-weights.get((c, r) if turned else (r, c), 0.0) for c in columns] for r in rows]
    for row, column in enumerate(hungarian(costs)):
        pair = (columns[column], rows[row]) if turned else (rows[row], columns[column])
        if pair in weights:
            yield pair


def hungarian(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row in the cheapest assignment of rows to columns of their own; no more rows than columns.

    The Hungarian method with potentials: shortest augmenting paths, one for each row (Kuhn 1955, Munkres 1957).
    """
    width = len(costs[0])
    row_potential, column_potential = [0.0] * len(costs), [0.0] * (width + 1)
    row_of = [-1] * (width + 1)  # the last column stands for the row that is being placed
    for row in range(len(costs)):
        row_of[width], column = row, width
        least, before, used = [inf] * width, [width] * width, [False] * (width + 1)
        while row_of[column] >= 0:
            used[column] = True
            current = row_of[column]
            nearest, step = -1, inf
            for other in range(width):
                if used[other]:
                    continue
                reduced = costs[current][other] - row_potential[current] - column_potential[other]
                if reduced < least[other]:
                    least[other], before[other] = reduced, column
                if least[other] < step:
                    nearest, step = other, least[other]
            for other in range(width + 1):
                if used[other]:
                    row_potential[row_of[other]] += step
                    column_potential[other] -= step
                elif other < width:
                    least[other] -= step
            column = nearest
        while column != width:
            row_of[column] = row_of[before[column]]
            column = before[column]
    found = [-1] * len(costs)
    for column, row in enumerate(row_of[:width]):
        if row >= 0:
            found[row] = column
    return found


def longest_ascent(values: Sequence[int]) -> int:
    """Length of the longest strictly increasing subsequence."""
    tails: list[int] = []
    for value in values:
        place = bisect_left(tails, value)
        tails[place : place + 1] = [value]
    return len(tails)
