"""Matchings of two lists by weight, free or in order, and the longest ascent of one."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

PairWeights = Mapping[tuple[int, int], float]
"""Positive weight of each pair (left, right) that may be matched."""


def max_weight_matching(weights: PairWeights) -> dict[int, int]:
    """Left to right of the matching with the largest sum of weights, where each is matched at most once.

    Of several with that sum it is the one that networkx finds in a graph whose edges are added in the order of the pairs:
    T-Eval's published numbers hang on it (docs/decisions/0024-own-assignment.md).
    """
    matched = dict(weights.keys())
    if len(matched) == len(weights) == len(set(matched.values())):
        return matched
    search = _Matching(weights)
    while search.augment():
        pass
    return {row: ~column for row, column in search.mate.items() if row >= 0}


class _Matching:
    """A matching that grows along paths of no slack (Galil 1986), in the order of steps that networkx takes.

    Nodes on the right are numbers below zero. As no pair joins two nodes of one side, there are no blossoms.
    """

    def __init__(self, weights: PairWeights) -> None:
        self.mate: dict[int, int] = {}
        self._neighbours: dict[int, dict[int, float]] = {}
        for (row, column), weight in weights.items():
            self._neighbours.setdefault(row, {})[~column] = weight
            self._neighbours.setdefault(~column, {})[row] = weight
        self._duals = dict.fromkeys(self._neighbours, max(weights.values()))

    def augment(self) -> bool:
        """Makes the matching larger by one pair, if that makes it heavier."""
        unmatched = [node for node in self._neighbours if node not in self.mate]
        self._outer: dict[int, int | None] = dict.fromkeys(unmatched)  # to the inner node before it
        self._inner: dict[int, int] = {}  # to the outer node before it
        self._nearest: dict[int, tuple[int, int]] = {}
        self._tight: set[tuple[int, int]] = set()
        while True:
            if ends := self._grow(unmatched):
                self._swap(*ends)
                self._swap(*reversed(ends))
                return True
            edge = self._lower_duals()
            if edge is None:
                return False
            node, other = edge
            self._tight |= {edge, (other, node)}
            unmatched = [node]

    def _slack(self, node: int, other: int) -> float:
        return self._duals[node] + self._duals[other] - 2 * self._neighbours[node][other]

    def _grow(self, queue: list[int]) -> tuple[int, int] | None:
        """Follows edges without slack; gives the one that joins two outer nodes, where there is any."""
        outer, inner, nearest, tight = self._outer, self._inner, self._nearest, self._tight
        while queue:
            node = queue.pop()
            for other in self._neighbours[node]:
                edge, slack = (node, other), 0.0
                if edge not in tight and (slack := self._slack(node, other)) <= 0:
                    tight |= {edge, (other, node)}
                if edge in tight:
                    if other in outer:
                        return edge
                    if other not in inner:
                        inner[other], partner = node, self.mate[other]
                        outer[partner] = other
                        nearest.pop(other, None)
                        nearest.pop(partner, None)
                        queue.append(partner)
                elif other not in inner:
                    place = node if other in outer else other
                    if place not in nearest or slack < self._slack(*nearest[place]):
                        nearest[place] = edge
        return None

    def _lower_duals(self) -> tuple[int, int] | None:
        """Takes slack out of the edges; gives the one that has none left, or None where no pair adds weight any more."""
        delta, place = min(self._duals.values()), None
        for in_outer in (False, True):
            for node in self._neighbours:
                if (node in self._outer) == in_outer and node in self._nearest:
                    slack = self._slack(*self._nearest[node]) / (2.0 if in_outer else 1.0)
                    if slack < delta:
                        delta, place = slack, self._nearest[node]
        for node in self._outer:
            self._duals[node] -= delta
        for node in self._inner:
            self._duals[node] += delta
        return place

    def _swap(self, node: int, partner: int) -> None:
        """Matches an outer node, and those before it along its path the other way round."""
        while True:
            self.mate[node] = partner
            inner = self._outer[node]
            if inner is None:
                return
            node, partner = self._inner[inner], inner
            self.mate[partner] = node


def longest_ascent(values: Sequence[int]) -> int:
    """Length of the longest strictly increasing subsequence."""
    tails: list[int] = []
    for value in values:
        place = bisect_left(tails, value)
        tails[place : place + 1] = [value]
    return len(tails)


def heaviest_in_order(weights: Sequence[Sequence[float]]) -> float:
    """Largest sum of weights, by row and column, of pairs that each have a later row and a later column than the last."""
    best = [0.0] * (len(weights[0]) + 1) if weights else [0.0]
    for row in weights:
        above = best
        best = [0.0]
        for column, weight in enumerate(row):
            best.append(max(above[column + 1], best[column], above[column] + weight))
    return best[-1]
